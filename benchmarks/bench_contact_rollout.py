"""A thousand half-cheetahs in contact with the ground, next to ``mujoco.rollout`` in the same process."""

from __future__ import annotations

import importlib.util
import time
from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.bench_simulate import empty_cache
from benchmarks.harness import Effort, Row, best_of

NOTES = (
    "half_cheetah.xml of the gymnasium wheel: 9 rates, 16 points that may touch, 6 joints with limits; dt = 10 ms, "
    "random constant torques. Both begin where our robots are after one second, when they lie, stand and slide.",
    "A state is one step of one robot, on one core. gyrostat: method 'moreau', exact cones, rigid contact; nothing "
    "is timed unless the residual of contacts is below 1e-8 m/s in 99 % of the steps, and the ground carries them.",
    "MuJoCo: mujoco.rollout as the file sets it, soft contact, 64 of the robots, so that calls are as short.",
    "The gradient is one Rollout.vjp of 20 steps, by all of q0, v0, tau.",
)
DT, STEPS = 0.01, 20
GEARS = np.array([120.0, 90.0, 60.0, 120.0, 60.0, 30.0])


def path() -> Path:
    spec = importlib.util.find_spec("gymnasium")
    if spec is None or spec.origin is None:
        raise FileNotFoundError("half_cheetah.xml comes with gymnasium. Hint: pip install 'gyrostat[gym]'")
    return Path(spec.origin).parent / "envs/mujoco/assets/half_cheetah.xml"


def measure(effort: Effort) -> list[Row]:
    model = gs.load(path(), policy="repair")
    n = 16 if effort.number is not None else 1024
    q, v, action = settled(model, n)
    rows = [build(model, q, v, action)]
    rows += runs(model, q, v, action, effort)
    return rows


def efforts(action: np.ndarray) -> np.ndarray:
    return np.concatenate([np.zeros((len(action), 3)), action * GEARS], axis=1)


def settled(model: gs.Model, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """States after a second; checked: contacts converge, and carry the robots."""
    rng = np.random.default_rng(1)
    q, v, action = rng.uniform(-0.1, 0.1, (n, 9)), 0.1 * rng.normal(size=(n, 9)), rng.uniform(-1.0, 1.0, (n, 6))
    run = gs.rollout(model, efforts(action), q, v, DT, 200, "moreau")
    share = run.unsettled.sum() / (200 * n)
    if share > 0.01:
        raise ArithmeticError(f"the residual of contacts is above 1e-8 in {share:.2%} of the steps")
    carried = sum(f[100:, :, 0] for f in run.contact_forces.values()).mean() / (14.0 * 9.81)  # type: ignore[union-attr]
    if abs(carried - 1.0) > 0.05:
        raise ArithmeticError(f"the ground carries {carried:.3f} of the weight")
    return run.q[100], run.v[100], action


def build(model: gs.Model, q: np.ndarray, v: np.ndarray, action: np.ndarray) -> Row:
    """Recording and code, objects of earlier runs not used."""
    model = deepcopy(model)
    with empty_cache():
        start = time.perf_counter()
        gs.rollout(model, efforts(action)[:2], q[:2], v[:2], DT, 1, "moreau", every=None)
        first = time.perf_counter() - start
    return Row("build", "to the first step of many robots", "gyrostat, recorded and compiled", first)


def runs(model: gs.Model, q: np.ndarray, v: np.ndarray, action: np.ndarray, effort: Effort) -> list[Row]:
    import mujoco  # pyright: ignore[reportMissingImports]
    from mujoco import rollout  # pyright: ignore[reportMissingImports]

    peer = mujoco.MjModel.from_xml_path(str(path()))
    n, some = len(q), min(64, len(q))
    start = np.zeros((some, mujoco.mj_stateSize(peer, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1:10], start[:, 10:19] = q[:some], v[:some]
    held, data, tau = np.repeat(action[:some, None], STEPS, axis=1), mujoco.MjData(peer), efforts(action)

    def ours() -> Any:
        return gs.rollout(model, tau, q, v, DT, STEPS, "moreau", every=None)

    def theirs() -> Any:
        return rollout.rollout(peer, data, start, held)

    motion = ours()
    weights = np.ones_like(motion.q)
    case = f"half-cheetah, {n} robots"
    return [
        Row("run", case, "gyrostat", best_of(ours, effort.repeat, effort.number), n * STEPS),
        Row("run", case, "MuJoCo, rollout", best_of(theirs, effort.repeat, effort.number), some * STEPS, True),
        Row(
            "gradient",
            case,
            "gyrostat, vjp",
            best_of(lambda: motion.vjp((weights, weights)), min(5, effort.repeat), 1),
            n * STEPS,
        ),
    ]
