"""Limits of the motion of joints, by the coordinates of the model: positions and speeds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.shafts.actuators import UNLIMITED
from gyrostat.errors import StateError
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.joint import Joint


@dataclass(frozen=True)
class Limits:
    """Of the coordinates: positions and speeds (n,), ``UNLIMITED`` where there is none."""

    lower: Array
    upper: Array
    speed: Array

    @property
    def positions(self) -> bool:
        """Whether there are position limits at all."""
        return bool(np.any(self.lower > -UNLIMITED) or np.any(self.upper < UNLIMITED))


def motion_limits(net: Network, who: str) -> Limits:
    """Limits of all joints, also of those that follow others through gears: angle = factor x coordinate + offset."""
    n, moved = net.transmission.n, net.transmission
    lower, upper, speed = np.full(n, -UNLIMITED), np.full(n, UNLIMITED), np.full(n, UNLIMITED)
    for name, joint in net.model.wiring.entities.items():
        if not isinstance(joint, Joint) or len(joint.rates) != 1 or name not in moved.slices:
            continue
        rate = moved.slices[name][1].start
        shaft = moved.shaft(rate)
        low = -UNLIMITED if joint.lower is None else joint.lower
        high = UNLIMITED if joint.upper is None else joint.upper
        fast = UNLIMITED if joint.velocity_limit is None else joint.velocity_limit
        if (low, high, fast) == (-UNLIMITED, UNLIMITED, UNLIMITED):
            continue
        if not shaft.is_linear:
            raise StateError(
                f"{who}: '{name}' has limits, and follows by a curve: they are no limits of one coordinate. "
                "Hint: give limits to its driver"
            )
        if len(shaft.ties) != 1:
            raise StateError(
                f"{who}: '{name}' has limits, and follows {len(shaft.ties)} other joints. Hint: give limits to those"
            )
        ((k, factor),) = shaft.ties
        ends = sorted((x - shaft.offset) / factor if abs(x) < UNLIMITED else np.sign(x / factor) * UNLIMITED
                      for x in (low, high))  # fmt: skip
        lower[k], upper[k] = max(lower[k], ends[0]), min(upper[k], ends[1])
        speed[k] = min(speed[k], fast / abs(factor))
    empty = np.flatnonzero(lower > upper)
    if len(empty):
        k = int(empty[0])
        raise StateError(
            f"{who}: the limits of '{net.model.dofs[k]}' and of what follows it leave no room: {lower[k]:g} to "
            f"{upper[k]:g}. Hint: look at the limits of the joints that are coupled with it"
        )
    return Limits(lower, upper, speed)
