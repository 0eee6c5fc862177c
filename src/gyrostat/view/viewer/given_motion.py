"""What a user gives to be shown: a configuration, or a motion with further curves."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates
from gyrostat.errors import ShapeError
from gyrostat.spec.model import Model

Array = np.ndarray
RATE = 30.0
"""Pictures per second."""


def given_motion(
    model: Model, q: Any, t: Any, more: dict[str, Any], who: str = "view"
) -> tuple[Array, Array | None, dict[str, Array]]:
    """The first configuration; times and arrays of a trajectory, if there is one."""
    if q is None:
        if t is not None:
            raise ShapeError(f"{who}: t was given without q. Hint: a trajectory is t (T,) and q (T, nq)")
        return neutral(model), None, {}
    configurations = coordinates(model, q, who, "raise")
    if not model.nv:
        return neutral(model), None, {}
    if configurations.ndim == 1 and t is None:
        return configurations, None, {}
    times = np.arange(len(configurations)) / RATE if t is None else np.asarray(t, dtype=float)
    if configurations.ndim != 2 or times.shape != (len(configurations),) or len(configurations) < 2:
        wanted = f"t (T,) and q (T, {model.nq}) with at least two rows"
        raise ShapeError(
            f"{who}: t has shape {times.shape}, q has {configurations.shape}, expected {wanted}. Hint: np.stack"
        )
    if not np.all(np.isfinite(times)) or np.any(np.diff(times) < 0.0) or times[-1] <= times[0]:
        raise ShapeError(f"{who}: t must be finite and grow. Hint: sort the samples by time")
    data = {"q": configurations}
    for name, value in more.items():
        if value is None:
            continue
        x = np.asarray(value, dtype=float)
        if x.shape != (len(times), model.nv):
            wanted = f"({len(times)}, {model.nv})"
            raise ShapeError(f"{who}: {name} has shape {x.shape}, expected {wanted}. Hint: one row for each time")
        data[name] = x
    return configurations[0], times, data
