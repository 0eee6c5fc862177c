"""A plant as an implicit system of plain numbers, F(t, y, y') = 0, without the inverse of the mass matrix.

    F = (q' - dq/dt(q, v),   rnea(q, v, v') - tau(t, q, v, p),   p' - f(t, q, v, p)),      y = (q, v, p).

One pass of Newton and Euler for the whole of it; quaternions as in :mod:`vector_system`. A rate that rests at a stop
has v' = 0 in the place of its equation of motion, see :meth:`ActiveRows.residual`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.source_recording import SourceRecording
from gyrostat.simulate.plant.vector_system import Lifted, VectorSystem, lifted
from gyrostat.spatial.gravity import gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.context import HarmonicMotion

Array = np.ndarray
WHO = "simulate"


class Pass(NamedTuple):
    """One Newton-Euler pass: dq/dt (nq,), rnea - tau (nv,), dp/dt (np,)."""

    rate: Array
    rest: Array
    p_rate: Array


class ResidualSystem(VectorSystem):
    """F and its Jacobian dF/dy + c dF/dy'."""

    def __init__(self, plant: Plant):
        super().__init__(plant)
        self._pass: tuple[SourceRecording, Callable[..., Pass]] | None = None

    def residual(self, t: float, y: Array, dy: Array) -> Array:
        """F (n,). NonFiniteError where it is not finite."""
        q, v, p = self.parts(y)
        dq, a, dp = self.parts(dy)
        rate, rest, p_rate = self._newton_euler(t, q, v, a, p)
        return np.concatenate([dq - rate, rest, dp - p_rate])

    def residual_jacobian(self, t: float, y: Array, dy: Array, c: float) -> Array:
        """dF/dy + c dF/dy' (n, n), exact."""
        plant, n, k = self.plant, self.plant.nq, self.plant.nq + self.plant.nv
        q, v, p = self.parts(y)
        unit = self._unit(q, v)
        by_q, by_v, by_a = plant.derivatives.residual_jacobians(t, unit, v, self.parts(dy)[1], p)
        J = np.zeros((self.size, self.size))
        if plant.plain:
            turn = None
            J[:n, :n], J[:n, n:k] = c * np.eye(n), -np.eye(n)
        else:
            own, by_rate, turn = self._slopes(q, v)
            J[:n, :n], J[:n, n:k] = c * np.eye(n) - own, -by_rate
        J[n:k, :n], J[n:k, n:k] = by_q if turn is None else by_q @ turn, by_v + c * by_a
        if plant.np:
            d = plant.derivatives.of_source(t, unit, v, p)
            J[n:k, k:] = -d.tau_p
            J[k:, :n], J[k:, n:k] = -(d.p_q if turn is None else d.p_q @ turn), -d.p_v
            J[k:, k:] = c * np.eye(plant.np) - d.p_p
        return J

    def _unit(self, q: Array, v: Array) -> Array:
        """q with unit quaternions."""
        return q if self.plant.plain else self._lifted(q, v).unit

    # ------------------------------------------------------------------ one pass
    def _newton_euler(self, t: float, q: Array, v: Array, a: Array, p: Array) -> Pass:
        plant = self.plant
        if plant.why_not_compiled:
            unit, rate = Lifted(q, v) if plant.plain else self._lifted(q, v)
            rest = plant.residual(t, unit, v, a, p)
            return Pass(rate, rest, plant.torque(t, unit, v, p)[1] if plant.np else p)
        plant.counters.residual_evaluations += 1
        known = self._pass
        if known is None or known[0] is not plant.recording:  # an event may change the model, or the source
            known = self._pass = plant.recording, self._compiled()
        more = (p, plant.memory, plant.active.directions)
        newton_euler = known[1](np.array([t]), q, v, a, *(x for x in more if len(x)))
        active = None if plant.active.empty else plant.active.rows(self._unit(q, v), v)
        return newton_euler if active is None else newton_euler._replace(rest=active.residual(newton_euler.rest, a))

    def _compiled(self) -> Callable[..., Pass]:
        plant = self.plant
        model, law = plant.model, gravity(plant.model.context.gravity)
        timed = isinstance(model.context.base, HarmonicMotion)

        def function(**x: Any) -> Mapping[str, Any]:
            unit, rate = lifted(model, x["q"], x["v"])
            p, m = x.get("p", plant.source.p0), x.get("m", plant.source.m0)
            tau, p_rate = plant.source.evaluate(x["t"][0], unit, x["v"], p, m)
            on = Setting(representation("body"), law, x["t"][0] if timed else 0.0)
            rest = sweep_forces(plant.network, on, unit, x["v"], x["a"])[0] - tau
            rest = rest - plant.constraints.sliding_efforts(x["v"], x.get("directions", np.zeros(0)))
            return {"rate": rate, "rest": rest, "p_rate": p_rate}

        sizes = {"t": 1, "q": plant.nq, "v": plant.nv, "a": plant.nv, "p": plant.np, "m": len(plant.memory)}
        sizes["directions"] = len(plant.active.directions)
        kernel = Kernel(record(function, {k: (n,) for k, n in sizes.items() if n}, f"{model.name}_residual"), WHO)
        general = lambda *arrays: Pass(**kernel.call(*arrays))  # noqa: E731
        return general if available() else kernel.builtin(general, [], WHO, "residual", Pass)
