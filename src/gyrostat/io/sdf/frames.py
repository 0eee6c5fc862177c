"""Frames of an SDF: where everything is, and to which link it is attached.

Every link, joint, model and <frame> has a name in its model, X_rel = X(relative_to) pose, and is attached to a link or
to the world. Full names go through the models: ``arm::hand::tip``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from gyrostat.errors import clipped
from gyrostat.geometry.rotation import from_euler, from_quaternion
from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.source import FRAMES_SINCE, SdfReader
from gyrostat.io.sdf.versions import said

Pose = tuple[np.ndarray, np.ndarray]

WORLD = "world"
TURN = 2.0 * math.pi * 1.001
"""A little more than a whole turn [rad]: angles beyond may be degrees."""


def nowhere() -> Pose:
    return np.eye(3), np.zeros(3)


def after(X: Pose, Y: Pose) -> Pose:
    """X then Y."""
    return X[0] @ Y[0], X[1] + X[0] @ Y[1]


def inverse(X: Pose) -> Pose:
    return X[0].T, -X[0].T @ X[1]


def is_nothing(X: Pose) -> bool:
    return np.array_equal(X[0], np.eye(3)) and not X[1].any()


@dataclass
class Frame:
    """``pose`` seen from the frame ``relative_to``; ``attached_to``: a frame, empty for links and the world."""

    name: str
    element: Element
    pose: Pose
    relative_to: str
    attached_to: str
    at: Element  # the element that says where it is
    placement: str = ""  # of a model: the frame in it that ``pose`` places


@dataclass
class Frames:
    """All frames of a document by their full names; places are found when they are asked for."""

    reader: SdfReader
    table: dict[str, Frame] = field(default_factory=dict)
    places: dict[str, Pose] = field(default_factory=dict)
    told: set[str] = field(default_factory=set)
    placeless: set[str] = field(default_factory=set)  # in circles or behind them: told once, not walked again
    listed: dict[tuple[str, int], list[str]] = field(default_factory=dict)  # names in a scope, for hints

    def full(self, scope: str, name: str) -> str:
        """The full name of what is called ``name`` in a model; ``scope``: the model, empty for the world."""
        if name == WORLD:
            return WORLD
        if name == "__model__":
            return scope or WORLD
        return f"{scope}::{name}" if scope else name

    def near(self, scope: str, name: str) -> str:
        inside = f"{scope}::" if scope else ""
        key = scope, len(self.table)
        if key not in self.listed:
            self.listed[key] = [name.removeprefix(inside) for name in self.table if name.startswith(inside)]
        return self.reader.nearest(name, self.listed[key])

    def known(self, at: Element, scope: str, name: str, rule: str, what: str) -> str | None:
        """The full name of a frame that is there; None, and an error."""
        full = self.full(scope, name)
        if full in self.table:
            return full
        self.reader.error(at, rule, what, repr(name[:60]), self.near(scope, name))
        return None

    def place(self, name: str) -> Pose | None:
        """(R, p) of a frame in the world; None, and an error, if frames refer to each other in a circle."""
        asked, chain = name, dict[str, None]()
        while name not in self.places:
            frame = self.table[name]
            if name in self.placeless:
                self.placeless.update(chain)
                return None
            if name in chain:
                ring = list(chain)
                self.placeless.update(chain)
                self._circle(frame, ring[ring.index(name) :], "relative_to", "are placed relative to each other")
                return None
            if not frame.relative_to:
                self.places[name] = frame.pose
                break
            chain[name] = None
            name = frame.relative_to
            if name not in self.table:
                self.placeless.update(chain)
                return None  # told where it was read
        for inner in reversed(chain):
            frame = self.table[inner]
            X = after(self.places[frame.relative_to], frame.pose)
            if frame.placement:
                inside = self._within(frame)
                if inside is None:
                    return None
                X = after(X, inverse(inside))
            self.places[inner] = X
        return self.places[asked]

    def _within(self, model: Frame) -> Pose | None:
        """Where the placement frame of a model is in the model."""
        full, X, steps = self.full(model.name, model.placement), nowhere(), 0
        while full != model.name:
            frame = self.table.get(full)
            if frame is None or not frame.relative_to or frame.placement or steps > len(self.table):
                what = "the placement frame must be one of the model, placed in the model"
                if model.name not in self.told:
                    self.told.add(model.name)
                    self.reader.error(
                        model.element, "frame", what, repr(model.placement), self.near(model.name, model.placement)
                    )
                return None
            X, full, steps = after(frame.pose, X), frame.relative_to, steps + 1
        return X

    def body(self, name: str) -> str | None:
        """The link, or the world, that a frame is attached to; None, and an error, in a circle."""
        chain: dict[str, None] = {}
        while self.table[name].attached_to:
            if name in chain:
                ring = list(chain)
                self._circle(self.table[name], ring[ring.index(name) :], "attached_to", "are attached to each other")
                return None
            chain[name] = None
            name = self.table[name].attached_to
            if name not in self.table:
                self.placeless.update(chain)
                return None  # told where it was read
        return name

    def _circle(self, frame: Frame, ring: list[str], key: str, how: str) -> None:
        if ring[0] in self.told:
            return
        self.told |= set(ring)
        shown = " - ".join(repr(name[-40:]) for name in ring[:6])
        self.reader.error(frame.at, "frame-circle", f"frames {how} in a circle", shown, f"change one {key}")


def read_pose(reader: SdfReader, owner: Element) -> tuple[Pose, str, Element | None]:
    """(R, p), the name in ``relative_to``, and the element; nowhere else without one."""
    element = reader.child(owner, "pose")
    if element is None:
        return nowhere(), "", None
    return _numbers(reader, element), _relative_to(reader, element), element


def _relative_to(reader: SdfReader, element: Element) -> str:
    version = reader.version(element)
    if "relative_to" in element.attrib:
        name = (element.get("relative_to") or "").strip()
        if name and version < FRAMES_SINCE:
            later(reader, element, "relative_to", version)
        return name
    name = (element.get("frame") or "").strip()
    if name and version >= FRAMES_SINCE:
        what = "'frame' of <pose> is called 'relative_to' since SDF 1.7; it is read so"
        reader.wrong(element, "version", what, clipped(name), f"write relative_to={name!r}, or an older version")
    return name


def later(reader: SdfReader, element: Element, what: str, version: tuple[int, int]) -> None:
    """Something that came with frames in a file that says an older version; it is followed nevertheless."""
    told = f"'{what}' came with SDF {said(FRAMES_SINCE)}, the file says {said(version)}; it is followed"
    reader.wrong(element, "version", told, clipped(element.get(what)), f'write <sdf version="{said(FRAMES_SINCE)}">')


def _numbers(reader: SdfReader, element: Element) -> Pose:
    form = element.get("rotation_format", "euler_rpy")
    if form not in ("euler_rpy", "quat_xyzw"):
        hint = reader.nearest(form, ("euler_rpy", "quat_xyzw"))
        reader.error(element, "rotation-format", "there is no such format of rotations", repr(form[:40]), hint)
        return nowhere()
    if not reader.text(element):
        return nowhere()
    values = reader.values(element, 7 if form == "quat_xyzw" else 6)
    if values is None:
        return nowhere()
    p, turn = np.array(values[:3]), np.array(values[3:])
    degrees = reader.truth_of(element, element.get("degrees", "false"), False)
    if form == "quat_xyzw":
        return _quaternion(reader, element, p, turn, degrees)
    if degrees:
        turn = np.radians(turn)
    elif np.abs(turn).max() > TURN:
        what, fix = "the angles are more than a turn; are they in degrees?", 'write radians, or degrees="true"'
        reader.warn(element, "rpy-degrees", what, repr(reader.text(element)[:60]), fix)
    return (from_euler(turn, "xyz") if turn.any() else np.eye(3)), p


def _quaternion(reader: SdfReader, element: Element, p: np.ndarray, q: np.ndarray, degrees: bool) -> Pose:
    length = float(np.linalg.norm(q))
    if degrees:
        reader.error(element, "rotation-format", "a quaternion has no degrees", 'degrees="true"', "take it out")
    if not 0.5 < length < 2.0:
        fix = "give x y z w of unit length"
        reader.error(element, "quaternion", "the quaternion must have unit length", f"length {length:.6g}", fix)
        return np.eye(3), p
    if abs(length - 1.0) > 1e-3:
        what = "the quaternion must have unit length; it was scaled"
        reader.warn(element, "quaternion", what, f"length {length:.6g}", "give more digits")
    return from_quaternion(q), p
