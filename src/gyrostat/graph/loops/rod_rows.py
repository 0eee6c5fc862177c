"""The equation of a rod as it is seen from the frame before its unknown joint, where it is cheapest: the ways to both
ends begin there, one through the unknown, the other backwards and round the loop.

With p from one end to the other and u = dp/dt,

    1/2 d|p|^2/dt = p . u = 0,    p . du/dt + u . u = 0,

so that J has entries p . du/dv, and the bias is u . u + p . (du/dt at constant rates). Only points are followed; how
the frames at the ends are turned does not matter to a rod."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.geometry.rotation import about_axis
from gyrostat.graph.loops.closure import ClosureRows
from gyrostat.graph.loops.elementary import Coordinates, Element, Rigid, Slide, Turn, Whole
from gyrostat.spatial.algebra import Array, compose, cross, inverse

Rates = Callable[[int], Any]
"""The rate that belongs to the coordinate at a slot."""
ONE, ZERO = np.eye(3), np.zeros(3)


class PointMotion(NamedTuple):
    """A point at the end of a way, in the axes of its beginning: place, velocity, acceleration at constant rates, and
    its velocities for unit rates by slot."""

    p: Array
    v: Array
    a: Array
    S: dict[int, Array]


def backwards(sequence: Sequence[Element]) -> list[Element] | None:
    """The way back; None if a joint in it is no sequence of turns and slides."""
    found: list[Element] = []
    for element in reversed(sequence):
        if isinstance(element, Whole):
            return None
        if isinstance(element, Rigid):
            found.append(Rigid(*inverse(element.R, element.p)))
        else:
            found.append(type(element)(element.axis, -element.sign, element.slot))
    return found


def point_at_end(sequence: Sequence[Element], x: Coordinates, rates: Rates | None = None) -> PointMotion:
    """How the end of a way moves; without ``rates`` at rest."""
    R, near = ONE, (ONE, ZERO)  # of the last joint; what is rigid behind it
    p = v = a = w = dw = ZERO
    turns: list[tuple[int, Array, Array]] = []
    S: dict[int, Array] = {}

    def passed(d: Array, pace: Array = ZERO) -> None:
        """A piece d of the way, which grows with ``pace``."""
        nonlocal p, v, a
        p = p + d
        if rates is not None:
            across = cross(w, d)
            v = v + across + pace
            a = a + cross(dw, d) + cross(w, across + pace * 2.0)

    for element in sequence:
        if isinstance(element, Rigid):
            near = compose(*near, element.R, element.p)
            continue
        assert isinstance(element, Turn | Slide)
        passed(R @ near[1])
        axis = R @ (near[0] @ element.axis) * element.sign
        moved = axis * rates(element.slot) if rates is not None else ZERO
        if isinstance(element, Turn):
            turns.append((element.slot, axis, p))
            R = R @ (near[0] @ about_axis(element.axis, x(element.slot) * element.sign))
            dw, w = dw + cross(w, moved), w + moved
        else:
            S[element.slot] = axis
            R = R @ near[0]
            passed(axis * x(element.slot), moved)
        near = ONE, ZERO
    passed(R @ near[1])
    return PointMotion(p, v, a, S | {slot: cross(axis, p - at) for slot, axis, at in turns})


def rod_rows(out: PointMotion, back: PointMotion, numbers: dict[int, int]) -> ClosureRows:
    """g, J, bias of the rod between the ends of two ways; ``numbers``: of rates by slot."""
    p, u = out.p - back.p, out.v - back.v
    J: dict[int, Array] = {}
    for sign, S in ((1.0, out.S), (-1.0, back.S)):
        for slot, s in S.items():
            entry = np.array([(p @ s) * sign])
            J[numbers[slot]] = J[numbers[slot]] + entry if numbers[slot] in J else entry
    return ClosureRows(np.array([p @ p]), J, np.array([u @ u + p @ (out.a - back.a)]))
