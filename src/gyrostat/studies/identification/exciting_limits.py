"""Limits that an exciting motion must keep: those of the joints, or given ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import GyrostatError, clipped
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class Limits:
    """(n,) each, ``margin`` already taken off; what is not limited is infinite."""

    lower: Array
    upper: Array
    velocity: Array
    acceleration: Array
    torque: Array
    margin: float


def read_limits(model: Model, q: Any, v: Any, a: Any, tau: Any, margin: Any, who: str) -> Limits:
    """Given limits, or those of the joints."""
    if isinstance(margin, bool) or not isinstance(margin, int | float) or not 0.0 < margin <= 1.0:
        raise GyrostatError(f"{who}: margin must be above 0 and at most 1, got {clipped(margin)}. Hint: margin=0.9")
    joints = []
    for name in model.dofs:
        joint = model.wiring.entities.get(name)
        if not isinstance(joint, Joint) or len(joint.shafts) != 1:
            raise GyrostatError(
                f"{who}: '{name}' is no angle or shift that a series could prescribe. Hint: a robot on a fixed base "
                "with revolute and prismatic joints; hold a floating base still, or identify from its own motions"
            )
        joints.append(joint)
    lower, upper = _positions(model, joints, q, who)
    velocity = _one(model, joints, v, "velocity_limit", "velocity_limits", who)
    acceleration = _one(model, joints, a, None, "acceleration_limits", who)
    torque = _one(model, joints, tau, "effort_limit", "torque_limits", who)
    loose = ~(np.isfinite(velocity) | np.isfinite(acceleration))
    if loose.any():
        raise GyrostatError(
            f"{who}: '{model.dofs[int(np.argmax(loose))]}' has neither a velocity nor an acceleration limit. "
            "Hint: velocity_limits=1.0"
        )
    middle, half = 0.5 * (upper + lower), 0.5 * margin * (upper - lower)
    return Limits(
        middle - half, middle + half, margin * velocity, margin * acceleration, margin * torque, float(margin)
    )


def _positions(model: Model, joints: list[Joint], given: Any, who: str) -> tuple[Array, Array]:
    n = model.nv
    if given is not None:
        if not isinstance(given, list | tuple) or len(given) != 2:
            raise GyrostatError(f"{who}: position_limits must be (lower, upper), got {clipped(given)}.")
        lower, upper = (np.broadcast_to(real_array(x, who, "position_limits"), (n,)).astype(float) for x in given)
    else:
        lower, upper = np.empty(n), np.empty(n)
        for k, joint in enumerate(joints):
            turning = not model.layout.lengths[model.coordinates.index(model.dofs[k])]
            usual = np.pi if turning else np.nan
            lower[k] = joint.lower if joint.lower is not None else -usual
            upper[k] = joint.upper if joint.upper is not None else usual
    wrong = ~(np.isfinite(lower) & np.isfinite(upper) & (lower < upper))
    if wrong.any():
        k = int(np.argmax(wrong))
        raise GyrostatError(
            f"{who}: '{model.dofs[k]}' has the positions {lower[k]:g} to {upper[k]:g}. "
            "Hint: position_limits=(lower, upper)"
        )
    return lower, upper


def _one(model: Model, joints: list[Joint], given: Any, key: str | None, what: str, who: str) -> Array:
    if given is None:
        own = [getattr(j, key) if key else None for j in joints]
        return np.array([np.inf if x is None else float(x) for x in own])
    x = real_array(given, who, what)
    if x.shape not in ((), (model.nv,)) or not np.all(x > 0.0):
        raise GyrostatError(f"{who}: {what} must be a positive number or ({model.nv},) of them, got {clipped(given)}.")
    return np.broadcast_to(x, (model.nv,)).astype(float)
