"""What is taken from SciPy: sparse matrices, their factors and their lowest eigenvectors. Everything else is NumPy.

SciPy comes with the extra ``flexible``; it is imported when it is first needed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, ReductionError

Array = np.ndarray
Sparse = Any
"""A ``scipy.sparse`` matrix in compressed columns (csc)."""


@cache
def scipy_parts() -> tuple[Any, Any, Any]:
    """``scipy.sparse``, ``scipy.sparse.linalg``, ``scipy.linalg``."""
    try:
        import scipy.linalg as dense
        import scipy.sparse as sparse
        import scipy.sparse.linalg as solvers
    except ImportError as error:
        raise GyrostatError("finite elements: need SciPy. Hint: pip install 'gyrostat[flexible]'") from error
    return sparse, solvers, dense


@dataclass(frozen=True)
class Factor:
    """LU factors of a sparse matrix A; called with right-hand sides it gives A^-1 b, refined once."""

    A: Sparse
    lu: Any

    def __call__(self, b: Array) -> Array:
        x = self.lu.solve(np.ascontiguousarray(b))
        return x + self.lu.solve(np.ascontiguousarray(b - self.A @ x))

    def quick(self, b: Array) -> Array:
        """A^-1 b without refinement."""
        return self.lu.solve(np.ascontiguousarray(b))


def factor(A: Sparse, what: str) -> Factor:
    """Factors of a symmetric positive definite A; refused if it is singular to working precision."""
    try:
        lu = _without_pivoting(A)
    except RuntimeError:
        raise ReductionError(f"{what} is singular") from None
    pivots, rows = np.abs(lu.U.diagonal()), np.abs(A).max(axis=1).toarray().ravel()
    if not np.all(pivots > 1e-13 * rows[np.argsort(lu.perm_r)]):
        raise ReductionError(f"{what} is singular to working precision, its pivots fall to {pivots.min():.1e}")
    return Factor(A, lu)


def eigenvalues_below(K: Sparse, M: Sparse, shift: float) -> int:
    """How many eigenvalues of K x = lambda M x lie below ``shift``: negative pivots of K - shift M (Sylvester)."""
    return int(np.sum(_without_pivoting((K - shift * M).tocsc()).U.diagonal() < 0.0))


def _without_pivoting(A: Sparse) -> Any:
    """Pivots from the diagonal: they keep their signs, and the factors of a plate of 3,000 coordinates are a tenth of
    those with a threshold of 0.01."""
    solvers = scipy_parts()[1]
    return solvers.splu(A, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True})


def symmetric_eigenvectors(K: Array, M: Array) -> tuple[Array, Array]:
    """All eigenvalues, ascending, and eigenvectors with V^T M V = 1 of small dense K x = lambda M x; refused if M is
    not positive definite."""
    dense = scipy_parts()[2]
    try:
        return dense.eigh((K + K.T) / 2.0, (M + M.T) / 2.0)
    except dense.LinAlgError as error:
        hint = "a mass matrix is positive for every motion; check its signs, and for coordinates without mass"
        raise ReductionError(f"the mass matrix is not positive definite ({error}). Hint: {hint}") from None


def lowest_eigenvectors(K: Sparse, M: Sparse, count: int, shift: float) -> tuple[Array, Array]:
    """``count`` lowest eigenvalues, ascending, and eigenvectors with V^T M V = 1 by Lanczos on (K - shift M)^-1 M,
    ``shift`` below all of them."""
    solvers = scipy_parts()[1]
    n = K.shape[0]
    if count > n // 2 or n < 60:
        values, V = symmetric_eigenvectors(K.toarray(), M.toarray())
        return values[:count], V[:, :count]
    start = np.random.default_rng(0).normal(size=n)
    try:
        solve = factor((K - shift * M).tocsc(), "the shifted stiffness")
    except ReductionError as error:
        hint = "a body that moves freely needs more kept coordinates than it has rigid motions, seven in space"
        raise ReductionError(f"the lowest {count} modes of {n} coordinates: {error}. Hint: {hint}") from None
    inverse = solvers.LinearOperator((n, n), matvec=solve, dtype=float)
    try:
        values, V = solvers.eigsh(K, count, M, sigma=shift, v0=start, OPinv=inverse)
    except (solvers.ArpackNoConvergence, RuntimeError) as error:
        raise ReductionError(f"the lowest {count} modes of {n} coordinates were not found ({error})") from None
    order = np.argsort(values)
    return values[order], V[:, order]


def pivoted_columns(A: Array) -> Array:
    """Columns of A in the order in which QR with column pivoting takes them."""
    return scipy_parts()[2].qr(A, mode="r", pivoting=True)[1]


def nearest_points(points: Array, positions: Array) -> tuple[Array, Array]:
    """Distance (k,) of each position (k, 3) to the nearest of the points (n, 3), and which one that is."""
    scipy_parts()
    from scipy import spatial

    distance, index = spatial.KDTree(points).query(positions)
    return np.asarray(distance), np.asarray(index)
