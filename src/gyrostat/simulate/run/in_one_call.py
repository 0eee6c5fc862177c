"""A short run that is known, once more: one call of machine code from its start to its end, and nothing else in
Python but what it takes to ask for it.

What is cold costs more than what is long: after other work each function, table and array that a call touches must be
fetched from far away. All that a known run depends on is looked at first (:meth:`RunInOneCall.fits`); when anything but
its end comes of the call, there is no result, and it is done the long way, which tells why."""

from __future__ import annotations

import time
from types import FunctionType
from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.simulate.kernels import environment as env
from gyrostat.simulate.kernels import harvest as harvesting
from gyrostat.simulate.kernels.first_row import first_row
from gyrostat.simulate.kernels.sampling import END, NEXT_LIMIT
from gyrostat.simulate.methods.compiled import FIRST_BUDGET, REACHED, CompiledMethod
from gyrostat.simulate.methods.method_memory import MethodMemory
from gyrostat.simulate.plant.harvest import ROWS
from gyrostat.simulate.plant.later_outputs import LaterOutputs
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.plant.unchanged_law import UnchangedLaw
from gyrostat.simulate.results.kept_rows import KeptRows
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.loop import Run, interrupted
from gyrostat.simulate.run.runaway import FASTEST, GROWTH
from gyrostat.spec.model import Model
from gyrostat.spec.rules import UNIT

Array = np.ndarray
DOUBLE = np.dtype(float)
LONG, LONG_STEP = 1e-9, 1e-12
"""Lengths of a run and of a step, relative to its times, that :mod:`~gyrostat.simulate.run.settings` never refuses."""
TINY = 1e-280
"""Times [s] below which doubles are no longer told apart by so many digits."""
COUNTS = slice(env.RHS_COUNT, env.OUTPUT_COUNT + 1)


def short(run: Run) -> bool:
    """Whether a run that has come to its end would do so in one call of machine code."""
    return run.recorder.steps + run.method.rejected < min(FIRST_BUDGET, ROWS) - 1


def in_one_call(run: Run, memory: MethodMemory, torque: Any, law: Any) -> RunInOneCall | None:
    """For a run at its end; None if it is of another kind, or if changes of its law would not be seen. ``law``: what
    its torque computes."""
    plant, method = run.plant, run.method
    if plant.np or len(plant.memory) or plant.parameters.size or plant.live.size or plant.machine.callbacks:
        return None
    if not isinstance(method, CompiledMethod) or run.recorder.t_eval is not None or run.watches.all:
        return None
    watched = UnchangedLaw(torque, law) if isinstance(torque, FunctionType) else None
    return RunInOneCall(run, method, memory, watched) if watched is None or watched.watchable else None


class RunInOneCall:
    """A run without events, samples, parameters and own states of its source, whose ends of steps are kept."""

    def __init__(self, run: Run, method: CompiledMethod, memory: MethodMemory, law: UnchangedLaw | None):
        plant = run.plant
        self.method, self.harvest, self.machine = method, run.recorder.harvest, plant.machine
        self.nq, self.nv = plant.nq, plant.nv
        self.settings = {name: run.settings[name] for name in ("rtol", "atol", "dt", "max_step")}
        self._shapes, self._memory, self._law = ((plant.nq,), (plant.nv,)), memory, law
        self.q, self.v, self._none = np.zeros(plant.nq), np.zeros(plant.nv), np.zeros(0)
        n = 2 * plant.nv + 1
        self._spare = np.zeros(2 * n), np.zeros(plant.nq), np.zeros(plant.nv)
        y = address(self._spare[0])
        self._state = address(self.q), address(self.v), 1.9 * UNIT  # closer, who tells why looks again
        self._places = y, y + 8 * n, address(self._spare[1]), address(self._spare[2])
        self._fastest = self._spare[0][n : n + 1]
        self._first = driver(first_row).call
        self._later = LaterOutputs(self.machine, np.zeros((0, self.harvest.width))) if self.harvest.later else None

    def fits(self, q0: Any, v0: Any, t0: Any, t1: Any) -> bool:
        """Whether a state and times are such as need no other check than that of their numbers, and the law is the
        same."""
        if type(t0) is not float or type(t1) is not float or type(q0) is not np.ndarray:
            return False
        if q0.dtype is not DOUBLE or q0.shape != self._shapes[0]:
            return False
        if v0 is not None and (type(v0) is not np.ndarray or v0.dtype is not DOUBLE or v0.shape != self._shapes[1]):
            return False
        far, dt = max(abs(t0), abs(t1), TINY), self.settings["dt"]
        if not t1 - t0 > LONG * far or (dt is not None and not dt > LONG_STEP * far):
            return False
        return self._law is None or self._law.holds()

    def go(self, model: Model, q0: Array, v0: Array | None, t0: float, t1: float, start: float) -> Result | None:
        """The run from q0 (nq,), v0 (nv,), None for rest, at t0 to t1 [s]; None if it does not end there, in one call
        and without trouble. ``start``: of the clock when it was asked for."""
        method, machine, harvest = self.method, self.machine, self.harvest
        self.q[:] = q0
        self.v[:] = 0.0 if v0 is None else v0
        self._memory.rewind()
        harvest.t_end[0] = t1
        if self._first(machine.env, harvest.io, t0, *self._state, *self._places):
            return self._given_up()
        method.fastest = max(FASTEST, GROWTH * float(self._fastest[0]))
        method.clock[END] = method.clock[NEXT_LIMIT] = t1
        began, how = time.perf_counter(), None
        try:
            method.begin(t0, self.q, self.v, self._none)
            if method.run(machine, harvest, FIRST_BUDGET) != REACHED:
                return self._given_up()
        except KeyboardInterrupt:
            how = interrupted(method.end()[0], t1)
        ended = time.perf_counter()
        counts, steps, t_last = machine.words[COUNTS].tolist(), int(harvest.words[harvesting.TAKEN]), t1
        machine.words[COUNTS] = 0
        rest: dict[str, Any] = {
            "model": model, "events": (), "status": "finished", "message": "", "method": method.name,
            "settings": {**self.settings, "t_start": t0, "t_end": t1}, "phases": ((0, model),), "wrenches": {},
            "sensitivities": {}, "contact_forces": {}, "contact_moments": {},
        }  # fmt: skip
        if how is not None:
            (rest["status"], rest["message"]), t_last = how, method.end()[0]
        counted = (
            *counts, steps, method.rejected, ended - began, began - start, t_last - t0, True, "",
            dict(method.statistics), {},
        )  # fmt: skip
        return Result.of_rows(KeptRows(harvest.handed_over(), self.nq, self.nv, self._later), counted, rest)

    def _given_up(self) -> None:
        """Nothing of the call is left."""
        self.machine.words[COUNTS] = 0
        self.harvest.again()
