"""Kinematics of contact: gaps, contact axes, rows J with w = J v + drift, and the rate of w at constant rates.

w is the velocity of the material point of a, less that of b, at the contact point, in contact axes (normal, t1, t2).
Its normal part is the rate of the gap: J_n = dg/dq along the rates. The bias is found by numbers with a rate: frames
whose placement has the rate of their velocity, and whose velocity has the rate that it has at constant rates v. What is
computed with them, the contact point as it travels along both surfaces and the axes as they turn, is exact for all
shapes and all joints; a gap's second derivative is J_n a + bias_n."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.matrices.body_jacobians import at_rest, pseudo_velocities, weightless
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.engine.tracing.dual import rates_of, values_of, with_rates
from gyrostat.errors import GyrostatError
from gyrostat.graph.contacts import Candidate, Surface
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array, compose, cross, join, skew
from gyrostat.spatial.contact_geometry import Touch, touch
from gyrostat.spatial.representation import Motion, Pose, representation

INERTIAL = representation("inertial")
LEVEL = 50
"""Of the rates used here: outside those of derivatives, inside series in time."""


@dataclass(frozen=True)
class ContactKinematics:
    """Of k candidates: ``gaps`` (k,) [m], ``axes`` (k, 3, 3): rows n, t1, t2 in the world, ``positions`` (k, 3) [m],
    ``J`` (k, 3, nv); with rates v also ``drift`` (k, 3): the velocity at rest, of a base that moves by itself [m/s],
    ``w`` (k, 3) = J v + drift [m/s], and ``bias`` (k, 3): dw/dt = J a + bias [m/s^2]."""

    gaps: Array
    axes: Array
    positions: Array
    J: Array
    drift: Array
    w: Array
    bias: Array


@dataclass(frozen=True)
class MovingSurface:
    """Pose of a surface, angular velocity w and velocity u of its origin in the world's axes."""

    pose: Pose
    w: Array
    u: Array


def contact_kinematics(
    network: Network, on: Setting, candidates: Sequence[Candidate], q: Array, v: Array | None = None
) -> ContactKinematics:
    """All of it at q (nq,), v (nv,), for candidates that have a closed form; without ``v``, w, drift and bias are those
    of rest."""
    expect_closed_form(candidates)
    on, n = weightless(on, INERTIAL), network.model.nv
    rest = np.zeros(n)
    motions = sweep_motion(network, on, q, rest if v is None else v, rest)
    touches = [_touch(network, motions, c) for c in candidates]
    jacobians = port_jacobians(network, on, candidates, q)
    rows = [_rows(network, motions, jacobians, c, t, n) for c, t in zip(candidates, touches, strict=True)]
    J = _stacked(rows, (3, n))
    slips = [_slip(network, motions, c) for c in candidates]
    w, bias = (_stacked([part(x) for x in slips], (3,)) for part in (_values, _bias))
    resting = sweep_motion(network, on, q, rest, rest) if network.driven else None
    drift = [_at_rest(network, resting, c) for c in candidates]
    return ContactKinematics(
        _stacked([t.gap for t in touches], ()),
        _stacked([t.axes for t in touches], (3, 3)),
        _stacked([t.x for t in touches], (3,)),
        J,
        _stacked(drift, (3,)),
        w,
        bias,
    )


def contact_gaps(network: Network, on: Setting, candidates: Sequence[Candidate], q: Array) -> Array:
    """Gaps (k,) [m] alone."""
    expect_closed_form(candidates)
    rest = np.zeros(network.model.nv)
    motions = sweep_motion(network, weightless(on, INERTIAL), q, rest, rest)
    return _stacked([_touch(network, motions, c).gap for c in candidates], ())


def contact_spins(network: Network, on: Setting, candidates: Sequence[Candidate], q: Array) -> Array:
    """Rows (k, 3, nv) with spin = rows v: the angular velocity of a against b in contact axes [rad/s], about the normal
    (torsional friction) and across it (rolling). A base that moves by itself stands still."""
    expect_closed_form(candidates)
    on, n = weightless(on, INERTIAL), network.model.nv
    motions = sweep_motion(network, on, q, np.zeros(n), np.zeros(n))
    jacobians = port_jacobians(network, on, candidates, q)
    rows: list[Array] = []
    for c in candidates:
        total: Any = np.zeros((3, n))
        for surface, sign in ((c.a, 1.0), (c.b, -1.0)):
            port = place_of(network, surface)[0]
            total = total if port is None else total + jacobians[port][:3] * sign
        rows.append(_touch(network, motions, c).axes @ total)
    return _stacked(rows, (3, n))


def expect_closed_form(candidates: Sequence[Candidate]) -> None:
    """Others need nearest points from elsewhere."""
    for c in candidates:
        if not c.closed_form:
            raise GyrostatError(
                f"contact '{c.name}': a {c.a.kind} and a {c.b.kind} have no nearest points in closed form. "
                "Hint: spheres and capsules with each other, and all shapes with the ground, have"
            )


# ------------------------------------------------------------------------------------------------ placement
def place_of(network: Network, surface: Surface) -> tuple[int | None, Array, Array]:
    """The outport that carries a surface, None for the world, and the surface's placement on it."""
    if not surface.port:
        return None, surface.R, surface.p
    port, place = network.located[surface.port]
    return port, *compose(*place, surface.R, surface.p)


def _pose(network: Network, motions: Mapping[int, Motion], surface: Surface) -> Pose:
    port, R, p = place_of(network, surface)
    return Pose(R, p) if port is None else motions[port].pose.then(R, p)


def _touch(network: Network, motions: Mapping[int, Motion], c: Candidate) -> Touch:
    one, two = (_pose(network, motions, s) for s in (c.a, c.b))
    return touch(c.a.kind, c.a.size, one, c.b.kind, c.b.size, two)


# ------------------------------------------------------------------------------------------------ velocities
def _moving(network: Network, motions: Mapping[int, Motion], surface: Surface) -> MovingSurface:
    """A surface whose numbers have their rates in time, at constant rates of the model."""
    port, R, p = place_of(network, surface)
    if port is None:
        return MovingSurface(Pose(R, p), np.zeros(3), np.zeros(3))
    m = motions[port]
    pose, arm = m.pose.then(R, p), m.pose.R @ p
    w, alpha = m.V[:3], m.A[:3]
    u = m.V[3:] + cross(w, arm)
    du = m.A[3:] + cross(alpha, arm) + cross(w, cross(w, arm))
    turning = with_rates(pose.R, skew(w) @ pose.R, LEVEL)
    return MovingSurface(
        Pose(turning, with_rates(pose.p, u, LEVEL)), with_rates(w, alpha, LEVEL), with_rates(u, du, LEVEL)
    )


def slip(c: Candidate, a: MovingSurface, b: MovingSurface) -> Array:
    """w (3,) of two moving surfaces."""
    t = touch(c.a.kind, c.a.size, a.pose, c.b.kind, c.b.size, b.pose)
    return t.axes @ (a.u + cross(a.w, t.x - a.pose.p) - b.u - cross(b.w, t.x - b.pose.p))


def _slip(network: Network, motions: Mapping[int, Motion], c: Candidate) -> Array:
    return slip(c, *(_moving(network, motions, s) for s in (c.a, c.b)))


def _values(x: Array) -> Array:
    return values_of(x, LEVEL)


def _bias(x: Array) -> Array:
    return rates_of(x, LEVEL)


def _at_rest(network: Network, motions: Mapping[int, Motion] | None, c: Candidate) -> Array:
    return np.zeros(3) if motions is None else _values(_slip(network, motions, c))


# ------------------------------------------------------------------------------------------------ rows
def port_jacobians(network: Network, on: Setting, candidates: Sequence[Candidate], q: Array) -> dict[int, Array]:
    """J (6, nv) of each outport that carries a surface: (w, velocity of its origin) in the world's axes, by unit rates
    through the kinematics [H04 3.2.2.1]. A base that moves by itself stands still."""
    places = (place_of(network, s)[0] for c in candidates for s in (c.a, c.b))
    ports = list(dict.fromkeys(port for port in places if port is not None))
    still, n = at_rest(network, on), network.model.nv
    rest = np.zeros(n)
    used = {c.name for port in ports for c, _ in network.path(port)}
    path = replace(network, components=tuple(c for c in network.components if c.name in used))

    def velocities(v: Array) -> Array:
        motions = sweep_motion(path, still, q, v, rest)
        return np.concatenate([motions[port].V for port in ports])

    if not ports or not n:
        return {port: np.zeros((6, n)) for port in ports}
    columns = pseudo_velocities(velocities, n)
    return {port: columns[6 * k : 6 * k + 6] for k, port in enumerate(ports)}


def _rows(
    network: Network, motions: Mapping[int, Motion], jacobians: Mapping[int, Array], c: Candidate, t: Touch, n: int
) -> Array:
    """J (3, nv): e . (u + w x r) = (r x e) . w + e . u for each contact axis e."""
    total: Any = np.zeros((3, n))
    for surface, sign in ((c.a, 1.0), (c.b, -1.0)):
        port = place_of(network, surface)[0]
        if port is not None:
            r = t.x - motions[port].pose.p
            wrenches = np.array([join(cross(r, e), e) for e in t.axes])
            total = total + wrenches @ jacobians[port] * sign
    return total


def _stacked(parts: Sequence[Any], shape: tuple[int, ...]) -> Array:
    if not parts:
        return np.zeros((0, *shape))
    return np.array(list(parts))
