"""States given as data at the ends of a phase, and configurations as local coordinates."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.configuration.chart import moved
from gyrostat.errors import GyrostatError, ShapeError, nearest
from gyrostat.spatial import so3
from gyrostat.studies.optimal_control.phase_space import PhaseSpace

Array = np.ndarray


def local(space: PhaseSpace, q: Array) -> Array:
    """xi (..., nv) of q (..., nq) around the reference; quaternions at most half a turn away."""
    at, q0 = space.model.layout, space.reference
    xi = np.zeros((*q.shape[:-1], space.n))
    xi[..., at.number_v] = q[..., at.number_q] - q0[at.number_q]
    for block in at.turning:
        turn = so3.product(so3.conjugate(q0[block.quaternion]), q[..., block.quaternion])
        xi[..., block.angular] = so3.quaternion_log(turn)
        if block.moves:
            shift = q[..., block.position] - q0[block.position]
            xi[..., block.linear] = shift @ so3.matrix(q0[block.quaternion])
    return xi


def whole(space: PhaseSpace, xi: Array) -> Array:
    """q (..., nq) at xi (..., nv)."""
    flat = xi.reshape(-1, space.n)
    q = np.array([moved(space.model, space.reference, x) for x in flat], dtype=float)
    return q.reshape(*xi.shape[:-1], space.model.nq)


def given_state(space: PhaseSpace, given: Mapping[str, Any], what: str) -> Array:
    """(2 nv,): xi and v at an end, nan where free."""
    who = f"{space.who}: {what}"
    q = _numbers(given.get("q"), space.model.coordinates, f"{who}: q")
    v = _numbers(given.get("v"), space.model.dofs, f"{who}: v")
    xi = np.full(space.n, np.nan)
    at = space.model.layout
    xi[at.number_v] = q[at.number_q]
    for block in at.turning:
        part = q[block.q]
        known = np.isfinite(part)
        turn = known[block.quaternion_at : block.quaternion_at + 4] if block.quaternion_at is not None else known
        if turn.any() and not turn.all():
            raise GyrostatError(f"{who}: the quaternion of '{block.entity}' is given in part. Hint: all of it, or none")
        filled = space.reference.copy()
        filled[block.q] = np.where(known, part, space.reference[block.q])
        if turn.all() and abs(np.linalg.norm(filled[block.quaternion]) - 1.0) > 1e-6:
            raise GyrostatError(f"{who}: the quaternion of '{block.entity}' has no unit length.")
        moved = local(space, filled)
        if turn.all():
            xi[block.angular] = moved[block.angular]
        if block.moves:
            xi[block.linear] = np.where(np.isfinite(q[block.position]), moved[block.linear], np.nan)
    return np.concatenate([xi, v])


def _numbers(given: Any, names: tuple[str, ...], who: str) -> Array:
    if given is None:
        return np.full(len(names), np.nan)
    if isinstance(given, Mapping):
        row = np.full(len(names), np.nan)
        for name, x in given.items():
            if name not in names:
                raise GyrostatError(f"{who}: no '{name}'. Hint: {nearest(str(name), names)}")
            row[names.index(name)] = x
        return row
    try:
        row = np.array(
            [np.nan if x is None else x for x in np.atleast_1d(np.asarray(given, dtype=object))], dtype=float
        )
    except (TypeError, ValueError):
        raise ShapeError(f"{who}: expected {len(names)} numbers, nan where free") from None
    if row.shape == (1,) and len(names) != 1:
        row = np.full(len(names), row[0])
    if row.shape != (len(names),):
        raise ShapeError(f"{who}: got {row.shape}, expected ({len(names)},), nan where free")
    if np.isinf(row).any():
        raise ShapeError(f"{who}: an entry is infinite. Hint: nan where free")
    return row
