"""Turns and slides: a way round a loop as a sequence of the simplest motions, of which some are unknown.

A universal joint is two turns, a planar one two slides and a turn. From both ends of an unknown one, the rest of the
loop is a placement; closed forms are made of the points and directions that these placements give."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.geometry.rotation import about_axis
from gyrostat.graph.data_flow import Component
from gyrostat.graph.loops.ways import Way, joint_motion
from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import Array, compose, cross, inverse
from gyrostat.spatial.joints import JointMotion
from gyrostat.spec.joint import Joint

IDENTITY: Placement = (np.eye(3), np.zeros(3))
Coordinates = Callable[[int], Any]
"""The coordinate at a place among all that components see."""


@dataclass(frozen=True)
class Rigid:
    """A placement that does not change."""

    R: Array
    p: Array

    def at(self, x: Coordinates) -> Placement:
        return self.R, self.p


@dataclass(frozen=True)
class Turn:
    """By ``sign`` times the coordinate at ``slot``, about the unit vector ``axis``."""

    axis: Array
    sign: float
    slot: int

    def at(self, x: Coordinates) -> Placement:
        return about_axis(self.axis, x(self.slot) * self.sign), np.zeros(3)


@dataclass(frozen=True)
class Slide:
    """By ``sign`` times the coordinate at ``slot``, along the unit vector ``axis``."""

    axis: Array
    sign: float
    slot: int

    def at(self, x: Coordinates) -> Placement:
        return np.eye(3), self.axis * (x(self.slot) * self.sign)


@dataclass(frozen=True)
class Whole:
    """A joint, or a flexible body up to its frame ``port``, whose coordinates are all known."""

    component: Component
    port: str

    def at(self, x: Coordinates) -> Placement:
        met = self.motion(x, None)
        return met.R, met.p

    def motion(self, x: Coordinates, rates: Coordinates | None) -> JointMotion:
        """``rates``: by slot, counted from that of the first coordinate; without them at rest."""
        c = self.component
        start, count = c.q_at.start, c.v_at.stop - c.v_at.start
        v = np.zeros(count) if rates is None else _row([rates(start + k) for k in range(count)])
        return joint_motion(c, _row([x(k) for k in range(start, c.q_at.stop)]), v, self.port)


def _row(values: list[Any]) -> Array:
    row = np.empty(len(values), dtype=float if all(isinstance(value, float) for value in values) else object)
    row[:] = values
    return row


Element = Rigid | Turn | Slide | Whole


def elements(way: Way) -> list[Element]:
    """A way as rigid placements, turns and slides, outwards."""
    sequence: list[Element] = []
    for c, port in way.steps:
        sequence += [Rigid(*c.places[port])] if port in c.places else list(_of_joint(c, port))
    return [*sequence, Rigid(*way.place)]


def _of_joint(c: Component, port: str) -> Iterator[Element]:
    if not issubclass(c.kind, Joint) or c["kind"] in ("spherical", "free", "helical"):
        yield Whole(c, port)
        return
    if "before" in c.props:
        yield Rigid(*c["before"])
    at = c.q_at.start
    parts: list[Element] = []
    if c["kind"] in ("revolute", "continuous"):
        parts = [Turn(c["axis"], 1.0, at)]
    elif c["kind"] == "prismatic":
        parts = [Slide(c["axis"], 1.0, at)]
    elif c["kind"] == "cylindrical":
        parts = [Turn(c["axis"], 1.0, at), Slide(c["axis"], 1.0, at + 1)]
    elif c["kind"] == "universal":
        parts = [Turn(c["axis"], 1.0, at), Turn(c["second_axis"], 1.0, at + 1)]
    elif c["kind"] == "planar":
        n, e = c["axis"], c["second_axis"]
        parts = [Slide(e, 1.0, at), Slide(cross(n, e), 1.0, at + 1), Turn(n, 1.0, at + 2)]
    if c["far"]:
        parts = [type(part)(part.axis, -1.0, part.slot) for part in reversed(parts)]  # type: ignore[union-attr]
    yield from parts


def placement(sequence: Sequence[Element], x: Coordinates) -> Placement:
    """Of the last frame in the first one."""
    total = IDENTITY
    for element in sequence:
        total = compose(*total, *element.at(x))
    return total


def back(place: Placement) -> Placement:
    return inverse(*place)


def point(place: Placement, r: Array) -> Array:
    """A point that is known in the far frame, in the near one."""
    R, p = place
    return p + R @ r
