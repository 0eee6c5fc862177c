"""Equations of loops that points close: two of them coincide, or are at the distance of a rod. Only points are followed
along the two ways to them, which begin at any frame of the loop, and how the frames at the ends are turned does not
matter: this takes fewer operations than :func:`~gyrostat.graph.loops.closure.closure_rows`.

With p from the end of one way to that of the other and u = dp/dt,

    points coincide    u = 0,        du/dt = 0
    rod                p . u = 0,    p . du/dt + u . u = 0

so that rows of J are velocities for unit rates, and the bias is the acceleration at constant rates. A rod is seen from
the frame before its unknown joint, a point from the body where the ways part."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.geometry.rotation import about_axis
from gyrostat.graph.loops.closure import ClosureRows
from gyrostat.graph.loops.elementary import Coordinates, Element, Rigid, Turn, Whole
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
    unit: dict[int, tuple[Array, Array, Array]] = {}  # spin, where it is, velocity there, for unit rates

    def passed(d: Array, pace: Array = ZERO, change: Array = ZERO) -> None:
        """A piece d of the way, which grows with ``pace`` and its ``change``."""
        nonlocal p, v, a
        p = p + d
        if rates is not None:
            across = cross(w, d)
            v = v + across + pace
            a = a + cross(dw, d) + cross(w, across + pace * 2.0) + change

    for element in sequence:
        if isinstance(element, Rigid):
            near = compose(*near, element.R, element.p)
            continue
        passed(R @ near[1])
        spin, change = ZERO, ZERO
        if isinstance(element, Whole):
            slot, met = element.component.q_at.start, element.motion(x, rates)
            R, d = R @ (near[0] @ met.R), R @ (near[0] @ met.p)
            S = [(R @ s[:3], R @ s[3:]) for s in met.S.T]
            pace = ZERO
            if rates is not None:
                for k, (turn, shift) in enumerate(S):
                    spin, pace = spin + turn * rates(slot + k), pace + shift * rates(slot + k)
            passed(d, pace, R @ met.c[3:] + cross(spin, pace))
            unit |= {slot + k: (turn, p, shift) for k, (turn, shift) in enumerate(S)}
            change = R @ met.c[:3]
        else:
            axis = R @ (near[0] @ element.axis) * element.sign
            moved = axis * rates(element.slot) if rates is not None else ZERO
            if isinstance(element, Turn):
                R = R @ (near[0] @ about_axis(element.axis, x(element.slot) * element.sign))
                unit[element.slot] = axis, p, ZERO
                spin = moved
            else:
                R = R @ near[0]
                passed(axis * x(element.slot), moved)
                unit[element.slot] = ZERO, p, axis
        dw, w = dw + cross(w, spin) + change, w + spin
        near = ONE, ZERO
    passed(R @ near[1])
    return PointMotion(p, v, a, {slot: cross(turn, p - at) + shift for slot, (turn, at, shift) in unit.items()})


def position_rows(
    out: PointMotion, back: PointMotion, numbers: dict[int, int], unknown: Sequence[int]
) -> ClosureRows | None:
    """Equations out - back = 0 of a point that closes a loop: those that ``unknown`` rates (their numbers) enter, two
    of a plane loop; None if there are not just as many."""
    J: dict[int, Array] = {}
    for sign, S in ((1.0, out.S), (-1.0, back.S)):
        for slot, s in S.items():
            J[numbers[slot]] = J[numbers[slot]] + s * sign if numbers[slot] in J else s * sign
    rows = [i for i in range(3) if any(not _is_zero(J[k][i]) for k in unknown)]
    if len(rows) != len(unknown):
        return None
    p, a = out.p - back.p, out.a - back.a
    return ClosureRows(p[rows], {k: column[rows] for k, column in J.items()}, a[rows])


def _is_zero(x: Any) -> bool:
    return isinstance(x, float) and x == 0.0


def rod_rows(out: PointMotion, back: PointMotion, numbers: dict[int, int]) -> ClosureRows:
    """g, J, bias of the rod between the ends of two ways; ``numbers``: of rates by slot."""
    p, u = out.p - back.p, out.v - back.v
    J: dict[int, Array] = {}
    for sign, S in ((1.0, out.S), (-1.0, back.S)):
        for slot, s in S.items():
            entry = np.array([(p @ s) * sign])
            J[numbers[slot]] = J[numbers[slot]] + entry if numbers[slot] in J else entry
    return ClosureRows(np.array([p @ p]), J, np.array([u @ u + p @ (out.a - back.a)]))
