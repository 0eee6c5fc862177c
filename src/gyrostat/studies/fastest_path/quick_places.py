"""Where torques change quickly along a path: friction beside a rest and beside the place where a joint turns round.

There the speed of a shaft passes 0: as the root of the distance from a rest, in proportion to that from a turning
point. Friction with a narrow smoothing or a peak of sticking is over in a small part of the first interval, which
evenly spaced points do not see; these are evenly spaced in the logarithm of the distance, on both sides."""

from __future__ import annotations

import numpy as np

from gyrostat.studies.fastest_path.paths import Path
from gyrostat.studies.fastest_path.rows import Rows
from gyrostat.studies.fastest_path.stage_points import Points, points_of

Array = np.ndarray
REST, TURN = 1e-12, 1e-6
"""Least distances, in parts of the interval: speeds beside both grow from a millionth."""
CREEP = 1e-30
"""Least x in parts of the greatest one where friction jumps at rest: its sign is that of the motion."""


class QuickPlaces:
    """Sides of places of the grid: ``interval`` (Q,), ``near`` (Q,) the grid point, ``ahead`` (Q, G) = 2 (s - s_near).

    ``rests``: grid points at which the robot may rest; ``turns``: those at which a shaft turns round."""

    def __init__(self, path: Path, grid: Array, rests: Array, turns: Array, dry: bool, count: int):
        N, steps = len(grid) - 1, np.diff(grid)
        turns = np.setdiff1d(turns, rests)
        places = np.concatenate([rests, turns])
        least = np.repeat([REST, TURN], [len(rests), len(turns)])
        near, low = np.tile(places, 2), np.tile(least, 2)
        sign = np.repeat([1.0, -1.0], len(places))
        interval = np.where(sign > 0.0, near, near - 1)
        inside = (interval >= 0) & (interval < N)
        self.interval, self.near, sign, low = interval[inside], near[inside], sign[inside], low[inside]
        part = low[:, None] ** np.linspace(1.0, 0.0, count)
        # the place itself, but where dry friction jumps: there is no sign at a turning point
        first = np.where((low == TURN) & dry, TURN, 0.0)[:, None]
        part = np.concatenate([first, part], axis=1)
        self.ahead = 2.0 * sign[:, None] * steps[self.interval][:, None] * part
        s = grid[self.near][:, None] + 0.5 * self.ahead
        left, right = grid[self.interval][:, None], grid[self.interval + 1][:, None]
        s = np.clip(s, left, np.nextafter(right, -np.inf))  # what jumps at a grid point is that of this interval
        self.points: Points = points_of(path, s.ravel())

    def excess(self, rows: Rows, x: Array, u: Array) -> Array:
        """(Q, 1 + G, R): by how much limits are exceeded, with x (N + 1,) and u (N,) of the grid."""
        along = np.repeat(u[self.interval], self.ahead.shape[1])
        xs = np.maximum(x[self.near][:, None] + self.ahead * u[self.interval][:, None], 0.0)
        over = np.maximum(*rows.excess(self.points, xs.ravel(), along, least_x(rows, x)))
        return over.reshape(*self.ahead.shape, -1)

    def worst(self, rows: Rows, x: Array, u: Array) -> Array:
        """(N, R): the greatest excess in each interval, -inf where none was looked at; at the vertex of the parabola
        through a greatest value and its neighbours, which even spacing in the logarithm allows."""
        over = self.excess(rows, x, u)
        most = over.max(axis=1)
        at = np.clip(over.argmax(axis=1), 2, over.shape[1] - 2)[:, None]
        before, here, after = (np.take_along_axis(over, at + d, axis=1)[:, 0] for d in (-1, 0, 1))
        with np.errstate(divide="ignore", invalid="ignore"):
            beyond = (after - before) ** 2 / (8.0 * (2.0 * here - after - before))
        peak = (here == most) & np.isfinite(beyond)
        result = np.full((len(u), over.shape[2]), -np.inf)
        np.maximum.at(result, self.interval, np.where(peak, most + np.where(peak, beyond, 0.0), most))
        return result


def least_x(rows: Rows, x: Array) -> float:
    """The least x at which the whole model is looked at: 0, but where friction has the sign of a motion that ends."""
    return CREEP * float(x.max()) if rows.torques.dry else 0.0
