"""The plane that a robot stands on: a normal and a height, and axes in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, clipped

Array = np.ndarray


@dataclass(frozen=True)
class GroundPlane:
    """Points p with normal . p = height; ``normal`` (3,) of unit length and ``height`` [m] in the world."""

    normal: tuple[float, float, float]
    height: float

    @property
    def axes(self) -> Array:
        """Two directions (2, 3) in the plane; x and y if the normal is z. With the normal they are right-handed."""
        n = np.array(self.normal)
        x = np.eye(3)[0] if abs(n[0]) < 0.9 else np.eye(3)[1]
        first = x - n * (n @ x)
        first = first / np.sqrt(first @ first)
        return np.stack([first, np.cross(n, first)])


def ground_plane(normal: Any, height: Any, who: str) -> GroundPlane:
    """The plane that a user names."""
    try:
        n, h = np.array(normal, dtype=float), float(height)
    except (TypeError, ValueError):
        n, h = np.zeros(0), 0.0
    length = float(np.sqrt(n @ n)) if n.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 1e-12):
        raise ShapeError(f"{who}: normal must be a direction (3,), got {clipped(normal)}. Hint: (0, 0, 1)")
    if not np.isfinite(h):
        raise ShapeError(f"{who}: height must be a finite number [m], got {clipped(height)}. Hint: 0.0")
    unit = n / length
    return GroundPlane((float(unit[0]), float(unit[1]), float(unit[2])), h)
