"""``gs.Job``: which robot, what to do, with which inputs, what to keep. A file, a row of a store, or a message.

gyrostat_job: 1
model: panda.urdf                  # beside this file
do: simulate                       # rollout, torque, frequencies, solver, study
inputs: {torque: {kind: pd, kp: 100, kd: 10, reference: [0, 0]}, t_end: 2.0}
parameters: {hand.mass: 0.8}       # by path
outputs: {peak: max-abs tau.elbow, end: final q.elbow}
keep: [t, q]                       # arrays"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.io.files import load
from gyrostat.io.text_files import read_text
from gyrostat.io.yaml.parse import read
from gyrostat.spec.model import Model
from gyrostat.store.store import Store, StoredRun, StoredTask
from gyrostat.studies.jobs.kinds import KINDS, Outcome, points_by_inputs
from gyrostat.studies.jobs.outputs import Computed, array, check_output, number
from gyrostat.studies.study_data import StudyData

VERSION = 1
FIELDS = ("gyrostat_job", "name", "model", "do", "inputs", "parameters", "outputs", "keep", "seed", "study")
OF_INPUTS = "inputs."


@dataclass(frozen=True, eq=False)
class Job(StudyData):
    """What is to be computed about a model.

    ``do``: "simulate", "rollout", "torque", "frequencies", "solver", "study". ``inputs``: what that takes, as plain
    data. ``parameters``: values by path of the model, and of the inputs (``"inputs.torque.kp"``). ``outputs``: numbers
    by name, each a text such as ``"max-abs tau.elbow"``; ``keep``: arrays, such as ``"q"``. ``seed``: for studies that
    draw points."""

    model: Model
    do: str
    inputs: Mapping[str, Any] = field(default_factory=dict)
    parameters: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, str] = field(default_factory=dict)
    keep: tuple[str, ...] = ()
    seed: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        if not isinstance(self.model, Model):
            raise GyrostatError(f"job: model must be a model, got {clipped(self.model)}. Hint: gs.load(path)")
        if self.do not in KINDS:
            raise GyrostatError(
                f"job: do: there is nothing called {clipped(self.do)}. Hint: {nearest(str(self.do), KINDS)}"
            )
        for name in ("inputs", "parameters", "outputs"):
            if not isinstance(getattr(self, name), Mapping):
                raise GyrostatError(f"job: {name} must be by name, got {clipped(getattr(self, name))}.")
            object.__setattr__(self, name, dict(getattr(self, name)))
        keep = [self.keep] if isinstance(self.keep, str) else self.keep
        if not isinstance(keep, list | tuple) or not all(isinstance(x, str) and x.strip() for x in keep):
            raise GyrostatError(f"job: keep must be names of arrays, got {clipped(self.keep)}. Hint: keep: [t, q]")
        object.__setattr__(self, "keep", tuple(keep))
        kind = KINDS[self.do]
        for name in self.inputs:
            if name not in (*kind.needs, *kind.takes):
                hint = nearest(str(name), (*kind.needs, *kind.takes))
                raise GyrostatError(f"job: '{self.do}' takes no input {clipped(name)}. Hint: {hint}")
        for name in kind.needs:
            if name not in self.inputs:
                raise GyrostatError(f"job: '{self.do}' needs the input '{name}'. Hint: inputs: {{{name}: ...}}")
        for name, text in self.outputs.items():
            check_output(name, text)
        if not self.outputs and not self.keep:
            raise GyrostatError("job: nothing is asked for. Hint: outputs: {end: final q.elbow}, or keep: [q]")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise GyrostatError(f"job: seed must be a whole number from 0 on, got {clipped(self.seed)}.")
        if not isinstance(self.name, str):
            raise GyrostatError(f"job: name must be a text, got {clipped(self.name)}.")
        for path in self.parameters:
            self.expect_path(path)

    # ------------------------------------------------------------------------------------------ files
    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The job in a YAML file; its model lies beside it, or is named by a path from there."""
        place = Path(path)
        data = read(read_text(place, str(place), "Job"), str(place)).plain()
        if not isinstance(data, dict) or "gyrostat_job" not in data:
            raise GyrostatError(f"'{place}' is no job. Hint: a job begins with 'gyrostat_job: {VERSION}'")
        if data["gyrostat_job"] != VERSION or isinstance(data["gyrostat_job"], bool):
            told = f"is a job of version {clipped(data['gyrostat_job'])}, this gyrostat knows {VERSION}"
            raise GyrostatError(f"'{place}' {told}. Hint: use a newer gyrostat")
        for key in data:
            if key not in FIELDS:
                raise GyrostatError(f"'{place}' has {clipped(key)}. Hint: {nearest(str(key), FIELDS)}")
        if not isinstance(data.get("model"), str) or "do" not in data:
            raise GyrostatError(f"'{place}' names no model, or nothing to do. Hint: model: robot.urdf, do: simulate")
        given = {key: data[key] for key in FIELDS[3:-1] if data.get(key) is not None}
        return cls(model=_model_of(data["model"], place), name=data.get("name", place.stem), **given)

    # ------------------------------------------------------------------------------------------ points
    def expect_path(self, path: Any) -> None:
        """Refuse what is neither a property of the model nor an input."""
        if isinstance(path, str) and path.startswith(OF_INPUTS):
            at: Any = self.inputs
            for key in path.removeprefix(OF_INPUTS).split("."):
                if not isinstance(at, Mapping) or key not in at:
                    known = [*at] if isinstance(at, Mapping) else []
                    raise GyrostatError(f"job: there is no input '{path}'. Hint: {nearest(key, known)}")
                at = at[key]
            return
        known = list(self.model.paths())
        if path not in known:
            hint = nearest(str(path), [*known, *(f"{OF_INPUTS}{key}" for key in self.inputs)])
            raise GyrostatError(f"job: the model has no property {clipped(path)}. Hint: {hint}")

    def columns(self, name: str, count: int) -> list[str]:
        """What the columns of a series are called."""
        words = self.model.coordinates if name == "q" else self.model.dofs
        if name in ("q", "v", "a", "tau", "error") and len(words) == count:
            return [f"{name}.{word}" for word in words]
        return [name] if count == 1 else [f"{name}.{k}" for k in range(count)]

    def at(self, point: Mapping[str, Any]) -> Job:
        """The job with other parameters."""
        return replace(self, parameters={**self.parameters, **point})

    def run(self) -> StoredRun:
        """Compute it: ``.metrics``, ``.arrays``, ``.seconds``. What cannot be computed is an exception."""
        (found,) = self.compute([{}])
        if found.failure is not None:
            raise GyrostatError(f"job '{self.name or self.do}': {found.failure}")
        return found

    def compute(self, points: Sequence[Mapping[str, Any]], first: int = 0) -> list[StoredRun]:
        """Each of the points, numbered from ``first``; a point that fails has its reason, and does not stop others.

        The same point gives the same bits, whatever points are beside it."""
        found: dict[int, StoredRun] = {}
        whole = [{**self.parameters, **point} for point in points]
        for group in points_by_inputs(whole):
            start = time.perf_counter()
            outcomes = self._outcomes([whole[k] for k in group])
            seconds = (time.perf_counter() - start) / len(group)
            for k, outcome in zip(group, outcomes, strict=True):
                found[k] = self._kept(first + k, points[k], outcome, seconds)
        return [found[k] for k in range(len(points))]

    def _outcomes(self, points: Sequence[Mapping[str, Any]]) -> list[Outcome]:
        kind, inputs = KINDS[self.do], self.inputs
        for key, value in points[0].items():
            if key.startswith(OF_INPUTS):
                inputs = changed(inputs, key.removeprefix(OF_INPUTS).split("."), value)
        paths = [key for key in points[0] if not key.startswith(OF_INPUTS)]
        try:
            changes = {path: _stacked(path, [point[path] for point in points]) for path in paths}
            return kind.compute(self.model, inputs, changes, len(points))
        except MemoryError as error:
            if len(points) == 1:
                return [GyrostatError(f"out of memory: {error}")]
        except GyrostatError as error:
            if len(points) == 1:
                return [error]
        except Exception as error:  # whatever a library says of one point: the others go on
            if len(points) == 1:
                return [GyrostatError(f"{type(error).__name__}: {error}")]
        return [x for point in points for x in self._outcomes([point])]

    def _kept(self, number_of: int, point: Mapping[str, Any], outcome: Outcome, seconds: float) -> StoredRun:
        if isinstance(outcome, Computed):
            try:
                metrics = {name: number(outcome, name, text) for name, text in self.outputs.items()}
                arrays = {name: array(outcome, name) for name in self.keep}
                return StoredRun(number_of, dict(point), metrics, arrays, seconds)
            except GyrostatError as error:
                outcome = error
        return StoredRun(number_of, dict(point), {}, {}, seconds, " ".join(str(outcome).split()))

    # ------------------------------------------------------------------------------------------ stores
    def stored(self, store: Store, more: Mapping[str, Any] | None = None) -> StoredTask:
        """The task of this job in a store; ``more``: what a study adds to it."""
        data = {key: value for key, value in self.to_dict().items() if key not in ("model", "name")}
        return store.add_task(self.do, {**data, **(more or {})}, self.model, self.name)


def changed(data: Mapping[str, Any], keys: Sequence[str], value: Any) -> dict[str, Any]:
    """Nested data with one entry replaced."""
    rest = value if len(keys) == 1 else changed(data[keys[0]], keys[1:], value)
    return {**data, keys[0]: rest}


def _stacked(path: str, values: Sequence[Any]) -> np.ndarray:
    """Values (N, ...) of a property at all points."""
    try:
        if any(isinstance(x, bool | None) for x in values):
            raise TypeError
        array = np.array([np.asarray(x, dtype=float) for x in values])
    except (TypeError, ValueError):
        raise GyrostatError(f"'{path}' must be numbers, got {clipped(values[0])}") from None
    if not np.all(np.isfinite(array)):
        raise GyrostatError(f"'{path}' must be finite, got {clipped(values[0])}")
    return array


def _model_of(name: str, place: Path) -> Model:
    """The model that a job file names: a file in its folder or below it."""
    folder = place.resolve().parent
    file = (folder / name).resolve()
    if not file.is_relative_to(folder):
        raise GyrostatError(f"'{place}': the model '{name}' lies outside its folder. Hint: put it beside the job.")
    return load(file)
