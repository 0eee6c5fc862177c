"""States of a model as arrays: from arrays, lists or dicts by joint name, with sentences for everything that does not
fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.arguments import real
from gyrostat.engine.tracing.choose import where
from gyrostat.errors import NonFiniteError, ShapeError, StateError, clipped, nearest
from gyrostat.spec.model import Model
from gyrostat.spec.rules import UNIT

Array = np.ndarray


real_array = real


def _batch(index: Sequence[Any]) -> str:
    return f" in state {tuple(int(i) for i in index)}" if len(index) else ""


def names_of(value: Any, who: str, what: str) -> tuple[str, ...]:
    """One name or several."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise StateError(f"{who}: {what} must be a name or a list of names, got {clipped(value)}. Hint: ['elbow']")
    return tuple(names)


def finite(array: Array, names: Sequence[str], who: str, what: str) -> Array:
    """Refuse NaN and infinity, naming the entry."""
    fine = np.isfinite(array)
    if fine.all():
        return array
    *where, k = bad = np.argwhere(~fine)[0]
    raise NonFiniteError(f"{who}: {what} of '{names[k]}'{_batch(where)} is {array[tuple(bad)]}, not a finite number")


def coordinates(model: Model, q: Any, who: str, nonfinite: str = "raise") -> Array:
    """q as (..., nq), with unit quaternions."""
    array = packed(model, q, "q", who)
    if nonfinite == "raise":
        finite(array, model.coordinates, who, "q")
    for block in model.layout.turning:
        _expect_unit(array[..., block.quaternion], block.entity, who)
    return array


def _expect_unit(quaternion: Array, entity: str, who: str) -> None:
    """Refuse quaternions (..., 4) that are not of unit length."""
    with np.errstate(over="ignore", invalid="ignore"):
        square = np.sum(quaternion**2, axis=-1)
    length, off = np.sqrt(square), np.abs(square - 1.0) > 2.0 * UNIT
    off &= np.isfinite(quaternion).all(axis=-1)  # what is not finite may be let through
    if np.any(off):
        first = tuple(np.argwhere(off)[0])
        raise StateError(
            f"{who}: the quaternion of '{entity}'{_batch(first)} has length {length[first]:g}, expected 1. "
            "Hint: x y z w, scalar part last; at rest it is (0, 0, 0, 1)"
        )


def quaternion_guard(model: Model, q: Array) -> list[Any]:
    """For every quaternion of recorded coordinates: 0 if its length is one, else NaN."""
    quaternions = [q[block.quaternion] for block in model.layout.turning]
    return [where(abs(x @ x - 1.0) <= 2.0 * UNIT, 0.0, np.nan) for x in quaternions]  # nor is NaN of length one


def packed(model: Model, value: Any, what: str, who: str, joints: Sequence[str] | None = None) -> Array:
    """q, v or a as an array (..., n), its numbers not yet looked at; of some joints in their order, if they are
    named."""
    names = model.coordinates if what == "q" else model.dofs
    if joints is not None:
        return _of_joints(model, value, what, who, joints)
    if type(value) is np.ndarray and value.dtype == np.float64 and value.ndim and value.shape[-1] == len(names):
        return value
    return _pack(model, value, [*_parts(model, what).items()], names, who, what)


def _parts(model: Model, what: str) -> dict[str, tuple[str, ...]]:
    """What each joint calls its coordinates, or its rates."""
    return {block.entity: block.coordinates if what == "q" else block.rates for block in model.layout}


def _of_joints(model: Model, value: Any, what: str, who: str, joints: Sequence[str]) -> Array:
    parts = _parts(model, what)
    count = sum(len(parts[name]) for name in joints)
    some = f"the solver in the order {', '.join(joints)}"
    if isinstance(value, Mapping):
        return _from_names(model, value, [(name, parts[name]) for name in joints], (), who, what, some)
    array = value if type(value) is np.ndarray and value.dtype == object else real_array(value, who, what)
    if array.ndim == 0 or array.shape[-1] != count:
        raise ShapeError(f"{who}: {what} has shape {array.shape}, expected (..., {count}) of {some}")
    return array


def rates(model: Model, v: Any, who: str, what: str, nonfinite: str = "raise") -> Array:
    """v or a as (..., nv)."""
    array = packed(model, v, what, who)
    return finite(array, model.dofs, who, what) if nonfinite == "raise" else array


def _pack(
    model: Model, value: Any, owners: Sequence[tuple[str, Sequence[str]]], names: Sequence[str], who: str, what: str
) -> Array:
    if isinstance(value, Mapping):
        return _from_names(model, value, owners, names, who, what, f"'{model.name}'")
    array = real_array(value, who, what)
    if array.ndim == 0 or array.shape[-1] != len(names):
        hint = ""
        if model.layout.turning:
            hint = f". Hint: nq = {model.nq} with quaternions, nv = {model.nv}"
        letter = "nq" if what == "q" else "nv"
        raise ShapeError(
            f"{who}: {what} has shape {array.shape}, expected (..., {len(names)}), {letter} of '{model.name}'{hint}"
        )
    return array


def _from_names(
    model: Model,
    value: Mapping[str, Any],
    owners: Sequence[tuple[str, Sequence[str]]],
    names: Sequence[str],
    who: str,
    what: str,
    whose: str,
) -> Array:
    """Columns by name; ``whose``: what messages call the joints that are expected."""
    known = [*(name for name, _ in owners), *names]
    for key in value:
        if key not in known:
            raise StateError(
                f"{who}: {what} names '{key}', which is no joint of {whose}. Hint: {nearest(str(key), known)}"
            )
    columns: list[Array] = []
    for owner, parts in owners:
        keys = [owner] if len(parts) == 1 else [f"{owner}.{part}" for part in parts]
        if owner in value and len(parts) > 1:
            given = real_array(value[owner], who, f"{what}['{owner}']")
            if given.ndim == 0 or given.shape[-1] != len(parts):
                raise ShapeError(f"{who}: {what}['{owner}'] has shape {given.shape}, expected (..., {len(parts)})")
            twice = [key for key in keys if key in value]
            if twice:
                raise StateError(f"{who}: {what} gives '{owner}' and also '{twice[0]}'. Hint: keep one of them")
            columns += [given[..., k] for k in range(len(parts))]
            continue
        for key in keys:
            if key not in value:
                raise StateError(f"{who}: {what} does not say '{key}'. Hint: every joint of {whose} is needed")
            columns.append(real_array(value[key], who, f"{what}['{key}']"))
    if not columns:
        return np.zeros(0)
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        shapes = ", ".join(str(c.shape) for c in columns)
        raise ShapeError(f"{who}: the entries of {what} have shapes {shapes}, which do not go together") from None


def together(who: str, **arrays: tuple[Array, int]) -> tuple[tuple[int, ...], list[Array]]:
    """Broadcast arrays over their leading axes; each comes with its number of trailing axes. Returns shape and flat
    arrays."""
    lead = {name: x.shape[: x.ndim - k] for name, (x, k) in arrays.items()}
    try:
        shape = np.broadcast_shapes(*lead.values())
    except ValueError:
        told = ", ".join(f"{name} {s}" for name, s in lead.items())
        raise ShapeError(f"{who}: leading shapes do not go together: {told}") from None
    count = int(np.prod(shape, dtype=int))
    flat = [
        np.broadcast_to(x, shape + x.shape[x.ndim - k :]).reshape((count, *x.shape[x.ndim - k :]))
        for x, k in arrays.values()
    ]
    return shape, flat
