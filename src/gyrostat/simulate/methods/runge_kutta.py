"""Explicit Runge-Kutta methods as tables, on the configuration manifold.

A step from q0 integrates y = (x, v, p, work) with y' = f(t, y), where x are local coordinates around q0 (see
:mod:`gyrostat.configuration.chart`: rotation vectors for quaternions, after Munthe-Kaas) and work is that of the
efforts:

    k_i = f(t0 + c_i h, y0 + h sum_j a_ij k_j),   y1 = y0 + h sum_i b_i k_i.

The last stage of every table is at y1, so that it is the first one of the next step (there x = 0 and x' = v). Dense
output, for s from 0 to 1, with w_1 = 1 for the first stage, w_l = 1 for the last and a vector d of the table,

    y(s) = y0 + h s (b + (1 - s) (w_1 - b + s (2 b - w_1 - w_l + (1 - s) d))) . k:

the cubic of Hermite where d is zero, order four with the d of Dormand and Prince [Hairer, Norsett, Wanner II.6]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import NonFiniteError
from gyrostat.simulate.methods.method import Method, Step, StepFailure
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
TURN = 3.0
"""Rotation [rad] within a step beyond which it is not accepted: the local coordinates end at two pi."""


def numbers(*rows: str) -> tuple[Array, ...]:
    """Rows of a table, written as fractions."""
    return tuple(np.array([float(Fraction(word)) for word in row.split()]) for row in rows)


@dataclass(frozen=True)
class Table:
    """``a``: one row for each stage after the first; the last row is that of y1, with a weight for every stage before
    it. ``error``: weights of y1 less the weights of the embedded method, for all stages; ``d`` of the dense output."""

    a: Sequence[Array]
    c: Array
    error: Array | None = None
    d: Array | None = None
    b: Array = field(init=False)
    first: Array = field(init=False)
    last: Array = field(init=False)

    def __post_init__(self) -> None:
        unit = np.eye(len(self.a) + 1)
        object.__setattr__(self, "b", np.append(self.a[-1], 0.0))
        object.__setattr__(self, "first", unit[0])
        object.__setattr__(self, "last", unit[-1])

    def weights(self, s: Array) -> Array:
        """Weights (..., stages) of the dense output at the fractions s (...) of a step."""
        s = s[..., None]
        d = 0.0 if self.d is None else self.d
        inner = 2.0 * self.b - self.first - self.last + (1.0 - s) * d
        return s * (self.b + (1.0 - s) * (self.first - self.b + s * inner))


class RungeKutta(Method):
    """An explicit method: the state of the integration, and one trial step."""

    table: ClassVar[Table]

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self._angular = None if plant.plain else plant.model.layout.angular
        self._k1: Array | None = None
        self._tau = np.zeros(plant.nv)

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self.t, self.q = t, q
        self.y = np.concatenate([np.zeros(self.plant.nv), v, p, [0.0]])
        self._k1 = None

    def first(self) -> Array:
        """f at the state that was reached."""
        if self._k1 is None:
            self._k1 = self.plant.stage(self.t, self.q, self.y).dy
        return self._k1

    def trial(self, h: float) -> tuple[Array, Array, Array, Array]:
        """Stages k (stages, n), y1, q1 and tau1 after a step h. NonFiniteError where f is not finite."""
        table, y0 = self.table, self.y
        k = np.empty((len(table.a) + 1, len(y0)))
        k[0] = self.first()
        y, q, tau = y0, self.q, self._tau
        for i, row in enumerate(table.a, start=1):
            y = y0 + h * (row @ k[:i])
            if self._angular is not None and np.max(np.sum(y[self._angular] ** 2, axis=1)) > (2.0 * TURN) ** 2:
                raise NonFiniteError("a rotation of more than a turn in one step")
            k[i], q, tau = self.plant.stage(self.t + table.c[i] * h, self.q, y)
        return k, y, q, tau

    def accepted(self, t1: float, k: Array, y1: Array, q1: Array, tau1: Array) -> Step:
        """Go on from the end of a step."""
        plant, n, t0, q0, y0, table = self.plant, self.plant.nv, self.t, self.q, self.y, self.table
        h = t1 - t0

        def state(t: Any) -> Array:
            return y0 + h * (table.weights((np.asarray(t, dtype=float) - t0) / h) @ k)

        def dense(t: Any) -> tuple[Array, Array, Array]:
            y = state(t)
            return plant.move(q0, y[..., :n]), y[..., n : 2 * n], y[..., 2 * n : -1]

        step = Step(
            t0,
            t1,
            q1,
            y1[n : 2 * n],
            y1[2 * n : -1],
            k[-1, n : 2 * n],
            tau1,
            dense,
            lambda t: y1[-1] if isinstance(t, float) and t == t1 else state(t)[..., -1],
        )
        self.t, self.q, self._tau = t1, q1, tau1
        self.y = y1.copy()
        self.y[:n], self.y[-1] = 0.0, 0.0
        known = k[-1].copy()
        known[:n] = self.y[n : 2 * n]  # local coordinates begin anew: x' = v
        self._k1 = known
        return step

    def turned(self, y: Array) -> bool:
        """Whether something turns too far in one step."""
        return self._angular is not None and bool(np.max(np.sum(y[self._angular] ** 2, axis=1)) > TURN**2)


class FixedStep:
    """Instants t_start + k dt, without accumulating rounding. It moves on when a step is ``reached``, not when one is
    tried."""

    def __init__(self, dt: Any, name: str):
        self.dt = dt
        self.origin, self.count = 0.0, 0

    def restart(self, t: float) -> None:
        self.origin, self.count = t, 0

    def next(self, t_limit: float) -> float:
        """End of the next step: at the limit if that is reached, or missed by rounding only."""
        t = self.origin + (self.count + 1) * self.dt
        return t_limit if t >= t_limit - 1e-9 * self.dt else t

    def length(self, t: float, t_limit: float) -> float:
        """Of the next step from t: dt itself, but for a step that a limit cuts; instants are rounded."""
        end = self.next(t_limit)
        h = end - t
        return self.dt if abs(h - self.dt) <= 1e-6 * self.dt + 4.0 * np.spacing(abs(end)) else h

    def reached(self, t: float) -> None:
        """An accepted step ends at t."""
        k = round((t - self.origin) / self.dt)
        self.count = k if self.origin + k * self.dt <= t + 1e-9 * self.dt else k - 1


class FixedRungeKutta(RungeKutta):
    """Steps of ``dt`` [s], whatever the error."""

    adaptive = False
    options = ("dt",)

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        self.clock = FixedStep(options["dt"], self.name)

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().start(t, q, v, p)
        self.clock.restart(t)

    def step(self, t_limit: float) -> Step:
        t1 = self.clock.next(t_limit)
        try:
            k, y, q, tau = self.trial(t1 - self.t)
        except NonFiniteError as error:
            raise StepFailure(str(error), hint="a smaller dt, or look at the efforts there") from error
        if self.turned(y):
            raise StepFailure("something turns by more than half a turn in one step", hint="a smaller dt")
        self.clock.reached(t1)
        return self.accepted(t1, k, y, q, tau)
