"""The numbers that a stack hands to its machine code at every call: step, damping, limits, targets, weights, gains. All
of them can change without recompiling."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.tasks.limits import NEVER, Box, CollisionAvoidance
from gyrostat.tasks.task import Task

Array = np.ndarray


@dataclass(frozen=True)
class Place:
    """Where the numbers of one task are."""

    target: slice
    weights: slice
    gain: int
    damping: int


STEP, SHARE, EXTRA, DAMPING, AVOID = 0, 1, 2, 3, slice(4, 7)
"""dt [s]; share of what is left to a limit; further damping, of a search; damping of the stack; distance, share and
reach of collision avoidance."""


@dataclass(frozen=True)
class Numbers:
    """Places of everything in one row of numbers; ``size`` of the row."""

    low: slice
    high: slice
    most: slice
    tasks: tuple[Place, ...]
    size: int


def layout(nq: int, nv: int, tasks: Sequence[Task], targets: Sequence[int]) -> Numbers:
    """Places for a model with nq coordinates and tasks whose targets have so many numbers."""
    at = AVOID.stop
    box: list[slice] = []
    for n in (nq, nq, nv):
        box.append(slice(at, at + n))
        at += n
    places: list[Place] = []
    for task, n in zip(tasks, targets, strict=True):
        m = len(task.row_weights())
        places.append(Place(slice(at, at + n), slice(at + n, at + n + m), at + n + m, at + n + m + 1))
        at += n + m + 2
    low, high, most = box
    return Numbers(low, high, most, tuple(places), at)


def first_numbers(
    at: Numbers, tasks: Sequence[Task], box: Box, avoid: CollisionAvoidance | None, damping: float
) -> Array:
    """The row with what a stack was made with; targets that are not known are NaN."""
    x = np.full(at.size, np.nan)
    x[STEP], x[SHARE], x[EXTRA], x[DAMPING] = 1.0, box.gain, 0.0, damping
    x[AVOID] = (0.0, 1.0, 1.0) if avoid is None else (avoid.distance, avoid.gain, avoid.within)
    x[at.low], x[at.high], x[at.most] = (np.clip(y, -NEVER, NEVER) for y in (box.low, box.high, box.most))
    for place, task in zip(at.tasks, tasks, strict=True):
        x[place.weights], x[place.gain], x[place.damping] = task.row_weights(), task.gain, task.damping
        if task.given is not None:
            x[place.target] = task.target_numbers(task.given)
    return x
