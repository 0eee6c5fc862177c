"""Models that differ in a few numbers only, and share the machine code of their solvers.

A study of designs asks for the same solvers of hundreds of models. Their kernels take the numbers that differ as inputs
(``live`` properties), so one compilation serves all; every variant has solvers of its own, with its own numbers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from gyrostat.configuration.model_cache import cached_on
from gyrostat.spec.model import Model

VARIANT = "variant of"
"""Key in the cache of a model: (the model it is a variant of, paths that differ)."""


def variant(model: Model, changes: Mapping[str, float]) -> Model:
    """``model.replace(changes)``, whose solvers are compiled once for all variants with other values of these paths."""
    other = model.replace(dict(changes))
    cached_on(other)[VARIANT] = (model, tuple(changes))
    return other


def set_live(solver: Any, values: Mapping[str, Any]) -> None:
    """Other numbers for live properties of a solver that its caller owns; they must have been checked."""
    for path, value in values.items():
        solver._live[path][...] = value
