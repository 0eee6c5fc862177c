"""Roots of a function of one number between two signs [Brent, Algorithms for Minimization without Derivatives]."""

from __future__ import annotations

from collections.abc import Callable

WITHIN = 1e-12
"""How far [s] a root may be from the true one, besides rounding of the time."""


def root(f: Callable[[float], float], a: float, b: float, f_a: float, f_b: float, within: float = WITHIN) -> float:
    """The end of the bracket that lies behind the change of sign: f has the sign of f_b there (or is zero).

    ``within`` [s]: how far it may be from the true one.
    ``f_a`` and ``f_b`` have different signs, or one of them is zero. Inverse quadratic or linear interpolation where
    it converges, else bisection."""
    if f_a == 0.0:
        return a
    best, f_best, other, f_other = b, f_b, a, f_a
    behind = b
    before, f_before = other, f_other
    moved = last = b - a
    for _ in range(200):
        if (f_best > 0.0) == (f_b > 0.0) or f_best == 0.0:
            behind = best
        if f_best == 0.0:
            return best
        if abs(f_other) < abs(f_best):
            before, f_before = best, f_best
            best, other = other, best
            f_best, f_other = f_other, f_best
        tolerance = 4e-16 * abs(best) + 0.5 * within
        half = 0.5 * (other - best)
        if abs(half) <= tolerance:
            return other if (f_other > 0.0) == (f_b > 0.0) else (best if (f_best > 0.0) == (f_b > 0.0) else behind)
        moved, last = _step(best, f_best, before, f_before, other, f_other, half, moved, last, tolerance)
        before, f_before = best, f_best
        best += moved if abs(moved) > tolerance else (tolerance if half > 0.0 else -tolerance)
        f_best = f(best)
        if (f_best > 0.0) == (f_other > 0.0):
            other, f_other = before, f_before
            moved = last = best - before
    return behind


def _step(
    b: float, f_b: float, a: float, f_a: float, c: float, f_c: float, half: float, moved: float, last: float, tol: float
) -> tuple[float, float]:
    """The next step from b, and the one before it."""
    if abs(last) < tol or abs(f_a) <= abs(f_b):
        return half, half
    s = f_b / f_a
    if a == c:
        p, q = 2.0 * half * s, 1.0 - s
    else:
        q, r = f_a / f_c, f_b / f_c
        p = s * (2.0 * half * q * (q - r) - (b - a) * (r - 1.0))
        q = (q - 1.0) * (r - 1.0) * (s - 1.0)
    p, q = (p, -q) if p > 0.0 else (-p, q)
    if 2.0 * p < min(3.0 * half * q - abs(tol * q), abs(last * q)):
        return p / q, moved
    return half, half
