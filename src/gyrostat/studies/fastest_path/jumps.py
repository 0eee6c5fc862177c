"""Where derivatives of a path jump, if nobody says: |s - 0.5| has a corner, np.where(...) joins pieces."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

Array = np.ndarray
SAMPLES, SUSPECTS, HALVINGS = 2001, 16, 60
LEAST = 1e-6
"""A difference over an interval of rounding counts as a jump when it is this large, in parts of the greatest value."""


def jumps(derivatives: Callable[[Array, int], Array], start: float, end: float, order: int) -> Array:
    """Places s (k,) at which the derivative of this order jumps: the right sides of the smallest intervals.

    Intervals over which it changes much more than over their neighbours are halved, always towards the greater change,
    until rounding ends it: what is continuous has then no difference left."""
    fine = np.linspace(start, end, SAMPLES)
    values = derivatives(fine, order)[order]
    change = np.linalg.norm(np.diff(values, axis=0), axis=1)
    excess = change.copy()
    excess[1:-1] -= 0.5 * (change[:-2] + change[2:])
    first = np.sort(np.argsort(-excess)[:SUSPECTS])
    left, right = fine[first], fine[first + 1]
    low, high = values[first], values[first + 1]
    for _ in range(HALVINGS):
        middle = 0.5 * (left + right)
        y = derivatives(middle, order)[order]
        ahead = np.linalg.norm(high - y, axis=1) > np.linalg.norm(y - low, axis=1)
        left, right = np.where(ahead, middle, left), np.where(ahead, right, middle)
        low, high = np.where(ahead[:, None], y, low), np.where(ahead[:, None], high, y)
    size = np.ptp(values, axis=0).max(initial=0.0) + np.abs(derivatives(fine, 1)[1]).max() * (order < 2)
    found = right[np.linalg.norm(high - low, axis=1) > LEAST * max(size, 1e-300)]
    apart = np.diff(found, prepend=-np.inf) > 1e-9 * (end - start)
    return found[apart & (found > start) & (found < end)]
