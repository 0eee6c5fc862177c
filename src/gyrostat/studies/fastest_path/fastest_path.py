"""What :func:`time_optimal` finds."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import StateError, clipped, nearest
from gyrostat.simulate.trajectories.given import finite_array
from gyrostat.studies.fastest_path import figures
from gyrostat.studies.fastest_path.profile import Profile
from gyrostat.studies.fastest_path.quick_places import least_x
from gyrostat.studies.fastest_path.stage_points import points_of
from gyrostat.studies.fastest_path.switching import ARCS, Switch, arcs
from gyrostat.studies.fastest_path.timed_path import TimedPath
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData

if TYPE_CHECKING:
    from gyrostat.studies.fastest_path.time_optimal import TimeOptimal

Array = np.ndarray
CLOSE = 2e-3
"""A row counts as met when it is this near to its limit, in parts of it."""


@dataclass(frozen=True, eq=False)
class FastestPath(StudyData, TimedPath):
    """The fastest motion along a path.

    ``s`` (N + 1,) grid, ``x`` (N + 1,) = s'^2 there, ``u`` (N,) = s'' on each interval; ``least``, ``most`` (N + 1,):
    between which x the end can be reached; ``passes`` of the solution; ``excess``: the greatest one that was seen at
    the points of the check, in parts of the limits, not positive."""

    study: TimeOptimal
    s: Array
    x: Array
    u: Array
    least: Array
    most: Array
    bounding: Array
    passes: int
    excess: float
    finished: bool = True
    message: str = "finished"

    @cached_property
    def profile(self) -> Profile:
        """s(t)."""
        return Profile(self.s, self.x, self.u)

    @property
    def timing(self) -> Profile:
        """s(t)."""
        return self.profile

    @property
    def duration(self) -> float:
        """[s]."""
        return self.profile.duration

    @cached_property
    def t(self) -> Array:
        """(N + 1,) [s] at the grid points."""
        return self.profile.times

    @property
    def sdot(self) -> Array:
        """(N + 1,): s' at the grid points."""
        return np.sqrt(self.x)

    def at(self, s: Any) -> tuple[Array, Array]:
        """t [s] and s' (...) where the path is at s (...)."""
        given = finite_array(s, "at", "s")
        edge = 1e-9 * (self.s[-1] - self.s[0])
        if np.any((given < self.s[0] - edge) | (given > self.s[-1] + edge)):
            raise StateError(f"at: the path goes from s = {self.s[0]:g} to {self.s[-1]:g}, asked for {clipped(s)}")
        given = np.clip(given, self.s[0], self.s[-1])
        x, _ = self.profile.on_path(given.ravel())
        return self.profile.time_at(given.ravel()).reshape(given.shape), np.sqrt(x).reshape(given.shape)

    # ------------------------------------------------------------------ what limits it
    @cached_property
    def _use(self) -> Array:
        """(N, R): how near each row comes to its limits in each interval, 1 is at the limit."""
        stages = self.study.stages
        P = stages.M + 1
        x = np.maximum(self.x[:-1, None] + stages.offsets * self.u[:, None], 0.0).ravel()
        least = 1e-16 * float(self.x.max())
        low, high = stages.rows.excess(stages.points, x, np.repeat(self.u, P), least)
        over = np.maximum(low, high) / stages.sizes
        return 1.0 + over.reshape(len(self.u), P, -1).max(axis=1)

    @cached_property
    def active(self) -> tuple[str, ...]:
        """(N,): what bounds the motion in each interval: the row that is nearest to its limit."""
        names = self.study.rows.names
        shares = self._use.copy()
        found = np.argmax(shares, axis=1)
        words = [names[k] for k in found]
        if "speed" in names:
            column = names.index("speed")
            at = self.study.stages.points
            which = self.study.rows.speed_shares(at).reshape(len(self.u), self.study.points + 1, -1).max(axis=1)
            for i in np.flatnonzero(found == column):
                words[i] = f"speed of {self.study.rows.speeds[int(np.argmax(which[i]))].name}"
        return tuple(words)

    @cached_property
    def switching(self) -> tuple[Switch, ...]:
        """Switches between arcs of acceleration, of deceleration, and at limits of the speed."""
        kinds = np.where(self.bounding < 0, 1, 0)
        names = self.study.rows.names
        if "speed" in names:
            kinds = np.where(self._use[:, names.index("speed")] > 1.0 - CLOSE, 2, kinds)
        runs = arcs(kinds)
        found = []
        for (_, _, before), (first, end, after) in pairwise(runs):
            limit = self.active[(first + end) // 2]
            found.append(Switch(float(self.s[first]), float(self.t[first]), ARCS[before], ARCS[after], limit))
        return tuple(found)

    # ------------------------------------------------------------------ finer
    def check(self, factor: int = 100) -> float:
        """The greatest excess at ``factor`` points of every interval and at both its ends, from inside, in parts of the
        limits; where friction changes quickly, at 10 ``factor`` points more on each side. Not positive if all limits
        hold there."""
        if isinstance(factor, bool) or not isinstance(factor, int) or factor < 1:
            raise StateError(f"check: factor must be a whole number >= 1, got {factor!r}")
        stages, rows = self.study.stages, self.study.rows
        worst = -np.inf
        for part in np.array_split(np.arange(len(self.u)), max(1, len(self.u) * factor // 50_000)):
            at = self.s[part, None] + np.diff(self.s)[part, None] * ((np.arange(factor) + 0.5) / factor)
            x = np.maximum(self.x[part, None] + 2.0 * (at - self.s[part, None]) * self.u[part, None], 0.0)
            at = np.concatenate([stages.at[part, :1], at, stages.at[part, -1:]], axis=1)  # limits from inside
            x = np.concatenate([self.x[part, None], x, self.x[part + 1, None]], axis=1)
            points = points_of(self.study.curve, at.ravel())
            u = np.repeat(self.u[part], at.shape[1])
            low, high = rows.excess(points, x.ravel(), u, least_x(rows, self.x))
            worst = max(worst, float((np.maximum(low, high) / stages.sizes).max()))
        if stages.quick is not None:
            over = stages.quick_places(10 * factor).excess(rows, self.x, self.u)
            worst = max(worst, float((over / stages.sizes).max()))
        return worst

    # ------------------------------------------------------------------ again, on the way
    def retime(self, s: float, sdot: float, **changes: Any) -> FastestPath:
        """The fastest way to the end from s on, where the speed along the path is ``sdot``: with other limits, or with
        another ``model`` (a payload, say; ``model.replace(...)``). ``changes`` are fields of the study. The grid
        is what is left of this one; ``grid=`` takes a coarser one.

        What is still right is used again: the path if the model has the same coordinates."""
        known = [f.name for f in dataclasses.fields(self.study)]
        for name in changes:
            if name not in known:
                raise StateError(f"retime: there is no '{name}' to change. Hint: {nearest(name, known)}")
        left = self.s[self.s > s + 1e-9 * (self.s[-1] - self.s[0])]
        if not self.s[0] <= s < self.s[-1] or len(left) < 4:
            raise StateError(f"retime: s = {s!r} is not before the end of the path, {self.s[-1]:g}")
        at = {"start": float(s), "start_speed": float(sdot), "grid": np.concatenate([[s], left])}
        study = dataclasses.replace(self.study, **(at | changes))
        if not {"path", "interval", "degree"} & set(changes):
            study.__dict__["curve"] = self.study.curve
        return study.run(progress=False)

    # ------------------------------------------------------------------ words and pictures
    def report(self) -> Report:
        """What an engineer hands on."""
        return figures.report(self)

    def plot(self, what: str = "phase") -> Any:
        """A figure: ``"phase"``, ``"motion"`` or ``"torques"``."""
        return figures.plot(self, what)

    def __repr__(self) -> str:
        return f"<FastestPath of '{self.study.model.name}': {self.duration:.6g} s, {len(self.switching)} switches>"
