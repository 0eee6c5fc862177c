"""Integrals over the profile of a beam: rows of a place 0 ... 1 and of numbers there, linear in between."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

Array = np.ndarray
NODES, WEIGHTS = np.polynomial.legendre.leggauss(3)


def profile_integral(profile: Array, column: int, start: float = 0.0, end: float = 1.0, power: int = 0) -> float:
    """int s^power f(s) ds of a column between two places."""
    places = [start, *(s for s in profile[:, 0] if start < s < end), end]
    total = 0.0
    for a, b in pairwise(places):
        s = (a + b) / 2 + (b - a) / 2 * NODES
        f = np.interp(s, profile[:, 0], profile[:, column])
        total += float(WEIGHTS @ (s**power * f)) * (b - a) / 2
    return total
