"""Configurations form a manifold: steps on it, differences between its points, its tangent map.

Angles and shifts are numbers that are added. Quaternions (x y z w, of b in a) and placements are groups, on which a
motion that is constant in the moving frame b acts from the right: for ``spherical``

    q(t) = q(0) (x) exp(w t / 2),                    exp(h) = (sin|h| h/|h|, cos|h|),

and for ``free``, and a free base, whose rates are the body twist (w, u) of b against a,

    R(t) = R(0) exp(w~ t),    p(t) = p(0) + R(0) V(w t) u t,
    V(x) = 1 + (1 - cos|x|)/|x|^2 x~ + (|x| - sin|x|)/|x|^3 x~^2.

q and v are those of the joint, b against a, whichever side it is mounted from. All functions are vectorised over
leading shapes, which broadcast against each other.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.configuration.packing import coordinates, finite, rates, real_array, together
from gyrostat.configuration.sampling_range import sampling_range
from gyrostat.errors import NonFiniteError, ShapeError, StateError, clipped
from gyrostat.spatial.rotation import from_quaternion
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray

LENGTHS = ("x", "y", "z", "shift")
"""Names of coordinates in metres; so is the one of a prismatic joint."""

SMALL = 0.25
"""Angle [rad] below which series of five terms are exact to rounding."""


# ------------------------------------------------------------------------------------------------ functions
def neutral(model: Model) -> Array:
    """q (nq,) at rest: zero angles [rad] and shifts [m], quaternions (0, 0, 0, 1)."""
    expect_model(model, "neutral")
    q = np.zeros(model.nq)
    q[_places(model).quaternion[:, 3]] = 1.0
    return q


def integrate(model: Model, q: Any, v: Any, dt: Any = 1.0) -> Array:
    """q (..., nq) that is reached when the rates v (..., nv) act from q (..., nq) for the time dt (...) [s].

    v is constant: as numbers for angles and shifts, as body twist for quaternions and free joints (the exact
    exponential, see the head of this file). dt may be negative. Quaternions come back with unit length to rounding.
    """
    expect_model(model, "integrate")
    time = real_array(dt, "integrate", "dt")
    if not np.isfinite(time).all():
        raise NonFiniteError(f"integrate: dt is {clipped(dt)}, expected finite numbers")
    start, rate = coordinates(model, q, "integrate"), rates(model, v, "integrate", "v")
    shape, (x, step, time) = together("integrate", q=(start, 1), v=(rate, 1), dt=(time, 0))
    at, y = _places(model), np.empty((len(x), model.nq))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
        step = step * time[:, None]
        y[:, at.plain_q] = x[:, at.plain_q] + step[:, at.plain_v]
        if at.turning:
            turned, angle = x[:, at.quaternion], step[:, at.angular]
            y[:, at.quaternion] = _unit(_product(turned, _exp(angle)))
            along = _left_jacobian(angle[:, at.moving], step[:, at.linear])
            y[:, at.position] = x[:, at.position] + _rotate(turned[:, at.moving], along)
    return finite(y.reshape(*shape, model.nq), model.coordinates, "integrate", "the reached q")


def difference(model: Model, q0: Any, q1: Any) -> Array:
    """v (..., nv) that leads from q0 to q1 (..., nq) in one second: ``integrate(model, q0, v)`` is q1.

    Quaternions q and -q are one configuration, and the shortest turn is taken: |w| <= pi. At exactly half a turn both
    directions are equally short; w then follows the vector part of conj(q0) (x) q1, so that it changes sign with q0
    or q1. Close to half a turn the direction, and with it the linear part of a free joint, jumps; both answers lead
    to q1. Angles of revolute and continuous joints are numbers: they are subtracted, never wrapped.
    """
    expect_model(model, "difference")
    start, end = coordinates(model, q0, "difference(q0)"), coordinates(model, q1, "difference(q1)")
    shape, (x, y) = together("difference", q0=(start, 1), q1=(end, 1))
    at, v = _places(model), np.empty((len(x), model.nv))
    with np.errstate(over="ignore", invalid="ignore"):
        v[:, at.plain_v] = y[:, at.plain_q] - x[:, at.plain_q]
        if at.turning:
            turned = x[:, at.quaternion]
            angle = v[:, at.angular] = _turn_between(turned, y[:, at.quaternion])
            way = _rotate(_conjugate(turned[:, at.moving]), y[:, at.position] - x[:, at.position])
            v[:, at.linear] = _left_jacobian_inverse(angle[:, at.moving], way)
    return finite(v.reshape(*shape, model.nv), model.dofs, "difference", "the difference")


def tangent(model: Model, q: Any) -> Array:
    """T (..., nq, nv) of dq/dt = T(q) v.

    One for angles and shifts; for quaternions dq/dt = q (x) (w, 0) / 2; for the position of a free joint dp/dt = R u.
    """
    expect_model(model, "tangent")
    start = coordinates(model, q, "tangent")
    shape, (x,) = together("tangent", q=(start, 1))
    at, T = _places(model), np.zeros((len(x), model.nq, model.nv))
    T[:, at.plain_q, at.plain_v] = 1.0
    if at.turning:
        turned = x[:, at.quaternion]
        T[:, at.quaternion[:, :, None], at.angular[:, None, :]] = _rate_matrix(turned)
        T[:, at.position[:, :, None], at.linear[:, None, :]] = _rotation(turned[:, at.moving])
    return T.reshape(*shape, model.nq, model.nv)


def random_configuration(model: Model, rng: Any = None, shape: Any = (), within_limits: bool = True) -> Array:
    """q (*shape, nq), uniform within the limits of the joints, those of followers included; without limits over the
    circle [-pi, pi) for angles, over [-1, 1) m for shifts, and over all rotations for quaternions.

    ``rng``: a seed, a NumPy Generator, or None for other numbers every time. ``within_limits=False``: as if there were
    no limits.
    """
    expect_model(model, "random_configuration")
    source, lead = generator(rng, "random_configuration"), _lead(shape)
    at = _places(model)
    q = sampling_range(model, np.where(at.length, 1.0, np.pi), within_limits).draw(source, lead)
    if at.turning:
        q[..., at.quaternion] = _unit(source.normal(size=(*lead, *at.quaternion.shape)))
    return q


# ------------------------------------------------------------------------------------------------ places in q and v
@dataclass(frozen=True)
class Places:
    """Where things are in q and v: ``plain`` numbers that add; k quaternions (k, 4) with angular rates (k, 3); of
    these the ``moving`` ones (m,) belong to free joints, with position and linear rates (m, 3)."""

    plain_q: Array
    plain_v: Array
    quaternion: Array
    angular: Array
    moving: Array
    position: Array
    linear: Array
    length: Array  # (nq,): whether it is in metres

    @property
    def turning(self) -> bool:
        """Whether there are quaternions at all."""
        return len(self.quaternion) > 0


def _places(model: Model) -> Places:
    """Found once for each model object."""
    cache = cached_on(model)
    if "manifold" not in cache:
        cache["manifold"] = _find_places(model)
    return cache["manifold"]


def _find_places(model: Model) -> Places:
    plain_q: list[int] = []
    plain_v: list[int] = []
    quaternion: list[range] = []
    angular: list[range] = []
    moving: list[int] = []
    position: list[range] = []
    linear: list[range] = []
    length: list[bool] = []
    i = j = 0
    for name, q, v, at in model.stateful:
        prismatic = getattr(model.wiring.entities[name], "kind", None) == "prismatic"
        length += [prismatic or part in LENGTHS for part in q]
        if at is None:
            plain_q += range(i, i + len(q))
            plain_v += range(j, j + len(v))
        else:
            if at == 3:  # free: position before the quaternion, linear after the angular rates
                moving.append(len(quaternion))
                position.append(range(i, i + 3))
                linear.append(range(j + 3, j + 6))
            quaternion.append(range(i + at, i + at + 4))
            angular.append(range(j, j + 3))
        i, j = i + len(q), j + len(v)
    return Places(
        np.array(plain_q, dtype=int),
        np.array(plain_v, dtype=int),
        np.array(quaternion, dtype=int).reshape(-1, 4),
        np.array(angular, dtype=int).reshape(-1, 3),
        np.array(moving, dtype=int),
        np.array(position, dtype=int).reshape(-1, 3),
        np.array(linear, dtype=int).reshape(-1, 3),
        np.array(length, dtype=bool),
    )


# ------------------------------------------------------------------------------------------------ quaternions (..., 4)
def _unit(q: Array) -> Array:
    return q / np.sqrt(np.sum(q * q, axis=-1, keepdims=True))


def _conjugate(q: Array) -> Array:
    return q * np.array([-1.0, -1.0, -1.0, 1.0])


def _product(p: Array, q: Array) -> Array:
    """p (x) q: the turn q, then p, in fixed axes."""
    a, s, b, r = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    real = s * r - np.sum(a * b, axis=-1, keepdims=True)
    return np.concatenate([s * b + r * a + np.cross(a, b), real], axis=-1)


def _exp(x: Array) -> Array:
    """Quaternion of the rotation vector x (..., 3): (sin(|x|/2) x/|x|, cos(|x|/2))."""
    half = _length(x) / 2.0
    return np.concatenate([x * (_sinc(half) / 2.0), np.cos(half)], axis=-1)


def _turn_between(p: Array, q: Array) -> Array:
    """Rotation vector x (..., 3) with p (x) exp(x/2) = +-q, |x| <= pi.

    r = conj(p) (x) q gives |x| = 2 atan2(|vec r|, r_w). Because conj(p) (x) p is real, vec r is also that of
    conj(p) (x) (q - p), which keeps all digits of small turns.
    """
    real = np.sum(p * q, axis=-1, keepdims=True)
    q = np.where(real < 0.0, -q, q)
    vector = _product(_conjugate(p), q - p)[..., :3]
    sine = _length(vector)
    some = sine > 0.0
    return vector * np.where(some, 2.0 * np.arctan2(sine, np.abs(real)) / np.where(some, sine, 1.0), 2.0)


def _rotation(q: Array) -> Array:
    """R (..., 3, 3)."""
    return np.moveaxis(from_quaternion(np.moveaxis(q, -1, 0)), (0, 1), (-2, -1))


def _rotate(q: Array, x: Array) -> Array:
    return np.einsum("...ij,...j->...i", _rotation(q), x)


def _rate_matrix(q: Array) -> Array:
    """(..., 4, 3) of dq/dt = q (x) (w, 0) / 2."""
    x, y, z, w = np.moveaxis(q, -1, 0) / 2.0
    return np.moveaxis(np.array([[w, -z, y], [z, w, -x], [-y, x, w], [-x, -y, -z]]), (0, 1), (-2, -1))


# ------------------------------------------------------------------------------------------------ rotation vectors
def _length(x: Array) -> Array:
    """|x| (..., 1), without loss for tiny ones."""
    return np.hypot(np.hypot(x[..., :1], x[..., 1:2]), x[..., 2:])


def _sinc(x: Array) -> Array:
    """sin(x) / x."""
    zero = x == 0.0
    return np.where(zero, 1.0, np.sin(x) / np.where(zero, 1.0, x))


def _left_jacobian(x: Array, u: Array) -> Array:
    """V(x) u: the way that b goes, in the axes it began with, when it turns by x and moves by u in its own axes."""
    angle = _length(x)
    big, a2 = np.maximum(angle, SMALL), angle * angle
    series = 1 / 6 - a2 * (1 / 120 - a2 * (1 / 5040 - a2 * (1 / 362880 - a2 / 39916800)))
    second = np.where(angle < SMALL, series, (big - np.sin(big)) / big**3)
    across = np.cross(x, u)
    return u + 0.5 * _sinc(angle / 2.0) ** 2 * across + second * np.cross(x, across)  # 1 - cos a = 2 sin^2(a/2)


def _left_jacobian_inverse(x: Array, u: Array) -> Array:
    """V(x)^-1 u = u - x~ u / 2 + (1 - h cot h)/|x|^2 x~^2 u with h = |x|/2 <= pi/2, where nothing is singular."""
    angle = _length(x)
    big, a2 = np.maximum(angle, SMALL), angle * angle
    series = 1 / 12 + a2 * (1 / 720 + a2 * (1 / 30240 + a2 * (1 / 1209600 + a2 / 47900160)))
    second = np.where(angle < SMALL, series, (1.0 - big / 2.0 * np.cos(big / 2.0) / np.sin(big / 2.0)) / big**2)
    across = np.cross(x, u)
    return u - 0.5 * across + second * np.cross(x, across)


# ------------------------------------------------------------------------------------------------ random numbers
def generator(rng: Any, who: str) -> np.random.Generator:
    """A source of random numbers from a seed, a Generator or nothing."""
    try:
        return np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise StateError(
            f"{who}: rng is {clipped(rng)}, expected None, a seed (an integer from 0 on) or a NumPy Generator"
        ) from None


def _lead(shape: Any) -> tuple[int, ...]:
    sizes = shape if isinstance(shape, tuple | list) else (shape,)
    try:
        lead = tuple(operator.index(n) for n in sizes)
    except TypeError:
        lead = (-1,)
    if any(n < 0 for n in lead):
        raise ShapeError(
            f"random_configuration: shape is {clipped(shape)}, expected an integer or a tuple of integers from 0 on"
        )
    return lead
