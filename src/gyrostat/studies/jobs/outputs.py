"""What is read off a computation: numbers by a few fixed words, from the arrays that it has.

    max-abs tau.elbow      the largest magnitude of one column over time
    rms error              over time and over all columns
    final q.shoulder       the last row
    final z(lower.tip)     a coordinate of a frame [m]
    f1                     a number that the computation has by itself

A word is one of ``final, first, min, max, max-abs, mean, rms, range``."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest

Array = np.ndarray
WORDS: dict[str, Callable[[Array], Any]] = {
    "final": lambda x: x[-1],
    "first": lambda x: x[0],
    "min": np.min,
    "max": np.max,
    "max-abs": lambda x: np.max(np.abs(x)),
    "mean": np.mean,
    "rms": lambda x: np.sqrt(np.mean(x * x)),
    "range": lambda x: np.max(x) - np.min(x),
}
FRAME = re.compile(r"([xyz])\((.+)\)")


@dataclass(frozen=True)
class Computed:
    """What one computation has: ``series`` with time in front, names of their columns, ``numbers`` by name, and
    ``frame(name)`` -> positions (T, 3), where there is motion."""

    series: Mapping[str, Array] = field(default_factory=dict)
    columns: Mapping[str, Sequence[str]] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    frame: Callable[[str], Array] | None = None


def check_output(name: str, text: Any) -> None:
    """Refuse what is no output, before anything is computed."""
    if not isinstance(name, str) or not isinstance(text, str) or not text.strip():
        raise GyrostatError(f"job: output {clipped(name)} must be a text, got {clipped(text)}.")
    word, *rest = text.split()
    if rest and (word not in WORDS or len(rest) != 1):
        raise GyrostatError(f"job: output '{name}': there is no word {clipped(word)}. Hint: {nearest(word, WORDS)}")


def number(computed: Computed, name: str, text: str) -> float:
    """The number that an output asks for."""
    word, *rest = text.split()
    if not rest:
        if word not in computed.numbers:
            known = [*computed.numbers, *(f"final {x}" for x in computed.series)]
            raise GyrostatError(f"job: output '{name}': there is no number '{word}'. Hint: {nearest(word, known)}")
        return float(computed.numbers[word])
    rows = _rows(computed, name, rest[0])
    if word in ("final", "first") and rows.ndim > 1 and rows[0].size != 1:
        raise GyrostatError(f"job: output '{name}': '{rest[0]}' has {rows[0].size} columns. Hint: name one, as q.elbow")
    value = float(np.asarray(WORDS[word](rows)).reshape(-1)[0])
    if not np.isfinite(value):
        raise GyrostatError(f"output '{name}' ({text}) is {value}")
    return value


def array(computed: Computed, name: str) -> Array:
    """A whole series, or a column of one."""
    return _rows(computed, name, name)


def _rows(computed: Computed, name: str, what: str) -> Array:
    """Rows over time: a series, a column of it, or a coordinate of a frame."""
    of_frame = FRAME.fullmatch(what)
    if of_frame:
        if computed.frame is None:
            raise GyrostatError(f"job: output '{name}': there is no motion of frames here")
        return computed.frame(of_frame[2])[:, "xyz".index(of_frame[1])]
    if what in computed.series:
        return np.asarray(computed.series[what], dtype=float)
    series, _, column = what.partition(".")
    if series not in computed.series:
        hint = nearest(series, [*computed.series, "x(frame)"])
        raise GyrostatError(f"job: output '{name}': there is no series '{series}'. Hint: {hint}")
    columns = list(computed.columns.get(series, ()))
    if column not in columns:
        raise GyrostatError(
            f"job: output '{name}': '{series}' has no column '{column}'. Hint: {nearest(column, columns)}"
        )
    return np.asarray(computed.series[series], dtype=float)[:, columns.index(column)]
