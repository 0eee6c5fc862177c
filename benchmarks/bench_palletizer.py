"""Inverse dynamics of the palletizing robot of H04 5.2, with two coupled loops, against an arm of six axes."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from functools import partial

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of

NOTES = (
    "gs.InverseDynamics of gs.robots.palletizer, whose loops are parallelograms; of the same with rods of other",
    "lengths, solved by (3.58); with bars of mass in the place of rods; and of gs.robots.arm6. Here the peer is arm6:",
    "a palletizer costs 1 / ratio of it. H04: 75 us against 36 us, ratio 0.48; the target is 0.67 at least.",
)
STATES = 10_000
RODS = {"rod1.length": 1.27, "rod2.length": 1.37}


def measure(effort: Effort) -> list[Row]:
    quick = effort.number is not None
    rows = [
        Row("build", "to the first torque, with loops found and solved", "palletizer", _build(gs.robots.palletizer)),
        Row(
            "build",
            "to the first torque, with loops found and solved",
            "arm6, six axes",
            _build(gs.robots.arm6),
            peer=True,
        ),
    ]
    for drives in (True, False):
        plain = gs.robots.palletizer(drives=drives)
        robots = {
            "arm6, six axes": gs.robots.arm6(drives=drives),
            "palletizer": plain,
            "palletizer, unequal rods": plain.replace(RODS),
            "palletizer, bars with mass": gs.robots.palletizer(bars=True, drives=drives),
        }
        rows += _rows(f"{'with' if drives else 'without'} drives", robots, 20 if quick else STATES, effort)
    return rows


def _build(make: Callable[[], gs.Model]) -> float:
    """Seconds with an empty cache, from a new model."""
    before = os.environ.get("GYROSTAT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GYROSTAT_CACHE"] = folder
        try:
            model = make()
            start, zero = time.perf_counter(), np.zeros(model.nv)
            gs.InverseDynamics(model)(zero, zero, zero)
            return time.perf_counter() - start
        finally:
            os.environ.pop("GYROSTAT_CACHE")
            if before is not None:
                os.environ["GYROSTAT_CACHE"] = before


def _rows(case: str, robots: dict[str, gs.Model], states: int, effort: Effort) -> list[Row]:
    rng, calls = np.random.default_rng(0), {}
    for name, model in robots.items():
        solver, middle = gs.InverseDynamics(model), np.array([0.4, 0.3, 0.2, 0.5, 0.1, -0.2])[: model.nv]
        Q = [middle + 0.1 * rng.uniform(-1.0, 1.0, (states, model.nv)), *rng.normal(size=(2, states, model.nv))]
        calls[name] = partial(solver, *(x[0].copy() for x in Q)), partial(solver, *Q)
    rows = []
    for which, (label, count) in enumerate((("one call", 1), ("batch, 1 thread", states))):
        for name, both in calls.items():
            seconds = best_of(both[which], effort.repeat, effort.number)
            rows.append(Row("run", f"{case}: {label}", name, seconds, count, peer=name.startswith("arm6")))
    return rows
