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
    """side g of the rows of a plant, positive beyond the limit; one that is at its limit, rests there or leaves from
    there is inside, below zero."""

    def __init__(self, plant: Plant):
        self.plant = plant
        self._known: tuple[Array, Array, Active, Array] | None = None

    def of(self, row: int, q: Array, v: Array) -> float:
        """Of one row at a state."""
        rows = self.plant.constraints
        side = int(rows.side[row])
        depth = side * rows.residual(row, q)
        beyond = depth > AT or (depth > ROUNDING * rows.size[row] and side * self._speed(row, q, v) > 0.0)
        return depth if beyond and not self.plant.active.blocked[row] else min(depth, -INSIDE)

    def _speed(self, row: int, q: Array, v: Array) -> float:
        rows = self.plant.constraints
        J = rows.constant_jacobian if rows.constant[row] else rows.jacobian(q, np.arange(len(rows)) == row)
        return float(J[row] @ v)

    def along(self, q: Array, v: Array) -> Array:
        """(T, rows) at states q (T, nq), v (T, nv). The last answer is kept: each row is asked for on its own."""
        active, known = self.plant.active, self._known
        if known is None or known[0] is not q or known[1] is not v or known[2] is not active:
            self._known = known = q, v, active, self._depths(q, v)
        return known[3]

    def _depths(self, q: Array, v: Array) -> Array:
        rows = self.plant.constraints
        depth = rows.side * rows.residuals(q)
        beyond = depth > AT
        for k, row in np.argwhere((depth > ROUNDING * rows.size) & ~beyond):
            beyond[k, row] = rows.side[row] * self._speed(row, q[k], v[k]) > 0.0
        return np.where(beyond & ~self.plant.active.blocked, depth, np.minimum(depth, -INSIDE))
