"""What a method of time integration is: one accepted step after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


@dataclass(frozen=True)
class Step:
    """One accepted step from t0 to t1 [s]: state q1 (nq,), v1 (nv,), p1 (np,), acceleration a1 and efforts tau1 (nv,)
    at its end; None if the method does not need them there: they are then computed for samples that are kept.

    ``dense(t)`` gives q (..., nq), v (..., nv), p (..., np) at times t (...) inside the step. ``work(t)``: work [J] of
    the efforts since t0, if the method integrates it along; otherwise it is found from ``dense``. ``count``: how many
    steps of the method these are."""

    t0: float
    t1: float
    q1: Array
    v1: Array
    p1: Array
    a1: Array | None
    tau1: Array | None
    dense: Callable[[Any], tuple[Array, Array, Array]]
    work: Callable[[Any], Array] | None = None
    count: int = 1


class Method(ABC):
    """A method of time integration for a plant.

    ``order`` of the error of q and v over a fixed time; ``adaptive`` ones choose their step by ``rtol`` and ``atol``,
    the others take steps of ``dt`` [s]. ``statistics``: what a method tells about itself beyond the plant's counters,
    for example how many steps a factorisation served; ``rejected``: steps that were tried and given up.

    A method that finds no way to go on raises :class:`StepFailure` with the cause; ``run`` makes the rest of it."""

    name: ClassVar[str]
    order: ClassVar[int]
    adaptive: ClassVar[bool]
    watched = True
    """Whether the run looks at every step: for events, or to keep it. Set by the run before the start."""
    options: ClassVar[tuple[str, ...]] = ()
    """Names of further keyword arguments; those of fixed-step methods include ``dt``."""

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        self.plant, self.rtol, self.atol, self.max_step = plant, rtol, atol, max_step
        self.rejected = 0
        self.statistics: dict[str, Any] = {}

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Compile what the method needs, before the clock starts and without counting. Nothing by default."""
        return None

    @abstractmethod
    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Begin at a state, also in the middle of a run: after a sampling instant, or an event that changed it."""

    @abstractmethod
    def step(self, t_limit: float) -> Step:
        """One accepted step, never beyond ``t_limit``; it ends exactly there if it comes close."""


class StepFailure(GyrostatError):  # noqa: N818  # a word of a method to the run, not an error for users
    """A step cannot be done: ``cause`` in words, and which entry of the rates is to blame, if any."""

    def __init__(self, cause: str, dof: int | None = None, hint: str = ""):
        super().__init__(cause)
        self.cause, self.dof, self.hint = cause, dof, hint
