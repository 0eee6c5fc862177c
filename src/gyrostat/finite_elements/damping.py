"""Damping matrices of a body from few numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.finite_elements.sparse_algebra import Array

FORMS = "{'kelvin_voigt': 1e-4} [s], {'rayleigh': (alpha, beta)} [1/s, s], or {'ratio': 0.01} for all or each shape"


def damping_matrix(damping: Any, M: Array, K: Array) -> Array:
    """D (n, n): tau K (Kelvin-Voigt), alpha M + beta K (Rayleigh), or M V diag(2 zeta w) V^T M (ratios of the natural
    modes V, V^T M V = 1, K V = M V diag(w^2))."""
    if damping is None:
        return np.zeros_like(K)
    if not isinstance(damping, Mapping) or len(damping) != 1:
        raise MeshError(f"damping: got {damping!r:.80}. Hint: {FORMS}")
    ((kind, value),) = damping.items()
    try:
        numbers = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    sizes = {"kelvin_voigt": (1,), "rayleigh": (2,), "ratio": (1, len(K))}.get(str(kind), ())
    if numbers.ndim != 1 or len(numbers) not in sizes or not np.all(np.isfinite(numbers) & (numbers >= 0.0)):
        raise MeshError(f"damping: got {damping!r:.80}, expected numbers that are not negative. Hint: {FORMS}")
    if kind == "kelvin_voigt":
        return numbers[0] * K
    if kind == "rayleigh":
        return numbers[0] * M + numbers[1] * K
    inverse = np.linalg.inv(np.linalg.cholesky(M))
    values, V = np.linalg.eigh(inverse @ K @ inverse.T)
    MV = M @ inverse.T @ V
    return (MV * (2.0 * numbers * np.sqrt(values))) @ MV.T
