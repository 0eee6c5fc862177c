"""What is at rest stays at rest, or does not: efforts within limits against accelerations.

Speeds w = C v are at rest; a holding effort f_i acts along w_i within its limits. With the accelerations a of the
free motion, A = C M^-1 C^T and b = C a, each of them either stays, or moves against an effort at its limit:

    g = A f + b:   g_i = 0 and low_i <= f_i <= high_i,   or   g_i > 0 and f_i = low_i,   or   g_i < 0 and f_i = high_i.

These are the conditions of the least kinetic energy of acceleration, f . A f / 2 + b . f, within the limits; g is
unique. Friction has limits on both sides, a stop on one."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from gyrostat.errors import GyrostatError

Array = np.ndarray
ROUNDING = 1e-13
RIDGE = 1e-13
"""Relative part that is added to the diagonal of A where rows depend on each other."""


class Hold:
    """Sums of rates ``rows`` (k, nv) that are kept at zero."""

    def __init__(self, rows: Array):
        self.rows = rows
        n = rows.shape[1]
        self.full = np.linalg.matrix_rank(rows) == len(rows)
        self.kept = np.eye(n) - np.linalg.pinv(rows) @ rows
        """Projector (nv, nv) on the motions that remain."""
        used = np.flatnonzero(np.abs(rows).max(axis=0, initial=0.0))
        if self.full and len(used) == len(rows):  # single rates, exactly
            self.kept = np.eye(n)
            self.kept[used, used] = 0.0

    def efforts(self, inverse: Array, a: Array) -> Array:
        """f (k,) along the rows, so that rows . (a + M^-1 rows^T f) = 0; the smallest where they are not unique."""
        A, b = self.rows @ inverse @ self.rows.T, self.rows @ a
        return np.linalg.solve(A, -b) if self.full else np.linalg.lstsq(A, -b, rcond=1e-10)[0]

    def accelerations(self, inverse: Array, a: Array) -> Array:
        """a (nv,) with these efforts."""
        return self.kept @ (a + inverse @ (self.rows.T @ self.efforts(inverse, a)))

    def residual(self, r: Array, a: Array) -> Array:
        """The residual r (nv,) of inverse dynamics along the motions that remain, and the accelerations that must be
        zero along the others."""
        return self.kept @ r + (a - self.kept @ a)


def balanced(A: Array, b: Array, low: Array, high: Array) -> Array:
    """f (k,) of the conditions above, by principal pivoting: all at once, one by one if that goes round in circles
    [Judice and Pires, Comp. Oper. Res. 21 (1994) 587-596]."""
    k = len(b)
    if not k:
        return np.zeros(0)
    if np.linalg.matrix_rank(A, tol=1e-10 * float(np.abs(A).max())) < k:
        A = A + RIDGE * np.trace(A) * np.eye(k)
    at = np.zeros(k, dtype=int)  # 0: free, -1: at low, 1: at high
    best, patience = k + 1, 5
    for _ in range(100 + 20 * 2 ** min(k, 10)):
        f = np.where(at < 0, low, np.where(at > 0, high, 0.0))
        free = at == 0
        if free.any():
            f[free] = np.linalg.solve(A[np.ix_(free, free)], -(b[free] + A[np.ix_(free, ~free)] @ f[~free]))
        g = A @ f + b
        scale = ROUNDING * (np.abs(A) @ np.where(np.isfinite(f), np.abs(f), 0.0) + np.abs(b) + 1e-300)
        wrong = np.where(free, (f > high) * 1 - (f < low) * 1, ((at < 0) & (g < -scale)) | ((at > 0) & (g > scale)))
        bad = np.flatnonzero(wrong)
        if not len(bad):
            return f
        if len(bad) < best:
            best, patience = len(bad), 5
        else:
            patience -= 1
        for i in bad if patience > 0 else bad[-1:]:
            at[i] = wrong[i] if free[i] else 0
    raise GyrostatError("the frictions at rest find no balance")


class Reserve(NamedTuple):
    """How far efforts are inside their limits: ``value`` from -1 (in the middle) to 0 (some must give way) and beyond;
    ``gives``: which ones are at their limits then, with the side -1 low or 1 high."""

    value: float
    gives: tuple[tuple[int, int], ...]


def reserve(hold: Hold, f: Array, low: Array, high: Array) -> Reserve:
    """Of the efforts f (k,) along the rows. If the rows depend on each other only sums of efforts are known: then the
    reserve is that of the best choice, min over z of max_i of |f + N z - middle|_i / (half width)_i, N the ways in
    which efforts cancel; at a corner, found by trying them all."""
    at = np.flatnonzero(np.isfinite(low) & np.isfinite(high))
    if not len(at):
        return Reserve(-1.0, ())
    half, middle = 0.5 * (high[at] - low[at]), 0.5 * (high[at] + low[at])
    x = (f[at] - middle) / half
    if not hold.full:
        _, s, vt = np.linalg.svd(hold.rows.T)
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


def spanned(row: Array, rows: Sequence[Array]) -> bool:
    """Whether a row (n,) is a sum of others."""
    if not len(rows):
        return False
    left = row - np.linalg.lstsq(np.array(rows).T, row, rcond=1e-12)[0] @ np.array(rows)
    return bool(np.abs(left).max() <= 1e-10 * np.abs(row).max())
