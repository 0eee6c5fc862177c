"""Solvers are built once for each model object and cached on it: the one-line functions find them there."""

from __future__ import annotations

from typing import Any

from gyrostat.configuration.model_cache import cached_on
from gyrostat.spec.model import Model


def cached_solver(model: Model, cls: Any, **options: Any) -> Any:
    """The solver of class ``cls`` of a model with these options, built when first asked for."""
    key = (cls, *sorted(options.items()))
    try:
        return model.__dict__["_solvers"][key]
    except (
        AttributeError,
        KeyError,
        TypeError,
    ):  # the first time; or no model, or odd options, which the solver refuses
        solver = cls(model, **options)
    return cached_on(model).setdefault(key, solver)  # another thread may have been faster: there is one for all
