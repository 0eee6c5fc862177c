"""What :func:`time_optimal` finds with limits of the jerk."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import StateError
from gyrostat.simulate.blocks.recorded_motion import recorded_motion
from gyrostat.simulate.trajectories.piecewise import Piecewise, between
from gyrostat.studies.fastest_path.jerk_limited import JerkLimited
from gyrostat.studies.fastest_path.timed_path import TimedPath
from gyrostat.studies.study_data import StudyData

if TYPE_CHECKING:
    from gyrostat.studies.fastest_path.time_optimal import TimeOptimal

Array = np.ndarray


class SmoothTiming:
    """s(t) of constant jerk on equal intervals."""

    smoothness = 2

    def __init__(self, duration: float, states: Array):
        """``states`` (N + 1, 3): s and its derivatives by t / T."""
        t = np.linspace(0.0, duration, len(states))
        table = np.stack([states[:, :1], states[:, 1:2] / duration], axis=1)
        self.motion, self.duration, self.times = Piecewise("timing", t, between(t, table), 2, "hold"), duration, t

    def series(self, t: Array, order: int) -> Array:
        """(order + 1, P): derivatives of s."""
        return self.motion.evaluate(t, order)[:, :, 0].T

    def recorded(self, t: Any, order: int) -> list[Any]:
        """The series at one recorded time."""
        return list(recorded_motion(self.motion, t, order)[:, 0])


@dataclass(frozen=True, eq=False)
class JerkLimitedPath(StudyData, TimedPath):
    """A motion along the path with continuous accelerations, at rest at both ends.

    ``seconds`` it takes; ``states`` (N + 1, 3): s and its derivatives by t / ``seconds`` at equal instants, with
    constant jerk between them; ``passes`` of the solution; ``excess``: the greatest one that was seen at 100 points of
    every interval, in parts of the limits, not positive."""

    study: TimeOptimal
    seconds: float
    states: Array
    passes: int
    excess: float
    finished: bool = True
    message: str = "finished"

    @cached_property
    def _timing(self) -> SmoothTiming:
        return SmoothTiming(float(self.seconds), self.states)

    @property
    def timing(self) -> SmoothTiming:
        """s(t)."""
        return self._timing

    @property
    def t(self) -> Array:
        """(N + 1,) [s]."""
        return self.timing.times

    @property
    def s(self) -> Array:
        """(N + 1,)."""
        return self.states[:, 0]

    @property
    def sdot(self) -> Array:
        """(N + 1,): s'."""
        return self.states[:, 1] / self.seconds

    def check(self, factor: int = 100) -> float:
        """The greatest excess at ``factor`` points of every interval, in parts of the limits; not positive if all
        limits hold there."""
        if isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
            raise StateError(f"check: factor must be a whole number >= 1, got {factor!r}")
        programme: JerkLimited = self.study.jerk_programme
        jerks = np.diff(self.states[:, 2]) * programme.N
        return programme.worst(self.states, jerks, float(self.seconds), (np.arange(factor) + 0.5) / factor)

    def __repr__(self) -> str:
        return f"<JerkLimitedPath of '{self.study.model.name}': {self.duration:.6g} s, {self.passes} passes>"
