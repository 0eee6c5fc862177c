"""The structure of a fastest motion [Bobrow 1985]: arcs of greatest acceleration and of greatest deceleration, with
switches between them, and arcs on a limit of the speed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.studies.study_data import StudyData

Array = np.ndarray
ARCS = ("accelerate", "decelerate", "cruise")
SHORTEST = 3
"""Intervals: arcs that are shorter belong to their neighbour."""


@dataclass(frozen=True)
class Switch(StudyData):
    """From one arc to the next, at ``s`` and ``t`` [s]; ``limit``: what bounds the motion after it."""

    s: float
    t: float
    before: str
    after: str
    limit: str


def arcs(kinds: Array) -> list[tuple[int, int, int]]:
    """(first, end, kind) of runs of equal kinds (N,); short ones join the run before."""
    runs: list[list[int]] = []
    for k, kind in enumerate(kinds.tolist()):
        if runs and runs[-1][2] == kind:
            runs[-1][1] = k + 1
        else:
            runs.append([k, k + 1, kind])
    merged: list[list[int]] = []
    for run in runs:
        if merged and (run[1] - run[0] < SHORTEST or merged[-1][2] == run[2]):
            merged[-1][1] = run[1]
        else:
            merged.append(run)
    if len(merged) > 1 and merged[0][1] - merged[0][0] < SHORTEST:
        merged[1][0] = merged[0][0]
        merged = merged[1:]
    return [(a, b, kind) for a, b, kind in merged]
