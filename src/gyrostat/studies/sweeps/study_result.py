"""What came out of a study: a table, statistics, the best and the worst points, a page with figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.store.store import Store, StoredRun, StoredTask
from gyrostat.store.tables import to_pandas
from gyrostat.studies.report import Report
from gyrostat.studies.sweeps.figures import MOST, fan, histogram, parallel_coordinates
from gyrostat.studies.sweeps.replay import motion_page, replay
from gyrostat.studies.sweeps.sensitivity import Indices, indices

if TYPE_CHECKING:
    from gyrostat.simulate.results.result import Result
    from gyrostat.studies.sweeps.study import Study

Array = np.ndarray
MOST_REPLAYS = 20
"""Of each output in a report."""


@dataclass(frozen=True, eq=False)
class StudyResult:
    """``runs`` in the order of the points: ``point``, ``inputs``, ``metrics``, ``arrays``, ``seconds``, ``failure``.
    ``finished``: False if it was interrupted."""

    study: Study
    runs: tuple[StoredRun, ...]
    finished: bool = True
    kept_in: tuple[Store, StoredTask] | None = None

    def arrays(self, point: int) -> dict[str, Array]:
        """The arrays of a run by name, from the store where it was kept in one."""
        run = self._run(point)
        if run.arrays or self.kept_in is None:
            return dict(run.arrays)
        store, task = self.kept_in
        return store.arrays(task, point)

    def _run(self, point: int) -> StoredRun:
        run = next((run for run in self.runs if run.point == point), None)
        if run is None:
            raise GyrostatError(f"study: there is no point {point}. Hint: runs have their numbers in .point")
        return run

    @cached_property
    def done(self) -> tuple[StoredRun, ...]:
        """Runs that have numbers."""
        return tuple(run for run in self.runs if run.failure is None)

    @cached_property
    def failed(self) -> dict[int, str]:
        """Point -> why there are no numbers."""
        return {run.point: run.failure for run in self.runs if run.failure is not None}

    def values(self, name: str) -> Array:
        """An output, or a parameter, of all points that are done."""
        if name in self.study.job.outputs:
            return np.array([run.metrics[name] for run in self.done])
        if name not in self.study.paths:
            hint = nearest(name, [*self.study.job.outputs, *self.study.paths])
            raise GyrostatError(f"study: there is no output '{name}'. Hint: {hint}")
        given: list[Any] = [run.inputs.get(name) for run in self.done]
        if len({np.shape(x) for x in given}) <= 1:
            return np.array(given)
        values = np.empty(len(given), dtype=object)  # a number here, a list there
        for k, x in enumerate(given):
            values[k] = x
        return values

    def best(self, output: str, least: bool = True) -> StoredRun:
        """The run with the least (or the largest) value of an output."""
        values = self.values(output)
        if not len(values):
            raise GyrostatError(f"study: no point has '{output}': all have failed. Hint: .failed says why")
        return self.done[int(np.argmin(values) if least else np.argmax(values))]

    def sensitivity(self, output: str) -> Indices:
        """Indices of Sobol or Morris of an output by path; every point must have it."""
        if self.study.sensitivity is None:
            raise GyrostatError('study: there are no indices. Hint: Study(job, sensitivity={"method": "sobol", ...})')
        if self.failed:
            point, why = next(iter(self.failed.items()))
            raise GyrostatError(f"study: {len(self.failed)} points have failed, indices need all: {point}: {why}")
        return indices(self.study.sensitivity, output, self.values(output), self.study.number)

    def to_pandas(self) -> Any:
        """A row for each point: parameters, outputs, status, reason, seconds."""
        return to_pandas(self.runs)

    def replay(self, point: int) -> Result:
        """The motion of a point of a job "simulate" or "rollout" once more, to be plotted or viewed."""
        return replay(self.study.job, self._run(point).inputs)

    def report(self, replays: int = 0) -> Report:
        """A page: statistics of each output, histograms, all points side by side, fans of arrays that are kept with
        their ``t``, the worst cases, what failed. ``replays``: so many of the worst cases of each output as motions in
        the viewer (extra ``view``), computed once more, a few MB each."""
        if isinstance(replays, bool) or not isinstance(replays, int) or not 0 <= replays <= MOST_REPLAYS:
            told = f"replays must be a number of points up to {MOST_REPLAYS}, got {clipped(replays)}"
            raise GyrostatError(f"study: {told}.")
        job, report = self.study.job, Report(f"Study of {self.study.job.name or self.study.job.model.name}")
        seconds = sum(run.seconds for run in self.runs)
        state = "" if self.finished else " It was interrupted."
        report.text(f"{len(self.runs)} points, {len(self.failed)} failed, {seconds:.3g} s of computing.{state}")
        rows = []
        for name, text in job.outputs.items():
            x = self.values(name)
            if len(x):
                q = np.quantile(x, [0.05, 0.5, 0.95])
                rows.append([name, text, x.min(), *(float(y) for y in q), x.max(), x.mean(), float(x.std())])
        report.table(["output", "is", "least", "5 %", "median", "95 %", "largest", "mean", "deviation"], rows)
        if self.study.sensitivity is not None and not self.failed:
            for name in job.outputs:
                found = self.sensitivity(name)
                table = [[path, *(float(x[k]) for x in found.values.values())] for k, path in enumerate(found.paths)]
                report.table(["parameter", *found.values], table, f"sensitivity of {name}")
        if self.done:
            for name in job.outputs:
                report.figure(histogram(self.values(name), name), f"distribution of {name}")
                worst = sorted(self.done, key=lambda run: -run.metrics[name])[:5]
                cells = [
                    [run.point, run.metrics[name], *(run.inputs.get(p) for p in self.study.paths)] for run in worst
                ]
                report.table(["point", name, *self.study.paths], cells, f"largest values of {name}")
            report.figure(parallel_coordinates(self), "all points, coloured by the first output")
            self._fans(report)
            for name in job.outputs if replays else ():
                for run in sorted(self.done, key=lambda run: -run.metrics[name])[:replays]:
                    scene = motion_page(job, run.inputs)
                    report.scene(scene, f"point {run.point}: {name} = {run.metrics[name]:.5g}")
        if self.failed:
            report.heading("Failed").table(["point", "why"], list(self.failed.items())[:50])
        return report

    def _fans(self, report: Report) -> None:
        """Arrays over time of all points, or why there is no figure of them."""
        names = [name for name in self.study.job.keep if name != "t"]
        if "t" not in self.study.job.keep or not names:
            return
        chosen = np.unique(np.linspace(0, len(self.done) - 1, min(MOST, len(self.done))).astype(int))
        arrays = [self.arrays(self.done[k].point) for k in chosen]
        t = arrays[0]["t"]
        if any(not np.array_equal(of["t"], t) for of in arrays):
            report.text("Points have steps of their own: with the input t_eval there are fans of them over time.")
            return
        for name in names:
            values = np.stack([of[name].reshape(len(t), -1) for of in arrays])
            columns = self.study.job.columns(name, values.shape[2])
            report.figure(
                fan(t, values, columns), f"{name} over t [s]: median, 50 and 90 percent of {len(arrays)} points"
            )

    def __repr__(self) -> str:
        return f"<study of '{self.study.job.model.name}': {len(self.runs)} points, {len(self.failed)} failed>"

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
