"""Quadratic programs with bounds, solved by DAQP (extra ``tasks``), an active-set method: exact to rounding, and what
is not active costs next to nothing [Arnstrom, Bemporad, Axehill 2022]. Where many bounds meet, as below a level that is
stopped by them, DAQP may see no way where there is one: then by least distances."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, StateError
from gyrostat.tasks.least_distance import least_distance

Array = np.ndarray
SOLVED = 1
FEASIBLE = 1e-12
"""How far bounds may be missed."""


class NoRatesError(StateError):
    """No rates keep all limits."""


def bounded_minimum(H: Array, h: Array, rows: Array, lower: Array, upper: Array) -> tuple[Array, Array]:
    """y (n,) of least 1/2 y^T H y + h^T y with lower <= (y, rows y) <= upper (n + k,), or, with bounds (k,),
    lower <= rows y <= upper, and the multipliers of the bounds; H with entries of about one. :class:`NoRatesError` if
    there is none."""
    sense = np.zeros(len(upper), dtype=np.int32)
    y, _, flag, told = _daqp()(H, h, rows, upper, lower, sense, primal_tol=FEASIBLE, dual_tol=FEASIBLE)
    if flag == SOLVED:
        return y, told["lam"]
    every = rows if len(rows) == len(upper) else np.concatenate([np.eye(len(h)), rows])
    try:
        found = least_distance(H, h, every, lower, upper)
    except np.linalg.LinAlgError:
        message = f"tasks: DAQP stopped with flag {flag}. Hint: more damping, weights that differ less"
        raise StateError(message) from None
    if found is None:
        raise NoRatesError("tasks: no rates keep all limits")
    return found


@cache
def _daqp() -> Callable[..., Any]:
    try:
        from daqp import solve
    except ImportError as error:
        message = "tasks: limits that are active need DAQP. Hint: pip install 'gyrostat[tasks]'"
        raise GyrostatError(message) from error
    return solve
