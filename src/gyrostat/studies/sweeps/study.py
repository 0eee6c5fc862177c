"""``gs.studies.Study``: a job at many points; what is done is kept, what is missing is done when it runs again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from typing import Any

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.store.store import Store
from gyrostat.studies.jobs.job import Job
from gyrostat.studies.progress import Progress
from gyrostat.studies.study_data import StudyData
from gyrostat.studies.sweeps.convergence import Convergence
from gyrostat.studies.sweeps.execution import computed, opened
from gyrostat.studies.sweeps.optimisation import Optimisation
from gyrostat.studies.sweeps.sampling import MOST, Point, grid, sampled
from gyrostat.studies.sweeps.sensitivity import designed, expect_design
from gyrostat.studies.sweeps.study_result import StudyResult

WAYS = ("points", "grid", "random", "lhs", "sobol", "sensitivity", "optimise")
DRAWN = ("random", "lhs", "sobol")
WINDOW = 1024
"""Points that are given out at once where the study may stop early."""


@dataclass(frozen=True, eq=False)
class Study(StudyData):
    """A job at many points, given in one of these ways:

    ``points``: a list of {path: value}; ``grid``: {path: values}, all combinations; ``random``, ``lhs``, ``sobol``:
    {path: range} and ``count`` (see :mod:`~gyrostat.studies.sweeps.sampling`); ``sensitivity``: {"method": "sobol" or
    "morris", "over": {path: range}, "count": n} (SALib); ``optimise``: {"minimise": output, "over": {path: range}}, or
    "maximise", and ``count`` (optuna).

    ``until``: {output: relative standard error of its mean}: stop at the first point with which all are reached.
    ``seed``: that of the job if
    it is not given. Paths are properties of the model, or ``"inputs.torque.kp"``."""

    job: Job
    points: Sequence[Mapping[str, Any]] | None = None
    grid: Mapping[str, Sequence[Any]] | None = None
    random: Mapping[str, Any] | None = None
    lhs: Mapping[str, Any] | None = None
    sobol: Mapping[str, Any] | None = None
    sensitivity: Mapping[str, Any] | None = None
    optimise: Mapping[str, Any] | None = None
    count: int | None = None
    until: Mapping[str, float] = field(default_factory=dict)
    seed: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.job, Job):
            raise GyrostatError(f"study: job must be a gs.Job, got {clipped(self.job)}.")
        given = [name for name in WAYS if getattr(self, name) is not None]
        if len(given) != 1:
            what = "no points" if not given else f"points in {len(given)} ways ({', '.join(given)})"
            raise GyrostatError(f"study: has {what}. Hint: give one of {', '.join(WAYS)}")
        if not isinstance(self.until, Mapping):
            raise GyrostatError(f"study: until must be by output, got {clipped(self.until)}. Hint: {{'peak': 0.01}}")
        object.__setattr__(self, "until", dict(self.until))
        for name, tolerance in self.until.items():
            if name not in self.job.outputs:
                raise GyrostatError(f"study: until: the job has no output '{name}'. {nearest(name, self.job.outputs)}")
            if not isinstance(tolerance, float | int) or not tolerance > 0.0:
                raise GyrostatError(f"study: until '{name}' must be a relative error > 0, got {clipped(tolerance)}.")
        if self.until and self.way not in DRAWN:
            hint = f"give the points by {', '.join(DRAWN)}; optimise has patience"
            raise GyrostatError(f"study: until judges the mean of drawn points, not of '{self.way}'. Hint: {hint}")
        if self.way in (*DRAWN, "optimise"):
            if isinstance(self.count, bool) or not isinstance(self.count, int) or not 1 <= self.count <= MOST:
                told = f"needs count, a number of points up to {MOST}, got {clipped(self.count)}"
                raise GyrostatError(f"study: {self.way} {told}.")
        elif self.count is not None:
            raise GyrostatError(f"study: {self.way} has its points, and takes no count.")
        if self.seed is not None and (isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0):
            raise GyrostatError(f"study: seed must be a whole number from 0 on, got {clipped(self.seed)}.")
        ranges: Any = getattr(self, self.way)
        listed = isinstance(getattr(self, self.way), Sequence) and not isinstance(getattr(self, self.way), str)
        if self.way == "points" and not (listed and all(isinstance(point, Mapping) for point in ranges)):
            raise GyrostatError(f"study: points must be a list of {{path: value}}, got {clipped(ranges)}.")
        if self.way != "points" and not isinstance(getattr(self, self.way), Mapping):
            raise GyrostatError(f"study: {self.way} must be by path, got {clipped(ranges)}.")
        over: Any = ranges.get("over", {}) if self.way in ("sensitivity", "optimise") else ranges
        if not len(ranges) or not isinstance(over, Mapping | Sequence) or not len(over):
            raise GyrostatError(f"study: {self.way} is empty. Hint: {{'link.mass': (1.0, 2.0)}}")
        if self.way == "sensitivity":
            expect_design(ranges)
        for path in self.paths:
            self.job.expect_path(path)

    @property
    def way(self) -> str:
        """Which of the ways was taken."""
        return next(name for name in WAYS if getattr(self, name) is not None)

    @property
    def paths(self) -> list[str]:
        """What differs between points."""
        given: Any = getattr(self, self.way)
        if self.way == "points":
            return list(dict.fromkeys(path for point in given for path in point))
        return list(given.get("over", {}) if self.way in ("sensitivity", "optimise") else given)

    @property
    def number(self) -> int:
        """The seed of everything that is drawn."""
        return self.job.seed if self.seed is None else self.seed

    def all_points(self) -> list[Point]:
        """The points, in their order; those of an optimisation are found on the way."""
        if self.points is not None:
            return [dict(point) for point in self.points]
        if self.grid is not None:
            return grid(self.grid)
        if self.sensitivity is not None:
            return designed(self.sensitivity, self.number)
        if self.way == "optimise":
            raise GyrostatError("study: points of an optimisation are found on the way. Hint: run()")
        return sampled(self.way, getattr(self, self.way), self.count or 0, self.number)

    # ------------------------------------------------------------------------------------------ running
    def run(
        self,
        store: Store | None = None,
        executor: Executor | str | int | None = None,
        group: int | None = None,
        progress: bool | Callable[[int, int | None, str], object] | None = None,
        again: bool = False,
    ) -> StudyResult:
        """All points, or those that the store does not have yet.

        ``executor``: a number of processes, any executor of ``concurrent.futures``, or the address of a scheduler of
        dask, ``"tcp://host:8786"``. ``group``: points that are computed together and kept together, in lanes of
        machine code where the job can. ``again``: points that failed are done once more. None of these changes a bit.
        Ctrl-C returns what there is, with ``finished`` False."""
        if group is not None and (isinstance(group, bool) or not isinstance(group, int) or group < 1):
            raise GyrostatError(f"study: group must be a number of points, got {clipped(group)}.")
        if not isinstance(store, Store | None):
            raise GyrostatError(f"study: store must be a store, got {clipped(store)}. Hint: gs.store('results')")
        task = None if store is None else self.job.stored(store, {"study": self._told()})
        kept = {run.point: run for run in store.runs(task)} if store is not None and task is not None else {}
        if again:
            kept = {point: run for point, run in kept.items() if run.failure is None}
        optimisation = Optimisation.of(self.optimise, self.count, self.number, self.job) if self.optimise else None
        points = [] if optimisation else self.all_points()
        total = self.count if optimisation else len(points)
        kept_in = None if store is None or task is None else (store, task)
        finished, failed = True, 0
        convergence = Convergence(self.until) if self.until else None
        with Progress(progress, "study", total) as shown, opened(executor) as pool:
            shown.kept(len(kept), "kept from before")
            try:
                rounds = optimisation.rounds(kept) if optimisation else self._rounds(points)
                for asked in rounds:
                    missing = [(k, point) for k, point in asked if k not in kept]
                    if convergence and convergence.reached(kept):
                        break
                    for runs, made in computed(self.job, missing, group, pool):
                        if store is not None and task is not None:
                            store.put(task, runs, again=again, made=made)
                            runs = [replace(run, arrays={}) for run in runs]  # the store has them
                        kept |= {run.point: run for run in runs}
                        failed += sum(run.failure is not None for run in runs)
                        shown.step(len(runs), f"{failed} failed" if failed else "")
                        if convergence and convergence.reached(kept):
                            break
            except KeyboardInterrupt:
                finished = False
        if convergence and convergence.reached(kept):
            kept = {k: run for k, run in kept.items() if k < convergence.count}
        return StudyResult(self, tuple(kept[k] for k in sorted(kept)), finished, kept_in)

    def _rounds(self, points: Sequence[Point]) -> list[list[tuple[int, Point]]]:
        """All at once; in pieces where one may stop early: points are judged in their order."""
        each = WINDOW if self.until else max(1, len(points))
        numbered = list(enumerate(points))
        return [numbered[k : k + each] for k in range(0, len(points), each)]

    def _told(self) -> dict[str, Any]:
        """What makes this study another one than another study of the same job."""
        data = self.to_dict()
        return {key: data[key] for key in (*WAYS, "count", "until", "seed") if data.get(key) is not None}

    def with_points(self, points: Sequence[Mapping[str, Any]]) -> Study:
        """The same job at other points."""
        none = dict.fromkeys(WAYS)
        return replace(self, **{**none, "points": tuple(points), "count": None})
