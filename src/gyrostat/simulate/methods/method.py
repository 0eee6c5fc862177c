"""What a method of time integration is: one accepted step after the other."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

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
    steps of the method these are; ``kept``: whether its end is a row of a run that keeps every step."""

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
    kept: bool = True


class Span(NamedTuple):
    """Where a method has come to: t, q (nq,), v (nv,), p (np,), a and tau (nv,), None if it does not know them.

    ``step``: the last step, if it must be looked at before anything is taken from it; ``instant``: number of the next
    sampling instant of digital parts that were sampled on the way; ``reached``: the limit is reached."""

    t: float
    q: Array
    v: Array
    p: Array
    a: Array | None
    tau: Array | None
    step: Step | None = None
    instant: int = 0
    reached: bool = False


class Method(ABC):
    """A method of time integration for a plant.

    ``order`` of the error of q and v over a fixed time; ``adaptive`` ones choose their step by ``rtol`` and ``atol``,
    the others take steps of ``dt`` [s]. ``statistics``: what a method tells about itself beyond the plant's counters,
    for example how many steps a factorisation served; ``rejected``: steps that were tried and given up.

    A method that finds no way to go on raises :class:`StepFailure` with the cause; ``run`` makes the rest of it."""

    name: ClassVar[str]
    order: ClassVar[int]
    adaptive: ClassVar[bool]
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

    compiled: ClassVar[bool] = False
    """Whether its steps are a driver in machine code (:mod:`~gyrostat.simulate.methods.compiled`)."""

    treats_contacts: ClassVar[bool] = False
    """Whether its steps treat rigid contacts; otherwise that is done by events."""

    outputs_apart: ClassVar[bool] = False
    """Whether accelerations and efforts at the ends of its steps take evaluations that the steps do not need."""

    keeps_records: bool = False
    """Whether somebody will ask for :meth:`contact_records`."""

    @property
    def called_in_python(self) -> dict[str, tuple[int, float]]:
        """Calls and seconds of parts of the method itself that are no machine code, though the method is."""
        return {}

    def contact_records(self) -> tuple[Sequence[str], Sequence[Array]]:
        """Names of contacts, and records (k, 6) of a method that treats them."""
        return (), ()

    def take_constraints(self, given: Sequence[Any]) -> None:
        """Constraints that its steps treat with the contacts, where they do."""
        return None

    def step(self, t_limit: float) -> Step:
        """One accepted step, never beyond ``t_limit``; it ends exactly there if it comes close."""
        raise NotImplementedError

    def attach(self, harvest: Any, fastest: float) -> None:
        """What the run takes from compiled steps, and the rates beyond which it makes no sense."""
        return None

    def reached(self) -> tuple[float, Array, Array, Array] | None:
        """The state that compiled steps have come to, when a call has failed; None for others."""
        return None

    def advance(self, t_limit: float, sampling: tuple[float, int] = (0.0, 0)) -> Span:
        """Some steps, never beyond ``t_limit``."""
        step = self.step(t_limit)
        state = step.t1, step.q1, step.v1, step.p1, step.a1, step.tau1
        return Span(*state, step=step, instant=sampling[1], reached=step.t1 >= t_limit)


class StepFailure(GyrostatError):  # noqa: N818  # a word of a method to the run, not an error for users
    """A step cannot be done: ``cause`` in words, and which entry of the rates is to blame, if any."""

    def __init__(self, cause: str, dof: int | None = None, hint: str = ""):
        super().__init__(cause)
        self.cause, self.dof, self.hint = cause, dof, hint
