"""Interpolating splines of degree five: four continuous derivatives at inner points; straight on beyond the ends, with
three.

Between two points, t behind the first, y = c_0 + c_1 t + ... + c_5 t^5 is fixed by value y, slope m and curvature k at
both ends. The slopes and curvatures of all points follow from the continuity of the third and fourth derivative, and
at the ends from curvature and its derivative, which vanish there, or from periodicity. All of it is linear in y."""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray


def spline_matrices(x: Array, periodic: bool) -> Array:
    """C (n + 1, 6, n): the coefficients c = C y of all n + 1 pieces, the straight ones before and behind included, for
    values y (n,) at increasing points x (n,)."""
    n = len(x)
    pieces = [_piece(n, i, x[i + 1] - x[i]) for i in range(n - 1)]
    rows = _joints(pieces, np.diff(x)) + (_around(pieces, np.diff(x)) if periodic else _ends(pieces, np.diff(x)))
    left, right = np.array(rows)[:, n:], -np.array(rows)[:, :n]
    bent = np.linalg.solve(left, right)  # (2 n, n): slopes and curvatures by values
    every = np.concatenate([np.eye(n), bent])
    straight = [np.stack([every[k], every[n + k], *np.zeros((4, n))]) for k in (0, n - 1)]
    return np.stack([straight[0], *(piece @ every for piece in pieces), straight[1]])


def _piece(n: int, i: int, h: float) -> Array:
    """Coefficients (6, 3 n) of piece i of length h, over the values, slopes and curvatures of all points."""
    y0, y1, m0, m1, k0, k1 = (np.eye(3 * n)[j * n + i + e] for j in range(3) for e in (0, 1))
    d = y1 - y0
    return np.stack(
        [
            y0,
            m0,
            k0 / 2.0,
            (20.0 * d - (8.0 * m1 + 12.0 * m0) * h - (3.0 * k0 - k1) * h**2) / (2.0 * h**3),
            (-30.0 * d + (14.0 * m1 + 16.0 * m0) * h + (3.0 * k0 - 2.0 * k1) * h**2) / (2.0 * h**4),
            (12.0 * d - 6.0 * (m0 + m1) * h - (k0 - k1) * h**2) / (2.0 * h**5),
        ]
    )


def _higher(c: Array, t: float) -> tuple[Array, Array]:
    """Third and fourth derivative at t."""
    return 6.0 * c[3] + 24.0 * c[4] * t + 60.0 * c[5] * t**2, 24.0 * c[4] + 120.0 * c[5] * t


def _joints(pieces: list[Array], h: Array) -> list[Array]:
    """Third and fourth derivative are continuous at inner points."""
    rows: list[Array] = []
    for before, after, length in zip(pieces[:-1], pieces[1:], h[:-1], strict=True):
        ends, starts = _higher(before, length), _higher(after, 0.0)
        rows += [(ends[0] - starts[0]) * length**2, (ends[1] - starts[1]) * length**3]
    return rows


def _ends(pieces: list[Array], h: Array) -> list[Array]:
    """Second and third derivative vanish."""
    first, last = pieces[0], pieces[-1]
    bent = 2.0 * last[2] + 6.0 * last[3] * h[-1] + 12.0 * last[4] * h[-1] ** 2 + 20.0 * last[5] * h[-1] ** 3
    third = _higher(first, 0.0)[0], _higher(last, h[-1])[0]
    return [2.0 * first[2] * h[0], bent * h[-1], third[0] * h[0] ** 2, third[1] * h[-1] ** 2]


def _around(pieces: list[Array], h: Array) -> list[Array]:
    """The last point is the first one again: slope, curvature, third and fourth derivative."""
    first, last = pieces[0], pieces[-1]
    powers = h[-1] ** np.arange(6)
    slope = last.T @ (np.arange(6) * np.append(0.0, powers[:-1])) - first[1]
    bent = last.T @ (np.arange(6) * np.arange(-1, 5) * np.append([0.0, 0.0], powers[:-2])) - 2.0 * first[2]
    ends, starts = _higher(last, h[-1]), _higher(first, 0.0)
    scale = h[-1]
    return [slope, bent * scale, (ends[0] - starts[0]) * scale**2, (ends[1] - starts[1]) * scale**3]


def evaluate(starts: Array, c: Array, at: Any) -> Any:
    """y at one number: ``starts`` (m,) of the pieces and their coefficients c (m, 6), the first one also for all that
    lies before it. The piece is chosen without a branch."""
    start, chosen = starts[0], list(c[0])
    for k in range(1, len(c)):
        beyond = at >= starts[k]
        start = _either(beyond, starts[k], start)
        chosen = [_either(beyond, new, old) for new, old in zip(c[k], chosen, strict=True)]
    t, total = at - start, chosen[-1]
    for coefficient in reversed(chosen[:-1]):
        total = total * t + coefficient
    return total


def _either(condition: Any, one: Any, two: Any) -> Any:
    chosen = np.where(condition, one, two)
    return chosen[()] if isinstance(chosen, np.ndarray) else chosen
