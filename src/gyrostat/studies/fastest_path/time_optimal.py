"""The shortest time along a given path [H04 5.2; Bobrow, Dubowsky, Gibson 1985; Pham, Pham 2018]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np

from gyrostat.algorithms.shafts.actuators import UNLIMITED
from gyrostat.errors import SpecError, StateError, clipped
from gyrostat.graph.network import kept_network
from gyrostat.simulate.trajectories.given import finite_array
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.studies.achievable.motion_limits import motion_limits
from gyrostat.studies.fastest_path.carried import Carried
from gyrostat.studies.fastest_path.fastest_path import FastestPath
from gyrostat.studies.fastest_path.grids import read_grid, turning_points, with_points
from gyrostat.studies.fastest_path.jerk_limited import JerkLimited, Limits
from gyrostat.studies.fastest_path.jerk_limited_path import JerkLimitedPath
from gyrostat.studies.fastest_path.paths import WHO, Path, read_path
from gyrostat.studies.fastest_path.profile import Profile
from gyrostat.studies.fastest_path.reach import Stages
from gyrostat.studies.fastest_path.rows import Rows, acceleration_limits, speed_limits
from gyrostat.studies.fastest_path.torque_rows import torque_rows
from gyrostat.studies.progress import Progress
from gyrostat.studies.study_data import StudyData

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TimeOptimal(StudyData):
    """The problem of :func:`time_optimal`, as data; ``run()`` solves it."""

    model: Model
    path: Any
    torque_limits: Any = None
    velocity_limits: Any = None
    acceleration_limits: Any = None
    power_limits: Any = None
    frame_speed: Any = None
    carried: tuple[Carried, ...] = ()
    start_speed: float = 0.0
    end_speed: float = 0.0
    stops: tuple[float, ...] = ()
    passive: tuple[str, ...] = ()
    grid: Any = 500
    points: int = 3
    check: int = 5
    degree: int = 5
    interval: Any = None
    start: float | None = None
    positions: bool = True
    jerk_limits: Any = None
    intervals: int = 100

    def __post_init__(self) -> None:
        expect_model(self.model, WHO)
        for key in ("start_speed", "end_speed"):
            value = finite_array(getattr(self, key), WHO, key)
            if value.ndim or value < 0.0:
                raise SpecError.one(WHO, key, f"{key} is {clipped(getattr(self, key))}", "s' >= 0, one number")
        for key, least in (("points", 1), ("check", 0)):
            value = getattr(self, key)
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= 1000:
                raise SpecError.one(WHO, key, f"{key} is {clipped(value)}", f"a whole number from {least} to 1000")
        stops = finite_array(self.stops, WHO, "stops") if len(self.stops) else np.zeros(0)
        if stops.ndim != 1:
            raise SpecError.one(WHO, "stops", f"stops is {clipped(self.stops)}", "values of s, such as (0.5,)")
        for item in self.carried:
            if not isinstance(item, Carried):
                raise SpecError.one(
                    WHO, "carried", f"carried holds {clipped(item)}", "gs.studies.Carried(frame, mass, ...)"
                )
        if self.jerk_limits is not None:
            self._expect_smooth()
        if self.model.shafts.rotors:
            rotors = ", ".join(self.model.shafts.rotors)
            raise StateError(
                f"{WHO}: '{self.model.name}' has elastic joints ({rotors}): torques of their motors depend on higher "
                "derivatives, which jump in this timing. Hint: the robot without stiffness"
            )
        if not isinstance(self.model.context.base, str):
            raise StateError(f"{WHO}: the base of '{self.model.name}' moves with time. Hint: base='fixed'")

    # ------------------------------------------------------------------ parts
    @cached_property
    def curve(self) -> Path:
        """The path."""
        return read_path(self.model, self.path, self.interval, self.degree)

    @cached_property
    def rows(self) -> Rows:
        """What is limited."""
        torques = torque_rows(self.model, self.torque_limits, self.power_limits, self.passive)
        speeds = speed_limits(self.model, self.velocity_limits, self.frame_speed)
        return Rows(
            self.model, torques, speeds, acceleration_limits(self.model, self.acceleration_limits), self.carried
        )

    @cached_property
    def stages(self) -> Stages:
        """The path on its grid."""
        path = self.curve
        begin = path.start if self.start is None else float(self.start)
        if not path.start <= begin < path.end:
            raise StateError(f"{WHO}: start is s = {begin:g}, the path goes from {path.start:g} to {path.end:g}")
        stops = np.sort(np.asarray(self.stops, dtype=float))
        if np.any((stops <= path.start) | (stops >= path.end)):
            raise StateError(f"{WHO}: stops must lie inside ({path.start:g}, {path.end:g}), got {clipped(self.stops)}")
        stops = stops[stops > begin]
        grid = read_grid(path, self.grid, stops, begin)
        turns = np.zeros(0)
        if self.rows.torques.steep:
            shafts = np.concatenate([np.eye(self.model.nv), self.rows.torques.W])
            turns = turning_points(path, grid, shafts)
            grid = with_points(grid, turns, stops)
        places = np.array([int(np.argmin(np.abs(grid - s))) for s in turns], dtype=int)
        at = np.array([int(np.argmin(np.abs(grid - s))) for s in stops], dtype=int)
        stages = Stages(path, self.rows, grid, self.points, self.check, (self.start_speed, self.end_speed), at, places)
        if self.positions:
            self._expect_inside(stages)
        return stages

    def _expect_inside(self, stages: Stages) -> None:
        limits = motion_limits(kept_network(self.model), WHO)
        q = stages.points.q
        if not limits.positions or q.shape[1] != len(limits.lower):
            return
        beyond = np.maximum(q - limits.upper, limits.lower - q)
        beyond[:, (limits.upper >= UNLIMITED) & (limits.lower <= -UNLIMITED)] = -np.inf
        if beyond.max(initial=-np.inf) > 1e-9:
            row, k = np.unravel_index(int(np.argmax(beyond)), beyond.shape)
            raise StateError(
                f"{WHO}: at s = {stages.at.ravel()[row]:.6g} the path leaves the limits of '{self.model.dofs[k]}' "
                f"({limits.lower[k]:g} to {limits.upper[k]:g}): {q[row, k]:.6g}. Hint: another path, or positions=False"
            )

    def _expect_smooth(self) -> None:
        if self.start_speed or self.end_speed or len(self.stops) or self.start is not None:
            raise StateError(
                f"{WHO}: with jerk_limits motions go from rest to rest: start_speed, end_speed, stops and retime "
                "are not for them. Hint: one path for each part between stops"
            )
        if isinstance(self.intervals, bool) or not isinstance(self.intervals, int) or not 8 <= self.intervals <= 2000:
            message = f"is {clipped(self.intervals)}"
            raise SpecError.one(WHO, "intervals", message, "a whole number of intervals of time from 8 to 2000")

    @cached_property
    def jerk_programme(self) -> JerkLimited:
        """The programme in time, with limits of the jerk."""
        path, (low, high) = self.curve, acceleration_limits(self.model, self.jerk_limits, "jerk_limits")
        if path.smoothness < 2 or path.available < 3:
            raise StateError(
                f"{WHO}: accelerations jump along this path, at any speed but zero, so that jerk_limits cannot hold. "
                "Hint: waypoints with degree=5, or a function of s"
            )
        if not (np.all(low < 0.0) and np.all(high > 0.0)):
            raise SpecError.one(WHO, "jerk_limits", "0 is not inside jerk_limits", "positive numbers", self.jerk_limits)
        turns = self.stages.grid[self.stages.turns]
        limits = Limits(path, self.rows, self.stages.sizes, low, high, turns)
        return JerkLimited(limits, self.intervals, path.start, path.end)

    def run(self, progress: Any = None) -> Any:
        """Solve it: a :class:`FastestPath`, with limits of the jerk a :class:`JerkLimitedPath`."""
        with Progress(progress, "time_optimal") as shown:
            programme = self.jerk_programme if self.jerk_limits is not None else None
            found = self.stages.run(lambda k, text: shown.step(1, text))
            if programme is not None:
                return JerkLimitedPath(self, *programme.run(found.profile, lambda k, text: shown.step(1, text)))
        p: Profile = found.profile
        return FastestPath(self, p.s, p.x, p.u, found.L, found.K, found.active, found.passes, found.excess)


def time_optimal(
    model: Model,
    path: Any,
    torque_limits: Any = None,
    velocity_limits: Any = None,
    acceleration_limits: Any = None,
    *,
    power_limits: Any = None,
    frame_speed: Any = None,
    carried: Sequence[Carried] | Carried = (),
    start_speed: float = 0.0,
    end_speed: float = 0.0,
    stops: Sequence[float] = (),
    passive: Sequence[str] = (),
    grid: Any = 500,
    points: int = 3,
    check: int = 5,
    degree: int = 5,
    interval: Any = None,
    positions: bool = True,
    jerk_limits: Any = None,
    intervals: int = 100,
    progress: Any = None,
) -> Any:
    """The motion along ``path`` that takes the least time within all limits; a :class:`FastestPath`.

    ``path``: waypoints (k, nq), with a spline of ``degree`` through them at s = 0 ... 1; a function of s, recorded for
    exact derivatives, on ``interval`` = (0, 1); or a trajectory, whose timing is left out (s is its time).

    Limits are those of the model unless given. ``torque_limits`` [N m, N] at the joints: one number, (nv,), (nv, 2)
    for low and high, a dict by rate for some of them, also functions of the speed w -> (low, high). The model's own are
    those of its motors (torque, current, voltage, torque-speed curve, on their shafts) and efforts of its joints.
    ``power_limits`` [W] by actuator; ``velocity_limits`` (nv,) or by rate, ``acceleration_limits`` likewise (none by
    default); ``frame_speed``: frame -> m/s; ``carried``: things on a tray or in a gripper, see :class:`Carried`.
    Friction is that of the model.

    ``start_speed``, ``end_speed``: s' at the ends; ``stops``: values of s where the robot rests; ``passive``: rates
    without actuator. ``grid``: number of intervals, or values of s; limits hold at ``points`` + 1 points of each, and
    between them by margins, looked at in the middle and at ``check`` more points between two of those. ``positions``:
    the path must be inside the position limits of the joints.

    ``jerk_limits`` (nv,) or by rate [rad/s^3, m/s^3]: then a :class:`JerkLimitedPath` from rest to rest, of constant
    jerk along the path on ``intervals`` equal parts of the time."""
    items = (carried,) if isinstance(carried, Carried) else tuple(carried or ())
    rests = tuple(cast("Sequence[float]", (stops,) if np.ndim(stops) == 0 else stops))
    idle = (passive,) if isinstance(passive, str) else tuple(passive)
    study = TimeOptimal(
        model, path, torque_limits, velocity_limits, acceleration_limits, power_limits, frame_speed, items,
        start_speed, end_speed, rests, idle, grid, points, check, degree, interval, None, positions,
        jerk_limits, intervals,
    )  # fmt: skip
    return study.run(progress)
