"""Quadratic programs with second-order cones, put together row by row and solved by Clarabel (extra ``control``)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import GyrostatError, StateError

Array = np.ndarray
TOLERANCE = 1e-9
KEPT = 1e-6
"""How far constraints may be missed, as a share of their terms."""


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

    def missed(self, x: Array) -> float:
        """How far x is from satisfying all constraints: the largest violation of equations and inequalities as a share
        of the largest term in their block (or of 1), of cones as a share of the largest force (or of 1e-3)."""
        found = [0.0]
        for A, b, at_most in [(*pair, False) for pair in self.equal] + [(*pair, True) for pair in self.at_most]:
            left = A @ x - b
            size = max(float(np.abs(A * x).max(initial=0.0)), float(np.abs(b).max(initial=0.0)), 1.0)
            found.append(float(np.max(left if at_most else np.abs(left), initial=0.0)) / size)
        forces = [C @ x for C in self.cones]
        size = max([1e-3, *(float(np.abs(s).max()) for s in forces)])
        found += [float(np.sqrt(s[1:] @ s[1:]) - s[0]) / size for s in forces]
        return float(np.max(found))


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
    x = np.array(found.x)
    missed = program.missed(x)
    if not missed <= KEPT:
        raise StateError(
            f"{who}: the torques and forces found at t = {t:g} s miss equations of motion, contacts or cones by "
            f"{missed:.1e} of their terms, at most {KEPT:g} are allowed (Clarabel: {status}). Hint: weights of tasks "
            "that differ less; a posture that is not singular"
        )
    return Minimum(x, int(found.iterations))


def _libraries(who: str) -> tuple[Any, Any]:
    try:
        import clarabel
        from scipy import sparse
    except ImportError as error:
        raise GyrostatError(f"{who}: needs Clarabel and SciPy. Hint: pip install gyrostat[control]") from error
    return clarabel, sparse
