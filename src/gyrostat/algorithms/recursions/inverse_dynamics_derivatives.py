"""Derivatives of inverse dynamics in closed form [H04 (3.49)-(3.53)]: d tau / dq, d tau / dv and d tau / da = M in one
sweep inward; cost O(n d), d the depth of the tree. The forces of each rate: :mod:`sensitivity`.

Where a rate f follows by a curve, v_f = G v and a_f = G a + G' v, the chain rule adds what
:mod:`~gyrostat.algorithms.shafts.tie_slopes` has: d tau / dq = G^T (D_q G + D_v G' + M da_f/dq) + sum of H u_f."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.sensitivity import (
    NO_FORCES,
    JointRate,
    Outboard,
    Spinning,
    Sums,
    TiedRate,
    sent,
    sweep_sensitivity,
)
from gyrostat.algorithms.shafts.element_derivatives import element_derivatives
from gyrostat.algorithms.shafts.tie_slopes import Slopes, follower_slopes
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross_force


class MotionSums:
    """d tau / dq, dv and da, summed over rates that follow those of the model; ``slopes`` of those behind curves."""

    def __init__(self, n: int, kind: Any, slopes: Mapping[int, Slopes]):
        self.q, self.v, self.a = (Sums(n, kind) for _ in range(3))
        self.slopes = slopes

    def put(self, rows: Ties, tied: TiedRate, by_q: Any, by_v: Any, by_a: Any) -> None:
        """Derivatives of the force of one rate by the motion of another, q, v and a."""
        self.q.put(rows, tied.ties, by_q)
        self.v.put(rows, tied.ties, by_v)
        if tied.tie_rates:
            slopes = self.slopes[tied.number]
            self.q.put(rows, tuple(slopes.swing.items()), by_v)
            self.q.put(rows, tuple(slopes.pull.items()), by_a)
            self.v.put(rows, tuple(slopes.by_v.items()), by_a)

    def turn(self, tied: TiedRate, force: Any) -> None:
        """The force of a rate acts on those of the model by ties that change."""
        for (j, k), x in self.slopes[tied.number].curvature.items():
            self.q.put(((j, 1.0),), ((k, 1.0),), force * x)

    def send(self, tied: TiedRate, forces: Array) -> dict[int, Array]:
        """Forces of unit accelerations, of displacements and velocities, and B^T S, by the rates of the model."""
        columns = sent(tied, forces)
        if tied.tie_rates:
            F, _, with_v, _, _ = forces.T
            slopes, none = self.slopes[tied.number], np.zeros(6)
            for k, pull in slopes.pull.items():
                more = np.stack([none, with_v * slopes.swing[k] + F * pull, F * slopes.by_v[k], none, none], axis=1)
                columns[k] = columns[k] + more
        return columns


def rnea_derivatives(
    network: Network, on: Setting, q: Array, v: Array, a: Array, carried: Mapping[int, Array] = NO_FORCES
) -> tuple[Array, Array, Array]:
    """d tau / dq on the manifold, d tau / dv, d tau / da = M, each (nv, nv), by (3.51)-(3.53); ``carried``: external
    forces at ports that turn with their body."""
    n, kind = network.model.nv, np.result_type(*(np.asarray(x) for x in (q, v, a)), np.float64)
    sums = MotionSums(n, kind, follower_slopes(network.transmission, q, v, a))
    M = sums.a

    def visit(rate: JointRate, body: Outboard) -> Array:
        B, S = body.spun(1.0), rate.S
        carried = (body.M @ rate.Q) + (B @ rate.P)
        with_v = (body.M @ (rate.P + rate.dS_dt)) + (B @ S)
        return np.stack([body.M @ S, carried + cross_force(S, body.f), with_v, B.transposed(S), carried], axis=1)

    def spun(rotor: Spinning) -> Array:
        M.put(rotor.tied.ties, rotor.tied.ties, rotor.inertia)
        if rotor.tied.tie_rates:
            sums.put(rotor.tied.ties, rotor.tied, 0.0, 0.0, rotor.inertia)
            sums.turn(rotor.tied, rotor.torque)
        none = np.zeros(6)
        return np.stack([rotor.h, none, rotor.turned, rotor.turned, none], axis=1)

    def same(other: JointRate, rate: JointRate, forces: Array, body: Outboard) -> None:
        with_q = other.S @ forces[:, 4]
        if rate.own is not None:
            with_q = with_q + rate.own[:, other.place] @ body.f
        entry = other.S @ forces[:, 0] if other.place <= rate.place or rate.tied.tie_rates else 0.0
        sums.put(other.tied.ties, rate.tied, with_q, other.S @ forces[:, 2], entry)
        if other.place <= rate.place:
            M.put(other.tied.ties, rate.tied.ties, entry)
            if other.place < rate.place:
                M.put(rate.tied.ties, other.tied.ties, entry)
        if other is rate and rate.tied.tie_rates:
            sums.turn(rate.tied, rate.S @ body.f)

    def inboard(other: JointRate, k: Ties, forces: Array) -> None:
        F, with_q, with_v, G, _ = (forces[:, i] for i in range(5))
        sums.q.put(other.tied.ties, k, other.S @ with_q)
        sums.v.put(other.tied.ties, k, other.S @ with_v)
        entry = other.S @ F
        M.put(other.tied.ties, k, entry)
        M.put(k, other.tied.ties, entry)
        by_q, by_v = F @ other.Q + G @ other.P, F @ (other.P + other.dS_dt) + G @ other.S
        sums.put(k, other.tied, by_q, by_v, entry)

    sweep_sensitivity(network, on, (q, v, a), visit, spun, same, inboard, sums.send, carried=carried)
    for total, entries in zip((sums.q, sums.v, M), element_derivatives(network, q, v, a), strict=True):
        for (j, k), x in entries.items():
            total.put(((j, 1.0),), ((k, 1.0),), x)
    return sums.q.X, sums.v.X, M.X
