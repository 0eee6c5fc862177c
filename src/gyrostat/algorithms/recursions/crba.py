"""Composite-body mass matrix (Walker and Orin's third method; H04 1.1): inward once, one column for each rate.

M = H^T Phi^T M Phi H (3.3), summed from the leaves: everything outboard of a port is one rigid body. Cost O(n d), d the
depth of the tree.

Protocol <CRB,6D>: inward, a :class:`CompositeBody` about the port, in the representation of the setting: the inertia of
everything outboard, and the forces that unit accelerations of the outboard rates need, F_k = M_composite S_k. Protocol
<CRB,1D>: entries of the mass matrix, which a joint reads off these forces: M_jk = S_j . F_k.

A row is ``row(c, on, motion, memo) -> action``; ``action(messages at its outports) -> (message at its inport, entries
{(j, k): M_jk})``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.recursions.kinematics import Own, sweep_motion
from gyrostat.algorithms.recursions.rne import own_inertia, spin_momentum
from gyrostat.algorithms.shafts.elements import element_inertia
from gyrostat.algorithms.user_components.component_equations import Equations, equations
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.sweep import inward
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia

NO_INERTIA = SpatialInertia(0.0, np.zeros(3), np.zeros((3, 3)))


def summed(one: Mapping[int, Any], two: Mapping[int, Any]) -> dict[int, Any]:
    """Entries of both, added where both have one."""
    return {**one, **{k: one[k] + x if k in one else x for k, x in two.items()}}


def scaled(x: Any, factor: Any) -> Any:
    return x if isinstance(factor, float) and factor == 1.0 else x * factor


@dataclass(frozen=True)
class CompositeBody:
    """Inertia of what lies outboard, and the forces of its rates' unit accelerations, by the number of the rate."""

    M: SpatialInertia | ArticulatedInertia = NO_INERTIA
    F: Mapping[int, Array] = field(default_factory=dict)

    def __add__(self, other: CompositeBody) -> CompositeBody:
        return CompositeBody(self.M + other.M, summed(self.F, other.F))

    def moved(self, shift: Shift) -> CompositeBody:
        return CompositeBody(shift.inertia(self.M), {k: shift.force(F) for k, F in self.F.items()})


class Entries(dict[tuple[int, int], Any]):
    """Entries of a symmetric matrix over the rates of the model, by (j, k), j <= k; sums over tied rates."""

    def put(self, j: int, k: int, x: Any) -> None:
        key = (min(j, k), max(j, k))
        self[key] = self[key] + x if key in self else x

    def pair(self, one: Ties, two: Ties, x: Any) -> None:
        """x of two different rates: it is there twice, above and below the diagonal."""
        for j, a in one:
            for k, b in two:
                y = scaled(scaled(x, a), b)
                self.put(j, k, y + y if j == k else y)

    def own(self, ties: Ties, x: Any) -> None:
        """x of a rate with itself."""
        for n, (j, a) in enumerate(ties):
            for k, b in ties[n:]:
                self.put(j, k, scaled(scaled(x, a), b))

    def include(self, others: Entries) -> None:
        for (j, k), x in others.items():
            self.put(j, k, x)


CrbaAction = Callable[[Mapping[str, CompositeBody]], tuple[CompositeBody, Entries]]
CrbaRow = Callable[[Component, Setting, Motion, Any], CrbaAction]
crba: Algorithm[CrbaRow] = Algorithm("composite-body algorithm")


def rigidly(shifts: Mapping[str, Shift], own: CompositeBody) -> CrbaAction:
    def action(messages: Mapping[str, CompositeBody]) -> tuple[CompositeBody, Entries]:
        total = own
        for name, composite in messages.items():
            total = total + composite.moved(shifts[name])
        return total, Entries()

    return action


@crba.row(FixedBase, DrivenBase, Displacement)
def transmit(c: Component, on: Setting, motion: Motion, memo: Any) -> CrbaAction:
    return rigidly(memo, CompositeBody())


@crba.row(ForceElement)
def massless(c: Component, on: Setting, motion: Motion, memo: Any) -> CrbaAction:
    return rigidly({}, CompositeBody())


@crba.row(RigidBody)
def gyrostat(c: Component, on: Setting, motion: Motion, memo: Any) -> CrbaAction:
    return rigidly(memo, CompositeBody(own_inertia(c, on, motion)))


@crba.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: Any) -> CrbaAction:
    def action(messages: Mapping[str, CompositeBody]) -> tuple[CompositeBody, Entries]:
        (outboard,) = messages.values()
        S, entries = memo.S, Entries()
        own = [outboard.M @ S[:, j] for j in range(S.shape[1])]
        F = dict(outboard.F)
        for j, ties in enumerate(c.ties):
            for k, F_k in outboard.F.items():
                entries.pair(ties, ((k, 1.0),), S[:, j] @ F_k)
            for k in range(j + 1, len(own)):
                entries.pair(ties, c.ties[k], S[:, j] @ own[k])
            entries.own(ties, S[:, j] @ own[j])
            F = summed(F, {k: scaled(own[j], factor) for k, factor in ties})
        return CompositeBody(outboard.M, F).moved(memo.shift), entries

    return action


@crba.row(RotorInertia)
def spinning(c: Component, on: Setting, motion: Motion, memo: Any) -> CrbaAction:
    """Momentum I z at unit rate, and I for the rate itself."""

    def action(messages: Mapping[str, CompositeBody]) -> tuple[CompositeBody, Entries]:
        entries, h = Entries(), spin_momentum(c, on, motion)
        entries.own(c.ties[0], c["inertia"])
        return CompositeBody(NO_INERTIA, {k: scaled(h, factor) for k, factor in c.ties[0]}), entries

    return action


def read_off(c: Component, own: Equations) -> CrbaAction:
    """A component that has no row here: it brings its own inertia, and its rates move what lies behind it."""

    def action(messages: Mapping[str, CompositeBody]) -> tuple[CompositeBody, Entries]:
        total, entries = CompositeBody(NO_INERTIA if own.massless else own.inertia), Entries()
        F, D = dict(enumerate(own.G.T)), own.D
        for name, outboard in messages.items():
            total, S = total + outboard.moved(own.shifts[name]), own.S[name]
            U = [outboard.M @ s for s in S.T]
            D = D + np.array([[s @ u for u in U] for s in S.T]).reshape(D.shape)
            for j, s in enumerate(S.T):
                F[j] = F[j] + own.shifts[name].force(U[j])
                for k, F_k in outboard.F.items():
                    entries.pair(c.ties[j], ((k, 1.0),), s @ F_k)
        for j, ties in enumerate(c.ties):
            entries.own(ties, D[j, j])
            for k in range(j):
                entries.pair(ties, c.ties[k], D[j, k])
            total = total + CompositeBody(NO_INERTIA, {k: scaled(F[j], factor) for k, factor in ties})
        return total, entries

    return action


def composite_mass_matrix(network: Network, on: Setting, q: Array) -> Array:
    """M(q), (nv, nv)."""
    n = network.model.nv
    entries, _ = sweep_composite(network, on, q)
    for (j, k), x in element_inertia(network, q, np.zeros(n))[0].items() if network.transmission.elements else ():
        if j <= k:
            entries.put(j, k, x)
    M = np.full((n, n), 0.0, dtype=np.result_type(np.asarray(q), np.float64))
    for (j, k), x in entries.items():
        M[j, k] = M[k, j] = x
    return M


def total_inertia(network: Network, on: Setting, q: Array) -> tuple[SpatialInertia, Mapping[int, Array]]:
    """Inertia of the robot as one body, and momenta (6,) of unit rates, about the reference frame."""
    _, composite = sweep_composite(network, on, q)
    M = composite.M
    return M if isinstance(M, SpatialInertia) else SpatialInertia.from_matrix(M.matrix()), composite.F


def sweep_composite(network: Network, on: Setting, q: Array) -> tuple[Entries, CompositeBody]:
    """Entries of the mass matrix, and what arrives at the world."""
    n = network.model.nv
    network = network.at(q)
    actions: dict[str, CrbaAction] = {}

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        if crba.serves(c):
            actions[c.name] = crba.of(c)(c, on, motion, memo)
        else:
            actions[c.name] = read_off(c, equations(c, on, motion, own.q, own.v))

    rest = np.zeros(n)
    sweep_motion(network, on, q, rest, rest, begin=begin)
    entries = Entries()

    def step(c: Component, messages: Mapping[str, CompositeBody]) -> CompositeBody:
        message, own = actions[c.name](messages)
        entries.include(own)
        return message

    arrived: list[CompositeBody] = []

    def last(c: Component, messages: Mapping[str, CompositeBody]) -> CompositeBody:
        message = step(c, messages)
        if c.inport is None:
            arrived.append(message)
        return message

    inward(network, CompositeBody(), last, {})
    return entries, sum(arrived, CompositeBody())
