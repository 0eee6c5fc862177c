"""Derivatives of the dynamics in closed form, along the tree (H04 3.2.2.2, (3.49)-(3.57)).

A displacement along the twist S_k of a rate k carries everything outboard along. In the carried frame, the velocity of
every body outboard changes by the same vector P_k, its acceleration by Q_k - V_i~ P_k:

    P_k = V_1~ S_k + S'_k v,    Q_k = A_1~ S_k + (V_1~ S_k)~ S v + V_1~ S'_k v + S'_k a + c'_k + V_2~ P_k

(1, 2: in front of and behind the joint; A: the derivative that transforms like a velocity; ': derivative of the
joint's own S and c, zero for most kinds). With M of the composite body, f the force through the joint and B = 2 M-check
of (3.57), the force through the joint changes by S_k~* f + M Q_k + B P_k with q_k, by M (P_k + dS_k/dt) + B S_k with
v_k, by M S_k with a_k. Joints inboard see these forces; joints outboard are carried along and see the changes of their
own composite bodies. H04 has this in absolute representation; every term is a spatial vector, so all three serve.

Protocol <SENS,6D>: inward, an :class:`Outboard`, the composite body about the port and the forces of the rates
outboard, in the representation of the setting. Protocol <SENS,1D>: entries (j, k) of the derivatives. They are summed
in :mod:`inverse_dynamics_derivatives`, and for the Coriolis matrix in :mod:`coriolis_matrix`.

A row is ``row(c, on, motion, memo, v, a) -> Effect``: what the component adds to the composite body, and its rates."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.recursions.crba import NO_INERTIA, scaled, summed
from gyrostat.algorithms.recursions.inertia_rate import NO_RATE, InertiaRate
from gyrostat.algorithms.recursions.kinematics import JointMemo, Own, Spin, sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import own_force, own_inertia, spin_momentum, wrench_at
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.sweep import inward
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross, cross_motion, join, skew
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia


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
        columns = summed(self.columns, other.columns)
        return Outboard(self.M + other.M, self.B + other.B, self.f + other.f, self.l + other.l, columns)

    def __sub__(self, load: Array) -> Outboard:
        """With an external force (6,) that is carried along."""
        return replace(self, f=self.f - load)

    def moved(self, shift: Shift) -> Outboard:
        columns = {k: shift.force(F) for k, F in self.columns.items()}
        return Outboard(shift.inertia(self.M), shift.inertia(self.B), shift.force(self.f), shift.force(self.l), columns)

    def spun(self, share: float) -> InertiaRate:
        """``share`` B, and the whole of x~* l: the momentum of gyrostats is linear in the velocity, not quadratic."""
        return InertiaRate(self.B.E * share - skew(self.l[:3]), self.B.b * share)


@dataclass(frozen=True)
class TiedRate:
    """A rate by the rates of the model: its number, the ``ties`` G, and dG/dt where it follows by a curve."""

    number: int
    ties: Ties
    tie_rates: Ties = ()

    @staticmethod
    def of(c: Component, k: int) -> TiedRate:
        """Rate k of a component."""
        return TiedRate(c.v_at.start + k, c.ties[k], c.tie_rates[k] if c.tie_rates else ())


@dataclass(frozen=True)
class JointRate:
    """One rate of a joint: S, P and Q of the module's text, dS/dt, and how the joint's other columns change along
    it."""

    S: Array
    P: Array
    Q: Array
    dS_dt: Array
    own: Array | None
    place: int  # among the rates of its joint
    tied: TiedRate


@dataclass(frozen=True)
class Effect:
    """What a component adds to the composite body, its rates, and phi to its outports."""

    shifts: Mapping[str, Shift]
    body: Outboard = field(default_factory=Outboard)
    rates: list[JointRate] = field(default_factory=list)
    spin: Spinning | None = None


@dataclass(frozen=True)
class Spinning:
    """A rotor: its momentum h (6,) at unit rate, V~* h, its inertia, the torque that it needs; turning it moves
    nothing."""

    h: Array
    turned: Array
    inertia: Any
    torque: Any
    tied: TiedRate


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


@sensitivity.row(RotorInertia)
def spinning(c: Component, on: Setting, motion: Motion, memo: Spin, v: Array, a: Array) -> Effect:
    """f = h a_r + V~* h v_r, u = h . A + I a_r: the momentum h v_r is that of a gyrostat."""
    h = spin_momentum(c, on, motion)
    turned = join(cross(motion.V[:3], h[:3]), np.zeros(3))
    body = Outboard(f=h * memo.a + turned * memo.v, l=h * memo.v)
    torque = h @ motion.A + c["inertia"] * memo.a if c.tie_rates else 0.0  # it counts where ties change
    return Effect({}, body, spin=Spinning(h, turned, c["inertia"], torque, TiedRate.of(c, 0)))


@sensitivity.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: JointMemo, v: Array, a: Array) -> Effect:
    rep, S, joint, n = on.representation, memo.S, memo.joint, len(v)
    pose, Sv = motion.pose.then(joint.R, joint.p), S @ v
    at = lambda x: rep.motion(pose, x)  # noqa: E731
    V_1, A_1 = memo.shift.motion(motion.V), memo.shift.motion(rep.circle(motion.V, motion.A))
    V_2 = V_1 + Sv
    rates: list[JointRate] = []
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
        rates.append(JointRate(s, P, Q + cross_motion(V_2, P), dS_dt, own, k, TiedRate.of(c, k)))
    return Effect(dict.fromkeys(c.outports, memo.shift), rates=rates)


def uncovered(network: Network, on: Setting) -> str:
    """Why the closed forms do not hold for this network; empty if they do."""
    if on.gravity.field is not None:
        return "gravity is a field"
    if network.pairs:
        return f"'{network.pairs[0].name}' acts between two frames"
    for c in network.components:
        if not sensitivity.serves(c):
            return f"'{c.name}' of kind {c.kind.__name__} has no row"
        if issubclass(c.kind, ForceElement) and c["expressed_in"] != "local":
            return f"the wrench of '{c.name}' is not carried along"
    return ""


class Sums:
    """A matrix (n, n) over the rates of the model, summed over the rates that follow them."""

    def __init__(self, n: int, kind: Any):
        self.X = np.full((n, n), 0.0, dtype=kind)

    def put(self, rows: Ties, columns: Ties, x: Any) -> None:
        for j, a in rows:
            for k, b in columns:
                old, new = self.X[j, k], scaled(scaled(x, a), b)
                self.X[j, k] = new if isinstance(old, float) and old == 0.0 else old + new


Visit = Callable[[JointRate, Outboard], Array]
"""What a rate, with everything outboard as one body, sends inward: forces (6, any)."""
Spun = Callable[[Spinning], Array]
"""The same for a rotor."""
Same = Callable[[JointRate, JointRate, Array, Outboard], None]
"""What a rate reads off the forces of another, or itself, at their joint."""
Meet = Callable[[JointRate, Ties, Array], None]
"""What a rate reads off the forces of rates outboard."""
Send = Callable[[TiedRate, Array], dict[int, Array]]
"""The forces of a rate, by the numbers of the model's rates that it is tied to."""


def sent(tied: TiedRate, forces: Array) -> dict[int, Array]:
    """Forces (6, any) by the ties alone."""
    return {k: scaled(forces, x) for k, x in tied.ties}


NO_FORCES: Mapping[int, Array] = {}


def sweep_sensitivity(
    network: Network,
    on: Setting,
    state: tuple[Array, Array, Array],
    visit: Visit,
    spun: Spun,
    same: Same,
    inboard: Meet,
    send: Send,
    spinning: float = 1.0,
    carried: Mapping[int, Array] = NO_FORCES,
) -> None:
    """Kinematics outward; composite bodies and the forces of the rates inward. ``spinning``: which share of the
    momentum of rotors counts as that of gyrostats; ``carried``: external forces at ports that turn with their body.

    ``same(rate j, rate k, forces of k, ...)`` for rates of one joint, ``inboard(rate j, k, forces)`` for rates j of
    joints inboard of k; ``send`` gives the forces of a rate to those that it follows."""
    effects: dict[str, Effect] = {}
    q, v, a = state
    network = network.at(q, v)
    v_all, a_all = network.transmission.rates(v), network.transmission.accelerations(a)

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        effects[c.name] = sensitivity.of(c)(c, on, motion, memo, v_all[c.v_at], a_all[c.v_at])

    sweep_motion(network, on, q, v, a, world_motion(on.gravity.acceleration), begin)

    def step(c: Component, messages: Mapping[str, Outboard]) -> Outboard:
        effect = effects[c.name]
        if effect.spin is not None:
            columns = send(effect.spin.tied, spun(effect.spin))
            return replace(effect.body, l=effect.body.l * spinning, columns=columns)
        if not effect.rates:
            total = effect.body
            for name, message in messages.items():
                total = total + message.moved(effect.shifts[name])
            return total
        (total,) = messages.values()
        own = [visit(rate, total) for rate in effect.rates]
        columns: dict[int, Array] = dict(total.columns)
        for rate, forces in zip(effect.rates, own, strict=True):
            for k, met in total.columns.items():
                inboard(rate, ((k, 1.0),), met)
            for other in effect.rates:
                same(other, rate, forces, total)
            columns = summed(columns, send(rate.tied, forces))
        return replace(total, columns=columns).moved(next(iter(effect.shifts.values())))

    inward(network, Outboard(), step, carried)
