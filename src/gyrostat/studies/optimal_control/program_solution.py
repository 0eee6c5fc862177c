"""What a solver of nonlinear programs gives back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Array = np.ndarray

MESSAGES = {
    0: "converged", 1: "converged to an acceptable level", 2: "the problem seems to be infeasible: a point was found "
    "where the violation of the conditions is least, and not zero", 3: "search directions became too small",
    4: "iterates diverge: the cost may be unbounded", 5: "interrupted: the last iterate", 6: "a feasible point",
    -1: "the greatest number of iterations is reached", -2: "the restoration of feasibility failed",
    -3: "a step could not be computed", -4: "the time is up", -10: "more equations than variables",
    -11: "the definition of the problem is invalid", -12: "an option is invalid",
    -13: "a function gave numbers that are not finite at the guess, or could not be evaluated there",
    -100: "an exception was not recovered", -102: "out of memory", -199: "an internal error of Ipopt",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class ProgramSolution:
    """x (n,), multipliers of rows (m,) and of lower and upper bounds (n,) for L = f + rows . g - low . x + high . x."""

    x: Array
    cost: float
    rows: Array
    low: Array
    high: Array
    status: int
    iterations: int
    seconds: float
    seconds_in_functions: float
    history: Array
    """(iterations, 4): cost, violation, dual infeasibility, mu."""

    @property
    def converged(self) -> bool:
        return self.status in (0, 1)

    @property
    def message(self) -> str:
        return MESSAGES.get(self.status, f"status {self.status}")


def started(program: Any, x0: Array) -> Array:
    """x0 inside its bounds."""
    return np.clip(x0, program.lower, program.upper)
