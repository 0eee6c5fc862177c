"""Choices without branches, on floats and on recorded values alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.recording_scalar import Recorded, general
from gyrostat.errors import RecordError


def _pick(name: str, plain: Any) -> Any:
    def function(*values: Any) -> Any:
        if any(type(v) is Recorded for v in values):
            choice = general(name, *values)
            if choice is NotImplemented and name == "select" and _levels(values[1:]):
                return _select_rates(*values)
            if choice is NotImplemented:
                raise RecordError(f"{name}: {values} are not all numbers. Hint: numbers or recorded values")
            return choice
        return plain(*values)

    return np.frompyfunc(function, 3 if name == "select" else (1 if name in ("sign", "not") else 2), 1)


def _levels(values: Sequence[Any]) -> list[int]:
    """Levels of the numbers with a rate among values, see :mod:`dual`."""
    return [x.level for x in values if hasattr(x, "level")]


def _select_rates(condition: Any, one: Any, two: Any) -> Any:
    """A recorded choice between numbers of which at least one has a rate: of the values, and of the rates."""
    level = max(_levels((one, two)))
    kind = next(type(x) for x in (one, two) if getattr(x, "level", None) == level)
    if hasattr(kind, "c"):  # series in time, see :mod:`taylor`: coefficient by coefficient
        order = min(len(x.c) for x in (one, two) if hasattr(x, "c"))
        series = [x.c if hasattr(x, "c") else (x, *[0.0] * (order - 1)) for x in (one, two)]
        return kind([_where(condition, x, y) for x, y in zip(*series, strict=False)])
    (x, dx), (y, dy) = ((n.x, n.r) if getattr(n, "level", None) == level else (n, 0.0) for n in (one, two))
    return kind(_where(condition, x, y), _where(condition, dx, dy), level)


def _tidy(result: Any) -> Any:
    """Floats back from object arrays that hold nothing recorded, and no rates."""
    if isinstance(result, np.ndarray):
        kept = any(type(x) is Recorded or hasattr(x, "level") for x in result.flat)
        return result if kept else result.astype(float)
    return result


_where, _minimum = _pick("select", lambda c, a, b: a if c else b), _pick("min", min)
_maximum, _sign = _pick("max", max), _pick("sign", lambda x: float(np.sign(x)))
_both, _either = _pick("and", lambda a, b: bool(a and b)), _pick("or", lambda a, b: bool(a or b))
_negated = _pick("not", lambda a: not a)


def where(condition: Any, one: Any, two: Any) -> Any:
    """``one`` where the condition holds, else ``two``; both are computed."""
    return _tidy(_where(condition, one, two))


def minimum(one: Any, two: Any) -> Any:
    """The smaller of two."""
    return _tidy(_minimum(one, two))


def maximum(one: Any, two: Any) -> Any:
    """The larger of two."""
    return _tidy(_maximum(one, two))


def sign(value: Any) -> Any:
    """-1, 0 or 1; numbers with a rate lose it, as the sign is constant on either side."""
    own = getattr(value, "sign", None)  # numbers with a rate
    return own() if own else _tidy(_sign(value))


def both(one: Any, two: Any) -> Any:
    """Whether both conditions hold."""
    return _tidy(_both(one, two))


def either(one: Any, two: Any) -> Any:
    """Whether one of two conditions holds."""
    return _tidy(_either(one, two))


def negated(condition: Any) -> Any:
    """Whether a condition does not hold."""
    return _tidy(_negated(condition))
