"""Linear elasticity by scikit-fem: mass and stiffness matrices of a solid, its strains and stresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.finite_elements.solid_mesh import SolidMesh, fem
from gyrostat.finite_elements.sparse_algebra import Array, Sparse, scipy_parts


@dataclass(frozen=True)
class Material:
    """An isotropic elastic solid: ``E`` [Pa], ``nu``, ``density`` [kg/m^3]."""

    E: float
    nu: float
    density: float

    def __post_init__(self) -> None:
        values = {"E": self.E, "nu": self.nu, "density": self.density}
        for name, value in values.items():
            if isinstance(value, bool) or not isinstance(value, int | float) or not np.isfinite(value):
                raise MeshError(
                    f"material: {name} must be a number, got {value!r}. Hint: E=2.1e11, nu=0.3, density=7850"
                )
        if not (self.E > 0.0 and self.density > 0.0 and -1.0 < self.nu < 0.5):
            raise MeshError(
                f"material: E = {self.E:g} Pa, nu = {self.nu:g}, density = {self.density:g} kg/m^3, expected E > 0, "
                "-1 < nu < 0.5, density > 0. Hint: steel has E=2.1e11, nu=0.3, density=7850"
            )

    @classmethod
    def of(cls, value: Any) -> Material:
        """A material, or a mapping with E, nu and density."""
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping) or set(value) != {"E", "nu", "density"}:
            raise MeshError(f"material must have E, nu and density, got {value!r:.80}. Hint: {{'E': 2.1e11, ...}}")
        return cls(**value)

    @property
    def lame(self) -> tuple[float, float]:
        """lambda and mu [Pa]: sigma = lambda tr(eps) 1 + 2 mu eps."""
        return self.E * self.nu / ((1.0 + self.nu) * (1.0 - 2.0 * self.nu)), self.E / (2.0 * (1.0 + self.nu))


@dataclass(frozen=True)
class FeModel:
    """``nodes`` (k, 3) [m]; M and K over the coordinates (n,): ``node`` and ``component`` (0, 1, 2: displacements along
    x, y, z; 3, 4, 5: rotations about them) say what each is. ``solid``: elements behind it, if it was a mesh."""

    nodes: Array
    node: Array
    component: Array
    M: Sparse
    K: Sparse
    solid: Solid | None = None


@dataclass(frozen=True)
class Solid:
    """A mesh with its elements, for strains: ``element`` and ``basis`` of displacements, of scikit-fem; ``nodes``
    (nodes of an element, elements): which they are."""

    mesh: SolidMesh
    material: Material
    element: Any
    basis: Any
    nodes: Array

    @property
    def volumes(self) -> Array:
        """Of the elements [m^3]."""
        return self.basis.dx.sum(axis=1)

    def element_stress(self, u: Array) -> Array:
        """Mean stress (elements, 3, 3) [Pa] of each element for displacements u (n,)."""
        weight = self.basis.dx / self.volumes[:, None]
        gradient = np.asarray(self.basis.interpolate(u).grad)  # (3, 3, elements, points)
        return self._stress(np.einsum("ijep,ep->eij", gradient, weight))

    def nodal_stress(self, u: Array) -> Array:
        """Stress (nodes, 3, 3) [Pa]: in the corner that each element has at a node, mean over the elements around it,
        by volume."""
        sparse = scipy_parts()[0]
        corners = np.ascontiguousarray(self.element.doflocs.T), np.ones(len(self.element.doflocs))
        there = fem().Basis(self.mesh.mesh, fem().ElementVector(self.element), quadrature=corners)
        gradient = np.asarray(there.interpolate(u).grad)  # (3, 3, elements, nodes of an element)
        k, e = self.nodes.shape
        columns = np.arange(k * e)
        W = sparse.csr_matrix((np.tile(self.volumes, k), (self.nodes.ravel(), columns)))
        mean = W @ gradient.transpose(3, 2, 0, 1).reshape(k * e, 9) / np.asarray(W.sum(axis=1))
        return self._stress(mean.reshape(-1, 3, 3))

    def _stress(self, gradient: Array) -> Array:
        strain = (gradient + gradient.transpose(0, 2, 1)) / 2.0
        lam, mu = self.material.lame
        return lam * np.trace(strain, axis1=1, axis2=2)[:, None, None] * np.eye(3) + 2.0 * mu * strain


def solid_model(mesh: SolidMesh, material: Material, order: int) -> FeModel:
    """Consistent mass and stiffness; ``order`` of the elements, 1 or 2."""
    skfem = fem()
    from skfem.helpers import ddot, sym_grad, trace

    tetrahedra = mesh.mesh.t.shape[0] == 4
    if order not in (1, 2):
        raise MeshError(f"order must be 1 or 2, got {order!r}. Hint: 2 bends well, 1 is stiff in bending")
    kinds = {
        (True, 1): skfem.ElementTetP1,
        (True, 2): skfem.ElementTetP2,
        (False, 1): skfem.ElementHex1,
        (False, 2): skfem.ElementHex2,
    }
    element = kinds[tetrahedra, order]()
    points = 2 * order if tetrahedra else 2 * order + 1
    basis = skfem.Basis(mesh.mesh, skfem.ElementVector(element), intorder=points)
    scalar = skfem.Basis(mesh.mesh, element, intorder=points)
    lam, mu = material.lame

    @skfem.BilinearForm
    def elastic(u: Any, v: Any, _: Any) -> Any:
        e, d = sym_grad(u), sym_grad(v)
        return 2.0 * mu * ddot(e, d) + lam * trace(e) * trace(d)

    @skfem.BilinearForm
    def inertial(u: Any, v: Any, _: Any) -> Any:
        return material.density * u * v

    n = scalar.N
    M = scipy_parts()[0].kron(inertial.assemble(scalar), np.eye(3)).tocsc()
    node, component = np.repeat(np.arange(n), 3), np.tile(np.arange(3), n)
    solid = Solid(mesh, material, element, basis, scalar.element_dofs)
    return FeModel(scalar.doflocs.T.copy(), node, component, M, elastic.assemble(basis).tocsc(), solid)
