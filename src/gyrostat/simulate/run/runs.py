"""Which runs a call asks for: one, or N with states and parameters of their own."""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, ShapeError, StateError, clipped
from gyrostat.simulate.plant.parameters import Parameters, further_arguments, given_parameters, known_paths, value_shape
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"


@dataclass(frozen=True)
class Runs:
    """``q`` (N, nq), ``v`` (N, nv) at the start; ``live`` and ``gains`` with the runs in front, by name."""

    q: Array
    v: Array
    live: Mapping[str, Array]
    gains: Mapping[str, Array]
    spelt: Mapping[str, str]

    def __len__(self) -> int:
        return len(self.q)

    def parameters(self, k: int) -> Parameters:
        """Of run k."""
        live, gains = ({name: np.asarray(x[k]) for name, x in given.items()} for given in (self.live, self.gains))
        return Parameters(live, gains, dict(self.spelt))


def given_runs(
    model: Model, torque: Any, q: Array, v: Array, parameters: Mapping[str, Any] | None, runs: Any
) -> Runs | None:
    """N runs, if q (N, nq), v (N, nv), a property (N, ...) or ``runs`` say so; None for a single one."""
    leads = {"q0": q.shape[:-1], "v0": v.shape[:-1]}
    given = parameters if isinstance(parameters, Mapping) else {}
    gains = _arguments(torque) & given.keys() if given else frozenset[str]()
    for name in given.keys() - gains:
        lead = _lead_of_property(model, name, given[name])
        if lead is not None:
            leads[f"parameters['{name}']"] = lead
    if runs is None and not any(leads.values()):
        return None
    if runs is not None:
        leads["runs"] = (_count(runs),)
    arrays = {name: real_array(x, WHO, f"parameters['{name}']") for name, x in given.items()}
    leads |= {f"parameters['{name}']": arrays[name].shape[:1] for name in gains}
    return _split(model, torque, q, v, arrays, _together(leads), leads)


def _arguments(torque: Any) -> frozenset[str]:
    """Further arguments of a function."""
    function = callable(torque) and not callable(getattr(torque, "output", None))
    return frozenset(further_arguments(torque) if function else ())


def _lead_of_property(model: Model, name: Any, value: Any) -> tuple[int, ...] | None:
    """Axes of runs in front of a property; None for what is no property, or has another shape, as others will tell."""
    path = model.canonical(name) if isinstance(name, str) else name
    if path not in known_paths(model):
        return None
    shape, given = value_shape(model, path), np.shape(value)
    return given[: len(given) - len(shape)] if given[len(given) - len(shape) :] == shape else None


def _count(runs: Any) -> int:
    try:
        count = operator.index(runs)
    except TypeError:
        count = 0
    if count < 1 or isinstance(runs, bool):
        raise StateError(f"{WHO}: runs must be a whole number from 1 on, got {clipped(runs)}. Hint: runs=100")
    return count


def _together(leads: Mapping[str, tuple[int, ...]]) -> int:
    """N."""
    told = ", ".join(f"{name} {shape}" for name, shape in leads.items() if shape)
    try:
        lead = np.broadcast_shapes(*leads.values())
    except ValueError:
        raise ShapeError(
            f"{WHO}: numbers of runs do not go together: {told}. Hint: N in front of each, or one for all; a gain with "
            "several numbers for all runs has the shape (1, ...)"
        ) from None
    if len(lead) != 1 or not lead[0]:
        raise ShapeError(f"{WHO}: one axis of runs is expected in front of each state, got {told}. Hint: (N, nq)")
    return lead[0]


def _split(
    model: Model, torque: Any, q: Array, v: Array, arrays: dict[str, Array], count: int, leads: Mapping[str, Any]
) -> Runs:
    full: dict[str, Array] = {}
    for name, x in arrays.items():
        if not np.isfinite(x).all():
            raise NonFiniteError(f"{WHO}: parameters['{name}'] is not finite everywhere")
        lead = len(leads.get(f"parameters['{name}']", ()))
        full[name] = np.broadcast_to(x, (count, *x.shape[lead:]))
    one = given_parameters(model, torque, {name: x[0] for name, x in full.items()}, WHO)
    live, gains = ({name: full[one.spelt[name]] for name in part} for part in (one.live, one.gains))
    q, v = (np.broadcast_to(x, (count, x.shape[-1])) for x in (q, v))
    return Runs(q, v, live, gains, one.spelt)
