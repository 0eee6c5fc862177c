"""Legs on the ground: coordinates of the joints that follow, by their closed forms or by Newton's iteration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_rows import Held
from gyrostat.algorithms.contact.reduced_dynamics import Partition
from gyrostat.algorithms.recursions.kinematics import sweep_motion
from gyrostat.configuration.manifold import integrate
from gyrostat.errors import GyrostatError, ShapeError, StateError
from gyrostat.graph.network import Network
from gyrostat.solvers.builders.block_kinematics import BlockKinematics
from gyrostat.solvers.dynamics.leg_partition import WHO
from gyrostat.solvers.kinematics.inverse.pose_error import PoseError, chosen_rows
from gyrostat.spec.model import Model

Array = np.ndarray
CLOSED = 1e-12
"""Error [rad, m] to which contacts are closed."""
ITERATIONS = 50


@dataclass(frozen=True)
class ClosedLeg:
    """The closed form of a leg: its block, which of its branches, and where its coordinates are."""

    block: BlockKinematics
    branch: int
    places: Array

    def angles(self, net: Network, on: Setting, q: Array, target: Array) -> Array:
        """Coordinates of the leg for the target (4, 4) of its foot in the world; q decides where the reference is."""
        R, p = target[:3, :3], target[:3, 3]
        if self.block.reference is not None:
            (name,) = self.block.reference.frames
            at, place = net.located[net.port(name)]
            rest = np.zeros(net.model.nv)
            pose = sweep_motion(net, on, q, rest, rest)[at].pose.then(*place)
            R, p = pose.R.T @ R, pose.R.T @ (p - pose.p)
        turns, shifts = self.block.error.turns, self.block.error.shifts
        seen: Any = p if not turns else R
        if turns and shifts:
            seen = np.eye(4, dtype=object)
            seen[:3, :3], seen[:3, 3] = R, p
        found = np.asarray(self.block.function(seen))
        if found.ndim == 2:
            found = found[self.branch]
        if found.shape != (len(self.places),):
            raise ShapeError(
                f"{WHO}: {self.block.called} returned shape {found.shape}, expected ({len(self.places)},) or branches"
            )
        return found


def closed_legs(model: Model, held: Sequence[Held], legs: Mapping[str, Any], q0: Array | None) -> tuple[ClosedLeg, ...]:
    """The closed forms of all contacts; of their branches the one that q0 is on, or the first."""
    found = []
    for h in held:
        frame = h.contact.frame
        block = legs[frame]
        if not isinstance(block, BlockKinematics) or block.with_start or block.model != model:
            why = "needs a start" if getattr(block, "with_start", False) else "is no block of this model"
            raise GyrostatError(
                f"{WHO}: the leg of '{frame}' {why}. Hint: gs.BlockSolver(model, f, like=gs.inverse_kinematics, "
                f"frame='{frame}', ...)"
            )
        held_rows = chosen_rows("pose" if h.contact.kind == "fixed" else "position", WHO)
        if block.rows != held_rows:
            raise GyrostatError(
                f"{WHO}: the contact '{frame}' is {h.contact.kind}, but its leg solves {', '.join(block.rows)}. "
                f"Hint: a block with axes={'pose' if h.contact.kind == 'fixed' else 'position'!r}"
            )
        found.append(ClosedLeg(block, _branch(model, block, q0), block.places))
    return tuple(found)


def _branch(model: Model, block: BlockKinematics, q0: Array | None) -> int:
    if q0 is None:
        return 0
    at = block.error.kinematics(q0)[block.frame]
    R, p = at.R, at.p
    if block.reference is not None:
        (ref,) = block.reference(q0).values()
        R, p = ref.R.T @ R, ref.R.T @ (p - ref.p)
    rows = np.atleast_2d(np.asarray(block.function(block._target(R, p)), dtype=float))
    off = np.abs(np.sin((rows - q0[block.places]) / 2.0)).max(axis=1)
    return int(np.nanargmin(off)) if np.isfinite(off).any() else 0


@dataclass(frozen=True)
class Closure:
    """Newton's iteration on the dependent rates until the frames in contact are where they stand."""

    model: Model
    held: tuple[Held, ...]
    parts: Partition

    def close(self, q: Array, stance: Array) -> Array:
        """q (B, nq) with the dependent coordinates changed until the contacts hold; ``stance`` (contacts, 4, 4)."""
        q = np.array(q)
        for _ in range(ITERATIONS):
            r = self.residual(q, stance)
            if np.max(np.abs(r), initial=0.0) < CLOSED:
                return q
            J = self._derivative(q, stance)[:, :, list(self.parts.dependent)]
            step = np.zeros((len(q), self.model.nv))
            for rows, rates in self.parts.groups:
                block = J[:, list(rows)][:, :, list(rates)]
                right = r[:, list(rows)]
                try:
                    x = np.linalg.solve(block, right[..., None])[..., 0]
                except np.linalg.LinAlgError:
                    x = np.stack([np.linalg.lstsq(b, y, rcond=None)[0] for b, y in zip(block, right, strict=True)])
                size = np.max(np.abs(x), axis=1, keepdims=True)
                x = x / np.maximum(1.0, 2.0 * size)  # at most half a radian at once
                step[:, [self.parts.dependent[k] for k in rates]] = -x
            q = integrate(self.model, q, step)
        self._refuse(q, stance)
        return q

    def residual(self, q: Array, stance: Array) -> Array:
        """(B, rows) [rad, m]."""
        return np.concatenate([e.residual(q, *t) for e, t in self._errors(q, stance)], axis=1)

    def _derivative(self, q: Array, stance: Array) -> Array:
        return np.concatenate([e.derivative(q, t[0]) for e, t in self._errors(q, stance)], axis=1)

    def _errors(self, q: Array, stance: Array) -> list[tuple[PoseError, tuple[Array, Array]]]:
        found = []
        for h, T in zip(self.held, stance, strict=True):
            rows = chosen_rows("pose" if h.contact.kind == "fixed" else "position", WHO)
            target = np.tile(T[:3, :3], (len(q), 1, 1)), np.tile(T[:3, 3], (len(q), 1))
            found.append((PoseError(self.model, h.contact.frame, rows), target))
        return found

    def _refuse(self, q: Array, stance: Array) -> None:
        r = np.abs(self.residual(q, stance))
        state, row = (int(k) for k in np.unravel_index(np.nanargmax(r), r.shape))
        frame = next(h.contact.frame for h in self.held if h.at.start <= row < h.at.stop)
        raise StateError(
            f"{WHO}: '{frame}' cannot be brought to where it stands in state {state}, it misses by {r[state, row]:.3g} "
            "m or rad. Hint: the leg does not reach that far, or near= is on another branch"
        )
