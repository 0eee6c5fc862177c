"""What of an SDF stands in the world, and what floats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from gyrostat.io.sdf.document import Document, Part
from gyrostat.io.sdf.frames import WORLD, is_nothing
from gyrostat.io.sdf.joints import SdfJoint


@dataclass
class Bases:
    """``fixed``: links that stand where their poses say; ``free``: links that float, and the names of their joints;
    ``root``: the one that the moving base is, if there is one; ``marks``: <frame> elements by link."""

    fixed: list[str] = field(default_factory=list)
    free: dict[str, str] = field(default_factory=dict)
    root: str = ""
    moving: bool = False
    static: set[str] = field(default_factory=set)
    marks: dict[str, list[Part]] = field(default_factory=dict)


def find_bases(document: Document, joints: Mapping[str, SdfJoint], base: str) -> Bases:
    """Links that no joint leads to from the world stand there, or float with ``base="free"``: one alone is the moving
    base, several have a free joint each. Where all is joined to the world, the world moves."""
    bases = Bases([name for name, part in document.links.items() if part.static])
    bases.static = set(bases.fixed)
    _marks(document, bases)
    roots = _roots(document, joints, bases.static)
    if base != "free":
        bases.fixed += roots
        for name in roots:
            what, fix = "floats in the file; it stands in the world here", "base='free' lets it move"
            document.reader.ignore(document.links[name].element, "floating", what, document.short(name), fix)
        return bases
    attached = bool(bases.static) or WORLD in bases.marks or any(joint.parent == WORLD for joint in joints.values())
    if len(roots) == 1 and not attached:
        bases.root = roots[0]
    else:
        bases.free = {name: f"{document.short(name)[:110]}_base" for name in roots}
    bases.moving = not bases.free
    for name in roots:
        X = document.frames.place(name)
        if X is not None and not is_nothing(X):
            what = "where it floats at first is not in the model: its coordinates say where it is"
            p = " ".join(f"{x:g}" for x in X[1])
            document.reader.ignore(document.links[name].element, "free-pose", what, f"at {p}", "give it in q")
    return bases


def _marks(document: Document, bases: Bases) -> None:
    for mark in document.marks:
        body = document.frames.body(mark.name)
        if body is not None:
            bases.marks.setdefault(body, []).append(mark)


def _roots(document: Document, joints: Mapping[str, SdfJoint], static: set[str]) -> list[str]:
    """One link of every group of jointed links that does not touch the world: the first that no joint carries."""
    above: dict[str, str] = {}

    def top(name: str) -> str:
        while (over := above.get(name, name)) != name:
            above[name] = name = above.get(over, over)
        return name

    for name in static:
        above[top(name)] = top(WORLD)
    carried: set[str] = set()
    for joint in joints.values():
        if joint.kind != "gear":
            above[top(joint.child)] = top(joint.parent)
            carried.add(joint.child)
    groups: dict[str, str] = {}
    for name in document.links:
        group = top(name)
        if group != top(WORLD) and (group not in groups or (groups[group] in carried and name not in carried)):
            groups[group] = name
    return list(groups.values())
