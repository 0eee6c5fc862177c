"""Values of the sensors of a model as functions of a state."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates, rates
from gyrostat.errors import StateError, nearest
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.solvers.dynamics.inverse_dynamics import InverseDynamics
from gyrostat.solvers.kinematics.forward_kinematics import ForwardKinematics, Motions
from gyrostat.solvers.kinematics.frame_motion import FrameMotion
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spatial.gravity import gravity
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model
from gyrostat.spec.sensor import Sensor, sensors_of

Array = np.ndarray
WHO = "sensors"
FORCES = ("force_torque", "force", "torque")
AXES = {"x_axis": 0, "y_axis": 1, "z_axis": 2}
BOTH = slice(0, 3), slice(3, 6)


class SensorValues(dict[str, Array]):
    """Values (..., n) by the name of the sensor."""

    def __missing__(self, name: str) -> Array:
        raise StateError(f"{WHO}: there is no sensor {name!r}. Hint: {nearest(str(name), list(self)) or 'none at all'}")


def measured(
    model: Model, q: Any, v: Any, a: Any, wrenches: Any = None, *, t: Any = None, forces: Any = None
) -> SensorValues:
    """Values of all sensors of a model for q (..., nq), v, a (..., nv): {name: (..., n)}, see
    :class:`~gyrostat.spec.sensor.Sensor` for what each has.

    ``wrenches``: external ones, by port, that forces through ports depend on, contacts among them. ``forces``: the
    forces at ports (..., 6) if they are known already."""
    expect_model(model, WHO)
    sensors = sensors_of(model.wiring)
    q, v, a = coordinates(model, q, WHO), rates(model, v, WHO, "v"), rates(model, a, WHO, "a")
    time = {} if isinstance(model.context.base, str) else {"t": t}
    motions = cached_solver(model, ForwardKinematics)(q, v, a, **time)
    places = {name: sensor.where(name.rpartition(".")[0], model.wiring) for name, sensor in sensors.items()}
    ports = [at for name, (at, _) in places.items() if sensors[name].measures in FORCES]
    if ports and forces is None:
        solver = cached_solver(model, InverseDynamics, representation="body")
        forces = solver.port_forces(q, v, a, wrenches, ports=ports, **time)
    values = SensorValues()
    for name, sensor in sensors.items():
        at, reference = places[name]
        if sensor.of_joint:
            values[name] = _joint(model, sensor, str(at), q, v)
        elif sensor.measures in FORCES:
            w = np.asarray(forces[at])  # type: ignore[index]
            w = w if reference is None else _seen_from(w, motions[str(at)], motions[reference])
            values[name] = w if sensor.measures == "force_torque" else w[..., BOTH[sensor.measures == "force"]]
        else:
            values[name] = _frame(model, sensor, motions, str(at), reference)
    return values


def _joint(model: Model, sensor: Sensor, joint: str, q: Array, v: Array) -> Array:
    block = model.layout.of.get(joint)
    if block is None:
        raise StateError(
            f"{WHO}: '{sensor.name}' is at '{joint}', whose coordinates follow from others and are not in q. "
            "Hint: measure the frames on both sides"
        )
    parts = {"joint_position": [q[..., block.q]], "joint_velocity": [v[..., block.v]]}
    return np.concatenate(parts.get(sensor.measures, [q[..., block.q], v[..., block.v]]), axis=-1)


def _seen_from(w: Array, at: FrameMotion, reference: FrameMotion) -> Array:
    """A wrench (..., 6) at a frame, in the axes of another one and about its origin."""
    torque, force = (_turned(at.R, w[..., part]) for part in BOTH)
    torque = torque + np.cross(at.p - reference.p, force)
    back = np.swapaxes(reference.R, -1, -2)
    return np.concatenate([_turned(back, torque), _turned(back, force)], axis=-1)


def _turned(R: Array, x: Array) -> Array:
    return np.einsum("...ij,...j->...i", R, x)


def _frame(model: Model, sensor: Sensor, motions: Motions, at: str, reference: str | None) -> Array:
    motion, what = motions[at], sensor.measures
    if what == "imu":
        return np.concatenate([motion.velocity()[..., :3], _specific_force(model, motion)], axis=-1)
    if what in ("gyro", "velocimeter"):
        return motion.velocity()[..., BOTH[what == "velocimeter"]]
    if what == "accelerometer":
        return _specific_force(model, motion)
    if what == "linear_acceleration":
        return _turned(motion.R, _specific_force(model, motion))
    if what == "angular_acceleration":
        return motion.acceleration("aligned")[..., :3]
    seen = None if reference is None else motions[reference]
    if what in ("linear_velocity", "angular_velocity"):
        return _velocity(motion, seen)[..., BOTH[what == "linear_velocity"]]
    return _place(what, motion, seen)


def _place(what: str, motion: FrameMotion, seen: FrameMotion | None) -> Array:
    R, p = motion.R, motion.p
    if seen is not None:
        R, p = np.swapaxes(seen.R, -1, -2) @ R, _turned(np.swapaxes(seen.R, -1, -2), p - seen.p)
    if what == "position":
        return p
    if what == "quaternion":
        flat = quaternion_of(R.reshape(-1, 3, 3)).reshape(*R.shape[:-2], 4)
        return np.where(flat[..., 3:] < 0.0, -flat, flat)
    return R[..., AXES[what]]


def _velocity(motion: FrameMotion, seen: FrameMotion | None) -> Array:
    """(..., 6) in the world's axes, or against a frame, in its axes."""
    V = motion.velocity("aligned")
    if seen is None:
        return V
    W, back = seen.velocity("aligned"), np.swapaxes(seen.R, -1, -2)
    linear = V[..., 3:] - W[..., 3:] - np.cross(W[..., :3], motion.p - seen.p)
    return np.concatenate([_turned(back, V[..., :3] - W[..., :3]), _turned(back, linear)], axis=-1)


def _specific_force(model: Model, motion: FrameMotion) -> Array:
    """Acceleration of the origin less gravity (..., 3), in the axes of the frame."""
    law = gravity(model.context.gravity)
    if law.field is None:
        g = np.broadcast_to(-law.acceleration, motion.p.shape)
    else:
        flat = [np.asarray(law.field(p), dtype=float) for p in motion.p.reshape(-1, 3)]
        g = np.array(flat).reshape(motion.p.shape)
    return motion.acceleration()[..., 3:] - _turned(np.swapaxes(motion.R, -1, -2), g)
