"""Momentum about the centre of mass, and the matrix that maps rates to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.crba import total_inertia
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.configuration.tangent import coordinate_rates
from gyrostat.engine.tracing.dual import rates_of, with_rates
from gyrostat.errors import GyrostatError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.center_of_mass import ABSOLUTE, centre_of, total_momentum
from gyrostat.solvers.machinery.call_signatures import of_acceleration, of_configuration, of_motion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spatial.algebra import force_to_child
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model


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


class CentroidalMomentumRate(StateSolver):
    """Rate (..., 6) of the momentum about the centre of mass, world axes: A(q) a + dA/dt v, torque [N m], then force
    [N]. It is what all external forces, weight among them, do about the centre of mass."""

    loops = "any"
    name = "centroidal_momentum_rate"
    state = ("q", "v", "a")
    __call__ = of_acceleration
    needs = ("rigid",)
    result = "dh"
    rate_axes = (("dh", ()),)

    def __init__(
        self,
        model: Model,
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, representation, rules, live, mode)
        if self.network.driven:
            raise GyrostatError(
                f"{self.name}: the base of '{model.name}' moves by itself. Hint: base='free' or 'fixed'"
            )

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        moving = with_rates(x["q"], coordinate_rates(net.model, x["q"], x["v"]), 1)
        total, momentum = total_momentum(net, on, moving, with_rates(x["v"], x["a"], 1))
        return {"dh": rates_of(force_to_child(np.eye(3), centre_of(total, self), momentum), 1)}


def centroidal_momentum_rate(model: Model, q: Any, v: Any, a: Any, **options: Any) -> Array:
    """Rate (..., 6) of the momentum about the centre of mass; see :class:`CentroidalMomentumRate`."""
    expect_model(model, CentroidalMomentumRate.name)
    return cached_solver(model, CentroidalMomentumRate)(q, v, a, **options)
