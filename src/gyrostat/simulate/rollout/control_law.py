"""What drives the robots of a rollout: a constant effort, a function of t, q, v, or a block, in a form that is recorded
into the loop."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.tracing.program import Program, run
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.signals import handed
from gyrostat.errors import GyrostatError, NonFiniteError, RecordError, ShapeError, StateError
from gyrostat.simulate.plant.torque_source import BlockSource, forces
from gyrostat.simulate.plant.user_memory import ALIKE, LATE, UserMemory, probes
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model

WHO = "rollout"
REMEMBERING = "gs.simulate takes gs.blocks.sampled(f, T), which runs it once at every sampling instant, in order"


class Law:
    """tau (nv,), rates of the law's own states p (np,), and its memory m (nm,), which changes at samples.

    ``gains``: shapes of further arguments of a function, which may differ from robot to robot. ``sample_time`` [s]."""

    def __init__(self, model: Model, controller: Any, gains: Mapping[str, tuple[int, ...]]):
        self.model, self.controller, self.gains = model, controller, dict(gains)
        self.source = BlockSource(model, controller) if is_block(controller) else None
        self.users = (controller,)
        self.p0: Array = np.zeros(0) if self.source is None else self.source.p0
        self.m0: Array = np.zeros(0) if self.source is None else self.source.m0
        times = () if self.source is None else self.source.sample_times
        if len(times) > 1:
            raise StateError(
                f"{WHO}: {self.told} has parts with different sample times {times}. Hint: gs.simulate takes them"
            )
        self.sample_time = times[0] if times else None

    @property
    def told(self) -> str:
        """The controller, as messages name it."""
        if self.source is not None:
            return self.source.told
        return f"the controller '{getattr(self.controller, '__name__', type(self.controller).__name__)}'"

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array, gains: Mapping[str, Any]) -> tuple[Array, Array]:
        """tau (nv,) and dp/dt (np,), on numbers or recorded values."""
        if self.source is not None:
            return self.source.evaluate(t, q, v, p, m)  # makes copies, too
        given = {name: gains[name][()] if np.ndim(gains[name]) == 0 else gains[name] for name in self.gains}
        return forces(self.model, self.controller(t, handed(q), handed(v), **given), self.told), self.p0

    def update(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> Array:
        """The memory (nm,) after a sample."""
        block = self.controller if self.source is None else self.source.block
        return np.asarray(block.update(t, {"q": q, "v": v}, p, m))

    def recorded(self, *arguments: Any) -> tuple[Array, Array]:
        """:meth:`evaluate` on recorded values; whatever fails is told as what it means."""
        return compilable(self.told, self.evaluate, *arguments)

    @cached_property
    def program(self) -> Program:
        """tau (nv,) and p_rate (np,), of t (1,), q, v, p, m and the gains, one behind the other (parameters)."""
        shapes = {"t": (1,), "q": (self.model.nq,), "v": (self.model.nv,), "p": self.p0.shape, "m": self.m0.shape}
        shapes["parameters"] = (sum(math.prod(shape) for shape in self.gains.values()),)

        def function(t: Array, q: Array, v: Array, p: Array, m: Array, parameters: Array) -> Mapping[str, Any]:
            if len(self.m0):  # what it does at samples is looked at, too
                self.update(t[0], q, v, p, m)
            tau, rate = self.recorded(t[0], q, v, p, m, parts(parameters, self.gains))
            return {"tau": tau, "p_rate": rate}

        with np.errstate(all="ignore"):
            return record(function, shapes, f"{self.model.name}_controller")

    def recorded_safely(self) -> None:
        """Record it, and refuse what keeps recorded values."""
        memory = UserMemory(WHO, self.told, self.users, REMEMBERING)
        try:
            _ = self.program
        except Exception:
            memory.recorded(failed=True)
            with suppress(AttributeError, ArithmeticError, LookupError, TypeError, ValueError, NonFiniteError):
                self._on_numbers(memory)  # what remembers is told so, whatever else is in the way
            raise
        memory.recorded()

    def expect_same_on_numbers(self) -> None:
        """Refuse a function that has a memory, or does not do on numbers what was recorded: it has a clock or dice."""
        memory = UserMemory(WHO, self.told, self.users, REMEMBERING)
        for (t, q, v), gains, want in self._on_numbers(memory):
            parameters = np.concatenate([np.zeros(0), *(np.ravel(x) for x in gains.values())])
            with np.errstate(all="ignore"):
                tau = np.array(run(self.program, np.array([t]), q, v, self.p0, self.m0, parameters)[0], dtype=float)
            if not np.allclose(tau, want, rtol=ALIKE, atol=ALIKE, equal_nan=True):
                raise RecordError(
                    f"{WHO}: {self.told} does not return the same when it is recorded, {tau} against {want}. "
                    "Hint: it must depend on its arguments alone; gs.simulate takes any function"
                )

    def _on_numbers(self, memory: UserMemory) -> list[tuple[Any, dict[str, Array], Array]]:
        """States (t, q, v), gains and tau there; a memory is refused."""
        rng = np.random.default_rng(1)
        gains = {name: rng.uniform(0.5, 1.5, shape) for name, shape in self.gains.items()}
        points = probes(self.model, LATE[0])

        def value(t: float, q: Array, v: Array) -> Array:
            return np.array(self.evaluate(t, q, v, self.p0, self.m0, gains)[0], dtype=float)

        with np.errstate(all="ignore"):
            memory.numbers([lambda x=x: value(*x) for x in points])
            return [(x, gains, value(*x)) for x in points]


def parts(flat: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Array]:
    """Arrays by name that lie one behind the other in the last axis."""
    arrays: dict[str, Array] = {}
    start = 0
    for name, shape in shapes.items():
        size = math.prod(shape)
        arrays[name] = flat[..., start : start + size].reshape((*flat.shape[:-1], *shape))
        start += size
    return arrays


def compilable(told: str, evaluate: Callable[..., tuple[Array, Array]], *arguments: Any) -> tuple[Array, Array]:
    """What a law gives for recorded values; whatever fails is told as what it means."""
    try:
        return evaluate(*arguments)
    except RecordError as error:
        raise RecordError(f"{WHO}: {told} cannot be compiled: {error}") from error
    except GyrostatError:
        raise
    except Exception as error:  # a function of the user's may fail in any way on recorded values
        raise RecordError(
            f"{WHO}: {told} cannot be compiled, {type(error).__name__}: {error}. "
            "Hint: it must be arithmetic and NumPy functions of t, q (nq,), v (nv,); gs.simulate takes any function"
        ) from error


def is_block(controller: Any) -> bool:
    """Whether it is a block, as ``gs.simulate`` sees it."""
    return callable(getattr(controller, "output", None))


def constant(model: Model, controller: Any, tau: Callable[..., Array]) -> Array:
    """A constant effort (nv,) or (N, nv); None is none."""
    if controller is None:
        return np.zeros(model.nv)
    efforts = tau(model, controller, WHO, "tau")
    if efforts.ndim > 2:
        raise ShapeError(f"{WHO}: tau has shape {efforts.shape}, expected ({model.nv},) or (N, {model.nv})")
    return efforts
