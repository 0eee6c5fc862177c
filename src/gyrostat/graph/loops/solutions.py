"""Elementary solutions that closed forms are made of: a turn or a slide from one equation.

    distance   |x - R(q) y| = l         a turn:   A cos q + B sin q = C  (3.58);   a slide: a quadratic equation
    angle      n . R(q) y = c           a turn:   the same equation between directions
    direction  R(q) y = x               a turn:   cosine and sine by one division

Where an equation has two solutions, the branch is that of the reference configuration."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import where
from gyrostat.graph.loops.angle import Angle
from gyrostat.graph.loops.elementary import Coordinates, Slide, Turn
from gyrostat.spatial.algebra import Array, cross

SINGULAR = 1e-13
"""Parts of the reach within which an unknown is at a dead point."""
Unknown = Turn | Slide
Short = Callable[[], float]
"""How much is missing to a solution."""


class Branches:
    """Signs of roots in the order in which a form asks for them: noted at the reference, then kept. ``margins`` of each
    root: what is under it, relative to its largest value; how much is missing to a solution, and in which unit.
    ``roots``, with their signs: A sin t - B cos t, and what a slide is away from the nearest point; either is the
    slope of half a distance squared by the unknown."""

    def __init__(self, signs: Sequence[float] | None = None):
        self.signs, self._asked = signs, 0
        self.noted: list[float] = []
        self.roots: list[Any] = []
        self.margins: list[tuple[Any, Short, str]] = []

    def sign(self, at_reference: Callable[[], float]) -> float:
        if self.signs is None:
            self.noted.append(1.0 if at_reference() >= 0.0 else -1.0)
            return self.noted[-1]
        self._asked += 1
        return self.signs[self._asked - 1]


@dataclass(frozen=True)
class Known:
    """Coordinates that are known, by slot; ``near``: all of them at the reference."""

    x: Coordinates
    near: Mapping[int, float]

    def with_slot(self, slot: int, value: Any) -> Known:
        return Known(lambda k: value if k == slot else self.x(k), self.near)


def _root(inside: Any, square: Any, branches: Branches) -> Any:
    """The root, NaN at a dead point as where there is none: what divides by it has no digit left there."""
    if branches.signs is None:
        return np.sqrt(inside)
    return np.sqrt(where(inside > square * SINGULAR, inside, math.nan))


def _solved_turn(
    element: Turn, A: Any, B: Any, C: Any, known: Known, branches: Branches, short: Short | None = None
) -> Angle:
    """A cos t + B sin t = C, t = sign x coordinate; ``short(reach)``: what is missing where C is beyond the reach."""
    t = element.sign * known.near[element.slot]

    def at_reference() -> float:
        return float(A) * np.sin(t) - float(B) * np.cos(t)

    sign = branches.sign(at_reference)
    square = A * A + B * B
    inside = square - C * C
    missing = (lambda: abs(float(C)) / float(np.sqrt(square)) - 1.0) if short is None else short
    branches.margins.append((inside / square, missing, "of its reach" if short is None else "m"))
    over, root = 1.0 / square, _root(inside, square, branches) * sign
    branches.roots.append(root)
    return Angle((A * C - B * root) * over, (B * C + A * root) * over, t) * element.sign


def distance(element: Unknown, x: Array, y: Array, square: Any, known: Known, branches: Branches) -> Any:
    """The coordinate for which |x - y'|^2 = square, y' being y behind the element."""
    u = element.axis
    if isinstance(element, Turn):
        along_x, along_y = u @ x, u @ y
        A, B = x @ y - along_x * along_y, u @ cross(y, x)
        C = (x @ x + y @ y - square) * 0.5 - along_x * along_y

        def short() -> float:
            reach = float(np.sqrt(A * A + B * B)) * (1.0 if float(C) > 0.0 else -1.0)
            nearest = float(x @ x + y @ y) - 2.0 * (float(along_x * along_y) + reach)
            return abs(np.sqrt(max(nearest, 0.0)) - np.sqrt(float(square)))

        return _solved_turn(element, A, B, C, known, branches, short)
    r = x - y
    half = u @ r  # (q - u.r)^2 = (u.r)^2 - r.r + l^2
    inside = half * half - r @ r + square
    q = element.sign * known.near[element.slot]
    sign = branches.sign(lambda: q - float(half))
    missing = lambda: float(np.sqrt(r @ r - half * half)) - float(np.sqrt(square))  # noqa: E731
    branches.margins.append((inside / square, missing, "m"))
    branches.roots.append(_root(inside, square, branches) * sign)
    return (half + branches.roots[-1]) * element.sign


def angle(element: Turn, n: Array, y: Array, c: Any, known: Known, branches: Branches) -> Angle:
    """The coordinate for which n . R y = c."""
    u = element.axis
    along = (u @ n) * (u @ y)
    return _solved_turn(element, n @ y - along, n @ cross(u, y), c - along, known, branches)


def direction(element: Turn, y: Array, x: Array, known: Known) -> Angle:
    """The coordinate that turns y towards x, both seen along the axis."""
    u = element.axis
    along = (u @ x) * (u @ y)
    A, B = x @ y - along, u @ cross(y, x)
    over = 1.0 / np.sqrt(A * A + B * B)
    return Angle(A * over, B * over, element.sign * known.near[element.slot]) * element.sign


def shift(element: Slide, y: Array, x: Array) -> Any:
    """The coordinate that moves y to x, as far as it can."""
    return (element.axis @ (x - y)) * element.sign
