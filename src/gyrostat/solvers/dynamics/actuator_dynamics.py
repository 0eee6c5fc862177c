"""The equations of motion as the actuators see them [KV (42), (43)]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.mrnea import mass_matrix_and_bias
from gyrostat.algorithms.recursions.rne import Loads
from gyrostat.algorithms.shafts.actuators import actuators, motor_map
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.state_solver import Array, StateSolver
from gyrostat.spec.model import Model


class ActuatorTerms(NamedTuple):
    """``H a + bias = u``: u (..., n) torques of the actuators, a (..., n) accelerations of the joints."""

    H: Array
    bias: Array


class ActuatorDynamics(StateSolver):
    """H_a(q) (..., n, n) and u'_a(q, v) (..., n) with H_a a + u'_a = u_a, the torques on the actuators' shafts.

    By one modified Newton-Euler pass [KV (4)-(36)], with rotors, gears, friction and external ``wrenches``. Rows are in
    the order of ``actuators``: motors of the model by name, then joints without a motor, which are their own
    actuators. The map T from joint to actuator rates is ``motor_map``. ``torques(q, v, a)`` are the required actuator
    torques along a trajectory."""

    loops_hint = "gs.rnea and gs.actuator_efforts give the efforts of the drives"
    name = "actuator_dynamics"
    Result = ActuatorTerms
    takes_wrenches = True
    state = ("q", "v")
    rate_axes = (("H", (1,)), ("bias", ()))

    def __init__(
        self,
        model: Model,
        passive: Sequence[str] = (),
        representation: str = "body",
        rules: Iterable[str] | None = None,
        live: Sequence[str] = (),
        mode: str = "auto",
    ):
        super().__init__(model, representation, rules, live, mode)
        self.passive = tuple(passive)
        entities = model.wiring.entities
        for path in self.live:
            if path.rpartition(".")[0] in entities and entities[path.rpartition(".")[0]].ties_shafts:
                raise StateError(f"{type(self).__name__}: '{path}' cannot be live. Hint: build a solver for each ratio")
        driving = actuators(self.network, type(self).__name__, self.passive)
        self.actuators = tuple(a.name for a in driving)
        self.motor_map = motor_map(driving, model.nv)
        self._back = np.linalg.inv(self.motor_map).T

    def options(self) -> dict[str, Any]:
        return super().options() | {"passive": self.passive}

    def __call__(
        self,
        q: Any,
        v: Any,
        wrenches: Any = None,
        *,
        t: Any = None,
        out: Any = None,
        threads: int = 1,
        nonfinite: str = "raise",
    ) -> ActuatorTerms:
        """H and bias for q (..., nq), v (..., nv)."""
        return self.serve((q, v), wrenches, t, out, threads, nonfinite)

    def compute(self, net: Network, on: Setting, x: Mapping[str, Any], given: Loads) -> Mapping[str, Any]:
        H, bias = mass_matrix_and_bias(net, on, x["q"], x["v"], given)
        return {"H": self._back @ H, "bias": self._back @ bias}

    def torques(self, q: Any, v: Any, a: Any, wrenches: Any = None, *, t: Any = None, threads: int = 1) -> Array:
        """Actuator torques (..., n) that the motion q, v, a needs."""
        q, v, a = (self._by_model(x, name) for x, name in ((q, "q"), (v, "v"), (a, "a")))
        return self._inverse(q, v, a, wrenches, t=t, threads=threads) @ self._back.T

    def refresh(self, model: Model) -> None:
        super().refresh(model)
        self.__dict__.pop("_inverse", None)

    @cached_property
    def _inverse(self) -> InverseDynamics:
        return InverseDynamics(self.model, self.representation, live=self.live, mode=self.mode)
