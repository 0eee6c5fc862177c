"""The forces that a beam's own mass and strain need: floating frame of reference, whole kinetic energy.

The mass at x is at r = (X, v, w) in the axes of a and accelerates with

    A = a_0 + W r + 2 w x dr/dt + d^2r/dt^2,    W = dw~ + w~ w~,

so that f = int A dm, n = int r x A dm and Q_i = int (dr/dq_i) . A dm + strain: nothing is cut off. A field of gravity
is expanded about the centre of mass, as for rigid bodies: g + G (r - r_c) is subtracted from A. Sections have rotary
inertia, constant in the axes of a: J (w + mean rate of their rotation). Without shear it is none but that about the
axis, as in the beam equation of Euler and Bernoulli: slopes and turns of a then count alike, however a beam is held."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.flexible.beam_fields import BeamFields, Field, beam_fields
from gyrostat.algorithms.flexible.beam_kinematics import BeamMemo, shapes_of
from gyrostat.algorithms.flexible.beam_mass import BeamMass, beam_mass
from gyrostat.algorithms.flexible.beam_strain import strain_forces
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array, cross, join, skew
from gyrostat.spatial.beams.beam_shapes import BeamShapes, dot, product
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Classical, Motion, Pose, spread


def local_motion(on: Setting, motion: Motion) -> tuple[Array, Array, Array]:
    """w, dw/dt and the acceleration of the origin, in the axes of the frame."""
    rep, pose = on.representation, motion.pose
    V, A = rep.motion_local(pose, motion.V), rep.motion_local(pose, motion.A)
    return V[:3], A[:3], A[3:] if isinstance(rep, Classical) else A[3:] + cross(V[:3], V[3:])


def axial_vector(B: Array) -> Array:
    """int r x A, of B = int A r^T."""
    return np.array([B[2, 1] - B[1, 2], B[0, 2] - B[2, 0], B[1, 0] - B[0, 1]])


def own_force(c: Component, on: Setting, memo: BeamMemo) -> tuple[Array, Array]:
    """Force (6,) at a, in the representation, and generalised forces (n,) of the beam's own mass and strain."""
    s, mass, pose = shapes_of(c), beam_mass(c), memo.at_a.pose
    w, dw, a_0 = local_motion(on, memo.at_a)
    fields = beam_fields(s, c["length"], memo.q, memo.v, memo.a)
    W = spread(w, dw)
    n, Q = rotary_forces(s, c["length"], mass, w, dw, memo)
    if on.gravity.field is not None:
        g, G, torque = field_of_gravity(on, pose, mass, fields.r)
        a_0, W, n = a_0 - g + G @ fields.r.mean, W - G, n - torque
    f_line, n_line, Q_line = line_forces(s, fields, w, W, a_0)
    own = join(n + n_line * mass.m, f_line * mass.m)
    return on.representation.force(pose, own), Q + Q_line * mass.m + strain_forces(c, memo.q, memo.v)


def line_forces(s: BeamShapes, fields: BeamFields, w: Array, W: Array, a_0: Array) -> tuple[Array, Array, Array]:
    """f (3,), n (3,) and Q (n,) of the mass along the axis, in its mass; W and a_0 may have gravity in them."""
    r, dr, ddr, w2 = fields.r, fields.dr, fields.ddr, 2.0 * skew(w)
    f = a_0 + W @ r.mean + w2 @ dr.mean + ddr.mean
    n = axial_vector(np.outer(a_0, r.mean) + W @ r.times(r) + w2 @ dr.times(r) + ddr.times(r))
    means = np.eye(s.axial)[0], s.y.P[0], s.z.P[0]
    A_x, A_y, A_z = (  # each component of A with the functions of its family
        W[i] @ r.moments[i] + w2[i] @ dr.moments[i] + ddr.moments[i][i] + means[i] * a_0[i] for i in range(3)
    )
    Q = product(fields.dX_dq.T, A_x)
    return f, n, Q + np.concatenate([A_y, A_z, np.zeros(s.t.n + s.x.n)])


def rotary_forces(s: BeamShapes, L: Any, mass: BeamMass, w: Array, dw: Array, memo: BeamMemo) -> tuple[Array, Array]:
    """n (3,) and Q (n,) of the rotary inertia of the sections, J (w + mean rate of their rotations)."""
    (dy, dz, dt, _), (ay, az, at, ax) = s.split(memo.v), s.split(memo.a)

    def turned(y: Array, z: Array, t: Array) -> Array:
        return np.array([dot(s.t.turn, t), -dot(s.z.turn, z) / L, dot(s.y.turn, y) / L])

    n = mass.J * (dw + turned(ay, az, at)) + cross(w, mass.J * (w + turned(dy, dz, dt)))
    along_y = (s.y.turn * dw[2] + product(s.y.rotary, ay) / L) * (mass.J[2] / L)
    along_z = (product(s.z.rotary, az) / L - s.z.turn * dw[1]) * (mass.J[1] / L)
    twist = (s.t.turn * dw[0] + product(s.t.rotary, at)) * mass.J[0]
    return n, np.concatenate([along_y, along_z, twist, np.zeros(len(ax))])


def field_of_gravity(on: Setting, pose: Pose, mass: BeamMass, r: Field) -> tuple[Array, Array, Array]:
    """g (3,) at the centre of mass with what the extent adds, its gradient G (3, 3), and the torque on the sections,
    in the axes of a."""
    law, R, h = on.gravity, pose.R, r.mean
    centre = pose.p + R @ h
    g, G = np.asarray(law.field(centre)), np.zeros((3, 3))  # type: ignore[misc]
    sections = SpatialInertia(0.0, np.zeros(3), np.diag(mass.sections)).second_moment
    if law.gradient is not None and law.stretch is not None:
        extent = (r.times(r) - np.outer(h, h)) * mass.m + sections
        g = g + law.stretch(centre, R @ extent @ R.T) / mass.m
        G = R.T @ law.gradient(centre) @ R
    return R.T @ g, G, axial_vector(G @ sections)


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
