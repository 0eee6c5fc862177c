"""Local coordinates of the configuration manifold around a configuration q0, for Runge-Kutta methods.

x (nv,) has the places of the rates v. For angles and shifts q = q0 + x. For a quaternion x is the rotation vector from
q0, in the axes of the turning frame, and for a free joint the shift in the axes it began with [Munthe-Kaas 1999]:

    q = q0 (x) exp(x / 2),   dx/dt = w + x~ w / 2 + (1 - h cot h) / |x|^2 x~ x~ w,   h = |x| / 2,
    p = p0 + R0 s,           ds/dt = exp(x~) u.

Both are exact, so that a method of order k for numbers is one of order k on the manifold. They hold for |x| < 2 pi.
Plain NumPy that can be recorded; ``choose.where`` takes the place of branches."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, where
from gyrostat.spatial.rotation import from_quaternion
from gyrostat.spec.model import Model

Array = np.ndarray
SMALL = 0.25
"""Angle [rad] below which series of five terms are exact to rounding."""


def moved(model: Model, q0: Array, x: Array) -> Array:
    """q (nq,) at the local coordinates x (nv,) around q0 (nq,)."""
    found: list[Array] = []
    nq = nv = 0
    for _, names, rates, at in model.stateful:
        q_j, x_j = q0[nq : nq + len(names)], x[nv : nv + len(rates)]
        if at is None:
            found.append(q_j + x_j)
        else:
            turn = q_j[at:]
            if at:
                found.append(q_j[:at] + from_quaternion(turn) @ x_j[3:])
            found.append(_turned(turn, x_j[:3]))
        nq, nv = nq + len(names), nv + len(rates)
    return np.concatenate(found) if found else np.zeros(0)


def local_rates(model: Model, x: Array, v: Array) -> Array:
    """dx/dt (nv,) for the rates v (nv,) at the local coordinates x (nv,)."""
    found: list[Array] = []
    nv = 0
    for _, _, rates, at in model.stateful:
        x_j, v_j = x[nv : nv + len(rates)], v[nv : nv + len(rates)]
        if at is None:
            found.append(v_j)
        else:
            found.append(_rotation_rate(x_j[:3], v_j[:3]))
            if at:
                found.append(_along(x_j[:3], v_j[3:]))
        nv += len(rates)
    return np.concatenate(found) if found else np.zeros(0)


def _cross(a: Array, b: Array) -> Array:
    return np.array([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def _series(a2: Any, *terms: float) -> Any:
    """terms[0] + a2 (terms[1] + a2 (...))."""
    total: Any = terms[-1]
    for term in terms[-2::-1]:
        total = term + a2 * total
    return total


def _turned(q: Array, x: Array) -> Array:
    """q (x) exp(x / 2), of unit length."""
    a2 = x @ x
    angle = maximum(a2, SMALL**2) ** 0.5
    sine = where(
        a2 < SMALL**2,
        _series(a2, 1 / 2, -1 / 48, 1 / 3840, -1 / 645120, 1 / 185794560),
        np.sin(angle / 2) / angle,
    )
    cosine = where(a2 < SMALL**2, _series(a2, 1.0, -1 / 8, 1 / 384, -1 / 46080, 1 / 10321920), np.cos(angle / 2))
    h = x * sine
    a, s = q[:3], q[3]
    vector, real = s * h + cosine * a + _cross(a, h), s * cosine - a @ h
    length = (vector @ vector + real * real) ** 0.5
    return np.array([*(vector / length), real / length])


def _rotation_rate(x: Array, w: Array) -> Array:
    """dx/dt of the rotation vector x for the angular velocity w in the turning frame."""
    a2 = x @ x
    angle = maximum(a2, SMALL**2) ** 0.5
    half = angle / 2
    exact = (1.0 - half * np.cos(half) / np.sin(half)) / (angle * angle)
    second = where(a2 < SMALL**2, _series(a2, 1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160), exact)
    across = _cross(x, w)
    return w + 0.5 * across + second * _cross(x, across)


def _along(x: Array, u: Array) -> Array:
    """exp(x~) u."""
    a2 = x @ x
    angle = maximum(a2, SMALL**2) ** 0.5
    first = where(a2 < SMALL**2, _series(a2, 1.0, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880), np.sin(angle) / angle)
    half = np.sin(angle / 2)
    second = where(
        a2 < SMALL**2,
        _series(a2, 1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800),
        2.0 * half * half / (angle * angle),
    )
    across = _cross(x, u)
    return u + first * across + second * _cross(x, across)
