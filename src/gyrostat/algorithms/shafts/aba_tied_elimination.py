"""The articulated-body algorithm with tied rates: rotors, couplings, elements on shafts.

A joint cannot eliminate a rate that also moves a rotor, or another joint: the rate stays in the message
(:class:`~gyrostat.algorithms.shafts.aba_tied_rates.TiedRates`) until everything that it moves has been met. There, at a
port or behind a component, it is eliminated like any other, from f = P e + z + G a, u = G . e + D a + b:

    P - G G^T / D,    z + G (tau - b) / D,    and on the way out a = (tau - b - G . e - D_kl a_l) / D.

Elements on shafts that no frame carries add their inertia to D, and their torques to tau."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.aba import EliminatedRate, aba, eliminate, rigidly
from gyrostat.algorithms.recursions.articulated_message import (
    NOTHING,
    ArticulatedMessage,
    Eliminate,
    Inward,
    Messages,
    Outward,
)
from gyrostat.algorithms.recursions.crba import scaled
from gyrostat.algorithms.recursions.kinematics import Spin
from gyrostat.algorithms.recursions.right_hand_sides import in_columns, together
from gyrostat.algorithms.recursions.rne import spin_momentum
from gyrostat.algorithms.shafts.aba_tied_rates import EliminationPlan, Meeting, TiedRates, frameless_accelerations
from gyrostat.algorithms.shafts.elements import element_inertia
from gyrostat.graph.network import Component, Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross, join
from gyrostat.spatial.representation import Motion
from gyrostat.spec.rotor import RotorInertia


@aba.row(RotorInertia)
def spinning(c: Component, on: Setting, motion: Motion, memo: Spin) -> Inward:
    """f = I z a_r + (w x I z v_r, 0), u = I a_r + I z . A [H04 (2.7), (3.34)]: its rate is always tied, until its
    carrier is known. Behind a curve a_r has a bias."""
    h = spin_momentum(c, on, motion)
    z, b = join(cross(motion.V[:3], h[:3]) * memo.v, np.zeros(3)), h @ motion.A
    if any(c.tie_rates):
        z, b = z + h * memo.a, b + c["inertia"] * memo.a
    tied = TiedRates.of_rates(c.ties, {0: h}, np.array([[c["inertia"]]]), {0: b})
    return rigidly({}, ArticulatedMessage(NOTHING.P, z, tied), rates=1)


@dataclass(frozen=True)
class TiedRate:
    """A rate of a joint along s (6,) that was eliminated further in: a sum over rates that are known by then."""

    s: Array
    ties: Ties
    known: Mapping[int, Array]

    def acceleration(self, e: Array) -> Array:
        return tied_acceleration(self.ties, self.known)


@dataclass(frozen=True)
class CoupledRate(EliminatedRate):
    """A rate that was eliminated while others were tied: ``row`` D_kl with those."""

    row: Mapping[int, Any]
    known: Mapping[int, Array]

    def acceleration(self, e: Array) -> Array:
        """a = (u - U.e - sum of D_kl a_l) / d, (columns)."""
        left = self.u - self.U @ e
        for l, x in self.row.items():
            left = left - self.known[l] * x
        return left * self.inverse


def tied_acceleration(ties: Ties, known: Mapping[int, Array]) -> Array:
    """Acceleration (columns) of a rate by those of the model."""
    (first, factor), *others = ties
    total = scaled(known[first], factor)
    for k, factor in others:
        total = total + scaled(known[k], factor)
    return total


@dataclass
class TiedElimination:
    """Of one run: where which rates are eliminated, inertia of elements on shafts, generalised forces (nv, columns);
    accelerations of tied rates, as soon as they are known."""

    network: Network
    plan: EliminationPlan
    J: Mapping[tuple[int, int], Any]
    tau: Array
    known: dict[int, Array]
    eliminated: dict[Meeting, list[tuple[int, CoupledRate]]] = field(default_factory=dict)

    @staticmethod
    def of(
        network: Network, plan: EliminationPlan, q: Array, v: Array, tau: Array, known: dict[int, Array]
    ) -> TiedElimination:
        """Elements on shafts take their torques from column 0 of tau."""
        J, torques = element_inertia(network, q, v) if network.transmission.elements else ({}, {})
        if torques:
            left = [x - torques[k] if k in torques else x for k, x in enumerate(tau[:, 0])]
            tau = np.concatenate([np.array(left)[:, None], tau[:, 1:]], axis=1)
        known |= frameless_accelerations(plan.frameless, J, tau)
        return TiedElimination(network, plan, J, tau, known)

    # -------------------------------------------------------------------------------------------- in a joint
    def __call__(self, message: ArticulatedMessage, s: Array, rate: int) -> tuple[ArticulatedMessage, Any]:
        """What stands for :func:`~gyrostat.algorithms.recursions.aba.eliminate` in the row of a joint."""
        if rate not in self.plan.plain:
            return self.keep(message, s, self.network.transmission.ties(rate))
        inner, free = eliminate(message, s, self.tau[rate], self.J.get((rate, rate)))
        row = {l: s @ G for l, G in message.tied.G.items()}
        tied = message.tied.eliminated(row, free.U, free.inverse, free.u)
        return ArticulatedMessage(inner.P, inner.z, tied), self.coupled(free, row)

    def keep(self, message: ArticulatedMessage, s: Array, ties: Ties) -> tuple[ArticulatedMessage, TiedRate]:
        """A rate that stays in the message."""
        z = in_columns(message.z, self.tau.shape[1])
        tied = message.tied.along(s, ties, message.P @ s, z)
        return ArticulatedMessage(message.P, z, tied), TiedRate(s, ties, self.known)

    def coupled(self, free: EliminatedRate, row: Mapping[int, Any]) -> CoupledRate:
        return CoupledRate(free.s, free.U, free.inverse, free.u, row, self.known)

    # -------------------------------------------------------------------------------------------- at a meeting
    def around(self, c: Component, inward: Inward) -> Inward:
        """A component with the rates that are eliminated at its outports and behind it."""
        ports: dict[str, Meeting] = {name: ("port", port) for name, port in c.outports.items()}
        own: Meeting = ("component", c.name)

        def tied_inward(messages: Messages, eliminate: Eliminate) -> tuple[ArticulatedMessage, Outward]:
            messages = {name: self.eliminate_at(ports[name], message) for name, message in messages.items()}
            message, outward = inward(messages, eliminate)
            message = self.eliminate_at(own, message)

            def step(e: Array) -> tuple[Mapping[str, Array], Array]:
                self.solve_at(own, e)
                e_out, a = outward.step(e)
                for name, place in ports.items():
                    self.solve_at(place, e_out[name])
                return e_out, a

            return message, Outward(step, outward.shifts, outward.rates)

        return tied_inward

    def eliminate_at(self, place: Meeting, message: ArticulatedMessage) -> ArticulatedMessage:
        """Sweep 2: every rate that has its meeting here is eliminated."""
        rates = self.plan.meetings.get(place, ())
        if not rates:
            return message
        columns = self.tau.shape[1]
        P, z, done = message.P, in_columns(message.z, columns), []
        tied = message.tied.with_inertia(self.J, rates)
        for k in rates:
            G, d, b, row, tied = tied.without(k)
            inverse = 1.0 / d
            u = self.tau[k] - together(b, np.zeros(columns))
            P, z = P.less(G, inverse), z + np.outer(G, u * inverse)
            tied = tied.eliminated(row, G, inverse, u)
            done.append((k, CoupledRate(np.zeros(6), G, inverse, u, row, self.known)))
        self.eliminated[place] = done
        return ArticulatedMessage(P, z, tied)

    def solve_at(self, place: Meeting, e: Array) -> None:
        """Sweep 3: their accelerations."""
        for k, rate in reversed(self.eliminated.get(place, ())):
            self.known[k] = rate.acceleration(e)

    def accelerations(self, a: Array) -> Array:
        """(nv, columns), those of tied rates put in."""
        return np.array([self.known.get(k, a[k]) for k in range(len(self.tau))]) if self.known else a
