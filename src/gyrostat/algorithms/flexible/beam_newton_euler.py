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
from gyrostat.algorithms.flexible.beam_shapes import BeamShapes, dot, product
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array, cross, join, skew
from gyrostat.spatial.representation import Classical, Motion, spread


@dataclass(frozen=True)
class BeamMass:
    """``m`` [kg], and the moments of inertia (3,) of all sections about x, y, z [kg m^2]."""

    m: Any
    J: Array


def beam_mass(c: Component) -> BeamMass:
    line = c["density"] * c["length"]
    return BeamMass(line * c["area"], line * np.array([c["I_y"] + c["I_z"], c["I_y"], c["I_z"]]))


def stiffness(c: Component) -> tuple[Any, Any, Any, Any]:
    """Matrices of strain of the four families; their energy is q^T K q / 2 summed."""
    s, L, E = shapes_of(c), c["length"], c["E"]
    bending = s.y.stiffness * (E * c["I_z"] / L**3), s.z.stiffness * (E * c["I_y"] / L**3)
    return *bending, s.t.stiffness * (c["G"] * c["J"] / L), s.x.stiffness * (E * c["area"] / L)


def strain_energy(c: Component, on: Setting, motion: Motion, q: Array) -> Any:
    """q^T K q / 2."""
    parts = zip(stiffness(c), shapes_of(c).split(q), strict=True)
    return 0.5 * sum((dot(product(K, x), x) for K, x in parts), 0.0)


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
    twist = np.array([1.0, 0.0, 0.0]) * mass.J[0]
    n = axial_vector(B) * mass.m + mass.J * dw + cross(w, mass.J * w)
    n = n + twist * dot(s.t.P[0], at) + cross(w, twist) * dot(s.t.P[0], dt)
    f = (a_0 + W @ h + w2 @ dh + ddh) * mass.m

    means = np.eye(s.axial)[0], s.y.P[0], s.z.P[0]
    Ax, Ay, Az = (
        W[i] @ r[i] + w2[i] @ rate[i] + own[i][i] + means[i] * a_0[i] for i in range(3)
    )  # A_i with each function of the family of r_i
    Q = product(axis.dX_dq.T, Ax) * mass.m
    rotary = (s.t.P[0] * dw[0] + product(s.t.mass, at)) * mass.J[0]
    Q = Q + np.concatenate([Ay * mass.m, Az * mass.m, rotary, np.zeros(len(x))])
    return on.representation.force(memo.at_a.pose, join(n, f)), Q + strain_forces(c, q, v)


def strain_forces(c: Component, q: Array, v: Array) -> Array:
    """K q and damping, (n,)."""
    s = shapes_of(c)
    parts = zip(stiffness(c), s.split(q + v * c["damping"]), strict=True)
    return np.concatenate([product(K, x) for K, x in parts])


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
