"""A path with its timing as a motion of the robot: trajectory and torques."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.errors import StateError, clipped
from gyrostat.simulate.blocks.model_based import torques as inverse_dynamics
from gyrostat.simulate.trajectories.given import times_of
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.studies.fastest_path.path_motion import PathMotion, Timing

if TYPE_CHECKING:
    from gyrostat.studies.fastest_path.time_optimal import TimeOptimal

Array = np.ndarray


class TimedPath:
    """What has a ``study`` and a ``timing``."""

    study: TimeOptimal

    @property
    def timing(self) -> Timing:
        """s(t)."""
        raise NotImplementedError

    @property
    def duration(self) -> float:
        """[s]."""
        return self.timing.duration

    @cached_property
    def trajectory(self) -> PathMotion:
        """q(t), for simulate, blocks, and everything that takes trajectories."""
        return PathMotion(self.study.curve, self.timing, self.study.model.dofs)

    def torques(self, t: Any) -> Array:
        """tau (..., nv) at the joints, at times t (...) [s]: of the whole model, with its friction; at the ends as they
        are from inside, where the robot still moves and dry friction has its sign."""
        edge, time = 1e-9 * self.duration, t[()] if isinstance(t, np.ndarray) and t.ndim == 0 else t
        if isinstance(time, Recorded):
            inside = minimum(maximum(time, edge), self.duration - edge)
            tau = inverse_dynamics(self.study.model, None, *self.trajectory.recorded(inside, 2))
            return where((time < -edge) | (time > self.duration + edge), math.nan, tau)
        given = times_of(t, "torques")
        if np.any((given < -edge) | (given > self.duration + edge)):
            raise StateError(f"torques: the motion lasts from 0 to {self.duration:.9g} s, asked for {clipped(t)}")
        times = np.clip(given, edge, self.duration - edge)
        q, v, a = np.moveaxis(self.trajectory.derivatives(times, 2), -2, 0)
        return cached_solver(self.study.model, InverseDynamics)(q, v, a)
