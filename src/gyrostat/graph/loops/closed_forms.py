"""Loops that are solved explicitly: which unknown follows from which equation (H04 3.2.3.2, Woernle).

Every form is a sequence of three elementary solutions:

    distance   |x - R(q) y| = l         a turn:   A cos q + B sin q = C  (3.58);   a slide: a quadratic equation
    angle      n . R(q) y = c           a turn:   the same equation between directions
    direction  R(q) y = x               a turn:   cosine and sine by one division

Where an equation has two solutions, the branch is that of the reference configuration; if it has none, the root of a
negative number is NaN, which the solvers refuse and explain by the name of the loop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.graph.loops.angle import Angle
from gyrostat.graph.loops.elementary import (
    Coordinates,
    Element,
    Rigid,
    Slide,
    Turn,
    back,
    elements,
    placement,
)
from gyrostat.graph.loops.ways import Closure
from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import Array, compose, cross

Unknown = Turn | Slide
Short = Callable[[], float]
ORIGIN = np.zeros(3)


class Branches:
    """Signs of roots in the order in which a form asks for them: noted at the reference, then kept. ``margins`` of each
    root: what is under it, relative to its largest value; how much is missing to a solution, and in which unit."""

    def __init__(self, signs: Sequence[float] | None = None):
        self.signs, self._asked = signs, 0
        self.noted: list[float] = []
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
    over, root = 1.0 / square, np.sqrt(inside) * sign
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
    return (half + np.sqrt(inside) * sign) * element.sign


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


# ------------------------------------------------------------------------------------------------ rings
@dataclass(frozen=True)
class Ring:
    """A loop as two sequences of elements; ``unknown`` ones by way and place."""

    closure: Closure
    ways: tuple[tuple[Element, ...], tuple[Element, ...]]
    unknown: tuple[tuple[int, int], ...]

    @staticmethod
    def of(closure: Closure, slots: Sequence[int]) -> Ring:
        ways = tuple(elements(closure.ways[0])), tuple(elements(closure.ways[1]))
        unknown = tuple(
            (w, i)
            for w, way in enumerate(ways)
            for i, e in enumerate(way)
            if isinstance(e, Turn | Slide) and e.slot in slots
        )
        return Ring(closure, ways, unknown)

    def element(self, at: tuple[int, int]) -> Unknown:
        return self.ways[at[0]][at[1]]  # type: ignore[return-value]

    def behind(self, at: tuple[int, int], x: Coordinates) -> Placement:
        """The closing frame of its own way, seen from behind an element."""
        return placement(self.ways[at[0]][at[1] + 1 :], x)

    def across(self, at: tuple[int, int], x: Coordinates, until: int | None = None) -> Placement:
        """The closing frame of the other way, or the frame before its element ``until``, seen from before an
        element."""
        other = self.ways[1 - at[0]]
        return compose(*back(placement(self.ways[at[0]][: at[1]], x)), *placement(other[:until], x))


class Form:
    """A closed form of a ring; ``solve`` gives the coordinates by slot."""

    name: str

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        raise NotImplementedError


@dataclass(frozen=True)
class RodForm(Form):
    """One unknown, and two points at a distance: (3.58)."""

    ring: Ring
    at: tuple[int, int]
    name = "rod"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        element = self.ring.element(self.at)
        y, x = self.ring.behind(self.at, known.x)[1], self.ring.across(self.at, known.x)[1]
        length = self.ring.closure.props["length"]
        return {element.slot: distance(element, x, y, length * length, known, branches)}


@dataclass(frozen=True)
class AxesForm(Form):
    """One unknown turn, and two axes at an angle: a loop closed by a universal joint."""

    ring: Ring
    at: tuple[int, int]
    name = "axes at an angle"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        element, props = self.ring.element(self.at), self.ring.closure.props
        axes = (props["axis"], props["second_axis"]) if self.at[0] == 0 else (props["second_axis"], props["axis"])
        own, other = self.ring.behind(self.at, known.x)[0] @ axes[0], self.ring.across(self.at, known.x)[0] @ axes[1]
        return {element.slot: angle(element, other, own, axes[0] @ axes[1], known, branches)}  # type: ignore[arg-type]


@dataclass(frozen=True)
class TriangleForm(Form):
    """Two unknowns and the point that closes the loop: a triangle of which two sides are known, and the third by the
    rest of the loop. Planar four-bars, slider-cranks, cylinders on hinges, five-bars."""

    ring: Ring
    first: tuple[int, int]
    second: tuple[int, int]
    name = "triangle"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        one, two = self.ring.element(self.first), self.ring.element(self.second)
        if self.first[0] == self.second[0]:
            return self._one_way(one, two, known, branches)
        if isinstance(two, Slide):  # the turn is found last
            return TriangleForm(self.ring, self.second, self.first).solve(known, branches)
        y, y_two = (self.ring.behind(at, known.x)[1] for at in (self.first, self.second))
        x = self.ring.across(self.first, known.x, self.second[1])[1]
        q = distance(one, x, y, y_two @ y_two, known, branches)
        known = known.with_slot(one.slot, q)
        return {one.slot: q, two.slot: direction(two, y_two, self.ring.across(self.second, known.x)[1], known)}

    def _one_way(self, one: Unknown, two: Unknown, known: Known, branches: Branches) -> dict[int, Any]:
        """Both on one way, ``one`` nearer to the body where it begins."""
        way = self.ring.ways[self.first[0]]
        between = placement(way[self.first[1] + 1 : self.second[1]], known.x)
        y, target = self.ring.behind(self.second, known.x)[1], self.ring.across(self.first, known.x)[1]
        if isinstance(one, Turn):  # what it turns stays at its distance
            x = back(between)[1]
            q = distance(two, x, y, target @ target, known, branches)
        else:
            R, p = between
            across = cross(one.axis, R @ two.axis)  # in the plane, across the slide
            q = angle(two, R.T @ across, y, across @ (target - p), known, branches)  # type: ignore[arg-type]
        known = known.with_slot(two.slot, q)
        end = self.ring.behind(self.first, known.x)[1]
        last = direction(one, end, target, known) if isinstance(one, Turn) else shift(one, end, target)
        return {two.slot: q, one.slot: last}


def _pair(first: Turn, second: Turn, turned: Array, y: Array, x: Array, known: Known, branches: Branches) -> Any:
    """Two turns that bring a vector y to x, of the same length; ``turned``: R between their axes."""
    t2 = angle(second, turned.T @ first.axis, y, first.axis @ x, known, branches)
    R2, _ = second.at(lambda k: t2)
    return {second.slot: t2, first.slot: direction(first, turned @ (R2 @ y), x, known)}


@dataclass(frozen=True)
class LegForm(Form):
    """Three unknowns and the point that closes the loop: two turns whose axes meet, and one more that decides about the
    distance. Legs of a Stewart platform; rods with mass between a universal and a ball joint."""

    ring: Ring
    pair: tuple[tuple[int, int], tuple[int, int]]
    third: tuple[int, int]
    name = "leg"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        first, second, third = (self.ring.element(at) for at in (*self.pair, self.third))
        way = self.ring.ways[self.pair[0][0]]
        outward = self.third[0] == self.pair[0][0] and self.third[1] > self.pair[1][1]
        if outward:  # the leg's own length
            target = self.ring.across(self.pair[0], known.x)[1]
            before = placement(way[self.pair[1][1] + 1 : self.third[1]], known.x)
            y = self.ring.behind(self.third, known.x)[1]
            q = distance(third, back(before)[1], y, target @ target, known, branches)
            known = known.with_slot(third.slot, q)
            y = self.ring.behind(self.pair[1], known.x)[1]
        else:  # the distance between the leg's ends
            y = self.ring.behind(self.pair[1], known.x)[1]
            q = self._between(third, y @ y, known, branches)
            known = known.with_slot(third.slot, q)
            target = self.ring.across(self.pair[0], known.x)[1]
        turned, _ = placement(way[self.pair[0][1] + 1 : self.pair[1][1]], known.x)
        return {third.slot: q, **_pair(first, second, turned, y, target, known, branches)}  # type: ignore[arg-type]

    def _between(self, third: Unknown, square: Any, known: Known, branches: Branches) -> Any:
        """The unknown that decides about the distance from where the axes meet to the other closing frame."""
        w, i = self.third
        own = self.pair[0][0]
        ends = {own: self.ring.ways[own][: self.pair[0][1]], 1 - own: self.ring.ways[1 - own]}
        y = placement(ends[w][i + 1 :], known.x)[1]
        x = compose(*back(placement(ends[w][:i], known.x)), *placement(ends[1 - w], known.x))[1]
        return distance(third, x, y, square, known, branches)


@dataclass(frozen=True)
class AxisForm(Form):
    """Two turns that bring the axis of the closing hinge where it belongs: spherical linkages, Cardan joints."""

    ring: Ring
    pair: tuple[tuple[int, int], tuple[int, int]]
    name = "axis"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        first, second = (self.ring.element(at) for at in self.pair)
        axis, way = self.ring.closure.props["axis"], self.ring.ways[self.pair[0][0]]
        y = self.ring.behind(self.pair[1], known.x)[0] @ axis
        x = self.ring.across(self.pair[0], known.x)[0] @ axis
        turned, _ = placement(way[self.pair[0][1] + 1 : self.pair[1][1]], known.x)
        return _pair(first, second, turned, y, x, known, branches)  # type: ignore[arg-type]


@dataclass(frozen=True)
class ShiftsForm(Form):
    """Two slides that bring the two closing frames together: linear equations."""

    ring: Ring
    first: tuple[int, int]
    second: tuple[int, int]
    name = "two shifts"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        slides = [self.ring.element(at) for at in (self.first, self.second)]
        still = known.with_slot(slides[0].slot, 0.0).with_slot(slides[1].slot, 0.0)
        ends = [placement(way, still.x)[1] for way in self.ring.ways]
        r = ends[1] - ends[0]
        d = []
        for (w, i), slide in zip((self.first, self.second), slides, strict=True):
            R, _ = placement(self.ring.ways[w][:i], still.x)
            d.append((R @ slide.axis) * (slide.sign if w == 0 else -slide.sign))
        aa, ab, bb, ar, br = d[0] @ d[0], d[0] @ d[1], d[1] @ d[1], d[0] @ r, d[1] @ r
        over = 1.0 / (aa * bb - ab * ab)
        return {slides[0].slot: (ar * bb - br * ab) * over, slides[1].slot: (br * aa - ar * ab) * over}


POINT = ("spherical", "revolute", "continuous", "universal", "fixed")


def candidates(closure: Closure, slots: Sequence[int]) -> list[Form]:
    """Forms that may solve a loop for the coordinates at ``slots``; whether they do is tried on numbers."""
    ring = Ring.of(closure, slots)
    at, count = ring.unknown, len(ring.unknown)
    if count != len(slots):
        return []  # some of them belong to a joint that is no sequence of turns and slides
    turns = [place for place in at if isinstance(ring.element(place), Turn)]
    if count == 1 and closure.kind == "rod":
        return [RodForm(ring, at[0])]
    forms: list[Form] = []
    if count == 1 and closure.kind == "universal" and turns:
        forms.append(AxesForm(ring, at[0]))
    if count == 2 and closure.kind in POINT:
        forms.append(TriangleForm(ring, at[0], at[1]) if turns else ShiftsForm(ring, at[0], at[1]))
        if closure.kind in ("revolute", "continuous") and len(turns) == 2 and at[0][0] == at[1][0]:
            forms.append(AxisForm(ring, (at[0], at[1])))
    if count == 3 and closure.kind in POINT:
        forms += [
            LegForm(ring, (one, two), third)
            for one, two in _meeting_turns(ring, turns)
            for third in at
            if third not in (one, two) and not (third[0] == one[0] and one[1] < third[1] < two[1])
        ]
    return forms


def _is_zero(p: Array) -> bool:
    return all(isinstance(x, float) and x == 0.0 for x in p)


def _meeting_turns(ring: Ring, turns: Sequence[tuple[int, int]]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Pairs of turns, one behind the other, with nothing but rotations between them."""
    pairs = []
    for one in turns:
        for two in turns:
            if one[0] == two[0] and one[1] < two[1]:
                between = ring.ways[one[0]][one[1] + 1 : two[1]]
                if all(isinstance(e, Rigid) and _is_zero(e.p) for e in between):
                    pairs.append((one, two))
    return pairs
