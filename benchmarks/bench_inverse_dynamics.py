"""Inverse dynamics of real robots: one call, batches, threads, and the time to build; Pinocchio and MuJoCo in the
same process."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of
from benchmarks.robots import FILES, from_pinocchio, pinocchio_model, urdf

NOTES = (
    "Robots of the example-robot-data wheel, fixed base, joint by joint from Pinocchio's own reading of the URDF.",
    "gyrostat runs compiled code; batches of 10,000 (one thread) and 100,000 states (two threads against one).",
    "Pinocchio: pin.rnea from Python, and its batch function rneaInParallel with one thread. MuJoCo: mj_inverse.",
    "build: trace, compile and load apart, with an empty cache; warm start: a second process, imports apart.",
)
STATES, MANY = 10_000, 100_000


def measure(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    for name in FILES:
        rows += _robot(name, effort)
    return rows


def _states(n: int, count: int) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [np.ascontiguousarray(x) for x in rng.uniform(-1.0, 1.0, (3, count, n))]


def _robot(name: str, effort: Effort) -> list[Row]:
    import pinocchio as pin

    quick = effort.number is not None
    peer = pinocchio_model(name)
    data = peer.createData()
    model = from_pinocchio(peer, name)
    rows, solver = _build(name, model)
    Q, V, A = _states(peer.nv, 100 if quick else STATES)
    q, v, a = (x[0].copy() for x in (Q, V, A))
    want = pin.rnea(peer, data, q, v, a)
    for got in (solver(q, v, a), solver(Q, V, A)[0]):
        if np.abs(got - want).max() > 1e-9 * np.abs(want).max():
            raise ArithmeticError(f"{name}: gyrostat and Pinocchio disagree by {np.abs(got - want).max():.1e}")

    def add(case: str, program: str, call: Any, states: int = 1, peer: bool = False) -> None:
        rows.append(Row("run", f"{name}: {case}", program, best_of(call, effort.repeat, effort.number), states, peer))

    out = np.empty(peer.nv)
    add("one call", "gyrostat", lambda: solver(q, v, a))
    add("one call", "gyrostat, out=", lambda: solver(q, v, a, out=out))
    add("one call", "gs.rnea", lambda: gs.rnea(model, q, v, a))
    add("one call", "Pinocchio", lambda: pin.rnea(peer, data, q, v, a), peer=True)
    add("one call", "MuJoCo", _mujoco(name, q, v, a), peer=True)
    n = len(Q)
    pool, columns = pin.ModelPool(peer, 1), [np.asfortranarray(x.T) for x in (Q, V, A)]
    peers = {
        "loop": (lambda: [pin.rnea(peer, data, q, v, a) for _ in range(100)], 100),
        "rneaInParallel, 1 thread": (lambda: pin.rneaInParallel(1, pool, *columns), n),
    }
    for how, (call, count) in peers.items():
        add(f"batch, against {how}", "gyrostat, 1 thread", lambda: solver(Q, V, A), n)
        add(f"batch, against {how}", f"Pinocchio, {how}", call, count, True)
    big = _states(peer.nv, 200 if quick else MANY)
    for threads in (1, 2):
        add(
            f"{len(big[0])} states",
            f"gyrostat, {threads} thread(s)",
            lambda k=threads: solver(*big, threads=k),
            len(big[0]),
        )
    return rows


def _mujoco(name: str, q: np.ndarray, v: np.ndarray, a: np.ndarray) -> Any:
    """mj_inverse on the same URDF, its meshes left out; time only."""
    import re

    import mujoco

    text = re.sub(r"<(visual|collision)\b.*?</\1>", "", urdf(name).read_text(), flags=re.DOTALL)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    n = min(model.nv, len(q))
    data.qpos[:n], data.qvel[:n], data.qacc[:n] = q[:n], v[:n], a[:n]
    return lambda: mujoco.mj_inverse(model, data)


def _build(name: str, model: gs.Model) -> tuple[list[Row], gs.InverseDynamics]:
    """A cold build in this process, then a warm one in another."""
    before = os.environ.get("GYROSTAT_CACHE")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GYROSTAT_CACHE"] = folder
        try:
            zero = np.zeros(model.nv)
            start = time.perf_counter()
            solver = gs.InverseDynamics(model)
            solver(zero, zero, zero)
            cold = time.perf_counter() - start
            path = os.path.join(folder, "model.yaml")
            gs.save(model, path)
            warm = float(subprocess.check_output([sys.executable, "-c", WARM, path], text=True))
            solver(zero[None], zero, zero)  # batch code
        finally:
            os.environ.pop("GYROSTAT_CACHE")
            if before is not None:
                os.environ["GYROSTAT_CACHE"] = before
    code = solver.main_kernel().codes()["one state"].seconds
    case = f"{name}: to the first torque"
    parts = {"trace": solver._seconds["trace"], **code}
    rows = [Row("build", case, "gyrostat, cold", cold), Row("build", case, "gyrostat, warm, second process", warm)]
    return rows + [
        Row("build", case, f"  of the cold build: {part}", seconds) for part, seconds in parts.items()
    ], solver


WARM = """
import sys, time
import numpy as np
import gyrostat as gs
from gyrostat.engine.cpython import builtin
from gyrostat.engine.llvm import target
model = gs.load(sys.argv[1])
zero = np.zeros(model.nv)
start = time.perf_counter()
gs.InverseDynamics(model)(zero, zero, zero)
print(time.perf_counter() - start)
"""
