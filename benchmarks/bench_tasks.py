"""Steps of inverse kinematics as tasks, beside pink with the same tasks, limits and solver (DAQP)."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.harness import Effort, Row, best_of
from benchmarks.robots import urdf
from gyrostat import tasks as ts

NOTES = (
    "Panda, 9 rates: frame of the hand, posture. Talos, 38 rates, floating: three frames, centre of mass, posture.",
    "free: no limits; limited: those of joints and rates, of which several are active.",
    "pink: Configuration(model, data, q), then solve_ik with DAQP, as its examples call it; tasks and targets are made"
    " before. The same rates are asserted first.",
    "first step: building the stack, compiling or finding it in the cache, one step.",
)
DT = 0.01
SOLES = ("left_sole_link", "right_sole_link")


def measure(effort: Effort) -> list[Row]:
    rows: list[Row] = []
    for make in (_panda, _talos):
        name, model, q, own, peer = make()
        for case, limits in (("free", None), ("limited", "model")):
            rows += _case(f"{name}, {case}", model, q, own, limits, peer, effort)
    return rows


def _case(case: str, model: gs.Model, q: Any, own: Any, limits: Any, peer: Any, effort: Effort) -> list[Row]:
    start = time.perf_counter()
    stack = ts.Stack(model, own, limits, damping=1e-6)
    v = stack.rates(q, DT)
    rows = [Row("build", f"{case}: first step", "gyrostat", time.perf_counter() - start)]
    np.testing.assert_allclose(peer(limits, exact=True), v, atol=1e-6 * np.abs(v).max())
    own_time = best_of(lambda: stack.rates(q, DT), effort.repeat, effort.number)
    rows.append(Row("run", f"{case}: one step", "gyrostat", own_time))
    rows.append(
        Row("run", f"{case}: one step", "pink", best_of(lambda: peer(limits), effort.repeat, effort.number), peer=True)
    )
    if limits is None:
        many = np.tile(q, (1000 if effort.number is None else 10, 1))
        seconds = best_of(lambda: stack.rates(many, DT), effort.repeat, effort.number)
        rows.append(Row("run", f"{case}: {len(many)} states", "gyrostat", seconds, len(many)))
    return rows


def _peer(model: Any, q: np.ndarray, tasks: list[Any], order: Any) -> Any:
    import pink

    data = model.createData()

    def step(limits: Any, exact: bool = False) -> np.ndarray:
        options = {"primal_tol": 1e-12, "dual_tol": 1e-12} if exact else {}
        used = [] if limits is None else None
        at = pink.Configuration(model, data, q)
        v = pink.solve_ik(at, tasks, DT, solver="daqp", damping=1e-6, limits=used, **options)
        return v[order] if exact else v

    return step


def _loaded(name: str, **options: Any) -> gs.Model:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gs.load(urdf(name), **options)


def _frame(at: Any, name: str, target: Any) -> tuple[Any, Any]:
    import pink

    task = pink.tasks.FrameTask(name, 1.0, 1.0)
    task.set_target(target)
    return task, ts.Frame(name, target.homogeneous)


def _posture(weight: float, theirs: np.ndarray, own: np.ndarray) -> tuple[Any, Any]:
    import pink

    task = pink.tasks.PostureTask(weight)
    task.set_target(theirs)
    return task, ts.Posture(own, weight)


def _panda() -> tuple[str, gs.Model, np.ndarray, list[Any], Any]:
    import pink
    import pinocchio as pin

    model, peer = _loaded("panda", mimic=False), pin.buildModelFromUrdf(str(urdf("panda")))
    q = np.array([0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.7, 0.02, 0.02])
    at = pink.Configuration(peer, peer.createData(), q)
    hand = at.get_transform_frame_to_world("panda_hand_tcp") * pin.exp6(np.full(6, 0.04))
    pairs = [_frame(at, "panda_hand_tcp", hand), _posture(1e-2, q, q)]
    theirs, own = ([pair[k] for pair in pairs] for k in (0, 1))
    return "Panda", model, q, own, _peer(peer, q, theirs, slice(None))


def _talos() -> tuple[str, gs.Model, np.ndarray, list[Any], Any]:
    import pink
    import pinocchio as pin

    model = _loaded("talos", base="free", friction=False)
    peer = pin.buildModelFromUrdf(str(urdf("talos")), pin.JointModelFreeFlyer())
    q = pin.neutral(peer)
    low, high = peer.lowerPositionLimit[7:] + 0.05, peer.upperPositionLimit[7:] - 0.05
    q[7:] = np.clip(0.2 * np.random.default_rng(1).normal(size=peer.nq - 7), low, high)
    places = [list(peer.names).index(name) - 2 for name in model.coordinates[7:]]
    at = pink.Configuration(peer, peer.createData(), q)
    centre = pin.centerOfMass(peer, at.data, q) + 0.01
    hand = at.get_transform_frame_to_world("gripper_left_base_link") * pin.exp6(np.full(6, 0.03))
    balance = pink.tasks.ComTask(1.0)
    balance.set_target(centre)
    pairs = [
        _frame(at, "gripper_left_base_link", hand),
        *(_frame(at, sole, at.get_transform_frame_to_world(sole)) for sole in SOLES),
        (balance, ts.CenterOfMass(centre)),
        _posture(0.1, pin.neutral(peer), gs.neutral(model)),
    ]
    theirs, own = ([pair[k] for pair in pairs] for k in (0, 1))
    order = [3, 4, 5, 0, 1, 2, *(6 + k for k in places)]
    return "Talos", model, np.r_[q[:7], q[7:][places]], own, _peer(peer, q, theirs, order)
