"""Parameters of an FMU: properties by path and arguments of a law by name, with their values."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.errors import StateError, clipped
from gyrostat.simulate.plant.parameters import Parameters, further_arguments, known_paths
from gyrostat.spec.model import Model


def asked_parameters(model: Model, torque: Any, given: Any, who: str) -> dict[str, Any]:
    """Names with values: what is named alone has that of the model, or the default of the function."""
    if given is None:
        return {}
    if isinstance(given, Mapping):
        return dict(given)
    names = [given] if isinstance(given, str) else given
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise StateError(f"{who}: parameters must be names, or names with values, got {clipped(given)}")
    law = callable(torque) and not callable(getattr(torque, "output", None))
    known = further_arguments(torque) if law else ()
    values: dict[str, Any] = {}
    for name in names:
        if name in known:
            default = inspect.signature(torque).parameters[name].default
            if default is inspect.Parameter.empty:
                raise StateError(f"{who}: parameter '{name}' has no value. Hint: parameters={{'{name}': 2.0}}")
            values[name] = default
        else:
            path = model.canonical(name)
            values[name] = _value(model, path) if path in known_paths(model) else np.nan
    return values


def _value(model: Model, path: str) -> Any:
    """Of a physical property, also of the gravity of the context."""
    return getattr(model[path], "g", model[path])


def entries(numbers: Parameters) -> Iterator[tuple[str, str, float]]:
    """(path, name in the FMU, value) of each number, in the order of the inputs of programs."""
    for path, x in (numbers.gains | numbers.live).items():
        for k, value in enumerate(np.ravel(x).tolist()):
            yield path, numbers.spelt[path] if x.ndim == 0 else f"{numbers.spelt[path]}[{k}]", value
