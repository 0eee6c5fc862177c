"""Digital elements: sample and hold, delay by whole samples; and linear systems made digital."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.simulate.blocks.block import Array, Signals, Through
from gyrostat.simulate.blocks.given import Numbers, choice, count, numbers, period, refuse, same_size, spread
from gyrostat.simulate.blocks.linear import StateSpace


@dataclass(frozen=True)
class Delay(Through):
    """y(t) = u(t_k - samples T) for t_k <= t < t_(k+1), t_k = k T: sampled, delayed, held.

    ``samples`` = 0 is a sample and hold. Before the first value has come through y is ``initial``. ``size``: entries
    of the signal. Memory: the last samples + 1 values, the youngest first."""

    kind: ClassVar[str] = "delay"
    sample_time: float | None
    samples: int = 0
    initial: Any = (0.0,)
    size: int | None = None

    def __post_init__(self) -> None:
        who = self.who
        object.__setattr__(self, "sample_time", period(self.sample_time, who, needed=True))
        remedy = "a dead time is samples times sample_time"
        object.__setattr__(self, "samples", count(self.samples, who, "samples", 0, 100_000, remedy))
        initial = numbers(self.initial, who, "initial")
        size = same_size(who, self.size, initial=initial)
        object.__setattr__(self, "size", size)
        object.__setattr__(self, "initial", spread(initial, size))

    @property
    def memory(self) -> Numbers:
        return self.initial * (self.samples + 1)

    @property
    def feedthrough(self) -> bool:
        return self.samples == 0

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: m[len(m) - len(self.initial) :]}

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        n = len(self.initial)
        return np.concatenate([self.take(x, self.source, n), m[: len(m) - n]])

    def unknown(self) -> dict[str, Array]:
        return {self.source: np.zeros(len(self.initial))}


def hold(sample_time: Any, size: int | None = None, **ports: Any) -> Delay:
    """Sample and hold: y(t) = u(k T) for k T <= t < (k + 1) T."""
    return Delay(sample_time, 0, size=size, **ports)


METHODS = ("zoh", "tustin")


def discretise(system: StateSpace, sample_time: Any, method: str = "zoh") -> StateSpace:
    """An analogue linear system as a difference equation with the sample time T.

    ``"zoh"``: exact for inputs that are held between samples, A_d = exp(A T), B_d = int_0^T exp(A s) ds B.
    ``"tustin"``: s = 2 (z - 1) / (T (z + 1))."""
    if not isinstance(system, StateSpace) or system.sample_time is not None:
        message = f"expected an analogue linear block, got {getattr(system, 'who', system)!r}"
        raise refuse("discretise", "system", message, "state_space, transfer_function, first_order, ...", system)
    T = period(sample_time, system.who, needed=True) or 0.0
    choice(method, "discretise", "method", METHODS)
    A, B, C, D = system.matrices
    n, one = len(A), np.eye(len(A))
    start = np.array(system.initial)
    if method == "zoh":
        both = exponential(np.block([[A, B], [np.zeros((B.shape[1], n + B.shape[1]))]]) * T)
        parts = both[:n, :n], both[:n, n:], C, D
    else:
        left, right = one - A * (T / 2.0), one + A * (T / 2.0)
        if n and np.linalg.cond(left) > 1e12:
            message = f"1 - A T / 2 is singular for T = {T:g} s"
            raise refuse(system.who, "sample_time", message, "choose a smaller one, or method='zoh'", sample_time)
        inverse = np.linalg.inv(left) if n else left
        parts = inverse @ right, inverse @ B * T, C @ inverse, D + C @ inverse @ B * (T / 2.0)
        start = left @ start  # the state of this form is x - (A x + B u) T / 2, u = 0 before the start
    return StateSpace(*parts, tuple(start), T, source=system.source, target=system.target, name=system.name)


def exponential(X: Array) -> Array:
    """exp(X) by scaling and squaring of its series; exact to rounding of the largest entries."""
    norm = float(np.abs(X).sum(axis=1).max(initial=0.0))
    halvings = max(0, int(np.ceil(np.log2(norm))) + 1) if norm > 0.5 else 0
    Y, term = np.eye(len(X)), np.eye(len(X))
    for k in range(1, 19):
        term = term @ X / (k * 2.0**halvings)
        Y = Y + term
    for _ in range(halvings):
        Y = Y @ Y
    return Y
