"""Limits of coordinates, and which coordinates are angles that mean the same after a full turn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import ShapeError, SpecError, StateError, clipped, nearest
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model

Array = np.ndarray


def limits_of(model: Model, limits: Any, who: str) -> tuple[Array, Array]:
    """Lower and upper bounds (nq,), infinite where there is none.

    ``limits``: "model" for those of the joints, None for none, or a pair (lower, upper), each an array (nq,) or a
    mapping of coordinate names. Quaternions have no limits.
    """
    low, high = np.full(model.nq, -np.inf), np.full(model.nq, np.inf)
    if limits is None:
        return low, high
    if isinstance(limits, str):
        if limits != "model":
            raise SpecError.one(
                who, "limits", f"limits is {clipped(limits)}", "'model', None, or (lower, upper)", limits
            )
        return _own_limits(model, low, high)
    if not isinstance(limits, list | tuple) or len(limits) != 2:
        raise SpecError.one(who, "limits", f"limits is {clipped(limits)}", "'model', None, or (lower, upper)", limits)
    low, high = (_side(model, side, empty, who) for side, empty in zip(limits, (low, high), strict=True))
    wrong = np.flatnonzero(low > high)
    if len(wrong):
        k = int(wrong[0])
        message = f"lower {low[k]:g} is above upper {high[k]:g} for '{model.coordinates[k]}'"
        raise SpecError.one(who, "limits", message, "exchange them", limits)
    return low, high


def _own_limits(model: Model, low: Array, high: Array) -> tuple[Array, Array]:
    for block in model.layout:
        if block.nq == 1:
            low[block.q], high[block.q] = own_range(model.wiring.entities[block.entity])
    return low, high


def own_range(entity: Entity) -> tuple[float, float]:
    """``lower`` and ``upper`` of an entity with one coordinate, infinite where it says none."""
    lower, upper = getattr(entity, "lower", None), getattr(entity, "upper", None)
    return -np.inf if lower is None else lower, np.inf if upper is None else upper


def _side(model: Model, given: Any, empty: Array, who: str) -> Array:
    if given is None:
        return empty
    if isinstance(given, Mapping):
        side = empty.copy()
        for name, value in given.items():
            if name not in model.coordinates:
                raise StateError(
                    f"{who}: limits: no coordinate '{name}'. Hint: {nearest(str(name), model.coordinates)}"
                )
            number = real_array(value, who, f"the limit of '{name}'")
            if number.ndim:
                raise ShapeError(f"{who}: the limit of '{name}' has shape {number.shape}, expected one number")
            side[model.coordinates.index(name)] = number
    else:
        side = np.array(real_array(given, who, "limits"), dtype=float)
        if side.shape != (model.nq,):
            raise ShapeError(f"{who}: limits have shape {side.shape}, expected ({model.nq},) = nq of '{model.name}'")
    if np.isnan(side).any():
        raise SpecError.one(who, "limits", "a limit is NaN", "leave out what has no limit, or write inf", given)
    if np.isfinite(side[model.layout.quaternions]).any():
        raise SpecError.one(who, "limits", "quaternions have no limits", "limit plain coordinates only", given)
    return side


def unwound(model: Model, q: Array, start: Array, low: Array, high: Array) -> Array:
    """q (..., nq) with full turns taken off its angles so that they are nearest to ``start``, where limits allow it."""
    at = model.layout.periodic_q
    turns = np.round((q[..., at] - start[..., at]) / (2.0 * np.pi))
    near = q[..., at] - 2.0 * np.pi * turns
    allowed = (turns != 0.0) & (near >= low[at]) & (near <= high[at])
    q[..., at] = np.where(allowed, near, q[..., at])
    return q
