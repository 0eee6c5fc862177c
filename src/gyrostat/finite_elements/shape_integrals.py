"""Integrals over the mass of a body, in a frame that floats with it: all that its rigid-body and elastic motion need.

A point at r in the axes of the floating frame is displaced to r + phi(r) q, with n shapes phi (3, n). With the FE mass
matrix M = M_s x 1 (each component of the displacements has the same one) the integrals are sums over nodes, exactly:

    m = int dm,  h_a = int r_a,  K0_ab = int r_a r_b,
    C1_a = int phi_a (n,),  C2_ab = int r_a phi_b (n,),  S_ab = int phi_a phi_b^T (n, n)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.errors import MeshError
from gyrostat.finite_elements.elasticity import FeModel
from gyrostat.finite_elements.sparse_algebra import Array, Sparse, scipy_parts

ALIKE = 1e-8
"""Relative difference of the masses of two components at most."""


@dataclass(frozen=True)
class ShapeIntegrals:
    """m [kg], h (3,), K0 (3, 3), C1 (3, n), C2 (3, 3, n), S (3, 3, n, n), in the axes of the floating frame."""

    m: float
    h: Array
    K0: Array
    C1: Array
    C2: Array
    S: Array


def shape_integrals(model: FeModel, Phi: Array, origin: Array, R: Array) -> ShapeIntegrals:
    """Of shapes Phi (coordinates, n) in the mesh's axes; the floating frame is at ``origin`` with the axes ``R``."""
    M = component_mass(model)
    k, n = len(model.nodes), Phi.shape[1]
    phi = np.zeros((3, k, n))
    for axis in range(3):
        chosen = model.component == axis
        phi[axis, model.node[chosen]] = Phi[chosen]
    phi = np.einsum("ba,bkn->akn", R, phi)
    r, one = ((model.nodes - origin) @ R).T, np.ones(k)
    Mr, Mphi = np.stack([M @ x for x in r]), np.stack([M @ p for p in phi])
    return ShapeIntegrals(
        float(one @ (M @ one)),
        Mr @ one,
        Mr @ r.T,
        np.einsum("k,akn->an", one, Mphi),
        np.einsum("ak,bkn->abn", r, Mphi),
        np.einsum("akn,bkl->abnl", phi, Mphi),
    )


def component_mass(model: FeModel) -> Sparse:
    """M_s (nodes, nodes): the mass matrix of each component of the displacements."""
    sparse = scipy_parts()[0]
    turning = model.component >= 3
    heavy = np.abs(model.M[turning]).max() if np.any(turning) else 0.0
    whole = np.abs(model.M).max()
    if heavy > 1e-12 * whole:
        raise MeshError(
            f"the mass matrix gives inertia to rotations of nodes ({heavy:.3g} kg m^2): the field of displacements "
            "between the nodes is not known from it. Hint: export the model with lumped masses at displacements"
        )
    blocks: list[Sparse] = []
    for axis in range(3):
        chosen = np.flatnonzero(model.component == axis)
        place = sparse.csc_matrix((np.ones(len(chosen)), (model.node[chosen], np.arange(len(chosen)))))
        place.resize((len(model.nodes), len(chosen)))
        blocks.append((place @ model.M[chosen][:, chosen] @ place.T).tocsc())
        other = np.flatnonzero((model.component != axis) & ~turning)
        if len(other) and np.abs(model.M[chosen][:, other]).max() > ALIKE * whole:
            raise MeshError(
                "the mass matrix couples displacements along different axes. Hint: axes of the nodes differ"
            )
    if any(np.abs(B - blocks[0]).max() > ALIKE * whole for B in blocks[1:]):
        raise MeshError("the mass matrix differs from axis to axis. Hint: nodes with masses in all three directions")
    return blocks[0]
