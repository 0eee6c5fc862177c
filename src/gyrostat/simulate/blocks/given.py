"""What users give to blocks, as tuples of numbers, with a sentence for everything that does not fit."""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np

from gyrostat.engine.arguments import real
from gyrostat.errors import ShapeError, SpecError, clipped

Array = np.ndarray
Numbers = tuple[float, ...]
Rows = tuple[Numbers, ...]


def refuse(who: str, what: str, message: str, remedy: str, value: Any = None) -> SpecError:
    """The error of a property: block, property, value, remedy."""
    return SpecError.one(who, what, message, remedy, value)


def numbers(value: Any, who: str, what: str, *, endless: bool = False) -> Numbers:
    """One number or a list of them; finite unless ``endless``, never NaN."""
    array = np.atleast_1d(real(value, who, what))
    if array.ndim != 1 or array.size == 0:
        raise ShapeError(
            f"{who}: {what} has shape {array.shape}, expected one number or (n,). Hint: one for each joint"
        )
    bad = np.isnan(array) if endless else ~np.isfinite(array)
    if bad.any():
        raise refuse(who, what, f"{what} must be finite, got {array[bad][0]}", "give a number", value)
    return tuple(array.tolist())


def at_least_zero(value: Any, who: str, what: str, remedy: str) -> Numbers:
    """Numbers that are not negative."""
    entries = numbers(value, who, what)
    if min(entries) < 0.0:
        raise refuse(who, what, f"{what} must not be negative, got {min(entries):g}", remedy, value)
    return entries


def above_zero(value: Any, who: str, what: str, remedy: str) -> Numbers:
    """Positive numbers."""
    entries = numbers(value, who, what)
    if min(entries) <= 0.0:
        raise refuse(who, what, f"{what} must be above zero, got {min(entries):g}", remedy, value)
    return entries


def matrix(value: Any, who: str, what: str) -> Rows:
    """A matrix of finite numbers; a number alone is (1, 1)."""
    array = real(value, who, what)
    array = array.reshape(1, 1) if array.ndim == 0 else array
    if array.ndim != 2:
        raise ShapeError(f"{who}: {what} has shape {array.shape}, expected two axes. Hint: a column is [[1], [0]]")
    if not np.isfinite(array).all():
        raise refuse(who, what, f"{what} must be finite, got {clipped(array.tolist())}", "give numbers", value)
    return tuple(tuple(row) for row in array.tolist())


def period(value: Any, who: str, *, needed: bool = False) -> float | None:
    """A sample time above zero [s], or None."""
    if value is None and not needed:
        return None
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iuf" or not 0.0 < float(array) < math.inf:
        message = f"sample_time must be one number above 0 s, got {clipped(value)}"
        raise refuse(who, "sample_time", message, "1 kHz is sample_time=0.001", value)
    return float(array)


def count(value: Any, who: str, what: str, least: int, most: int, remedy: str) -> int:
    """A whole number between two bounds."""
    fits = not isinstance(value, bool) and isinstance(value, int | np.integer)
    if not fits or not least <= value <= most:
        message = f"{what} must be a whole number from {least} to {most}, got {clipped(value)}"
        raise refuse(who, what, message, remedy, value)
    return int(value)


def choice(value: Any, who: str, what: str, known: tuple[str, ...]) -> str:
    """One of some words."""
    if value not in known:
        message = f"{what} must be one of {', '.join(map(repr, known))}, got {clipped(value)}"
        raise refuse(who, what, message, f"{what}={known[0]!r}", value)
    return str(value)


def signal(value: Any, who: str, what: str) -> str:
    """The name of a signal."""
    if not isinstance(value, str) or not value:
        raise refuse(who, what, f"{what} must be the name of a signal, got {clipped(value)}", f"{what}='tau'", value)
    return value


def expect_call(function: Any, arguments: tuple[str, ...], who: str) -> None:
    """Refuse a function that cannot be called with these arguments."""
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # something built in
        return
    try:
        signature.bind(*arguments)
    except TypeError:
        called = f"({', '.join(arguments)})"
        message = f"the function takes {signature}, and is called with {called}"
        raise refuse(who, "function", message, "reads=(...) names the signals after t", called) from None


def same_size(who: str, size: Any, **given: Numbers) -> int:
    """How many entries the signals have: the length that all lists share, or ``size``."""
    lengths = {what: len(x) for what, x in given.items() if len(x) > 1}
    if size is not None:
        lengths = {"size": count(size, who, "size", 1, 100_000, "the number of joints"), **lengths}
    if len(set(lengths.values())) > 1:
        told = ", ".join(f"{what} has {n}" for what, n in lengths.items())
        raise ShapeError(f"{who}: sizes do not fit: {told}. Hint: give one number for all, or one for each joint")
    return next(iter(lengths.values()), 1)


def spread(given: Numbers, n: int) -> Numbers:
    """n numbers from one or n."""
    return given if len(given) == n else given * n


def limits(value: Any, who: str) -> tuple[Numbers, Numbers]:
    """(lower, upper) from None, a magnitude (n,) or a pair (lower, upper)."""
    if value is None:
        return (-math.inf,), (math.inf,)
    if isinstance(value, tuple) and len(value) == 2:
        lower, upper = (numbers(x, who, "limit", endless=True) for x in value)
        if len(lower) == len(upper) == 1 and lower[0] > 0.0:
            message = f"limit={value} would keep everything above {lower[0]:g}"
            remedy = "a tuple is (lower, upper); magnitudes of two joints are a list, limit=[30, 50]"
            raise refuse(who, "limit", message, remedy, value)
    else:
        upper = numbers(value, who, "limit", endless=True)
        lower = tuple(-x for x in upper)
    return ordered(lower, upper, who)


def ordered(lower: Numbers, upper: Numbers, who: str) -> tuple[Numbers, Numbers]:
    """The same if every lower limit is below its upper one."""
    n = same_size(who, None, lower=lower, upper=upper)
    for low, high in zip(spread(lower, n), spread(upper, n), strict=True):
        if not low < high:
            message = f"the lower limit {low:g} is not below the upper limit {high:g}"
            raise refuse(who, "limit", message, "limit=50 means -50 to 50; limit=(-20, 50) gives both", (low, high))
    return lower, upper
