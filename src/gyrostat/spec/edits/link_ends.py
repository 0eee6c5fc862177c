"""Between which two points a link lies: where its joints are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.spec.displacement import Displacement
from gyrostat.spec.edits.scope import refused
from gyrostat.spec.model import Model
from gyrostat.spec.orientation import matrix_of
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.spanning_tree import PortName

Array = np.ndarray


class Attachment(NamedTuple):
    """What is connected with a ``port`` of a link: the ``other`` port (entity, port), the ``joint`` that moves behind
    it, if there is one, and where it is, p (3,) seen from the link: at the far end of a displacement."""

    port: str
    other: PortName
    joint: str | None
    p: Array
    displaced: bool


class LinkEnds(NamedTuple):
    """``entry``: the port by which the link is met; ``start`` and ``end`` (3,) [m] in the frame of the link; what is
    displaced from its ports."""

    entry: str
    start: Array
    end: Array
    attachments: tuple[Attachment, ...]

    @property
    def length(self) -> float:
        return float(np.linalg.norm(self.end - self.start))


def link_ends(model: Model, full: str, body: RigidBody, start: str | None, end: str | None, who: str) -> LinkEnds:
    """Start: the port by which the link is entered, or ``start``; end: the one joint that it carries, or ``end``. Both
    are ports of the link, or names of joints on it."""
    places = {"origin": np.zeros(3)} | {frame.name: np.array(frame.translation) for frame in body.frames}
    entry = str(model.wiring.tree.inport.get(full) or "origin")
    hanging = attachments(model, full, body)
    first = places[entry] if start is None else _named(start, full, places, hanging, who)
    if end is not None:
        last = _named(end, full, places, hanging, who)
    else:
        joints = {a.joint: a for a in hanging if a.joint is not None}
        if len(joints) != 1:
            told = ", ".join(f"'{name}'" for name in joints) or "none"
            message = f"carries {len(joints)} joints ({told}), so that its end is not known"
            raise refused(who, message, f"name one of its ports or joints: end='{next(iter(joints), 'tip')}'", full)
        last = next(iter(joints.values())).p
    if np.linalg.norm(last - first) < 1e-6:
        message = f"starts and ends at the same point, {tuple(np.round(first, 6).tolist())}"
        raise refused(who, message, "name other ports: start='...', end='...'", full)
    return LinkEnds(entry, first, last, tuple(a for a in hanging if a.displaced))


def _named(text: str, full: str, places: dict[str, Array], hanging: list[Attachment], who: str) -> Array:
    """A port of the link, or a joint on it, as a point."""
    name = str(text).removeprefix(f"{full}.")
    known = places | {a.joint: a.p for a in hanging if a.joint is not None}
    if name not in known:
        raise refused(who, f"has neither a port nor a joint '{text}'", f"one of {', '.join(known)}", text)
    return known[name]


def frames_of(body: RigidBody) -> dict[str, tuple[Array, Array]]:
    """R (3, 3) and p (3,) of the ports of a body, in its own frame."""
    frames = {frame.name: (matrix_of(frame.rotation), np.array(frame.translation)) for frame in body.frames}
    return {"origin": (np.eye(3), np.zeros(3))} | frames


def attachments(model: Model, full: str, body: RigidBody) -> list[Attachment]:
    """Everything that is connected with a link, but what it is met from."""
    wiring, source = model.wiring, next((v.source for v in model.wiring.tree.visits if v.entity == full), None)
    places = frames_of(body)
    found: list[Attachment] = []
    for port, (R, p) in places.items():
        for other in wiring.connection(full, port):
            entity = wiring.entities[other[0]]
            if ".".join(other) == source or not any(x.name == other[1] and x.kind == "spatial" for x in entity.ports):
                continue
            displaced = isinstance(entity, Displacement)
            if isinstance(entity, Displacement):
                turned, moved = matrix_of(entity.rotation), np.array(entity.translation)
                p_there = p + R @ (moved if other[1] == "a" else -turned.T @ moved)
            else:
                p_there = p
            found.append(Attachment(port, other, _joint_behind(model, other, {full}), p_there, displaced))
    return found


def _joint_behind(model: Model, port: PortName, seen: set[str]) -> str | None:
    """The first joint that moves, through displacements, fixed joints and bodies."""
    name, inport = port
    entity = model.wiring.entities[name]
    if name in seen or not entity.binds or isinstance(entity, ReferenceFrame):
        return None
    if entity.rates and entity.is_joint:
        return name
    seen.add(name)
    for own in entity.ports:
        for other in model.wiring.connection(name, own.name) if own.kind == "spatial" and own.name != inport else ():
            joint = _joint_behind(model, other, seen)
            if joint is not None:
                return joint
    return None
