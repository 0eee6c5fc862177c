"""What a design is judged by: numbers that follow from a model.

An objective is a function of the model, or a quantity of another study: ``Objective(study, "duration")`` puts the
changed model into the data of the study, runs it and takes that quantity of its result. The second kind is data."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.spec.model import Model
from gyrostat.studies.study_data import StudyData

Judge = Callable[[Model], Any]


@dataclass(frozen=True, eq=False)
class Objective(StudyData):
    """A quantity of a study, as a function of the model in it.

    ``study``: data of a study (:class:`StudyData` with ``run``) about ``model``; ``quantity``: name of a number in its
    result; ``scale``: factor, -1 to maximise."""

    study: Any
    quantity: str
    scale: float = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.study, StudyData) or not callable(getattr(self.study, "run", None)):
            raise GyrostatError(
                f"Objective: study must be the data of a study, such as gs.studies.TimeOptimal(...), got "
                f"{clipped(self.study)}. Hint: for anything else give a function of the model."
            )

    def of(self, base: Model, model: Model) -> float:
        """The quantity, with ``model`` wherever the study has ``base``."""
        result = with_model(self.study, base, model).run(progress=False)
        if not getattr(result, "finished", True):
            raise GyrostatError(f"{self._named}: the study did not finish: {getattr(result, 'message', '')}")
        if not hasattr(result, self.quantity):
            known = [name for name in dir(result) if not name.startswith("_")]
            raise GyrostatError(f"{self._named}: no such quantity. Hint: {nearest(self.quantity, known)}")
        return self.scale * as_number(getattr(result, self.quantity), self._named)

    @property
    def _named(self) -> str:
        return f"{type(self.study).__name__}.{self.quantity}"


def with_model(data: Any, base: Model, model: Model) -> Any:
    """Data of a study with ``model`` in place of ``base``, wherever it occurs in them."""
    found = data if model is base else _exchanged(data, base, model)
    if found is data and model is not base:
        raise GyrostatError(f"Objective: {type(data).__name__} has nothing to do with the model '{base.name}'.")
    return found


def _exchanged(value: Any, base: Model, model: Model) -> Any:
    if isinstance(value, Model):
        return model if value is base or value == base else value
    if isinstance(value, StudyData):
        fields = {f.name: getattr(value, f.name) for f in dataclasses.fields(value) if f.init}  # type: ignore[arg-type]
        new = {name: _exchanged(x, base, model) for name, x in fields.items()}
        return value if all(new[name] is x for name, x in fields.items()) else type(value)(**new)
    if isinstance(value, tuple | list):
        items = [_exchanged(x, base, model) for x in value]
        return value if all(x is y for x, y in zip(items, value, strict=True)) else type(value)(items)
    if isinstance(value, Mapping):
        pairs = {key: _exchanged(x, base, model) for key, x in value.items()}
        return value if all(pairs[key] is x for key, x in value.items()) else pairs
    return value


def judged(judge: Judge | Objective, name: str, base: Model, model: Model) -> float:
    """The number that an objective gives a model; refused by name unless it is one finite number."""
    value = judge.of(base, model) if isinstance(judge, Objective) else as_number(judge(model), name)
    if not np.isfinite(value):
        raise GyrostatError(f"objective '{name}': is {value}. Hint: bound the parameters to designs that exist.")
    return value


def as_number(value: Any, name: str) -> float:
    """One number, also from an array with one entry."""
    array = np.asarray(value, dtype=float)
    if array.size != 1:
        raise GyrostatError(f"objective '{name}': expected one number, got an array of shape {array.shape}.")
    return float(array.reshape(()))


def read_judges(given: Any, who: str, least: int) -> dict[str, Judge | Objective]:
    """Names and objectives, checked."""
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise GyrostatError(f"{who}: must map names to functions of the model or Objectives, got {clipped(given)}.")
    if len(given) < least:
        raise GyrostatError(f"{who}: needs at least {least}, got {len(given)}.")
    for name, judge in given.items():
        if not callable(judge) and not isinstance(judge, Objective):
            raise GyrostatError(
                f"{who} '{name}': must be a function of the model or an Objective, got {clipped(judge)}."
            )
    return dict(given)
