"""Splines of odd degree d = 2 k + 1 through points: derivatives continuous up to order 2 k, no stop on the way.

Among all motions through the points the spline has the least integral of |q^(k+1)|^2. On a piece this integral is
u^T K u with u the values and derivatives 1 to k at both ends (K exact, in fractions), as in finite elements. The sum
over the pieces is least where the unknown derivatives solve a positive definite, block tridiagonal system; its
equations are the continuity of derivatives k + 1 to 2 k. Cost O(points k^3), 0.1 ms for a point of degree 5, 10 ms for
degree 25.
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, SpecError, clipped, nearest
from gyrostat.simulate.trajectories.decimals import many_digits, need_digits, numbers, powers, ratio, solved
from gyrostat.simulate.trajectories.given import finite_array, increasing, rows
from gyrostat.simulate.trajectories.piecewise import Piecewise, between
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray

HIGHEST = 33
ENDS = ("rest", "natural", "periodic")


def spline(
    times: Any,
    points: Any,
    degree: int = 3,
    ends: str = "rest",
    start_derivatives: Any = None,
    end_derivatives: Any = None,
    names: Any = None,
) -> Trajectory:
    """Through ``points`` (m, n) at ``times`` (m,) [s] without stopping on the way; ``degree`` 1, 3, 5 ... 33.

    Derivatives are continuous up to order degree - 1 inside. What holds at the ends, with k = (degree - 1)/2, is said
    by ``ends``. With ``"rest"`` derivatives 1 to k are zero there, or as ``start_derivatives``, ``end_derivatives`` (k,
    n) say; if they are zero at both ends the motion is held outside, and ``smoothness`` is k; otherwise times outside
    are errors. With ``"natural"`` derivatives k + 1 to 2 k are zero, and times outside are errors. With ``"periodic"``
    the last point equals the first, it goes on for all times, and ``smoothness`` is degree - 1.

    Three points with degree 3 are the via-point motion of G13 section 3.
    """
    who = "spline"
    instants, q = increasing(times, who), rows(points, who, "points")
    if len(q) != len(instants):
        raise ShapeError(f"{who}: {len(q)} points for {len(instants)} times. Hint: one row of points for each instant")
    k = _half(degree, who)
    if not isinstance(ends, str) or ends not in ENDS:
        raise SpecError.one(who, "ends", f"ends is {clipped(ends)}", nearest(str(ends), ENDS), ends)
    if ends == "periodic" and (len(q) < 3 or np.any(q[0] != q[-1])):
        message = (
            f"a periodic spline needs three points or more, and the last one equal to the first, got {clipped(q[-1])}"
        )
        raise SpecError.one(who, "periodic", message, "repeat the first point at the end", points)
    if ends != "rest" and (start_derivatives is not None or end_derivatives is not None):
        raise SpecError.one(who, "ends", f"derivatives were given with ends={ends!r}", "use ends='rest'", ends)
    edges = [_edge(x, k, q.shape[1], who) for x in (start_derivatives, end_derivatives)]
    with many_digits():
        control = between(instants, _table(instants, q, k, ends, edges))
    still = ends == "rest" and not any(edge.any() for edge in edges)
    outside = "continue" if ends == "periodic" else "hold" if still else "error"
    motion = Piecewise(who, instants, control, 2 * k, outside, names)
    jump = motion.largest_jump(2 * k)
    if jump > 1e-10:
        message = f"the times are too uneven for degree {degree}: derivatives jump by {jump:.1g} of their size"
        raise SpecError.one(who, "times", message, "choose a lower degree, or spread the points more evenly", times)
    return motion


def _half(degree: Any, who: str) -> int:
    fits = isinstance(degree, int | np.integer) and not isinstance(degree, bool)
    if not fits or degree not in range(1, HIGHEST + 1, 2):
        message = f"degree must be odd, 1 to {HIGHEST}, got {clipped(degree)}"
        raise SpecError.one(who, "degree", message, "3 is the usual spline; d - 1 derivatives are continuous", degree)
    return (int(degree) - 1) // 2


def _edge(given: Any, k: int, n: int, who: str) -> Array:
    if given is None:
        return np.zeros((k, n))
    table = finite_array(given, who, "derivatives at an end")
    if table.shape != (k, n):
        raise ShapeError(f"{who}: derivatives at an end have shape {table.shape}, expected ({k}, {n}): orders 1 to {k}")
    return table


def _table(times: Array, points: Array, k: int, ends: str, edges: list[Array]) -> Array:
    """Values and derivatives (m + 1, k + 1, n) at the points, in doubles or decimals as the degree needs."""
    exact = need_digits(2 * k + 1, times)
    h, q = np.diff(numbers(times, exact)), numbers(points, exact)
    m, c = len(h), numbers([np.mean(np.diff(times))], exact)  # derivatives in units of the mean time c
    unit = powers(c, k)[0, 1:, None]
    slopes = np.full((m + 1, k, q.shape[1]), q[0, 0] * 0)
    fixed = [numbers(edge, exact) * unit for edge in edges]
    if ends == "rest":
        slopes[0], slopes[-1] = fixed
    if k and (m > 1 or ends != "rest"):
        diagonal, beside, right = _assemble(h / c, q, k)
        if ends == "rest":
            right[1] -= beside[0].T @ fixed[0]
            right[-2] -= beside[-1] @ fixed[1]
            slopes[1:-1] = _tridiagonal(diagonal[1:-1], beside[1:-1], right[1:-1])
        elif ends == "natural":
            slopes = _tridiagonal(diagonal, beside, right)
        else:
            slopes[:-1] = _cyclic(diagonal, beside, right)
            slopes[-1] = slopes[0]
    return np.concatenate([q[:, None], slopes / unit], axis=1)


def _assemble(r: Array, q: Array, k: int) -> tuple[Array, Array, Array]:
    """Blocks (m + 1, k, k) on the diagonal, (m, k, k) beside it (point, next point), right side (m + 1, k, n)."""
    K = _energy(k, r.dtype == object)
    inverse = powers(ratio(1, 1, r) / r, 2 * k)
    m, way = len(r), np.diff(q, axis=0)
    zero = q[0, 0] * 0
    diagonal, beside = np.full((m + 1, k, k), zero), np.full((m, k, k), zero)
    right = np.full((m + 1, k, q.shape[1]), zero)
    for i in range(1, k + 1):
        for j in range(1, k + 1):
            scale = inverse[:, 2 * k + 1 - i - j]
            diagonal[:-1, i - 1, j - 1] += scale * K[i, j]
            diagonal[1:, i - 1, j - 1] += scale * K[k + 1 + i, k + 1 + j]
            beside[:, i - 1, j - 1] = scale * K[i, k + 1 + j]
        pull = inverse[:, 2 * k + 1 - i]
        right[:-1, i - 1] -= (pull * K[i, k + 1])[:, None] * way
        right[1:, i - 1] -= (pull * K[k + 1 + i, k + 1])[:, None] * way
    return diagonal, beside, right


def _tridiagonal(diagonal: Array, beside: Array, right: Array) -> Array:
    """Solution (m, k, c) of the symmetric, positive definite block tridiagonal system."""
    D, b, k = diagonal.copy(), right.copy(), diagonal.shape[1]
    ahead: list[Array] = []  # D^-1 (beside, b)
    for j in range(len(D)):
        if j:
            D[j] -= beside[j - 1].T @ ahead[-1][:, :k]
            b[j] -= beside[j - 1].T @ ahead[-1][:, k:]
        last = j == len(D) - 1
        ahead.append(solved(D[j], np.concatenate([D[j] * 0 if last else beside[j], b[j]], axis=1)))
    x = b
    for j in reversed(range(len(D))):
        x[j] = ahead[j][:, k:] if j == len(D) - 1 else ahead[j][:, k:] - ahead[j][:, :k] @ x[j + 1]
    return x


def _cyclic(diagonal: Array, beside: Array, right: Array) -> Array:
    """The same where the last point is the first: point 0 is eliminated last."""
    n, k = right.shape[2], right.shape[1]
    corner, load = diagonal[0] + diagonal[-1], right[0] + right[-1]
    link = np.full((len(diagonal) - 2, k, k), diagonal[0, 0, 0] * 0)  # (point, point 0)
    link[0] += beside[0].T
    link[-1] += beside[-1]
    both = _tridiagonal(diagonal[1:-1], beside[1:-1], np.concatenate([right[1:-1], link], axis=2))
    alone, moved = both[:, :, :n], both[:, :, n:]
    for block, own, drawn in zip(link, alone, moved, strict=True):
        corner = corner - block.T @ drawn
        load = load - block.T @ own
    first = solved(corner, load)
    return np.concatenate([first[None], alone - np.stack([drawn @ first for drawn in moved])])


@cache
def _energy(k: int, decimals: bool) -> Array:
    """K (2 k + 2, 2 k + 2): integral of |q^(k+1)|^2 over a piece of length one is u^T K u."""
    d = 2 * k + 1
    rows_ = _exact_control(k)
    for _ in range(k + 1):
        rows_ = [[y - x for x, y in zip(a, b, strict=True)] for a, b in pairwise(rows_)]
    scale = Fraction(math.perm(d, k + 1)) ** 2 / (2 * k + 1)
    comb = [math.comb(k, i) for i in range(k + 1)]
    gram = [[comb[i] * comb[j] * scale / math.comb(2 * k, i + j) for j in range(k + 1)] for i in range(k + 1)]
    half = [[sum(g * row[c] for g, row in zip(line, rows_, strict=True)) for c in range(d + 1)] for line in gram]
    exact = [[sum(rows_[i][a] * half[i][b] for i in range(k + 1)) for b in range(d + 1)] for a in range(d + 1)]
    if not decimals:
        return np.array([[float(x) for x in line] for line in exact])
    with many_digits():
        return np.array([[Decimal(x.numerator) / Decimal(x.denominator) for x in line] for line in exact])


def _exact_control(k: int) -> list[list[Fraction]]:
    """Control points of a piece of length one, as rows over u = (q_a, q_a', ..., q_b, q_b', ...)."""
    d = 2 * k + 1
    matrix = [[Fraction(0)] * (d + 1) for _ in range(d + 1)]
    for i in range(k + 1):
        for j in range(i + 1):
            part = Fraction(math.comb(i, j), math.perm(d, j))
            matrix[i][j] = part
            matrix[d - i][k + 1 + j] = part * (-1) ** j
    return matrix
