"""Mass and stiffness matrix of a structure, checked: symmetric, finite, of one size; and the kept part of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import ReductionError
from gyrostat.finite_elements.sparse_algebra import Array, Factor, Sparse, factor, scipy_parts

MOST = 2_000_000
"""Coordinates of a structure at most."""
SYMMETRIC = 1e-8
"""Relative: what is less symmetric was assembled wrongly."""


def symmetric(A: Any, name: str) -> Sparse:
    """A as a sparse matrix with its rounding in symmetry removed; refused if it is not symmetric or not finite."""
    sparse = scipy_parts()[0]
    if np.iscomplexobj(A.data if sparse.issparse(A) else A):
        hint = "structural damping is no part of K; give real parts alone, A.real"
        raise ReductionError(f"{name} is complex, expected real numbers. Hint: {hint}")
    if not sparse.issparse(A):
        A = np.asarray(A, dtype=float)
        if A.ndim != 2:
            raise ReductionError(f"{name} has shape {A.shape}, expected (n, n). Hint: a square matrix, dense or sparse")
    if A.shape[0] != A.shape[1] or not 0 < A.shape[0] <= MOST:
        raise ReductionError(
            f"{name} has shape {A.shape}, expected (n, n) with n of 1 to {MOST}. Hint: a square matrix"
        )
    A = sparse.csc_matrix(A, dtype=float)
    if not np.all(np.isfinite(A.data)):
        raise ReductionError(f"{name} has entries that are not finite. Hint: check the export of the matrix")
    uneven, size = np.abs(A - A.T).max(), np.abs(A).max()
    if uneven > SYMMETRIC * size:
        raise ReductionError(
            f"{name} is not symmetric: entries differ from their mirror images by up to {uneven / size:.1e} of the "
            "largest one. Hint: files may hold one triangle only; add the other one"
        )
    return ((A + A.T) * 0.5).tocsc()


def expect_signs(who: str, M: Sparse, K: Sparse) -> None:
    """No diagonal entry below zero, and some mass."""
    for name, A in (("M", M), ("K", K)):
        least = A.diagonal().min()
        if least < 0.0:
            raise ReductionError(
                f"{who}: {name} has {least:.3g} on its diagonal at coordinate {int(A.diagonal().argmin())}, "
                "expected none below zero. Hint: check its sign and the order of the arguments M, K"
            )
    if not M.diagonal().max() > 0.0:
        raise ReductionError(f"{who}: M is zero. Hint: export the mass matrix, too")


@dataclass(frozen=True)
class Structure:
    """M and K (n, n) of M u'' + K u = R, symmetric; ``M`` positive on every motion that stores no strain energy."""

    M: Sparse
    K: Sparse

    @classmethod
    def of(cls, M: Any, K: Any) -> Structure:
        M, K = symmetric(M, "reduce_fe: M"), symmetric(K, "reduce_fe: K")
        if M.shape != K.shape:
            raise ReductionError(f"reduce_fe: M has shape {M.shape}, K {K.shape}. Hint: both over the same coordinates")
        expect_signs("reduce_fe", M, K)
        return cls(M, K)

    @property
    def n(self) -> int:
        return self.M.shape[0]


@dataclass(frozen=True)
class Partition:
    """Coordinates of a structure in two groups: kept (1) and omitted (2)."""

    whole: Structure
    keep: Array
    omit: Array

    @classmethod
    def of(cls, whole: Structure, keep: Any) -> Partition:
        keep = np.atleast_1d(np.asarray(keep))
        if keep.ndim != 1 or keep.dtype.kind not in "iu" or len(keep) == 0:
            raise ReductionError(
                f"reduce_fe: keep must be a number of coordinates or their indices, got {keep!r:.80}. "
                "Hint: keep=12, or keep=[0, 5, 7]"
            )
        if keep.min() < 0 or keep.max() >= whole.n or len(set(keep.tolist())) < len(keep):
            raise ReductionError(
                f"reduce_fe: keep has indices from {keep.min()} to {keep.max()}, expected different ones from 0 to "
                f"{whole.n - 1}. Hint: each coordinate once, counted from 0"
            )
        if len(keep) >= whole.n:
            raise ReductionError(f"reduce_fe: all {whole.n} coordinates are kept. Hint: keep fewer than there are")
        omit = np.setdiff1d(np.arange(whole.n), keep)
        return cls(whole, keep.astype(int), omit)

    @cached_property
    def K22(self) -> Factor:
        """Factors of the stiffness of the omitted coordinates."""
        try:
            return factor(self.whole.K[self.omit][:, self.omit].tocsc(), "the stiffness of the omitted coordinates")
        except ReductionError as error:
            raise ReductionError(
                f"reduce_fe: {error}: the structure can move while the kept coordinates stand still. "
                "Hint: keep coordinates that hold it, at least six for a free body in space, not on one line"
            ) from None

    @cached_property
    def Gamma(self) -> Array:
        """Gamma = -K12 K22^-1 (m, n - m) [AS (15)]."""
        return -self.K22(self.whole.K[self.omit][:, self.keep].toarray()).T

    @cached_property
    def K_bar(self) -> Array:
        """K11 + Gamma K21, static condensation [AS (15)]; as T^T K T with T = [1; Gamma^T], where errors of Gamma
        count twice only."""
        T = self.joined(self.Gamma.T)
        K = T.T @ (self.whole.K @ T)
        return (K + K.T) / 2.0

    def joined(self, omitted: Array) -> Array:
        """[1; omitted] (n, m) in the order of the structure's coordinates."""
        T = np.zeros((self.whole.n, len(self.keep)))
        T[self.keep], T[self.omit] = np.eye(len(self.keep)), omitted
        return T
