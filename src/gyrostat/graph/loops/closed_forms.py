"""Loops that are solved explicitly: which unknown follows from which equation (H04 3.2.3.2, Woernle).

Every form is a sequence of elementary solutions (:mod:`~gyrostat.graph.loops.solutions`). If an equation has no
solution, the root of a negative number is NaN, which the solvers refuse and explain by the name of the loop."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.graph.loops.closure import ClosureRows
from gyrostat.graph.loops.elementary import (
    Coordinates,
    Rigid,
    Slide,
    Turn,
    Whole,
    back,
    placement,
)
from gyrostat.graph.loops.point_rows import point_at_end, rod_rows
from gyrostat.graph.loops.rings import Ring
from gyrostat.graph.loops.solutions import Branches, Known, Unknown, angle, direction, distance, shift
from gyrostat.graph.loops.ways import Closure
from gyrostat.spatial.algebra import Array, compose, cross

ORIGIN = np.zeros(3)


class Form(ABC):
    """A closed form of a ring."""

    name: str

    @abstractmethod
    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        """The coordinates by slot."""

    def rows(self, x: Coordinates, rate: Coordinates | None, branches: Branches) -> ClosureRows | None:
        """Equations for the rates in a cheaper form than those of the closure, if there is one; ``x``, ``rate``: by
        place, without rates at rest; ``branches``: those of the solution."""
        return None


@dataclass(frozen=True)
class RodForm(Form):
    """One unknown, and two points at a distance: (3.58)."""

    ring: Ring
    at: tuple[int, int]
    name = "rod"

    def solve(self, known: Known, branches: Branches) -> dict[int, Any]:
        element, ways = self.ring.element(self.at), self.ring.ways_from(self.at)
        if ways is None:
            y, x = self.ring.behind(self.at, known.x)[1], self.ring.across(self.at, known.x)[1]
        else:
            y, x = point_at_end(ways[0][1:], known.x).p, point_at_end(ways[1], known.x).p
        length = self.ring.closure.props["length"]
        return {element.slot: distance(element, x, y, length * length, known, branches)}

    def rows(self, x: Coordinates, rate: Coordinates | None, branches: Branches) -> ClosureRows | None:
        ways, element = self.ring.ways_from(self.at), self.ring.element(self.at)
        if ways is None:
            return None
        numbers = self.ring.numbers
        rates = None if rate is None else lambda slot: rate(numbers[slot])
        rows = rod_rows(point_at_end(ways[0], x, rates), point_at_end(ways[1], x, rates), numbers)
        rows.J[numbers[element.slot]] = np.array([branches.roots[0] * element.sign])  # the same, and known earlier
        return rows


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

    def rows(self, x: Coordinates, rate: Coordinates | None, branches: Branches) -> ClosureRows | None:
        return self.ring.point_rows(x, rate)

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

    def rows(self, x: Coordinates, rate: Coordinates | None, branches: Branches) -> ClosureRows | None:
        if any(isinstance(element, Whole) for way in self.ring.ways for element in way):
            return None  # a platform that turns in space: the axes of the closing frame are as cheap
        return self.ring.point_rows(x, rate, self.pair[0])

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
