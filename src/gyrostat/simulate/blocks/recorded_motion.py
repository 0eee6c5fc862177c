"""Trajectories at a recorded time: the formulas of ``simulate.trajectories`` without branches.

Pieces are chosen by ``where``, one for each seam. Before and after a motion that is neither held nor goes on the result
is NaN, which every kernel refuses; on plain numbers the trajectory itself raises.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.errors import RecordError
from gyrostat.simulate.trajectories.compose import Joined, Slower, Stacked
from gyrostat.simulate.trajectories.filtered_step import LATE, FilteredStep
from gyrostat.simulate.trajectories.fourier import Fourier
from gyrostat.simulate.trajectories.piecewise import Piecewise
from gyrostat.simulate.trajectories.smooth_step import SmoothStep
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray
PIECES = 256
"""Trajectories of more pieces are not recorded: every piece is code."""


def recorded_motion(motion: Trajectory, t: Any, order: int) -> Array:
    """(order + 1, n): q and its derivatives at the recorded time t."""
    for kind, formula in FORMULAS.items():
        if isinstance(motion, kind):
            return formula(motion, t, order)
    return motion.recorded(t, order)


def _bernstein(control: list[Array], x: Any, y: Any, h: Any, order: int) -> Array:
    """sum_i (D^k b)_i B_i^(d-k) d!/(d-k)! / h^k for k = 0 ... order; control[k] = D^k b (d + 1 - k, n)."""
    d = len(control) - 1
    bases: list[list[Any]] = [[1.0]]
    for _ in range(d):
        last = bases[-1]
        bases.append([y * a + x * b for a, b in zip([*last, 0.0], [0.0, *last], strict=True)])
    derivatives = []
    for k in range(order + 1):
        if k > d:
            derivatives.append(0.0 * control[0][0])
            continue
        scale = math.perm(d, k) / h**k
        derivatives.append(scale * sum(base * b for base, b in zip(bases[d - k], control[k], strict=True)))
    return np.array(derivatives)


def _limited(motion: Trajectory, t: Any, inside: Callable[[Any], Array]) -> Array:
    """What happens before 0 and after the duration."""
    if motion.outside == "continue":
        return inside(t)
    motion_inside = inside(minimum(maximum(t, 0.0), motion.duration))
    slack = 1e-12 * motion.duration
    beyond = (t < -slack) | (t > motion.duration + slack)
    if motion.outside == "error":
        return where(beyond, math.nan, motion_inside)
    return (
        np.concatenate([motion_inside[:1], where(beyond, 0.0, motion_inside[1:])])
        if len(motion_inside) > 1
        else motion_inside
    )


def _piecewise(motion: Piecewise, t: Any, order: int) -> Array:
    breaks = motion.breaks.tolist()
    if len(breaks) - 1 > PIECES:
        raise RecordError(
            f"a {motion.kind} of {len(breaks) - 1} pieces is too long to be recorded ({PIECES} at most). "
            "Hint: take fewer points, or run it uncompiled"
        )

    def inside(t: Any) -> Array:
        t = t % motion.duration if motion.outside == "continue" else t

        def chosen(values: Any) -> Any:
            result = values[-1]
            for value, end in zip(values[-2::-1], breaks[-2:0:-1], strict=True):
                result = where(t < end, value, result)
            return result

        start, end = chosen(breaks[:-1]), chosen(breaks[1:])
        h = chosen(np.diff(motion.breaks).tolist())
        control = [chosen(list(differences)) for differences in motion.differences]
        return _bernstein(control, (t - start) / h, (end - t) / h, h, order)

    return _limited(motion, t, inside)


def _smooth_step(motion: SmoothStep, t: Any, order: int) -> Array:
    half = motion.order + 1
    control = [np.concatenate([np.tile(motion.start, (half, 1)), np.tile(motion.end, (half, 1))])]
    for _ in range(2 * half - 1):
        control.append(np.diff(control[-1], axis=0))
    T = motion.duration
    return _limited(motion, t, lambda t: _bernstein(control, t / T, (T - t) / T, T, order))


def _fourier(motion: Fourier, t: Any, order: int) -> Array:
    derivatives = [1.0 * motion.offset, *(0.0 * motion.offset for _ in range(order))]
    for rate, a, b in zip(motion.rates.tolist(), motion.sine, motion.cosine, strict=True):
        s, c = np.sin(t * rate), np.cos(t * rate)
        for k in range(order + 1):
            of_sine, of_cosine = ((s, c), (c, -s), (-s, -c), (-c, s))[k % 4]
            derivatives[k] = derivatives[k] + rate**k * (of_sine * a + of_cosine * b)
    return np.array(derivatives)


def _filtered_step(motion: FilteredStep, t: Any, order: int) -> Array:
    """1 - F by its sum; F itself by subtraction, exact to rounding of the whole step."""
    T, lags = motion.time_constant, motion.lags
    x = minimum(maximum(t / T, 0.0), LATE)
    decay = np.exp(-x)
    term, left = decay, 0.0
    for k in range(1, lags + 1):
        left, term = left + term, term * x / k
    way = motion.end - motion.start
    derivatives = [motion.end - left * way]
    for k in range(1, order + 1):
        a = lags - k
        before, laguerre = 0.0, 1.0
        for j in range(k - 1):
            before, laguerre = laguerre, ((2 * j + 1 + a - x) * laguerre - (j + a) * before) / (j + 1)
        scale = math.factorial(k - 1) / math.factorial(lags - 1) / T**k
        derivatives.append(where(t < 0.0, 0.0, scale * x**a * decay * laguerre) * way)
    return np.array(derivatives)


def _joined(motion: Joined, t: Any, order: int) -> Array:
    seam = motion.first.duration
    one, two = recorded_motion(motion.first, t, order), recorded_motion(motion.second, t - seam, order)
    return where(t >= seam, two, one)


def _slower(motion: Slower, t: Any, order: int) -> Array:
    return recorded_motion(motion.path, t / motion.factor, order) / motion.factor ** np.arange(order + 1)[:, None]


def _stacked(motion: Stacked, t: Any, order: int) -> Array:
    return np.concatenate([recorded_motion(part, t, order) for part in motion.parts], axis=1)


FORMULAS: dict[type[Trajectory], Callable[[Any, Any, int], Array]] = {
    Piecewise: _piecewise,
    SmoothStep: _smooth_step,
    Fourier: _fourier,
    FilteredStep: _filtered_step,
    Joined: _joined,
    Slower: _slower,
    Stacked: _stacked,
}
