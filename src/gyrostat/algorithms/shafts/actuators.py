"""The side of the actuators [KV V]: which motor drives which rates, and what it can give.

Motor angles are a linear map of the coordinates, w = T v with constant T. Motor torques u act on the rates as T^T u; so
tau = H a + u' becomes H_a a + u'_a = u with H_a = T^-T H, u'_a = T^-T u' (42), (43). A joint without a motor is its own
actuator; a passive one is an actuator that gives nothing. The effort limit of a joint bounds its actuator, seen from
its shaft."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts.elements import curve
from gyrostat.engine.tracing.choose import maximum, minimum
from gyrostat.errors import StateError, nearest
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import ShaftComponent, Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.motor import Motor

UNLIMITED = 1e30
"""Stands for no limit, where a number is needed."""


@dataclass(frozen=True)
class Actuator:
    """A motor, a joint that is driven directly, or a passive rate (``passive``); ``ties``: its row of T; ``effort``:
    the effort limit of its joint, at the actuator's shaft."""

    name: str
    ties: Ties
    motor: ShaftComponent | None = None
    effort: float | None = None
    passive: bool = False

    def torques(self, w: Any) -> tuple[Any, Any]:
        """Least and greatest torque at the speed w. Beyond its ends a torque-speed curve is constant; above the speed
        where the voltage drives nothing any more, nothing is left in that direction."""
        if self.passive:
            return 0.0, 0.0
        limits = [] if self.effort is None else [self.effort]
        if self.motor is None:
            top: Any = min([UNLIMITED, *limits])
            return -top, top
        c = self.motor
        limits += [c["torque_limit"]] if c["torque_limit"] is not None else []
        if c["current_limit"] is not None:
            limits.append(c["torque_constant"] * c["current_limit"])
        top = min([UNLIMITED, *limits])
        if len(c["torque_speed"]):
            at = minimum(abs(w), c["torque_speed"][-1][0])
            top = minimum(top, maximum(curve(c["torque_speed"], maximum(at, c["torque_speed"][0][0])), 0.0))
        if c["voltage_limit"] is None:
            return -top, top
        slope = c["torque_constant"] / c["resistance"]
        ahead, behind = ((c["voltage_limit"] - s * c["torque_constant"] * w) * slope for s in (1.0, -1.0))
        return -minimum(top, maximum(behind, 0.0)), minimum(top, maximum(ahead, 0.0))

    @property
    def speed_limit(self) -> float:
        if self.motor is not None and self.motor["speed_limit"] is not None:
            return float(self.motor["speed_limit"])
        return UNLIMITED


def actuators(net: Network, who: str, passive: Sequence[str] = ()) -> tuple[Actuator, ...]:
    """One actuator for each rate of the model: motors, then the rates that no motor drives."""
    model = net.model
    if model.shafts.rotors:
        raise StateError(
            f"{who}: the rotor '{model.shafts.rotors[0]}' sits behind a spring: its motor does not drive the joint "
            "directly. Hint: ElasticInverseDynamics, or a model without stiffness"
        )
    for name in passive:
        if name not in model.dofs:
            raise StateError(f"{who}: there is no rate '{name}'. Hint: {nearest(str(name), model.dofs)}")
    motors = [c for c in net.transmission.elements if issubclass(c.kind, Motor)]
    for c in motors:
        if not c.shafts["shaft"].is_linear:
            raise StateError(
                f"{who}: the motor '{c.name}' drives its joint through a curve: its ratio depends on the state. "
                "Hint: put the motor at the driver of the curve, or ask for gs.rnea"
            )
    driven = [k for c in motors for k, _ in c.shafts["shaft"].ties]
    shared = {k for k in driven if driven.count(k) > 1} | {
        k for c in motors for k, _ in c.shafts["shaft"].ties if len(c.shafts["shaft"].ties) > 1
    }
    driving = [
        Actuator(
            c.name.removesuffix(".motor").removesuffix("_drive"),
            c.shafts["shaft"].ties,
            c,
            _effort(model, c.shafts["shaft"].ties, shared, who),
        )
        for c in motors
    ]
    for k, name in enumerate(model.dofs):
        if k in driven and name not in passive:
            continue
        if k in driven:
            raise StateError(f"{who}: '{name}' has a motor, so it is not passive. Hint: take it out of passive")
        joint = model.wiring.entities.get(name)
        free = name.startswith(f"{model.wiring.root}.")
        if isinstance(joint, Joint) and name not in passive:
            driving.append(Actuator(name, ((k, 1.0),), None, joint.effort_limit))
        else:
            driving.append(Actuator(name, ((k, 1.0),), passive=free or name in passive))
    T = motor_map(driving, model.nv)
    if T.shape[0] != T.shape[1] or np.linalg.matrix_rank(T) < len(T):
        names = ", ".join(a.name for a in driving if a.motor is not None)
        raise StateError(
            f"{who}: {len(driving)} actuators for {model.nv} rates do not determine each other (motors: {names}). "
            "Hint: as many independent motors as rates that they drive"
        )
    return tuple(driving)


def _effort(model: Model, ties: Ties, shared: Collection[int], who: str) -> float | None:
    """The effort limit of the joint that a motor drives, at the motor's shaft."""
    for k, factor in ties:
        joint = model.wiring.entities.get(model.dofs[k])
        if not isinstance(joint, Joint) or joint.effort_limit is None:
            continue
        if k in shared:
            raise StateError(
                f"{who}: '{model.dofs[k]}' has an effort limit, but several motors share their joints. "
                "Hint: give torque limits to the motors, and take effort_limit out"
            )
        return joint.effort_limit / abs(float(factor))
    return None


def motor_map(driving: Sequence[Actuator], n: int) -> Array:
    """T (actuators, n)."""
    T = np.zeros((len(driving), n))
    for i, actuator in enumerate(driving):
        for k, factor in actuator.ties:
            T[i, k] += float(factor)
    return T


def coupled(T: Array) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Groups (actuators, rates) of T (n, n) that have nothing to do with each other."""
    group = list(range(T.shape[1]))
    for row in T:
        joined = {group[k] for k in np.flatnonzero(row)}
        group = [min(joined) if g in joined else g for g in group]
    groups = []
    for g in sorted(set(group)):
        rates = tuple(k for k, other in enumerate(group) if other == g)
        groups.append((tuple(int(i) for i in np.flatnonzero(np.any(T[:, rates] != 0.0, axis=1))), rates))
    return groups
