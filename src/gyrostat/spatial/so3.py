"""SO(3) and unit quaternions on arrays of numbers: exponential, logarithm, Jacobians, products.

A rotation vector x (..., 3) is axis times angle [rad]. Its exponential, as a matrix and as a quaternion x y z w, is

    exp(x~) = 1 + sin a / a x~ + (1 - cos a) / a^2 x~^2,      exp(x/2) = (sin(a/2) x / a, cos(a/2)),     a = |x|.

With R = exp(x~), the velocity of x belongs to the angular velocity in the moving axes by the right Jacobian, in the
fixed axes by the left one [Chirikjian 2012, (10.86)]:  w_body = Jr(x) dx/dt,  w_space = Jl(x) dx/dt,

    Jl(x)    = 1 + (1 - cos a) / a^2 x~ + (a - sin a) / a^3 x~^2,              Jr(x)    = Jl(-x) = Jl(x)^T,
    Jl(x)^-1 = 1 - x~ / 2 + (1 - (a/2) cot(a/2)) / a^2 x~^2,                   Jr(x)^-1 = Jl(-x)^-1.

All functions are vectorised over leading shapes. ``spatial.so3_recorded`` has those that machine code is made of."""

from __future__ import annotations

import numpy as np

from gyrostat.geometry.rotation import from_quaternion, quaternion_of

Array = np.ndarray

SMALL = 0.25
"""Angle [rad] below which series of five terms are used; at it, what they leave out is below 5e-15."""


# ------------------------------------------------------------------------------------------------ vectors (..., 3)
def length(x: Array) -> Array:
    """|x| (..., 1), without loss for tiny ones."""
    return np.hypot(np.hypot(x[..., :1], x[..., 1:2]), x[..., 2:])


def skew(x: Array) -> Array:
    """x~ (..., 3, 3), with x~ y = x times y."""
    o, (a, b, c) = np.zeros(x.shape[:-1]), np.moveaxis(x, -1, 0)
    return np.stack([o, -c, b, c, o, -a, -b, a, o], axis=-1).reshape(*x.shape[:-1], 3, 3)


def exp(x: Array) -> Array:
    """R (..., 3, 3) of a rotation vector."""
    angle = np.linalg.norm(x, axis=-1)[..., None, None]
    X = skew(x)
    half = np.sinc(angle / (2.0 * np.pi))
    return np.eye(3) + np.sinc(angle / np.pi) * X + half * half / 2.0 * (X @ X)


def log(R: Array) -> Array:
    """x (..., 3) with exp(x) = R, |x| <= pi; exact to rounding for small and for half turns."""
    return quaternion_log(quaternion_of(R))


def _sinc(x: Array) -> Array:
    """sin(x) / x."""
    zero = x == 0.0
    return np.where(zero, 1.0, np.sin(x) / np.where(zero, 1.0, x))


# ------------------------------------------------------------------------------------------------ Jacobians
def left_jacobian(x: Array, u: Array) -> Array:
    """Jl(x) u (..., 3): the way of a frame, in the axes it began with, when it turns by x and moves by u in its own."""
    angle = length(x)
    across = np.cross(x, u)  # 1 - cos a = 2 sin^2(a/2)
    return u + 0.5 * _sinc(angle / 2.0) ** 2 * across + _third(angle) * np.cross(x, across)


def right_jacobian(x: Array, u: Array) -> Array:
    """Jr(x) u (..., 3): the angular velocity, in the moving axes, for the rate u of x."""
    return left_jacobian(-x, u)


def left_jacobian_inverse(x: Array, u: Array) -> Array:
    """Jl(x)^-1 u (..., 3), for |x| < 2 pi."""
    across = np.cross(x, u)
    return u - 0.5 * across + _cotangent(length(x)) * np.cross(x, across)


def right_jacobian_inverse(x: Array, u: Array) -> Array:
    """Jr(x)^-1 u (..., 3), for |x| < 2 pi: the rate of x for the angular velocity u in the moving axes."""
    return left_jacobian_inverse(-x, u)


def right_jacobian_inverse_matrix(x: Array) -> Array:
    """Jr(x)^-1 (..., 3, 3)."""
    X = skew(x)
    return np.eye(3) + X / 2.0 + _cotangent(length(x))[..., None] * (X @ X)


def _third(angle: Array) -> Array:
    """(a - sin a) / a^3."""
    big, a2 = np.maximum(angle, SMALL), angle * angle
    series = 1 / 6 - a2 * (1 / 120 - a2 * (1 / 5040 - a2 * (1 / 362880 - a2 / 39916800)))
    return np.where(angle < SMALL, series, (big - np.sin(big)) / big**3)


def _cotangent(angle: Array) -> Array:
    """(1 - (a/2) cot(a/2)) / a^2."""
    big, a2 = np.maximum(angle, SMALL), angle * angle
    series = 1 / 12 + a2 * (1 / 720 + a2 * (1 / 30240 + a2 * (1 / 1209600 + a2 / 47900160)))
    exact = (1.0 - big / 2.0 * np.cos(big / 2.0) / np.sin(big / 2.0)) / big**2
    return np.where(angle < SMALL, series, exact)


# ------------------------------------------------------------------------------------------------ quaternions (..., 4)
def normalised(q: Array) -> Array:
    """q / |q|."""
    return q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))


def conjugate(q: Array) -> Array:
    """The inverse of a unit quaternion."""
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def product(p: Array, q: Array) -> Array:
    """p (x) q: the turn q, then p, in fixed axes."""
    a, s, b, r = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    real = s * r - np.sum(a * b, axis=-1, keepdims=True)
    return np.concatenate([s * b + r * a + np.cross(a, b), real], axis=-1)


def quaternion_exp(x: Array) -> Array:
    """exp(x/2): the quaternion of a rotation vector."""
    half = length(x) / 2.0
    return np.concatenate([x * (_sinc(half) / 2.0), np.cos(half)], axis=-1)


def quaternion_log(q: Array) -> Array:
    """x (..., 3) with exp(x/2) = q, 0 <= |x| <= 2 pi; |x| <= pi where the real part of q is not negative."""
    return _scaled(q[..., :3], q[..., 3:])


def turn_between(p: Array, q: Array) -> Array:
    """The shortest rotation vector x (..., 3) with p (x) exp(x/2) = +-q, |x| <= pi.

    r = conj(p) (x) q gives |x| = 2 atan2(|vec r|, r_w). Because conj(p) (x) p is real, vec r is also that of
    conj(p) (x) (q - p), which keeps all digits of small turns.
    """
    real = np.sum(p * q, axis=-1, keepdims=True)
    q = np.where(real < 0.0, -q, q)
    return _scaled(product(conjugate(p), q - p)[..., :3], np.abs(real))


def _scaled(vector: Array, real: Array) -> Array:
    """2 atan2(|vector|, real) vector / |vector|."""
    sine = length(vector)
    some = sine > 0.0
    return vector * np.where(some, 2.0 * np.arctan2(sine, real) / np.where(some, sine, 1.0), 2.0)


def matrix(q: Array) -> Array:
    """R (..., 3, 3) of quaternions."""
    return np.moveaxis(from_quaternion(np.moveaxis(q, -1, 0)), (0, 1), (-2, -1))


def rotate(q: Array, x: Array) -> Array:
    """R(q) x (..., 3)."""
    return np.einsum("...ij,...j->...i", matrix(q), x)


def rate_matrix(q: Array) -> Array:
    """(..., 4, 3) of dq/dt = q (x) (w, 0) / 2, w in the turning axes."""
    x, y, z, w = np.moveaxis(q, -1, 0) / 2.0
    return np.moveaxis(np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]), (0, 1), (-2, -1))
