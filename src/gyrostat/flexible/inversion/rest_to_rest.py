"""``gs.flexible.rest_to_rest``: a motion from rest to rest after which nothing vibrates.

To a smooth step from start to goal polynomials are added that vanish with their derivatives at both ends,

    y(t) = step(t) + sum_k c_k (4 x (1 - x))^p P_k(2 x - 1),    x = t / duration, P_k of Legendre, p = order + 1,

with the least c for which the vibrations of everything that no motor drives are at rest at the end. Where zeros are
unstable torques begin before the outputs move. The motion of links and springs and c are found
together, for the full equations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import StateError
from gyrostat.flexible.inversion.bumps import BumpedStep
from gyrostat.flexible.inversion.feed_forward import FlexibleInverse, growth_time, inverse_dynamics, start_near
from gyrostat.flexible.inversion.stable_inversion import Problem, rest_along, shaped
from gyrostat.flexible.inversion.undriven_equations import undriven_equations
from gyrostat.flexible.inversion.zero_dynamics import rest_of, zeros_at
from gyrostat.simulate.trajectories.given import point, positive, whole
from gyrostat.simulate.trajectories.piecewise import Piecewise
from gyrostat.spec.check import expect_model
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "flexible.rest_to_rest"
LEFT = 1e-5
"""Part of the largest deflection that may be left at the ends."""


class RestToRest(NamedTuple):
    """``motion`` of the outputs, a trajectory; ``torques`` and the motion of everything, as of
    :func:`gs.flexible.inverse_dynamics`; ``left``: the largest deviation of a deflection (and of its rate over the
    lowest frequency) from rest at the ends, as a part of the largest deflection."""

    motion: Piecewise
    torques: FlexibleInverse
    left: float


def rest_to_rest(
    model: Model,
    start: Any,
    goal: Any,
    duration: float,
    *,
    outputs: Any = None,
    q0: Any = None,
    order: int = 5,
    shapes: int | None = None,
    rtol: float = 1e-8,
    intervals: int = 3200,
) -> RestToRest:
    """Outputs from ``start`` to ``goal`` (p,) in ``duration`` [s], without any vibration at the end.

    ``outputs``, ``q0``, ``rtol``, ``intervals``: as of :func:`gs.flexible.inverse_dynamics`. ``order``: derivatives
    that vanish at the ends (springs of drives need 4 and more); ``shapes``: polynomials for each output, by default
    enough for all modes. Modes so fast that the motion does not reach them are left alone; what is left is told, and
    more than 1e-5 refused: the duration is then too short, or there are too few shapes."""
    expect_model(model, WHO)
    equations = undriven_equations(model, outputs)
    p = len(equations.names)
    first, last = point(start, WHO, "start", p), point(goal, WHO, "goal", p)
    T, order = positive(duration, WHO, "duration"), whole(order, WHO, "order", 2, 12)
    q_first = rest_of(equations, first, start_near(equations, q0, first))
    q_last = rest_along(equations, first, last, q_first)
    count = len(zeros_at(equations, first, q_first).values)
    each = int(np.ceil(1.5 * count / p)) + 2 if shapes is None else whole(shapes, WHO, "shapes", 1, 40)
    family = BumpedStep(first, last, T, order, each)
    zeros, then = zeros_at(equations, first, q_first), zeros_at(equations, last, q_last)
    begin, behind = -growth_time(zeros), growth_time(then)
    rests, seams = np.stack([q_first, q_last]), np.unique([begin, 0.0, T, T + behind])
    problem = Problem(equations, family.outputs, family.columns, p * each, rests, seams, T)
    motion = family.trajectory(shaped(problem), equations.names if outputs is None else None)
    torques = inverse_dynamics(model, motion, outputs=outputs, q0=q0, after=0.0, rtol=rtol, intervals=intervals)
    left = _left(torques, rests, equations.free)
    if left > LEFT:
        raise StateError(
            f"{WHO}: {left:.1e} of the largest deflection is left at the ends. Hint: a longer duration (lowest zero "
            f"{np.abs(torques.zeros.values).min(initial=np.inf):.3g} 1/s), or more shapes than {each}"
        )
    return RestToRest(motion, torques, left)


def _left(torques: FlexibleInverse, rests: Array, free: Array) -> float:
    """Deviations at the ends against the largest on the way."""
    way = np.clip(torques.t / torques.end, 0.0, 1.0)[:, None]
    away = np.abs(torques.q - rests[0] - way * (rests[1] - rests[0]))[:, free].max(initial=1e-300)
    slow = max(np.abs(torques.zeros.values).min(initial=np.inf), 1e-300)
    ends = [np.abs(torques.q[k] - rests[k])[free].max(initial=0.0) for k in (0, -1)]
    ends += [np.abs(torques.v[k])[free].max(initial=0.0) / slow for k in (0, -1)]
    return float(max(ends) / away)
