"""Everything that is limited along a path, as rows low <= A u + B x <= high at each point."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from gyrostat.algorithms.shafts.actuators import UNLIMITED, actuators, motor_map
from gyrostat.errors import SpecError, StateError, clipped, nearest
from gyrostat.graph.network import kept_network
from gyrostat.solvers.kinematics.frame_jacobian import Jacobian, JacobianRate
from gyrostat.solvers.machinery.solver_cache import cached_solver
from gyrostat.spec.model import Model
from gyrostat.studies.achievable.motion_limits import motion_limits
from gyrostat.studies.fastest_path.carried import Carried
from gyrostat.studies.fastest_path.stage_points import Points
from gyrostat.studies.fastest_path.torque_rows import (
    WHO,
    TorqueRows,
    expect_mapping,
    limits_array,
    one_number,
    sides,
)

Array = np.ndarray


@dataclass(frozen=True)
class SpeedLimit:
    """|along . v| <= most, of a joint or a motor; of a frame: |J v| <= most."""

    name: str
    most: float
    along: Array | None = None
    frame: str | None = None


@dataclass(frozen=True)
class Block:
    """Rows at P points: A, B, low, high (P, R)."""

    A: Array
    B: Array
    low: Array
    high: Array


class Rows:
    """``at(points)`` gives the rows of a motion; columns are named by ``names``."""

    def __init__(
        self,
        model: Model,
        torques: TorqueRows,
        speeds: Sequence[SpeedLimit],
        acceleration: tuple[Array, Array],
        carried: Sequence[Carried],
    ):
        self.model, self.torques, self.speeds, self.carried = model, torques, tuple(speeds), tuple(carried)
        low, high = acceleration
        self.accelerated = np.flatnonzero((low > -np.inf) | (high < np.inf))
        self.acceleration = low[self.accelerated], high[self.accelerated]
        self.names = [*torques.names, *(["speed"] if self.speeds else [])]
        self.names += [f"acceleration of {model.dofs[k]}" for k in self.accelerated]
        self.names += [f"{c.name}: {what}" for c in self.carried for what in c.words]
        self._linear: WeakKeyDictionary[Points, Block] = WeakKeyDictionary()
        if not self.names:
            raise StateError(f"{WHO}: nothing is limited: '{model.name}' has no limits. Hint: give torque_limits=...")

    @property
    def curved(self) -> bool:
        """Whether rows must be taken as tangents, in passes."""
        return self.torques.curved

    # ------------------------------------------------------------------ parts
    def speed_shares(self, at: Points) -> Array:
        """(P, speeds): (|speed| / limit)^2 per x."""
        along = np.array([s.along if s.along is not None else np.zeros(self.model.nv) for s in self.speeds])
        most = np.array([s.most for s in self.speeds])
        shares = ((at.q1 @ along.T) / most) ** 2
        for k, limit in enumerate(self.speeds):
            if limit.frame is not None:
                J = cached_solver(self.model, Jacobian, frame=limit.frame, expressed_in="aligned")(at.q)[:, 3:]
                shares[:, k] = ((J @ at.q1[:, :, None])[:, :, 0] ** 2).sum(axis=1) / limit.most**2
        return shares

    def _others(self, at: Points) -> Block:
        """Rows that are linear in u and x: the same in every pass."""
        known = self._linear.get(at)
        if known is None:
            known = self._linear[at] = self._linear_rows(at)
        return known

    def _linear_rows(self, at: Points) -> Block:
        P = len(at.q)
        blocks: list[tuple[Array, Array, Array, Array]] = []
        if self.speeds:
            share = self.speed_shares(at).max(axis=1, keepdims=True)
            blocks.append((np.zeros((P, 1)), share, np.full((P, 1), -np.inf), np.ones((P, 1))))
        if len(self.accelerated):
            low, high = (np.broadcast_to(x, (P, len(self.accelerated))) for x in self.acceleration)
            blocks.append((at.q1[:, self.accelerated], at.q2[:, self.accelerated], low, high))
        for item in self.carried:
            J = cached_solver(self.model, Jacobian, frame=item.frame, expressed_in="local")(at.q)
            rate = cached_solver(self.model, JacobianRate, frame=item.frame, expressed_in="local")(at.q, at.q1)
            V, Au = J @ at.q1[:, :, None], J @ at.q1[:, :, None]
            Ax = J @ at.q2[:, :, None] + rate @ at.q1[:, :, None]
            blocks.append(item.rows(self.model, at.q, V[:, :, 0], Au[:, :, 0], Ax[:, :, 0]))
        if not blocks:
            none = np.zeros((P, 0))
            return Block(none, none, none, none)
        return Block(*(np.concatenate(part, axis=1) for part in zip(*blocks, strict=True)))

    # ------------------------------------------------------------------ the whole
    def first(self, at: Points) -> tuple[Block, Array]:
        """Rows without friction and with limits at standstill; and A of the torques."""
        t = self.torques
        A, B, C = t.affine(at.q, at.q1, at.q2)
        low, high = (np.array(side) for side in (t.at_rest[:, 0], t.at_rest[:, 1]))
        parts = [A, B, low - C, high - C]
        if t.varying:
            v = t.varying
            parts = [np.concatenate([x, x[:, v], x[:, v]], axis=1) for x in parts]
        return self._joined(Block(*parts), at), A

    def tangent(self, at: Points, A: Array, x: Array, u: Array, least: float) -> Block:
        """Rows as tangents at a motion x, u (P,)."""
        return self._joined(Block(*self.torques.tangents(at.q, at.q1, at.q2, A, x, u, least)), at)

    def _joined(self, torques: Block, at: Points) -> Block:
        others = self._others(at)
        pairs = zip(vars(torques).values(), vars(others).values(), strict=True)
        return Block(*(np.ascontiguousarray(np.concatenate(pair, axis=1)) for pair in pairs))

    def excess(self, at: Points, x: Array, u: Array, least: float) -> tuple[Array, Array]:
        """By how much the whole model exceeds its limits (P, columns): below, above; negative where there is room."""
        y, low, high, _ = self.torques.exact(at.q, at.q1, at.q2, x, u, least)
        v = self.torques.varying
        below, above = low - y, y - high
        if v:  # one column for each side of those that vary
            none, apart = np.full((len(x), len(v)), -np.inf), np.isin(np.arange(y.shape[1]), v)
            one = [np.where(apart, -np.inf, side) for side in (below, above)]
            below = np.concatenate([one[0], none, below[:, v]], axis=1)
            above = np.concatenate([one[1], above[:, v], none], axis=1)
        o = self._others(at)
        value = o.A * u[:, None] + o.B * x[:, None]
        return np.concatenate([below, o.low - value], axis=1), np.concatenate([above, value - o.high], axis=1)


# ------------------------------------------------------------------------------------------------ reading
def speed_limits(model: Model, given: Any, frames: Mapping[str, float] | None) -> list[SpeedLimit]:
    """Limits of joints, motors and frames: ``None`` or ``"model"`` are those of the model."""
    found: list[SpeedLimit] = []
    eye = np.eye(model.nv)
    if given is None or isinstance(given, str | Mapping):
        if isinstance(given, str) and given != "model":
            raise SpecError.one(
                WHO, "velocity_limits", f"velocity_limits is {clipped(given)}", "'model', numbers or a dict", given
            )
        named = dict(given) if isinstance(given, Mapping) else {}
        for name in named:
            if name not in model.dofs:
                known = nearest(str(name), model.dofs)
                raise StateError(f"{WHO}: velocity_limits: no rate '{clipped(name)}'. Hint: {known}")
        net = kept_network(model)
        own = motion_limits(net, WHO).speed
        for k, name in enumerate(model.dofs):
            most = one_number(named[name], f"velocity_limits of '{name}'") if name in named else own[k]
            found.append(SpeedLimit(name, most, eye[k]))
        if not net.loops and not model.shafts.rotors:
            driving = actuators(net, WHO)
            T = motor_map(driving, model.nv)
            found += [SpeedLimit(f"motor {a.name}", a.speed_limit, T[k]) for k, a in enumerate(driving) if a.motor]
    else:
        low, high = sides(limits_array(given, "velocity_limits"), model.nv, "velocity_limits")
        if np.any(low != -high):
            message = "speeds are limited alike in both directions"
            raise SpecError.one(WHO, "velocity_limits", message, "give magnitudes", given)
        found += [SpeedLimit(name, float(high[k]), eye[k]) for k, name in enumerate(model.dofs)]
    for frame, most in expect_mapping(frames, "frame_speed", "{'hand.tip': 0.5}").items():
        full = kept_network(model).port(frame)
        found.append(SpeedLimit(f"frame {full}", one_number(most, f"frame_speed of '{frame}'"), None, full))
    for limit in found:
        if not limit.most > 0.0:
            raise SpecError.one(
                WHO, "velocity_limits", f"velocity_limits: that of {limit.name} is {limit.most:g}", "positive", given
            )
    return [limit for limit in found if limit.most < UNLIMITED]


def acceleration_limits(model: Model, given: Any, what: str = "acceleration_limits") -> tuple[Array, Array]:
    """Lower and upper limits (nv,), infinite where there are none."""
    low, high = np.full(model.nv, -np.inf), np.full(model.nv, np.inf)
    if given is None:
        return low, high
    if not isinstance(given, Mapping):
        return sides(limits_array(given, what), model.nv, what)
    for name, value in given.items():
        if name not in model.dofs:
            raise StateError(f"{WHO}: {what}: no rate '{clipped(name)}'. Hint: {nearest(str(name), model.dofs)}")
        k = model.dofs.index(name)
        pair = sides(limits_array(value, what).reshape(1, -1), 1, what)
        low[k], high[k] = float(pair[0][0]), float(pair[1][0])
    return low, high
