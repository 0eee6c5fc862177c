"""Fixed-step simulation of one robot and of thousands, next to MuJoCo's own loops in the same process."""

from __future__ import annotations

import time
from copy import deepcopy
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.bench_simulate import empty_cache
from benchmarks.harness import Effort, Row, best_of
from benchmarks.robots import urdf
from validation.mujoco_robot import MujocoRobot
from validation.urdf_files import opened

NOTES = (
    "Panda with gripper (9 joints) of the example-robot-data wheel, no contact, no friction, no torque; dt = 1 ms.",
    "A state is one step of one robot, on one core. MuJoCo: mj_step(model, data, nstep) for one robot, "
    "mujoco.rollout for many, constraints and contacts disabled.",
    "MuJoCo's rollout is timed with 64 of the robots, so that its calls are as short as ours; they are independent.",
    "rk4 is compared with its RK4, semi-implicit with its Euler (without implicit damping). Ends of 100 steps agree.",
)
DT = 1e-3
PAIRS = {"rk4": "RK4", "semi-implicit": "EULER"}


def measure(effort: Effort) -> list[Row]:
    quick = effort.number is not None
    file = opened(urdf("panda"))
    model = file.load("fixed")
    rows: list[Row] = []
    for method, integrator in PAIRS.items():
        peer = prepared(MujocoRobot(file, model, "fixed"), integrator)
        check(model, peer, method)
        rows += build(model, method)
        rows += one_robot(model, peer, method, 100 if quick else 1000, effort)
        rows += many(model, peer, method, 8 if quick else 4096, 5, effort)
    return rows


def prepared(peer: MujocoRobot, integrator: str) -> MujocoRobot:
    """The step and method of MuJoCo."""
    options, flags = peer.model.opt, peer.mj.mjtDisableBit
    options.timestep, options.integrator = DT, getattr(peer.mj.mjtIntegrator, f"mjINT_{integrator}")
    options.disableflags |= flags.mjDSBL_CONTACT | flags.mjDSBL_CONSTRAINT | flags.mjDSBL_EULERDAMP
    return peer


def check(model: gs.Model, peer: MujocoRobot, method: str) -> None:
    """Nothing is timed before it is right."""
    q, v = states(model, 1)
    set_state(peer, q[0], v[0])
    peer.mj.mj_step(peer.model, peer.data, 100)
    motion = gs.rollout(model, None, q, v, DT, 100, method, every=None)
    here, there = motion.q[0, 0], read(peer, model)
    if np.abs(here - there).max() > 1e-9:
        raise ArithmeticError(f"{method}: gyrostat and MuJoCo disagree by {np.abs(here - there).max():.1e}")


def states(model: gs.Model, n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return rng.uniform(-1.0, 1.0, (n, model.nq)), rng.uniform(-1.0, 1.0, (n, model.nv))


def set_state(peer: MujocoRobot, q: np.ndarray, v: np.ndarray) -> None:
    peer.mj.mj_resetData(peer.model, peer.data)
    peer._move(q, v)


def read(peer: MujocoRobot, model: gs.Model) -> np.ndarray:
    q = np.zeros(model.nq)
    for here, _, there, _ in peer.singles:
        q[here] = peer.data.qpos[there]
    return q


def build(model: gs.Model, method: str) -> list[Row]:
    """Recording and code for many robots, objects of earlier runs not used."""
    model = deepcopy(model)  # on which no kernels hang yet
    with empty_cache():
        start = time.perf_counter()
        gs.rollout(model, None, *states(model, 2), DT, 1, method, every=None)
        first = time.perf_counter() - start
    return [Row("build", f"{method}: to the first step of many robots", "gyrostat, recorded and compiled", first)]


def one_robot(model: gs.Model, peer: MujocoRobot, method: str, steps: int, effort: Effort) -> list[Row]:
    q, v = (x[0] for x in states(model, 1))

    def theirs() -> None:
        set_state(peer, q, v)
        peer.mj.mj_step(peer.model, peer.data, steps)

    def ours() -> Any:
        return gs.rollout(model, None, q, v, DT, steps, method, every=None)

    case = f"{method}, one robot"
    return [
        Row("run", case, "gyrostat", best_of(ours, effort.repeat, effort.number), steps),
        Row("run", case, "MuJoCo, mj_step", best_of(theirs, effort.repeat, effort.number), steps, True),
    ]


def many(model: gs.Model, peer: MujocoRobot, method: str, n: int, steps: int, effort: Effort) -> list[Row]:
    from mujoco import rollout  # pyright: ignore[reportMissingImports]

    q, v = states(model, n)
    size = peer.mj.mj_stateSize(peer.model, peer.mj.mjtState.mjSTATE_FULLPHYSICS)
    start = np.zeros((min(64, n), size))
    for k in range(len(start)):
        set_state(peer, q[k], v[k])
        peer.mj.mj_getState(peer.model, peer.data, start[k], peer.mj.mjtState.mjSTATE_FULLPHYSICS)

    def ours() -> Any:
        return gs.rollout(model, None, q, v, DT, steps, method, every=None)

    def theirs() -> Any:
        return rollout.rollout(peer.model, peer.data, start, nstep=steps)

    case = f"{method}, {n} robots"
    return [
        Row("run", case, "gyrostat", best_of(ours, effort.repeat, effort.number), n * steps),
        Row("run", case, "MuJoCo, rollout", best_of(theirs, effort.repeat, effort.number), len(start) * steps, True),
    ]
