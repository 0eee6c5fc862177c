"""A path at points: q and its derivatives by s."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.studies.fastest_path.paths import Path

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Points:
    """A path at P points: q and its derivatives by s (P, n)."""

    q: Array
    q1: Array
    q2: Array


def points_of(path: Path, s: Array) -> Points:
    """The path at s (P,)."""
    return Points(*(np.ascontiguousarray(x) for x in path.derivatives(s, 2)))
