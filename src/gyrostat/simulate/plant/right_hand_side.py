"""The right-hand side of a plant in local coordinates: one kernel where that is possible, else piece by piece."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.articulated_dynamics import forward_dynamics
from gyrostat.algorithms.recursions.rne import no_loads
from gyrostat.configuration.chart import local_rates, moved
from gyrostat.configuration.packing import quaternion_guard
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.errors import GyrostatError, NonFiniteError
from gyrostat.solvers.functions import aba
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import HarmonicMotion
from gyrostat.spec.model import Model

if TYPE_CHECKING:
    from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
WHO = "simulate"


class Stage(NamedTuple):
    """Right-hand side in local coordinates: dy (2 nv + np + 1,), and q (nq,), tau (nv,) there."""

    dy: Array
    q: Array
    tau: Array


def chart_kernel(model: Model) -> Kernel:
    """q at local coordinates x (nv,) around q0, and dx/dt."""

    def function(q0: Array, x: Array, v: Array) -> Mapping[str, Array]:
        return {"q": moved(model, q0, x), "x_rate": local_rates(model, x, v)}

    shapes = {"q0": (model.nq,), "x": (model.nv,), "v": (model.nv,)}
    return Kernel(record(function, shapes, f"{model.name}_chart"), WHO)


class RightHandSide:
    """f(t, q0, y) of a plant without what active constraints do; recorded when it is called for the first time."""

    def __init__(self, plant: Plant):
        self.plant = plant

    def __call__(self, t: float, q0: Array, y: Array) -> Stage:
        return self._call(t, q0, y)

    @cached_property
    def _call(self) -> Callable[[float, Array, Array], Stage]:
        plant = self.plant
        if plant.why_not_compiled:
            return self._in_python
        try:
            program = record(self._recorded, self._shapes(), f"{plant.model.name}_stage")
        except GyrostatError as error:
            plant.why_not_compiled = str(error)
            return self._in_python
        kernel = Kernel(program, WHO)
        general = lambda *arrays: Stage(**kernel.call(*arrays))  # noqa: E731
        call = general if available() else kernel.builtin(general, [], WHO, "right-hand side", Stage)
        return self._with_inputs(call)

    def _with_inputs(self, call: Callable[..., Stage]) -> Callable[[float, Array, Array], Stage]:
        """With what stays the same between events: the memory of digital parts, and directions of sliding."""
        plant, digital, friction = self.plant, len(self.plant.memory) > 0, len(self.plant.active.directions) > 0
        if digital and friction:
            return lambda t, q0, y: call(np.array([t]), q0, y, plant.memory, plant.active.directions)
        if digital:
            return lambda t, q0, y: call(np.array([t]), q0, y, plant.memory)
        if friction:
            return lambda t, q0, y: call(np.array([t]), q0, y, plant.active.directions)
        return lambda t, q0, y: call(np.array([t]), q0, y)

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        plant = self.plant
        sizes = {"m": len(plant.memory), "directions": len(plant.active.directions)}
        shapes: dict[str, tuple[int, ...]] = {"t": (1,), "q0": (plant.nq,), "y": (2 * plant.nv + plant.np + 1,)}
        return shapes | {name: (n,) for name, n in sizes.items() if n}

    def _recorded(self, t: Array, q0: Array, y: Array, m: Any = (), directions: Any = ()) -> Mapping[str, Any]:
        plant, n = self.plant, self.plant.nv
        x, v, p = y[:n], y[n : 2 * n], y[2 * n : -1]
        q = moved(plant.model, q0, x)
        tau, p_rate = plant.source.evaluate(t[0], q, v, p, np.asarray(m))
        context = plant.model.context
        on = Setting(
            representation("body"), gravity(context.gravity), t[0] if isinstance(context.base, HarmonicMotion) else 0.0
        )
        if plant.forward is None:
            sliding = plant.constraints.sliding_efforts(v, np.asarray(directions))
            a = forward_dynamics(plant.network, on, q, v, tau + sliding)
        else:
            a = plant.forward.compute(plant.network, on, {"q": q, "v": v, "tau": tau}, no_loads)["a"]
        dy = np.concatenate([local_rates(plant.model, x, v), a, p_rate, [tau @ v]])
        return {"dy": dy, "q": q, "tau": tau, "guard": quaternion_guard(plant.model, q0)}

    def _in_python(self, t: float, q0: Array, y: Array) -> Stage:
        plant, n = self.plant, self.plant.nv
        x, v, p = y[:n], y[n : 2 * n], y[2 * n : -1]
        if not np.isfinite(y).all():
            raise NonFiniteError(f"{WHO}: the state is not finite")
        q, rate = plant.moved(q0, x, v)
        tau, p_rate = plant.torque(t, q, v, p)
        if plant.forward is None:
            a = aba(plant.moving, q, v, tau + plant.sliding_efforts(v), **plant.time(t))
        else:
            a = plant.forward(q, v, tau, **plant.time(t))
        return Stage(np.concatenate([rate, a, p_rate, [tau @ v]]), q, tau)
