"""Time and the motion of a driven base as inputs of a solver: read from ``t=``, as arrays of recorded programs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import StateError
from gyrostat.spatial.base_motion import BaseState, base_state
from gyrostat.spec.context import HarmonicMotion, MovingBase
from gyrostat.spec.model import Model

Array = np.ndarray
MOTION = {"base_R": (3, 3), "base_p": (3,), "base_V": (6,), "base_A": (6,)}
"""Shapes of placement, velocity and acceleration of a base that follows a Python function of time."""


def base_shapes(model: Model) -> dict[str, tuple[int, ...]]:
    """Inputs of a program for the base of the model."""
    base = model.context.base
    if isinstance(base, HarmonicMotion):
        return {"t": ()}
    return dict(MOTION) if isinstance(base, MovingBase) else {}


def base_arrays(model: Model, t: Any, who: str) -> list[Array]:
    """Values of :func:`base_shapes` for times t (...)."""
    base = model.context.base
    if t is None and isinstance(base, str):
        return []
    times = read_times(model, t, who)
    if isinstance(base, HarmonicMotion):
        return [times]
    if not isinstance(base, MovingBase):
        return []
    states = [base_state(base, float(x)) for x in times.ravel()]
    return [np.array([s[k] for s in states]).reshape((*times.shape, *shape)) for k, shape in enumerate(MOTION.values())]


def recorded_time(arrays: Mapping[str, Any]) -> Any:
    """Time, or the motion of the base, among the arrays of a recording."""
    if "base_R" in arrays:
        return BaseState(*(arrays[name] for name in MOTION))
    return arrays["t"][()] if "t" in arrays else 0.0


def read_times(model: Model, t: Any, who: str) -> Array:
    """t as an array of any shape; needed only where the base moves as a function of time."""
    fixed = isinstance(model.context.base, str)
    if t is None:
        if not fixed:
            raise StateError(f"{who}: the base of '{model.name}' moves with time. Hint: give t=...")
        t = 0.0
    array = real_array(t, who, "t")
    if not np.all(np.isfinite(array)):
        raise StateError(f"{who}: t must be finite, got {array}")
    return np.zeros(()) if fixed else array
