"""Derivatives of inverse dynamics in closed form [H04 (3.49)-(3.53)]: d tau / dq, d tau / dv and d tau / da = M in one
sweep inward; cost O(n d), d the depth of the tree. The forces of each rate: :mod:`sensitivity`."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.sensitivity import JointRate, Outboard, Spinning, Sums, sweep_sensitivity
from gyrostat.algorithms.shafts.elements import element_derivatives
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, cross_force


def rnea_derivatives(network: Network, on: Setting, q: Array, v: Array, a: Array) -> tuple[Array, Array, Array]:
    """d tau / dq on the manifold, d tau / dv, d tau / da = M, each (nv, nv), by (3.51)-(3.53)."""
    n, kind = network.model.nv, np.result_type(*(np.asarray(x) for x in (q, v, a)), np.float64)
    dq, dv, M = (Sums(n, kind) for _ in range(3))

    def visit(rate: JointRate, body: Outboard) -> Array:
        B, S = body.spun(1.0), rate.S
        carried = (body.M @ rate.Q) + (B @ rate.P)
        with_v = (body.M @ (rate.P + rate.dS_dt)) + (B @ S)
        return np.stack([body.M @ S, carried + cross_force(S, body.f), with_v, B.transposed(S), carried], axis=1)

    def spun(rotor: Spinning) -> Array:
        M.put(rotor.ties, rotor.ties, rotor.inertia)
        none = np.zeros(6)
        return np.stack([rotor.h, none, rotor.turned, rotor.turned, none], axis=1)

    def same(other: JointRate, rate: JointRate, forces: Array, body: Outboard) -> None:
        with_q = other.S @ forces[:, 4]
        if rate.own is not None:
            with_q = with_q + rate.own[:, other.place] @ body.f
        dq.put(other.ties, rate.ties, with_q)
        dv.put(other.ties, rate.ties, other.S @ forces[:, 2])
        if other.place <= rate.place:
            entry = other.S @ forces[:, 0]
            M.put(other.ties, rate.ties, entry)
            if other.place < rate.place:
                M.put(rate.ties, other.ties, entry)

    def inboard(other: JointRate, k: Ties, forces: Array) -> None:
        F, with_q, with_v, G, _ = (forces[:, i] for i in range(5))
        dq.put(other.ties, k, other.S @ with_q)
        dv.put(other.ties, k, other.S @ with_v)
        entry = other.S @ F
        M.put(other.ties, k, entry)
        M.put(k, other.ties, entry)
        dq.put(k, other.ties, F @ other.Q + G @ other.P)
        dv.put(k, other.ties, F @ (other.P + other.dS_dt) + G @ other.S)

    sweep_sensitivity(network, on, (q, v, a), visit, spun, same, inboard)
    for sums, entries in zip((dq, dv, M), element_derivatives(network, q, v, a), strict=True):
        for (j, k), x in entries.items():
            sums.put(((j, 1.0),), ((k, 1.0),), x)
    return dq.X, dv.X, M.X
