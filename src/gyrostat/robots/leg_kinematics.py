"""Inverse kinematics of legs in closed form (H04 5.4.1, "hand-tailored"), as functions that are recorded and compiled.

Each takes the place of the foot, seen from the torso, and gives angles of all branches, one a row; rows that do not
exist are NaN. :func:`leg_solvers` plugs them in as solvers, which is short for ``gs.BlockSolver(model,
humanoid_leg("left"), like=gs.inverse_kinematics, frame="left_foot.sole", joints=..., reference="torso")``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.errors import SpecError, nearest
from gyrostat.robots.aibo import LEGS, LOWER, OFFSET, SHOULDER, UPPER
from gyrostat.robots.humanoid import ANKLE_HEIGHT, HIP_WIDTH, LEG, SHANK, SIDES, THIGH
from gyrostat.solvers.builders.block_kinematics import BlockKinematics
from gyrostat.spec.model import Model

Array = np.ndarray
Closed = Callable[[Array], Array]


def humanoid_leg_joints(side: str) -> tuple[str, ...]:
    """Names of the six joints of a leg, from the hip."""
    return tuple(f"{_known(side, SIDES)}_{row.name}" for row in LEG)


def aibo_leg_joints(leg: str) -> tuple[str, ...]:
    """Names of the three joints of a leg, from the shoulder."""
    return tuple(f"{_known(leg, LEGS)}_{name}" for name in ("rotator", "abductor", "knee"))


def humanoid_leg(side: str) -> Closed:
    """Angles (8, 6) of ``<side>_hip_yaw`` to ``<side>_ankle_roll`` for the homogeneous matrix (4, 4) of
    ``<side>_foot.sole`` seen from ``torso``.

    With r from the ankle to the hip in axes of the foot, q_D follows one joint after the other: the knee from
    |r|^2 = l_1^2 + l_2^2 + 2 l_1 l_2 cos q_4 (bent forwards or backwards), ankle roll and pitch from the direction of r
    (the shank points up or down), the hip from R_z(q_1) R_x(q_2) R_y(q_3) = R (R_y(q_4 + q_5) R_x(q_6))^T. The first
    row is the usual one: knee forwards, shank upwards, |hip roll| <= 90 degrees."""
    hip = np.array([0.0, SIDES[_known(side, SIDES)] * HIP_WIDTH, 0.0])

    @np.errstate(invalid="ignore")
    def leg(target: Array) -> Array:
        R, p = target[:3, :3], target[:3, 3]
        r = R.T @ (hip - p) - np.array([0.0, 0.0, ANKLE_HEIGHT])
        rows = []
        for knee in _bent(r @ r, THIGH, SHANK):
            for up in (1.0, -1.0):
                rows += _ankle_and_hip(R, r, knee, up)
        return np.array(rows)

    leg.__name__ = f"{side}_leg"
    return leg


def _ankle_and_hip(R: Array, r: Array, knee: Any, up: float) -> list[list[Any]]:
    """The two rows for an angle of the knee and a direction of the shank."""
    height = up * np.sqrt(r[1] * r[1] + r[2] * r[2])
    roll = np.arctan2(r[1] * up, r[2] * up)
    x, z = -THIGH * np.sin(knee), SHANK + THIGH * np.cos(knee)
    pitch = np.arctan2(x * height - z * r[0], z * height + x * r[0])  # from (x, z) to (r_x, height)
    c, s = np.cos(roll), np.sin(roll)
    turned = np.stack([R[:, 0], R[:, 1] * c - R[:, 2] * s, R[:, 1] * s + R[:, 2] * c], axis=1)  # R R_x(-roll)
    c, s = np.cos(knee + pitch), np.sin(knee + pitch)
    T = np.stack([turned[:, 0] * c + turned[:, 2] * s, turned[:, 1], turned[:, 2] * c - turned[:, 0] * s], axis=1)
    rows = []
    for sign in (1.0, -1.0):  # T = R_z(yaw) R_x(roll) R_y(pitch)
        across = sign * np.sqrt(T[2, 0] * T[2, 0] + T[2, 2] * T[2, 2])
        yaw = np.arctan2(-T[0, 1] * sign, T[1, 1] * sign)
        rows.append([yaw, np.arctan2(T[2, 1], across), np.arctan2(-T[2, 0] * sign, T[2, 2] * sign), knee, pitch, roll])
    return rows


def aibo_leg(leg: str) -> Closed:
    """Angles (4, 3) of ``<leg>_rotator``, ``<leg>_abductor``, ``<leg>_knee`` for the position (3,) of
    ``<leg>_lower.foot`` seen from ``torso``.

    The foot is at R_y(q_1) R_x(q_2) (-l_2 sin q_3, s, -l_1 - l_2 cos q_3) from the shoulder, s the offset of the leg:
    the knee follows from its distance, the abductor from its y, the rotator from x and z. Of the first row, and of
    the third, the knee bends as the limits have it: forwards in front legs, backwards in rear legs."""
    forwards, side = LEGS[_known(leg, LEGS)]
    shoulder = np.array([forwards * SHOULDER[0], side * SHOULDER[1], 0.0])
    offset = side * OFFSET

    @np.errstate(invalid="ignore")
    def closed(target: Array) -> Array:
        r = target - shoulder
        usual, other = _bent(r @ r - offset * offset, UPPER, LOWER)
        rows = []
        for knee in (usual, other) if forwards > 0 else (other, usual):
            x, z = -LOWER * np.sin(knee), UPPER + LOWER * np.cos(knee)
            across = np.sqrt(offset * offset + z * z - r[1] * r[1])
            for sign in (1.0, -1.0):  # y = s cos q2 + z sin q2, below = z cos q2 - s sin q2
                below = sign * across
                abductor = np.arctan2(r[1] * z - offset * below, r[1] * offset + z * below)
                rotator = np.arctan2(r[0] * -below - r[2] * x, x * r[0] - below * r[2])
                rows.append([rotator, abductor, knee])
        return np.array(rows)

    closed.__name__ = f"{leg}_leg"
    return closed


def _bent(square: Any, upper: float, lower: float) -> tuple[Any, Any]:
    """The two angles of a knee for the squared distance between its ends; NaN if they are too far or too near."""
    cosine = (square - (upper * upper + lower * lower)) / (2.0 * upper * lower)
    angle = np.arctan2(np.sqrt(1.0 - cosine * cosine), cosine)
    return angle, -angle


def leg_solvers(model: Model, check: int = 4) -> dict[str, BlockKinematics]:
    """Closed forms of all legs of :func:`humanoid` or :func:`aibo`, by the frame of the foot: blocks for
    ``gs.inverse_kinematics(..., solver=)`` and ``gs.ReducedDynamics(..., legs=)``. Each is compared with the forward
    kinematics in ``check`` configurations, so that a model with other lengths is refused."""
    ports = model.wiring.entities
    blocks: dict[str, BlockKinematics] = {}
    for side in SIDES if "left_foot" in ports and "right_foot" in ports else ():
        joints, frame = humanoid_leg_joints(side), f"{side}_foot.sole"
        closed = humanoid_leg(side)
        blocks[frame] = BlockKinematics(model, closed, frame, joints=joints, reference="torso", check=check)
    for leg in LEGS if all(f"{leg}_lower" in ports and f"{leg}_rotator" in ports for leg in LEGS) else ():
        joints, frame = aibo_leg_joints(leg), f"{leg}_lower.foot"
        closed = aibo_leg(leg)
        blocks[frame] = BlockKinematics(model, closed, frame, "position", joints=joints, reference="torso", check=check)
    if not blocks:
        message = f"'{model.name}' has no leg that is known in closed form"
        raise SpecError.one("leg_solvers", "legs", message, "gs.robots.humanoid() and aibo() have", model.name)
    return blocks


def _known(name: str, names: Any) -> str:
    if name not in names:
        message = f"there is no leg {name!r}"
        raise SpecError.one("leg", "leg", message, nearest(str(name), names), name)
    return name
