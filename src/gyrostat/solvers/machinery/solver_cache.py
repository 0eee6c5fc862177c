"""Solvers are built once for each model object and cached on it: the one-line functions find them there."""

from __future__ import annotations

from typing import Any

from gyrostat.configuration.model_cache import cached_on
from gyrostat.errors import GyrostatError
from gyrostat.solvers.machinery.variants import VARIANT
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
        solver = _of_variant(model, cls, options) or cls(model, **options)
    return cached_on(model).setdefault(key, solver)  # another thread may have been faster: there is one for all


def _of_variant(model: Model, cls: Any, options: dict[str, Any]) -> Any:
    """The solver of a variant, with the kernels of the model it is a variant of; None where there is no such solver."""
    cached = getattr(model, "__dict__", {}).get("_solvers", {})
    if VARIANT not in cached or options.get("live"):
        return None
    base, paths = cached[VARIANT]
    try:
        lender = cached_solver(base, cls, **{**options, "live": paths})
        solver = cls(model, **{**options, "live": paths})
        solver._kernels = lender._kernels
    except (GyrostatError, TypeError, AttributeError):  # no solver with live properties, or these cannot be live
        return None
    return solver
