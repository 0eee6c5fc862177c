"""Derivatives of the dynamics in closed form, along the tree (H04 3.2.2.2, (3.49)-(3.57)), and the Coriolis matrix.

A displacement along the twist S_k of a rate k carries everything outboard along. In the carried frame, the velocity of
every body outboard changes by the same vector P_k, its acceleration by Q_k - V_i~ P_k:

    P_k = V_1~ S_k + S'_k v,    Q_k = A_1~ S_k + (V_1~ S_k)~ S v + V_1~ S'_k v + S'_k a + c'_k + V_2~ P_k

(1, 2: in front of and behind the joint; A: the derivative that transforms like a velocity; ': derivative of the
joint's own S and c, zero for most kinds). With M of the composite body, f the force through the joint and B = 2 M-check
of (3.57), the force through the joint changes by S_k~* f + M Q_k + B P_k with q_k, by M (P_k + dS_k/dt) + B S_k with
v_k, by M S_k with a_k. Joints inboard see these forces; joints outboard are carried along and see the changes of their
own composite bodies. H04 has this in absolute representation; every term is a spatial vector, so all three serve.

A row is ``row(c, on, motion, memo, v, a) -> Effect``: what the component adds to the composite body, and its rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.crba import NO_INERTIA
from gyrostat.algorithms.kinematics import JointMemo, sweep_motion, world_motion
from gyrostat.algorithms.rne import own_force, own_inertia, wrench_at
from gyrostat.graph.bases import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.network import Component, Network
from gyrostat.graph.sweep import inward
from gyrostat.spatial.algebra import Array, cross, cross_force, cross_motion, join, skew
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody


@dataclass(frozen=True)
class InertiaRate:
    """B x = V~* M x - M V~ x + x~* M V = 2 integral (r x (x_w x u), x_w x u) dm, u the velocity at r: 2 M-check (3.57).

    Only the angular part of x counts: B x = (E x_w, x_w x b)."""

    E: Array
    b: Array

    @staticmethod
    def of(M: SpatialInertia, V: Array) -> InertiaRate:
        w, v = V[:3], V[3:]
        b = (M.m * v + cross(w, M.h)) * 2.0
        E = (np.eye(3) * (M.h @ v) - np.outer(v, M.h) - skew(w) @ M.second_moment) * 2.0
        return InertiaRate(E, b)

    def __add__(self, other: InertiaRate) -> InertiaRate:
        return InertiaRate(self.E + other.E, self.b + other.b)

    def __matmul__(self, x: Array) -> Array:
        return join(self.E @ x[:3], cross(x[:3], self.b))

    def transposed(self, x: Array) -> Array:
        """B^T x: a pure torque (6,)."""
        return join(self.E.T @ x[:3] + cross(self.b, x[3:]), np.zeros(3))

    def moved(self, R: Array, p: Array) -> InertiaRate:
        """The same about the origin of a and in the axes of a; R, p place the present frame in a."""
        b = R @ self.b
        return InertiaRate(R @ self.E @ R.T + np.eye(3) * (p @ b) - np.outer(b, p), b)


NO_RATE = InertiaRate(np.zeros((3, 3)), np.zeros(3))


@dataclass(frozen=True)
class Outboard:
    """Everything outboard as one body: M, B, the force f that it needs, the momentum l of its gyrostats; and the
    forces (6, any) that go with each rate outboard, by its number."""

    M: SpatialInertia = NO_INERTIA
    B: InertiaRate = NO_RATE
    f: Array = field(default_factory=lambda: np.zeros(6))
    l: Array = field(default_factory=lambda: np.zeros(6))
    columns: Mapping[int, Array] = field(default_factory=dict)

    def __add__(self, other: Outboard) -> Outboard:
        columns = {**self.columns, **other.columns}
        return Outboard(self.M + other.M, self.B + other.B, self.f + other.f, self.l + other.l, columns)

    def moved(self, shift: Shift) -> Outboard:
        columns = {k: shift.force(F) for k, F in self.columns.items()}
        return Outboard(shift.inertia(self.M), shift.inertia(self.B), shift.force(self.f), shift.force(self.l), columns)

    def spun(self, share: float) -> InertiaRate:
        """``share`` B, and the whole of x~* l: the momentum of gyrostats is linear in the velocity, not quadratic."""
        return InertiaRate(self.B.E * share - skew(self.l[:3]), self.B.b * share)


@dataclass(frozen=True)
class Rate:
    """One rate of a joint: S, P and Q of the module's text, dS/dt, and how the joint's other columns change along
    it."""

    S: Array
    P: Array
    Q: Array
    dS_dt: Array
    own: Array | None
    first: int  # number of the joint's first rate


@dataclass(frozen=True)
class Effect:
    """What a component adds to the composite body, its rates, and phi to its outports."""

    shifts: Mapping[str, Shift]
    body: Outboard = field(default_factory=Outboard)
    rates: list[Rate] = field(default_factory=list)


Row = Callable[[Component, Setting, Motion, Any, Array, Array], Effect]
sensitivity: Algorithm[Row] = Algorithm("derivatives of the dynamics")


@sensitivity.row(FixedBase, DrivenBase, Displacement)
def transmit(c: Component, on: Setting, motion: Motion, memo: Any, v: Array, a: Array) -> Effect:
    return Effect(memo)


@sensitivity.row(ForceElement)
def carried_wrench(c: Component, on: Setting, motion: Motion, memo: Any, v: Array, a: Array) -> Effect:
    """A wrench in the body's own axes is carried along; others are not, see :func:`uncovered`."""
    return Effect({}, Outboard(f=-wrench_at(on, motion, c["wrench"], c["expressed_in"])))


@sensitivity.row(RigidBody)
def gyrostat(c: Component, on: Setting, motion: Motion, memo: Any, v: Array, a: Array) -> Effect:
    M = own_inertia(c, on, motion)
    momentum = on.representation.force(motion.pose, join(c["momentum"], np.zeros(3)))
    return Effect(memo, Outboard(M, InertiaRate.of(M, motion.V), own_force(c, on, motion, M), momentum))


@sensitivity.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: JointMemo, v: Array, a: Array) -> Effect:
    rep, S, joint, n = on.representation, memo.S, memo.joint, len(v)
    pose, Sv = motion.pose.then(joint.R, joint.p), S @ v
    at = lambda x: rep.motion(pose, x)  # noqa: E731
    V_1, A_1 = memo.shift.motion(motion.V), memo.shift.motion(rep.circle(motion.V, motion.A))
    V_2 = V_1 + Sv
    rates: list[Rate] = []
    for k in range(n):
        s = S[:, k]
        carried = cross_motion(V_1, s)
        P, Q, dS_dt, own = carried, cross_motion(A_1, s) + cross_motion(carried, Sv), cross_motion(V_2, s), None
        if joint.dS:
            own = np.stack([at(joint.dS[k][:, j]) for j in range(n)], axis=1)
            turned = own @ v
            P = carried + turned
            Q = Q + cross_motion(V_1, turned) + own @ a + at(joint.dc[k])
            dS_dt = dS_dt + at(sum(joint.dS[j][:, k] * v[j] for j in range(n)))
        elif n == 1:
            dS_dt = carried  # a single rate does not turn itself
        rates.append(Rate(s, P, Q + cross_motion(V_2, P), dS_dt, own, c.v_at.start))
    return Effect(dict.fromkeys(c.outports, memo.shift), rates=rates)


def uncovered(network: Network, on: Setting) -> str:
    """Why the closed forms do not hold for this network; empty if they do."""
    if on.gravity.field is not None:
        return "gravity is a field"
    for c in network.components:
        if not any(kind in sensitivity.rows for kind in c.kind.__mro__):
            return f"'{c.name}' of kind {c.kind.__name__} has no row"
        if issubclass(c.kind, ForceElement) and c["expressed_in"] != "local":
            return f"the wrench of '{c.name}' is not carried along"
    return ""


Visit = Callable[[int, Rate, Outboard], Array]
"""What a rate, with everything outboard as one body, sends inward: forces (6, any)."""
Meet = Callable[[int, Rate, int, Array], None]
"""What a rate j reads off the forces of rate k, at its joint."""


def sweep_sensitivity(
    network: Network, on: Setting, q: Array, v: Array, a: Array, visit: Visit, same: Meet, inboard: Meet
) -> None:
    """Kinematics outward; composite bodies and the forces of the rates inward.

    ``same(j, rate j, k, forces of k)`` for rates of one joint, ``inboard(...)`` for rates j of joints inboard of k."""
    effects: dict[str, Effect] = {}

    def begin(c: Component, motion: Motion, memo: Any) -> None:
        effects[c.name] = sensitivity.of(c)(c, on, motion, memo, v[c.v_at], a[c.v_at])

    sweep_motion(network, on, q, v, a, world_motion(on.gravity.acceleration), begin)

    def step(c: Component, messages: Mapping[str, Outboard]) -> Outboard:
        effect = effects[c.name]
        if not effect.rates:
            total = effect.body
            for name, message in messages.items():
                total = total + message.moved(effect.shifts[name])
            return total
        (total,) = messages.values()
        first = c.v_at.start
        own = {first + k: visit(first + k, rate, total) for k, rate in enumerate(effect.rates)}
        for j, rate in enumerate(effect.rates):
            for k, forces in own.items():
                same(first + j, rate, k, forces)
            for k, forces in total.columns.items():
                inboard(first + j, rate, k, forces)
        return replace(total, columns={**total.columns, **own}).moved(next(iter(effect.shifts.values())))

    inward(network, Outboard(), step, {})


def rnea_derivatives(network: Network, on: Setting, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """d tau / dq on the manifold, d tau / dv, d tau / da = M, each (nv, nv), by (3.51)-(3.53)."""
    n, kind = network.model.nv, np.result_type(*(np.asarray(x) for x in (q, v, a)), np.float64)
    dq, dv, M = (np.full((n, n), 0.0, dtype=kind) for _ in range(3))
    met: dict[int, tuple[Array, Array, Rate]] = {}

    def visit(k: int, rate: Rate, body: Outboard) -> Array:
        B, S = body.spun(1.0), rate.S
        carried = (body.M @ rate.Q) + (B @ rate.P)
        met[k] = carried, body.f, rate
        with_v = (body.M @ (rate.P + rate.dS_dt)) + (B @ S)
        return np.stack([body.M @ S, carried + cross_force(S, body.f), with_v, B.transposed(S)], axis=1)

    def same(j: int, other: Rate, k: int, forces: Array) -> None:
        carried, f, rate = met[k]
        dq[j, k], dv[j, k] = other.S @ carried, other.S @ forces[:, 2]
        if rate.own is not None:
            dq[j, k] = dq[j, k] + rate.own[:, j - rate.first] @ f
        if j <= k:
            M[j, k] = M[k, j] = other.S @ forces[:, 0]

    def inboard(j: int, other: Rate, k: int, forces: Array) -> None:
        F, with_q, with_v, G = (forces[:, i] for i in range(4))
        dq[j, k], dv[j, k], M[j, k] = other.S @ with_q, other.S @ with_v, other.S @ F
        M[k, j] = M[j, k]
        dq[k, j] = F @ other.Q + G @ other.P
        dv[k, j] = F @ (other.P + other.dS_dt) + G @ other.S

    sweep_sensitivity(network, on, q, v, a, visit, same, inboard)
    return dq, dv, M


def coriolis_matrix(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """C(q, v) (nv, nv) with C v the Coriolis and centrifugal forces and dM/dt = C + C^T.

    C = sum over bodies of J^T (M dJ/dt + (B/2 + momentum of gyrostats) J) [Echeandia, Wensing 2021]."""
    n = network.model.nv
    C = np.full((n, n), 0.0, dtype=np.result_type(np.asarray(q), np.asarray(v), np.float64))

    def visit(k: int, rate: Rate, body: Outboard) -> Array:
        B = body.spun(0.5)
        force = (body.M @ rate.dS_dt) + (B @ rate.S)
        return np.stack([body.M @ rate.S, force, B.transposed(rate.S)], axis=1)

    def same(j: int, other: Rate, k: int, forces: Array) -> None:
        C[j, k] = other.S @ forces[:, 1]

    def inboard(j: int, other: Rate, k: int, forces: Array) -> None:
        F, force, G = (forces[:, i] for i in range(3))
        C[j, k] = other.S @ force
        C[k, j] = F @ other.dS_dt + G @ other.S

    sweep_sensitivity(network, on, q, v, np.zeros(n), visit, same, inboard)
    return C
