"""Several right-hand sides at once, as the columns of an array: number 0 belongs to the motion, with velocities,
gravity and external forces; the others are plain generalised forces."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array


def together(x: Any, y: Any) -> Any:
    """Sum of forces (6,) or numbers, in columns or a single one, which counts for column 0."""
    if np.ndim(x) == np.ndim(y):
        return x + y
    full, one = (x, y) if np.ndim(x) > np.ndim(y) else (y, x)
    first = full[..., 0] + one
    return np.concatenate([np.asarray(first)[..., None], full[..., 1:]], axis=-1)


def in_columns(z: Array, columns: int) -> Array:
    """A force (6, columns), from one that may be given for column 0 alone."""
    return z if np.ndim(z) == 2 else together(z, np.zeros((6, columns)))
