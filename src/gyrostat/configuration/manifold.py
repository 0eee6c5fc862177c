"""Configurations form a manifold: steps on it, differences between its points, its tangent map.

Angles and shifts are numbers that are added. Quaternions (x y z w, of b in a) and placements are groups, on which a
motion that is constant in the moving frame b acts from the right: for ``spherical``

    q(t) = q(0) (x) exp(w t / 2),                    exp(h) = (sin|h| h/|h|, cos|h|),

and for ``free``, and a free base, whose rates are the body twist (w, u) of b against a,

    R(t) = R(0) exp(w~ t),    p(t) = p(0) + R(0) Jl(w t) u t,

with the left Jacobian Jl of ``spatial.so3``.

q and v are those of the joint, b against a, whichever side it is mounted from. All functions are vectorised over
leading shapes, which broadcast against each other.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from gyrostat.configuration.closed_configurations import closed_samples, reference_configuration
from gyrostat.configuration.deflections import flexible_links
from gyrostat.configuration.packing import coordinates, finite, rates, real_array, together
from gyrostat.configuration.sampling_range import sampling_range
from gyrostat.errors import NonFiniteError, ShapeError, StateError, clipped
from gyrostat.spatial import so3
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
BENT = 0.02
"""Random deflections of flexible links [m, rad]: small, as their equations assume."""


def neutral(model: Model) -> Array:
    """q (nq,) at rest: zero angles [rad] and shifts [m], quaternions (0, 0, 0, 1); where the model gives a reference
    configuration, that one, with its loops closed."""
    expect_model(model, "neutral")
    return reference_configuration(model)


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
    at, y = model.layout, np.empty((len(x), model.nq))
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is refused below
        step = step * time[:, None]
        y[:, at.number_q] = x[:, at.number_q] + step[:, at.number_v]
        if at.turning:
            turned, angle = x[:, at.quaternions], step[:, at.angular]
            y[:, at.quaternions] = so3.normalised(so3.product(turned, so3.quaternion_exp(angle)))
            along = so3.left_jacobian(angle[:, at.placed], step[:, at.linear])
            y[:, at.positions] = x[:, at.positions] + so3.rotate(turned[:, at.placed], along)
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
    at, v = model.layout, np.empty((len(x), model.nv))
    with np.errstate(over="ignore", invalid="ignore"):
        v[:, at.number_v] = y[:, at.number_q] - x[:, at.number_q]
        if at.turning:
            turned = x[:, at.quaternions]
            angle = v[:, at.angular] = so3.turn_between(turned, y[:, at.quaternions])
            way = so3.rotate(so3.conjugate(turned[:, at.placed]), y[:, at.positions] - x[:, at.positions])
            v[:, at.linear] = so3.left_jacobian_inverse(angle[:, at.placed], way)
    return finite(v.reshape(*shape, model.nv), model.dofs, "difference", "the difference")


def tangent(model: Model, q: Any) -> Array:
    """T (..., nq, nv) of dq/dt = T(q) v.

    One for angles and shifts; for quaternions dq/dt = q (x) (w, 0) / 2; for the position of a free joint dp/dt = R u.
    """
    expect_model(model, "tangent")
    start = coordinates(model, q, "tangent")
    shape, (x,) = together("tangent", q=(start, 1))
    at, T = model.layout, np.zeros((len(x), model.nq, model.nv))
    T[:, at.number_q, at.number_v] = 1.0
    if at.turning:
        turned = x[:, at.quaternions]
        T[:, at.quaternions[:, :, None], at.angular[:, None, :]] = so3.rate_matrix(turned)
        T[:, at.positions[:, :, None], at.linear[:, None, :]] = so3.matrix(turned[:, at.placed])
    return T.reshape(*shape, model.nq, model.nv)


def random_configuration(model: Model, rng: Any = None, shape: Any = (), within_limits: bool = True) -> Array:
    """q (*shape, nq), uniform within the limits of the joints, those of followers included; without limits over the
    circle [-pi, pi) for angles, over [-1, 1) m for shifts, over [-0.02, 0.02) for deflections of flexible links, and
    over all rotations for quaternions. Loops are closed.

    ``rng``: a seed, a NumPy Generator, or None for other numbers every time. ``within_limits=False``: as if there were
    no limits.
    """
    expect_model(model, "random_configuration")
    source, lead = generator(rng, "random_configuration"), _lead(shape)
    at = model.layout
    reach = np.where(at.lengths, 1.0, np.pi)
    for name in flexible_links(model):
        reach[at.of[name].q] = BENT
    limits = sampling_range(model, reach, within_limits)

    def draw(lead: tuple[int, ...]) -> Array:
        q = limits.draw(source, lead)
        if at.turning:
            q[..., at.quaternions] = so3.normalised(source.normal(size=(*lead, *at.quaternions.shape)))
        return q

    return closed_samples(model, draw, lead, within_limits) if model.wiring.tree.loops else draw(lead)


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
