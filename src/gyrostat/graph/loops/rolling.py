"""Rolling without slipping as equations between two frames: that of the plane (1), and that of the wheel (2).

n is the normal of the plane, z of frame 1, and e = R m the axis of the wheel in frame 1, c = n . e. The deepest point
of the wheel is seen from its centre p at

    s = -(r h + rho n),    h = (n - c e) / k,    k = sqrt(1 - c^2),

with h up the plane of the wheel, r the radius of the circle in the middle of its tyre and rho that of the tyre's
section: r = 0 for a sphere, rho = 0 for a knife edge. With the relative motion w, u of
:mod:`~gyrostat.graph.loops.closure`,

    touch     g = n . p - r k - rho           dg/dt = n . (u + w x s)
    slip      no g                            t . (u + w x s) = 0      along x and y of the plane.

The velocity in both is that of the wheel's material point against the plane's. Its derivative along the motion has,
beside accelerations, t . (w x ds/dt), since the point wanders round the wheel: ds/dt = -r dh/dt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from gyrostat.graph.loops.closure import Equation, Row
from gyrostat.spatial.algebra import Array, cross

NORMAL = np.array([0.0, 0.0, 1.0])


class Deepest(NamedTuple):
    """Of a wheel: ``s`` (3,) from its centre to its deepest point, ``height`` of the centre above that, and ds/dt for
    an angular velocity w (3,)."""

    s: Array
    height: Any
    rate: Callable[[Array], Array]


@dataclass(frozen=True)
class Wheel:
    """Axis m in frame 2, radii r and rho [m]."""

    m: Array
    r: Any
    rho: Any

    def deepest(self, R: Array) -> Deepest:
        """For a wheel that is turned by R."""
        if isinstance(self.r, float) and self.r == 0.0:
            return Deepest(-NORMAL * self.rho, self.rho, lambda w: np.zeros(3))
        e = R @ self.m
        c = e[2]
        k = np.sqrt(1.0 - c * c)
        h = (NORMAL - e * c) / k

        def rate(w: Array) -> Array:
            turned = cross(w, e)
            dc = turned[2]
            return ((e * dc + turned * c) / k - h * (c * dc / (k * k))) * self.r

        return Deepest(-(h * self.r + NORMAL * self.rho), k * self.r + self.rho, rate)


@dataclass(frozen=True)
class Touch:
    """The deepest point is in the plane."""

    wheel: Wheel
    unit: str = "m"
    holonomic: ClassVar[bool] = True

    def at(self, R: Array, p: Array) -> Row:
        lowest = self.wheel.deepest(R)
        quadratic = lambda w, u: cross(w, lowest.rate(w))[2]  # noqa: E731
        return Row(p[2] - lowest.height, cross(lowest.s, NORMAL), NORMAL, quadratic)


@dataclass(frozen=True)
class Slip:
    """The material point there has no velocity along t (3,) of the plane: no g, its row alone."""

    wheel: Wheel
    t: Array
    unit: str = "m/s"
    holonomic: ClassVar[bool] = False

    def at(self, R: Array, p: Array) -> Row:
        lowest = self.wheel.deepest(R)
        return Row(0.0, cross(lowest.s, self.t), self.t, lambda w, u: cross(w, lowest.rate(w)) @ self.t)


def rolling(wheel: Wheel) -> list[Equation]:
    """Touch, then slip along x and y of the plane."""
    x, y, _ = np.eye(3)
    return [Touch(wheel), Slip(wheel, x), Slip(wheel, y)]


def _disc(props: Mapping[str, Any]) -> list[Equation]:
    return rolling(Wheel(props["axis"], props["radius"] - props["crown"], props["crown"]))


ROLLING: dict[str, Callable[[Mapping[str, Any]], list[Equation]]] = {
    "disc": _disc,
    "sphere": lambda props: rolling(Wheel(np.zeros(3), 0.0, props["radius"])),
}
"""Equations by the kind of wheel."""
