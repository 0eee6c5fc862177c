"""Motions that simulations are measured on: robots with laws and starts for gyrostat, and the same for its peers.

Peers get the lines that a user writes there: first-order equations for SciPy on Pinocchio's forward dynamics, a file
with servos for MuJoCo.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from benchmarks.robots import urdf
from gyrostat.robots.elastic_arm import STAGES
from validation.pinocchio_robot import PinocchioRobot
from validation.urdf_files import opened

Array = np.ndarray
Law = Callable[[Any, Any, Any], Any]

KP = np.array([100.0, 100.0, 100.0, 100.0, 30.0, 15.0, 5.0, 20.0, 20.0])
"""Gains of the Panda [N m/rad], of its fingers [N/m]."""
KD = np.array([20.0, 20.0, 20.0, 20.0, 3.0, 1.5, 0.5, 1.0, 1.0])
"""[N m s/rad], [N s/m]."""
GOAL = np.array([0.3, -0.5, 0.2, -1.8, 0.1, 1.4, 0.6, 0.02, 0.02])
START = np.array([0.0, 0.3, 0.0, -1.0, 0.0, 1.0, 0.0, 0.01, 0.01])
"""[rad], fingers [m]."""


@dataclass(frozen=True)
class Motion:
    """A robot, its law f(t, q, v) and its start (q, v). For SciPy: dy/dt = ``rates(t, y)`` from ``y``, and ``read``,
    which turns rows (T, ny) of it into q (T, nq) of gyrostat's order."""

    model: gs.Model
    law: Law
    q: Array
    v: Array
    rates: Callable[[float, Array], Array]
    y: Array
    read: Callable[[Array], Array]


def pd(kp: Array, kd: Array, goal: Array) -> Law:
    """A new function with these gains."""
    return lambda t, q, v: kp * (goal - q) - kd * v


def panda() -> Motion:
    """The Panda with its gripper, nine joints, under a PD law; friction and <mimic> of its file are left out."""
    pin: Any = import_module("pinocchio")
    file = opened(urdf("panda"))
    model = file.load("fixed")
    peer = PinocchioRobot(file, model, "fixed")
    if not np.array_equal(peer.T, np.eye(model.nv)):
        raise ValueError("panda: joints of both programs are in another order, expected the same")
    there, data, n = peer.model, peer.data, model.nv

    def rates(t: float, y: Array) -> Array:
        q, v = y[:n], y[n:]
        return np.concatenate([v, pin.aba(there, data, q, v, KP * (GOAL - q) - KD * v)])

    start = np.concatenate([START, np.zeros(n)])
    return Motion(model, pd(KP, KD, GOAL), START, np.zeros(n), rates, start, lambda y: y[:, :n])


def talos() -> Motion:
    """Talos with a free base (38 rates), thrown with a spin, its 32 joints under a PD law of 10 rad/s and a damping of
    0.7, each for itself."""
    pin: Any = import_module("pinocchio")
    file = opened(urdf("talos"))
    model = file.load("free")
    peer = PinocchioRobot(file, model, "free")
    rng = np.random.default_rng(0)
    q = np.concatenate([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], 0.2 * rng.normal(size=model.nq - 7)])
    v = np.concatenate([[0.5, 1.0, -0.7, 0.3, 0.0, 2.0], np.zeros(model.nv - 6)])
    inertia = np.diag(gs.crba(model, q))[6:]
    kp, kd, goal = 100.0 * inertia, 14.0 * inertia, q[7:] + 0.2 * rng.normal(size=model.nq - 7)

    def law(t: Any, q: Any, v: Any) -> Any:
        return np.concatenate([np.zeros(6), kp * (goal - q[7:]) - kd * v[6:]])

    there, data, nq = peer.model, peer.data, model.nq
    order = np.array([np.flatnonzero(row)[0] for row in peer.T[6:]]) - 6  # joint here of each joint there
    kp_there, kd_there, goal_there, free = kp[order], kd[order], goal[order], np.zeros(6)

    def rates(t: float, y: Array) -> Array:
        q, v = y[:nq].copy(), y[nq:]
        x, y_, z, w = q[3:7]
        turning = np.array([[w, -z, y_], [z, w, -x], [-y_, x, w], [-x, -y_, -z]]) @ (0.5 * v[3:6])
        q[3:7] /= np.linalg.norm(q[3:7])
        a = pin.aba(there, data, q, v, np.concatenate([free, kp_there * (goal_there - q[7:]) - kd_there * v[6:]]))
        return np.concatenate([pin.Quaternion(q[3:7]).matrix() @ v[:3], turning, v[6:], a])

    def read(y: Array) -> Array:
        found = y[:, :nq].copy()
        found[:, 3:7] /= np.linalg.norm(found[:, 3:7], axis=1, keepdims=True)
        found[:, 7 + order] = y[:, 7:nq]
        return found

    start = np.concatenate([q[:7], q[7:][order], peer.T @ v])
    return Motion(model, law, q, v, rates, start, read)


# ------------------------------------------------------------------------------------------------ MuJoCo
LINKS = 9
SERVO = np.minimum(np.arange(LINKS), 6)
"""Which of the Panda's gains a joint of the chain has."""


def chain_text(integrator: str) -> str:
    """Nine hinges about z and y in turn, each with a position servo, as a file of MuJoCo with steps of 1 ms."""
    bodies = "".join(
        f'<body name="link{k}" pos="0 0 0.15"><joint name="joint{k}" axis="{("0 0 1", "0 1 0")[k % 2]}"/>'
        f'<inertial pos="0 0.02 0.07" mass="{3.0 - 0.3 * k}" diaginertia="0.02 0.02 0.01"/>'
        for k in range(LINKS)
    )
    servos = "".join(f'<position joint="joint{k}" kp="{KP[i]}" kv="{KD[i]}"/>' for k, i in enumerate(SERVO))
    return (
        f'<mujoco><option timestep="0.001" integrator="{integrator}"><flag contact="disable" constraint="disable"/>'
        f"</option><worldbody>{bodies}{'</body>' * LINKS}</worldbody><actuator>{servos}</actuator></mujoco>"
    )


class Chain:
    """The chain in gyrostat, with the law of the servos, and in MuJoCo; both start at rest, ``q`` [rad]."""

    def __init__(self, integrator: str):
        mujoco: Any = import_module("mujoco")
        text = chain_text(integrator)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "chain.xml"
            path.write_text(text, "utf-8")
            loaded = gs.load(path)
        self.model: gs.Model = loaded
        self.q, self.goal = 0.2 * np.cos(np.arange(LINKS)), 0.5 * np.sin(np.arange(LINKS))
        self.law = pd(KP[SERVO], KD[SERVO], self.goal)
        self._mj, self._there = mujoco, mujoco.MjModel.from_xml_string(text)
        self._data = mujoco.MjData(self._there)

    def steps(self, count: int) -> Array:
        """q after so many steps of MuJoCo."""
        self._mj.mj_resetData(self._there, self._data)
        self._data.qpos[:], self._data.ctrl[:] = self.q, self.goal
        self._mj.mj_step(self._there, self._data, count)
        return self._data.qpos.copy()


# ------------------------------------------------------------------------------------------------ elastic joints
def led_elastic_arm(stiffer: float) -> tuple[gs.Model, Law, Array]:
    """The elastic arm, its springs ``stiffer`` times those of the robot, at rest under its weight, and a law that leads
    its motors along sin^2 ways of half a radian in half a second; docs/theory/implicit_integration.md."""
    model = gs.robots.elastic_arm()
    springs = [path for path in model.paths() if path.endswith("stiffness")]
    model = model.replace({path: stiffer * model[path] for path in springs})
    ratio = np.array([stage.ratio for stage in STAGES])
    q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
    weight = np.asarray(gs.gravity(gs.robots.elastic_arm(drives=False), q))
    rotors = ratio * (q + weight / np.array([model[path] for path in springs]))
    way = ratio * np.array([0.5, 0.4, 0.5, 0.4, 0.5, 0.4, 0.5])
    kp, kd = 3000.0 / ratio**2, np.array([150.0, 150.0, 100.0, 100.0, 30.0, 10.0, 3.0]) / ratio**2

    def lead(t: Any, q: Any, v: Any) -> Any:
        behind = rotors + way * np.sin(np.pi * t) ** 2 - q[7:]
        return np.concatenate([np.zeros(7), kp * behind - kd * v[7:] + weight / ratio])

    return model, lead, np.concatenate([q, rotors])
