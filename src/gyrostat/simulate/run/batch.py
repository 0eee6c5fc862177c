"""Many runs of one task, in threads: recorded, checked and compiled once, each with its own memory and steps."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, SimulationError, SpecError
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.results.recorder import Recorder
from gyrostat.simulate.results.result import Counted, Result
from gyrostat.simulate.results.results import Results
from gyrostat.simulate.run.failure import KEPT
from gyrostat.simulate.run.lane import Lane
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.progress import Progress
from gyrostat.simulate.run.runs import Runs
from gyrostat.simulate.run.settings import given_events, spelt
from gyrostat.simulate.run.structures import carried_on
from gyrostat.simulate.run.task import Task
from gyrostat.spec.model import Model

Array = np.ndarray
LOOK = 0.2
"""Seconds between two looks at the threads, for the progress."""


class Ending:
    """In the place of the progress of one run: ends it when the whole batch is to end."""

    def __init__(self) -> None:
        self.wanted = False

    def __call__(self, t: float, h: float) -> None:
        if self.wanted:
            raise KeyboardInterrupt

    def close(self) -> None:
        """There is nothing to close."""


class Batch:
    """The runs of a task. ``start``: the clock when it was asked for."""

    def __init__(self, task: Task, runs: Runs, start: float):
        self.task, self.runs, self.start = task, runs, start
        self.results: dict[int, Result] = {}
        self.refusals: dict[int, Exception] = {}
        self.first, model = self._first_sound()
        self.plant = task.plant(runs.parameters(self.first), model)
        self.ending = Ending()

    def go(self, threads: int, asked: Any) -> Results:
        """All of them; if Ctrl-C stops it, those that were computed."""
        progress = Progress(asked, 0.0, float(len(self.runs)), "runs")
        numbers = (k for k in range(len(self.runs)) if k != self.first and k not in self.refusals)
        for k, error in self.refusals.items():
            self.results[k] = self._nothing("failed", str(error))
        try:
            self._one(self.first)  # compiles, and warns
            if threads > 1 and self._side_by_side:
                self._in_threads(numbers, threads, progress)
            else:
                self._in_turn(numbers, progress)
        except KeyboardInterrupt:
            self.ending.wanted = True
        finally:
            progress.close()
        return self._all()

    def _first_sound(self) -> tuple[int, Model]:
        """The first run whose properties make a sound model, and that model; those before it cannot begin."""
        for k in range(len(self.runs)):
            try:
                return k, self.runs.parameters(k).replaced(self.task.model)
            except SpecError as error:
                self.refusals[k] = error
        raise self.refusals[0]

    # ------------------------------------------------------------------ in which order
    @cached_property
    def _side_by_side(self) -> bool:
        """Whether nothing but machine code runs, which threads do at the same time; Python they would do in turn."""
        plant, task = self.plant, self.task
        python = plant.why_not_compiled or plant.model_in_python or self._sampled_in_python
        constrained = task.watched or DryFriction.of(task.model) is not None
        return not python and not constrained and task.sensitivities is None and task.made(plant).compiled

    @cached_property
    def _alike(self) -> bool:
        """Whether all runs can have twins of one plant: nothing that a run does changes what the next one reads."""
        resets = any(event.reset is not None for event in given_events(self.task.events)[0])
        return not resets and not self._sampled_in_python and not (self.runs.live and self.task.needs_numbers)

    @property
    def _sampled_in_python(self) -> bool:
        memory = self.plant.user_memory
        return memory is not None and bool(memory.start.sampled)

    def _in_turn(self, numbers: Iterator[int], progress: Progress) -> None:
        lane = Lane(self.task, self.plant) if self._side_by_side else None
        for k in numbers:
            if self.ending.wanted:
                return
            progress(float(k), float(len(self.runs)))
            self._one(k, lane)

    def _in_threads(self, numbers: Iterator[int], threads: int, progress: Progress) -> None:
        with ThreadPoolExecutor(threads, "gyrostat") as pool:
            quiet = Progress(False, 0.0, 1.0)
            waiting = {pool.submit(self._in_turn, numbers, quiet) for _ in range(threads)}
            try:
                while waiting:
                    done, waiting = wait(waiting, LOOK)
                    for thread in done:
                        thread.result()
                    progress(float(len(self.results)), float(len(self.runs)))
            except BaseException:
                self.ending.wanted = True
                raise

    # ------------------------------------------------------------------ one run
    def _one(self, k: int, lane: Lane | None = None) -> None:
        """Run k. What ends it ends no other."""
        start = self.start if k == self.first else time.perf_counter()
        try:
            run = self._run(k, lane)
            result = run.go(self.task.t0, *self._state(k), self.ending, start, warn=k == self.first)
            if run.successor is not None:
                result = carried_on(self.task, run, result, self.runs.parameters(k), False)
        except SimulationError as error:
            result = self._partial(error)
        except Exception as error:  # it did not begin; functions of users may fail in any way
            self.refusals[k] = error
            told = str(error) if isinstance(error, GyrostatError) else f"{type(error).__name__}: {error}"
            result = self._nothing("failed", told)
        if result.status == "interrupted":
            self.ending.wanted = True
        self.results[k] = result

    def _run(self, k: int, lane: Lane | None) -> Run:
        numbers = self.runs.parameters(k)
        told = numbers.replaced(self.task.model)
        if lane is not None:
            return lane.run(numbers, told)
        plant = self.plant.twin(numbers) if self._alike else self.task.plant(numbers, told)
        return self.task.run(plant, told, numbers)

    def _state(self, k: int) -> tuple[Array, Array]:
        return np.array(self.runs.q[k]), np.array(self.runs.v[k])

    def _partial(self, error: SimulationError) -> Result:
        """Of a run that could not go on."""
        if not isinstance(error.result, Result):
            return self._nothing("failed", str(error))
        if len(error.result.parts) > 1:
            return error.result
        return replace(error.result, message=error.result.message.removesuffix(KEPT))

    def _nothing(self, status: str, message: str) -> Result:
        """A run without samples."""
        task = self.task
        return Recorder(self.plant, np.zeros(0), spelt(task.method), task.model).result(
            status, message, Counted(), {"t_start": task.t0, "t_end": task.t1}
        )

    # ------------------------------------------------------------------ all of them
    def _all(self) -> Results:
        count = len(self.runs)
        if len(self.refusals) == count:  # none could begin: something is wrong with all of them
            raise self.refusals[0]
        not_begun = "interrupted before it began"
        runs = tuple(self.results.get(k) or self._nothing("interrupted", not_begun) for k in range(count))
        return Results(self.task.model, runs, self.task.times)
