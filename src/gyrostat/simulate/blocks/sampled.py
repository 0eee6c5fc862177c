"""A controller in Python with a memory of its own, called once at every sampling instant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.record import is_recorded
from gyrostat.errors import NonFiniteError, RecordError, ShapeError, clipped, nearest
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import count, expect_call, period, refuse, signal


@dataclass(frozen=True, eq=False)
class Sampled(Block):
    """y(t) = f(t_k, signal, signal, ...) for t_k <= t < t_(k+1), t_k = k T: sampled and held, as on a real controller.

    ``function`` is called with numbers, once at the start of a run and once at every later sampling instant, in order
    of time, whatever the method: not at stages, not in steps that are given up, not along the search for an event. So
    it may remember what it likes: ``self.integral += ...``, lists, ``if``. What it remembers is its own, and is there
    still in the next run: make a new controller for each. ``reads`` names the signals in the order of the arguments.
    ``size``: how many numbers it returns; by default one for each rate of the joints that it serves, as an array or by
    their names. Between the samples the run is compiled."""

    kind: ClassVar[str] = "sampled"
    remembers: ClassVar[bool] = True
    function: Callable[..., Any]
    sample_time: float | None
    reads: tuple[str, ...] = ("q", "v")
    target: str = "tau"
    size: int | None = None
    name: str = ""
    rates: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not callable(self.function) or isinstance(self.function, type):
            message = f"expected a function f(t, q, v), got {clipped(self.function)}"
            raise refuse(self.who, "function", message, "an object with __call__, or a function", self.function)
        object.__setattr__(self, "sample_time", period(self.sample_time, self.who, needed=True))
        given: Any = self.reads
        reads = (given,) if isinstance(given, str) else tuple(given)
        object.__setattr__(self, "reads", tuple(signal(one, self.who, "reads") for one in reads))
        expect_call(self.function, ("t", *self.reads), self.who)
        signal(self.target, self.who, "target")
        if self.size is not None:
            size = count(self.size, self.who, "size", 1, 100_000, "the number of values that it returns")
            object.__setattr__(self, "size", size)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.reads

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    @property
    def memory(self) -> tuple[float, ...]:
        """What is held."""
        if self.size is None:
            message = "how many numbers it returns is not known"
            raise refuse(self.who, "size", message, f"gs.blocks.sampled(f, {self.sample_time:g}, size=7)")
        return (0.0,) * self.size

    def sized(self, rates: tuple[str, ...]) -> Block:
        return replace(self, size=len(rates), rates=rates) if self.size is None else self

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: m}

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        given = [self.take(x, name) for name in self.reads]
        if any(is_recorded(one) for one in given) or isinstance(t, np.ndarray):
            raise RecordError(
                f"{self.who}: it is called in Python at every sample and cannot be compiled. Hint: gs.simulate takes it"
            )
        return self._values(self.function(float(t), *(np.array(one, dtype=float) for one in given)), t)

    def _values(self, returned: Any, t: float) -> np.ndarray:
        if isinstance(returned, Mapping) and self.rates:
            unknown = [name for name in returned if name not in self.rates]
            if unknown:
                raise ShapeError(f"{self.who}: it names '{unknown[0]}'. Hint: {nearest(str(unknown[0]), self.rates)}")
            returned = [returned.get(name, 0.0) for name in self.rates]
        y = np.atleast_1d(np.asarray(returned))
        if y.shape != (self.size,) or y.dtype.kind not in "iuf":
            raise ShapeError(
                f"{self.who}: it returned {y.dtype} of shape {y.shape}, expected real numbers ({self.size},)"
            )
        if not np.isfinite(y).all():
            raise NonFiniteError(f"{self.who}: it returned {clipped(y.tolist())} at t = {t} s, expected finite numbers")
        return np.array(y, dtype=float)


def sampled(
    f: Callable[..., Any],
    T: Any,
    *,
    reads: Any = ("q", "v"),
    target: str = "tau",
    size: int | None = None,
    name: str = "",
) -> Sampled:
    """A controller f(t, q, v) -> tau in Python that may remember, called once every T [s], see :class:`Sampled`."""
    return Sampled(f, T, reads, target, size, name or getattr(f, "__name__", type(f).__name__))
