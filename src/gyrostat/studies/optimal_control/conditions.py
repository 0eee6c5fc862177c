"""Conditions on a motion: quantities between bounds, as functions of a study return them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.tracing.operations import CODE
from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.errors import GyrostatError, clipped

Array = np.ndarray
DECISIONS = {CODE[name] for name in ("lt", "le", "eq", "ne", "and", "or", "not")}


@dataclass(frozen=True, eq=False)
class Condition:
    """low <= value <= high, entry by entry; ``value`` may be recorded, the bounds are numbers."""

    value: Any
    low: Any
    high: Any


def between(value: Any, low: Any, high: Any) -> Condition:
    """low <= value <= high."""
    return Condition(value, low, high)


def at_least(value: Any, low: Any = 0.0) -> Condition:
    """value >= low."""
    return Condition(value, low, np.inf)


def at_most(value: Any, high: Any = 0.0) -> Condition:
    """value <= high."""
    return Condition(value, -np.inf, high)


def equal(value: Any, to: Any = 0.0) -> Condition:
    """value == to; ``to`` may depend on parameters."""
    return Condition(np.asarray(value) - to, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Conditions:
    """All conditions of one function, in one row: ``values`` (k,), bounds (k,), a name for each."""

    values: Array
    low: Array
    high: Array
    names: tuple[str, ...]


def read_conditions(given: Any, bare_high: float, who: str) -> Conditions:
    """What a function returned: one condition, a list, or a mapping by names; bare arrays lie in [0, ``bare_high``]."""
    if given is None:
        given = ()
    if isinstance(given, Mapping):
        pairs = [(str(name), x) for name, x in given.items()]
    elif isinstance(given, list | tuple):
        pairs = [(str(k), x) for k, x in enumerate(given)]
    else:
        pairs = [("0", given)]
    values: list[Any] = []
    low: list[float] = []
    high: list[float] = []
    names: list[str] = []
    for name, x in pairs:
        c = x if isinstance(x, Condition) else Condition(x, 0.0, bare_high)
        flat = np.asarray(c.value, dtype=object).ravel()
        _expect_numbers(flat, f"{who}: '{name}'")
        bounds = [_bounds(b, len(flat), f"{who}: '{name}'") for b in (c.low, c.high)]
        wrong = np.flatnonzero(bounds[0] > bounds[1])
        if len(wrong):
            k = int(wrong[0])
            raise GyrostatError(
                f"{who}: '{name}' is to lie between {bounds[0][k]:g} and {bounds[1][k]:g}. Hint: exchange them"
            )
        values += list(flat)
        low += list(bounds[0])
        high += list(bounds[1])
        names += [name] if len(flat) == 1 else [f"{name}[{k}]" for k in range(len(flat))]
    return Conditions(np.array(values, dtype=object), np.array(low), np.array(high), tuple(names))


def _expect_numbers(values: Array, who: str) -> None:
    """Refuse what is true or false: as a number it is never below zero."""
    for x in values:
        node = x.tape.nodes[x.k] if isinstance(x, Recorded) else None
        if isinstance(x, bool | np.bool_) or (node is not None and node[0] in DECISIONS):
            raise GyrostatError(
                f"{who} compares, and is true or false, not a number that can be kept in bounds. "
                "Hint: gs.studies.at_most(s.v[0], 1.0) instead of s.v[0] <= 1.0"
            )


def _bounds(given: Any, size: int, who: str) -> Array:
    try:
        bounds = np.asarray(given, dtype=float).ravel()
    except (TypeError, ValueError):
        bounds = np.array([np.nan])
    if bounds.size not in (1, size) or np.isnan(bounds).any():
        raise GyrostatError(
            f"{who}: a bound is {clipped(given)}, expected numbers, one or {size}. Hint: what depends on the motion or "
            "on parameters belongs into the value: at_least(x - p)"
        )
    return np.broadcast_to(bounds, (size,)).copy()
