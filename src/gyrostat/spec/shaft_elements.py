"""Force elements between shafts: springs, dampers, backlash, friction. Nothing is computed here: see
``algorithms.shafts.elements``."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, ClassVar

from pydantic import BeforeValidator, WithJsonSchema

from gyrostat.errors import Problem
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import finite, not_finite, shown
from gyrostat.spec.values import Number, numbers_of, to_number

Pair = tuple[float, float]


def to_both_ways(value: Any) -> float | Pair:
    """One number for both directions, or (plus, minus)."""
    if isinstance(value, list | tuple) or (hasattr(value, "ndim") and value.ndim):
        what, remedy = "a number or two of them (plus, minus)", "write magnitudes such as 0.3 or [0.3, 0.25]"
        pair = numbers_of(value, what, remedy)
        if len(pair) != 2:
            raise RefusedError(f"must be {what}", value, remedy)
        return pair[0], pair[1]
    return to_number(value)


def to_curve(value: Any) -> tuple[Pair, ...]:
    what, remedy = "points of a curve", "write pairs such as [[0, 0], [0.1, 5]]"
    rows = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(rows, list | tuple):
        raise RefusedError(f"must be {what}", value, remedy)
    points = [numbers_of(row, what, remedy) for row in rows]
    if any(len(row) != 2 for row in points):
        raise RefusedError(f"must be {what}", value, remedy)
    return tuple((x, y) for x, y in points)


_PAIR = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
BothWays = Annotated[
    float | Pair, BeforeValidator(to_both_ways), WithJsonSchema({"anyOf": [{"type": "number"}, _PAIR]})
]
Curve = Annotated[tuple[Pair, ...], BeforeValidator(to_curve), WithJsonSchema({"type": "array", "items": _PAIR})]


def both_ways(value: float | Pair) -> Pair:
    """(plus, minus) magnitudes."""
    return value if isinstance(value, tuple) else (value, value)


class TwoShafts(Entity):
    """What acts between two shafts: ports ``a`` and ``b``; with ``ground=True`` between a shaft and its housing: ``a``
    alone."""

    abstract: ClassVar[bool] = True
    has_inertia: ClassVar[bool] = False
    ground: bool = False

    @property
    def ports(self) -> tuple[Port, ...]:
        return (Port("a", "scalar"),) if self.ground else (Port("a", "scalar"), Port("b", "scalar"))

    @property
    def default_port(self) -> str | None:
        return "a" if self.ground else None

    @property
    def needs_all_shafts(self) -> bool:
        return True

    def must_be(self, key: str, positive: bool = False) -> list[Problem]:
        """Rule ``drive-value``: a number that is not negative, or that is positive."""
        return sign_problems(self, key, positive)


def sign_problems(entity: Entity, key: str, positive: bool = False) -> list[Problem]:
    value = getattr(entity, key)
    values = value if isinstance(value, tuple) else (value,)
    if value is None or not finite(values) or not any(x <= 0.0 if positive else x < 0.0 for x in values):
        return []
    message = f"'{key}' must be {'positive' if positive else 'zero or positive'}, got {shown(value)}"
    remedy = "give a positive number, or leave it out" if positive else "give a magnitude; the signs follow from it"
    return [entity.problem("drive-value", message, remedy, (key,))]


def curve_problems(entity: Entity, key: str) -> list[Problem]:
    """Rule ``curve``: two points or more, from left to right."""
    curve = getattr(entity, key)
    if not curve or not finite(curve):
        return []
    if len(curve) < 2:
        return [entity.problem("curve", f"'{key}' has one point", "give two or more", (key,))]
    if any(x1 <= x0 for (x0, _), (x1, _) in pairwise(curve)):
        message = f"the points of '{key}' do not go from left to right"
        return [entity.problem("curve", message, "sort them by their first number, without repetition", (key,))]
    return []


class Spring(TwoShafts):
    """A torsion spring: torque k d + ``cubic`` d^3 from a to b, d = angle(a) - angle(b) - ``rest`` [rad].

    ``stiffness`` k [N m/rad], ``cubic`` [N m/rad^3] (progressive), or instead of both a ``curve`` of (d, torque),
    straight between its points and beyond them.
    """

    stiffness: Number | None = None
    cubic: Number = 0.0
    curve: Curve = ()
    rest: Number = 0.0

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    def problems(self) -> list[Problem]:
        problems = not_finite(self) + self.must_be("stiffness", positive=True) + self.must_be("cubic")
        problems += curve_problems(self, "curve")
        if (self.stiffness is None) == (not self.curve):
            message = "needs 'stiffness' or 'curve'" if self.stiffness is None else "has both 'stiffness' and 'curve'"
            problems.append(self.problem("spring-law", message, "give one of them", ("stiffness",)))
        if self.curve and self.cubic:
            problems.append(self.problem("spring-law", "has both 'curve' and 'cubic'", "take 'cubic' out", ("cubic",)))
        return problems


class Damper(TwoShafts):
    """Torque d (rate(a) - rate(b)) from a to b; ``damping`` d [N m s/rad]."""

    damping: Number

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    def problems(self) -> list[Problem]:
        return not_finite(self) + self.must_be("damping")


class Backlash(TwoShafts):
    """A gap of ``gap`` [rad] in all, between flanks of ``stiffness`` [N m/rad] and ``damping`` [N m s/rad].

    Torque from a to b: zero while |d| < gap/2, else k (|d| - gap/2) sign(d), d = angle(a) - angle(b), and damping times
    the rate of d while there is contact and both push (a flank does not pull)."""

    gap: Number
    stiffness: Number
    damping: Number = 0.0

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    def problems(self) -> list[Problem]:
        problems = not_finite(self) + self.must_be("gap") + self.must_be("stiffness", positive=True)
        return problems + self.must_be("damping")


class Friction(Entity):
    """Friction of a shaft in its housing; port ``shaft``. Torque against the rate w of the shaft:

    ``viscous`` w + (``coulomb`` + (``static`` - ``coulomb``) exp(-(w / ``stribeck``)^2)) sign(w)

    ``viscous`` [N m s/rad]; ``coulomb``, ``static`` [N m]: one magnitude, or two of them (w > 0, w < 0); ``stribeck``
    [rad/s]: speed at which sticking has gone. ``smooth`` [rad/s]: tanh(w / smooth) takes the place of sign(w); without
    it the sign is exact, and zero at rest."""

    has_inertia: ClassVar[bool] = False
    viscous: Number = 0.0
    coulomb: BothWays = 0.0
    static: BothWays | None = None
    stribeck: Number | None = None
    smooth: Number | None = None

    def __init__(self, name: str, **properties: Any):
        super().__init__(name, **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return (Port("shaft", "scalar"),)

    @property
    def default_port(self) -> str | None:
        return "shaft"

    @property
    def needs_all_shafts(self) -> bool:
        return True

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        for key in ("viscous", "coulomb", "static"):
            problems += sign_problems(self, key)
        for key in ("stribeck", "smooth"):
            problems += sign_problems(self, key, positive=True)
        if (self.static is None) != (self.stribeck is None):
            message = "'static' and 'stribeck' belong together"
            problems.append(self.problem("friction-law", message, "give both or none", ("static",)))
        elif self.static is not None and any(
            s < c for s, c in zip(both_ways(self.static), both_ways(self.coulomb), strict=True)
        ):
            message = f"'static' {shown(self.static)} is less than 'coulomb' {shown(self.coulomb)}"
            problems.append(self.problem("friction-law", message, "sticking is the greater one", ("static",)))
        return problems
