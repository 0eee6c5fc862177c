"""URDF: a file of links and joints to a model, with an audit of everything in it.

Each link becomes a rigid body whose frame is that of the link, each joint a displacement (its origin) and a joint; the
root link is attached to the world, which is free if asked for. Damping, friction and transmissions become drives,
followers (mimic) are tied by gears. What is not in the model is listed as ignored.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from gyrostat.errors import Problem, nearest
from gyrostat.io.audit import Audit, Finding, Notes
from gyrostat.io.inertia_rules import check_link, check_masses
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.urdf.build import build
from gyrostat.io.urdf.drives import SINGLE, read_mimics, read_transmissions, settle
from gyrostat.io.urdf.grammar import Unknowns
from gyrostat.io.urdf.joints import Robot, read_joint, read_link
from gyrostat.io.urdf.tree import find_tree
from gyrostat.io.xml import Element, Reader, parse, short
from gyrostat.spec.check import problems
from gyrostat.spec.model import Model

MAX_LINKS = 100_000


def read_urdf(
    text: str,
    file: str = "<text>",
    base: str = "fixed",
    policy: str = "strict",
    roots: Sequence[str | os.PathLike[str]] = (),
    friction: bool = True,
    mimic: bool = True,
) -> tuple[Model | None, Audit]:
    """The model in a URDF text, None if ``policy`` refuses it, and everything that is to be said about the text.

    ``friction=False`` leaves damping and friction out, ``mimic=False`` leaves followers independent.

    ``file``: name of the file in messages, and where meshes are looked for. :class:`LoadError` if it is no XML.
    """
    root = parse(text, file)
    notes = Notes(file, policy)
    reader = Reader(notes, text.split("\n"))
    model = _model(reader, root, base, Roots.of(Path(file), roots), file, friction, mimic)
    return (None if notes.refused else model), notes.audit()


def _model(
    reader: Reader, root: Element, base: str, roots: Roots, file: str, friction: bool, mimic: bool
) -> Model | None:
    robot = _robot(reader, root, roots, friction, mimic)
    if robot is None:
        return None
    complete = not reader.notes.fatal
    unphysical = {name for name, link in robot.links.items() if not check_link(reader, link)}
    tree = find_tree(reader, robot, complete=_joints_read(robot, root)) if robot.links else None
    if tree is None:
        return None
    massless = check_masses(reader, robot, tree, base == "free")
    if not complete or reader.notes.fatal:
        return None
    drives = {name: joint.drive for name, joint in robot.joints.items()}
    settle(reader, {name: (j.element, j.kind) for name, j in robot.joints.items()}, drives)
    for name, joint in robot.joints.items():
        joint.drive = drives[name]
    model = build(reader, robot, tree, base, unphysical, massless, file, Path(file).stem or "robot")
    for problem in problems(model):  # what these rules have not seen
        reader.notes.add(_left(problem, file))
    return model


def _joints_read(robot: Robot, root: Element) -> bool:
    """Whether every joint of the file is known: what hangs on the others is not told apart from loose links."""
    return len(robot.joints) == sum(1 for _ in root.iterchildren("joint"))


def _left(problem: Problem, file: str) -> Finding:
    line = (problem.where or "").rpartition(":")[2]
    at = int(line) if line.isdecimal() else 0
    return Finding("error", file, at, "", problem.entity, problem.rule, problem.message, "", problem.remedy, fatal=True)


def _robot(reader: Reader, root: Element, roots: Roots, friction: bool, mimic: bool) -> Robot | None:
    """Links and joints in the order of the file; names that come twice are errors."""
    if root.tag != "robot":
        what, fix = "the outermost tag must be <robot>", nearest(short(root.tag), ["robot"])
        if root.tag != short(root.tag):
            what, fix = f"{what}, without a namespace", "take xmlns and the prefix out"
        reader.error(root, "root-tag", what, f"<{root.tag[:80]}>", fix)
        return None
    Unknowns(reader).robot(root)
    name = root.get("name")
    if not name or not name.isprintable():
        what = "<robot> has no usable name; the model is called like the file"
        reader.warn(root, "robot-name", what, "nothing" if name is None else repr(name), 'write <robot name="...">')
    robot = Robot(name or "", root)
    elements = list(root.iterchildren("link"))
    if not elements or len(elements) > MAX_LINKS:
        what = f"a robot has links, at most {MAX_LINKS}"
        reader.error(root, "links", what, f"{len(elements)} links", "is this the right file?")
        return robot if elements else None
    for element in elements:
        link = read_link(reader, element, roots)
        _keep(reader, robot.links, link, "link")
    for element in root.iterchildren("joint"):
        _keep(reader, robot.joints, read_joint(reader, element, robot.links, friction), "joint")
    drives = {name: joint.drive for name, joint in robot.joints.items()}
    read_mimics(reader, {name: (j.element, j.kind) for name, j in robot.joints.items()}, drives, mimic)
    read_transmissions(reader, root, {name: drives[name] for name, j in robot.joints.items() if j.kind in SINGLE})
    return robot


def _keep(reader: Reader, table: dict, item: object, sort: str) -> None:
    if item is None:
        return
    name, element = item.name, item.element  # pyright: ignore[reportAttributeAccessIssue]
    if name in table:
        first = reader.line(table[name].element)
        what = f"another {sort} has the same name, in line {first}"
        reader.error(element, "unique-name", what, repr(name), "rename one of them")
    else:
        table[name] = item
