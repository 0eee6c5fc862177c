"""A run that was prepared for an earlier call of ``gs.simulate``, and serves the next one that asks for the same.

What a call prepares (source, machine, method, buffers) depends on the model object, on the law, and on the settings of
the method, not on the state at the start, on times or on the values of gains. The last run of a model is kept with
them. It serves a call whose settings are equal and whose law is the same code with the same numbers, as
:mod:`~gyrostat.simulate.plant.trusted_laws` tells them apart: arrays by their bytes, so that a gain that was changed in
place is another law. Laws that reach anything else (files, clocks, objects of users) are prepared anew every time, and
so are runs in which Python has a part: events, constraints, friction that sticks, wrenches, blocks, sensitivities."""

from __future__ import annotations

from collections.abc import Hashable
from types import FunctionType

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.methods.method_memory import MethodMemory
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.trusted_laws import known_law
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.settings import spelt
from gyrostat.simulate.run.task import Task
from gyrostat.spec.model import Model

KEPT = "prepared run"


class PreparedRun:
    """A run that has not begun, or has come to its end, with what it was prepared for."""

    def __init__(self, key: Hashable, run: Run):
        self.key, self.run = key, run
        self._memory = MethodMemory(run.method)

    def again(self, task: Task, numbers: Parameters) -> Run:
        """The run once more, from the start, with the times of a task and other values of its gains."""
        self._memory.rewind()
        self.run.asked(task.settings, task.t1)
        self.run.again(numbers, task.model)
        return self.run


def taken(task: Task, numbers: Parameters, told: Model) -> tuple[Run, PreparedRun | None]:
    """The run of a task, and what :func:`keep` is to be given when it has come to its end. Nobody else gets the same
    run meanwhile, whichever thread asks. ``told``: the model with the properties among ``numbers``."""
    key = _asked(task, numbers)
    if key is None:
        return task.run(task.plant(numbers, told), told, numbers), None
    found = cached_on(task.model).pop(KEPT, None)
    if found is not None and found.key == key:
        return found.again(task, numbers), found
    run = task.run(task.plant(numbers, told), told, numbers)
    plant = run.plant
    alone = run.method.compiled and not plant.why_not_compiled and not plant.model_in_python
    key = _asked(task, numbers) if alone and plant.user_memory is None else None  # the law is known from now on
    return run, None if key is None else PreparedRun(key, run)


def keep(model: Model, prepared: PreparedRun | None) -> None:
    """A run that has come to its end, as it should, serves the next call. What it has found belongs to its result."""
    if prepared is not None:
        prepared.run.recorder.again(model)
        cached_on(model)[KEPT] = prepared


def _asked(task: Task, numbers: Parameters) -> Hashable | None:
    """All that a prepared run depends on, but for the model object that keeps it; None if it must not be kept."""
    others = task.watched or task.wrenches is not None or task.forward is not None or task.times is not None
    if others or task.held or task.sensitivities is not None or numbers.live or DryFriction.of(task.model) is not None:
        return None
    law: Hashable | None = ()
    if task.torque is not None:
        law = known_law(task.torque) if isinstance(task.torque, FunctionType) else None
    if law is None:
        return None
    how = spelt(task.method), task.rtol, task.atol, task.max_step, task.dt, task.compiled, *task.options.values()
    if not all(isinstance(x, str | int | float | None) for x in how):
        return None
    shapes = tuple((name, np.shape(x)) for name, x in numbers.gains.items())
    return law, how, tuple(map(type, how)), tuple(task.options), shapes
