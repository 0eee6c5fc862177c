"""Numbers that are free in a whole problem: parameters by name, properties of the robot by path, durations of
phases."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, SpecError, clipped
from gyrostat.solvers.machinery.live_properties import live_value
from gyrostat.spec.model import Model
from gyrostat.studies.optimal_control.phase import Phase

Array = np.ndarray
WHO = "optimal_control"


@dataclass(frozen=True, eq=False)
class FreeNumbers:
    """theta: parameters ``names``, then the free durations of phases ``timed``; bounds and guesses (size,)."""

    names: tuple[str, ...]
    paths: frozenset[str]
    timed: tuple[int, ...]
    low: Array
    high: Array
    guess: Array

    @staticmethod
    def read(phases: Sequence[Phase], parameters: Mapping[str, Any]) -> FreeNumbers:
        """``parameters``: name -> (low, high) or (low, guess, high)."""
        names: list[str] = []
        numbers: list[tuple[float, float, float]] = []
        paths: set[str] = set()
        if not isinstance(parameters, Mapping):
            raise GyrostatError(f"{WHO}: parameters must map names to bounds, got {clipped(parameters)}.")
        for name, given in parameters.items():
            value = _design_value(phases, str(name))
            low, guess, high = _bounds(given, value, str(name))
            if value is not None:
                paths.add(str(name))
            names.append(str(name))
            numbers.append((low, guess, high))
        timed = tuple(k for k, phase in enumerate(phases) if phase.free_duration)
        for k in timed:
            low, high = phases[k].duration
            numbers.append((low, 0.5 * (low + high), high))
        table = np.array(numbers, dtype=float).reshape(-1, 3)
        return FreeNumbers(tuple(names), frozenset(paths), timed, table[:, 0], table[:, 2], table[:, 1])

    @property
    def size(self) -> int:
        return len(self.low)

    def duration(self, number: int) -> int:
        """Where the duration of a phase is."""
        return len(self.names) + self.timed.index(number)

    def named(self, theta: Any) -> dict[str, Any]:
        """Parameters by name."""
        return {name: theta[k] for k, name in enumerate(self.names)}

    def live(self, model: Model) -> dict[str, int]:
        """Paths of properties of this model, and where they are."""
        return {
            model.canonical(name): k
            for k, name in enumerate(self.names)
            if name in self.paths and has_property(model, name)
        }

    def durations(self, phases: Sequence[Phase], theta: Array) -> Array:
        """Durations (phases,) [s]."""
        return np.array(
            [theta[self.duration(k)] if p.free_duration else p.duration for k, p in enumerate(phases)], dtype=float
        )


def has_property(model: Model, path: str) -> bool:
    """Whether a path leads to a property of the model."""
    try:
        model[path]
    except (SpecError, KeyError):
        return False
    return True


def _design_value(phases: Sequence[Phase], name: str) -> float | None:
    """The number that a path has in the models, if it is one."""
    for phase in phases:
        if has_property(phase.model, name):
            value = live_value(phase.model, phase.model.canonical(name))
            if value.ndim:
                raise GyrostatError(
                    f"{WHO}: '{name}' has {value.size} numbers. Hint: parameters are single numbers, such as a mass, a "
                    "length or a stiffness"
                )
            return float(value)
    if "." in name and phases:
        try:
            phases[0].model[name]
        except (SpecError, KeyError) as error:
            raise GyrostatError(f"{WHO}: parameter '{name}' is no property: {error}") from error
    return None


def _bounds(given: Any, value: float | None, name: str) -> tuple[float, float, float]:
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        numbers = np.array([np.nan])
    if numbers.shape not in ((2,), (3,)) or not np.all(np.isfinite(numbers)) or np.any(np.diff(numbers) < 0.0):
        raise GyrostatError(
            f"{WHO}: parameter '{name}' needs (low, high) or (low, guess, high), in order, got {clipped(given)}."
        )
    low, high = float(numbers[0]), float(numbers[-1])
    middle = float(numbers[1]) if len(numbers) == 3 else 0.5 * (low + high) if value is None else value
    return low, min(max(middle, low), high), high
