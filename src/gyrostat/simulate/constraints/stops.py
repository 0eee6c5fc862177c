"""Joint limits as one-sided constraints: a joint bounces at its stop, rests there, or leaves it.

Rows g = q - limit of single joints: the lower stop keeps g >= 0, the upper one g <= 0. Joints that follow others have
rows of their own kind (:mod:`~gyrostat.simulate.constraints.follower_stops`). What happens when a joint meets its stop
is told in :mod:`~gyrostat.simulate.events.limit_reached`, the law of impact in
:mod:`~gyrostat.simulate.constraints.impacts`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.constrained.constraint import LOWER, UPPER, ConstraintRows, constraints, zero_bias
from gyrostat.configuration.limits import limits_of, own_range
from gyrostat.errors import GyrostatError, StateError, clipped, nearest
from gyrostat.simulate.constraints.follower_stops import FollowerStops
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"


@dataclass(frozen=True)
class JointLimits:
    """Joints stop, or bounce, at their limits ``lower`` and ``upper``.

    ``restitution`` e from 0 (default: no bounce) to 1, for all joints or by name. ``rest`` [rad/s, m/s]: rates below
    which a bounce is over."""

    restitution: float | Mapping[str, float] = 0.0
    rest: float = 1e-3

    def __post_init__(self) -> None:
        values = self.restitution.values() if isinstance(self.restitution, Mapping) else [self.restitution]
        if not all(isinstance(e, int | float) and 0.0 <= e <= 1.0 for e in values):
            raise GyrostatError(
                f"JointLimits: restitution must be from 0 to 1, got {clipped(self.restitution)}. Hint: 0 is no bounce"
            )

    def restitution_of(self, joint: str) -> float:
        """e of a joint."""
        given = self.restitution
        return float(given.get(joint, 0.0)) if isinstance(given, Mapping) else float(given)


@dataclass(frozen=True)
class JointEnd:
    """One end of the range of a joint: ``limit`` of coordinate i with rate j, on a side."""

    joint: str
    i: int
    j: int
    side: int
    limit: float


@constraints.row(JointLimits)
def stop_rows(limits: JointLimits, model: Model) -> ConstraintRows:
    """One row for each finite limit of a joint with one coordinate, and of one that follows others unless the limits of
    those imply it."""
    low, high = limits_of(model, "model", WHO)
    stops, followers = _stops(model, low, high), FollowerStops(model, low, high)
    joints = [stop.joint for stop in (*stops, *followers.ends)]
    _expect_joints(limits, joints)
    coordinates = np.array([stop.i for stop in stops], dtype=int)
    at = np.array([stop.limit for stop in (*stops, *followers.ends)])
    own = np.eye(model.nv)[[stop.j for stop in stops]]

    def reached(q: Array) -> Array:
        if not followers.ends:
            return q[..., coordinates]
        return np.concatenate([q[..., coordinates], followers.coordinates(q)], axis=-1)

    def jacobian(q: Array) -> Array:
        return np.concatenate([own, followers.jacobian(q)])

    return ConstraintRows(
        names=tuple(joints),
        residual=lambda q: reached(q) - at,
        jacobian=jacobian(np.zeros(model.nq)) if followers.constant else jacobian,
        side=np.array([stop.side for stop in (*stops, *followers.ends)], dtype=int),
        bias=zero_bias if followers.constant else lambda q, v: [*np.zeros(len(stops)), *followers.bias(q, v)],
        restitution=np.array([limits.restitution_of(joint) for joint in joints]),
        rest=limits.rest,
        size=1.0 + np.abs(at),
        refusal=lambda q, row: _refusal(model, joints[row], float(reached(q)[row])),
    )


def _stops(model: Model, low: Array, high: Array) -> list[JointEnd]:
    stops: list[JointEnd] = []
    for block in model.layout:
        if block.nq == 1:
            i, j = block.q.start, block.v.start
            ends = ((LOWER, float(low[i])), (UPPER, float(high[i])))
            stops += [JointEnd(block.entity, i, j, side, limit) for side, limit in ends if np.isfinite(limit)]
    return stops


def single_stops(model: Model, limits: JointLimits) -> tuple[list[JointEnd], Array, Array]:
    """Ends of the joints with one coordinate, and the limits (nq,) of all coordinates; names of joints are checked."""
    low, high = limits_of(model, "model", WHO)
    stops = _stops(model, low, high)
    _expect_joints(limits, [stop.joint for stop in (*stops, *FollowerStops(model, low, high).ends)])
    return stops, low, high


def _expect_joints(limits: JointLimits, names: list[str]) -> None:
    for name in limits.restitution if isinstance(limits.restitution, Mapping) else ():
        if name not in names:
            known = list(dict.fromkeys(names))
            raise StateError(f"{WHO}: '{name}' is no joint with limits. Hint: {nearest(str(name), known)}")


def _refusal(model: Model, joint: str, y: float) -> str:
    low, high = own_range(model.wiring.entities[joint])
    return (
        f"q0 of '{joint}' is {y:g}, beyond its limits {low:g} to {high:g}. Hint: start inside, or leave JointLimits out"
    )
