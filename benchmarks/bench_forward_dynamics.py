"""Forward dynamics and mass matrix of real robots: one call, batches, and the time to build; Pinocchio in the same
process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of
from benchmarks.robots import FILES, from_pinocchio, pinocchio_model

NOTES = (
    "Robots of the example-robot-data wheel, fixed base, joint by joint from Pinocchio's own reading of the URDF.",
    "gyrostat runs compiled code, one thread; batches of 10,000 states. Pinocchio: pin.aba and abaInParallel.",
    "Mass matrix: gyrostat fills both halves, pin.crba the upper one only; what is compared is the upper half.",
    "build: cold with an empty cache, warm with the cache that the cold build left; imports apart.",
)
STATES = 10_000


def measure(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    for name in robots(effort):
        peer = pinocchio_model(name)
        model = from_pinocchio(peer, name)
        rows += build_rows(f"{name}: aba to the first result", model, "gs.ForwardDynamics(model)", "qvv", effort)
        rows += build_rows(f"{name}: crba to the first result", model, "gs.MassMatrix(model)", "q", effort)
        rows += _run(name, model, peer, effort)
    return rows


def robots(effort: Effort) -> list[str]:
    """All, or the smallest one for a quick look."""
    return list(FILES)[: 1 if effort.number is not None else None]


def _run(name: str, model: gs.Model, peer: Any, effort: Effort) -> list[Row]:
    import pinocchio as pin

    data, rows = peer.createData(), []
    forward, mass = gs.ForwardDynamics(model), gs.MassMatrix(model)
    n = 100 if effort.number is not None else STATES
    Q, V, T = (np.ascontiguousarray(x) for x in np.random.default_rng(0).uniform(-1.0, 1.0, (3, n, peer.nv)))
    q, v, tau = (x[0].copy() for x in (Q, V, T))
    want = pin.aba(peer, data, q, v, tau)
    check(f"{name}: aba", want, forward(q, v, tau), forward(Q, V, T)[0], gs.aba(model, q, v, tau))
    upper = np.triu(pin.crba(peer, data, q))
    check(f"{name}: crba", upper, np.triu(mass(q)), np.triu(mass(Q)[0]), np.triu(gs.crba(model, q)))
    check(f"{name}: crba, lower half", mass(q), mass(q).T)

    def add(case: str, program: str, call: Any, states: int = 1, peer: bool = False) -> None:
        rows.append(Row("run", f"{name}: {case}", program, best_of(call, effort.repeat, effort.number), states, peer))

    out = np.empty(peer.nv)
    add("aba, one call", "gyrostat", lambda: forward(q, v, tau))
    add("aba, one call", "gyrostat, out=", lambda: forward(q, v, tau, out=out))
    add("aba, one call", "gs.aba", lambda: gs.aba(model, q, v, tau))
    add("aba, one call", "Pinocchio", lambda: pin.aba(peer, data, q, v, tau), peer=True)
    pool, columns = pin.ModelPool(peer, 1), [np.asfortranarray(x.T) for x in (Q, V, T)]
    peers = {
        "loop": (lambda: [pin.aba(peer, data, q, v, tau) for _ in range(100)], 100),
        "abaInParallel": (lambda: pin.abaInParallel(1, pool, *columns), n),
    }
    for how, (call, count) in peers.items():
        add(f"aba, {n} states, {how}", "gyrostat", lambda: forward(Q, V, T), n)
        add(f"aba, {n} states, {how}", f"Pinocchio, {how}", call, count, True)
    add("crba, one call", "gyrostat", lambda: mass(q))
    add("crba, one call", "gs.crba", lambda: gs.crba(model, q))
    add("crba, one call", "Pinocchio, upper half", lambda: pin.crba(peer, data, q), peer=True)
    return rows


def check(what: str, want: np.ndarray, *results: np.ndarray) -> None:
    """Nothing is timed before it is right."""
    for got in results:
        if np.abs(got - want).max() > 1e-9 * np.abs(want).max():
            raise ArithmeticError(f"{what}: gyrostat and Pinocchio disagree by {np.abs(got - want).max():.1e}")


def build_rows(case: str, model: gs.Model, solver: str, arguments: str, effort: Effort) -> list[Row]:
    """A cold build and a warm one, each in a process of its own; ``arguments``: letters q and v of the state.

    The shortest of three: other processes can only add time."""
    times: dict[str, list[dict[str, float]]] = {"cold": [], "warm": []}
    for _ in range(min(3, effort.repeat)):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.yaml"
            gs.save(model, path)
            command = [sys.executable, "-c", BUILD, str(path), solver, arguments]
            surroundings = os.environ | {"GYROSTAT_CACHE": str(Path(folder) / "cache")}
            for runs in times.values():  # the second run finds what the first one left
                runs.append(json.loads(subprocess.check_output(command, text=True, env=surroundings)))
    best = {name: min(runs, key=lambda run: run["total"]) for name, runs in times.items()}
    rows = [Row("build", case, f"gyrostat, {name}", run["total"]) for name, run in best.items()]
    return rows + [
        Row("build", case, f"  of the cold build: {part}", seconds)
        for part, seconds in best["cold"].items()
        if part != "total"
    ]


BUILD = """
import json, sys, time
import numpy as np
import gyrostat as gs
from gyrostat.engine.cpython import builtin
from gyrostat.engine.llvm import compile
from gyrostat.engine.llvm import target
model = gs.load(sys.argv[1])
state = [gs.neutral(model) if letter == "q" else np.zeros(model.nv) for letter in sys.argv[3]]
start = time.perf_counter()
solver = eval(sys.argv[2])
solver(*state)
total = time.perf_counter() - start
parts = {"trace": solver._seconds["trace"], **solver.main_kernel().codes()["one state"].seconds}
print(json.dumps({"total": total, **parts}))
"""
