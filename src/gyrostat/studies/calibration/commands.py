"""Inverse kinematics for the controller of a calibrated robot: commands that bring the real one to a target.

Damped Gauss-Newton on the placement as a function of the commands, deflection under gravity included,

    dc = -(J^T J + lambda)^-1 J^T r,    J = Y_c - Y_s K^-1 T_c      (see :mod:`.static_poses`)

begun at the nominal commands: corrections are small."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.limits import limits_of
from gyrostat.errors import GyrostatError, ShapeError, StateError
from gyrostat.geometry.rotation import quaternion_of
from gyrostat.spatial import so3
from gyrostat.studies.calibration.static_poses import StaticPoses

Array = np.ndarray
WHO = "commands"
ROUNDS = 100


@dataclass(frozen=True)
class Commands:
    """``q`` (..., c) to command; ``coordinates`` (..., nq) at which the robot then rests; ``converged`` (...);
    ``position_error`` [m], ``orientation_error`` [rad] (...) that are left; ``outside`` (...): a command is beyond a
    limit of its joint; ``joints``: names of the commands."""

    q: Array
    coordinates: Array
    converged: Array
    position_error: Array
    orientation_error: Array
    outside: Array
    joints: tuple[str, ...]


def commands_for(
    kinematics: StaticPoses, frame: int, values: Mapping[str, Array], targets: Any, q0: Any, tolerance: float
) -> Commands:
    """For a frame of ``kinematics``, by its number."""
    T = np.asarray(targets, dtype=float)
    turned = T.shape[-2:] == (4, 4)
    shape = T.shape[:-2] if turned else T.shape[:-1]
    if not turned and T.shape[-1:] != (3,):
        raise ShapeError(f"{WHO}: targets have shape {T.shape}, expected (..., 4, 4) or (..., 3).")
    if not np.all(np.isfinite(T)):
        raise StateError(f"{WHO}: a target holds a number that is not finite.")
    T = T.reshape(-1, *T.shape[len(shape) :])
    n, m = len(T), len(kinematics.joints)
    c = np.zeros((1, m)) if q0 is None else kinematics.read(q0)
    if len(c) not in (1, n):
        raise ShapeError(f"{WHO}: {len(c)} starts for {n} targets. Hint: one, or one for each.")
    search = _Search(kinematics, frame, values, T, turned)
    c, r = search.minimise(np.broadcast_to(c, (n, m)).copy(), tolerance)
    placed, _ = kinematics.rest(c, values)
    model, at = kinematics.model, list(kinematics.coordinates.commanded)
    low, high = limits_of(model, "model", WHO)
    beyond = (c < low[at] - 1e-12) | (c > high[at] + 1e-12)
    turn = np.linalg.norm(r[:, 3:], axis=1)
    return Commands(
        q=c.reshape(*shape, m),
        coordinates=placed.q.reshape(*shape, model.nq),
        converged=np.all(np.abs(r) <= tolerance, axis=1).reshape(shape),
        position_error=np.linalg.norm(r[:, :3], axis=1).reshape(shape),
        orientation_error=turn.reshape(shape),
        outside=np.asarray(beyond.any(axis=1)).reshape(shape),
        joints=kinematics.joints,
    )


class _Search:
    def __init__(self, kinematics: StaticPoses, frame: int, values: Mapping[str, Array], T: Array, turned: bool):
        self.kinematics, self.frame, self.values, self.T, self.turned = kinematics, frame, values, T, turned

    def residual(self, c: Array, which: Array) -> tuple[Array, Array]:
        """r (b, 3 or 6) in the world's axes, and the coordinates."""
        placed, _ = self.kinematics.rest(c, self.values)
        R, p = placed.R[:, self.frame], placed.p[:, self.frame]
        if not self.turned:
            return p - self.T[which], placed.q
        D = np.einsum("nij,nkj->nik", R, self.T[which, :3, :3])
        turn = np.array([so3.quaternion_log(quaternion_of(d)) for d in D]).reshape(-1, 3)
        return np.concatenate([p - self.T[which, :3, 3], turn], axis=1), placed.q

    def minimise(self, c: Array, tolerance: float) -> tuple[Array, Array]:
        n = len(c)
        r, q = self.residual(c, np.arange(n))
        damping = np.full(n, 1e-6)
        for _ in range(ROUNDS):
            open_ = np.flatnonzero((np.abs(r).max(axis=1) > 0.01 * tolerance) & (damping < 1e8))
            if not len(open_):
                break
            J = self.kinematics.sensitivities(c[open_], q[open_], self.values, [], commands=True)[:, self.frame]
            J = np.concatenate([J[:, 3:], J[:, :3]], axis=1) if self.turned else J[:, 3:]
            A = np.einsum("nij,nik->njk", J, J)
            A += damping[open_, None, None] * np.eye(c.shape[1]) * np.trace(A, axis1=1, axis2=2)[:, None, None]
            step = -np.linalg.solve(A, np.einsum("nij,ni->nj", J, r[open_])[..., None])[..., 0]
            step *= np.minimum(1.0, 0.5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
            there = c[open_] + step
            try:
                fresh, coordinates = self.residual(there, open_)
            except GyrostatError:  # one of them was moved where it does not rest
                damping[open_] *= 10.0
                continue
            better = np.sum(fresh**2, axis=1) < np.sum(r[open_] ** 2, axis=1)
            won, lost = open_[better], open_[~better]
            c[won], r[won], q[won] = there[better], fresh[better], coordinates[better]
            damping[won] = np.maximum(damping[won] * 0.1, 1e-14)
            damping[lost] *= 10.0
            if np.abs(r).max() <= tolerance and not len(won):
                break
        return c, r
