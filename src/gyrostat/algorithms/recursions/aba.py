"""Articulated-body forward dynamics (H04 3.1.3, Tables 3.9-3.11), and what its operators give. Cost O(n).

The motion is split: A = A_0 + e, where A_0 is the acceleration with all joint accelerations zero (sweep 1, kinematics)
and e what they add. Sweep 2, inward, finds P and z with f = P e + z at every port. Sweep 3, outward, finds e and the
joint accelerations. Because e goes through a port like a velocity, the rows are the same in all representations.

Several right-hand sides go together, as columns: column 0 belongs to the motion, with gravity and external forces;
the others are plain columns of generalised forces, for which M a = tau. So a unit matrix gives M^-1 without inverting
[H04 (3.6)].

A row is ``row(c, on, motion, memo) -> part``; ``part.inward(messages at its outports, tau, sweep) -> message at its
inport``, and later ``part.outward(e at its inport, sweep) -> (e at its outports, accelerations)``. A component without
a row is :func:`read_off` its rows of kinematics and Newton-Euler."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.recursions.crba import Entries, scaled
from gyrostat.algorithms.recursions.frame_forces import with_pairs
from gyrostat.algorithms.recursions.kinematics import JointMemo, Own, Spin, sweep_motion, world_motion
from gyrostat.algorithms.recursions.rne import Loads, no_loads, own_force, own_inertia, spin_momentum, wrench_at
from gyrostat.algorithms.recursions.two_rows import Equations, equations
from gyrostat.algorithms.shafts.elements import element_inertia
from gyrostat.algorithms.shafts.tied_rates import NONE_HELD, Held, Home, Plan, loose_accelerations, plan, together
from gyrostat.graph.bases import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.network import Component, Network
from gyrostat.graph.sweep import inward, outward
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross, join
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia


@dataclass(frozen=True)
class Felt:
    """f = P e + z, z (6,) for column 0 alone or (6, columns); ``held`` are rates that were not let go yet."""

    P: ArticulatedInertia
    z: Array
    held: Held = NONE_HELD

    def __add__(self, other: Felt) -> Felt:
        return Felt(self.P + other.P, together(self.z, other.z), self.held + other.held)

    def __sub__(self, load: Array) -> Felt:
        """With an external force (6,)."""
        return Felt(self.P, together(self.z, -load), self.held)

    def moved(self, shift: Shift) -> Felt:
        return Felt(shift.inertia(self.P), shift.force(self.z), self.held.moved(shift))


NOTHING = Felt(ArticulatedInertia.zero(), np.zeros(6))


@dataclass
class Part:
    """What a component does in the sweeps 2 and 3; phi and S to its outports, and the rates that it let go."""

    inward: Callable[[Mapping[str, Felt], Array, Sweep], Felt]
    outward: Callable[[Array, Sweep], tuple[Mapping[str, Array], Array]]
    shifts: Mapping[str, Shift] = field(default_factory=dict)
    S: Mapping[str, Array] = field(default_factory=dict)
    freed: list[Freed | Ties] = field(default_factory=list)


AbaRow = Callable[[Component, Setting, Motion, Any], Part]
aba: Algorithm[AbaRow] = Algorithm("articulated-body algorithm")


def rigidly(shifts: Mapping[str, Shift], own: Felt) -> Part:
    """A component without joints: everything that is felt at its outports is felt at its inport."""

    def inward(messages: Mapping[str, Felt], tau: Array, sweep: Sweep) -> Felt:
        total = own
        for name, felt in messages.items():
            total = total + felt.moved(shifts[name])
        return total

    def outward(e: Array, sweep: Sweep) -> tuple[Mapping[str, Array], Array]:
        return {name: shift.motion(e) for name, shift in shifts.items()}, np.zeros((0, e.shape[1]))

    return Part(inward, outward, shifts, {name: np.zeros((6, 0)) for name in shifts})


def read_off(c: Component, own: Equations) -> Part:
    """A component that has no row here: its rates are held, and let go as soon as all that they move has been met."""

    def inward(messages: Mapping[str, Felt], tau: Array, sweep: Sweep) -> Felt:
        total = Felt(own.inertia, own.z)
        G, D, b = dict(enumerate(own.G.T)), own.D, dict(enumerate(own.b))
        coupled = Entries()
        for name, felt in messages.items():
            total, S = total + felt.moved(own.shifts[name]), own.S[name]
            U = [felt.P @ s for s in S.T]
            D = D + np.array([[s @ u for u in U] for s in S.T]).reshape(D.shape)
            for j, s in enumerate(S.T):
                G[j], b[j] = G[j] + own.shifts[name].force(U[j]), together(b[j], s @ felt.z)
                for k, G_k in felt.held.G.items():
                    coupled.pair(c.ties[j], ((k, 1.0),), s @ G_k)
        held = total.held + Held.of_rates(c.ties, G, D, b)
        return Felt(total.P, total.z, held.with_entries(coupled))

    def outward(e: Array, sweep: Sweep) -> tuple[Mapping[str, Array], Array]:
        a = np.array([_tied(ties, sweep.known) for ties in c.ties]).reshape(len(c.ties), e.shape[1])
        return {name: shift.motion(e) + own.S[name] @ a for name, shift in own.shifts.items()}, a

    return Part(inward, outward, own.shifts, own.S)


def part_of(c: Component, on: Setting, motion: Motion, memo: Any, own: Own) -> Part:
    """By the row of the component, or read off its other rows."""
    if aba.serves(c):
        return aba.of(c)(c, on, motion, memo)
    return read_off(c, equations(c, on, motion, own.q, own.v, own.a))


@aba.row(FixedBase, DrivenBase, Displacement)
def transmit(c: Component, on: Setting, motion: Motion, memo: Any) -> Part:
    return rigidly(memo, NOTHING)


@aba.row(RigidBody)
def gyrostat(c: Component, on: Setting, motion: Motion, memo: Any) -> Part:
    """P = M, z = the force that A_0 needs."""
    M = own_inertia(c, on, motion)
    return rigidly(memo, Felt(ArticulatedInertia.of(M), own_force(c, on, motion, M)))


@aba.row(ForceElement)
def given_wrench(c: Component, on: Setting, motion: Motion, memo: Any) -> Part:
    return rigidly({}, Felt(NOTHING.P, -wrench_at(on, motion, c["wrench"], c["expressed_in"])))


@dataclass
class Freed:
    """A rate after it was let go: U = P s, 1/d = 1/(s.U), u = tau - s.z (columns); ``row``: D_kl with rates that are
    held."""

    s: Array
    U: Array
    inverse: Any
    u: Array
    row: Mapping[int, Any] = field(default_factory=dict)

    def acceleration(self, e: Array, known: Mapping[int, Array]) -> Array:
        """a (columns), once e in front of it and the rates that are held further in are known."""
        left = self.u - self.U @ e
        for l, x in self.row.items():
            left = left - known[l] * x
        return left * self.inverse


@dataclass
class Sweep:
    """What the components of one run share: where rates are let go, inertia of elements on shafts, accelerations of
    rates that were held."""

    plan: Plan
    J: Mapping[tuple[int, int], Any]
    known: dict[int, Array] = field(default_factory=dict)
    closed: dict[Home, list[tuple[int, Freed]]] = field(default_factory=dict)

    def let_go(self, home: Home, felt: Felt, tau: Array) -> Felt:
        """At its home, every held rate is let go."""
        rates = self.plan.homes.get(home, ())
        if not rates:
            return felt
        columns = tau.shape[1]
        P, z = felt.P, together(felt.z, np.zeros((6, columns)))
        held, done = felt.held.with_inertia(self.J, rates), []
        for k in rates:
            G, d, b, row, held = held.without(k)
            inverse = 1.0 / d
            u = tau[k] - _columns(b, columns)
            P, z = P.less(G, inverse), z + np.outer(G, u * inverse)
            held = held.freed(row, G, inverse, u)
            done.append((k, Freed(np.zeros(6), G, inverse, u, row)))
        self.closed[home] = done
        return Felt(P, z, held)

    def find(self, home: Home, e: Array) -> None:
        """On the way out, their accelerations."""
        for k, freed in reversed(self.closed.get(home, ())):
            self.known[k] = freed.acceleration(e, self.known)


def _columns(b: Any, columns: int) -> Array:
    """Generalised forces; a single one counts for column 0."""
    return b if np.ndim(b) else np.array([b] + [0.0] * (columns - 1))


@dataclass
class Letting:
    """A joint lets its rates go one after the other, the last one first: (3.8)-(3.11), the block D eliminated."""

    memo: JointMemo
    outports: tuple[str, ...]
    ties: tuple[Ties, ...]
    freed: list[Freed | Ties] = field(default_factory=list)

    def inward(self, messages: Mapping[str, Felt], tau: Array, sweep: Sweep) -> Felt:
        (felt,) = messages.values()
        P, z, held = felt.P, together(felt.z, np.zeros((6, tau.shape[1]))), felt.held
        plain, J = sweep.plan.plain, sweep.J
        self.freed.clear()
        for k in reversed(range(self.memo.S.shape[1])):
            s, ties = self.memo.S[:, k], self.ties[k]
            if ties[0][0] not in plain:
                held = held.along(s, ties, P @ s, z)
                self.freed.insert(0, ties)
                continue
            rate = ties[0][0]
            u = tau[k] - s @ z
            P, U, inverse = P.freed(s, J.get((rate, rate)))
            row = {l: s @ G for l, G in held.G.items()}
            held = held.freed(row, U, inverse, u)
            self.freed.insert(0, Freed(s, U, inverse, u, row))
            z = z + np.outer(U, u * inverse)
        return Felt(P, z, held).moved(self.memo.shift)

    def outward(self, e: Array, sweep: Sweep) -> tuple[Mapping[str, Array], Array]:
        e = self.memo.shift.motion(e)
        found = np.zeros((0, e.shape[1]))
        for k, rate in enumerate(self.freed):
            a = rate.acceleration(e, sweep.known) if isinstance(rate, Freed) else _tied(rate, sweep.known)
            e = e + np.outer(self.memo.S[:, k], a)
            found = np.concatenate([found, a[None, :]])
        return dict.fromkeys(self.outports, e), found


def _tied(ties: Ties, known: Mapping[int, Array]) -> Array:
    (first, factor), *others = ties
    total = scaled(known[first], factor)
    for k, factor in others:
        total = total + scaled(known[k], factor)
    return total


@aba.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: Any) -> Part:
    letting = Letting(memo, tuple(c.outports), c.ties)
    shifts, S = {name: memo.shift for name in c.outports}, {name: memo.S for name in c.outports}
    return Part(letting.inward, letting.outward, shifts, S, letting.freed)


@aba.row(RotorInertia)
def spinning(c: Component, on: Setting, motion: Motion, memo: Spin) -> Part:
    """f = I z a_r + ..., u = I a_r + I z . A: the rate of a rotor is always held, until its carrier is known."""
    h = spin_momentum(c, on, motion)
    (ties,) = c.ties
    D = Entries()
    D.own(ties, c["inertia"])
    needed = h @ motion.A
    gyroscopic = join(cross(motion.V[:3], h[:3]) * memo.v, np.zeros(3))
    if c.tie_rates and c.tie_rates[0]:  # its own acceleration where those of the model are zero
        needed, gyroscopic = needed + c["inertia"] * memo.a, gyroscopic + h * memo.a
    G, b = {k: scaled(h, factor) for k, factor in ties}, {k: scaled(needed, factor) for k, factor in ties}
    return rigidly({}, Felt(NOTHING.P, gyroscopic, Held(G, D, b)))


@dataclass(frozen=True)
class Articulated:
    """Accelerations (nv, columns), what the components found, and the motions at the ports (with A_0)."""

    a: Array
    parts: Mapping[str, Part]
    motions: Mapping[int, Motion]


def sweep_articulated(
    network: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads = no_loads
) -> Articulated:
    """The three sweeps for generalised forces tau (nv, columns)."""
    network = network.at(q, v)
    parts: dict[str, Part] = {}

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        parts[c.name] = part_of(c, on, motion, memo, own)

    rest, world = np.zeros(network.model.nv), world_motion(on.gravity.acceleration)
    motions = sweep_motion(network, on, q, v, rest, world, begin)
    J, torques = element_inertia(network, q, v) if network.transmission.elements else ({}, {})
    if torques:
        given = [x - torques[k] if k in torques else x for k, x in enumerate(tau[:, 0])]
        tau = np.concatenate([np.array(given)[:, None], tau[:, 1:]], axis=1)
    sweep = Sweep(plan(network, aba.serves), J)
    sweep.known |= loose_accelerations(sweep.plan.loose, J, tau)

    def back(c: Component, felt: Mapping[str, Felt]) -> Felt:
        felt = {name: sweep.let_go(("port", c.outports[name]), message, tau) for name, message in felt.items()}
        return sweep.let_go(("component", c.name), parts[c.name].inward(felt, tau[c.v_at], sweep), tau)

    inward(network, NOTHING, back, with_pairs(network, on, motions, loads(motions)))
    found: dict[str, Array] = {}

    def step(c: Component, e: Array) -> Mapping[str, Array]:
        sweep.find(("component", c.name), e)
        out, found[c.name] = parts[c.name].outward(e, sweep)
        for name, port in c.outports.items():
            sweep.find(("port", port), out[name])
        return out

    outward(network, np.zeros((6, tau.shape[1])), step)
    found = {c.name: found[c.name] for c in network.components if c.outports}
    a = network.in_order({**{c.name: np.zeros((len(c.ties), tau.shape[1])) for c in network.components}, **found})
    if sweep.known:
        a = np.array([sweep.known.get(k, a[k]) for k in range(len(tau))])
    return Articulated(a, parts, motions)


def forward_dynamics(network: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads = no_loads) -> Array:
    """a (nv,) for tau (nv,)."""
    return sweep_articulated(network, on, q, v, tau[:, None], loads).a[:, 0] if len(tau) else np.zeros(0)


def inverse_mass_matrix(network: Network, on: Setting, q: Array) -> Array:
    """M^-1 (nv, nv) by (3.6): the responses to unit forces."""
    n = network.model.nv
    if n == 0:
        return np.zeros((0, 0))
    units = np.concatenate([np.zeros((n, 1)), np.eye(n)], axis=1)
    return sweep_articulated(network, on, q, np.zeros(n), units).a[:, 1:]
