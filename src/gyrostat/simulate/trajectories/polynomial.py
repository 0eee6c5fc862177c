"""Polynomials between points: at rest or not at their ends, of any degree; Bezier curves; standing still."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, SpecError
from gyrostat.simulate.trajectories.given import finite_array, increasing, point, positive, rows, whole
from gyrostat.simulate.trajectories.piecewise import Piecewise, between
from gyrostat.simulate.trajectories.smooth_step import SmoothStep
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray

HIGHEST = 32
"""Largest order of conditions at an end; the degree is then 65."""


def point_to_point(
    start: Any,
    end: Any,
    duration: Any,
    order: int = 2,
    start_derivatives: Any = None,
    end_derivatives: Any = None,
    names: Any = None,
) -> Trajectory:
    """From q = ``start`` to ``end`` (n,) in ``duration`` [s]; derivatives 1 to ``order`` at the ends are given.

    ``start_derivatives``, ``end_derivatives`` (order, n): zero when not given. The polynomial has degree 2 order + 1
    (order 2: quintic). From rest to rest it is held outside, with ``smoothness`` = order; otherwise times outside are
    errors.
    """
    who = "point_to_point"
    order = whole(order, who, "order", 0, HIGHEST)
    first = point(start, who, "start")
    last = point(end, who, "end", len(first))
    left = _table(first, start_derivatives, order, f"{who}: start_derivatives")
    right = _table(last, end_derivatives, order, f"{who}: end_derivatives")
    length = positive(duration, who, "duration")
    if not left[1:].any() and not right[1:].any():
        return SmoothStep(first, last, length, order, names)
    breaks = np.array([0.0, length])
    return Piecewise(who, breaks, between(breaks, np.stack([left, right])), order, "error", names)


def quintic(start: Any, end: Any, duration: Any, **options: Any) -> Trajectory:
    """:func:`point_to_point` with velocity and acceleration at the ends, degree 5."""
    return point_to_point(start, end, duration, 2, **options)


def septic(start: Any, end: Any, duration: Any, **options: Any) -> Trajectory:
    """:func:`point_to_point` with velocity, acceleration and jerk at the ends, degree 7."""
    return point_to_point(start, end, duration, 3, **options)


def hermite(times: Any, derivatives: Any, names: Any = None) -> Trajectory:
    """Through points with given derivatives: ``derivatives`` (m, k + 1, n) at ``times`` (m,) [s], entry j of order j.

    Degree 2 k + 1 between the points, derivatives continuous up to order k. Held outside if all derivatives at both
    ends are zero.
    """
    who = "hermite"
    instants = increasing(times, who)
    table = finite_array(derivatives, who, "derivatives")
    if table.ndim != 3 or 0 in table.shape or len(table) != len(instants):
        raise ShapeError(
            f"{who}: derivatives has shape {table.shape}, expected ({len(instants)}, k + 1, n): instants, orders, "
            "coordinates"
        )
    order = whole(table.shape[1] - 1, who, "highest order", 0, HIGHEST)
    control = between(instants, table)
    still = not table[0, 1:].any() and not table[-1, 1:].any()
    return Piecewise(who, instants, control, order, "hold" if still else "error", names)


def bezier(control: Any, duration: Any, names: Any = None) -> Trajectory:
    """Bezier curve of the control points (d + 1, n), d up to 65, passed with uniform parameter in ``duration`` [s].

    It starts at the first point and ends at the last one. Times outside are errors.
    """
    who = "bezier"
    points = rows(control, who, "control")
    whole(len(points) - 1, who, "degree", 1, 2 * HIGHEST + 1)
    breaks = np.array([0.0, positive(duration, who, "duration")])
    return Piecewise(who, breaks, points[None], 0, "error", names)


def hold(q: Any, duration: Any, names: Any = None) -> Trajectory:
    """Standing still at q (n,) for ``duration`` [s]."""
    who = "hold"
    here = point(q, who, "q")
    breaks = np.array([0.0, positive(duration, who, "duration")])
    return Piecewise(who, breaks, here[None, None], 0, "hold", names)


def _table(first: Array, given: Any, order: int, who: str) -> Array:
    """(order + 1, n): the point, then its derivatives."""
    if given is None:
        return np.concatenate([first[None], np.zeros((order, len(first)))])
    table = np.atleast_2d(finite_array(given, who, "the table"))
    if order == 0 and table.size == 0:
        return first[None]
    if table.shape != (order, len(first)):
        message = f"has shape {table.shape}, expected ({order}, {len(first)}): orders 1 to {order}, one row each"
        raise SpecError.one(who, "derivatives", message, "leave it out for zeros, or give every order", given)
    return np.concatenate([first[None], table])
