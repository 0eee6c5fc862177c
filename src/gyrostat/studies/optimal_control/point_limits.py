"""Bounds of the variables of a point from limits of joints and motors, and motor characteristics as conditions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts.actuators import UNLIMITED, Actuator, actuators
from gyrostat.configuration.limits import limits_of
from gyrostat.errors import GyrostatError, StateError
from gyrostat.studies.achievable.motion_limits import motion_limits
from gyrostat.studies.optimal_control.phase_space import PhaseSpace

Array = np.ndarray
SHORT = 2.0 * np.pi - 0.2
"""Greatest component [rad] of a rotation vector: charts hold for less than a full turn."""


def point_bounds(space: PhaseSpace) -> tuple[Array, Array]:
    """Lower and upper bounds (nw,)."""
    n = space.n
    low, high = np.full(space.nw, -np.inf), np.full(space.nw, np.inf)
    for block in space.model.layout.turning:
        low[block.angular], high[block.angular] = -SHORT / np.sqrt(3.0), SHORT / np.sqrt(3.0)
    limits = space.phase.limits
    if limits is None:
        return low, high
    given = limits if isinstance(limits, Mapping) else {}
    motion = motion_limits(space.net, space.who)
    at = space.model.layout
    tops = _constant_tops(space)
    if "q" in given:
        q_low, q_high = limits_of(space.model, given["q"], space.who)
        low[at.number_v], high[at.number_v] = q_low[at.number_q], q_high[at.number_q]
    elif len(motion.lower) >= n:
        numbers = np.asarray(at.number_v, dtype=int)
        low[numbers] = _plain(motion.lower[:n])[numbers]
        high[numbers] = _plain(motion.upper[:n])[numbers]
    v_low, v_high = (
        _pair(given["v"], n, space, "v") if "v" in given else (-_plain(motion.speed[:n]), _plain(motion.speed[:n]))
    )
    u_low, u_high = _pair(given["u"], space.m, space, "u") if "u" in given else (-tops, tops)
    low[n : 2 * n], high[n : 2 * n] = v_low, v_high
    low[2 * n :], high[2 * n :] = u_low, u_high
    return low, high


def _plain(x: Array) -> Array:
    return np.where(np.abs(x) >= UNLIMITED, np.copysign(np.inf, x), x)


def _pair(given: Any, size: int, space: PhaseSpace, what: str) -> tuple[Array, Array]:
    try:
        sides = given if isinstance(given, tuple) and len(given) == 2 else (-np.abs(np.asarray(given, float)), given)
        low, high = (np.broadcast_to(np.asarray(x, dtype=float), (size,)) for x in sides)
    except (TypeError, ValueError):
        raise GyrostatError(
            f"{space.who}: limits of {what} must be a magnitude or (low, high), numbers or ({size},)."
        ) from None
    if np.isnan(low).any() or np.isnan(high).any() or np.any(low > high):
        raise GyrostatError(f"{space.who}: limits of {what} leave no room, or are nan.")
    return low, high


def driving(space: PhaseSpace) -> dict[int, tuple[Actuator, float]]:
    """By driven rate: its actuator, and the turns of the actuator per turn of the rate."""
    if space.model.shafts.rotors or space.net.closures:
        return {}
    dofs = space.model.dofs
    passive = [dofs[k] for k in range(space.n) if k not in space.controls]
    root = f"{space.model.wiring.root}."
    try:
        every = actuators(space.net, space.who, [name for name in passive if not name.startswith(root)])
    except StateError:
        return {}
    found: dict[int, tuple[Actuator, float]] = {}
    for a in every:
        if a.passive or len(a.ties) != 1 or a.ties[0][0] not in space.controls:
            continue
        found[a.ties[0][0]] = a, float(a.ties[0][1])
    return found


def _constant_tops(space: PhaseSpace) -> Array:
    """Greatest efforts (m,) at rest, of joints where there are no motors."""
    tops = np.full(space.m, np.inf)
    for k, (a, factor) in driving(space).items():
        top = float(a.torques(0.0)[1])
        if top < UNLIMITED:
            tops[space.controls.index(k)] = top * abs(factor)
    return tops


def motor_conditions(space: PhaseSpace) -> Any:
    """Conditions of motors whose torque depends on their speed, as a function of the point; None if there are none."""
    if space.phase.limits != "model":
        return None
    bent = {k: pair for k, pair in driving(space).items() if _depends_on_speed(pair[0])}
    if not bent:
        return None

    def conditions(s: Any) -> dict[str, Any]:
        found = {}
        for k, (a, factor) in bent.items():
            low, high = a.torques(s.v[k] * factor)
            u = s.tau[k] / factor
            found[f"{a.name} drives"] = high - u
            found[f"{a.name} brakes"] = u - low
        return found

    return conditions


def _depends_on_speed(a: Actuator) -> bool:
    return a.motor is not None and (len(a.motor["torque_speed"]) > 0 or a.motor["voltage_limit"] is not None)
