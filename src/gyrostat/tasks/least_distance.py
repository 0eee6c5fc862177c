"""Quadratic programs whose bounds leave next to no room: by non-negative least squares [Lawson, Hanson 1974, ch. 23].

With H = L L^T and x = L^T y + L^-1 h, min 1/2 y^T H y + h^T y is the least |x| with G x >= g. Of all u >= 0 that one
with the least |(G^T u, g . u - 1)| has it: with the residual (r, s), x = -r / s. Any number of bounds may meet in one
point; it is slow, and taken where an active-set method finds no way."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
EPSILON = 1e-13
NEVER = 1e20
"""A bound that is none."""
EMPTY = 1e-9
"""Residual, of one, below which the bounds leave nothing."""
RANK = 1e-12


def least_distance(H: Array, h: Array, rows: Array, lower: Array, upper: Array) -> tuple[Array, Array] | None:
    """y (n,) of least 1/2 y^T H y + h^T y with lower <= rows y <= upper (k,), and the multipliers (k,), positive at
    upper bounds; None if there is none. H is positive definite."""
    k = len(rows)
    L = np.linalg.cholesky(H)
    free = np.linalg.solve(L, h)
    size = float(np.linalg.norm(free)) or 1.0
    signed, ends = np.concatenate([rows, -rows]), np.concatenate([lower, -upper])
    G = np.where(ends > -NEVER, np.linalg.solve(L, signed.T), 0.0)  # (n, 2 k)
    g = np.where(ends > -NEVER, ends + free @ G, 0.0) / size
    norm = np.sqrt(np.sum(G * G, axis=0) + g * g)
    norm[norm == 0.0] = 1.0
    u, r = non_negative(np.concatenate([G, g[None, :]]) / norm, np.r_[np.zeros(len(h)), 1.0])
    if -r[-1] < EMPTY:
        return None
    u = u / norm * (size / -r[-1])
    multipliers = u[k:] - u[:k]
    active = multipliers != 0.0
    return _on(H, h, rows[active], np.where(multipliers > 0.0, upper, lower)[active]), multipliers


def _on(H: Array, h: Array, rows: Array, values: Array) -> Array:
    """y (n,) of least 1/2 y^T H y + h^T y with rows y = values, to rounding."""
    U, s, Vt = np.linalg.svd(rows)
    rank = int(np.sum(s > RANK))
    y, N = Vt[:rank].T @ ((U.T @ values)[:rank] / s[:rank]), Vt[rank:].T
    return y - N @ np.linalg.solve(N.T @ H @ N, N.T @ (h + H @ y))


def non_negative(E: Array, f: Array) -> tuple[Array, Array]:
    """u >= 0 of least |E u - f|, and E u - f."""
    count = E.shape[1]
    u, taken, r = np.zeros(count), np.zeros(count, dtype=bool), -f
    for _ in range(10 * count):
        slope = np.where(taken, -np.inf, -(E.T @ r))
        while True:
            k = int(np.argmax(slope))
            if slope[k] <= EPSILON:
                return u, r
            taken[k] = True
            s = _fitted(E, f, taken)
            if s[k] > 0.0:
                break
            taken[k], slope[k] = False, -np.inf  # by rounding only
        while np.any(s[taken] <= 0.0):
            least = np.flatnonzero(taken & (s <= 0.0))
            share = u[least] / (u[least] - s[least])
            u = u + share.min() * (s - u)
            taken[least[share <= share.min()]] = False
            u[~taken] = 0.0
            s = _fitted(E, f, taken)
        u, r = s, E @ s - f
    return u, r


def _fitted(E: Array, f: Array, taken: Array) -> Array:
    s = np.zeros(E.shape[1])
    s[taken] = np.linalg.lstsq(E[:, taken], f, rcond=None)[0]
    return s
