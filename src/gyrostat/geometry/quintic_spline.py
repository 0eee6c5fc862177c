"""Interpolating splines of degree five: four continuous derivatives at inner points; straight on beyond the ends, with
three.

y is a sum of B-splines of degree five with a knot at every point (de Boor, A Practical Guide to Splines, chapters IX to
XIII): its coefficients follow from the values at the points, and at the ends from the second and third derivative,
which vanish there, or from periodicity. Between two points, t behind the first, y = c_0 + c_1 t + ... + c_5 t^5,
Taylor's polynomial of that sum. All of it is linear in the values; B-splines keep it accurate where intervals are
unequal."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np

Array = np.ndarray
DEGREE = 5


def coefficients(points: tuple[float, ...], periodic: bool, y: Array) -> Array:
    """c (n + 1, 6) of all pieces, the straight ones before and behind included, for values y (n,) at n increasing
    points. The last value of a period is not read: it is the first one again.

    Numbers are solved for directly: a product with the matrices would round terms that cancel each other."""
    return _pieces(points, periodic, y[:, None])[..., 0] if y.dtype == float else spline_matrices(points, periodic) @ y


@lru_cache(maxsize=16)
def spline_matrices(points: tuple[float, ...], periodic: bool) -> Array:
    """C (n + 1, 6, n) of the coefficients c = C y."""
    C = _pieces(points, periodic, np.eye(len(points)))
    C.flags.writeable = False
    return C


def _pieces(points: tuple[float, ...], periodic: bool, y: Array) -> Array:
    """c (n + 1, 6, m) of m splines with the values y (n, m)."""
    x, n = np.array(points), len(points)
    y = np.concatenate([y[:-1], y[:1]]) if periodic else y
    knots = _periodic_knots(x) if periodic else np.concatenate([[x[0]] * DEGREE, x, [x[-1]] * DEGREE])
    weights = _periodic_weights(knots, x, y) if periodic else _open_weights(knots, x, y)
    inner = _taylor(knots, weights, x[:-1], np.arange(n - 1))
    last = _taylor(knots, weights, x[-1:], np.array([n - 2]))
    c = np.concatenate([inner[:1], inner, last])
    c[0, 2:] = c[-1, 2:] = 0.0
    c[:, 0] = y[[0, *range(n)]]  # the values themselves, without rounding
    return c


def amplification(points: tuple[float, ...], periodic: bool) -> float:
    """Lebesgue's constant of the table, as seen halfway between points: by what errors of the values, their rounding
    for one, grow at most. Infinite where the arithmetic fails altogether."""
    with np.errstate(all="ignore"):
        try:
            C = spline_matrices(points, periodic)[1:-1]
        except np.linalg.LinAlgError:
            return math.inf
        powers = (np.diff(points)[:, None] / 2.0) ** np.arange(DEGREE + 1)
        largest = float(np.abs(np.einsum("ik,ikj->ij", powers, C)).sum(axis=1).max())
    return largest if math.isfinite(largest) else math.inf


# ------------------------------------------------------------------------------------------------ B-splines
def _basis(knots: Array, degree: int, at: Array, intervals: Array) -> Array:
    """Values (m, degree + 1) at m places of the B-splines that do not vanish in the intervals they lie in; interval 0
    is the one between ``knots[degree]`` and ``knots[degree + 1]`` (de Boor, X (4) and (5))."""
    values = np.ones((len(at), 1))
    left = intervals + degree
    for p in range(1, degree + 1):
        grown = np.zeros((len(at), p + 1))
        for k in range(p):
            low, high = knots[left - p + 1 + k], knots[left + 1 + k]
            share = values[:, k] / (high - low)
            grown[:, k] += (high - at) * share
            grown[:, k + 1] += (at - low) * share
        values = grown
    return values


def _differentiated(knots: Array, degree: int, weights: Array) -> Array:
    """Weights of the derivative, over the knots without the first and the last: p (a_j+1 - a_j) / (t_j+p+1 - t_j+1)."""
    span = knots[degree + 1 : -1] - knots[1 : -degree - 1]
    return degree * np.diff(weights, axis=0) / span[:, None]


def _derivatives(knots: Array, weights: Array, at: Array, intervals: Array, orders: int) -> list[Array]:
    """The sum of B-splines and its derivatives up to an order, (m, columns of the weights) each."""
    derivatives: list[Array] = []
    for p in range(DEGREE, DEGREE - orders - 1, -1):
        values = _basis(knots, p, at, intervals)
        derivatives.append(sum(values[:, k, None] * weights[intervals + k] for k in range(p + 1)))  # pyright: ignore
        if p:
            knots, weights = knots[1:-1], _differentiated(knots, p, weights)
    return derivatives


def _taylor(knots: Array, weights: Array, at: Array, intervals: Array) -> Array:
    """Coefficients (m, 6, n) of t^0 to t^5 at m places."""
    derivatives = _derivatives(knots, weights, at, intervals, DEGREE)
    return np.stack([y / math.factorial(k) for k, y in enumerate(derivatives)], axis=1)


# ------------------------------------------------------------------------------------------------ weights by values
def _open_weights(knots: Array, x: Array, y: Array) -> Array:
    """Weights (n + 4, m) by values (n, m): y at all points, second and third derivative zero at both ends."""
    n = len(x)
    every, none = np.eye(n + 4), np.zeros((2, y.shape[1]))
    through = _derivatives(knots, every, x, np.minimum(np.arange(n), n - 2), 0)[0]
    ends = _derivatives(knots, every, x[[0, -1]], np.array([0, n - 2]), 3)
    rows = [ends[2][:1], ends[3][:1], through, ends[3][1:], ends[2][1:]]
    return _solved(np.concatenate(rows), np.concatenate([none, y, none]))


def _periodic_knots(x: Array) -> Array:
    """The points, and five more on both sides, of the periods before and behind."""
    turns, place = np.divmod(np.arange(-DEGREE, len(x) + DEGREE), len(x) - 1)
    return x[place] + turns * (x[-1] - x[0])


def _periodic_weights(knots: Array, x: Array, y: Array) -> Array:
    """Weights (n + 4, m) by values (n, m): they repeat after n - 1 of them."""
    n = len(x)
    repeated = np.eye(n - 1)[np.arange(n + 4) % (n - 1)]
    through = _derivatives(knots, repeated, x[:-1], np.arange(n - 1), 0)[0]
    return _solved(through, y[:-1])[np.arange(n + 4) % (n - 1)]


def _solved(rows: Array, right: Array) -> Array:
    """Unknowns of linear equations whose rows are scaled to be comparable."""
    scale = np.abs(rows).max(axis=1, keepdims=True)
    return np.linalg.solve(rows / scale, right / scale)


# ------------------------------------------------------------------------------------------------ evaluation
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
