"""Smooth motions of any model, as analytic functions of time: they may be differentiated by complex steps."""

from __future__ import annotations

from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.geometry.rotation import about_axis, from_quaternion

U, W = np.array([0.6, 0.0, 0.8]), np.array([0.0, 0.8, -0.6])


def smooth(n: int, t: Any, phase: float = 0.0) -> np.ndarray:
    """n functions of time of size one."""
    return np.array([np.sin((1.0 + 0.3 * k) * t + k + phase) + 0.2 * t for k in range(n)])


def smooth_rate(n: int, t: Any, phase: float = 0.0) -> np.ndarray:
    """Their derivatives."""
    return np.array([(1.0 + 0.3 * k) * np.cos((1.0 + 0.3 * k) * t + k + phase) + 0.2 for k in range(n)])


def quaternion_path(t: Any, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """A turn about U after a turn about W, and its angular velocity in the turned axes: an exact integral."""
    (one, two), (one_rate, two_rate) = smooth(2, t, phase), smooth_rate(2, t, phase)
    x, y = (np.concatenate([u * np.sin(s / 2), [np.cos(s / 2)]]) for u, s in ((U, one), (W, two)))
    vector = x[3] * y[:3] + y[3] * x[:3] + np.cross(x[:3], y[:3])
    quaternion = np.concatenate([vector, [x[3] * y[3] - x[:3] @ y[:3]]])
    return quaternion, about_axis(W, two).T @ U * one_rate + W * two_rate


def joint_state(kind: str, t: Any, phase: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """q and v of a joint (or of a free base) along a smooth motion."""
    if kind == "spherical":
        return quaternion_path(t, phase)
    if kind == "free":
        quaternion, w = quaternion_path(t, phase)
        p, p_rate = smooth(3, t, phase), smooth_rate(3, t, phase)
        return np.concatenate([p, quaternion]), np.concatenate([w, from_quaternion(quaternion).T @ p_rate])
    n = len(gs.JOINT_KINDS[kind].q)
    return smooth(n, t, phase), smooth_rate(n, t, phase)


def model_state(model: gs.Model, t: Any) -> tuple[np.ndarray, np.ndarray]:
    """q and v of a whole model along a smooth motion; its acceleration is the rate of v."""
    parts = []
    for k, name in enumerate(model.layout.entities):
        kind = getattr(model.wiring.entities[name], "kind", "free")  # the reference frame of a free base
        parts.append(joint_state(kind, t, 0.7 * k))
    q, v = zip(*parts, strict=True)
    return np.concatenate(q), np.concatenate(v)
