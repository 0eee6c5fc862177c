"""A component without a row in the articulated-body algorithm: its matrices, read off its other rows, as a message.

With f = M e + G a + z + sum of phi_k^T f_k and u = G^T e + D a + b + sum of S_k^T f_k of one component, and f_k = P_k
e_k + z_k at its outports, P = M + sum of phi^T P phi, G + sum of phi^T P S, D + sum of S^T P S and b + sum of S^T z go
on. Its own rates are tied: they stay in the message until all that they move has been met."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from gyrostat.algorithms.recursions.articulated_message import (
    ArticulatedMessage,
    Eliminate,
    Inward,
    Messages,
    Outward,
)
from gyrostat.algorithms.recursions.crba import Entries
from gyrostat.algorithms.recursions.right_hand_sides import together
from gyrostat.algorithms.shafts.aba_tied_elimination import tied_acceleration
from gyrostat.algorithms.shafts.aba_tied_rates import TiedRates
from gyrostat.algorithms.user_components.component_equations import Equations
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array


def articulated_component(c: Component, own: Equations, known: Mapping[int, Array]) -> Inward:
    """Its part in sweeps 2 and 3; ``known``: accelerations of tied rates, which sweep 3 fills."""

    def inward(messages: Messages, eliminate: Eliminate) -> tuple[ArticulatedMessage, Outward]:
        total = ArticulatedMessage(own.inertia, own.z)
        G, D, b = dict(enumerate(own.G.T)), own.D, dict(enumerate(own.b))
        coupled = Entries()
        for name, message in messages.items():
            total, S = total + message.moved(own.shifts[name]), own.S[name]
            U = [message.P @ s for s in S.T]
            D = D + np.array([[s @ u for u in U] for s in S.T]).reshape(D.shape)
            for j, s in enumerate(S.T):
                G[j], b[j] = G[j] + own.shifts[name].force(U[j]), together(b[j], s @ message.z)
                for k, G_k in message.tied.G.items():
                    coupled.pair(c.ties[j], ((k, 1.0),), s @ G_k)
        tied = total.tied + TiedRates.of_rates(c.ties, G, D, b)
        return ArticulatedMessage(total.P, total.z, tied.with_entries(coupled)), Outward(step, own.shifts)

    def step(e: Array) -> tuple[Mapping[str, Array], Array]:
        a = np.array([tied_acceleration(ties, known) for ties in c.ties]).reshape(len(c.ties), e.shape[1])
        return {name: shift.motion(e) + own.S[name] @ a for name, shift in own.shifts.items()}, a

    return inward
