"""By how much a programme must be slowed down so that its path is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts.actuators import Actuator, motor_map
from gyrostat.errors import GyrostatError, StateError
from gyrostat.solvers.dynamics.actuator_dynamics import ActuatorDynamics
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model
from gyrostat.studies.achievable.motion_limits import Limits

WHO = "AchievableMotion.slow_down"
STEP, CLOSE = 1.03, 1e-9
"""From factor to factor in the search; and how closely the factor is found then."""


def slow_down(
    model: Model,
    actuators: Sequence[Actuator],
    limits: Limits,
    path: Array,
    dt: float,
    wrenches: Any = None,
    most: float = 1e4,
    mode: str = "auto",
) -> float:
    """The factor s >= 1 with which the programme (N + 1, n), in cycles of s dt, is within all torque and speed limits.

    Torques are C + B/s + A/s^2, so what is too much at one factor may be possible at a smaller *and* at a greater one.
    Factors are tried from 1 upwards in steps of 3 %, and the first that will do is made as small as possible by
    bisection, to 1e-9: the result is within the limits and anything just below it is not."""
    if not isinstance(most, float | int) or not 1.0 <= most < np.inf:
        raise GyrostatError(f"{WHO}: most must be a factor of 1 or more, got {most!r}. Hint: most=100")
    passive = [a.name for a in actuators if a.passive]
    if passive:
        raise StateError(f"{WHO}: '{passive[0]}' is passive: it keeps no path at any speed. Hint: a model with drives")
    beyond = np.maximum(path - limits.upper, limits.lower - path).max(axis=0)
    if np.any(beyond > 1e-9):
        name = model.dofs[int(np.argmax(beyond))]
        raise StateError(
            f"{WHO}: the programme of '{name}' leaves its position limits by {beyond.max():g}. "
            "Hint: no speed helps against that"
        )
    v = np.diff(path, axis=0) / dt
    a, T, solver = np.diff(v, axis=0) / dt, motor_map(actuators, model.nv), ActuatorDynamics(model, mode=mode)

    def excess(s: float) -> Array:
        """By how much each limit is passed, in parts of it (or in N m where it is zero): torques, motors' and joints'
        speeds."""
        u, w = solver.torques(path[:-2], v[:-1] / s, a / s**2, wrenches), (v / s) @ T.T
        over = []
        for k, actuator in enumerate(actuators):
            low, high = actuator.torques(w[:-1, k])
            size = np.maximum(np.abs(high), np.finfo(float).tiny)
            over.append(np.max(np.maximum(u[:, k] - high, low - u[:, k]) / np.where(size < 1e-12, 1.0, size)))
        over += [np.max(np.abs(w[:, k])) / x.speed_limit - 1.0 for k, x in enumerate(actuators)]
        return np.array([*over, *(np.max(np.abs(v) / s, axis=0) / limits.speed - 1.0)])

    low, high = 1.0, 1.0
    while np.any(excess(high) > 0.0):
        low, high = high, high * STEP
        if low >= most:
            worst = int(np.argmax(excess(low)))
            names = [*(f"the torque of '{x.name}'" for x in actuators), *(f"the motor '{x.name}'" for x in actuators)]
            names += [f"the joint '{name}'" for name in model.dofs]
            raise StateError(
                f"{WHO}: even {low:.4g} times slower {names[worst]} exceeds its limit. "
                "Hint: its weight, friction or external wrench alone is too much for it"
            )
        high = min(high, most) if low < most else high
    while high - low > CLOSE * high:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if np.any(excess(middle) > 0.0) else (low, middle)
    return high
