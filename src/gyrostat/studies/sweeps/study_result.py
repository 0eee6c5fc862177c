"""What came out of a study: a table, statistics, the best and the worst points, a page with figures."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.errors import GyrostatError, nearest
from gyrostat.store.store import Store, StoredRun, StoredTask
from gyrostat.store.tables import to_pandas
from gyrostat.studies.report import Report
from gyrostat.studies.sweeps.figures import histogram, parallel_coordinates
from gyrostat.studies.sweeps.replay import replay
from gyrostat.studies.sweeps.sensitivity import Indices, indices

if TYPE_CHECKING:
    from gyrostat.simulate.results.result import Result
    from gyrostat.studies.sweeps.study import Study

Array = np.ndarray


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
        return np.array([run.inputs.get(name) for run in self.done])

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

    def report(self) -> Report:
        """A page: statistics of each output, histograms, all points side by side, the worst cases, what failed."""
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
        if self.failed:
            report.heading("Failed").table(["point", "why"], list(self.failed.items())[:50])
        return report

    def __repr__(self) -> str:
        return f"<study of '{self.study.job.model.name}': {len(self.runs)} points, {len(self.failed)} failed>"

    def _repr_html_(self) -> str:
        return self.report()._repr_html_()
