"""The collision algorithm as inverse velocity kinematics (H04 5.4.3, after 3.2.4): rates of legs in contact from those
of the others, without setting up the Jacobian of a foot or inverting it.

An inelastic impact makes any velocity one that the contacts allow, by impulses at the feet. If the independent joints
cannot yield (they are locked, as if infinitely heavy), only the dependent rates jump, v_I is kept, and J v = 0 holds
after it: v_D = -J_D^-1 J_I v_I where legs decide it; where they could still move, the jump of least kinetic energy."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.sparse_ldl import is_zero
from gyrostat.algorithms.contact.contact_dynamics import outward_accelerations
from gyrostat.algorithms.contact.contact_rows import Held, compliances, count
from gyrostat.algorithms.contact.redundant_forces import contact_factors
from gyrostat.algorithms.matrices.body_jacobians import at_rest, weightless
from gyrostat.algorithms.recursions.aba import aba, articulated_inertias, bias_accelerations, eliminate
from gyrostat.algorithms.recursions.articulated_message import ArticulatedMessage, Inward
from gyrostat.algorithms.recursions.kinematics import Own
from gyrostat.algorithms.recursions.right_hand_sides import in_columns
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Motion


@dataclass(frozen=True)
class LockedRate:
    """A rate that does not yield: 1/d = 0."""

    s: Array
    U: Array
    inverse: float
    u: Array


def jump_of_free_joints(
    network: Network, on: Setting, q: Array, held: Sequence[Held], w: Array, locked: Collection[int]
) -> Array:
    """Change of v (nv,) that takes -w (m,) from what the contacts hold, with ``locked`` rates unchanged: unit impulses
    as columns of the inward sweep at rest, Lambda^-1 = sum of u u^T / d, P = -Lambda w, and one sweep outward."""
    m, n = count(held), network.model.nv
    still = weightless(at_rest(network, on), on.representation)

    def row(c: Component, on: Setting, motion: Motion, memo: Any, own: Own) -> Inward:
        return aba.of(c)(c, on, motion, memo)

    rows, motions = bias_accelerations(network, still, q, np.zeros(n), row)
    loads: dict[int, Array] = {}
    for h in held:
        units: Any = np.zeros((6, 1 + m), dtype=object)
        units[...] = 0.0
        units[:, 1 + h.at.start : 1 + h.at.stop] = h.carried(motions[h.port])
        loads[h.port] = loads[h.port] + units if h.port in loads else units

    def passed(message: ArticulatedMessage, s: Array, k: int) -> tuple[ArticulatedMessage, Any]:
        if k not in locked:
            return eliminate(message, s, np.zeros(1 + m))
        through = ArticulatedMessage(message.P, in_columns(message.z, 1 + m), message.tied)
        return through, LockedRate(s, np.zeros(6), 0.0, np.zeros(1 + m))

    steps = articulated_inertias(network, rows, passed, loads)
    K: Any = np.zeros((m, m), dtype=object)
    K[...] = 0.0
    for rate in (rate for step in steps.values() for rate in step.rates):
        there = [i for i in range(m) if not is_zero(rate.u[1 + i])]
        for i in there:
            for j in (j for j in there if j <= i):
                K[i, j] = K[i, j] + rate.u[1 + i] * rate.inverse * rate.u[1 + j]
    P = -contact_factors(K, compliances(held)).solve(w)
    return outward_accelerations(network, steps, P, alone=True)
