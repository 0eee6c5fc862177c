"""Comparing arrays by the size of the largest entry, and derivatives that do not lose digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

REPRESENTATIONS = ("body", "inertial", "absolute")


def difference(got: Any, expected: Any) -> float:
    """Largest difference, relative to the largest expected entry where that is above one."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"shapes {got.shape} and {expected.shape}"
    if expected.size == 0:
        return 0.0
    return float(np.abs(got - expected).max() / max(1.0, np.abs(expected).max()))


def assert_close(got: Any, expected: Any, tolerance: float = 1e-11) -> None:
    """All entries agree to ``tolerance``; written so that NaN fails too."""
    off = difference(got, expected)
    assert off <= tolerance, f"differ by {off:.3g}, allowed {tolerance:g}\ngot      {got}\nexpected {expected}"


def assert_differs(got: Any, expected: Any, by: float = 1e-3) -> None:
    """The two are not the same: for formulas that are refuted."""
    off = difference(got, expected)
    assert off > by, f"differ by {off:.3g} only"


def rate(function: Callable[[Any], Any], t: float) -> Any:
    """d/dt by a complex step: exact to rounding for functions that are analytic."""
    return np.imag(function(t + 1e-30j)) / 1e-30


def central(function: Callable[[float], Any], t: float, h: float = 1e-3) -> Any:
    """d/dt by a central difference of sixth order: about 1e-11 for smooth functions of size one."""
    f = {k: np.asarray(function(t + k * h)) for k in (-3, -2, -1, 1, 2, 3)}
    return (45.0 * (f[1] - f[-1]) - 9.0 * (f[2] - f[-2]) + (f[3] - f[-3])) / (60.0 * h)
