"""What closes a loop, as equations between two frames (AS (2); H04 (3.58)).

Frame 1 is at port a of what closes the loop, frame 2 at its port b; R, p place frame 2 in frame 1. A joint with n rates
leaves 6 - n equations, each one of three forms, with m fixed in frame 2 and n fixed in frame 1:

    direction    g = n . R m - c                 two axes keep their angle
    position     g = n . p                       frame 2 stays in a plane of frame 1
    distance     g = (p . p - l^2) / (2 l)       a rod

With the relative motion w = R w_2 - w_1 and u = dp/dt in the axes of frame 1,

    dg/dt = a . w + b . u,    d^2g/dt^2 = a . dw/dt + b . du/dt + g_2(w, u),

so that a row of the Jacobian is read off unit rates, and no difference quotient is needed anywhere."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from gyrostat.geometry.rotation import plane_direction
from gyrostat.spatial.algebra import Array, cross

ZERO3 = np.zeros(3)


class Row(NamedTuple):
    """One equation at a state: g, a (3,), b (3,), and the part g_2 of its second derivative that rates cause."""

    g: Any
    a: Array
    b: Array
    quadratic: Callable[[Array, Array], Any]


@dataclass(frozen=True)
class Direction:
    """n . R m = c."""

    n: Array
    m: Array
    c: Any = 0.0
    unit: str = "rad"
    holonomic: ClassVar[bool] = True

    def at(self, R: Array, p: Array) -> Row:
        turned = R @ self.m
        a = cross(turned, self.n)
        return Row(self.n @ turned - self.c, a, ZERO3, lambda w, u: cross(cross(w, turned), self.n) @ w)


@dataclass(frozen=True)
class Position:
    """n . p = 0."""

    n: Array
    unit: str = "m"
    holonomic: ClassVar[bool] = True

    def at(self, R: Array, p: Array) -> Row:
        return Row(self.n @ p, ZERO3, self.n, lambda w, u: 0.0)


@dataclass(frozen=True)
class Distance:
    """|p| = length."""

    length: Any
    unit: str = "m"
    holonomic: ClassVar[bool] = True

    def at(self, R: Array, p: Array) -> Row:
        over = 1.0 / self.length
        return Row((p @ p * over - self.length) * 0.5, ZERO3, p * over, lambda w, u: (u @ u) * over)


class Equation(Protocol):
    """What closes a loop says one of these for each relative motion that it takes away. ``holonomic``: whether it is
    the derivative of g; else g is zero, and the row acts on velocities alone
    (:mod:`~gyrostat.graph.loops.rolling`)."""

    holonomic: ClassVar[bool]

    @property
    def unit(self) -> str: ...

    def at(self, R: Array, p: Array) -> Row:
        """The row where frame 2 is at R, p of frame 1."""
        ...


# ------------------------------------------------------------------------------------------------ by kind of joint
def _basis(axis: Array) -> tuple[Array, Array]:
    """Two directions across an axis."""
    largest = int(np.argmax(np.abs(np.asarray(axis, dtype=float)))) if axis.dtype != object else 2
    e = plane_direction(axis, None, largest)
    return e, cross(axis, e)


def _point() -> list[Equation]:
    return [Position(e) for e in np.eye(3)]


def _parallel(axis: Array) -> list[Equation]:
    return [Direction(e, axis) for e in _basis(axis)]


def _same_axes() -> list[Equation]:
    x, y, z = np.eye(3)
    return [Direction(y, z), Direction(z, x), Direction(x, y)]


def _revolute(props: Mapping[str, Any]) -> list[Equation]:
    return [*_point(), *_parallel(props["axis"])]


def _prismatic(props: Mapping[str, Any]) -> list[Equation]:
    return [*_same_axes(), *(Position(e) for e in _basis(props["axis"]))]


def _cylindrical(props: Mapping[str, Any]) -> list[Equation]:
    return [*_parallel(props["axis"]), *(Position(e) for e in _basis(props["axis"]))]


def _universal(props: Mapping[str, Any]) -> list[Equation]:
    one, two = props["axis"], props["second_axis"]
    return [*_point(), Direction(one, two, one @ two)]


def _planar(props: Mapping[str, Any]) -> list[Equation]:
    return [*_parallel(props["axis"]), Position(props["axis"])]


EQUATIONS: dict[str, Callable[[Mapping[str, Any]], list[Equation]]] = {
    "fixed": lambda props: [*_point(), *_same_axes()],
    "revolute": _revolute,
    "continuous": _revolute,
    "prismatic": _prismatic,
    "cylindrical": _cylindrical,
    "universal": _universal,
    "planar": _planar,
    "spherical": lambda props: _point(),
    "rod": lambda props: [Distance(props["length"])],
}
"""Equations of what closes a loop; ``fixed`` also where two ports simply coincide."""


def same_axes(kind: str, props: Mapping[str, Any]) -> list[Array]:
    """Directions that both frames have in common when the loop is closed."""
    if kind in ("fixed", "prismatic"):
        return list(np.eye(3))
    return [props["axis"]] if kind in ("revolute", "continuous", "cylindrical", "planar") else []


# ------------------------------------------------------------------------------------------------ at a state
class FrameMotion(NamedTuple):
    """A frame that moves: axes R and origin p, velocity V and acceleration A (angular, then linear, of its origin), in
    its own axes, and the motions (6,) of unit rates by their number."""

    R: Array
    p: Array
    V: Array
    A: Array
    S: Mapping[int, Array]


class ClosureRows(NamedTuple):
    """g (m,); J as {rate: (m,)}; b (m,) = dJ/dt v; the rows as they are at this state."""

    g: Array
    J: dict[int, Array]
    bias: Array


def closure_rows(
    equations: Sequence[Equation], one: FrameMotion, two: FrameMotion, at_rest: bool = False
) -> ClosureRows:
    """The equations between two frames that are known relative to one and the same body."""
    R, p = one.R.T @ two.R, one.R.T @ (two.p - one.p)
    rows = [equation.at(R, p) for equation in equations]
    J: dict[int, Array] = {}
    for k, S in one.S.items():
        w, u = -S[:3], -S[3:] - cross(S[:3], p)
        J[k] = np.array([row.a @ w + row.b @ u for row in rows])
    for k, S in two.S.items():
        w, u = R @ S[:3], R @ S[3:]
        column = np.array([row.a @ w + row.b @ u for row in rows])
        J[k] = J[k] + column if k in J else column
    bias = np.zeros(len(rows)) if at_rest else _bias(rows, one, two, R, p)
    return ClosureRows(np.array([row.g for row in rows]), J, bias)


def _bias(rows: Sequence[Row], one: FrameMotion, two: FrameMotion, R: Array, p: Array) -> Array:
    """d^2g/dt^2 where the accelerations of both frames are those of constant rates."""
    w1, w2, v1, v2 = one.V[:3], R @ two.V[:3], one.V[3:], R @ two.V[3:]
    w = w2 - w1
    dw = R @ two.A[:3] + cross(w, w2) - one.A[:3]
    u = v2 - v1 - cross(w1, p)
    du = R @ two.A[3:] - one.A[3:] - cross(one.A[:3], p) - cross(w1, cross(w1, p) + u * 2.0)
    return np.array([row.a @ dw + row.b @ du + row.quadratic(w, u) for row in rows])
