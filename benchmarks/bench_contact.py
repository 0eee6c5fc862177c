"""Talos on its feet: accelerations and contact forces, and their derivatives; Pinocchio in the same process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gyrostat as gs
from benchmarks.bench_forward_dynamics import build_rows, check
from benchmarks.harness import Effort, Row, best_of
from benchmarks.robots import joint_kind, urdf

NOTES = (
    "Talos (reduced) of the example-robot-data wheel, free base, joint by joint from Pinocchio's reading: 38 rates.",
    "12 rows: both soles fixed. 24 rows: four corners of each, rank 12; Pinocchio with the proximal settings that it "
    "needs for the same accelerations to 1e-6 (mu = 1e-8), gyrostat without any.",
    "States satisfy J v = 0. gyrostat runs compiled code, one thread; Pinocchio has no batch function for contacts.",
    "Derivatives: gyrostat computes accelerations, forces and all six matrices in one call; Pinocchio's need its "
    "constraintDynamics before, which is counted in the first row of the peer, not in the second.",
    "build: cold with an empty cache, warm with the cache that the cold build left; imports apart.",
)
FEET = ("left_sole_link", "right_sole_link")
CORNERS = [(x, y) for x in (0.1, -0.1) for y in (0.06, -0.06)]
STATES = 1000


class Peer(NamedTuple):
    """Pinocchio's model with contacts at both soles, or at the corners of both; ``order``: its numbers of our rates."""

    model: Any
    data: Any
    contacts: Any
    memory: Any
    settings: Any
    order: np.ndarray

    def state(self, q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, ...]:
        Q, V, T = np.zeros(self.model.nq), np.zeros(self.model.nv), np.zeros(self.model.nv)
        Q[:7], Q[self.order[6:] + 1] = q[:7], q[7:]
        V[self.order], T[self.order] = v, tau
        return Q, V, T

    def accelerations(self, Q: np.ndarray, V: np.ndarray, T: np.ndarray) -> Any:
        import pinocchio as pin

        return pin.constraintDynamics(self.model, self.data, Q, V, T, self.contacts, self.memory, self.settings)

    def derivatives(self) -> None:
        import pinocchio as pin

        pin.computeConstraintDynamicsDerivatives(self.model, self.data, self.contacts, self.memory, self.settings)


def peer(corners: bool) -> Peer:
    import pinocchio as pin

    model = pin.buildModelFromUrdf(str(urdf("talos")), pin.JointModelFreeFlyer())
    contacts, memory = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    kind = pin.ContactType.CONTACT_3D if corners else pin.ContactType.CONTACT_6D
    for name in FEET:
        frame = model.frames[model.getFrameId(name)]
        for x, y in CORNERS if corners else [(0.0, 0.0)]:
            place = frame.placement * pin.SE3(np.eye(3), np.array([x, y, 0.0]))
            contacts.append(pin.RigidConstraintModel(kind, model, frame.parentJoint, place, pin.LOCAL))
            memory.append(contacts[-1].createData())
    data = model.createData()
    pin.initConstraintDynamics(model, data, contacts, memory)
    settings = pin.ProximalSettings(1e-12, 1e-8, 10) if corners else pin.ProximalSettings(1e-12, 0.0, 1)
    order = [model.joints[k].idx_v for k in range(2, model.njoints)]
    return Peer(model, data, contacts, memory, settings, np.array([3, 4, 5, 0, 1, 2, *order]))


def free_talos(model: Any) -> gs.Model:
    """The robot joint by joint from Pinocchio's reading with a free base; soles and their corners are frames."""
    root, tips = model.inertias[1], ["", "body_root.origin"]
    parts: list[Any] = [
        gs.RigidBody("body_root", mass=float(root.mass), com=root.lever, inertia=root.inertia),
        gs.connect("world.frame", "body_root.origin"),
    ]
    for k in range(2, model.njoints):
        kind, axis = joint_kind(model.joints[k])
        joint, body = model.names[k], f"body_{model.names[k]}"
        place, inertia = model.jointPlacements[k], model.inertias[k]
        parts += [
            gs.Displacement(f"place_{joint}", translation=place.translation, rotation=place.rotation),
            gs.Joint(joint, kind, axis=axis),
            gs.RigidBody(body, mass=float(inertia.mass), com=inertia.lever, inertia=inertia.inertia),
            gs.connect(tips[model.parents[k]], f"place_{joint}.a"),
            gs.connect(f"place_{joint}.b", f"{joint}.a"),
            gs.connect(f"{joint}.b", f"{body}.origin"),
        ]
        tips.append(f"{body}.origin")
    for name in FEET:
        frame = model.frames[model.getFrameId(name)]
        place = frame.placement
        parts += [
            gs.Displacement(name, translation=place.translation, rotation=place.rotation),
            gs.connect(tips[frame.parentJoint], f"{name}.a"),
        ]
        for i, (x, y) in enumerate(CORNERS):
            parts += [
                gs.Displacement(f"{name}_{i}", translation=(x, y, 0.0)),
                gs.connect(f"{name}.b", f"{name}_{i}.a"),
            ]
    return gs.assemble("talos", *parts, base="free", gravity=model.gravity.linear)


def states(model: gs.Model, n: int) -> tuple[np.ndarray, ...]:
    """Random, with soles at rest."""
    rng = np.random.default_rng(0)
    Q = np.stack([gs.random_configuration(model, rng) for _ in range(n)])
    V, T = rng.normal(size=(2, n, model.nv))
    J = np.concatenate([gs.jacobian(model, Q, name, "local") for name in FEET], axis=-2)
    V = V - np.einsum("kij,kj->ki", np.linalg.pinv(J), np.einsum("kij,kj->ki", J, V))
    return Q, V, T


def measure(effort: Effort) -> list[Row]:
    one, many = peer(False), peer(True)
    model = free_talos(one.model)
    n = 10 if effort.number is not None else STATES
    batch = states(model, n)
    case, solver = "talos on two feet, 12 rows: to the first result", f"gs.ContactDynamics(model, {list(FEET)})"
    rows = build_rows(case, model, solver, "qvv", effort)
    rows += _dynamics("12 rows", model, list(FEET), one, batch, effort, 1e-8)
    corners = {f"{name}_{i}": "point" for name in FEET for i in range(len(CORNERS))}
    rows += _dynamics("24 rows of rank 12", model, corners, many, batch, effort, 1e-6)
    fixed, points = (gs.ContactDynamics(model, held)(*batch) for held in (list(FEET), corners))
    check("talos: 24 rows give the accelerations of 12", fixed.a, points.a)
    return rows + _derivatives(model, one, batch, effort)


def _dynamics(
    what: str, model: gs.Model, held: Any, other: Peer, batch: tuple[np.ndarray, ...], effort: Effort, same: float
) -> list[Row]:
    solver = gs.ContactDynamics(model, held)
    q, v, tau = (x[0].copy() for x in batch)
    Q, V, T = other.state(q, v, tau)
    want = np.array(other.accelerations(Q, V, T))[other.order]
    for got in (solver(q, v, tau).a, solver(*batch).a[0]):
        _expect_same(f"talos on two feet, {what}", got, want, same)
    n = len(batch[0])
    ours, theirs, all_of_them = in_turns(
        effort, lambda: solver(q, v, tau), lambda: other.accelerations(Q, V, T), lambda: solver(*batch)
    )
    case = f"talos on two feet, {what}"
    return [
        Row("run", f"{case}, one call", "gyrostat", ours),
        Row("run", f"{case}, one call", "Pinocchio", theirs, peer=True),
        Row("run", f"{case}, {n} states", "gyrostat", all_of_them, n),
        Row("run", f"{case}, {n} states", "Pinocchio, loop", theirs, peer=True),
    ]


def _derivatives(model: gs.Model, other: Peer, batch: tuple[np.ndarray, ...], effort: Effort) -> list[Row]:
    solver = gs.ContactDynamicsDerivatives(model, list(FEET))
    q, v, tau = (x[0].copy() for x in batch)
    Q, V, T = other.state(q, v, tau)

    def both() -> None:
        other.accelerations(Q, V, T)
        other.derivatives()

    both()
    found, data, at = solver(q, v, tau), other.data, np.ix_(other.order, other.order)
    for got, want in zip(found[:3], (data.ddq_dq, data.ddq_dv, data.ddq_dtau), strict=True):
        _expect_same("talos on two feet: derivatives", got, np.array(want)[at], 1e-8)
    n = min(100, len(batch[0]))
    some = tuple(np.ascontiguousarray(x[:n]) for x in batch)
    solver(q, v, tau)
    times = in_turns(effort, lambda: solver(q, v, tau), both, other.derivatives, lambda: solver(*some))
    case = "talos on two feet, a, f and all derivatives"
    return [
        Row("run", f"{case}, one call", "gyrostat", times[0]),
        Row("run", f"{case}, one call", "Pinocchio, both functions", times[1], peer=True),
        Row("run", f"{case}, {n} states", "gyrostat", times[3], n),
        Row("run", f"{case}, {n} states", "Pinocchio, both functions, loop", times[1], peer=True),
        Row("run", "talos on two feet, derivatives alone, one call", "gyrostat (with a and f)", times[0]),
        Row("run", "talos on two feet, derivatives alone, one call", "Pinocchio", times[2], peer=True),
    ]


def in_turns(effort: Effort, *calls: Callable[[], Any]) -> list[float]:
    """Seconds of each, best of many, one after the other: what disturbs one of them disturbs all."""
    rounds = [[best_of(call, 1, effort.number) for call in calls] for _ in range(effort.repeat)]
    return [min(times) for times in zip(*rounds, strict=True)]


def _expect_same(case: str, got: np.ndarray, want: np.ndarray, same: float) -> None:
    off = float(np.abs(got - want).max() / np.abs(want).max())
    if not off <= same:
        raise AssertionError(f"{case}: results differ by {off:.2g} of the largest, expected {same:g}")
