"""The reduction of [AS (12)-(16)]: shapes T = [1; -L] of the first modes, weighed with those of static condensation.

M_bar = M11 - M12 L + Gamma (M21 - M22 L) is T_G^T M T_L with T_G = [1; Gamma^T], T_L = [1; -L]."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import ReductionError
from gyrostat.finite_elements.lowest_modes import lowest_modes, lowest_of_all, ritz_modes
from gyrostat.finite_elements.reduction import Reduction
from gyrostat.finite_elements.riccati import scaled, solve_riccati
from gyrostat.finite_elements.sparse_algebra import Array
from gyrostat.finite_elements.structure_matrices import Partition


def by_riccati(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """L from the Riccati equation; from the modes, which ``solver`` then tells, where its iteration comes to no end or
    to other than the lowest modes."""
    solution = solve_riccati(partition)
    steps = f"{solution.inverse_steps} inverse iterations, {solution.newton_steps} Newton steps"
    if solution.converged:
        count = lowest_of_all(partition.whole, ritz_modes(partition.whole, solution.T))
        if count == len(partition.keep):
            return _reduced("riccati", partition, solution.T, R, steps, solution.residual)
        steps += f" led to modes that are not the lowest: {count} eigenvalues up to the last one"
    else:
        steps += f" left a residual of {solution.residual:.1e}"
    again = by_modes(partition, R, modes)
    return _reduced("riccati", partition, again.T, R, f"modes, as {steps}", again.residual)


def by_modes(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """L = -Phi21 Phi11^-1 from the lowest modes [AS (12), with its rows and columns put right]."""
    whole, m = partition.whole, len(partition.keep)
    found = lowest_modes(whole, m)
    count = lowest_of_all(whole, found)
    if count != m:
        raise ReductionError(
            f"reduce_fe: {count} eigenvalues lie up to the {m}th, {found.frequencies[-1]:.6g} Hz: it is one of several "
            f"equal ones, and {m} kept coordinates would keep some of them. Hint: keep {count} coordinates, or fewer"
        )
    T = scaled(found.V, partition.keep)
    off = whole.K @ found.V - (whole.M @ found.V) * found.values
    residual = float(np.abs(off).max() / np.abs(whole.K @ np.abs(found.V)).max())
    return _reduced("modes", partition, T, R, "Lanczos", residual)


def _reduced(method: str, partition: Partition, T: Array, R: Array | None, solver: str, residual: float) -> Reduction:
    M_bar = partition.joined(partition.Gamma.T).T @ (partition.whole.M @ T)
    load = None if R is None else R[partition.keep] + partition.Gamma @ R[partition.omit]
    return Reduction(method, partition, T, M_bar, partition.K_bar, load, solver, residual)
