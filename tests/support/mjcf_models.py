"""MJCF files of other projects' wheels, and one state of a model in MuJoCo and in gyrostat.

The files come with ``pip install --no-deps --target FOLDER brax dm_control gymnasium``; the environment variable
GYROSTAT_MJCF_MODELS names FOLDER. Packages that are installed are found without it.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.geometry.rotation import from_quaternion
from gyrostat.spec.gear import Gear

PACKAGES = ("brax", "dm_control", "gymnasium")
FREE, BALL, SLIDE, HINGE = range(4)
ABSENT = (
    "no MJCF files of brax, dm_control, gymnasium: pip install --no-deps --target FOLDER, GYROSTAT_MJCF_MODELS=FOLDER"
)


def folders() -> dict[str, Path]:
    """Package -> its folder, where it is there."""
    found: dict[str, Path] = {}
    for package in PACKAGES:
        extra = os.environ.get("GYROSTAT_MJCF_MODELS")
        place = Path(extra) / package if extra else None
        if place is None or not place.is_dir():
            with contextlib.suppress(ImportError, ValueError):
                spec = importlib.util.find_spec(package)
                place = Path(spec.origin).parent if spec is not None and spec.origin else None
        if place is not None and place.is_dir():
            found[package] = place
    return found


def files() -> list[tuple[str, Path, Path]]:
    """(name, file, folder of its package) of every XML file."""
    return [
        (f"{package}/{path.relative_to(folder).as_posix()}", path, folder)
        for package, folder in folders().items()
        for path in sorted(folder.rglob("*.xml"))
    ]


def compiled(mujoco: Any, path: Path) -> Any:
    """MuJoCo's own model of a file. (Through MjSpec: MjModel.from_xml_path writes warnings into a file here.)"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return mujoco.MjSpec.from_file(str(path)).compile()


@dataclass
class Pair:
    """One state in both programs. v of MuJoCo = T v, its acceleration = T a + bias; its coordinates are ``qpos``.

    Angular velocities are in the body here and there; linear ones of free bodies are in the body here, in the world
    there; quaternions are x y z w here, w x y z there. Coupled joints have no coordinate here: T has their rows.
    """

    model: gs.Model
    other: Any  # mujoco.MjModel
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    qpos: np.ndarray
    T: np.ndarray
    bias: np.ndarray


def pair(model: gs.Model, other: Any, seed: int = 0) -> Pair:
    """A random state."""
    rng = np.random.default_rng(seed)
    joints = [e for e in model.entities if isinstance(e, gs.Joint)]
    assert len(joints) == other.njnt
    q = np.zeros(model.nq)
    v, a = rng.normal(size=(2, model.nv))
    qpos, T, bias = np.zeros(other.nq), np.zeros((other.nv, model.nv)), np.zeros(other.nv)
    at_q, at_v = ({name: k for k, name in enumerate(names)} for names in (model.coordinates, model.dofs))
    later = []
    for j, joint in enumerate(joints):
        name, kind, k, n = joint.name, other.jnt_type[j], int(other.jnt_qposadr[j]), int(other.jnt_dofadr[j])
        if kind in (FREE, BALL):
            x = rng.normal(size=4)
            x /= np.linalg.norm(x)
            q[at_q[f"{name}.qx"] : at_q[f"{name}.qx"] + 4] = x
            w_at = at_v[f"{name}.wx"] + np.arange(3)
            if kind == FREE:
                R, v_at = from_quaternion(x), at_v[f"{name}.vx"] + np.arange(3)
                q[at_q[f"{name}.x"] : at_q[f"{name}.x"] + 3] = qpos[k : k + 3] = rng.normal(size=3)
                T[n : n + 3, v_at] = R
                bias[n : n + 3] = R @ np.cross(v[w_at], v[v_at])
                k, n = k + 3, n + 3
            qpos[k : k + 4] = x[[3, 0, 1, 2]]
            T[n : n + 3, w_at] = np.eye(3)
        elif name in at_v:
            q[at_q[name]] = qpos[k] = rng.uniform(-1.5, 1.5)
            T[n, at_v[name]] = 1.0
        else:
            later.append((j, joint))
    places = {joint.name: j for j, joint in enumerate(joints)}
    ends = {port: name.removesuffix(".shaft") for port, name in model.connections if name.endswith(".shaft")}
    for gear in (e for e in model.entities if isinstance(e, Gear)):
        first = places[ends[f"{gear.name}.motor"]]
        others = [places[ends[f"{gear.name}.{port}"]] for port in gear.joints]
        k, n = other.jnt_qposadr[first], other.jnt_dofadr[first]
        assert joints[first].name not in at_v
        qpos[k] = float(np.sum(gear.offset)) + sum(
            r * qpos[other.jnt_qposadr[j]] for r, j in zip(gear.rows[0], others, strict=True)
        )
        T[n] = sum(r * T[other.jnt_dofadr[j]] for r, j in zip(gear.rows[0], others, strict=True))
    return Pair(model, other, q, v, a, qpos, T, bias)


def off(got: Any, expected: Any) -> float:
    """Largest difference, relative to the largest expected entry."""
    scale = np.abs(expected).max() if np.size(expected) else 0.0
    return float(np.abs(got - expected).max() / (scale or 1.0)) if np.size(expected) else 0.0


def without_what_is_not_taken(mujoco: Any, other: Any) -> None:
    """Switch off what gyrostat does not take from a file: contact, limits, equalities (rigid here), fluids, tendons."""
    bits = mujoco.mjtDisableBit
    other.opt.disableflags |= int(bits.mjDSBL_CONTACT) | int(bits.mjDSBL_CONSTRAINT) | int(bits.mjDSBL_ACTUATION)
    other.opt.density = other.opt.viscosity = 0.0
    for name in ("stiffness", "damping", "frictionloss", "armature"):
        getattr(other, f"tendon_{name}")[:] = 0.0
    for j in range(other.njnt):
        if other.jnt_type[j] in (FREE, BALL):
            count = 6 if other.jnt_type[j] == FREE else 3
            other.dof_armature[other.jnt_dofadr[j] : other.jnt_dofadr[j] + count] = 0.0
            other.dof_frictionloss[other.jnt_dofadr[j] : other.jnt_dofadr[j] + count] = 0.0
    other.body_simple[:] = 0  # no short cuts: it takes a centre of mass 2e-9 m off the origin for the origin
    other.dof_simplenum[:] = 0
    other.body_sameframe[:] = 0


def uncoupled(mujoco: Any, p: Pair) -> float:
    """How far the state is from what the equalities of MuJoCo ask for: their residuals, and their rates J T."""
    flags, p.other.opt.disableflags = p.other.opt.disableflags, int(mujoco.mjtDisableBit.mjDSBL_CONTACT)
    data = mujoco.MjData(p.other)
    data.qpos[:], data.qvel[:] = p.qpos, p.T @ p.v
    mujoco.mj_forward(p.other, data)
    p.other.opt.disableflags = flags
    rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
    assert rows.sum() == p.other.nv - p.model.nv
    J = data.efc_J.reshape(-1, p.other.nv) if data.efc_J.size == data.nefc * p.other.nv else _dense(mujoco, p, data)
    return float(np.abs(np.r_[data.efc_pos[rows], (J[rows] @ p.T).ravel(), 0.0]).max())


def _dense(mujoco: Any, p: Pair, data: Any) -> np.ndarray:
    J = np.zeros((data.nefc, p.other.nv))
    mujoco.mju_sparse2dense(J, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    return J


def disagreement(mujoco: Any, p: Pair, mode: str = "interpret") -> dict[str, float]:
    """Worst relative differences: torques, mass matrix, accelerations, placements of bodies."""
    data = mujoco.MjData(p.other)
    speed = p.T @ p.v

    def needed(acceleration: np.ndarray) -> np.ndarray:
        data.qpos[:], data.qvel[:], data.qacc[:] = p.qpos, speed, acceleration
        mujoco.mj_inverse(p.other, data)
        return p.T.T @ (data.qfrc_inverse + p.other.dof_frictionloss * np.sign(speed))

    rest, tau = needed(p.bias), needed(p.T @ p.a + p.bias)
    full = np.zeros((p.other.nv, p.other.nv))
    mujoco.mj_fullM(p.other, data, full)
    M = p.T.T @ full @ p.T
    found = {
        "rnea": off(gs.InverseDynamics(p.model, mode=mode)(p.q, p.v, p.a), tau),
        "crba": off(gs.MassMatrix(p.model, mode=mode)(p.q), M),
        "aba": off(gs.ForwardDynamics(p.model, mode=mode)(p.q, p.v, tau), np.linalg.solve(M, tau - rest)),
    }
    motions = gs.ForwardKinematics(p.model, mode=mode)(p.q)
    bodies = [e.name for e in p.model.entities if isinstance(e, gs.RigidBody) and e.name != "worldbody"]
    assert len(bodies) == p.other.nbody - 1
    size = max(1.0, float(np.abs(data.xpos).max()))
    places = [0.0]
    for b, name in enumerate(bodies, start=1):
        places.append(float(np.abs(motions[name].p - data.xpos[b]).max()) / size)
        places.append(float(np.abs(motions[name].R - data.xmat[b].reshape(3, 3)).max()))
    return found | {"fk": max(places)}
