"""<axis> of an SDF joint: its direction, limits, damping, friction, spring, and the joint that it follows."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.document import Document, Part
from gyrostat.io.sdf.frames import WORLD, Pose, later
from gyrostat.io.sdf.source import FRAMES_SINCE, SdfReader
from gyrostat.io.xml_elements import accepted

SINGLE = ("revolute", "continuous", "prismatic", "helical")
"""Kinds of joints with one rate: these have limits."""

TURN = 2.0 * math.pi * 1.001


@dataclass(frozen=True)
class Mimic:
    """angle = multiplier x angle of the leader + offset."""

    leader: str
    axis: int
    multiplier: float
    offset: float
    element: Element


@dataclass
class SdfAxis:
    """Direction in the frame of the joint; limits as properties of :class:`Joint`."""

    element: Element
    xyz: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 1.0]))
    limits: dict[str, float] = field(default_factory=dict)
    damping: float = 0.0
    friction: float = 0.0
    stiffness: float = 0.0
    rest: float = 0.0
    mimic: Mimic | None = None


def read_axis(document: Document, part: Part, element: Element, X: Pose, kind: str, friction: bool) -> SdfAxis:
    """One axis of a joint whose frame is at X."""
    reader = document.reader
    axis = SdfAxis(element)
    axis.xyz = _direction(document, part, element, X)
    _limits(reader, element, kind, axis)
    _dynamics(reader, element, axis, friction)
    _mimic(document, part, element, axis)
    if kind == "gear" and (axis.damping or axis.friction or axis.stiffness or axis.mimic):
        what = "what acts on a gearbox itself is not in the model"
        reader.wrong(element, "gearbox", what, "dynamics or mimic", "give it to one of its joints", left_out=True)
    return axis


def _direction(document: Document, part: Part, element: Element, X: Pose) -> np.ndarray:
    """The unit vector in the frame of the joint; up to SDF 1.4 the file gives it in that of the model."""
    reader = document.reader
    xyz = reader.child(element, "xyz")
    given = (0.0, 0.0, 1.0) if xyz is None else reader.values(xyz, 3)
    if xyz is None:
        reader.warn(element, "axis-missing", "has no <xyz>; the z axis is taken, as SDF says", "nothing", "add <xyz>")
    if given is None:
        return np.array([0.0, 0.0, 1.0])
    if not any(given):
        reader.error(xyz, "axis", "the axis must not be zero", reader.text(xyz), "give its direction")
        return np.array([0.0, 0.0, 1.0])
    u = _unit(reader, xyz if xyz is not None else element, np.array(given))
    R = _seen_from(document, part, element, xyz)
    return u if R is None else X[0].T @ (R @ u)


def _seen_from(document: Document, part: Part, element: Element, xyz: Element | None) -> np.ndarray | None:
    """Axes of the frame that the direction is expressed in; None for those of the joint."""
    reader, frames = document.reader, document.frames
    version = reader.version(element)
    flag = reader.child(element, "use_parent_model_frame")
    name = "" if xyz is None else (xyz.get("expressed_in") or "").strip()
    if name:
        if version < FRAMES_SINCE:
            later(reader, xyz, "expressed_in", version)
        full = frames.known(
            xyz, part.scope, name, "unknown-frame", "the axis is expressed in a frame that does not exist"
        )
    elif reader.truth(flag, default=version < (1, 5)):
        if flag is not None and version >= FRAMES_SINCE:
            what = "<use_parent_model_frame> is no part of SDF since 1.7; it is followed"
            reader.wrong(flag, "version", what, reader.text(flag), 'write <xyz expressed_in="__model__">')
        full = part.scope or WORLD
    else:
        return None
    X = frames.place(full) if full is not None else None
    return None if X is None else X[0]


def _unit(reader: SdfReader, element: Element, given: np.ndarray) -> np.ndarray:
    """The axis with unit length; that it had another one is told."""
    scaled = given / np.abs(given).max()
    u = scaled / np.linalg.norm(scaled)
    length = float(np.linalg.norm(scaled) * np.abs(given).max())
    if abs(length - 1.0) > 1e-6:
        fix = f"write <xyz>{' '.join(f'{x:.10g}' for x in u)}</xyz>"
        what, text = f"the axis must have unit length, its length is {length:.6g}", repr(reader.text(element)[:60])
        if abs(length - 1.0) <= 1e-3:  # three digits of a unit vector
            reader.warn(element, "axis", f"{what}; it was scaled", text, fix)
        else:
            reader.wrong(element, "axis", what, text, fix, "scaled to unit length")
    return u


def _limits(reader: SdfReader, axis: Element, kind: str, read: SdfAxis) -> None:
    element = reader.child(axis, "limit")
    if element is None:
        return
    keys = ("lower", "upper", "effort", "velocity")
    given = {key: reader.limit(element, key) for key in keys}
    soft = [key for key in ("stiffness", "dissipation") if reader.child(element, key) is not None]
    if soft:
        reader.ignore(element, "unused-limit", f"{', '.join(soft)} of the stops: not in the model")
    if kind not in SINGLE:
        if any(value is not None and value >= 0.0 for value in given.values()):
            reader.ignore(element, "unused-limit", f"a {kind} joint has no limits in the model")
        return
    lower, upper = given["lower"], given["upper"]
    if kind != "continuous":
        read.limits |= _range(reader, element, kind, lower, upper)
    elif lower is not None or upper is not None:
        reader.ignore(element, "unused-limit", "a continuous joint has no range")
    for key, name in (("velocity", "velocity_limit"), ("effort", "effort_limit")):
        value = given[key]
        if value is not None and value >= 0.0:  # negative: none, as SDF says
            read.limits[name] = value


def _range(
    reader: SdfReader, element: Element, kind: str, lower: float | None, upper: float | None
) -> dict[str, float]:
    if lower is not None and upper is not None and lower > upper:
        what = accepted(reader, "the lower limit is above the upper one", "they are left out")
        order, mended = f"{lower:g} > {upper:g}", "read the other way round"
        if not reader.wrong(element, "limit-order", what, order, "exchange them", mended, left_out=True):
            return {}
        lower, upper = upper, lower
    if kind == "revolute" and max(abs(lower or 0.0), abs(upper or 0.0)) > TURN:
        what = "the limits are more than a turn; are they in degrees?"
        reader.warn(element, "limit-degrees", what, f"{lower} .. {upper}", "write radians")
    return {key: value for key, value in (("lower", lower), ("upper", upper)) if value is not None}


def _dynamics(reader: SdfReader, axis: Element, read: SdfAxis, friction: bool) -> None:
    element = reader.child(axis, "dynamics")
    if element is None:
        return
    keys: dict[str, Any] = {key: reader.value(element, key, 0.0) or 0.0 for key in ("damping", "friction")}
    for key, value in keys.items():
        if value < 0.0:
            what = f"<{key}> is negative: it would drive the joint"
            keys[key] = (
                0.0
                if reader.wrong(element, "dynamics", what, f"{value:g}", "give its magnitude", "taken as zero")
                else value
            )
    if any(keys.values()) and not friction:
        reader.ignore(element, "unused-dynamics", "damping and friction: left out, as asked for")
    elif friction:
        read.damping, read.friction = keys["damping"], keys["friction"]
    read.stiffness = reader.value(element, "spring_stiffness", 0.0) or 0.0
    read.rest = reader.value(element, "spring_reference", 0.0) or 0.0
    if read.stiffness < 0.0:
        what = "<spring_stiffness> is negative: it would drive the joint away"
        reader.error(element, "dynamics", what, f"{read.stiffness:g}", "give a positive stiffness")


def _mimic(document: Document, part: Part, axis: Element, read: SdfAxis) -> None:
    """position = multiplier (position of the leader - reference) + offset."""
    reader = document.reader
    element = reader.child(axis, "mimic")
    if element is None:
        return
    values = [
        reader.value(element, key, default)
        for key, default in (("multiplier", 1.0), ("offset", 0.0), ("reference", 0.0))
    ]
    leader, which = reader.need(element, "joint"), element.get("axis", "axis")
    if which not in ("axis", "axis2"):
        what = "a joint follows 'axis' or 'axis2' of another"
        reader.error(element, "mimic", what, repr(which[:40]), reader.nearest(which, ("axis", "axis2")))
        return
    if leader is None or None in values:
        return
    multiplier, offset, reference = (float(value or 0.0) for value in values)
    full = document.frames.full(part.scope, leader.strip())
    read.mimic = Mimic(full, int(which == "axis2"), multiplier, offset - multiplier * reference, element)
