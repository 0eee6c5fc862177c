"""What users give to trajectories, as arrays, with a sentence for everything that does not fit."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from gyrostat.engine.arguments import real
from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.errors import NonFiniteError, RecordError, ShapeError, SpecError, clipped

Array = np.ndarray


def finite_array(value: Any, who: str, what: str) -> Array:
    """Real, finite numbers of any shape."""
    array = np.array(real(value, who, what), dtype=float)
    if not np.isfinite(array).all():
        raise NonFiniteError(f"{who}: {what} holds {array[~np.isfinite(array)][0]}, expected finite numbers")
    return array


def times_of(t: Any, who: str) -> Array:
    """Times [s] of any shape; that of a law which is being recorded is refused."""
    if isinstance(t, Recorded):
        raise RecordError(
            f"{who}: a law that calls a trajectory cannot be recorded, but blocks that are given one can "
            "(gs.blocks.pd(kp, kd, reference=move), gs.blocks.Reference(move))"
        )
    return finite_array(t, who, "t")


def point(value: Any, who: str, what: str, n: int | None = None) -> Array:
    """Coordinates (n,); a single number is one coordinate."""
    array = np.atleast_1d(finite_array(value, who, what))
    wanted = "(n,)" if n is None else f"({n},)"
    if array.ndim != 1 or len(array) == 0 or (n is not None and len(array) != n):
        raise ShapeError(f"{who}: {what} has shape {array.shape}, expected {wanted}, one number for each coordinate")
    return array


def rows(value: Any, who: str, what: str, n: int | None = None) -> Array:
    """Points (m, n), m >= 1; a list of m numbers is m points of one coordinate."""
    array = finite_array(value, who, what)
    array = array[:, None] if array.ndim == 1 and n in (None, 1) else array
    if array.ndim != 2 or 0 in array.shape or (n is not None and array.shape[1] != n):
        wanted = "(m, n)" if n is None else f"(m, {n})"
        raise ShapeError(f"{who}: {what} has shape {array.shape}, expected {wanted}: one row for each point")
    return array


def positive(value: Any, who: str, what: str, unit: str = "s") -> float:
    """One number above zero."""
    array = finite_array(value, who, what)
    if array.ndim or array <= 0.0:
        message = f"{what} must be one number above 0 {unit}, got {clipped(value)}"
        raise SpecError.one(who, what, message, f"give it in {unit}", value)
    return float(array)


def whole(value: Any, who: str, what: str, least: int, most: int) -> int:
    """A whole number between two bounds."""
    fits = not isinstance(value, bool) and isinstance(value, int | np.integer)
    if not fits or not least <= value <= most:
        message = f"{what} must be a whole number from {least} to {most}, got {clipped(value)}"
        raise SpecError.one(who, what, message, f"choose {what} in this range", value)
    return int(value)


def increasing(value: Any, who: str) -> Array:
    """Times (m + 1,) that start at zero and grow, m >= 1 [s]."""
    array = finite_array(value, who, "times")
    if array.ndim != 1 or len(array) < 2:
        raise ShapeError(f"{who}: times has shape {array.shape}, expected (m,) with at least two instants")
    if array[0] != 0.0:
        message = f"times must start at 0 s, got {array[0]:g} s"
        raise SpecError.one(who, "times", message, "subtract the first one", value)
    late = np.flatnonzero(np.diff(array) <= 0.0)
    if len(late):
        k = int(late[0])
        message = f"times must grow, but time {k + 1} is {array[k + 1]:g} s after {array[k]:g} s"
        raise SpecError.one(who, "times", message, "sort them, and give every instant once", value)
    return array


def names_for(names: Any, n: int, who: str) -> tuple[str, ...] | None:
    """Names of the n coordinates, all different, or None."""
    if names is None:
        return None
    listed = isinstance(names, Iterable) and not isinstance(names, str)
    texts: tuple[Any, ...] = tuple(names) if listed else (names,)
    if len(texts) != n or len(set(texts)) != n or not all(isinstance(name, str) for name in texts):
        message = f"names must be {n} different texts, got {clipped(texts)}"
        raise SpecError.one(who, "names", message, "give one for each coordinate, or none", names)
    return texts
