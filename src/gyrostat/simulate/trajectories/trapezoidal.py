"""Trapezoidal velocity: constant acceleration, constant speed, constant deceleration, all joints in step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.errors import SpecError
from gyrostat.simulate.trajectories.given import point, positive
from gyrostat.simulate.trajectories.piecewise import Piecewise
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray

NO_CRUISE = 1e-6
"""Share of the time below which there is no cruise: its length is the root of a difference, good to 1e-8."""


def trapezoidal(
    start: Any, end: Any, velocity: Any, acceleration: Any, duration: Any = None, names: Any = None
) -> Trajectory:
    """From rest at ``start`` to rest at ``end`` (n,) on a straight line in joint space, as fast as the limits allow.

    ``velocity`` [rad/s, m/s], ``acceleration`` [rad/s^2, m/s^2]: limits, one number or (n,). All joints start, cruise
    and stop at the same instants: q = start + s(t) (end - start), |s'| <= min v_i/|dq_i|, |s''| <= min a_i/|dq_i|.
    ``duration`` [s], if given, must not be shorter than the fastest; then the acceleration stays and the speed falls.
    Velocities are continuous, ``smoothness`` is 1; accelerations jump. Held outside.
    """
    who = "trapezoidal"
    first = point(start, who, "start")
    way = point(end, who, "end", len(first)) - first
    if not way.any():
        raise SpecError.one(who, "way", "start and end are equal", "use hold(q, duration) to stand still")
    v_max = _path_limit(velocity, way, who, "velocity")
    a_max = _path_limit(acceleration, way, who, "acceleration")
    fastest = 2.0 / math.sqrt(a_max) if v_max * v_max >= a_max else 1.0 / v_max + v_max / a_max
    total = fastest if duration is None else positive(duration, who, "duration")
    if total < fastest * (1.0 - 1e-12):
        message = f"duration {total:g} s is too short: the limits allow {fastest:.6g} s"
        raise SpecError.one(who, "duration", message, "leave it out for the fastest motion", duration)
    speed = 2.0 / (total + math.sqrt(max(total * total - 4.0 / a_max, 0.0)))  # of s: speed (total - ramp) = 1
    ramp = speed / a_max
    breaks = np.array([0.0, ramp, total - ramp, total])
    s = np.array([0.0, speed * ramp / 2.0, 1.0 - speed * ramp / 2.0, 1.0])
    rate = np.array([0.0, speed, speed, 0.0])
    if breaks[2] - breaks[1] <= NO_CRUISE * total:  # a triangle
        speed = 2.0 / total
        breaks, s, rate = np.array([0.0, total / 2.0, total]), np.array([0.0, 0.5, 1.0]), np.array([0.0, speed, 0.0])
    middle = s[:-1] + rate[:-1] * np.diff(breaks) / 2.0
    control = np.stack([s[:-1], middle, s[1:]], axis=1)[:, :, None] * way
    return Piecewise(who, breaks, control, 1, "hold", names, first)


def _path_limit(limit: Any, way: Array, who: str, what: str) -> float:
    """Limit of the path variable s from those of the joints."""
    single = np.ndim(limit) == 0
    limits = np.full(len(way), limit) if single else point(limit, who, what, len(way))
    limits = point(limits, who, what)
    if np.any(limits <= 0.0):
        raise SpecError.one(who, what, f"{what} limits must be above zero, got {limits.min():g}", "give magnitudes")
    moving = way != 0.0
    return float(np.min(limits[moving] / np.abs(way[moving])))
