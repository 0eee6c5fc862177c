"""The shapes of one beam: its four families, and how they overlap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from gyrostat.algorithms.flexible.ritz_shapes import AXIAL, Shapes, Station, overlap, ritz_shapes
from gyrostat.spatial.algebra import Array

FAMILIES = ("y", "z", "t", "x")


@dataclass(frozen=True)
class BeamShapes:
    """Shapes along y and z, of twist t and of stretch x; ``yz``: int f_y f_z; ``axis`` (k,): int pi_k x, the axis."""

    y: Shapes
    z: Shapes
    t: Shapes
    x: Shapes
    yz: Array
    axis: Array

    @property
    def axial(self) -> int:
        """How many functions carry positions along the axis."""
        return len(self.axis)

    def split(self, q: Array) -> tuple[Array, Array, Array, Array]:
        """Coordinates (n,) of the four families."""
        ends = np.cumsum([getattr(self, family).n for family in FAMILIES])
        y, z, t, x = np.split(q, ends[:-1])
        return y, z, t, x

    def at(self, place: float) -> Mapping[str, Station]:
        """Values at a place 0 ... 1 along the beam."""
        return {family: getattr(self, family).at(place) for family in FAMILIES}


@lru_cache
def modal_shapes(y: int, z: int, t: int, x: int) -> BeamShapes:
    """Of a uniform beam, for numbers of shapes. Stretch has no more axial functions than it needs to be exact."""
    k = max(AXIAL, x + 1)
    axis = np.array([0.5, 0.5 / np.sqrt(3.0), *[0.0] * (k - 2)])
    bending = ritz_shapes(y, 2, k), ritz_shapes(z, 2, k)
    return BeamShapes(*bending, ritz_shapes(t, 1, k), ritz_shapes(x, 1, k), overlap(y, z), axis)


def product(A: Array, x: Array) -> Array:
    """A x, also where there is nothing to sum."""
    return A @ x if A.size else np.zeros(A.shape[:-1])


def dot(x: Array, y: Array) -> Any:
    return x @ y if len(x) else 0.0
