"""Numbers of a run that are inputs of its machine code: physical properties by path, further arguments of the law by
name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.configuration.model_cache import cached_on
from gyrostat.configuration.packing import real_array
from gyrostat.errors import NonFiniteError, ShapeError, StateError, nearest
from gyrostat.solvers.machinery.live_properties import expect_may_be_live
from gyrostat.spec.check import check
from gyrostat.spec.model import Model

Array = np.ndarray


def further_arguments(controller: Callable[..., Any]) -> tuple[str, ...]:
    """Names of the arguments that a function takes after t, q, v."""
    try:
        parameters = list(inspect.signature(controller).parameters.values())
    except (TypeError, ValueError):  # something built in
        return ()
    kinds = inspect.Parameter
    named = [p.name for p in parameters if p.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)]
    return tuple(named[3:])


@dataclass(frozen=True)
class Parameters:
    """``live``: physical properties by their path; ``gains``: further arguments of the law by name. ``spelt``: how they
    were named by whom."""

    live: dict[str, Array] = field(default_factory=dict)
    gains: dict[str, Array] = field(default_factory=dict)
    spelt: dict[str, str] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.live or self.gains)

    @property
    def sizes(self) -> dict[str, int]:
        """How many numbers each has, in the order of the inputs: gains, then properties."""
        return {name: x.size for name, x in (self.gains | self.live).items()}

    def replaced(self, model: Model) -> Model:
        """The model with the properties of this run; checked as any model is. A number between two that were checked
        before, with all others as they are, needs no check: rules bound numbers from below or above."""
        if not self.live:
            return model
        new = model.replace({path: x if x.ndim else float(x) for path, x in self.live.items()})
        checked = cached_on(model).setdefault("checked parameters", {})
        key = tuple(self.live)
        low, high = checked.get(key, (np.inf, -np.inf))
        values = np.concatenate([np.ravel(x) for x in self.live.values()])
        if len(values) > 1 or not np.all((low <= values) & (values <= high)):
            check(new)
            checked[key] = np.minimum(low, values), np.maximum(high, values)
        return new


def known_paths(model: Model) -> frozenset[str]:
    """Paths of all physical properties."""
    kept = cached_on(model)
    if "paths" not in kept:
        kept["paths"] = frozenset(model.paths())
    return kept["paths"]


def value_shape(model: Model, path: str) -> tuple[int, ...]:
    """Shape of a physical property."""
    return np.shape(getattr(model[path], "g", model[path]))


def given_parameters(model: Model, controller: Any, given: Mapping[str, Any] | None, who: str) -> Parameters:
    """Read and check the parameters of one run."""
    if not given:
        return Parameters()
    if not isinstance(given, Mapping):
        raise StateError(
            f"{who}: parameters must map names to numbers, got {type(given).__name__}. Hint: {{'kp': 2.0}}"
        )
    known = further_arguments(controller) if inspect.isroutine(controller) or callable(controller) else ()
    known = () if callable(getattr(controller, "output", None)) else known
    live: dict[str, Array] = {}
    gains: dict[str, Array] = {}
    spelt: dict[str, str] = {}
    paths = known_paths(model)
    for name, value in given.items():
        array = np.array(real_array(value, who, f"parameters['{name}']"), dtype=float)
        if not np.isfinite(array).all():
            raise NonFiniteError(f"{who}: parameters['{name}'] is not finite everywhere")
        if name in known:
            gains[name], spelt[name] = array, name
            continue
        path = model.canonical(name) if isinstance(name, str) else name
        if path not in paths:
            raise StateError(
                f"{who}: parameters name '{name}', which is no property of '{model.name}' and no argument of the "
                f"controller. Hint: {nearest(str(name), [*known, *sorted(paths)])}"
            )
        shape = value_shape(model, path)
        if array.shape != shape:
            raise ShapeError(f"{who}: parameters['{name}'] has shape {array.shape}, expected {shape}")
        expect_may_be_live(model, path)
        live[path], spelt[path] = array, name
    return Parameters(live, gains, spelt)
