"""What an event of a run is: a function whose change of sign is watched, and what happens then."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from gyrostat.simulate.events.roots import WITHIN
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


class Outcome(NamedTuple):
    """State q (nq,), v (nv,) from which a run goes on; ``end``: why it ends, "" if it does not."""

    q: Array
    v: Array
    end: str = ""


class RunState(Protocol):
    """What an event gets: the state of a run at its instant, and what it may do there."""

    plant: Plant

    @property
    def t(self) -> float: ...
    @property
    def q(self) -> Array: ...
    @property
    def v(self) -> Array: ...
    @property
    def p(self) -> Array: ...

    def keep(self, q: Array, v: Array) -> None:
        """Keep a sample of the state, where every step is kept."""
        ...

    def tell(self, name: str, kind: str, q: Array, v: Array, v_after: Array) -> None:
        """The result will tell of it."""
        ...

    def settle(self, q: Array, v: Array) -> Array:
        """Impacts, and what is active from now on; v (nv,) after that."""
        ...


class RunEvent(ABC):
    """``direction``: 1 if it happens where the function rises through zero, -1 where it falls, 0 both. ``cuts``:
    whether the run must go on from the event anew; ``ends``: it ends the run; ``fine``: the function may change much
    faster than the motion, and is looked at until its course is clear; ``by_user``: it is a user's event;
    ``within`` [s]: how exactly its instant is found."""

    name: str
    direction: int = 1
    cuts: bool = True
    ends: bool = False
    fine: ClassVar[bool] = False
    by_user: ClassVar[bool] = False
    within: ClassVar[float] = WITHIN

    @abstractmethod
    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """Of the function at a state."""

    def values(self, t: Array, q: Array, v: Array, p: Array) -> list[float]:
        """At some states (T, ...)."""
        return [self.value(float(t_k), *state) for t_k, *state in zip(t, q, v, p, strict=True)]

    sharp: Any = None
    """``sharp(t, q, v, p)``: a smooth function that is zero at the event, and its rate, by which the instant is found
    to the last digits; None if there is none."""

    calls, seconds = 0, 0.0
    """How often a function in Python was called, and how long that took [s]."""
    guard: Any = None
    """``guard(t, q, v, shared)``: a recordable function whose sign is that of the value, or that changes its sign
    earlier; ``shared``: what guards of one recording have in common. None if there is none."""

    in_driver: ClassVar[bool] = False
    """Whether drivers watch it on their own, where they treat closed contacts."""

    def guard_sign(self, sign: int) -> float:
        """The sign that the guard has while the function has this one."""
        return float(sign)

    def from_guard(self, value: float) -> float:
        """The function for a value of the guard that has its sign."""
        return value

    @abstractmethod
    def happens(self, run: RunState) -> Outcome:
        """What happens at its instant."""
