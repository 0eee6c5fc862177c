"""Momentum about the centre of mass, and the matrix that maps rates to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.center_of_mass import ABSOLUTE, centre_of, total_momentum
from gyrostat.solvers.machinery.call_signatures import of_configuration, of_motion
from gyrostat.solvers.machinery.state_solver import StateSolver
from gyrostat.spatial.algebra import force_to_child


class CentroidalMomentum(StateSolver):
    """Momentum (..., 6) about the centre of mass, world axes: angular [N m s], then linear [N s]."""

    loops = "any"
    name = "centroidal_momentum"
    state = ("q", "v")
    __call__ = of_motion
    needs = ("rigid",)
    result = "h"
    rate_axes = (("h", ()),)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, momentum = total_momentum(net, on, x["q"], x["v"])
        return {"h": force_to_child(np.eye(3), centre_of(total, self), momentum)}


class CentroidalMatrix(StateSolver):
    """A(q) (..., 6, nv): momentum about the centre of mass = A v [Orin, Goswami]; the forces of unit accelerations that
    the composite-body algorithm carries to the base."""

    loops = "any"
    name = "centroidal_matrix"
    state = ("q",)
    __call__ = of_configuration
    needs = ("rigid",)
    result = "A"
    rate_axes = (("A", (1,)),)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        total, columns = total_inertia(net, Setting(ABSOLUTE, on.gravity, on.t), x["q"])
        p = centre_of(total, self)
        rows = [force_to_child(np.eye(3), p, columns.get(k, np.zeros(6))) for k in range(net.model.nv)]
        return {"A": np.stack(rows, axis=1) if rows else np.zeros((6, 0))}
