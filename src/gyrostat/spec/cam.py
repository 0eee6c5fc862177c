"""Cams and scotch yokes: a shaft that follows another one by a curve."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, ClassVar

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from gyrostat.errors import Problem, SpecError
from gyrostat.geometry.quintic_spline import amplification, coefficients, evaluate
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.relations import CurveRelation, Value
from gyrostat.spec.rules import finite, not_finite, shown
from gyrostat.spec.values import Number, numbers_of


def to_table(value: Any) -> tuple[float, ...]:
    return numbers_of(value, "a list of numbers", "write numbers such as [0, 0.5, 1]")


Table = Annotated[
    tuple[float, ...],
    BeforeValidator(to_table),
    WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 1}),
]


CLOSING = 1e-12
"""By how much of the range of its lifts the first and the last one of a period may differ: rounding."""

AMPLIFIED = 1e6
"""By how much a table may amplify the rounding of its lifts: up to there curves are accurate to about 1e-9."""


class Follower(Entity):
    """What has the ports ``driver`` and ``follower``, both scalar: the joint at ``follower`` has no coordinate of its
    own. Torques go the other way, without loss: tau_driver = g'(angle) x tau_follower."""

    abstract = True
    since = 2

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("driver", "scalar"), Port("follower", "scalar")

    @property
    def default_port(self) -> str | None:
        return None


class Cam(Follower):
    """Angle (or lift) at ``follower`` = g(angle at ``driver``), a smooth curve through a table.

    ``angles`` [rad] of the driver, increasing, and ``lifts`` [rad, or m for a slide] of the follower, as many. g is the
    spline of degree five through the points: velocity, acceleration, jerk and its rate are continuous at inner points.
    ``periodic=True``: the table is one period (the last lift is the first one again, and not read) and goes on so.
    Otherwise the curve has no curvature at its ends and goes straight on beyond them: with it, velocity, acceleration
    and jerk are continuous everywhere. ``lifts`` may be live, ``angles`` not.
    """

    not_live: ClassVar[Mapping[str, str]] = {"angles": "lifts may be live; build a solver for each table"}
    angles: Table
    lifts: Table
    periodic: bool = False

    def __init__(self, name: str, angles: Any = None, lifts: Any = None, **properties: Any):
        given = {"angles": angles, "lifts": lifts}
        super().__init__(name, **{key: x for key, x in given.items() if x is not None}, **properties)

    def curves(self, value: Value) -> tuple[CurveRelation, ...]:
        x = np.array(self.angles)
        self._expect_own_angles(value("angles"))
        c = coefficients(self.angles, self.periodic, np.asarray(value("lifts")))
        if self.periodic:
            return (CurveRelation("follower", "driver", partial(_around, x, c[1:-1])),)
        return (CurveRelation("follower", "driver", partial(evaluate, np.array([x[0], *x]), c)),)

    def _expect_own_angles(self, given: Any) -> None:
        """Pieces of the curve are chosen when it is made: angles are those of the specification."""
        angles = np.asarray(given)
        if angles.dtype != float or not np.array_equal(angles, self.angles):
            message, hint = "'angles' cannot be live", self.not_live["angles"]
            raise SpecError.one(self.label, "live-property", message, hint, f"{self.name}.angles")

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        least = 4 if self.periodic else 2
        if len(self.angles) != len(self.lifts):
            message = f"has {len(self.angles)} angles and {len(self.lifts)} lifts"
            problems.append(self.problem("cam-table", message, "give one lift for each angle", ("lifts",)))
        elif len(self.angles) < least:
            message = f"has {len(self.angles)} point(s), expected {least} or more"
            problems.append(self.problem("cam-table", message, "give more angles and lifts", ("angles",)))
        if finite(self.angles) and any(after <= before for before, after in pairwise(self.angles)):
            message = f"'angles' must increase, got {shown(self.angles)}"
            problems.append(self.problem("cam-table", message, "sort them, without repetition", ("angles",)))
        return problems or self._smooth_problems()

    def _smooth_problems(self) -> list[Problem]:
        """Of a table whose numbers are fine one by one."""
        first, last = self.lifts[0], self.lifts[-1]
        if self.periodic and abs(last - first) > CLOSING * np.ptp(self.lifts):
            message = f"is periodic, but its first lift is {shown(first)}, its last {shown(last)}"
            remedy = "end the table with its first lift, one period later"
            return [self.problem("cam-table", message, remedy, ("lifts",))]
        if (factor := amplification(self.angles, self.periodic)) > AMPLIFIED:
            lengths = np.diff(self.angles)
            message = (
                f"'angles' are too unequal for an accurate curve: their distances are {lengths.min():g} to "
                f"{lengths.max():g}, and rounding of the lifts grows {factor:.1g} times, expected {AMPLIFIED:g} at most"
            )
            return [self.problem("cam-table", message, "leave out points that lie close together", ("angles",))]
        return []


def _around(x: Any, c: Any, at: Any) -> Any:
    """One or more periods away the same."""
    period = x[-1] - x[0]
    return evaluate(x[:-1], c, at - np.floor((at - x[0]) / period) * period)


class ScotchYoke(Follower):
    """Lift at ``follower`` = ``offset`` + ``radius`` cos(angle at ``driver`` + ``phase``): a pin on a crank in a slot.

    ``radius`` of the crank [m] and ``offset`` [m], or both in rad where the follower turns; ``phase`` [rad]. Write
    phase = -pi/2 for a sine."""

    radius: Number
    offset: Number = 0.0
    phase: Number = 0.0

    def __init__(self, name: str, radius: Any = None, **properties: Any):
        super().__init__(name, **({} if radius is None else {"radius": radius}), **properties)

    def curves(self, value: Value) -> tuple[CurveRelation, ...]:
        return (CurveRelation("follower", "driver", partial(_slot, value("radius"), value("offset"), value("phase"))),)

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        if finite(self.radius) and self.radius == 0.0:
            message = "radius must not be zero: nothing would move"
            problems.append(self.problem("scotch-yoke", message, "give the radius of the crank", ("radius",)))
        return problems


def _slot(radius: Any, offset: Any, phase: Any, angle: Any) -> Any:
    return np.cos(angle + phase) * radius + offset
