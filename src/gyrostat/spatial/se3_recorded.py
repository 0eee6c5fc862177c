"""Logarithms of rotations and placements, and their rates, in arithmetic that can be recorded.

A twist is angular part first. x = (w, u) is the logarithm of (R, p): w = log R, u = Jl(w)^-1 p. While the frame moves
with the velocity (omega, v) in its own axes,

    dw/dt = Jr(w)^-1 omega,     du/dt = Jr(w)^-1 v + D(w, p) dw/dt,     D = d(Jl(w)^-1 p)/dw,

which is Jlog6 of the literature [Sola et al. 2018, (179)] written without its block Q."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import where
from gyrostat.spatial.algebra import Array, cross, skew
from gyrostat.spatial.so3_recorded import COTANGENT, _angle, _chosen, right_jacobian_inverse

FLAT = 1e-4
"""Square of a sine below which angle / sine is a series."""
BACKWARDS = -0.9
"""Cosine below which the axis comes from the symmetric part of R: at half a turn there is no other."""
STEEP = (1 / 720, 2 / 30240, 3 / 1209600, 4 / 47900160, 5 * 691 / 1307674368000)
"""Series in a^2 of the slope of (1 - h cot h) / a^2 by a^2, h = a/2."""


def rotation_log(R: Array) -> Array:
    """Rotation vector (3,), |w| <= pi, of R (3, 3); at half a turn one of the two."""
    v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) * 0.5
    square, c = v @ v, (R[0, 0] + R[1, 1] + R[2, 2] - 1.0) * 0.5
    flat = square < FLAT
    sine = np.sqrt(where(flat, FLAT, square))
    series = 1.0 + square * (1 / 6 + square * (3 / 40 + square * (15 / 336)))
    near = v * where(flat, series, np.arctan2(sine, c) / sine)
    return np.asarray(where(c < BACKWARDS, _backwards(R, v, square, c), near))


def _backwards(R: Array, v: Array, square: Any, c: Any) -> Array:
    """Of a large angle: (1 - c) u u^T = (R + R^T)/2 - c 1; the column with the largest diagonal is the axis."""
    B = (R + R.T) * 0.5 - np.eye(3) * c
    first = (B[0, 0] >= B[1, 1]) & (B[0, 0] >= B[2, 2])
    u = where(first, B[:, 0], where(B[1, 1] >= B[2, 2], B[:, 1], B[:, 2]))
    size = u @ u
    safe = where(size > 0.25, size, 1.0)  # (1 - c)^2 times the largest u_k^2: at least 1.2 where this is taken
    u = u / np.sqrt(safe)
    angle = np.arctan2(np.sqrt(where(square > 0.0, square, 0.0)), c)
    return u * (where(u @ v >= 0.0, 1.0, -1.0) * angle)


def log_rate(w: Array) -> Array:
    """Jr(w)^-1 (3, 3)."""
    return np.stack([right_jacobian_inverse(w, unit) for unit in np.eye(3)], axis=1)


def placement_log(R: Array, p: Array) -> Array:
    """(w, u) (6,) of a placement."""
    w = rotation_log(R)
    across = cross(w, p)
    return np.concatenate([w, p - across * 0.5 + cross(w, across) * _cotangent(w @ w)])


def placement_log_rate(x: Array, p: Array) -> Array:
    """(6, 6): dx/dt = this times (omega, v), the velocity of the frame in its own axes; x = log(R, p)."""
    w = x[:3]
    a2, turn = w @ w, log_rate(w)
    across = cross(w, p)
    k = _cotangent(a2)
    D = skew(p) * 0.5 - (skew(across) + skew(w) @ skew(p)) * k + np.outer(cross(w, across), w) * (2.0 * _slope(a2))
    rate = np.full((6, 6), 0.0, dtype=np.asarray(turn).dtype)
    rate[:3, :3] = rate[3:, 3:] = turn
    rate[3:, :3] = D @ turn
    return rate


def _cotangent(a2: Any) -> Any:
    """(1 - h cot h) / a^2, h = a/2."""
    h = _angle(a2) * 0.5
    return _chosen(a2, COTANGENT, (1.0 - h * np.cos(h) / np.sin(h)) / (4.0 * h * h))


def _slope(a2: Any) -> Any:
    """Its derivative by a^2: (h / sin^2 h + cot h - 2 / h) / (32 h^3)."""
    h = _angle(a2) * 0.5
    s = np.sin(h)
    exact = (h / (s * s) + np.cos(h) / s - 2.0 / h) / (32.0 * h * h * h)
    return _chosen(a2, STEEP, exact)
