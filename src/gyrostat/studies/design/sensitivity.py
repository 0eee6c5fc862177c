"""How much each parameter of a robot matters: derivatives of results of studies by path.

    df/dp = (f(p + h) - f(p - h)) / 2h  extrapolated from two steps h and h/2 (Richardson),

whose difference is the error that is stated. Results of studies are no recorded functions; solvers have exact
derivatives by ``live`` properties (``solver.jacobian("tau", "forearm.mass")``), which these agree with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError
from gyrostat.solvers.machinery.variants import variant
from gyrostat.spec.model import Model
from gyrostat.studies.design.objective import Judge, Objective, judged, read_judges
from gyrostat.studies.design.parameters import one_number
from gyrostat.studies.progress import Progress
from gyrostat.studies.report import Report
from gyrostat.studies.study_data import StudyData


@dataclass(frozen=True, eq=False)
class Sensitivities(StudyData):
    """Derivatives of objectives (m) by parameters (n).

    ``values`` (m,) at the model; ``derivatives`` (m, n) [unit of the objective / unit of the parameter]; ``errors``
    (m, n) of these, as far as two step sizes tell; ``relative`` (m, n): per cent of the objective per per cent of the
    parameter, nan where the objective is 0."""

    objectives: tuple[str, ...]
    paths: tuple[str, ...]
    parameters: np.ndarray
    values: np.ndarray
    derivatives: np.ndarray
    errors: np.ndarray
    finished: bool = True
    message: str = "finished"

    @property
    def relative(self) -> np.ndarray:
        """(m, n): p/f df/dp."""
        with np.errstate(divide="ignore", invalid="ignore"):
            table = self.derivatives * self.parameters[None, :] / self.values[:, None]
        return np.where(self.values[:, None] == 0.0, np.nan, table)

    def report(self) -> Report:
        """A table for each objective, what matters most first."""
        report = Report("Sensitivities")
        for i, name in enumerate(self.objectives):
            order = np.argsort(-np.abs(self.derivatives[i] * self.parameters))
            rows = [
                (self.paths[k], self.parameters[k], self.derivatives[i, k], self.errors[i, k], self.relative[i, k])
                for k in order
            ]
            head = ("parameter", "value", "derivative", "error of it", "% per %")
            report.heading(name).text(f"{name} = {self.values[i]:.6g}").table(head, rows)
        return report


def sensitivities(
    model: Model,
    parameters: Sequence[str],
    objectives: Mapping[str, Judge | Objective],
    *,
    step: float = 1e-3,
    progress: Any = None,
) -> Sensitivities:
    """Derivatives of ``objectives`` (name -> function of the model, or :class:`Objective`) by ``parameters`` (paths).

    ``step``: relative step; a parameter that is 0 is moved by ``step`` itself."""
    judges = read_judges(objectives, "sensitivities: objectives", 1)
    paths = tuple(parameters)
    if isinstance(parameters, str) or not paths:
        raise GyrostatError("sensitivities: parameters must be a list of paths. Hint: ['forearm.mass'].")
    if not 0.0 < step < 0.5:
        raise GyrostatError(f"sensitivities: step must be between 0 and 0.5, got {step}.")
    p = np.array([one_number(model, path, "sensitivities") for path in paths])
    shape = (len(judges), len(paths))
    slopes, errors = np.full(shape, np.nan), np.full(shape, np.nan)

    def values(changes: dict[str, float]) -> np.ndarray:
        changed = variant(model, {path: p[k] for k, path in enumerate(paths)} | changes)
        return np.array([judged(judge, name, model, changed) for name, judge in judges.items()])

    at, finished, message = values({}), True, "finished"
    try:
        with Progress(progress, "sensitivities", len(paths)) as shown:
            for k, path in enumerate(paths):
                h = step * (abs(p[k]) or 1.0)
                coarse, fine = ((values({path: p[k] + d}) - values({path: p[k] - d})) / (2.0 * d) for d in (h, 0.5 * h))
                slopes[:, k], errors[:, k] = fine + (fine - coarse) / 3.0, np.abs(fine - coarse) / 3.0
                shown.step(1, path)
    except KeyboardInterrupt:
        finished, message = False, "interrupted: parameters that were not reached are nan"
    return Sensitivities(tuple(judges), paths, p, at, slopes, errors, finished, message)
