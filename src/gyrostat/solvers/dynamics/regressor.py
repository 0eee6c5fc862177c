"""The torque regressor and the inertial parameters that it multiplies, for identification."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.regressor import PARAMETERS, parameters_of, regressor
from gyrostat.algorithms.recursions.rne import Loads, sweep_forces
from gyrostat.errors import StateError
from gyrostat.graph.network import Network, network
from gyrostat.graph.rewrite import DEFAULT
from gyrostat.solvers.machinery.call_signatures import of_acceleration
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spatial.inertia import SpatialInertia
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody


def bodies_of(model: Model) -> tuple[str, ...]:
    """Names of the bodies, in the order of the specification."""
    return tuple(name for name, e in model.wiring.entities.items() if isinstance(e, RigidBody))


def inertial_parameters(model: Model) -> Array:
    """pi (10 bodies,): of each body m, m c, J_xx, J_xy, J_xz, J_yy, J_yz, J_zz about its origin, in its axes [kg, kg m,
    kg m^2]."""
    expect_model(model, "inertial_parameters")
    parameters = []
    for name in bodies_of(model):
        body: Any = model.wiring.entities[name]
        M = SpatialInertia.at_centre(body.mass, np.array(body.com), np.array(body.inertia))
        parameters.append(parameters_of(M))
    return np.concatenate(parameters) if parameters else np.zeros(0)


class Linear(NamedTuple):
    """tau = Y pi + tau_0: ``Y`` (..., nv, 10 bodies), ``tau_0`` (..., nv) from gyrostats and force elements."""

    Y: Array
    tau_0: Array


class Regressor(StateSolver):
    """tau = Y(q, v, a) pi + tau_0 with the inertial parameters pi of :func:`inertial_parameters`; ``columns`` names
    them."""

    loops = "closed"
    name = "regressor"
    state = ("q", "v", "a")
    __call__ = of_acceleration
    needs = ("light",)
    Result = Linear
    rate_axes = (("Y", (0,)),)

    def __init__(self, model: Model, mode: str = "auto"):
        super().__init__(model, "body", [r for r in DEFAULT if r != "prune-frames"], (), mode)
        if not isinstance(model.context.gravity, UniformGravity):
            raise StateError(
                "regressor: torques are not linear in the inertial parameters in this field of gravity. "
                "Hint: use UniformGravity"
            )
        self.bodies = bodies_of(model)
        self._massless = _without_mass(model, self.bodies)
        self.columns = tuple(f"{body}.{name}" for body in self.bodies for name in PARAMETERS)

    def options(self) -> dict[str, Any]:
        return {"mode": self._asked} | ({} if self.order is None else {"order": self.order})

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        q, v, a = x["q"], x["v"], x["a"]
        Y = regressor(net, on, q, v, a, self.bodies)
        return {"Y": Y, "tau_0": sweep_forces(self._massless, on, q, v, a)[0]}


def _without_mass(model: Model, bodies: tuple[str, ...]) -> Network:
    """The network of a model whose bodies have nothing left but the momentum of gyrostats; rotors and drives stay."""
    none = {"mass": 0.0, "com": np.zeros(3), "inertia": np.zeros((3, 3))}
    gone = {f"{body}.{key}": np.asarray(value) for body in bodies for key, value in none.items()}
    return network(model, [rule for rule in DEFAULT if rule != "merge-bodies"], live=gone)
