"""The forces that a flexible body's mass and strain need: floating frame of reference, whole kinetic energy.

The mass at r + phi q accelerates with A = a_0 + W (r + phi q) + 2 w x phi v + phi a, W = dw~ + w~ w~. With P_ij = int
phi_i (r + phi q)_j = C2_ji + S_ij q (n,), and h = int (r + phi q) = h_0 + C1 q,

    f = m a_0 + W h + 2 w x C1 v + C1 a
    n = axial vector of B = int A (r + phi q)^T:  B_ij = a_0i h_j + (W K)_ij + 2 (w~ D)_ij + P_ij . a,
        K_ij = K0_ij + (C2_ij + P_ij) . q,  D_ij = P_ij . v
    Q = C1^T a_0 + sum of W_ij P_ij + 2 w~_ij S_ij v + S_ii a, + stiffness and damping:

nothing is cut off [Shabana, Dynamics of Multibody Systems, 5.5; Wallrapp, Mech. Struct. Mach. 22 (1994) 307-324]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.flexible.beam_kinematics import BeamMemo
from gyrostat.algorithms.flexible.beam_newton_euler import axial_vector, local_motion
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array, join, skew
from gyrostat.spatial.inertia import steiner
from gyrostat.spatial.representation import Motion, Pose, spread

XYZ = range(3)


def body_strain_energy(c: Component, on: Setting, motion: Motion, q: Array) -> Any:
    """q^T K q / 2."""
    return 0.5 * (q @ (c["stiffness"] @ q))


def own_force(c: Component, on: Setting, memo: BeamMemo) -> tuple[Array, Array]:
    """Force (6,) at the floating frame, in the representation, and generalised forces (n,)."""
    C1, C2, S, m, pose = c["C1"], c["C2"], c["S"], c["mass"], memo.at_a.pose
    w, dw, a_0 = local_motion(on, memo.at_a)
    q, v, a = memo.q, memo.v, memo.a
    W, w2 = spread(w, dw), 2.0 * skew(w)
    P = [[C2[j, i] + S[i, j] @ q for j in XYZ] for i in XYZ]
    h = c["first_moment"] + C1 @ q
    K = np.array([[c["second_moment"][i, j] + (C2[i, j] + P[i][j]) @ q for j in XYZ] for i in XYZ])
    D, T = (np.array([[P[i][j] @ x for j in XYZ] for i in XYZ]) for x in (v, a))
    n = axial_vector(np.outer(a_0, h) + W @ K + w2 @ D + T)
    f = a_0 * m + W @ h + w2 @ (C1 @ v) + C1 @ a
    Q = C1.T @ a_0 + c["modal_mass"] @ a + c["stiffness"] @ q + c["damping"] @ v
    for i in XYZ:
        for j in XYZ:
            Q = Q + P[i][j] * W[i, j] + (S[i, j] @ v) * w2[i, j]
    own = join(n, f)
    if on.gravity.field is not None:
        com = h / m
        J = np.eye(3) * np.trace(K) - K
        own = own - on.gravity.weight(pose, m, com, J - m * steiner(com))
        g, G = field_on_shapes(on, pose, m, com, K)
        Q = Q - C1.T @ g
        for i, j in np.ndindex(3, 3):
            Q = Q - (P[i][j] - C1[i] * com[j]) * G[i, j]
    return on.representation.force(pose, own), Q


def field_on_shapes(on: Setting, pose: Pose, m: Any, com: Array, K: Array) -> tuple[Array, Array]:
    """g (3,) at the centre of mass with what the extent adds, and its gradient G (3, 3), in the axes of the floating
    frame: as for rigid bodies, of the body as it is bent. K = int (r + phi q)(r + phi q)^T."""
    law, R = on.gravity, pose.R
    centre = pose.p + R @ com
    g, G = np.asarray(law.field(centre)), np.zeros((3, 3))  # type: ignore[misc]
    if law.gradient is not None and law.stretch is not None:
        extent = K - np.outer(com, com) * m
        g = g + law.stretch(centre, R @ extent @ R.T) / m
        G = R.T @ law.gradient(centre) @ R
    return R.T @ g, G


def flexible_body_force(c: Component, on: Setting, motion: Motion, memo: BeamMemo) -> Any:
    """Forces at the outports go to the floating frame, where the body's own joins them, and from there to the
    inport."""
    own, Q_own = own_force(c, on, memo)

    def action(forces: Mapping[str, Array]) -> tuple[Array, Array]:
        f, Q = own, Q_own
        for name, force in forces.items():
            if name in memo.links:
                f, Q = f + memo.links[name].shift.force(force), Q + memo.links[name].work(force)
            else:
                f = f + force
        return (f, Q) if memo.met is None else (memo.met.shift.force(f), Q + memo.met.work(f))

    return action
