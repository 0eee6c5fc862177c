"""The side of the actuators [KV V]: which motor drives which rates, and what it can give.

Motor angles are a linear map of the coordinates, w = T v. Motor torques u act on the rates as T^T u; so tau = H a + u'
becomes H_a a + u'_a = u with H_a = T^-T H, u'_a = T^-T u' (42), (43). A joint without a motor is its own actuator, with
its effort limit; a passive one is an actuator that gives nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts import curve
from gyrostat.engine.choose import maximum, minimum
from gyrostat.errors import StateError, nearest
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import ShaftComponent, Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spec.joint import Joint
from gyrostat.spec.motor import Motor

UNLIMITED = 1e30
"""Stands for no limit, where a number is needed."""


@dataclass(frozen=True)
class Actuator:
    """A motor, a joint that is driven directly, or a passive rate (``passive``); ``ties``: its row of T."""

    name: str
    ties: Ties
    motor: ShaftComponent | None = None
    effort: float | None = None
    speed: float | None = None
    passive: bool = False

    def torques(self, w: Any) -> tuple[Any, Any]:
        """Least and greatest torque at the speed w."""
        if self.passive:
            return 0.0, 0.0
        if self.motor is None:
            limit = UNLIMITED if self.effort is None else self.effort
            return -limit, limit
        c = self.motor
        limits = [c["torque_limit"]] if c["torque_limit"] is not None else []
        if c["current_limit"] is not None:
            limits.append(c["torque_constant"] * c["current_limit"])
        top: Any = min(limits) if limits else UNLIMITED
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
        return UNLIMITED if self.speed is None else self.speed


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
    found: list[Actuator] = []
    driven: set[int] = set()
    for c in net.transmission.elements:
        if issubclass(c.kind, Motor):
            ties = c.shafts["shaft"].ties
            found.append(Actuator(c.name.removesuffix(".motor").removesuffix("_drive"), ties, c))
            driven |= {k for k, _ in ties}
    for k, name in enumerate(model.dofs):
        if k in driven and name not in passive:
            continue
        if k in driven:
            raise StateError(f"{who}: '{name}' has a motor, so it is not passive. Hint: take it out of passive")
        joint = model.wiring.entities.get(name)
        free = name.startswith(f"{model.wiring.root}.")
        if isinstance(joint, Joint) and name not in passive:
            found.append(Actuator(name, ((k, 1.0),), None, joint.effort_limit, joint.velocity_limit))
        else:
            found.append(Actuator(name, ((k, 1.0),), passive=free or name in passive))
    T = motor_map(found, model.nv)
    if T.shape[0] != T.shape[1] or np.linalg.matrix_rank(T) < len(T):
        names = ", ".join(a.name for a in found if a.motor is not None)
        raise StateError(
            f"{who}: {len(found)} actuators for {model.nv} rates do not determine each other (motors: {names}). "
            "Hint: as many independent motors as rates that they drive"
        )
    return tuple(found)


def motor_map(found: Sequence[Actuator], n: int) -> Array:
    """T (actuators, n)."""
    T = np.zeros((len(found), n))
    for i, actuator in enumerate(found):
        for k, factor in actuator.ties:
            T[i, k] += float(factor)
    return T
