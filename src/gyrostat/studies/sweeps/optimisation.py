"""Points that are chosen by what came out of earlier ones (optuna's samplers), repeatable: the same results lead to the
same points, so that an interrupted optimisation goes on as if it had not been."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.store.store import StoredRun
from gyrostat.studies.jobs.job import Job
from gyrostat.studies.sweeps.sampling import Point, read_range

WORDS = ("minimise", "maximise", "over", "sampler", "together", "patience")
SAMPLERS = {"tpe": "TPESampler", "cmaes": "CmaEsSampler", "random": "RandomSampler", "qmc": "QMCSampler"}


@dataclass(frozen=True)
class Optimisation:
    """``together``: points that are asked for at once; ``patience``: points after the best one before it ends."""

    output: str
    direction: str
    over: dict[str, Any]
    sampler: str
    together: int
    count: int
    seed: int
    patience: int | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any], count: int | None, seed: int, job: Job) -> Optimisation:
        """From the data of a study, checked."""
        for key in given:
            if key not in WORDS:
                raise GyrostatError(f"study: optimise has {clipped(key)}. Hint: {nearest(str(key), WORDS)}")
        goals = [word for word in WORDS[:2] if word in given]
        if len(goals) != 1 or given[goals[0]] not in job.outputs:
            hint = f"outputs of the job: {', '.join(job.outputs)}"
            raise GyrostatError(f"study: optimise must minimise or maximise one output. Hint: {hint}")
        over = dict(given.get("over", {}))
        if not over:
            raise GyrostatError("study: optimise needs over: {path: (low, high)}.")
        for path, limits in over.items():
            if read_range(path, limits)[0] == "normal":
                raise GyrostatError(f"study: optimise over '{path}' needs bounds. Hint: (low, high)")
        sampler = given.get("sampler", "tpe")
        if sampler not in SAMPLERS:
            raise GyrostatError(
                f"study: there is no sampler {clipped(sampler)}. Hint: {nearest(str(sampler), SAMPLERS)}"
            )
        direction = "minimize" if goals[0] == "minimise" else "maximize"
        numbers = {"together": given.get("together", 8), "patience": given.get("patience", count)}
        for name, value in numbers.items():
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise GyrostatError(f"study: optimise: {name} must be a number of points, got {clipped(value)}.")
        return cls(
            given[goals[0]], direction, over, sampler, numbers["together"], count or 0, seed, numbers["patience"]
        )

    def rounds(self, kept: MutableMapping[int, StoredRun]) -> Iterator[list[tuple[int, Point]]]:
        """Numbered points to do; before the next ones are asked for, ``kept`` has their runs."""
        optuna = _optuna()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # optuna calls some of its samplers experimental
            sampler = getattr(optuna.samplers, SAMPLERS[self.sampler])(seed=self.seed)
        study = optuna.create_study(direction=self.direction, sampler=sampler)
        best, since, sign = math.inf, 0, 1.0 if self.direction == "minimize" else -1.0
        for first in range(0, self.count, self.together):
            if self.patience is not None and since >= self.patience:
                return
            trials = [study.ask() for _ in range(min(self.together, self.count - first))]
            asked = [(first + k, self._point(trial)) for k, trial in enumerate(trials)]
            yield asked
            for (k, _), trial in zip(asked, trials, strict=True):
                run = kept.get(k)
                if run is None:
                    return  # interrupted
                if run.failure is None:
                    study.tell(trial, run.metrics[self.output])
                    since = 0 if sign * run.metrics[self.output] < best else since + 1
                    best = min(best, sign * run.metrics[self.output])
                else:
                    study.tell(trial, state=optuna.trial.TrialState.FAIL)
                    since += 1

    def _point(self, trial: Any) -> Point:
        point: Point = {}
        for path, given in self.over.items():
            shape, values = read_range(path, given)
            if shape == "choice":
                point[path] = trial.suggest_categorical(path, values)
            elif shape == "integer":
                point[path] = trial.suggest_int(path, *values)
            else:
                point[path] = trial.suggest_float(path, *values, log=shape == "log")
        return point


def _optuna() -> Any:
    try:
        import optuna
    except ImportError as error:
        raise GyrostatError(f"study: optimise needs optuna ({error}). Hint: pip install 'gyrostat[sweeps]'.") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    return optuna
