"""The lowest modes of a structure, those without strain energy told apart, and the coordinates that see them best."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.errors import ReductionError
from gyrostat.finite_elements.sparse_algebra import (
    Array,
    eigenvalues_below,
    lowest_eigenvectors,
    pivoted_columns,
    symmetric_eigenvectors,
)
from gyrostat.finite_elements.structure_matrices import Structure

ROUNDING = 60.0 * np.finfo(float).eps
"""Strain energy of a mode below which it is rounding, relative to the sum of the amounts of its terms."""
APART = 1e-7
"""Relative distance of two eigenvalues that are different."""


@dataclass(frozen=True)
class Modes:
    """K V = M V diag(values), V^T M V = 1: ``values`` (m,) [rad^2/s^2] ascending, ``V`` (n, m). The first ``rigid``
    ones store no strain energy; their values are zero."""

    values: Array
    V: Array
    rigid: int

    @property
    def frequencies(self) -> Array:
        """(m,) [Hz]."""
        return np.sqrt(self.values) / (2.0 * np.pi)


def ritz_modes(whole: Structure, T: Array) -> Modes:
    """Modes within the span of T (n, m), by Rayleigh and Ritz."""
    T = np.linalg.qr(T)[0]
    values, W = symmetric_eigenvectors(T.T @ (whole.K @ T), T.T @ (whole.M @ T))
    return _told_apart(whole, values, T @ W)


def lowest_modes(whole: Structure, count: int) -> Modes:
    """``count`` lowest modes by Lanczos' method with shift and inverse. The shift lies below zero, so that free
    structures have regular factors; if it proves far from the first elastic eigenvalue, a nearer one is taken."""
    if not 0 < count < whole.n:
        raise ReductionError(f"reduce_fe: {count} modes of {whole.n} coordinates. Hint: from 1 to {whole.n - 1}")
    m = whole.M.diagonal()
    shift = 1e-10 * float(np.median(whole.K.diagonal()[m > 0.0] / m[m > 0.0]))
    modes = _told_apart(whole, *lowest_eigenvectors(whole.K, whole.M, count, -shift))
    first = _first_elastic(whole, count, shift) if modes.rigid == count else float(modes.values[modes.rigid])
    if modes.rigid or shift > 10.0 * first:
        modes = _told_apart(whole, *lowest_eigenvectors(whole.K, whole.M, count, -first))
    return modes


def _first_elastic(whole: Structure, count: int, shift: float) -> float:
    """An eigenvalue behind those of rigid-body motions, or ``shift`` where a structure has nothing else."""
    values = lowest_eigenvectors(whole.K, whole.M, min(count + 7, whole.n - 1), -shift)[0]
    return float(max(values[-1], shift))


def _told_apart(whole: Structure, values: Array, V: Array) -> Modes:
    gross = np.einsum("ij,ij->j", np.abs(V), abs(whole.K) @ np.abs(V))
    free = (values <= ROUNDING * gross) & (values <= 1e-6 * max(values[-1], 0.0))
    rigid = int(np.sum(free))
    if not np.all(free[:rigid]) or values[rigid:].min(initial=1.0) <= 0.0:
        raise ReductionError(
            f"reduce_fe: K has the negative eigenvalue {values.min():.3g} rad^2/s^2. Hint: a stiffness matrix has "
            "none; check its signs"
        )
    return Modes(np.where(free, 0.0, values), V, rigid)


def lowest_of_all(whole: Structure, modes: Modes) -> int:
    """How many eigenvalues of the structure lie below the last of the modes, itself counted: as many as there are
    modes, unless one was missed or the last one is one of several that are equal."""
    return eigenvalues_below(whole.K, whole.M, float(modes.values[-1]) * (1.0 + APART))


def telling_coordinates(whole: Structure, V: Array, count: int, candidates: Array) -> Array:
    """``count`` of the candidates whose rows of V (n, m) are best conditioned: QR with column pivoting, each
    coordinate weighed by the root of its mass, so that lengths and angles compare."""
    weight = np.sqrt(whole.M.diagonal()[candidates])
    weight = weight if np.any(weight) else np.ones(len(candidates))
    return np.sort(candidates[pivoted_columns((V[candidates] * weight[:, None]).T)[:count]])
