"""Which sensitivities are asked for: names of parameters and of the start, as columns of a tangent."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import ShapeError, StateError, clipped, nearest
from gyrostat.simulate.plant.parameters import Parameters, further_arguments, known_paths, value_shape
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
START = ("q0", "v0")


@dataclass(frozen=True)
class Asked:
    """``columns``: first column and number of columns by the name that was given; ``live``: values of the properties
    that are inputs, those of the run first; ``gains``: sizes of the gains by name; ``kinds``: what each name is,
    "q0", "v0", the name of a gain, or the path of a property."""

    columns: dict[str, tuple[int, int]]
    kinds: dict[str, str]
    live: dict[str, Array]
    gains: dict[str, int]

    @property
    def count(self) -> int:
        """Columns of all names."""
        return sum(k for _, k in self.columns.values())

    @property
    def wrt(self) -> tuple[str, ...]:
        """Which of the inputs "parameters" and "live" change."""
        kinds = set(self.kinds.values())
        return tuple(
            name for name, known in (("parameters", self.gains), ("live", self.live)) if not kinds.isdisjoint(known)
        )

    def seeds(self, sizes: Mapping[str, int], total: int) -> dict[str, Array]:
        """Columns (size, total) of e, v, parameters and live at the start: ones where a column moves an entry.
        ``sizes``: by these four names."""
        seeds = {name: np.zeros((size, total)) for name, size in sizes.items()}
        places = {"q0": ("e", 0), "v0": ("v", 0)}
        for name, known in (("parameters", self.gains), ("live", {p: x.size for p, x in self.live.items()})):
            start = 0
            for key, size in known.items():
                places[key] = name, start
                start += size
        for given, (first, count) in self.columns.items():
            where, start = places[self.kinds[given]]
            seeds[where][start + np.arange(count), first + np.arange(count)] = 1.0
        return seeds


def asked_for(model: Model, controller: Any, numbers: Parameters, names: Any) -> Asked | None:
    """Read and check what ``sensitivities`` of ``gs.simulate`` names; None if that is nothing."""
    if names is None:
        return None
    if isinstance(names, str) or not isinstance(names, list | tuple) or not all(isinstance(x, str) for x in names):
        raise StateError(f"{WHO}: sensitivities must be a list of names, got {clipped(names)}. Hint: ['kp', 'q0']")
    if not names:
        return None
    live = dict(numbers.live)
    columns: dict[str, tuple[int, int]] = {}
    kinds: dict[str, str] = {}
    for name in names:
        if name in columns:
            raise StateError(f"{WHO}: sensitivities name '{name}' twice. Hint: name it once")
        kind, size = _kind(model, controller, numbers, name, live)
        if kind in kinds.values():
            raise StateError(f"{WHO}: sensitivities name '{kind}' twice, once as '{name}'. Hint: name it once")
        columns[name] = sum(k for _, k in columns.values()), size
        kinds[name] = kind
    return Asked(columns, kinds, live, {name: x.size for name, x in numbers.gains.items()})


def _kind(model: Model, controller: Any, numbers: Parameters, name: str, live: dict[str, Array]) -> tuple[str, int]:
    """What a name stands for, and how many columns it has; a property that is no parameter joins ``live``."""
    if name in START:
        if name in numbers.gains:
            raise StateError(
                f"{WHO}: '{name}' in sensitivities is the start, and a parameter has the same name. "
                "Hint: call the argument of the controller something else"
            )
        return name, model.nv
    if name in numbers.gains:
        return name, numbers.gains[name].size
    path = model.canonical(name)
    if path not in known_paths(model):
        raise _unknown(model, controller, numbers, name)
    if path not in live:
        live[path] = _value(model, path, name)
    return path, live[path].size


def _value(model: Model, path: str, name: str) -> Array:
    value = np.zeros(0)
    with suppress(TypeError, ValueError):
        value = np.array(getattr(model[path], "g", model[path]), dtype=float).reshape(value_shape(model, path))
    if not value.size or not np.isfinite(value).all():
        raise ShapeError(
            f"{WHO}: sensitivities name '{name}', which is {clipped(model[path])} and no finite number. Hint: name a "
            "property that has a number"
        )
    return value


def _unknown(model: Model, controller: Any, numbers: Parameters, name: str) -> StateError:
    arguments = () if callable(getattr(controller, "output", None)) or not callable(controller) else controller
    further = further_arguments(arguments) if arguments else ()
    if name in further:
        return StateError(
            f"{WHO}: sensitivities name '{name}', an argument of the controller whose value is not given. "
            f"Hint: parameters={{'{name}': ...}}"
        )
    known = [*START, *numbers.gains, *further, *known_paths(model)]
    return StateError(
        f"{WHO}: sensitivities name '{name}', which is neither 'q0' nor 'v0', no property of '{model.name}' and no "
        f"argument of the controller. Hint: {nearest(name, known)}"
    )
