"""Properties of a robot as unknowns of a study: paths with bounds, scaled to [0, 1]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.machinery.variants import variant
from gyrostat.spec.model import Model


@dataclass(frozen=True, eq=False)
class DesignParameters:
    """Numbers by path, between bounds: p = low + (high - low) x, 0 <= x <= 1."""

    model: Model
    paths: tuple[str, ...]
    low: np.ndarray
    high: np.ndarray

    @classmethod
    def read(cls, model: Model, given: Any, who: str) -> DesignParameters:
        """From ``{"upper.length": (0.2, 0.6)}``."""
        if not isinstance(given, Mapping) or not given:
            raise GyrostatError(
                f"{who}: parameters must map paths to bounds, got {clipped(given)}. "
                "Hint: {'forearm.mass': (1.0, 3.0)}."
            )
        low, high = np.empty(len(given)), np.empty(len(given))
        for k, (path, bounds) in enumerate(given.items()):
            one_number(model, path, who)
            pair = np.asarray(bounds, dtype=float)
            if pair.shape != (2,) or not np.all(np.isfinite(pair)) or not pair[0] < pair[1]:
                raise GyrostatError(f"{who}: '{path}' needs bounds (low, high), low < high, got {clipped(bounds)}.")
            low[k], high[k] = pair
        return cls(model, tuple(given), low, high)

    def values(self, x: np.ndarray) -> np.ndarray:
        """p at x; exact at the bounds."""
        return np.where(x >= 1.0, self.high, np.where(x <= 0.0, self.low, self.low + (self.high - self.low) * x))

    def scaled(self, p: Any) -> np.ndarray:
        """x of values, moved into the bounds."""
        return np.clip((np.asarray(p, dtype=float) - self.low) / (self.high - self.low), 0.0, 1.0)

    def changed(self, x: np.ndarray) -> Model:
        """The model at x; all these models share the machine code of their solvers."""
        return variant(self.model, dict(zip(self.paths, self.values(x).tolist(), strict=True)))

    @property
    def start(self) -> np.ndarray:
        """x of the model as it is."""
        return self.scaled([self.model[path] for path in self.paths])


def one_number(model: Model, path: str, who: str) -> float:
    """A property that is one number; anything else is refused by name."""
    value = model[path]
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise GyrostatError(f"{who}: '{path}' is {clipped(value)}. Hint: design parameters are single numbers.")
    return float(value)
