"""Forward dynamics and M^-1 by articulated bodies: the recursion of :mod:`~gyrostat.algorithms.recursions.aba`, with
tied rates where a model has some, and with components that have no row in it. Cost O(n) for each right-hand side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.aba import (
    aba,
    articulated_inertias,
    bias_accelerations,
    eliminate,
    joint_accelerations,
)
from gyrostat.algorithms.recursions.articulated_message import Inward, Outward
from gyrostat.algorithms.recursions.frame_forces import with_frame_forces
from gyrostat.algorithms.recursions.kinematics import Own
from gyrostat.algorithms.recursions.rne import Loads, no_loads
from gyrostat.algorithms.shafts.aba_tied_elimination import TiedElimination
from gyrostat.algorithms.shafts.aba_tied_rates import elimination_plan
from gyrostat.algorithms.user_components.articulated_component import articulated_component
from gyrostat.algorithms.user_components.component_equations import equations
from gyrostat.graph.network import Component, Network
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.representation import Motion


@dataclass(frozen=True)
class Articulated:
    """Accelerations (nv, columns), and what sweep 2 left in each component."""

    a: Array
    components: Mapping[str, Outward]


def sweep_articulated(
    network: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads = no_loads
) -> Articulated:
    """The three sweeps for generalised forces tau (nv, columns)."""
    network = network.at(q, v)
    known: dict[int, Array] = {}

    def row(c: Component, on: Setting, motion: Motion, memo: Any, own: Own) -> Inward:
        if aba.serves(c):
            return aba.of(c)(c, on, motion, memo)
        start = own.a if c.tie_rates else None  # the bias of rates that follow by curves
        return articulated_component(c, equations(c, on, motion, own.q, own.v, start), known)

    rows, motions = bias_accelerations(network, on, q, v, row)
    places, elements = elimination_plan(network, aba.serves), network.transmission.elements
    if not (places.meetings or places.frameless or elements):
        forces = with_frame_forces(network, on, motions, loads(motions))
        steps = articulated_inertias(network, rows, lambda message, s, k: eliminate(message, s, tau[k]), forces)
        return Articulated(joint_accelerations(network, steps, tau.shape[1], network.side_by_side), steps)
    tied = TiedElimination.of(network, places, q, v, tau, known)
    rows = {c.name: tied.around(c, rows[c.name]) for c in network.components}
    steps = articulated_inertias(network, rows, tied, with_frame_forces(network, on, motions, loads(motions)))
    return Articulated(tied.accelerations(joint_accelerations(network, steps, tau.shape[1])), steps)


def forward_dynamics(network: Network, on: Setting, q: Array, v: Array, tau: Array, loads: Loads = no_loads) -> Array:
    """a (nv,) for tau (nv,) [N m, N]; ``loads``: external forces at ports."""
    return sweep_articulated(network, on, q, v, tau[:, None], loads).a[:, 0] if len(tau) else np.zeros(0)


def inverse_mass_matrix(network: Network, on: Setting, q: Array) -> Array:
    """M^-1 (nv, nv) without M or an inversion [H04 (3.6)]: the responses to unit forces."""
    n = network.model.nv
    if n == 0:
        return np.zeros((0, 0))
    units = np.concatenate([np.zeros((n, 1)), np.eye(n)], axis=1)
    return sweep_articulated(network, on, q, np.zeros(n), units).a[:, 1:]
