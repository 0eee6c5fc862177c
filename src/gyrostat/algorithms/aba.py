"""Articulated-body forward dynamics (H04 3.1.3, Tables 3.9-3.11), and what its operators give. Cost O(n).

The motion is split: A = A_0 + e, where A_0 is the acceleration with all joint accelerations zero (sweep 1, kinematics)
and e what they add. Sweep 2, inward, finds P and z with f = P e + z at every port. Sweep 3, outward, finds e and the
joint accelerations. Because e goes through a port like a velocity, the rows are the same in all representations.

Several right-hand sides go together, as columns: column 0 belongs to the motion, with gravity and external forces;
the others are plain columns of generalised forces, for which M a = tau. So a unit matrix gives M^-1 without inverting
[H04 (3.6)].

A row is ``row(c, on, motion, memo) -> part``; ``part.inward(messages at its outports, tau) -> message at its inport``,
and later ``part.outward(e at its inport) -> (e at its outports, accelerations)``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import ELSE, Algorithm, Setting
from gyrostat.algorithms.kinematics import JointMemo, sweep_motion, world_motion
from gyrostat.algorithms.rne import Loads, no_loads, own_force, own_inertia, wrench_at
from gyrostat.graph.bases import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.network import Component, Network
from gyrostat.graph.sweep import inward, outward
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody


@dataclass(frozen=True)
class Felt:
    """f = P e + z, z (6,) for column 0 alone or (6, columns)."""

    P: ArticulatedInertia
    z: Array

    def __add__(self, other: Felt) -> Felt:
        return Felt(self.P + other.P, _together(self.z, other.z))

    def __sub__(self, load: Array) -> Felt:
        """With an external force (6,)."""
        return Felt(self.P, _together(self.z, -load))

    def moved(self, shift: Shift) -> Felt:
        return Felt(shift.inertia(self.P), shift.force(self.z))


def _together(x: Array, y: Array) -> Array:
    """Sum of forces; a single one counts for column 0."""
    if x.ndim == y.ndim:
        return x + y
    full, one = (x, y) if x.ndim == 2 else (y, x)
    return np.concatenate([(full[:, 0] + one)[:, None], full[:, 1:]], axis=1)


NOTHING = Felt(ArticulatedInertia.zero(), np.zeros(6))


@dataclass
class Part:
    """What a component does in the sweeps 2 and 3. ``joint`` is there where rates are let go."""

    inward: Callable[[Mapping[str, Felt], Array], Felt]
    outward: Callable[[Array], tuple[Mapping[str, Array], Array]]
    joint: Letting | None = None
    shifts: Mapping[str, Shift] = field(default_factory=dict)


AbaRow = Callable[[Component, Setting, Motion, Any], Part]
aba: Algorithm[AbaRow] = Algorithm("articulated-body algorithm", hint=ELSE)


def rigidly(shifts: Mapping[str, Shift], own: Felt) -> Part:
    """A component without joints: everything that is felt at its outports is felt at its inport."""

    def inward(messages: Mapping[str, Felt], tau: Array) -> Felt:
        total = own
        for name, felt in messages.items():
            total = total + felt.moved(shifts[name])
        return total

    def outward(e: Array) -> tuple[Mapping[str, Array], Array]:
        return {name: shift.motion(e) for name, shift in shifts.items()}, np.zeros((0, e.shape[1]))

    return Part(inward, outward, shifts=shifts)


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
    """One rate of a joint, after it was let go: U = P s, 1/d = 1/(s.U), u = tau - s.z (columns)."""

    s: Array
    U: Array
    inverse: Any
    u: Array


@dataclass
class Letting:
    """A joint lets its rates go one after the other, the last one first: (3.8)-(3.11), the block D eliminated."""

    memo: JointMemo
    outports: tuple[str, ...]
    freed: list[Freed] = field(default_factory=list)

    def inward(self, messages: Mapping[str, Felt], tau: Array) -> Felt:
        (felt,) = messages.values()
        P, z = felt.P, _together(felt.z, np.zeros((6, tau.shape[1])))
        self.freed.clear()
        for k in reversed(range(len(tau))):
            s = self.memo.S[:, k]
            u = tau[k] - s @ z
            P, U, inverse = P.freed(s)
            self.freed.insert(0, Freed(s, U, inverse, u))
            z = z + np.outer(U, u * inverse)
        return Felt(P, z).moved(self.memo.shift)

    def outward(self, e: Array) -> tuple[Mapping[str, Array], Array]:
        e = self.memo.shift.motion(e)
        found = np.zeros((0, e.shape[1]))
        for rate in self.freed:
            a = (rate.u - rate.U @ e) * rate.inverse
            e = e + np.outer(rate.s, a)
            found = np.concatenate([found, a[None, :]])
        return dict.fromkeys(self.outports, e), found


@aba.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: Any) -> Part:
    letting = Letting(memo, tuple(c.outports))
    return Part(letting.inward, letting.outward, letting)


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
    parts: dict[str, Part] = {}

    def begin(c: Component, motion: Motion, memo: Any) -> None:
        parts[c.name] = aba.of(c)(c, on, motion, memo)

    rest, world = np.zeros(network.model.nv), world_motion(on.gravity.acceleration)
    motions = sweep_motion(network, on, q, v, rest, world, begin)
    inward(network, NOTHING, lambda c, felt: parts[c.name].inward(felt, tau[c.v_at]), loads(motions))
    found: dict[str, Array] = {}

    def step(c: Component, e: Array) -> Mapping[str, Array]:
        out, found[c.name] = parts[c.name].outward(e)
        return out

    outward(network, np.zeros((6, tau.shape[1])), step)
    return Articulated(network.in_order(found), parts, motions)


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
