"""Steps with strict priorities: level by level, each inside what those before it left [Kanoun, Lamiraux, Wieber 2011].

Of level k, with Z a basis of the motions that the levels before do not feel and d what they decided,

    min over z of |A (d + Z z) - r|^2 + damping |z|^2     inside the bounds of d + Z z,

a quadratic program only if the bounds are met. A bound that keeps a level from more is an equation for the levels
after it: within what the level does not feel, nothing leaves that bound [Escande, Mansard, Wieber 2014]. Closed loops,
and whatever else must hold exactly, come before all levels. What no level asks for is left at rest: of all steps it is
the one of least norm."""

from __future__ import annotations

import numpy as np

from gyrostat.tasks.program import Rows
from gyrostat.tasks.quadratic_program import bounded_minimum

Array = np.ndarray
RANK = 1e-9
"""Singular values below this share of the level's own rows, whatever is left for it, are directions that it does not
feel: of a level that nothing is left for, all of them are rounding."""
ROUNDING = 1e-12
PRESSED = 1e4
"""A bound presses on a level if its multiplier is so many times what damping alone would make of it."""


def prioritised(rows: Rows, levels: list[slice], held: Array, unit: float) -> Array:
    """d (nv,) of a stack; ``levels``: places of their rows; ``unit``: a size of steps, as that of bounds."""
    n = len(held)
    Z = np.eye(n)[:, ~held]
    d = np.zeros(n)
    C = np.concatenate([np.eye(n), rows.rows])
    low, high = np.concatenate([rows.low, rows.least]), np.concatenate([rows.high, rows.most])
    if len(rows.J):
        d, Z = _exactly(rows.J, -rows.g, Z)
    for number, level in enumerate(levels):
        if not Z.shape[1]:
            break
        last = number == len(levels) - 1
        A = rows.A[level] @ Z
        wanted = rows.r[level] - rows.A[level] @ d
        damping = float(rows.damping[number])
        least = RANK * max(float(np.linalg.norm(rows.A[level])), 1e-300)
        z, kernel = _least_squares(A, wanted, damping, least, not last)
        if _breaks(C @ (d + Z @ z), low, high):
            bounds = C @ Z, (low - C @ d) / unit, (high - C @ d) / unit
            y, pressing = _inside(A, wanted / unit, max(damping, ROUNDING), *bounds)
            z = y * unit
            if len(pressing) and not last:
                kernel = _kernel(A, pressing, least)
        d, Z = d + Z @ z, Z if last else Z @ kernel
    return np.clip(d, rows.low, rows.high)


def _inside(A: Array, r: Array, damping: float, rows: Array, low: Array, high: Array) -> tuple[Array, Array]:
    """y of least |A y - r|^2 + damping |y|^2 with low <= rows y <= high, and those of the rows whose bounds press."""
    norm = np.linalg.norm(rows, axis=1)
    felt = norm > RANK
    H = A.T @ A + damping * np.eye(A.shape[1])
    size = float(np.diag(H).max())
    y, multipliers = bounded_minimum(H / size, A.T @ r / -size, rows[felt], low[felt], high[felt])
    pressing = np.abs(multipliers) * norm[felt] > PRESSED * damping / size * np.linalg.norm(y)
    return y, rows[felt][pressing]


def _kernel(A: Array, pressing: Array, least: float) -> Array:
    """A basis of what neither A, from singular values of ``least`` on, nor the bounds that press feel."""
    norm = np.linalg.norm(pressing, axis=1, keepdims=True)
    _, s, Vt = np.linalg.svd(np.concatenate([A * (RANK / least), pressing / norm]))
    return Vt[int(np.sum(s > RANK)) :].T


def _exactly(J: Array, g: Array, Z: Array) -> tuple[Array, Array]:
    """The least motion with J d = g among those of Z, and what J does not feel."""
    U, s, Vt = np.linalg.svd(J @ Z)
    rank = int(np.sum(s > 1e-7 * max(float(np.linalg.norm(J)), 1e-300)))
    z = Vt[:rank].T @ ((U.T @ g)[:rank] / s[:rank])
    return Z @ z, Z @ Vt[rank:].T


def _least_squares(A: Array, r: Array, damping: float, least: float, with_kernel: bool) -> tuple[Array, Array]:
    """z of least |A z - r|^2 + damping |z|^2, of least norm, and a basis of what A does not feel, whose singular
    values are above ``least``."""
    U, s, Vt = np.linalg.svd(A, full_matrices=with_kernel)
    felt = s > least
    rank = int(felt.sum())
    part = (U[:, : len(s)].T @ r)[:rank] * s[:rank] / (s[:rank] ** 2 + damping)
    return Vt[:rank].T @ part, Vt[rank:].T if with_kernel else np.zeros((A.shape[1], 0))


def _breaks(value: Array, low: Array, high: Array) -> bool:
    return bool(np.any(value > high + ROUNDING) or np.any(value < low - ROUNDING))
