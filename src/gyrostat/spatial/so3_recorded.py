"""SO(3) and unit quaternions on one vector at a time, in arithmetic that can be recorded: what machine code is made of.

The formulas are those of ``spatial.so3``. Coefficients are series in a^2 = x . x below an angle and closed forms above
it; ``choose.where`` takes the place of branches. The last two functions do without, for numbers with a rate."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, where
from gyrostat.spatial.algebra import Array, cross
from gyrostat.spatial.so3 import SMALL


def _series(a2: Any, *terms: float) -> Any:
    """terms[0] + a2 (terms[1] + a2 (...))."""
    total: Any = terms[-1]
    for term in terms[-2::-1]:
        total = term + a2 * total
    return total


def _chosen(a2: Any, series: tuple[float, ...], exact: Any) -> Any:
    """The series for small angles, what is exact else."""
    return where(a2 < SMALL**2, _series(a2, *series), exact)


def _angle(a2: Any) -> Any:
    """|x|, but never small: what is exact for large angles is computed for all."""
    return maximum(a2, SMALL**2) ** 0.5


HALF_SINE = (1 / 2, -1 / 48, 1 / 3840, -1 / 645120, 1 / 185794560)
HALF_COSINE = (1.0, -1 / 8, 1 / 384, -1 / 46080, 1 / 10321920)
VERSINE = (1 / 2, -1 / 24, 1 / 720, -1 / 40320, 1 / 3628800)
THIRD = (1 / 6, -1 / 120, 1 / 5040, -1 / 362880, 1 / 39916800)
COTANGENT = (1 / 12, 1 / 720, 1 / 30240, 1 / 1209600, 1 / 47900160)
"""Series in a^2 of sin(a/2) / a, cos(a/2), (1 - cos a) / a^2, (a - sin a) / a^3 and (1 - h cot h) / a^2 with
h = a/2."""


def _with_squares(u: Array, first: Any, x: Array, second: Any) -> Array:
    """u + first x~ u + second x~^2 u."""
    across = cross(x, u)
    return u + first * across + second * cross(x, across)


def half_angle(x: Array) -> tuple[Any, Any]:
    """sin(a/2) / a and cos(a/2) for a = |x|."""
    a2 = x @ x
    angle = _angle(a2)
    half = angle / 2
    return _chosen(a2, HALF_SINE, np.sin(half) / angle), _chosen(a2, HALF_COSINE, np.cos(half))


# ------------------------------------------------------------------------------------------------ rotation vectors (3,)
def rotated(x: Array, u: Array) -> Array:
    """exp(x~) u (3,)."""
    sine, cosine = half_angle(x)  # sin a = 2 sin(a/2) cos(a/2), 1 - cos a = 2 sin^2(a/2)
    return _with_squares(u, 2.0 * sine * cosine, x, 2.0 * sine * sine)


def left_jacobian(x: Array, u: Array) -> Array:
    """Jl(x) u (3,)."""
    a2 = x @ x
    angle = _angle(a2)
    half = np.sin(0.5 * angle) / angle
    first = _chosen(a2, VERSINE, 2.0 * half * half)
    return _with_squares(u, first, x, _chosen(a2, THIRD, (angle - np.sin(angle)) / (angle * angle * angle)))


def right_jacobian_inverse(x: Array, w: Array) -> Array:
    """Jr(x)^-1 w (3,), |x| < 2 pi: the rate of x for the angular velocity w in the turning axes."""
    a2 = x @ x
    angle = _angle(a2)
    half = angle / 2
    sine = np.sin(half) / angle
    exact = (sine - 0.5 * np.cos(half)) / (sine * (angle * angle))
    return _with_squares(w, 0.5, x, _chosen(a2, COTANGENT, exact))


# ------------------------------------------------------------------------------------------------ quaternions (4,)
def normalised(q: Array) -> Array:
    """q / |q|."""
    return q * (1.0 / np.sqrt(q @ q))


def turned(q: Array, x: Array) -> Array:
    """q (x) exp(x/2), of unit length."""
    sine, cosine = half_angle(x)
    h, a, s = x * sine, q[:3], q[3]
    vector, real = s * h + cosine * a + cross(a, h), s * cosine - a @ h
    one = 1.0 / (vector @ vector + real * real) ** 0.5
    return np.array([*(vector * one), real * one])


def quaternion_rate(q: Array, w: Array) -> Array:
    """dq/dt = q (x) (w, 0) / 2 of a frame that turns with the angular velocity w, in its own axes."""
    x, y, z, s = q
    return 0.5 * np.array(
        [
            s * w[0] + y * w[2] - z * w[1],
            s * w[1] + z * w[0] - x * w[2],
            s * w[2] + x * w[1] - y * w[0],
            -x * w[0] - y * w[1] - z * w[2],
        ]
    )


def rate_matrix(q: Array) -> Array:
    """(4, 3) of q (x) (w, 0) / 2, as a matrix for w."""
    x, y, z, s = q[0] / 2.0, q[1] / 2.0, q[2] / 2.0, q[3] / 2.0
    return np.array([[s, -z, y], [z, s, -x], [-y, x, s], [-x, -y, -z]])


def spin_matrix(w: Array) -> Array:
    """(4, 4) of q (x) (w, 0) / 2, as a matrix for q."""
    x, y, z = w[0] / 2.0, w[1] / 2.0, w[2] / 2.0
    return np.array([[0.0, z, -y, x], [-z, 0.0, x, y], [y, -x, 0.0, z], [-x, -y, -z, 0.0]])


# ------------------------------------------------------------------------------------------------ without choices
TINY = 1e-300
NEGLIGIBLE = 1e-60
"""What is added to squares, so that nothing is divided by zero."""


def smooth_log(R: Array) -> Array:
    """Rotation vector (3,) of R (3, 3), a rotation by less than half a turn."""
    v = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) * 0.5
    sine = np.sqrt(v @ v + TINY)
    return v * (np.arctan2(sine, (R[0, 0] + R[1, 1] + R[2, 2] - 1.0) * 0.5) / sine)


def smooth_right_jacobian_inverse(x: Array, g: Array) -> Array:
    """Jr(x)^-1 g = Jl(x)^-T g (3,): the torque whose power is g . dx/dt, with dx/dt = Jl(x)^-1 w."""
    square = x @ x + NEGLIGIBLE
    half = np.sqrt(square) * 0.5
    k = (1.0 - half * np.cos(half) / np.sin(half)) / square
    across = cross(x, g)
    return g + across * 0.5 + cross(x, across) * k
