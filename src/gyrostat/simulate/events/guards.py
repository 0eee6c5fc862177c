"""Functions of events in machine code: a step in which none of them changes its sign needs no look in Python.

What is compiled may cry wolf, never sleep: the step is looked at again in Python (:mod:`crossings`), which decides. A
function that cannot be recorded, and what constraints at work need to know, let every step be looked at."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.tracing.lifted_constants import lifted_constants
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.signals import handed
from gyrostat.simulate.events.crossings import Watch
from gyrostat.simulate.events.watches import Watches
from gyrostat.simulate.kernels import environment as at
from gyrostat.simulate.kernels.law_kernels import shared_code
from gyrostat.simulate.methods.method import Step
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.machine import address
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class Guards:
    """The watches of a run as one kernel, in the environment of its plant."""

    def __init__(self, plant: Plant, harvest: Harvest):
        self.plant, self.harvest = plant, harvest
        self._built: list[Watch] = []
        self._by_driver: list[Watch] = []
        self._machine: Any = None
        self._code: KernelCode | None = None
        self._constants = np.zeros(1)

    def follow(self, watches: Watches, just_happened: bool) -> None:
        """What is watched from now on."""
        all_of_them = watches.all
        if not all_of_them:
            self.harvest.always = False
            return
        self._by_driver = []
        if self.plant.machine.watches_contacts:
            self._by_driver = [watch for watch in all_of_them if watch.event.in_driver]
        apart = {id(watch) for watch in self._by_driver}
        all_of_them = [watch for watch in all_of_them if id(watch) not in apart]
        if len(self._built) != len(all_of_them) or any(
            x is not y for x, y in zip(self._built, all_of_them, strict=True)
        ):
            self._build(all_of_them)
        if self._code is not None and self._machine is not self.plant.machine:
            self._install(self._code)
        signs = np.array([watch.event.guard_sign(watch.sign) for watch in all_of_them])
        unclear = just_happened or any(watch.fresh for watch in all_of_them) or not np.all(signs)
        self.harvest.always = self._code is None or unclear
        if self._code is not None:
            self.harvest.watch(signs, np.array([watch.last for watch in all_of_them]))
            self.harvest.look_at_the_end = bool(watches.users)

    def looked(self, step: Step) -> None:
        """A step is about to be looked at: the watches get to know the values at its beginning."""
        if self._code is not None and not self.harvest.always:
            for watch, last in zip(self._built, self.harvest.lasts.tolist(), strict=True):
                watch.last = watch.event.from_guard(last)
            for watch in self._by_driver:
                watch.last = watch.value(step.t0, *step.dense(step.t0))

    def _build(self, watches: list[Watch]) -> None:
        self._built, self._code = list(watches), None
        self.harvest.watch(np.zeros(0), np.zeros(0))
        if any(watch.event.guard is None for watch in watches):
            return
        plant, shared = self.plant, {}

        def function(t: Array, q: Array, v: Array, p: Array, m: Array) -> Mapping[str, Any]:
            shared.clear()
            values = [watch.event.guard(t[0], handed(q), handed(v), shared) for watch in watches]  # type: ignore[misc]
            return {"values": np.array([np.asarray(x).reshape(()).item() for x in values], dtype=object)}

        shapes = {"t": (1,), "q": (plant.nq,), "v": (plant.nv,), "p": (plant.np,), "m": plant.memory.shape}
        try:
            with np.errstate(all="ignore"):
                program = record(function, shapes, f"{plant.model.name}_events")
        except Exception:  # a function of the user's may fail in any way on recorded values: it is called instead
            return
        lifted, self._constants = lifted_constants(program)
        self._code = shared_code(lifted)
        self._install(self._code)

    def _install(self, code: KernelCode) -> None:
        self._machine = machine = self.plant.machine
        machine.install(at.GUARDS, code)
        machine.words[at.GUARD_CONSTANTS] = address(self._constants)
