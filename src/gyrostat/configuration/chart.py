"""Local coordinates of the configuration manifold around a configuration q0, for Runge-Kutta methods.

x (nv,) has the places of the rates v. For angles and shifts q = q0 + x. For a quaternion x is the rotation vector from
q0, in the axes of the turning frame, and for a free joint the shift in the axes it began with [Munthe-Kaas 1999]:

    q = q0 (x) exp(x / 2),   dx/dt = Jr(x)^-1 w = w + x~ w / 2 + (1 - h cot h) / |x|^2 x~ x~ w,   h = |x| / 2,
    p = p0 + R0 s,           ds/dt = exp(x~) u.

Both are exact, so that a method of order k for numbers is one of order k on the manifold. They hold for |x| < 2 pi.
Plain NumPy that can be recorded."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.rotation import from_quaternion
from gyrostat.spatial.so3_recorded import left_jacobian, normalised, right_jacobian_inverse, rotated, turned
from gyrostat.spec.model import Model

Array = np.ndarray


def moved(model: Model, q0: Array, x: Array) -> Array:
    """q (nq,) at the local coordinates x (nv,) around q0 (nq,)."""
    parts: list[Array] = []
    for block in model.layout:
        if not block.turns:
            parts.append(q0[block.q] + x[block.v])
            continue
        quaternion = q0[block.quaternion]
        if block.moves:
            parts.append(q0[block.position] + from_quaternion(quaternion) @ x[block.linear])
        parts.append(turned(quaternion, x[block.angular]))
    return np.concatenate(parts) if parts else np.zeros(0)


def local_rates(model: Model, x: Array, v: Array) -> Array:
    """dx/dt (nv,) for the rates v (nv,) at the local coordinates x (nv,)."""
    parts: list[Array] = []
    for block in model.layout:
        if not block.turns:
            parts.append(v[block.v])
            continue
        parts.append(right_jacobian_inverse(x[block.angular], v[block.angular]))
        if block.moves:
            parts.append(rotated(x[block.angular], v[block.linear]))
    return np.concatenate(parts) if parts else np.zeros(0)


def along(model: Model, d: Array) -> Array:
    """Local coordinates (nv,) that a displacement d (nv,) = v h leads to: those of free joints follow the twist,
    s = Jl(x) u, so that ``moved`` and ``gs.integrate`` agree."""
    x = np.array(d)
    for block in model.layout.moving:
        x[block.linear] = left_jacobian(d[block.angular], d[block.linear])
    return x


def unit(model: Model, q: Array) -> Array:
    """q (nq,) with quaternions of unit length."""
    q = np.array(q)
    for block in model.layout.turning:
        q[block.quaternion] = normalised(q[block.quaternion])
    return q
