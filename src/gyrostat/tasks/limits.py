"""What no task may break: limits of joints and of their rates. They hold for joints that follow others, too."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from gyrostat.configuration.limits import limits_of, own_range
from gyrostat.configuration.packing import names_of, rates, real_array
from gyrostat.errors import NonFiniteError, SpecError, StateError, clipped, nearest
from gyrostat.graph.network import Network
from gyrostat.spec.model import Model
from gyrostat.tasks.task import fraction

Array = np.ndarray
NEVER = 1e30
"""A bound that is none: everything in machine code is finite."""


@dataclass(frozen=True)
class JointLimits:
    """Coordinates stay inside ``limits``: "model" for those of the joints, or (lower, upper), each (nq,) or by name.

    A step takes at most the share ``gain`` of what is left to a limit, so that joints come to rest there; in
    :meth:`Stack.solve` all of it. A robot that is outside comes back, as fast as its rates allow."""

    limits: Any = "model"
    gain: float = 0.5

    def bounds(self, model: Model) -> tuple[Array, Array]:
        """(nq,), infinite where there is none."""
        fraction(self.gain, "JointLimits", "gain")
        if self.limits is None:
            message = "limits is None"
            raise SpecError.one("JointLimits", "limits", message, "leave JointLimits out of the stack's limits")
        return limits_of(model, self.limits, "JointLimits")


@dataclass(frozen=True)
class VelocityLimits:
    """|v| stays at or below ``limits``: "model" for those of the joints, or (nv,) [rad/s, m/s], inf for none, or by
    name."""

    limits: Any = "model"

    def bounds(self, model: Model) -> Array:
        """(nv,), infinite where there is none."""
        most = np.full(model.nv, np.inf)
        if isinstance(self.limits, str) and self.limits == "model":
            for block in model.layout:
                limit = getattr(model.wiring.entities[block.entity], "velocity_limit", None)
                if block.nv == 1 and limit is not None:
                    most[block.v] = limit
            return most
        if isinstance(self.limits, dict):
            for name, value in self.limits.items():
                if name not in model.dofs:
                    raise StateError(f"VelocityLimits: no rate '{name}'. Hint: {nearest(str(name), model.dofs)}")
                most[model.dofs.index(name)] = number_or_infinite(value)
        else:
            most = np.array(rates(model, self.limits, "VelocityLimits", "limits", "return"), dtype=float)
        if most.shape != (model.nv,) or np.isnan(most).any() or np.any(most < 0.0):
            message = f"limits must be numbers >= 0, got {clipped(self.limits)}"
            raise SpecError.one("VelocityLimits", "limits", message, "inf for a rate without", self.limits)
        return most


def number_or_infinite(value: Any) -> float:
    """One number; inf for no limit."""
    x = real_array(value, "VelocityLimits", "limits")
    return float(x) if x.ndim == 0 else np.nan


@dataclass(frozen=True)
class CollisionAvoidance:
    """Shapes stay at least ``distance`` [m] apart: what :func:`gyrostat.distances` finds between ``pairs``.

    ``pairs``: of bodies or shapes, by name; by default those that the robot can collide with itself and with what
    stands still (:func:`gyrostat.collision_pairs`). A step takes at most the share ``gain`` of what is left. Of
    shapes whose bounding spheres are more than ``within`` [m] apart, the spheres are kept apart: coal is not asked."""

    pairs: Any = None
    distance: float = 0.01
    gain: float = 0.5
    within: float = 0.3

    def expect_numbers(self) -> None:
        """Refuse what means nothing."""
        who = "CollisionAvoidance"
        fraction(self.gain, who, "gain")
        for what in ("distance", "within"):
            x = getattr(self, what)
            if isinstance(x, bool) or not isinstance(x, int | float) or not np.isfinite(x) or x < 0.0:
                raise NonFiniteError(f"{who}: {what} must be a number >= 0 [m], got {clipped(x)}")


# ------------------------------------------------------------------------------------------------ followers
class Follower(NamedTuple):
    """A joint that follows others and has limits: its places among all coordinates and rates, and its bounds."""

    name: str
    q_at: int
    v_at: int
    low: float
    high: float
    most: float


@dataclass(frozen=True)
class Box:
    """Bounds of the coordinates and rates of a model, and joints that follow by curves or several others."""

    low: Array
    high: Array
    most: Array
    gain: float
    followers: tuple[Follower, ...] = field(default=())


def box(net: Network, position: JointLimits | None, velocity: VelocityLimits | None) -> Box:
    """The bounds of a stack. Joints that follow one coordinate in a fixed ratio bound it."""
    model = net.model
    free = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    low, high = free if position is None else position.bounds(model)
    most = np.full(model.nv, np.inf) if velocity is None else velocity.bounds(model)
    found = Box(low.copy(), high.copy(), most.copy(), 1.0 if position is None else position.gain)
    own = position is not None and isinstance(position.limits, str)
    fast = velocity is not None and isinstance(velocity.limits, str)
    rest: list[Follower] = []
    for name, (q, v) in net.transmission.slices.items():
        if v.stop - v.start != 1 or v.start < model.nv or q.stop - q.start != 1:
            continue
        entity = model.wiring.entities[name]
        limits = own_range(entity) if own else (-np.inf, np.inf)
        limit = getattr(entity, "velocity_limit", None) if fast else None
        follower = Follower(name, q.start, v.start, *limits, np.inf if limit is None else float(limit))
        if np.isfinite([*follower[3:]]).any() and not _folded(net, found, follower):
            rest.append(follower)
    return replace(found, followers=tuple(rest))


def _folded(net: Network, bounds: Box, follower: Follower) -> bool:
    """Whether a follower's limits could be told as those of the one coordinate that it follows."""
    moved = net.transmission
    shaft = moved.shaft(follower.v_at)
    if moved.bends or len(shaft.ties) != 1 or not isinstance(shaft.ties[0][1], float) or shaft.ties[0][1] == 0.0:
        return False
    k, ratio = shaft.ties[0]
    at = net.model.layout.coordinate_of_rate[k]
    offset = float(shaft.angle(np.zeros(net.model.nq), moved.place))
    ends = sorted(((follower.low - offset) / ratio, (follower.high - offset) / ratio))
    bounds.low[at], bounds.high[at] = max(bounds.low[at], ends[0]), min(bounds.high[at], ends[1])
    bounds.most[k] = min(bounds.most[k], follower.most / abs(ratio))
    if bounds.low[at] > bounds.high[at]:
        message = (
            f"the limits of '{net.model.coordinates[at]}' and of '{follower.name}', which follows it, leave no room"
        )
        raise SpecError.one("JointLimits", "limits", message, "change them, or give limits of your own")
    return True


def named_pairs(pairs: Any, who: str) -> tuple[tuple[str, str], ...]:
    """Pairs of names."""
    if not isinstance(pairs, list | tuple):
        raise StateError(
            f"{who}: pairs must be a list of two names each, got {clipped(pairs)}. Hint: [('hand', 'box')]"
        )
    found = tuple(names_of(pair, who, "a pair") for pair in pairs)
    for pair in found:
        if len(pair) != 2:
            raise StateError(f"{who}: a pair names {len(pair)} things: {clipped(pair)}. Hint: two")
    return found  # type: ignore[return-value]
