"""Elastic inverse dynamics of arms with seven axes against plain inverse dynamics of the same arms without drives."""

from __future__ import annotations

import os
import tempfile
import time
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of

NOTES = (
    "gs.ElasticInverseDynamics of gs.robots.elastic_arm (neighbouring axes perpendicular) and of a chain with general",
    "axes, whose orders follow from their structure; plain: gs.InverseDynamics of the same arm, rigid and without",
    "drives. Here the peer is the plain one: elastic costs 1 / ratio of it. The target is at most 150 times.",
    "build: cold, with an empty cache: structure, trace, emit and compile of the code for one state, then for batches.",
)
STATES = 2_000


def general_arm(drives: bool) -> gs.Model:
    """Seven revolute joints with general axes, every rotor on the link before its joint."""
    model = gs.robots.tree(1, 7, ("revolute",), branching=0.0)
    for k in range(7) if drives else ():
        model = model.with_drive(f"joint{k}", rotor_inertia=1e-4, gear_ratio=100.0, stiffness=8e3)
    return model


def measure(effort: Effort) -> list[Row]:
    quick = effort.number is not None
    rows: list[Row] = []
    arms: dict[str, Any] = {"perpendicular axes": lambda drives: gs.robots.elastic_arm(drives=drives)}
    if not quick:  # its build takes several seconds
        arms["general axes"] = general_arm
    for name, make in arms.items():
        rows += _arm(name, make, 20 if quick else STATES, effort)
    return rows


def _arm(name: str, make: Any, states: int, effort: Effort) -> list[Row]:
    rng = np.random.default_rng(0)
    plain, (rows, solver) = gs.InverseDynamics(make(False)), _build(name, make(True), states)
    D = rng.uniform(-1.0, 1.0, (states, solver.order + 1, 7))
    Q = [np.ascontiguousarray(D[:, k]) for k in range(3)]
    d, q = D[0].copy(), [x[0].copy() for x in Q]
    runs = {
        f"{name}: one call": (lambda: solver(d), lambda: plain(*q), 1),
        f"{name}: batch, 1 thread": (lambda: solver(D), lambda: plain(*Q), states),
    }
    for case, (elastic, rigid, count) in runs.items():
        times = [best_of(call, effort.repeat, effort.number) for call in (elastic, rigid)]
        rows.append(Row("run", case, f"elastic, order {solver.order}", times[0], count))
        rows.append(Row("run", case, "plain rnea", times[1], count, peer=True))
    return rows


def _build(name: str, model: gs.Model, states: int) -> tuple[list[Row], gs.ElasticInverseDynamics]:
    before = os.environ.get("GYROSTAT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GYROSTAT_CACHE"] = folder
        try:
            start = time.perf_counter()
            solver = gs.ElasticInverseDynamics(model)
            structure = time.perf_counter()
            solver(np.zeros((solver.order + 1, 7)))
            single = time.perf_counter()
            solver(np.zeros((states, solver.order + 1, 7)))
            batch = time.perf_counter()
        finally:
            os.environ.pop("GYROSTAT_CACHE")
            if before is not None:
                os.environ["GYROSTAT_CACHE"] = before
    parts = {
        "structure and order": structure - start,
        "to the first result": single - start,
        "to the first batch": batch - single,
    }
    return [Row("build", name, f"elastic, {part}", seconds) for part, seconds in parts.items()], solver
