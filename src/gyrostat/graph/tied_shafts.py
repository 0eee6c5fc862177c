"""How one shaft moves by the coordinates of the model: linearly behind gears, by curves behind cams.

    angle = g(q),    rate = G(q) v,    acceleration = G(q) a + G'(q, v) v

``ties`` is the row G, ``tie_rates`` the row G' = dG/dt, which gives accelerations the bias G' v. Behind gears G is
constant and there is none. A curve is evaluated at a state; before that, a :class:`CurvedShaft` tells on which rates it
depends, and refuses to be a number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, NoReturn

import numpy as np

from gyrostat.engine.tracing.dual import OUTER, Dual, rates_of, values_of
from gyrostat.errors import GyrostatError, RecordError, RowError, StateError
from gyrostat.spatial.algebra import Array

Ties = tuple[tuple[int, Any], ...]
"""A rate as a sum over rates of the model: (number, factor)."""
FIRST, SECOND = OUTER + 3, OUTER + 4
"""Levels of the rates that differentiate curves: outside everything that an angle may carry."""


class StateDependent:
    """Stands for a factor that is known at a state alone; all arithmetic with it is refused."""

    def __init__(self, name: str):
        self.name = name

    def _refuse(self, *others: Any) -> NoReturn:
        raise StateError(
            f"'{self.name}' moves its follower by a curve: the ratio of their rates depends on the state, and constant "
            "ratios are needed here. Hint: take it out, or ask a solver that takes a state"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse
    __neg__ = __abs__ = __float__ = __bool__ = __lt__ = __le__ = __gt__ = __ge__ = _refuse  # type: ignore[assignment]


@dataclass(frozen=True)
class Shaft:
    """Angle = sum of factor x coordinate + offset, rate = sum of factor x rate; accelerations like rates."""

    ties: Ties
    offset: Any = 0.0
    is_linear: ClassVar[bool] = True

    @property
    def tie_rates(self) -> Ties:
        """How the ties change at the state."""
        return ()

    def angle(self, q: Array, place: Sequence[int]) -> Any:
        total = self.offset
        for k, factor in self.ties:
            total = total + q[place[k]] * factor
        return total

    def rate(self, v: Array) -> Any:
        total: Any = 0.0
        for k, factor in self.ties:
            total = total + v[k] * factor
        return total

    def acceleration(self, a: Array) -> Any:
        return self.rate(a)

    def at(self, q: Array, place: Sequence[int], followers: Sequence[Moved]) -> Shaft:
        """The shaft at a state, where the ``followers`` of all curves move so."""
        return self


class Moved(NamedTuple):
    """A shaft at a state: its angle, G, G' = dG/dt, and the bias G' v."""

    angle: Any
    ties: Ties
    tie_rates: Ties
    bias: Any


@dataclass(frozen=True)
class CurvedShaft(Shaft):
    """Angle = sum of factor x coordinate + sum of factor x follower of a curve + offset; ``direct`` and ``bent`` are
    the two sums, by the numbers of rates and of curves. ``moved``: how it moves, once it was evaluated at a state."""

    direct: Ties = ()
    bent: Ties = ()
    moved: Moved | None = None
    is_linear: ClassVar[bool] = False

    def angle(self, q: Array, place: Sequence[int]) -> Any:
        return self._moved.angle

    def acceleration(self, a: Array) -> Any:
        return self.rate(a) + self._moved.bias

    @property
    def tie_rates(self) -> Ties:
        return self._moved.tie_rates

    @property
    def _moved(self) -> Moved:
        if self.moved is None:
            raise StateError(
                f"the shaft behind '{self.ties[0][1].name}' follows by a curve and has no motion without a state. "
                "Hint: transmission.at(q, v)"
            )
        return self.moved

    def at(self, q: Array, place: Sequence[int], followers: Sequence[Moved]) -> CurvedShaft:
        angle, bias = self.offset, 0.0
        ties, rates = dict(self.direct), dict[int, Any]()
        for k, factor in self.direct:
            angle = angle + q[place[k]] * factor
        for i, factor in self.bent:
            moved = followers[i]
            angle, bias = angle + moved.angle * factor, bias + moved.bias * factor
            _add(ties, moved.ties, factor)
            _add(rates, moved.tie_rates, factor)
        moved = Moved(angle, tuple(ties.items()), tuple(rates.items()), bias)
        return replace(self, ties=moved.ties, moved=moved)


def _add(total: dict[int, Any], ties: Ties, factor: Any) -> None:
    """Ties times a factor."""
    for k, x in ties:
        total[k] = total[k] + x * factor if k in total else x * factor


@dataclass(frozen=True)
class FollowedCurve:
    """Angle of a shaft = function(angle of the ``driver``); ``name``: the entity that makes it so."""

    name: str
    driver: Shaft
    function: Callable[[Any], Any]

    @property
    def ties(self) -> Ties:
        """The rates that it depends on."""
        return tuple((k, StateDependent(self.name)) for k, _ in self.driver.ties)

    def at(self, q: Array, v: Array, place: Sequence[int], before: Sequence[Moved]) -> Moved:
        """y = g(x): y' = g' x', so G_y = g' G_x and dG_y/dt = g' dG_x/dt + g'' x' G_x; ``before``: how the curves move
        that its driver depends on."""
        driver = self.driver.at(q, place, before)
        y, slope, bend = curve_derivatives(self._lift, driver.angle(q, place))
        turning = bend * driver.rate(v)
        rates: dict[int, Any] = {}
        _add(rates, driver.ties, turning)
        _add(rates, driver.tie_rates, slope)
        bias = sum((x * v[k] for k, x in rates.items()), start=0.0)
        return Moved(y, tuple((k, x * slope) for k, x in driver.ties), tuple(rates.items()), bias)

    def _lift(self, x: Any) -> Any:
        """The function, whose mistakes are told as a :class:`RowError`."""
        hint = "Hint: curves also run on recorded numbers: arithmetic, np.sin, np.where; no math.sin, np.interp, if"
        try:
            y = self.function(x)
        except RecordError as error:
            raise RowError(f"the curve of '{self.name}' fails, {error}") from error
        except GyrostatError:
            raise
        except Exception as error:
            raise RowError(f"the curve of '{self.name}' fails, {type(error).__name__}: {error}. {hint}") from error
        return self._expect_number(y)

    def _expect_number(self, y: Any) -> Any:
        shape = np.shape(y)
        if shape or y is None or isinstance(y, str | complex):
            got = f"an array of shape {shape}" if shape else type(y).__name__
            raise RowError(f"the curve of '{self.name}' returned {got}, expected one number. Hint: return the angle")
        return y[()] if isinstance(y, np.ndarray) else y


def curve_derivatives(function: Callable[[Any], Any], x: Any) -> tuple[Any, Any, Any]:
    """g, g' and g'' at x, by numbers with rates."""
    y = function(Dual(Dual(x, 1.0, FIRST), 1.0, SECOND))
    value, slope = values_of(y, SECOND)[()], rates_of(y, SECOND)[()]
    return values_of(value, FIRST)[()], values_of(slope, FIRST)[()], rates_of(slope, FIRST)[()]
