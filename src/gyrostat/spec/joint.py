"""Joints (H04 2.2.1.3): two frames whose relative motion is constrained."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import UNIT, axis_problems, finite, not_finite, shown
from gyrostat.spec.values import Axis, Number

Kind = Literal[
    "fixed",
    "revolute",
    "continuous",
    "prismatic",
    "helical",
    "cylindrical",
    "universal",
    "planar",
    "spherical",
    "free",
]


@dataclass(frozen=True)
class JointKind:
    """What a kind of joint needs and which coordinates it has; its motion is in ``spatial.joints``."""

    needs: tuple[str, ...] = ()  # properties without which it means nothing
    may: tuple[str, ...] = ()  # properties it can have
    q: tuple[str, ...] = ()
    v: tuple[str, ...] = ()
    shafts: tuple[str, ...] = ()  # scalar ports, one for each rate that a drive can hold
    quaternion_at: int | None = None
    length: bool = False  # whether its one coordinate is in metres
    periodic: bool = False  # whether a full turn of its one coordinate changes nothing


_ROTATION = ("qx", "qy", "qz", "qw")

LIMITS = ("lower", "upper", "velocity_limit", "effort_limit")


def _one(*needs: str, length: bool = False, periodic: bool = False) -> JointKind:
    """A kind with one coordinate, which is a length, an angle that a full turn does not change, or neither."""
    return JointKind(needs, q=("q",), v=("v",), shafts=("shaft",), length=length, periodic=periodic)


JOINT_KINDS: dict[str, JointKind] = {
    "fixed": JointKind(),
    "revolute": _one("axis", periodic=True),
    "continuous": _one("axis", periodic=True),
    "prismatic": _one("axis", length=True),
    "helical": _one("axis", "pitch"),
    "cylindrical": JointKind(needs=("axis",), q=("angle", "shift"), v=("angle", "shift"), shafts=("shaft1", "shaft2")),
    "universal": JointKind(
        needs=("axis", "second_axis"), q=("angle1", "angle2"), v=("angle1", "angle2"), shafts=("shaft1", "shaft2")
    ),
    "planar": JointKind(needs=("axis",), may=("second_axis",), q=("x", "y", "angle"), v=("x", "y", "angle")),
    "spherical": JointKind(q=_ROTATION, v=("wx", "wy", "wz"), quaternion_at=0),
    "free": JointKind(q=("x", "y", "z", *_ROTATION), v=("wx", "wy", "wz", "vx", "vy", "vz"), quaternion_at=3),
}


class Joint(Entity):
    """Relative motion of frame ``b`` against frame ``a``; ports ``a``, ``b``, and scalar shafts for drives.

    =========== ================================================================= ==================================
    kind        q                                                                 v
    =========== ================================================================= ==================================
    fixed       none                                                              none
    revolute    angle about ``axis`` [rad]                                        its rate
    continuous  the same, without limits                                          its rate
    prismatic   shift along ``axis`` [m]                                          its rate
    helical     angle about ``axis``; shift = ``pitch`` [m/rad] times angle       its rate
    cylindrical angle about, then shift along ``axis``                            their rates
    universal   angle about ``axis`` (fixed in a), then about ``second_axis``     their rates
                (fixed in b)
    planar      shifts along two directions in the plane normal to ``axis``       their rates
                (in a), then angle about ``axis``
    spherical   quaternion x y z w of b in a                                      angular velocity, in b
    free        position of b in a, then quaternion x y z w                       angular, then linear velocity, in b
    =========== ================================================================= ==================================

    For a planar joint the first direction is ``second_axis``, by default the coordinate axis that follows the largest
    component of ``axis`` in the order x, y, z, x, made perpendicular to it (for axis z: x, then y). A joint may be
    mounted either way round: q and v always mean the motion of b against a.

    Joints with one rate may have limits: ``lower`` and ``upper`` for q, ``velocity_limit`` for |v|, ``effort_limit``
    for the magnitude of the generalised force at the joint. Dynamics does not stop there (``gs.simulate`` does, with
    ``JointLimits``); checks, plots, the viewer and :class:`AchievableMotion` use them.

    ``passive``: whether nothing drives it (H04 3.2.3.1). By default (None) a joint with a drive is actuated; one
    without is actuated outside closed loops and passive inside them."""

    tells_mass: ClassVar[bool] = True

    kind: Kind
    axis: Axis | None = None
    second_axis: Axis | None = None
    pitch: Number | None = None
    lower: Number | None = None
    upper: Number | None = None
    velocity_limit: Number | None = None
    effort_limit: Number | None = None
    passive: bool | None = None

    def __init__(self, name: str, kind: Any = None, **properties: Any):
        super().__init__(name, **({} if kind is None else {"kind": kind}), **properties)

    @property
    def table(self) -> JointKind:
        return JOINT_KINDS[self.kind]

    @property
    def label(self) -> str:
        return f"joint '{self.name}'"

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), Port("b"), *(Port(name, "scalar") for name in self.table.shafts)

    @property
    def is_joint(self) -> bool:
        return True

    @property
    def kind_label(self) -> str:
        return f"{self.kind} joint"

    @property
    def shaft_axis(self) -> tuple[float, float, float]:
        return self.axis or (0.0, 0.0, 1.0)  # a joint without its axis is told by the check

    @property
    def coordinates(self) -> tuple[str, ...]:
        return self.table.q

    @property
    def rates(self) -> tuple[str, ...]:
        return self.table.v

    @property
    def quaternion_at(self) -> int | None:
        return self.table.quaternion_at

    @property
    def closes(self) -> bool:
        """A screw does not: its angle counts turns, which frames do not show."""
        return self.kind not in ("helical", "free") and self.lower is None and self.upper is None

    @property
    def said_passive(self) -> bool | None:
        return self.passive

    def is_length(self, coordinate: str) -> bool:
        return self.table.length or super().is_length(coordinate)

    def is_periodic(self, coordinate: str) -> bool:
        return self.table.periodic or super().is_periodic(coordinate)

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        for field in ("axis", "second_axis", "pitch"):
            given = getattr(self, field)
            if field in self.table.needs and given is None:
                message = f"a {self.kind} joint needs '{field}'"
                problems.append(self.problem("joint-properties", message, f"add '{field}'", (field,)))
            elif field not in self.table.needs + self.table.may and given is not None:
                message = f"a {self.kind} joint has no '{field}', got {shown(given)}"
                problems.append(
                    self.problem("joint-properties", message, "take it out, or choose another kind", (field,))
                )
            elif given is not None and field != "pitch":
                problems += axis_problems(self, field, given)
        return problems + self._direction_problems() + self._limit_problems()

    def _limit_problems(self) -> list[Problem]:
        given = {key: getattr(self, key) for key in LIMITS if getattr(self, key) is not None}
        if given and len(self.table.v) != 1:
            key, value = next(iter(given.items()))
            message = f"a {self.kind} joint has no '{key}', got {shown(value)}"
            remedy = "only joints with one rate have limits; take it out"
            return [self.problem("joint-properties", message, remedy, (key,))]
        problems: list[Problem] = []
        if self.lower is not None and self.upper is not None and self.lower > self.upper:
            message = f"'lower' {shown(self.lower)} is greater than 'upper' {shown(self.upper)}"
            problems.append(self.problem("joint-limits", message, "exchange them", ("lower",)))
        for key in LIMITS[2:]:
            if given.get(key, 0.0) < 0.0:
                message = f"'{key}' must not be negative, got {shown(given[key])}"
                problems.append(self.problem("joint-limits", message, "give a magnitude", (key,)))
        return problems

    def _direction_problems(self) -> list[Problem]:
        if self.axis is None or self.second_axis is None or not finite((self.axis, self.second_axis)):
            return []
        lengths = math.hypot(*self.axis) * math.hypot(*self.second_axis)
        cosine = sum(x * y for x, y in zip(self.axis, self.second_axis, strict=True)) / (lengths or 1.0)
        both = f"axis {shown(self.axis)}, second_axis {shown(self.second_axis)}"
        if self.kind == "universal" and abs(cosine) > 1.0 - UNIT:
            remedy = "choose two different directions, usually perpendicular ones"
            return [self.problem("joint-axes", f"the two axes are parallel: {both}", remedy, ("second_axis",))]
        if self.kind == "planar" and abs(cosine) > UNIT:
            remedy = "the directions of motion lie in the plane normal to the axis"
            message = f"second_axis must be perpendicular to axis: {both}"
            return [self.problem("joint-axes", message, remedy, ("second_axis",))]
        return []
