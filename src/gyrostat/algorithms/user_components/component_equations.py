"""The equations of one component, read off its rows of kinematics and Newton-Euler: two rows suffice for all
algorithms.

For the acceleration A = A_0 + e in front of a component and its own accelerations a, the rows say

    e_k = phi_k e + S_k a,    f = M e + G a + z + sum of phi_k^T f_k,    u = G^T e + D a + b + sum of S_k^T f_k

with k over its outports. They are run once, on accelerations that are sums over unknowns (:class:`Affine`): the
coefficients are the matrices. So a component that has no row in an algorithm is in it all the same; a row of its own
only makes it faster. :mod:`~gyrostat.algorithms.user_components.row_examination` checks that rows from elsewhere have
this form."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting, defined_by
from gyrostat.algorithms.recursions.affine_number import Affine
from gyrostat.algorithms.recursions.kinematics import NONE, Own, kinematics
from gyrostat.algorithms.recursions.rne import rne
from gyrostat.engine.tracing.dual import Dual, rates_of, values_of
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Pose, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia

BUILT_IN = (FixedBase, DrivenBase, FreeBase, Displacement, RigidBody, Joint, RotorInertia, ForceElement)
FIRST, SECOND = 5, 6
"""Levels of the rates that belong to this module alone: the state may carry others."""


def foreign(network: Network) -> list[Component]:
    """Components that are defined by rows from elsewhere."""
    return [c for c in network.components if defined_by(c) not in BUILT_IN]


def own_state(network: Network, c: Component, q: Array, v: Array, a: Array | None = None) -> Own:
    """A component's part of a state of the model; at rest without ``a``."""
    moved = network.transmission.at(q, v)
    v_c = moved.rates(v)[c.v_at]
    return Own(moved.coordinates(q)[c.q_at], v_c, v_c * 0.0 if a is None else moved.accelerations(a)[c.v_at])


@dataclass(frozen=True)
class Equations:
    """Of one component, n rates of its own, by the names of its outports: ``shifts`` phi, ``S`` (6, n); ``M`` (6, 6),
    ``G`` (6, n), ``D`` (n, n), ``z`` (6,), ``b`` (n,)."""

    shifts: Mapping[str, Shift]
    S: Mapping[str, Array]
    M: Array
    G: Array
    D: Array
    z: Array
    b: Array

    @property
    def massless(self) -> bool:
        """Whether M is known to be zero."""
        return all(isinstance(x, float) and x == 0.0 for x in self.M.ravel())

    @property
    def inertia(self) -> ArticulatedInertia:
        """M, which need not be that of a rigid body (a body in water)."""
        return ArticulatedInertia.from_matrix(self.M)

    @property
    def body(self) -> SpatialInertia:
        """M, if it is that of a rigid body."""
        return SpatialInertia.from_matrix(self.M)

    @property
    def whole(self) -> Array:
        """[[M, G], [G^T, D]], over (A, a)."""
        return np.block([[self.M, self.G], [self.G.T, self.D]])


def placements(c: Component, on: Setting, q: Array) -> dict[str, tuple[Array, Array]]:
    """Placement of each outport, seen from the inport."""
    n = c.v_at.stop - c.v_at.start
    here = Motion(Pose(np.eye(3), np.zeros(3)), np.zeros(6), np.zeros(6))
    out, _ = kinematics.of(c)(c, on, here, q, np.zeros(n), np.zeros(n))
    return {name: (motion.pose.R, motion.pose.p) for name, motion in out.items()}


def run(c: Component, on: Setting, motion: Motion, own: Own) -> tuple[Mapping[str, Motion], Array, Array]:
    """Motions at the outports, force at the inport and generalised forces, with nothing behind the component."""
    out, memo = kinematics.of(c)(c, on, motion, *own)
    f, u = rne.of(c)(c, on, motion, memo)(dict.fromkeys(c.outports, np.zeros(6)))
    return out, np.asarray(f), np.asarray(u)


def linear_forces(
    c: Component, on: Setting, motion: Motion, q: Array, v: Array, start: Array | None = None
) -> tuple[Mapping[str, Motion], Array, Array]:
    """Motions at the outports, matrix (6 + n, 6 + n) and bias (6 + n,) of the forces over (A, a); a counts from
    ``start`` (n,), by default zero."""
    n = len(v)
    unknown = [Affine(x, {k: 1.0}) for k, x in enumerate((*motion.A, *([0.0] * n if start is None else start)))]
    A, a = np.array(unknown[:6], dtype=object), np.array(unknown[6:] or NONE, dtype=object)
    out, f, u = run(c, on, Motion(motion.pose, motion.V, A), Own(q, v, a))
    rows = [*f, *u]
    return out, _columns(rows, range(6 + n)), np.array([x.c if isinstance(x, Affine) else x for x in rows])


def equations(c: Component, on: Setting, motion: Motion, q: Array, v: Array, start: Array | None = None) -> Equations:
    """The matrices of a component that moves so, with its own accelerations zero, or those that it starts with."""
    n = len(v)
    out, whole, bias = linear_forces(c, on, motion, q, v, start)
    places = placements(c, on, q) if c.outports else {}
    return Equations(
        {name: on.representation.shift(motion.pose, *place) for name, place in places.items()},
        {name: _columns(out[name].A, range(6, 6 + n)) for name in out},
        whole[:6, :6],
        whole[:6, 6:],
        whole[6:, 6:],
        bias[:6],
        bias[6:],
    )


def _coefficient(x: Any, k: int) -> Any:
    return x.terms.get(k, 0.0) if isinstance(x, Affine) else 0.0


def _columns(rows: Any, chosen: range) -> Array:
    return np.array([[_coefficient(x, k) for k in chosen] for x in rows]).reshape(len(rows), len(chosen))


@dataclass(frozen=True)
class CoriolisAndDamping:
    """Forces over x = (V, v) that go with the velocities: ``coriolis`` (6 + n, 6 + n) of the inertial ones, Coriolis,
    centrifugal and gyroscopic, coriolis x = force; ``damping`` (6 + n,): all others; ``l`` (3,): constant angular
    momentum inside."""

    coriolis: Array
    damping: Array
    l: Array


def coriolis_and_damping(c: Component, on: Setting, motion: Motion, q: Array, v: Array) -> CoriolisAndDamping:
    """Inertial forces are homogeneous in the velocities: the quadratic part at zero velocity, and of the linear part
    what does no work. Everything else dissipates, or drives."""
    force = _force_of_velocities(c, on, motion, q, v)
    x = np.concatenate([motion.V, v])
    linear, quadratic = linear_and_quadratic(force, x)
    turning = (linear - linear.T) * 0.5
    coriolis = quadratic + turning
    spun = turning[:3, :3]  # w x l = -l~ w
    l = np.array([spun[1, 2], spun[2, 0], spun[0, 1]])
    damping = force(x) - force(x * 0.0) - coriolis @ x
    return CoriolisAndDamping(coriolis, damping, l)


def _force_of_velocities(c: Component, on: Setting, motion: Motion, q: Array, v: Array) -> Callable[[Any], Array]:
    """Forces (6 + n,) over velocities (V, v), without accelerations."""
    rest = np.zeros(len(v))

    def force(x: Any) -> Array:
        here = Motion(motion.pose, np.asarray(x[:6]), np.zeros(6))
        _, f, u = run(c, on, here, Own(q, np.asarray(x[6:]), rest))
        return np.concatenate([f, u])

    return force


def quadratic_forces(c: Component, on: Setting, motion: Motion, q: Array, v: Array) -> Array:
    """The quadratic part (6 + n,) of the forces that go with the velocities: B(x, x) of :func:`linear_and_quadratic`,
    by one evaluation."""
    x = np.concatenate([motion.V, v])
    moved = np.array([Dual(Dual(0.0, y, FIRST), y, SECOND) for y in x], dtype=object)
    force = _force_of_velocities(c, on, motion, q, v)
    return rates_of(rates_of(force(moved), SECOND), FIRST) * 0.5


def dissipation(c: Component, on: Setting, motion: Motion, own: Own) -> Array:
    """Forces (6 + n,) that go with the velocities and are not inertial; none where everything is known to stand
    still."""
    if all(isinstance(x, float) and x == 0.0 for x in (*motion.V, *own.v)):
        return np.zeros(6 + len(own.v))
    return coriolis_and_damping(c, on, motion, own.q, own.v).damping


def linear_and_quadratic(force: Any, x: Array) -> tuple[Array, Array]:
    """Of forces h(x) (m,): the matrices L, B (m, m) with L y and B y = B(x, y) the linear and the symmetric bilinear
    part at zero velocity: h = h(0) + L x + B(x, x) + ..."""
    linear: list[Array] = []
    bilinear: list[Array] = []
    for k in range(len(x)):
        moved = np.array([Dual(Dual(0.0, y, FIRST), float(i == k), SECOND) for i, y in enumerate(x)], dtype=object)
        along = rates_of(force(moved), SECOND)
        linear.append(values_of(along, FIRST))
        bilinear.append(rates_of(along, FIRST) * 0.5)
    return np.stack(linear, axis=1), np.stack(bilinear, axis=1)
