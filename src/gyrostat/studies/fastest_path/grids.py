"""Where along a path the speed is a variable: dense at the ends and at stops, every break a grid point."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.errors import SpecError, clipped
from gyrostat.simulate.trajectories.given import finite_array
from gyrostat.studies.fastest_path.paths import WHO, Path

Array = np.ndarray
MIXED = 0.9
"""Share of the cosine in the distances of grid points: 2 to 12 times less error of the time than even ones."""


def read_grid(path: Path, given: Any, stops: Array, start: float) -> Array:
    """(N + 1,) from the number of intervals, or from the points themselves."""
    if isinstance(given, bool) or (np.ndim(given) == 0 and not isinstance(given, int | np.integer)):
        raise SpecError.one(WHO, "grid", f"grid is {clipped(given)}", "a number of intervals, or values of s", given)
    if np.ndim(given) == 0:
        if not 4 <= given <= 1_000_000:
            raise SpecError.one(WHO, "grid", f"grid is {given}", "from 4 to 1000000 intervals", given)
        grid = even(path, int(given), stops, start)
    else:
        grid = finite_array(given, WHO, "grid")
        ends = start, path.end
        if grid.ndim != 1 or len(grid) < 5 or np.any(np.diff(grid) <= 0.0) or (grid[0], grid[-1]) != ends:
            message = f"grid must grow from {start:g} to {path.end:g} in 4 intervals or more, got {clipped(given)}"
            raise SpecError.one(WHO, "grid", message, f"np.linspace({start:g}, {path.end:g}, 501)", given)
    inner = path.breaks[(path.breaks > start) & (path.breaks < path.end)]
    kinks = inner if path.smoothness < 3 else np.zeros(0)  # of q'', where accelerations peak: cubic splines have them
    return with_points(grid, np.concatenate([kinks, stops]))


def even(path: Path, count: int, stops: Array, start: float) -> Array:
    """Between ends and stops: even in a mix of the distance travelled and a cosine of it."""
    fine = np.linspace(start, path.end, 2001)
    speed = np.linalg.norm(path.derivatives(fine, 1)[1], axis=1)
    way = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))])
    way = way / way[-1] + 1e-9 * np.linspace(0.0, 1.0, len(fine))
    way /= way[-1]
    marks = np.concatenate([[0.0], np.interp(stops, fine, way), [1.0]])
    parts = []
    for a, b in pairwise(marks):
        n = max(4, round(count * (b - a)))
        z = np.linspace(0.0, 1.0, n + 1)
        parts.append(a + (b - a) * ((1.0 - MIXED) * z + MIXED * (0.5 - 0.5 * np.cos(np.pi * z))))
    s = np.interp(np.unique(np.concatenate(parts)), way, fine)
    s[0], s[-1] = start, path.end
    return s


def with_points(grid: Array, wanted: Array, fixed: Array | None = None) -> Array:
    """The grid with these points in it; the nearest one moves there if it is near and not ``fixed``."""
    kept = set() if fixed is None else set(fixed.tolist())
    for s in np.unique(wanted).tolist():
        k = int(np.argmin(np.abs(grid - s)))
        inside = 0 < k < len(grid) - 1 and grid[k] not in kept
        if inside and abs(grid[k] - s) < 0.3 * min(grid[k + 1] - grid[k], grid[k] - grid[k - 1]):
            grid = grid.copy()
            grid[k] = s
        elif abs(grid[k] - s) > 1e-10 * (grid[-1] - grid[0]):
            grid = np.sort(np.append(grid, s))
        kept.add(s)
    return grid


def turning_points(path: Path, grid: Array, shafts: Array) -> Array:
    """Where a joint, or another of the ``shafts`` (k, n), turns round along the path: dry friction jumps there."""
    fine = np.unique(np.concatenate([grid, 0.5 * (grid[1:] + grid[:-1])]))
    w = path.derivatives(fine, 1)[1] @ shafts.T
    size = 1e-12 * np.abs(w).max()
    for edge in (w[0], w[-1]):  # where the path itself comes to rest, the sign is rounding
        edge[np.abs(edge) <= size] = 0.0
    i, k = np.nonzero((w[:-1] * w[1:] < 0.0) & (np.abs(w[:-1]) + np.abs(w[1:]) > size))
    left, right, sign = fine[i], fine[i + 1], np.sign(w[i, k])
    for _ in range(60 if len(i) else 0):
        middle = 0.5 * (left + right)
        ahead = np.einsum("pn,pn->p", path.derivatives(middle, 1)[1], shafts[k]) * sign > 0.0
        left, right = np.where(ahead, middle, left), np.where(ahead, right, middle)
    return 0.5 * (left + right)
