"""Prescribed motion of the reference frame."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import ShapeError
from gyrostat.geometry.rotation import about_axis
from gyrostat.spatial.algebra import Array, cross, join, returned
from gyrostat.spec.context import HarmonicMotion, MovingBase


class BaseState(NamedTuple):
    """R, p of the base in the world; V and the rate of its six numbers A, in the axes of the base."""

    R: Array
    p: Array
    V: Array
    A: Array


def base_state(motion: HarmonicMotion | MovingBase, t: Any) -> BaseState:
    """The state of the base at time t; a state that is known already may stand for the time."""
    if isinstance(t, BaseState):
        return t
    return BaseState(*(_harmonic(motion, t) if isinstance(motion, HarmonicMotion) else _given(motion, t)))


def _law(offset: Any, rate: Any, amplitude: Any, frequency: float, phase: float, t: Any) -> tuple[Any, Any, Any]:
    """x = offset + rate t + amplitude sin(2 pi f t + phase), and its first two derivatives."""
    w = 2.0 * np.pi * frequency
    s, c = np.sin(w * t + phase), np.cos(w * t + phase)
    return offset + rate * t + amplitude * s, rate + amplitude * (w * c), amplitude * (-w * w * s)


def _harmonic(m: HarmonicMotion, t: Any) -> tuple[Array, Array, Array, Array]:
    offset, velocity, amplitude = (np.array(x) for x in (m.offset, m.velocity, m.amplitude))
    p, dp, ddp = _law(offset, velocity, amplitude, m.frequency, m.phase, t)
    angle, w, dw = _law(m.angle, m.rate, m.swing, m.swing_frequency, m.swing_phase, t)
    u = np.array(m.axis) / np.sqrt(np.array(m.axis) @ np.array(m.axis))
    R = about_axis(u, angle)
    v = R.T @ dp
    # the rate of R^T dp is R^T ddp - omega x R^T dp
    return R, p, join(u * w, v), join(u * dw, R.T @ ddp - cross(u * w, v))


def _given(m: MovingBase, t: Any) -> tuple[Array, Array, Array, Array]:
    state = m.motion(t)
    shapes = ((3, 3), (3,), (6,), (6,))
    if not isinstance(state, tuple | list) or len(state) != 4:
        raise ShapeError(f"base motion at t = {t}: expected (R, p, V, A), got {state!r}")
    where = f"base motion at t = {t}"
    R, p, V, A = (returned(x, s, f"{where}: {n}") for n, x, s in zip(("R", "p", "V", "A"), state, shapes, strict=True))
    if R.dtype != object and (np.abs(R @ R.T - np.eye(3)).max() > 1e-9 or np.linalg.det(R) < 0.0):
        what = "left-handed axes" if np.linalg.det(R) < 0.0 else "R R^T differs from 1"
        raise ShapeError(f"{where}: R is not a rotation matrix, {what}. Hint: axes of the base in the world")
    return R, p, V, A
