"""Controllers and references from plain data, as a file or a job holds them.

    kind: pd                  # p, pi, pd, pid, computed-torque, feedforward, constant
    kp: 50                    # a number, one for each rate, or by name {elbow: 50, ...}
    kd: [5, 4]
    reference: {kind: quintic, start: [0, 0], end: [1, -1], duration: 2}     # or numbers: a point that stays
    limit: 40
    feedforward: gravity      # or inverse-dynamics
    sample_time: 0.001
    delay: 2

The words are those of :mod:`gyrostat.simulate.blocks` and :mod:`gyrostat.simulate.trajectories`; nothing else is known,
and nothing is executed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, clipped, nearest
from gyrostat.simulate.blocks.controllers import by_joint, computed_torque, feedforward, p, pd, pi, pid
from gyrostat.simulate.blocks.model_based import GravityCompensation, InverseDynamicsFeedforward
from gyrostat.simulate.trajectories.filtered_step import filtered_step
from gyrostat.simulate.trajectories.fourier import fourier
from gyrostat.simulate.trajectories.polynomial import bezier, hermite, hold, point_to_point, quintic, septic
from gyrostat.simulate.trajectories.spline import spline
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.simulate.trajectories.trapezoidal import trapezoidal
from gyrostat.spec.model import Model

REFERENCES: dict[str, Callable[..., Trajectory]] = {
    "bezier": bezier,
    "filtered-step": filtered_step,
    "fourier": fourier,
    "hermite": hermite,
    "hold": hold,
    "point-to-point": point_to_point,
    "quintic": quintic,
    "septic": septic,
    "spline": spline,
    "trapezoidal": trapezoidal,
}
LAWS: dict[str, Callable[..., Any]] = {
    "p": p,
    "pi": pi,
    "pd": pd,
    "pid": pid,
    "computed-torque": computed_torque,
    "feedforward": feedforward,
}
AHEAD = {"gravity": GravityCompensation, "inverse-dynamics": InverseDynamicsFeedforward}
OF_A_CALL = ("model", "size", "position", "velocity", "name", "names")


def law_from_data(data: Any, model: Model, who: str = "torque") -> Any:
    """What ``gs.simulate`` takes as torque, of a model, from plain data; None stays None."""
    if data is None:
        return None
    if not isinstance(data, Mapping):
        return numbers(data, who)
    kind = data.get("kind")
    given = {key: value for key, value in data.items() if key != "kind"}
    if kind == "constant":
        _known(given, ("tau",), f"{who} of kind 'constant'")
        return numbers(by_joint(given.get("tau"), model, who, "tau"), f"{who}.tau")
    law = _word(kind, LAWS, who, (*LAWS, "constant"))
    label = f"{who} of kind '{kind}'"
    _known(given, _arguments(law), label)
    if "reference" in given:
        given["reference"] = reference_from_data(given["reference"], model, f"{who}.reference")
    if "feedforward" in given:
        given["feedforward"] = _word(given["feedforward"], AHEAD, f"{who}.feedforward", AHEAD)(model)
    first = (model,) if law in (computed_torque, feedforward) else ()
    return _called(law, first, given if first else {**given, "model": model}, label)


def reference_from_data(data: Any, model: Model, who: str = "reference") -> Any:
    """A trajectory, or numbers for a point that stays, from plain data."""
    if not isinstance(data, Mapping):
        return numbers(data, who)
    if "kind" not in data:
        return numbers(by_joint(data, model, who, "reference"), who)
    make = _word(data["kind"], REFERENCES, who, REFERENCES)
    given = {key: value for key, value in data.items() if key != "kind"}
    if make is quintic or make is septic:
        known = ("start", "end", "duration", "start_derivatives", "end_derivatives")
    else:
        known = _arguments(make)
    _known(given, known, f"{who} of kind '{data['kind']}'")
    given = {key: by_joint(value, model, who, key) for key, value in given.items()}
    return _called(make, (), given, f"{who} of kind '{data['kind']}'")


def numbers(value: Any, who: str) -> np.ndarray:
    """An array of finite numbers."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        raise GyrostatError(f"{who}: must be numbers or data with a kind, got {clipped(value)}.") from None
    if not np.all(np.isfinite(array)):
        raise GyrostatError(f"{who}: must be finite, got {clipped(value)}.")
    return array


def _word(name: Any, table: Mapping[str, Any], who: str, known: Any) -> Any:
    if not isinstance(name, str) or name not in table:
        raise GyrostatError(f"{who}: there is no kind {clipped(name)}. Hint: {nearest(str(name), known)}")
    return table[name]


def _arguments(function: Callable[..., Any]) -> tuple[str, ...]:
    """Names that data may give, with those of the functions that ``**options`` go to."""
    names = dict.fromkeys(inspect.signature(function).parameters)
    if "options" in names:
        names |= dict.fromkeys(inspect.signature(pid).parameters)
    return tuple(name for name in names if name not in (*OF_A_CALL, "options"))


def _known(given: Mapping[str, Any], known: Any, who: str) -> None:
    for key in given:
        if key not in known:
            raise GyrostatError(f"{who} has no property {clipped(key)}. Hint: {nearest(str(key), known)}")


def _called(function: Callable[..., Any], first: tuple[Any, ...], given: Mapping[str, Any], who: str) -> Any:
    try:
        inspect.signature(function).bind(*first, **given)
    except TypeError as error:
        raise GyrostatError(f"{who}: {error}.") from None
    return function(*first, **given)
