"""Derivatives of inverse and forward dynamics of real robots: one call, batches, and the time to build; Pinocchio in
the same process."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.bench_forward_dynamics import build_rows, check, robots
from benchmarks.harness import Effort, Row, best_of
from benchmarks.robots import from_pinocchio, pinocchio_model

NOTES = (
    "Robots of the example-robot-data wheel, fixed base, joint by joint from Pinocchio's own reading of the URDF.",
    "All three matrices of each kind. gyrostat runs compiled code, one thread; batches of 1000 states.",
    "Pinocchio: computeRNEADerivatives and computeABADerivatives from Python; it has no batch function for them.",
    "build: cold with an empty cache, warm with the cache that the cold build left; imports apart.",
)
STATES = 1000


def measure(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    for name in robots(effort):
        peer = pinocchio_model(name)
        model = from_pinocchio(peer, name)
        case = f"{name}: aba_derivatives to the first result"
        rows += build_rows(case, model, "gs.ForwardDynamicsDerivatives(model)", "qvv", effort)
        rows += _run(name, model, peer, effort)
    return rows


def _run(name: str, model: gs.Model, peer: Any, effort: Effort) -> list[Row]:
    import pinocchio as pin

    data, rows = peer.createData(), []
    n = 10 if effort.number is not None else STATES
    Q, V, X = (np.ascontiguousarray(x) for x in np.random.default_rng(0).uniform(-1.0, 1.0, (3, n, peer.nv)))
    q, v, x = (s[0].copy() for s in (Q, V, X))
    subjects = {
        "rnea_derivatives": (gs.InverseDynamicsDerivatives(model), gs.rnea_derivatives, pin.computeRNEADerivatives),
        "aba_derivatives": (gs.ForwardDynamicsDerivatives(model), gs.aba_derivatives, pin.computeABADerivatives),
    }

    def add(case: str, program: str, call: Any, states: int = 1, peer: bool = False) -> None:
        rows.append(Row("run", f"{name}: {case}", program, best_of(call, effort.repeat, effort.number), states, peer))

    for what, (solver, function, theirs) in subjects.items():
        want = [np.array(matrix) for matrix in theirs(peer, data, q, v, x)]
        matrices = zip(want, solver(q, v, x), solver(Q, V, X), function(model, q, v, x), strict=True)
        for matrix, one, batch, short in matrices:
            check(f"{name}: {what}", matrix, one, batch[0], short)
        add(f"{what}, one call", "gyrostat", lambda f=solver: f(q, v, x))
        add(f"{what}, one call", f"gs.{what}", lambda f=function: f(model, q, v, x))
        add(f"{what}, one call", "Pinocchio", lambda f=theirs: f(peer, data, q, v, x), peer=True)
        add(f"{what}, {n} states", "gyrostat", lambda f=solver: f(Q, V, X), n)
        add(
            f"{what}, {n} states",
            "Pinocchio, loop",
            lambda f=theirs: [f(peer, data, q, v, x) for _ in range(10)],
            10,
            True,
        )
    return rows
