"""The forces that a beam's own mass and strain need: floating frame of reference, whole kinetic energy.

The mass at x is at r = (X, v, w) in the axes of a, X = x + s + u as a sum over the axial functions. It accelerates with

    A = a_0 + W r + 2 w x dr/dt + d^2r/dt^2,    W = dw~ + w~ w~,

so that f = int A dm, n = int r x A dm and Q_i = int (dr/dq_i) . A dm + strain. Every component of r is a sum over one
family of functions (axial, y, z), so that all integrals are products of coordinates with constant tables: nothing is
cut off. Sections have rotary inertia against the motion of a and about x against twist; that of the slopes' rates is
neglected, as in the beam equation of Euler and Bernoulli."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.flexible.beam_kinematics import BeamMemo, shapes_of
from gyrostat.algorithms.flexible.beam_mass import beam_mass
from gyrostat.algorithms.flexible.beam_shapes import BeamShapes, dot, product
from gyrostat.algorithms.flexible.beam_strain import strain_forces
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array, cross, join, skew
from gyrostat.spatial.representation import Classical, Motion, spread


@dataclass(frozen=True)
class AxialPositions:
    """X (k,): amplitudes of the positions along the axis, x + shortening + stretch; ``dX_dq`` (k, n)."""

    X: Array
    dX_dq: Array


def axial_positions(s: BeamShapes, L: Any, q: Array) -> AxialPositions:
    y, z, t, x = s.split(q)
    gy, gz = (-np.array([product(G, u) for G in f.G]).reshape(f.P.shape) / L for f, u in ((s.y, y), (s.z, z)))
    X = s.axis * L + (product(gy, y) + product(gz, z)) * 0.5 + product(s.x.P, x)
    return AxialPositions(X, np.concatenate([gy, gz, np.zeros((s.axial, len(t))), s.x.P], axis=1))


def moments(s: BeamShapes, X: Array, y: Array, z: Array) -> tuple[Array, Array, Array]:
    """Of a field (X, v, w) with each function of the families axial, y and z: (3, k), (3, n_y), (3, n_z)."""
    return (
        np.stack([X, product(s.y.P, y), product(s.z.P, z)]),
        np.stack([product(s.y.P.T, X), product(s.y.mass, y), product(s.yz, z)]),
        np.stack([product(s.z.P.T, X), product(s.yz.T, y), product(s.z.mass, z)]),
    )


def second_moments(field: tuple[Array, Array, Array], of: tuple[Array, Array, Array]) -> Array:
    """int field r^T (3, 3), from the field's amplitudes and the :func:`moments` of r."""
    return np.array([[dot(x, of[i][j]) for j in range(3)] for i, x in enumerate(field)])


def axial_vector(B: Array) -> Array:
    """int r x A, of B = int A r^T."""
    return np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]])


def local_motion(on: Setting, motion: Motion) -> tuple[Array, Array, Array]:
    """w, dw/dt and the acceleration of the origin, in the axes of the frame."""
    rep, pose = on.representation, motion.pose
    V, A = rep.motion_local(pose, motion.V), rep.motion_local(pose, motion.A)
    return V[:3], A[:3], A[3:] if isinstance(rep, Classical) else A[3:] + cross(V[:3], V[3:])


def section_rates(s: BeamShapes, L: Any, parts: tuple[Array, Array, Array]) -> Array:
    """Mean of what coordinates along y, z and of twist add to the rotation of the sections, (3,)."""
    y, z, t = parts
    return np.array([dot(s.t.turn, t), -dot(s.z.turn, z) / L, dot(s.y.turn, y) / L])


def own_force(c: Component, on: Setting, memo: BeamMemo) -> tuple[Array, Array]:
    """Force (6,) at a, in the representation, and generalised forces (n,) of the beam's own mass and strain."""
    s, L, mass = shapes_of(c), c["length"], beam_mass(c)
    w, dw, a_0 = local_motion(on, memo.at_a)
    q, v, a = memo.q, memo.v, memo.a
    (y, z, _, x), (dy, dz, dt, _), (ay, az, at, _) = (s.split(part) for part in (q, v, a))
    axis = axial_positions(s, L, q)
    dX = product(axis.dX_dq, v)
    bent = [dot(product(s.y.G[k], dy), dy) + dot(product(s.z.G[k], dz), dz) for k in range(s.axial)]
    aX = product(axis.dX_dq, a) - np.array(bent) / L
    r, rate, own = (moments(s, *f) for f in ((axis.X, y, z), (dX, dy, dz), (aX, ay, az)))
    W, w2 = spread(w, dw), 2.0 * skew(w)
    h, dh, ddh = (field[0][:, 0] for field in (r, rate, own))

    B = np.outer(a_0, h) + W @ second_moments((axis.X, y, z), r)
    B = B + w2 @ second_moments((dX, dy, dz), r) + second_moments((aX, ay, az), r)
    turning, turned = (w_a + section_rates(s, L, parts) for w_a, parts in ((w, (dy, dz, dt)), (dw, (ay, az, at))))
    n = axial_vector(B) * mass.m + mass.J * turned + cross(w, mass.J * turning)
    f = (a_0 + W @ h + w2 @ dh + ddh) * mass.m

    means = np.eye(s.axial)[0], s.y.P[0], s.z.P[0]
    Ax, Ay, Az = (
        W[i] @ r[i] + w2[i] @ rate[i] + own[i][i] + means[i] * a_0[i] for i in range(3)
    )  # A_i with each function of the family of r_i
    Q = product(axis.dX_dq.T, Ax) * mass.m
    turn_y = (s.y.turn * dw[2] + product(s.y.rotary, ay) / L) * (mass.J[2] / L)
    turn_z = (-s.z.turn * dw[1] + product(s.z.rotary, az) / L) * (mass.J[1] / L)
    turn_x = (s.t.turn * dw[0] + product(s.t.rotary, at)) * mass.J[0]
    Q = Q + np.concatenate([Ay * mass.m + turn_y, Az * mass.m + turn_z, turn_x, np.zeros(len(x))])
    return on.representation.force(memo.at_a.pose, join(n, f)), Q + strain_forces(c, q, v)


def flexible_beam_force(c: Component, on: Setting, motion: Motion, memo: BeamMemo) -> Any:
    """Forces at the outports go to a, where the beam's own joins them, and from there to the inport."""
    own, Q_own = own_force(c, on, memo)

    def action(forces: Mapping[str, Array]) -> tuple[Array, Array]:
        f, Q = own, Q_own
        for name, force in forces.items():
            if name == "a":
                f = f + force
            else:
                f, Q = f + memo.links[name].shift.force(force), Q + memo.links[name].work(force)
        return (f, Q) if memo.met is None else (memo.met.shift.force(f), Q + memo.met.work(f))

    return action
