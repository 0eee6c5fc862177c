"""What blocks of users are given: functions, numbers of states to look at, tolerances."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError

WHO = "BlockSolver"
USUAL_SAMPLES = 8
TOLERANCE = 1e-8
"""Largest difference that counts as agreement, relative to the largest entry of an output where that is above one."""


def expect_function(function: Any) -> None:
    if not callable(function):
        raise GyrostatError(f"{WHO}: expected a function, got {type(function).__name__}. Hint: f(q, v, a) -> tau")


def given_tolerance(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0.0 < value < np.inf:
        raise GyrostatError(f"{WHO}: tolerance must be a number above zero, got {value!r}. Hint: {TOLERANCE:g}")
    return float(value)


def given_samples(value: Any) -> int:
    """How many states to look at: a number, True for the usual one, False for none."""
    if value is True:
        return USUAL_SAMPLES
    if not isinstance(value, int | np.integer) or value < 0:
        raise GyrostatError(f"{WHO}: check must be a number of states, got {value!r}. Hint: {USUAL_SAMPLES}, or False")
    return int(value)
