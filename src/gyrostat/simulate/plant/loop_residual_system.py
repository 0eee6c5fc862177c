"""A plant whose loops are constraints as a differential-algebraic system of index 2, F(t, y, y') = 0 [Gear, Leimkuhler,
Gupta, J. Comput. Appl. Math. 12/13 (1985) 77-90]:

    q' = dq/dt(q, v + J^T mu),   rnea(q, v, v') - tau - J^T lambda = 0,   p' = f,   J v = 0,   g = 0,

y = (q, v, p, lambda, mu). Both levels hold, mu is zero but for errors of the method. A row on velocities alone,
of a wheel that rolls, has no g: its mu is zero. Errors of lambda and mu are not
controlled: a multiplier does not act on later times."""

from __future__ import annotations

import numpy as np

from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.plant_loops import PlantLoops
from gyrostat.simulate.plant.residual_system import ResidualSystem
from gyrostat.simulate.plant.vector_system import differences

Array = np.ndarray
FREE = 1e6
"""Absolute tolerance of multipliers, in their units."""


class LoopResidualSystem(ResidualSystem):
    """F and its Jacobian, by differences."""

    def __init__(self, plant: Plant, loops: PlantLoops):
        super().__init__(plant)
        self.loops, self.own = loops, self.size
        self.size += 2 * loops.count

    @property
    def algebraic(self) -> Array:
        """Numbers of the multipliers in y."""
        return np.arange(self.own, self.size)

    def joined(self, q: Array, v: Array, p: Array) -> Array:
        """y of a state; multipliers as a start for Newton's method."""
        return np.concatenate([q, v, p, np.zeros(2 * self.loops.count)])

    def parts(self, y: Array) -> tuple[Array, Array, Array]:
        return super().parts(y[..., : self.own])

    def started(self, t: float, y: Array) -> tuple[Array, Array]:
        """y with the multipliers of its state, and y'."""
        q, v, p = self.state(y)
        rates = super().rates(t, y)
        a = self.parts(np.concatenate([rates, np.zeros(2 * self.loops.count)]))[1]
        rest, J = self._newton_euler(t, q, v, a, p).rest, self.loops.equations(q, v).J
        forces = np.linalg.lstsq(J.T, rest, rcond=None)[0]
        y = np.concatenate([y[: self.own], forces, np.zeros(self.loops.count)])
        return y, np.concatenate([rates, np.zeros(2 * self.loops.count)])

    def absolute(self, rtol: float, atol: float) -> Array:
        own = np.broadcast_to(self._absolute(rtol, atol), (self.own,))
        return np.concatenate([own, np.full(2 * self.loops.count, FREE)])

    def _absolute(self, rtol: float, atol: float) -> float | Array:
        size, self.size = self.size, self.own
        try:
            return super().absolute(rtol, atol)
        finally:
            self.size = size

    def residual(self, t: float, y: Array, dy: Array) -> Array:
        q, v, p = self.parts(y)
        dq, a, dp = self.parts(dy)
        m, holonomic = self.loops.count, self.loops.holonomic
        forces, given = y[self.own : self.own + m], y[self.own + m :]
        shifts = np.where(holonomic, given, 0.0)
        unit = self._unit(q, v)
        rows = self.loops.equations(unit, v)
        rate, rest, p_rate = self._newton_euler(t, q, v, a, p)
        if m and self.plant.plain:
            rate = rate + rows.J.T @ shifts
        elif m:
            rate = self._lifted(q, v + rows.J.T @ shifts).rate
        closed = np.where(holonomic, rows.g, given)
        return np.concatenate([dq - rate, rest - rows.J.T @ forces, dp - p_rate, rows.J @ v, closed])

    def residual_jacobian(self, t: float, y: Array, dy: Array, c: float) -> Array:
        """dF/dy + c dF/dy' (n, n) by central differences along both at once."""
        return differences(lambda x: self.residual(t, x, dy + c * (x - y)), y)
