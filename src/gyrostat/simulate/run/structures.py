"""A run that goes on with another structure where an event has changed it: one run after the other, one result.

Each structure has a plant and a method of its own; machine code of its model stays with the model object, so that a
model that comes back compiles nothing."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

from gyrostat.errors import GyrostatError, SimulationError
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.results.parts import joined
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.progress import Progress
from gyrostat.simulate.run.task import Task

WHO = "simulate"
ENDED = "event"


def carried_on(task: Task, run: Run, result: Result, numbers: Parameters, progress: Any) -> Result:
    """The result of a run that has come to an end, with those of the structures that go on from there."""
    parts = [result]
    while run.successor is not None and parts[-1].status == ENDED:
        parts[-1] = replace(parts[-1], status="finished", message="")
        model, q, v = run.successor
        before, t = run, run.t
        try:
            start = time.perf_counter()
            later = replace(task, model=model, t0=t, times=None if task.times is None else task.times[task.times > t])
            told = numbers.replaced(model)
            run = later.run(later.plant(numbers, told), told, numbers)
            run.before = before
            parts.append(run.go(t, q, v, Progress(progress, t, task.t1), start, warn=False))
        except SimulationError as error:
            whole = joined([*parts, error.result]) if isinstance(error.result, Result) else joined(parts)
            raise SimulationError(str(error), whole, error.t, error.joint, error.cause) from error
        except GyrostatError as error:
            dof = before.plant.model.dofs[0]
            message = f"{WHO}: stopped at t = {t:.9g} s of {task.t1:g} s, where the structure changes: {error}"
            whole = replace(parts[-1], status="failed", message=message)
            raise SimulationError(message, joined([*parts[:-1], whole]), t, dof, str(error)) from error
    return joined(parts)
