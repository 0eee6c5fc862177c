"""Which parameters matter over their whole ranges: indices of Sobol and elementary effects of Morris, by SALib."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.studies.sweeps.sampling import MOST, Point, from_unit, read_range

METHODS = ("sobol", "morris")
Array = np.ndarray


@dataclass(frozen=True)
class Indices:
    """Of one output, by path: Sobol's ``first`` order and ``total``, with half widths of 95 percent intervals, or
    Morris' ``mean`` |effect| and ``deviation`` in units of the output for the whole range."""

    output: str
    paths: tuple[str, ...]
    values: dict[str, Array]


def designed(given: Mapping[str, Any], seed: int) -> list[Point]:
    """The points that a method asks for: (n + 2) count for Sobol, (n + 1) count for Morris."""
    method, over, count = expect_design(given)
    problem = _problem(over)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SALib wants powers of two, and says so by a warning
        if method == "sobol":
            from SALib.sample import sobol

            unit = sobol.sample(problem, count, calc_second_order=False, seed=seed)
        else:
            from SALib.sample import morris

            unit = morris.sample(problem, count, seed=seed)
    return from_unit(over, unit)


def indices(given: Mapping[str, Any], output: str, values: Array, seed: int) -> Indices:
    """From the values (points,) of an output at the points of :func:`designed`."""
    method, over, _ = expect_design(given)
    problem = _problem(over)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        if method == "sobol":
            from SALib.analyze import sobol

            found = sobol.analyze(problem, values, calc_second_order=False, seed=seed)
            named = {"first": "S1", "first_interval": "S1_conf", "total": "ST", "total_interval": "ST_conf"}
        else:
            from SALib.analyze import morris
            from SALib.sample import morris as sample

            unit = sample.sample(problem, expect_design(given)[2], seed=seed)
            found = morris.analyze(problem, unit, values, seed=seed)
            named = {"mean": "mu_star", "deviation": "sigma"}
    return Indices(output, tuple(over), {key: np.asarray(found[name], dtype=float) for key, name in named.items()})


def expect_design(given: Mapping[str, Any]) -> tuple[str, dict[str, Any], int]:
    """Method, ranges and count of a design, checked."""
    method, over, count = given.get("method", "sobol"), given.get("over", {}), given.get("count", 128)
    if not isinstance(over, Mapping):
        raise GyrostatError(f"study: sensitivity: over must be by path, got {clipped(over)}.")
    for key in given:
        if key not in ("method", "over", "count"):
            raise GyrostatError(f"study: sensitivity has {clipped(key)}. Hint: method, over, count")
    if method not in METHODS:
        raise GyrostatError(f"study: sensitivity: no method {clipped(method)}. Hint: {nearest(str(method), METHODS)}")
    if not over or isinstance(count, bool) or not isinstance(count, int) or count < 2:
        raise GyrostatError("study: sensitivity needs over: {path: (low, high)} and count >= 2.")
    if (len(over) + 2) * count > MOST:
        raise GyrostatError(f"study: sensitivity asks for more than {MOST} points. Hint: a smaller count")
    for path, limits in over.items():
        if read_range(path, limits)[0] in ("choice", "integer"):
            raise GyrostatError(f"study: sensitivity over '{path}' needs a continuous range.")
    return method, dict(over), count


def _problem(over: Mapping[str, Any]) -> dict[str, Any]:
    try:
        import SALib as _  # noqa: F401
    except ImportError as error:
        raise GyrostatError(
            f"study: sensitivity needs SALib ({error}). Hint: pip install 'gyrostat[sweeps]'."
        ) from None
    return {"num_vars": len(over), "names": list(over), "bounds": [[0.0, 1.0]] * len(over)}
