"""The Coriolis matrix C(q, v) (nv, nv) with dM/dt = C + C^T, that of the Christoffel symbols: by composite bodies, and
from the forces of Newton-Euler alone for any components.

The inertial forces h(q, v) are quadratic in v (and linear, where something spins at a constant rate). With B(v, w)
their symmetric bilinear form and [v, w] the bracket of the velocity coordinates, the Levi-Civita connection is

    C(v) w = B(v, w) + M [v, w] / 2 + L w,

which has C v = h and dM/dt = C + C^T. The bracket is zero for coordinates that are angles and shifts; for angular
velocities in a body's axes it is the cross product, for a free body that of twists. L: the skew part of the linear
forces; what is symmetric in them is damping."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest, weightless
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.algorithms.recursions.sensitivity import (
    JointRate,
    Outboard,
    Spinning,
    Sums,
    TiedRate,
    sensitivity,
    sent,
    sweep_sensitivity,
)
from gyrostat.algorithms.shafts.element_derivatives import element_coriolis
from gyrostat.algorithms.user_components.component_equations import linear_and_quadratic
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array, skew, tilde
from gyrostat.spec.model import Model


def bracket(model: Model, v: Array) -> Array:
    """ad (nv, nv) with ad w = [v, w] of the velocity coordinates."""
    n = model.nv
    ad = np.full((n, n), 0.0, dtype=np.result_type(np.asarray(v), np.float64))
    for block in model.layout.turning:
        ad[block.v, block.v] = tilde(v[block.v]) if block.moves else skew(v[block.v])
    return ad


def coriolis_by_velocities(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """C (nv, nv). Cost: nv sweeps on numbers with two rates."""
    n = len(v)
    if not n:
        return np.zeros((0, 0))
    inertial = replace(network, pairs=(), transmission=replace(network.transmission, elements=()))
    still = weightless(at_rest(network, on), on.representation)

    def forces(x: Any) -> Array:
        return sweep_forces(inertial, still, q, x, np.zeros(n))[0]

    linear, bilinear = linear_and_quadratic(forces, v)
    turned = composite_mass_matrix(network, still, q) @ bracket(network.model, v)
    C = bilinear + turned * 0.5 + (linear - linear.T) * 0.5
    for (j, k), x in element_coriolis(network, q, v).items():
        C[j, k] = C[j, k] + x
    return C


def coriolis_matrix(network: Network, on: Setting, q: Array, v: Array) -> Array:
    """C(q, v) (nv, nv) with C v the Coriolis and centrifugal forces and dM/dt = C + C^T.

    C = sum over bodies of J^T (M dJ/dt + (B/2 + momentum of gyrostats) J) [Echeandia, Wensing 2021]. The forces of a
    rotor, w x h v_r on its carrier, are bilinear: half of them goes with each of the two velocities. So C is that of
    the Christoffel symbols. Behind curves, where v_all = G v, it is G^T (C G + M dG/dt)."""
    if not all(sensitivity.serves(c) for c in network.components):
        return coriolis_by_velocities(network, on, q, v)
    n = network.model.nv
    C = Sums(n, np.result_type(np.asarray(q), np.asarray(v), np.float64))

    def visit(rate: JointRate, body: Outboard) -> Array:
        B = body.spun(0.5)
        force = (body.M @ rate.dS_dt) + (B @ rate.S)
        return np.stack([body.M @ rate.S, force, B.transposed(rate.S)], axis=1)

    def spun(rotor: Spinning) -> Array:
        C.put(rotor.tied.ties, rotor.tied.tie_rates, rotor.inertia)
        half = rotor.turned * 0.5
        return np.stack([rotor.h, half, half], axis=1)

    def put(rows: Ties, tied: TiedRate, x: Any, entry: Any) -> None:
        C.put(rows, tied.ties, x)
        C.put(rows, tied.tie_rates, entry)

    def same(other: JointRate, rate: JointRate, forces: Array, body: Outboard) -> None:
        put(other.tied.ties, rate.tied, other.S @ forces[:, 1], other.S @ forces[:, 0] if rate.tied.tie_rates else 0.0)

    def inboard(other: JointRate, k: Ties, forces: Array) -> None:
        F, force, G = (forces[:, i] for i in range(3))
        C.put(other.tied.ties, k, other.S @ force)
        put(k, other.tied, F @ other.dS_dt + G @ other.S, F @ other.S if other.tied.tie_rates else 0.0)

    def send(tied: TiedRate, forces: Array) -> dict[int, Array]:
        """Behind curves with the forces of the accelerations G' v."""
        columns, none = sent(tied, forces), np.zeros(6)
        for k, rate in tied.tie_rates:
            columns[k] = columns[k] + np.stack([none, forces[:, 0] * rate, none], axis=1)
        return columns

    sweep_sensitivity(network, on, (q, v, np.zeros(n)), visit, spun, same, inboard, send, spinning=0.5)
    for (j, k), x in element_coriolis(network, q, v).items():
        C.put(((j, 1.0),), ((k, 1.0),), x)
    return C.X
