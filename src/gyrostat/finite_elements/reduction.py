"""What a reduction gives: matrices over few coordinates, and the way back to all of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import ReductionError
from gyrostat.finite_elements.lowest_modes import Modes, ritz_modes
from gyrostat.finite_elements.sparse_algebra import Array
from gyrostat.finite_elements.structure_matrices import Partition
from gyrostat.finite_elements.symmetric_mass import symmetric_mass


@dataclass(frozen=True)
class Reduction:
    """A structure of n coordinates u, reduced to r: M_bar z'' + K_bar z = load, u ~ T z.

    The first coordinates z are the kept displacements, u[keep]; behind them stand modal ones, where a method has any
    (``modal`` of them). ``T`` (n, r): shapes; ``K_bar`` (r, r), symmetric; ``M_bar`` (r, r), for ``"riccati"`` and
    ``"modes"`` unsymmetric [AS (16)]; ``M_symmetric`` is its symmetric partner. ``load`` (r,) or (r, k): R1 + Gamma R2,
    or T^T R. ``solver``: how it was found; ``residual``: what is left of the equation of L."""

    method: str
    partition: Partition = field(repr=False)
    T: Array = field(repr=False)
    M_bar: Array = field(repr=False)
    K_bar: Array = field(repr=False)
    load: Array | None = field(repr=False)
    solver: str = ""
    residual: float = 0.0

    @property
    def keep(self) -> Array:
        """Indices (m,) of the kept coordinates."""
        return self.partition.keep

    @property
    def omit(self) -> Array:
        """Indices (n - m,) of the omitted coordinates."""
        return self.partition.omit

    @property
    def modal(self) -> int:
        """How many coordinates are no displacements of the structure."""
        return self.T.shape[1] - len(self.keep) if self.physical else self.T.shape[1]

    @property
    def physical(self) -> bool:
        """Whether the kept displacements are the first coordinates."""
        return self.method not in ("balanced", "hurty")

    @property
    def L(self) -> Array:
        """L (n - m, m) of [AS (12)]: omitted displacements are -L u1 in the first modes."""
        return -self.T[self.omit][:, : len(self.keep)]

    @property
    def Gamma(self) -> Array:
        """Gamma (m, n - m) = -K12 K22^-1 [AS (15)]: forces on omitted coordinates, seen at the kept ones."""
        return self.partition.Gamma

    @cached_property
    def modes(self) -> Modes:
        """Modes of the reduced structure, as shapes (n, r) of the whole one."""
        return ritz_modes(self.partition.whole, self.T)

    @property
    def frequencies(self) -> Array:
        """(r,) [Hz], ascending; zero for rigid-body modes."""
        return self.modes.frequencies

    @cached_property
    def M_symmetric(self) -> Array:
        """A symmetric, positive definite mass matrix (r, r) with the same K_bar, frequencies and rigid-body inertia.

        For ``"riccati"`` and ``"modes"`` the price is paid by mode shapes: those of the last modes differ from the
        structure's, see ``shape_error``. For other methods it is M_bar."""
        return self._symmetric[0]

    @cached_property
    def _symmetric(self) -> tuple[Array, Array]:
        if self.method not in TWO_SIDED:
            return self.M_bar, np.linalg.pinv(self.T) @ self.modes.V
        return symmetric_mass(self.K_bar, self.modes.V[self.keep], self.modes.values, self.modes.rigid)

    @property
    def shape_error(self) -> Array:
        """(r,): 1 - MAC of each mode of (M_symmetric, K_bar), over the kept coordinates, against the structure's."""
        V1 = self.modes.V[self.keep]
        V = self._symmetric[1] if self.physical else V1
        V = V[: len(self.keep)]
        norms = np.einsum("ij,ij->j", V1, V1) * np.einsum("ij,ij->j", V, V)
        return 1.0 - np.einsum("ij,ij->j", V1, V) ** 2 / norms

    def expand(self, z: Any, load: Any = None) -> Array:
        """All displacements (n,) or (n, k) for reduced ones (r,) or (r, k).

        u = T z; with the ``load`` R (n,) also its static effect on the modes that were left out, u2 = -L u1 + y2 with
        X22 y2 = P2 [AS (12), (14)], so that a structure at rest is where all its coordinates put it."""
        z = np.asarray(z, dtype=float)
        if z.ndim not in (1, 2) or z.shape[0] != self.T.shape[1]:
            raise ReductionError(f"expand: z has shape {z.shape}, expected ({self.T.shape[1]},). Hint: see .keep")
        u = self.T @ z
        if load is None:
            return u
        if self.method not in TWO_SIDED:
            raise ReductionError(f"expand: the method '{self.method}' knows no loads behind it. Hint: leave load out")
        R = loads(load, len(u), "expand")
        inner = self.partition.whole.M @ (self.T @ np.linalg.solve(self.M_bar, self._seen(R)))
        y2 = np.zeros(np.broadcast_shapes(u.shape, R.shape))
        y2[self.omit] = self.partition.K22((R - inner)[self.omit])
        return u + y2

    def _seen(self, R: Array) -> Array:
        return R[self.keep] + self.Gamma @ R[self.omit]


TWO_SIDED = ("riccati", "modes")
"""Methods whose equations are weighed with other shapes than the motion has, so that M_bar is unsymmetric."""


def loads(R: Any, n: int, who: str) -> Array:
    """Loads (n,) or (n, k), checked."""
    R = np.asarray(R, dtype=float)
    if R.ndim not in (1, 2) or R.shape[0] != n or not np.all(np.isfinite(R)):
        raise ReductionError(f"{who}: load has shape {R.shape}, expected finite numbers ({n},) or ({n}, k)")
    return R
