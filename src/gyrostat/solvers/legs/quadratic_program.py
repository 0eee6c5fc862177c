"""Quadratic programs with second-order cones, put together row by row and solved by Clarabel (extra ``control``)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import GyrostatError, StateError

Array = np.ndarray
TOLERANCE = 1e-9


class QuadraticProgram:
    """min 1/2 x^T P x + q^T x with A x + s = b, s zero, not negative, or in a cone s_0 >= |s_1..|."""

    def __init__(self, n: int):
        self.P, self.q = np.zeros((n, n)), np.zeros(n)
        self.equal: list[tuple[Array, Array]] = []
        self.at_most: list[tuple[Array, Array]] = []
        self.cones: list[Array] = []

    def add_squares(self, E: Array, r: Array, weight: float) -> None:
        """weight |E x - r|^2."""
        self.P += 2.0 * weight * (E.T @ E)
        self.q -= 2.0 * weight * (E.T @ r)

    def add_equal(self, A: Array, b: Array) -> None:
        """A x = b."""
        self.equal.append((A, b))

    def add_at_most(self, A: Array, b: Array) -> None:
        """A x <= b."""
        self.at_most.append((A, b))

    def add_cone(self, C: Array) -> None:
        """(C x)_0 >= |(C x)_1..|."""
        self.cones.append(C)

    def stacked(self) -> tuple[Array, Array, int, int]:
        """A, b, and how many rows are equations and inequalities."""
        n = len(self.q)
        parts = [*self.equal, *self.at_most, *((-C, np.zeros(len(C))) for C in self.cones)]
        A = np.vstack([np.zeros((0, n)), *(a for a, _ in parts)])
        b = np.concatenate([np.zeros(0), *(b for _, b in parts)])
        return A, b, sum(len(b) for _, b in self.equal), sum(len(b) for _, b in self.at_most)


class Minimum(NamedTuple):
    x: Array
    iterations: int


def solved(program: QuadraticProgram, who: str, t: float) -> Minimum:
    """The minimum, or a :class:`StateError` that says that there is none."""
    clarabel, sparse = _libraries(who)
    A, b, equal, at_most = program.stacked()
    cones: list[Any] = []
    if equal:
        cones.append(clarabel.ZeroConeT(equal))
    if at_most:
        cones.append(clarabel.NonnegativeConeT(at_most))
    cones += [clarabel.SecondOrderConeT(len(C)) for C in program.cones]
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = TOLERANCE
    P = sparse.csc_matrix(np.triu(program.P))
    found = clarabel.DefaultSolver(P, program.q, sparse.csc_matrix(A), b, cones, settings).solve()
    status = str(found.status)
    if status not in ("Solved", "AlmostSolved"):
        raise StateError(
            f"{who}: no torques and forces satisfy contacts, friction and limits at t = {t:g} s (Clarabel: {status}). "
            "Hint: more friction or torque; tasks cannot make a program infeasible"
        )
    return Minimum(np.array(found.x), int(found.iterations))


def _libraries(who: str) -> tuple[Any, Any]:
    try:
        import clarabel
        from scipy import sparse
    except ImportError as error:
        raise GyrostatError(f"{who}: needs Clarabel and SciPy. Hint: pip install gyrostat[control]") from error
    return clarabel, sparse
