"""The Coriolis matrix from the forces of Newton-Euler alone, for any components.

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
from gyrostat.algorithms.foreign.component_equations import linear_and_quadratic
from gyrostat.algorithms.matrices.body_jacobians import at_rest, weightless
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.graph.network import Network
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
    return bilinear + turned * 0.5 + (linear - linear.T) * 0.5
