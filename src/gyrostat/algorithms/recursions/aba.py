"""Articulated-body forward dynamics [H04 3.1.3, Table 3.11]: P and z inward, e and the accelerations outward; O(n).

The acceleration is split, A = A_0 + e: A_0 with all joint accelerations zero (a + Vg in the table), e what they add.
Because e goes through a port like a velocity, the rows are the same in all representations.

Protocol <ABA,6D>: inward, an :class:`ArticulatedMessage` with f = P e + z (z is c in the table); outward, e (6,
columns). Protocol <ABA,1D>: generalised forces tau in, accelerations (rates, columns) out.

A row is ``row(c, on, motion, memo) -> inward``; ``inward(messages by outport, eliminate) -> (message at its inport,
outward)``; ``outward.step(e at its inport) -> (e by outport, its accelerations)``. ``eliminate`` is the function below,
or what stands for it where rates are tied to each other: :mod:`~gyrostat.algorithms.shafts.aba_tied_elimination`. Both
together: :mod:`~gyrostat.algorithms.recursions.articulated_dynamics`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm, Setting
from gyrostat.algorithms.recursions.articulated_message import NOTHING as NOTHING
from gyrostat.algorithms.recursions.articulated_message import AbaRow, Eliminate, Inward, Messages, Outward, RowOf
from gyrostat.algorithms.recursions.articulated_message import ArticulatedMessage as ArticulatedMessage
from gyrostat.algorithms.recursions.kinematics import Own, sweep_motion, world_motion
from gyrostat.algorithms.recursions.right_hand_sides import in_columns
from gyrostat.algorithms.recursions.rne import own_force, own_inertia, wrench_at
from gyrostat.graph.network import Component, Network
from gyrostat.graph.reference_frames import DrivenBase, FixedBase, FreeBase
from gyrostat.graph.sweep import inward, outward
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.representation import Motion, Shift
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.force_element import ForceElement
from gyrostat.spec.joint import Joint
from gyrostat.spec.rigid_body import RigidBody

aba: Algorithm[AbaRow] = Algorithm("articulated-body algorithm")


def rigidly(shifts: Mapping[str, Shift], own: ArticulatedMessage, rates: int = 0) -> Inward:
    """P_1 = P + sum of phi^T P_k phi, z_1 = z + sum of phi^T z_k; e_k = phi_k e."""

    def inward(messages: Messages, eliminate: Eliminate) -> tuple[ArticulatedMessage, Outward]:
        total = own
        for name, message in messages.items():
            total = total + message.moved(shifts[name])
        return total, Outward(step, shifts)

    def step(e: Array) -> tuple[Mapping[str, Array], Array]:
        return {name: shift.motion(e) for name, shift in shifts.items()}, np.zeros((rates, e.shape[1]))

    return inward


@aba.row(FixedBase, DrivenBase, Displacement)
def transmit(c: Component, on: Setting, motion: Motion, memo: Any) -> Inward:
    return rigidly(memo, NOTHING)


@aba.row(RigidBody)
def gyrostat(c: Component, on: Setting, motion: Motion, memo: Any) -> Inward:
    """P = M, z = M A_0 - V~^T (M V + l): the force that A_0 needs."""
    M = own_inertia(c, on, motion)
    return rigidly(memo, ArticulatedMessage(ArticulatedInertia.of(M), own_force(c, on, motion, M)))


@aba.row(ForceElement)
def given_wrench(c: Component, on: Setting, motion: Motion, memo: Any) -> Inward:
    return rigidly({}, ArticulatedMessage(NOTHING.P, -wrench_at(on, motion, c["wrench"], c["expressed_in"])))


@dataclass(frozen=True)
class EliminatedRate:
    """A rate along s (6,) that moves freely: U = P s, 1/d = 1/(s.U), u = tau - s.z (columns)."""

    s: Array
    U: Array
    inverse: Any
    u: Array

    def acceleration(self, e: Array) -> Array:
        """a = (u - U.e) / d, (columns)."""
        return (self.u - self.U @ e) * self.inverse


def eliminate(
    message: ArticulatedMessage, s: Array, tau: Array, reflected: Any = None
) -> tuple[ArticulatedMessage, EliminatedRate]:
    """In front of a rate with force tau (columns): P - U U^T/d and z + U u/d, (3.8)-(3.12) with one column of H;
    ``reflected``: inertia on its shaft, added to d."""
    z = in_columns(message.z, len(tau))
    u = tau - s @ z
    P, U, inverse = message.P.eliminated(s, reflected)
    return ArticulatedMessage(P, z + np.outer(U, u * inverse), message.tied), EliminatedRate(s, U, inverse, u)


@aba.row(Joint, FreeBase)
def across(c: Component, on: Setting, motion: Motion, memo: Any) -> Inward:
    """P_1 = psi^T P_2 psi, z_1 = phi^T (z_2 + G^T (tau - H^T z_2)); e_2 = phi e_1 + H a: one rate after the other, the
    last one first, so that D is a number each time."""
    ((port, _),) = c.outports.items()

    def inward(messages: Messages, eliminate: Eliminate) -> tuple[ArticulatedMessage, Outward]:
        message, rates = messages[port], []
        for k in reversed(range(memo.S.shape[1])):
            message, rate = eliminate(message, memo.S[:, k], c.v_at.start + k)
            rates.insert(0, rate)

        def step(e: Array) -> tuple[Mapping[str, Array], Array]:
            e, a = memo.shift.motion(e), np.zeros((0, e.shape[1]))
            for rate in rates:
                a_k = rate.acceleration(e)
                e, a = e + np.outer(rate.s, a_k), np.concatenate([a, a_k[None, :]])
            return {port: e}, a

        return message.moved(memo.shift), Outward(step, {port: memo.shift}, rates)

    return inward


# ------------------------------------------------------------------------------------------------ sweeps
def bias_accelerations(
    network: Network, on: Setting, q: Array, v: Array, row_of: RowOf
) -> tuple[dict[str, Inward], dict[int, Motion]]:
    """Sweep 1, outward: motions at the ports, with A_0, and what each component does inward."""
    rows: dict[str, Inward] = {}

    def begin(c: Component, motion: Motion, memo: Any, own: Own) -> None:
        rows[c.name] = row_of(c, on, motion, memo, own)

    rest, world = np.zeros(network.model.nv), world_motion(on.gravity.acceleration)
    return rows, sweep_motion(network, on, q, v, rest, world, begin)


def articulated_inertias(
    network: Network, rows: Mapping[str, Inward], eliminate: Eliminate, loads: Mapping[int, Array]
) -> dict[str, Outward]:
    """Sweep 2, inward: P and z at every port; the rates are eliminated."""
    steps: dict[str, Outward] = {}

    def back(c: Component, messages: Messages) -> ArticulatedMessage:
        message, steps[c.name] = rows[c.name](messages, eliminate)
        return message

    inward(network, NOTHING, back, loads)
    return steps


def joint_accelerations(
    network: Network, steps: Mapping[str, Outward], columns: int, order: Sequence[Component] | None = None
) -> Array:
    """Sweep 3, outward: e at every port, and the accelerations (all rates, columns); ``order`` as in
    :func:`~gyrostat.graph.sweep.outward`."""
    a: dict[str, Array] = {}

    def out(c: Component, e: Array) -> Mapping[str, Array]:
        e_out, a[c.name] = steps[c.name].step(e)
        return e_out

    outward(network, np.zeros((6, columns)), out, order)
    return network.in_order(a)
