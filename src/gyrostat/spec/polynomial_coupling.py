"""Couplings by a polynomial: a shaft whose angle is a polynomial of another one's, as ``equality/joint`` of MJCF."""

from __future__ import annotations

from functools import partial
from typing import Any, ClassVar

from gyrostat.errors import Problem
from gyrostat.spec.cam import Follower, Table
from gyrostat.spec.relations import CurveRelation, Value
from gyrostat.spec.rules import finite, not_finite, shown
from gyrostat.spec.values import Number


class PolynomialCoupling(Follower):
    """Angle at ``follower`` = c_0 + c_1 x + c_2 x^2 + ..., x = angle at ``driver`` - ``reference``.

    ``coefficients`` c_0, c_1, ... [rad, or m where the follower slides, per power of the driver's unit]; ``reference``
    [rad or m]. Both may be live. A polynomial of degree one is a :class:`Gear`, which says the same."""

    since: ClassVar[int] = 3

    coefficients: Table
    reference: Number = 0.0

    def __init__(self, name: str, coefficients: Any = None, **properties: Any):
        super().__init__(name, **({} if coefficients is None else {"coefficients": coefficients}), **properties)

    def curves(self, value: Value) -> tuple[CurveRelation, ...]:
        c = value("coefficients")
        law = partial(_horner, [c[k] for k in range(len(self.coefficients))], value("reference"))
        return (CurveRelation("follower", "driver", law),)

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        if finite(self.coefficients) and not any(self.coefficients[1:]):
            message = f"coefficients beyond the first must not all be zero, got {shown(self.coefficients)}"
            remedy = "nothing would move: make the follower a fixed joint"
            problems.append(self.problem("polynomial", message, remedy, ("coefficients",)))
        return problems


def _horner(c: list[Any], reference: Any, angle: Any) -> Any:
    x, y = angle - reference, c[-1]
    for coefficient in reversed(c[:-1]):
        y = y * x + coefficient
    return y
