"""How far the forces of active constraints are within their limits: zero is where one of them gives way."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.active_set import ActiveRows

Array = np.ndarray


class Reserve(NamedTuple):
    """How far forces are inside their limits: ``value`` from -1 (in the middle) to 0 (some must give way) and beyond;
    ``gives``: which ones are at their limits then, with the side -1 low or 1 high."""

    value: float
    gives: tuple[tuple[int, int], ...]


def force_reserve(active: ActiveRows, f: Array, low: Array, high: Array) -> Reserve:
    """Of the forces f (k,) along the rows. If the rows depend on each other only sums of forces are known: then the
    reserve is that of the best choice, min over z of max_i of |f + N z - middle|_i / (half width)_i, N the ways in
    which forces cancel; at a corner, found by trying them all."""
    at = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if not len(at):
        return Reserve(-1.0, ())
    half, middle = 0.5 * (high[at] - low[at]), 0.5 * (high[at] + low[at])
    x = (f[at] - middle) / half
    if not active.full:
        _, s, vt = np.linalg.svd(active.J.T)
        rank = int(np.sum(s > 1e-10 * s[0]))
        N = vt[rank:].T[at] / half[:, None]
        if np.abs(N).max() > 1e-10:
            return _best(x, N, at)
    worst = int(np.argmax(np.abs(x)))
    return Reserve(float(abs(x[worst]) - 1.0), ((int(at[worst]), 1 if x[worst] > 0.0 else -1),))


def _best(x: Array, N: Array, at: Array) -> Reserve:
    """min_z max |x + N z| over all corners: d + 1 of the values equal and opposite in some way."""
    d = N.shape[1]
    both, signs = np.concatenate([N, -N]), np.concatenate([x, -x])  # each of |.| as two planes
    best: Reserve | None = None
    for chosen in combinations(range(len(both)), min(d + 1, len(both))):
        rows = list(chosen)
        system = np.concatenate([both[rows], -np.ones((len(rows), 1))], axis=1)
        z = np.linalg.lstsq(system, -signs[rows], rcond=1e-12)[0]
        height = float(np.max(signs + both @ z[:d]))
        if best is None or height - 1.0 < best.value - 1e-12:
            top = np.flatnonzero(signs + both @ z[:d] >= height - 1e-9 * max(1.0, abs(height)))
            gives = tuple((int(at[i % len(x)]), 1 if i < len(x) else -1) for i in top)
            best = Reserve(height - 1.0, gives)
    return best if best is not None else Reserve(-1.0, ())


def spanned(row: Array, rows: Array | Sequence[Array]) -> bool:
    """Whether a row (n,) is a sum of others."""
    if not len(rows):
        return False
    left = row - np.linalg.lstsq(np.array(rows).T, row, rcond=1e-12)[0] @ np.array(rows)
    return bool(np.abs(left).max() <= 1e-10 * np.abs(row).max())
