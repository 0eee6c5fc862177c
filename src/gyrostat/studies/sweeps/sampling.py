"""Points of a study, from ranges by path; the same seed gives the same points, to the bit.

A range is ``(low, high)``, uniform; ``{"normal": [mean, deviation]}``, ``{"log": [low, high]}``, ``{"integer": [low,
high]}`` (both ends) or ``{"choice": [...]}``."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest

Point = dict[str, Any]
Array = np.ndarray
SHAPES = ("normal", "log", "integer", "choice")
MOST = 10_000_000
"""Points of a study."""


def grid(values: Mapping[str, Sequence[Any]]) -> list[Point]:
    """All combinations, the last path fastest."""
    for path, given in values.items():
        if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray) or not len(given):
            raise GyrostatError(f"study: grid '{path}' must be a list of values, got {clipped(given)}.")
    if math.prod(len(x) for x in values.values()) > MOST:
        raise GyrostatError(f"study: the grid has more than {MOST} points. Hint: lhs or sobol with count=")
    return [dict(zip(values, x, strict=True)) for x in itertools.product(*(_plain(v) for v in values.values()))]


def sampled(how: str, ranges: Mapping[str, Any], count: int, seed: int) -> list[Point]:
    """``count`` points by random numbers ("random"), a Latin hypercube ("lhs") or Sobol's sequence ("sobol")."""
    from scipy.stats import qmc  # SciPy is an extra

    n = len(ranges)
    if how == "random":
        unit = np.random.default_rng(seed).random((count, n))
    elif how == "lhs":
        unit = qmc.LatinHypercube(n, rng=np.random.default_rng(seed)).random(count)
    else:
        sequence = qmc.Sobol(n, rng=np.random.default_rng(seed))
        unit = sequence.random_base2(max(0, math.ceil(math.log2(count))))[:count]
    return from_unit(ranges, unit)


def from_unit(ranges: Mapping[str, Any], unit: Array) -> list[Point]:
    """Points from numbers between 0 and 1 (points, paths), by the inverse of each distribution."""
    columns = [_spread(path, given, unit[:, k]) for k, (path, given) in enumerate(ranges.items())]
    return [dict(zip(ranges, row, strict=True)) for row in zip(*columns, strict=True)]


def _spread(path: str, given: Any, unit: Array) -> list[Any]:
    shape, values = read_range(path, given)
    if shape == "uniform":
        return (values[0] + (values[1] - values[0]) * unit).tolist()
    if shape == "log":
        low, high = np.log(values)
        return np.exp(low + (high - low) * unit).tolist()
    if shape == "integer":
        span = values[1] - values[0] + 1
        return [int(values[0] + min(math.floor(u * span), span - 1)) for u in unit]
    if shape == "choice":
        return [values[min(int(u * len(values)), len(values) - 1)] for u in unit]
    from scipy.special import ndtri  # SciPy is an extra

    return (values[0] + values[1] * ndtri(np.clip(unit, 1e-12, 1.0 - 1e-12))).tolist()


def read_range(path: str, given: Any) -> tuple[str, list[Any]]:
    """Shape and numbers of a range, checked."""
    shape, values = "uniform", given
    if isinstance(given, Mapping):
        if len(given) != 1 or next(iter(given)) not in SHAPES:
            hint = nearest(str(next(iter(given), "")), SHAPES)
            raise GyrostatError(f"study: range of '{path}' is {clipped(dict(given))}. Hint: {hint}")
        ((shape, values),) = given.items()
    values = list(_plain(values)) if isinstance(values, Sequence | np.ndarray) and not isinstance(values, str) else []
    if shape == "choice":
        good = bool(values)
    else:
        good = len(values) == 2 and all(isinstance(x, int | float) and math.isfinite(x) for x in values)
        good = good and (values[1] > 0.0 if shape == "normal" else values[0] < values[1])
        good = good and (shape != "log" or values[0] > 0.0)
        good = good and (shape != "integer" or all(isinstance(x, int) for x in values))
    if not good:
        raise GyrostatError(
            f"study: range of '{path}' is {clipped(given)}, expected (low, high) or {', '.join(SHAPES)}."
        )
    return shape, values


def _plain(values: Any) -> list[Any]:
    return [x.item() if isinstance(x, np.generic) else x for x in values]
