"""One step of a simulator as C99: stages, law, digital update and dynamics unrolled into one function that allocates
nothing.

Explicit methods with fixed steps. With local coordinates x around q (:mod:`~gyrostat.configuration.chart`), y =
(x, v, p) and y' = f(t, y), a Runge-Kutta method with the table (a, b, c) takes

    k_i = f(t + c_i h, y0 + h sum_j a_ij k_j),   y1 = y0 + h sum_i b_i k_i,

and semi-implicit Euler v1 = v + h a(q, v), q1 = q (+) h v1, p1 = p + h p'."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.engine.export_c import export_c
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.choose import where
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.replay import inlined
from gyrostat.errors import StateError
from gyrostat.simulate.methods.runge_kutta import FixedRungeKutta
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.run.loop import Run
from gyrostat.solvers.machinery.export import entry_names, example_input
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "Simulator.export_c"
EULER = "semi-implicit-euler"


def exported(
    run: Run, numbers: Parameters, model: Model, dt: float, folder: str | Path, name: str | None, vectors: int
) -> list[Path]:
    """The files of one step of a run by its method, with steps of dt [s] in the test vectors."""
    _expect_exportable(run)
    plant = run.plant
    step = RecordedStep(plant, run.method.table if isinstance(run.method, FixedRungeKutta) else None)
    program = step.program(f"{model.name}_{run.method.name.replace('-', '_')}_step")
    kernel, rng = Kernel(program, WHO), np.random.default_rng(0)
    examples = []
    for _ in range(vectors):
        inputs = [_example(plant, model, slot.name, slot.shape, dt, rng) for slot in program.inputs]
        outputs = kernel.call(*inputs)
        examples.append((inputs, [outputs[slot.name] for slot in program.outputs]))
    return export_c(program, folder, name or program.name, _entries(model, numbers), examples)


def _expect_exportable(run: Run) -> None:
    plant, method = run.plant, run.method
    if plant.loops is not None:
        raise StateError(
            f"{WHO}: steps of '{plant.model.name}', whose loops are constraints, have no fixed number of operations: "
            "they are projected until they are closed. Hint: loops='auto' or 'minimal', where they have closed forms"
        )
    if not isinstance(method, FixedRungeKutta) and method.name != EULER:
        raise StateError(
            f"{WHO}: steps of '{method.name}' have no fixed number of operations. Hint: method='rk4', or '{EULER}'"
        )
    if plant.why_not_compiled or plant.model_in_python:
        why = plant.why_not_compiled or plant.model_in_python
        raise StateError(
            f"{WHO}: {plant.source.told} runs in Python: {why}. Hint: plain NumPy without 'if' is recorded"
        )
    if len(plant.constraints):
        raise StateError(
            f"{WHO}: '{plant.constraints.names[0]}' acts and leaves by events, which a step of fixed length does not "
            "have. Hint: Friction(smooth=0.01), and leave constraints out"
        )
    if len(plant.source.sample_times) > 1 or (plant.source.sample_times and plant.recording.update is None):
        raise StateError(
            f"{WHO}: {plant.source.told} is sampled in Python, or with several sample times "
            f"{plant.source.sample_times}. Hint: one sample time, blocks of gs.blocks"
        )


class RecordedStep:
    """One step of a plant. ``table``: of an explicit Runge-Kutta method, None for semi-implicit Euler."""

    def __init__(self, plant: Plant, table: Any):
        self.plant, self.table = plant, table
        self.gains = len(plant.parameters) - plant.nv  # those that are held come last

    def program(self, name: str) -> Program:
        """Of t (1,), q, v, p, m, tau, parameters, dt (1,), sample (1,), without those that have no entries."""
        plant = self.plant
        sizes = {"t": 1, "q": plant.nq, "v": plant.nv, "p": plant.np, "m": len(plant.memory), "tau": plant.nv}
        sizes |= {"parameters": self.gains + len(plant.live), "dt": 1, "sample": int(bool(plant.source.sample_times))}
        with np.errstate(all="ignore"):
            return record(self._step, {key: (n,) for key, n in sizes.items() if n}, name)

    def _step(self, **x: Array) -> Mapping[str, Any]:
        none = np.zeros(0)
        t, q, v, p, h = x["t"][0], x["q"], x["v"], x.get("p", none), x["dt"][0]
        given = x.get("parameters", none)
        self._law = np.concatenate([given[: self.gains], x["tau"]])
        self._live = given[self.gains :]
        self._m = self._memory(x, t)
        outputs = (self._euler if self.table is None else self._runge_kutta)(t, q, v, p, h)
        return {name: value for name, value in outputs.items() if len(value)} | ({"m1": self._m} if "m" in x else {})

    def _memory(self, x: Mapping[str, Array], t: Any) -> Array:
        """What digital parts hold during the step."""
        if "m" not in x:
            return np.zeros(0)
        update = self.plant.recording.update
        if update is None or "sample" not in x:
            return x["m"]
        fresh = inlined(update, np.array([t]), x["q"], x["v"], x.get("p", np.zeros(0)), x["m"], self._law)["m"]
        return where(x["sample"][0] > 0.5, fresh, x["m"])

    def _rates(self, t: Any, q: Array, v: Array, p: Array) -> tuple[Array, Array, Array]:
        """a (nv,), dp/dt (np,), tau (nv,)."""
        plant, time = self.plant, np.array([t])
        law = inlined(plant.recording.program, time, q, v, p, self._m, self._law)
        directions = np.zeros(len(plant.active.directions))
        a = inlined(plant.kernels.forward, time, q, v, law["tau"], directions, self._live)["a"]
        return a, law["p_rate"], law["tau"]

    def _placed(self, q0: Array, x: Array, v: Array) -> tuple[Array, Array]:
        """q at local coordinates x around q0, and dx/dt."""
        if self.plant.plain:
            return q0 + x, v
        chart = inlined(self.plant.kernels.chart, q0, x, v)
        return chart["q"], chart["x_rate"]

    def _runge_kutta(self, t: Any, q: Array, v: Array, p: Array, h: Any) -> dict[str, Array]:
        n, table = self.plant.nv, self.table
        y0 = np.concatenate([np.zeros(n), v, p])
        a, p_rate, tau = self._rates(t, q, v, p)
        stages = [np.concatenate([v, a, p_rate])]
        for row, c in zip(table.a[:-1], table.c[1:], strict=False):
            y = _combined(y0, h, row, stages)
            q_i, x_rate = self._placed(q, y[:n], y[n : 2 * n])
            rates = self._rates(t + float(c) * h, q_i, y[n : 2 * n], y[2 * n :])
            stages.append(np.concatenate([x_rate, *rates[:2]]))
        y = _combined(y0, h, table.a[-1], stages)
        q1 = self._placed(q, y[:n], y[n : 2 * n])[0]
        return {"q1": q1, "v1": y[n : 2 * n], "p1": y[2 * n :], "a": a, "tau_law": tau}

    def _euler(self, t: Any, q: Array, v: Array, p: Array, h: Any) -> dict[str, Array]:
        a, p_rate, tau = self._rates(t, q, v, p)
        v1 = v + h * a
        q1 = q + h * v1 if self.plant.plain else inlined(self.plant.kernels.retract, q, h * v1)["q"]
        return {"q1": q1, "v1": v1, "p1": p + h * p_rate, "a": a, "tau_law": tau}


def _combined(y: Array, h: Any, weights: Array, stages: Sequence[Array]) -> Array:
    """y + h sum_j w_j k_j."""
    for w, k in zip(weights.tolist(), stages, strict=False):
        if w:
            y = y + (w * h) * k
    return y


def _example(
    plant: Plant, model: Model, name: str, shape: tuple[int, ...], dt: float, rng: np.random.Generator
) -> Array:
    """Numbers for an input of the test vectors."""
    fixed = {"dt": np.array([dt]), "p": plant.source.p0, "m": plant.source.m0}
    if name in fixed:
        return fixed[name]
    if name == "parameters":
        return np.concatenate([plant.parameters[: len(plant.parameters) - plant.nv], plant.live])
    if name == "sample":
        return rng.integers(0, 2, shape).astype(float)
    return example_input(model, name, shape, rng)


def _entries(model: Model, numbers: Parameters) -> dict[str, Sequence[str]]:
    """Names of the entries of inputs and outputs, for comments."""
    names = entry_names(model)
    told = [
        numbers.spelt[name] if x.size == 1 else f"{numbers.spelt[name]}[{k}]"
        for name, x in (numbers.gains | numbers.live).items()
        for k in range(x.size)
    ]
    more = {"q1": model.coordinates, "v1": model.dofs, "tau_law": model.dofs, "tau": model.dofs}
    return {**names, **more, "parameters": told, "sample": ["1 where digital parts are sampled at the start"]}
