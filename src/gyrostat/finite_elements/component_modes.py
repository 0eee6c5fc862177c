"""Reductions by component modes: Guyan, Craig and Bampton, Hurty, Rubin. All weigh the equations with the shapes of the
motion (Galerkin), so that M_bar = T^T M T and K_bar = T^T K T are symmetric."""

from __future__ import annotations

import numpy as np

from gyrostat.errors import ReductionError
from gyrostat.finite_elements.lowest_modes import lowest_modes
from gyrostat.finite_elements.reduction import Reduction
from gyrostat.finite_elements.sparse_algebra import Array, pivoted_columns
from gyrostat.finite_elements.structure_matrices import Partition, Structure

FREE = 1e-10
"""Stiffness against a motion of the kept coordinates that is none, relative to the largest."""
DEPENDENT = 1e-9
"""Part of a shape that the shapes before it do not have, below which it adds nothing."""


def galerkin(method: str, partition: Partition, T: Array, R: Array | None, solver: str = "") -> Reduction:
    """The structure, moving in the shapes T (n, r) only."""
    M, K = (T.T @ (A @ T) for A in (partition.whole.M, partition.whole.K))
    load = None if R is None else T.T @ R
    return Reduction(method, partition, T, (M + M.T) / 2.0, (K + K.T) / 2.0, load, solver)


def guyan(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """Static condensation: T = [1; Gamma^T] [Guyan, AIAA Journal 3 (1965) 380]."""
    return galerkin("guyan", partition, partition.joined(partition.Gamma.T), R)


def craig_bampton(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """T = [1 0; Gamma^T Phi]: static shapes of the kept coordinates, and modes while these stand still [Craig, Bampton,
    AIAA Journal 6 (1968) 1313-1319]."""
    T = np.hstack([partition.joined(partition.Gamma.T), _held_modes(partition, modes)])
    return galerkin("craig-bampton", partition, T, R)


def hurty(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """Rigid-body shapes, static shapes of the redundant kept coordinates, and modes while all kept ones stand still
    [Hurty, AIAA Journal 3 (1965) 678-685]. The span of Craig and Bampton in other coordinates: the first ones are
    displacements of a statically determinate support, then displacements relative to the rigid body."""
    static = partition.joined(partition.Gamma.T)
    rigid = static @ _free_motions(partition)
    if rigid.shape[1]:
        held = pivoted_columns(rigid[partition.keep].T)[: rigid.shape[1]]
        rigid = np.linalg.solve(rigid[partition.keep[held]].T, rigid.T).T
        static = np.delete(static, held, axis=1)
    return galerkin("hurty", partition, np.hstack([rigid, static, _held_modes(partition, modes)]), R)


def rubin(partition: Partition, R: Array | None, modes: int) -> Reduction:
    """Free-interface modes, and static shapes under forces at the kept coordinates [Rubin, AIAA Journal 13 (1975)
    995-1006], in coordinates of which the first ones are the kept displacements. Rigid-body motions come in addition;
    static shapes of a free structure are those under forces that its inertia balances."""
    free = partition.joined(partition.Gamma.T) @ _free_motions(partition)
    V = lowest_modes(partition.whole, modes + free.shape[1]).V if modes else free
    shapes = np.hstack([V, _attachment_shapes(partition, free)])
    Q, upper = np.linalg.qr(shapes / np.linalg.norm(shapes, axis=0))
    Q = Q[:, np.abs(np.diag(upper)) > DEPENDENT]
    _, seen, rows = np.linalg.svd(Q[partition.keep])
    m = len(partition.keep)
    if seen[-1] < DEPENDENT * seen[0]:
        raise ReductionError(f"reduce_fe: the shapes do not tell the {m} kept coordinates apart. Hint: keep fewer")
    T = np.hstack([Q @ np.linalg.pinv(Q[partition.keep]), Q @ rows[m:].T])
    return galerkin("rubin", partition, T, R)


def _attachment_shapes(partition: Partition, free: Array) -> Array:
    """Displacements (n, m) under unit forces at the kept coordinates, less the inertia forces of the free motions:
    K_bar u1 = R1 + Gamma R2, u2 = Gamma^T u1 + K22^-1 R2."""
    keep, omit = partition.keep, partition.omit
    force = np.zeros((partition.whole.n, len(keep)))
    force[keep] = np.eye(len(keep))
    if free.shape[1]:
        inertia = partition.whole.M @ free
        force = force - inertia @ np.linalg.solve(free.T @ inertia, free.T @ force)
    u = np.empty_like(force)
    u[keep] = np.linalg.lstsq(partition.K_bar, force[keep] + partition.Gamma @ force[omit], rcond=FREE)[0]
    u[omit] = partition.Gamma.T @ u[keep] + partition.K22(force[omit])
    return u


def _held_modes(partition: Partition, count: int) -> Array:
    """Lowest modes (n, count) of the structure that is held at the kept coordinates."""
    Phi = np.zeros((partition.whole.n, count))
    if count:
        inner = (A[partition.omit][:, partition.omit].tocsc() for A in (partition.whole.M, partition.whole.K))
        Phi[partition.omit] = lowest_modes(Structure(*inner), count).V
    return Phi


def _free_motions(partition: Partition) -> Array:
    """Displacements (m, r) of the kept coordinates in rigid-body motions: where K_bar does no work."""
    values, V = np.linalg.eigh(partition.K_bar)
    return V[:, values < FREE * max(values[-1], 0.0)]
