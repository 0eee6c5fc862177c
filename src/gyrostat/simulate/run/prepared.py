"""A run that was prepared for an earlier call of ``gs.simulate``, and serves the next one that asks for the same.

What a call prepares (source, machine, method, buffers) depends on the model object, on the law, and on the settings of
the method and its samples, not on the state at the start, on the end or on the values of gains. The last runs of a
model that were asked for twice are kept with it. One serves a call whose settings are equal and whose law is the same
code with the same numbers, as :mod:`~gyrostat.simulate.plant.trusted_laws` tells them apart: arrays by their bytes, so
that a gain that was changed in place is another law. Laws that reach anything else (files, clocks, objects of users)
are prepared anew every time, and so are runs in which Python has a part: events, constraints, friction that sticks,
wrenches, blocks, sensitivities.

A call in the very words of the last two, with the very same function, whose run is short, is one call of machine code
(:mod:`~gyrostat.simulate.run.in_one_call`)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from operator import is_
from types import FunctionType
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import CACHE, cached_on
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.methods.method_memory import MethodMemory
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.trusted_laws import known_law
from gyrostat.simulate.results.result import Result
from gyrostat.simulate.run.in_one_call import RunInOneCall, in_one_call, short
from gyrostat.simulate.run.loop import Run
from gyrostat.simulate.run.settings import spelt
from gyrostat.simulate.run.task import Task
from gyrostat.spec.model import Model

KEPT, ASKED = "prepared runs", "runs asked for"
MOST = 4
"""Runs of a model that are kept, and runs of which it is known that they were asked for."""
MANY = 10_000
"""Samples of a run, at instants that were asked for, for which no memory is kept."""
PLAIN = frozenset({str, int, float, bool, type(None), np.float64})
"""Kinds of settings that can be compared."""
Key = tuple[Hashable, ...]
Words = tuple[Any, ...]
"""Arguments of a call: the torque, events, and all others but model, state, times, progress and options."""


class PreparedRun:
    """A run that has not begun, or has come to its end, with what it was prepared for."""

    def __init__(self, key: Key, run: Run):
        self.key, self.run = key, run
        _ = getattr(run.method, "_steps", None)  # machine code of its steps stays with it
        self._memory = MethodMemory(run.method)
        self.words: Words | None = None
        self.in_one_call: RunInOneCall | None = None

    def again(self, task: Task, numbers: Parameters) -> Run:
        """The run once more, from the start, with the times of a task and other values of its gains."""
        self._memory.rewind()
        self.run.asked(task.settings, task.t1)
        self.run.again(numbers, task.model)
        return self.run

    def follow(self, words: Words | None) -> None:
        """A call in these words has come to its end: when they come for the second time, the next ones may be short."""
        same = words is not None and self.words is not None and all(map(is_, words, self.words))
        if not same:
            self.words, self.in_one_call = words, None
        elif not short(self.run):
            self.in_one_call = None
        elif self.in_one_call is None and words is not None:
            self.in_one_call = in_one_call(self.run, self._memory, words[0], self.key[0])


def repeated(model: Any, words: Words, q0: Any, v0: Any, t0: Any, t1: Any, start: float) -> Result | None:
    """The result of a call in the very words of an earlier one, but for state and times; None if there was none, if the
    law has changed, or if more than one call of machine code is needed: then the call goes the long way."""
    cache = model.__dict__.get(CACHE) if type(model) is Model else None
    kept: tuple[PreparedRun, ...] = () if cache is None else cache.pop(KEPT, ())  # who takes them out owns them
    if cache is None or not kept:
        return None
    for found in kept:
        run = found.in_one_call
        if run is not None and all(map(is_, words, found.words or ())) and run.fits(q0, v0, t0, t1):
            break
    else:
        cache[KEPT] = kept
        return None
    if len(kept) > 1:
        cache[KEPT] = tuple(x for x in kept if x is not found)
    result = run.go(model, q0, v0, t0, t1, start)
    if result is None or result.status == "finished":
        others = cache.pop(KEPT, ())
        cache[KEPT] = (*others[1 - MOST :], found)
    return result


def repeatable(words: Words) -> bool:
    """Whether words other than those for state and times say all, and cannot change: nothing but a function and plain
    settings."""
    torque, events, *others = words
    nothing = events is None or (type(events) is tuple and not events)
    return nothing and (torque is None or isinstance(torque, FunctionType)) and PLAIN.issuperset(map(type, others))


def taken(task: Task, numbers: Parameters, told: Model) -> tuple[Run, PreparedRun | None]:
    """The run of a task, and what :func:`keep` is to be given when it has come to its end: nothing when it is asked for
    the first time. Nobody else gets the same run meanwhile, whichever thread asks. ``told``: the model with the
    properties among ``numbers``."""
    cache = cached_on(task.model)
    kept: tuple[PreparedRun, ...] = cache.pop(KEPT, ())  # who takes them out owns them
    key = _asked(task, numbers, [x.key[0] for x in kept])
    found = next((x for x in kept if x.key == key), None)
    if kept:
        cache[KEPT] = tuple(x for x in kept if x is not found)
    if found is not None:
        return found.again(task, numbers), found
    run = task.run(task.plant(numbers, told), told, numbers)
    return run, PreparedRun(key, run) if key is not None and _again(cache, key) and _in_machine_code(run) else None


def _again(cache: dict[Any, Any], key: Key) -> bool:
    """Whether it was asked for before: laws with other numbers every time are not kept."""
    before: tuple[Key, ...] = cache.get(ASKED, ())
    if key in before:
        return True
    cache[ASKED] = (*before[1 - MOST :], key)
    return False


def _in_machine_code(run: Run) -> bool:
    plant = run.plant
    python = plant.why_not_compiled or plant.model_in_python or plant.user_memory is not None
    return run.method.compiled and not run.method.treats_contacts and not python  # contacts have a history


def keep(model: Model, prepared: PreparedRun | None, words: Words | None = None) -> None:
    """A run that has come to its end, as it should, serves the next call. What it has found belongs to its result.
    ``words``: those of the call, if it may be repeated in one call of machine code."""
    if prepared is not None:
        prepared.follow(words)
        prepared.run.recorder.again(model)
        cache = cached_on(model)
        others: tuple[PreparedRun, ...] = cache.pop(KEPT, ())
        cache[KEPT] = (*others[1 - MOST :], prepared)


def _asked(task: Task, numbers: Parameters, laws: Sequence[Hashable]) -> Key | None:
    """All that a prepared run depends on, the law first, but for the model object that keeps it; None if it must not be
    kept. ``laws``: those of runs that are kept."""
    others = task.watched or task.wrenches is not None or task.forward is not None
    if task.times is not None and len(task.times) > MANY:
        return None
    if others or task.held or task.sensitivities is not None or numbers.live or DryFriction.of(task.model) is not None:
        return None
    law: Hashable | None = ()
    if task.torque is not None:
        law = known_law(task.torque, laws) if isinstance(task.torque, FunctionType) else None
    if law is None:
        return None
    how = spelt(task.method), task.rtol, task.atol, task.max_step, task.dt, task.compiled, *task.options.values()
    kinds = (*map(type, how),)
    if not PLAIN.issuperset(kinds):
        return None
    shapes = tuple((name, np.shape(x)) for name, x in numbers.gains.items())
    instants = None if task.times is None else task.times.tobytes()
    return law, how, kinds, tuple(task.options), shapes, instants
