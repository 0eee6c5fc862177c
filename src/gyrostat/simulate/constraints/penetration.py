"""How far one-sided constraints are violated: the functions whose change of sign is a contact, for all rows at once."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.constrained.constraint_set import Active
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
AT = 1e-9
"""How close [rad, m] to its limit a row is there."""
ROUNDING = 1e-14
"""How far beyond its limit, relative to its size, it is still there."""
INSIDE = 1e-300


class Penetration:
    """Of the rows of a plant."""

    def __init__(self, plant: Plant):
        self.plant = plant
        self._known: tuple[Array, Array, Active, Array] | None = None

    def __call__(self, q: Array, v: Array) -> Array:
        """side g (..., rows), positive beyond the limit; one that is at its limit, rests there or leaves from there is
        inside, below zero. The last answer is kept: each row is asked for on its own."""
        active = self.plant.active
        known = self._known
        if known is None or known[0] is not q or known[1] is not v or known[2] is not active:
            self._known = known = q, v, active, self._depths(q, v)
        return known[3]

    def _depths(self, q: Array, v: Array) -> Array:
        rows = self.plant.constraints
        depth = rows.side * rows.residuals(q)
        beyond = depth > AT
        close = (depth > ROUNDING * rows.size) & ~beyond
        if close.any():
            beyond |= close & (rows.side * self._speeds(q, v, close) > 0.0)
        return np.where(beyond & ~self.plant.active.blocked, depth, np.minimum(depth, -INSIDE))

    def _speeds(self, q: Array, v: Array, needed: Array) -> Array:
        """J v (..., rows), where they are needed (..., rows)."""
        rows = self.plant.constraints
        if rows.constant.all():
            return v @ rows.constant_jacobian.T
        if q.ndim == 1:
            return rows.jacobian(q, needed) @ v
        return np.array([rows.jacobian(q[k], needed[k]) @ v[k] for k in range(len(q))])
