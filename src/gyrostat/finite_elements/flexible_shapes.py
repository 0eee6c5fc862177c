"""Shapes of a flexible body between its interfaces: static ones of its frames, and modes while these stand still.

The first interface is held: it is the floating frame. The others keep their six motions each as static shapes [Craig,
Bampton 1968], ``modes`` modes with all interfaces fixed come in addition. Combined to natural modes of the body that is
held at its first interface alone, they span the same motions, and K and M are diagonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.finite_elements.component_modes import craig_bampton
from gyrostat.finite_elements.elasticity import FeModel
from gyrostat.finite_elements.interfaces import InterfaceNodes, coupling
from gyrostat.finite_elements.lowest_modes import lowest_modes
from gyrostat.finite_elements.sparse_algebra import Array, symmetric_eigenvectors
from gyrostat.finite_elements.structure_matrices import Partition, Structure

BASES = ("craig-bampton", "modes")
MASSLESS = 1e-13
"""Softness 1 / lambda of a shape that moves no mass, relative to the softest."""

LOOSE, NEGATIVE = 1e-11, 1e-6
"""Stiffness of static shapes that is none, relative to the amounts of its terms (1e-7 of a bar a thousand times as
long as thick); least eigenvalue of it, each shape scaled to 1, that is none, or no rounding. Of two interfaces: 0.1."""
MOVES_FREELY = "the body moves freely while its first interface is held. Hint: a mesh in one piece"


@dataclass(frozen=True)
class FlexibleShapes:
    """``Phi`` (coordinates, n): shapes, the largest displacement of each 1 m; ``frames`` (k, 6, n): displacements and
    rotations of the interfaces, zero for the first; ``stiffness`` and ``mass`` (n,): diagonal ones."""

    Phi: Array
    frames: Array
    stiffness: Array
    mass: Array

    @property
    def frequencies(self) -> Array:
        """[Hz], of the body that is held at its first interface."""
        return np.sqrt(self.stiffness / self.mass) / (2.0 * np.pi)


def _natural(whole: Structure, T: Array) -> tuple[Array, Array]:
    """Eigenvalues and natural modes within the span of T, of which K has no null space."""
    M, K = T.T @ (whole.M @ T), T.T @ (whole.K @ T)
    _expect_held(K, np.einsum("ij,ij->j", np.abs(T), abs(whole.K) @ np.abs(T)))
    softness, W = symmetric_eigenvectors(M, K)  # M x = K x / lambda
    if softness[0] < -MASSLESS * np.abs(softness).max():
        raise MeshError("M is negative in a shape of the body. Hint: a mass matrix is positive, check its signs")
    massless = int(np.sum(softness <= MASSLESS * softness[-1]))
    if massless:
        raise MeshError(
            f"{massless} of the static shapes of interfaces move no mass: their coordinates would have no inertia. "
            "Hint: masses that resist them, or basis='modes', which leaves these shapes out"
        )
    return 1.0 / softness[::-1], T @ (W / np.sqrt(softness))[:, ::-1]


def _expect_held(K: Array, gross: Array) -> None:
    """K (n, n) of static shapes must resist all of them; ``gross`` (n,): the amounts of the terms of its diagonal."""
    size = np.diag(K)
    least = 0.0
    if np.all(size > LOOSE * gross):
        least = float(np.linalg.eigvalsh(K / np.sqrt(np.outer(size, size))).min())
    if least < -NEGATIVE:
        raise MeshError("K does negative work in a static shape of the interfaces. Hint: check its signs")
    if least <= LOOSE:
        raise MeshError(MOVES_FREELY)


def flexible_shapes(
    model: FeModel, interfaces: list[InterfaceNodes], modes: int, kind: str, basis: str, highest: float | None
) -> FlexibleShapes:
    """``basis``: ``"craig-bampton"``, or ``"modes"``: the lowest modes of the body held at its first interface only.
    ``highest`` [Hz]: shapes above it are left out."""
    if basis not in BASES:
        raise MeshError(f"basis must be one of {', '.join(BASES)}, got {basis!r}. Hint: craig-bampton")
    if isinstance(modes, bool) or not isinstance(modes, int) or modes < 0:
        raise MeshError(f"modes must be a number of modes, got {modes!r}. Hint: modes=8")
    G = coupling(model, interfaces, kind)[:, 6:].tocsc()
    whole = Structure((G.T @ model.M @ G).tocsc(), (G.T @ model.K @ G).tocsc())
    frames = 6 * (len(interfaces) - 1)
    if basis == "craig-bampton" and frames:
        values, T = _natural(whole, craig_bampton(Partition.of(whole, np.arange(frames)), None, modes).T)
    elif modes:
        found = lowest_modes(whole, modes)
        values, T = found.values, found.V
    else:
        raise MeshError("a body without modes is rigid. Hint: modes=8, or a second interface")
    if values[0] <= 0.0:
        raise MeshError(MOVES_FREELY)
    chosen = np.ones(len(values), dtype=bool) if highest is None else np.sqrt(values) <= 2.0 * np.pi * highest
    if not np.any(chosen):
        raise MeshError(f"no shape lies below {highest} Hz, the first is at {np.sqrt(values[0]) / 2 / np.pi:.6g} Hz")
    Phi = G @ T[:, chosen]
    moved = model.component < 3
    scale = 1.0 / np.abs(Phi[moved]).max(axis=0)
    motions = np.concatenate([np.zeros((6, len(scale))), T[:frames, chosen]]).reshape(-1, 6, len(scale))
    return FlexibleShapes(Phi * scale, motions * scale, values[chosen] * scale**2, scale**2)
