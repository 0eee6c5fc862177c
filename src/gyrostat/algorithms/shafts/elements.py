"""Elements on shafts (H04 2.2.2, protocol <RNE,1D>): what torque each of them takes at its shafts.

A row is ``row(c, angle, rate, acceleration) -> torques``: it gets, by the names of its ports, the motion of its shafts,
and returns the torques, by port, that drive the element there. Torques must be linear in the accelerations. Written
once, they serve inverse and forward dynamics, mass matrix, derivatives and the elastic solvers alike.

Elements that store energy have a row in :mod:`~gyrostat.algorithms.stored_energy`, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Algorithm
from gyrostat.algorithms.recursions.affine_number import Affine
from gyrostat.algorithms.stored_energy import stored_energy
from gyrostat.engine.tracing.choose import sign
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import ShaftComponent, Transmission
from gyrostat.spatial.algebra import Array
from gyrostat.spec.motor import Motor
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shaft_elements import Backlash, Damper, Friction, Spring

At = Mapping[str, Any]
ShaftRow = Callable[[ShaftComponent, At, At, At], Mapping[str, Any]]
shafts: Algorithm[ShaftRow] = Algorithm("elements on shafts")


@shafts.row(RotorInertia)
def inertia(c: ShaftComponent, angle: At, rate: At, acceleration: At) -> Mapping[str, Any]:
    """The pure 1-D rotor: u = I a."""
    return {"shaft": acceleration["shaft"] * c["inertia"]}


@shafts.row(Motor)
def idle(c: ShaftComponent, angle: At, rate: At, acceleration: At) -> Mapping[str, Any]:
    """A motor's torque is what is asked for; it takes none."""
    return {"shaft": 0.0}


@shafts.row(Friction)
def friction(c: ShaftComponent, angle: At, rate: At, acceleration: At) -> Mapping[str, Any]:
    """viscous w + (coulomb + (static - coulomb) exp(-(w/stribeck)^2)) sign(w)."""
    w, total = rate["shaft"], 0.0
    plus, minus = _two(c["coulomb"])
    size: tuple[Any, Any] = plus, minus
    if c["static"] is not None:
        x = w / c["stribeck"]
        fade = np.exp(-(x * x))
        more = _two(c["static"])
        size = plus + (more[0] - plus) * fade, minus + (more[1] - minus) * fade
    if _some(c["coulomb"]) or c["static"] is not None:
        s = sign(w) if c["smooth"] is None else np.tanh(w / c["smooth"])
        # for s = 1: plus, for s = -1: -minus
        total = s * ((size[0] + size[1]) * 0.5) + abs(s) * ((size[0] - size[1]) * 0.5) if _differ(c) else s * size[0]
    return {"shaft": total + w * c["viscous"]}


def _two(value: Any) -> tuple[Any, Any]:
    return (value[0], value[1]) if isinstance(value, tuple | np.ndarray) and np.ndim(value) else (value, value)


def _some(value: Any) -> bool:
    return not all(isinstance(x, float) and x == 0.0 for x in _two(value))


def _differ(c: ShaftComponent) -> bool:
    return any(
        key in c.props and isinstance(c[key], tuple | np.ndarray) and np.ndim(c[key]) for key in ("coulomb", "static")
    )


def _difference(c: ShaftComponent, x: At) -> Any:
    return x["a"] if c["ground"] else x["a"] - x["b"]


def _between(c: ShaftComponent, torque: Any) -> Mapping[str, Any]:
    """Torque from a to b."""
    return {"a": torque} if c["ground"] else {"a": torque, "b": -torque}


@shafts.row(Damper)
def damper(c: ShaftComponent, angle: At, rate: At, acceleration: At) -> Mapping[str, Any]:
    return _between(c, _difference(c, rate) * c["damping"])


@shafts.row(Spring)
def spring(c: ShaftComponent, angle: At, rate: At, acceleration: At) -> Mapping[str, Any]:
    return _between(c, spring_torque(c, _difference(c, angle) - c["rest"]))


def spring_torque(c: ShaftComponent, d: Any) -> Any:
    """Torque at the deflection d: k d + cubic d^3, or by the curve."""
    if c["stiffness"] is None:
        return curve(c["curve"], d)
    torque = d * c["stiffness"]
    return torque if is_zero(c["cubic"]) else torque + d * d * d * c["cubic"]


def is_zero(value: Any) -> bool:
    return isinstance(value, float) and value == 0.0


def curve(points: Any, x: Any) -> Any:
    """A broken line through the points, straight on beyond them, without a branch."""
    (x0, y0), *_ = points
    slopes = [(y1 - y) / (x1 - x_) for (x_, y), (x1, y1) in pairwise(points)]
    total = y0 + (x - x0) * slopes[0]
    for (corner, _), before, after in zip(points[1:-1], slopes[:-1], slopes[1:], strict=True):
        total = total + _positive(x - corner) * (after - before)
    return total


def _positive(x: Any) -> Any:
    return (x + abs(x)) * 0.5


@shafts.row(Backlash)
def backlash(c: ShaftComponent, angle: At, rate: At, acceleration: At) -> Mapping[str, Any]:
    """Flanks that push and never pull."""
    d, w, half = _difference(c, angle), _difference(c, rate), c["gap"] * 0.5
    ahead, behind = _positive(d - half), _positive(-d - half)
    push = ahead * c["stiffness"] + w * c["damping"] * sign(ahead)
    back = behind * c["stiffness"] - w * c["damping"] * sign(behind)
    return _between(c, _positive(push) - _positive(back))


@stored_energy.row(Spring)
def spring_energy(c: ShaftComponent, angle: At) -> Any:
    d = _difference(c, angle) - c["rest"]
    if c["stiffness"] is None:
        return curve_energy(c["curve"], d)
    return d * d * (c["stiffness"] * 0.5) + (0.0 if is_zero(c["cubic"]) else d * d * d * d * (c["cubic"] * 0.25))


@stored_energy.row(Backlash)
def backlash_energy(c: ShaftComponent, angle: At) -> Any:
    d, half = _difference(c, angle), c["gap"] * 0.5
    ahead, behind = _positive(d - half), _positive(-d - half)
    return (ahead * ahead + behind * behind) * (c["stiffness"] * 0.5)


def curve_energy(points: Any, x: Any) -> Any:
    """Integral of :func:`curve` from zero."""

    def primitive(x: Any) -> Any:
        (x0, y0), *_ = points
        slopes = [(y1 - y) / (x1 - x_) for (x_, y), (x1, y1) in pairwise(points)]
        r = x - x0
        total = r * y0 + r * r * (slopes[0] * 0.5)
        for (corner, _), before, after in zip(points[1:-1], slopes[:-1], slopes[1:], strict=True):
            beyond = _positive(x - corner)
            total = total + beyond * beyond * ((after - before) * 0.5)
        return total

    return primitive(x) - primitive(0.0)


def element_torques(net: Network, q: Array, v: Array, a: Array) -> dict[int, Any]:
    """Generalised forces that drive all elements on shafts, by the number of the rate; q, v, a of the model."""
    torques: dict[int, Any] = {}
    moved = net.transmission.at(q, v)
    for c in moved.elements:
        angle, rate, acceleration = shaft_motion(c, moved, q, v, a)
        for port, torque in shafts.of(c)(c, angle, rate, acceleration).items():  # type: ignore[arg-type]
            for k, factor in c.shafts[port].ties:
                torques[k] = torques[k] + torque * factor if k in torques else torque * factor
    return torques


def shaft_motion(c: ShaftComponent, moved: Transmission, q: Array, v: Array, a: Array) -> tuple[At, At, At]:
    """Angles, rates and accelerations of the shafts of an element."""
    angle = {port: shaft.angle(q, moved.place) for port, shaft in c.shafts.items()}
    rate = {port: shaft.rate(v) for port, shaft in c.shafts.items()}
    return angle, rate, {port: shaft.acceleration(a) for port, shaft in c.shafts.items()}


def with_elements(net: Network, q: Array, v: Array, a: Array, u: Array) -> Array:
    """u (n,) and the torques of all elements on shafts."""
    torques = element_torques(net, q, v, a) if net.transmission.elements else {}
    return np.array([x + torques[k] if k in torques else x for k, x in enumerate(u)]) if torques else u


def element_inertia(net: Network, q: Array, v: Array) -> tuple[dict[tuple[int, int], Any], dict[int, Any]]:
    """Inertia {(j, k): J_jk} and torque {k: b_k} at zero acceleration of all elements on shafts."""
    n = net.transmission.n
    a = np.array([Affine(0.0, {k: 1.0}) for k in range(n)], dtype=object)
    J: dict[tuple[int, int], Any] = {}
    b: dict[int, Any] = {}
    for k, torque in element_torques(net, q, v, a).items():
        b[k] = torque.c if isinstance(torque, Affine) else torque
        if isinstance(torque, Affine):
            J |= {(k, j): x for j, x in torque.terms.items()}
    return J, b


def element_energy(net: Network, q: Array) -> Any:
    """Energy [J] that springs on shafts hold."""
    total: Any = 0.0
    moved = net.transmission.at(q)
    for c in moved.elements:
        if any(kind in stored_energy.rows for kind in c.kind.__mro__):
            angle = {port: shaft.angle(q, moved.place) for port, shaft in c.shafts.items()}
            total = total + stored_energy.of(c)(c, angle)  # type: ignore[arg-type]
    return total
