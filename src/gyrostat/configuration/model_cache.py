"""What is cached on a model object: its solvers and tables. They go with it; a copy or pickle begins without any."""

from __future__ import annotations

from typing import Any

from gyrostat.spec.model import Model

CACHE = "_solvers"
"""Where it is among the attributes of a model."""


class ModelCache(dict[Any, Any]):
    """Solvers and tables of one model object by key; a copy or pickle of the model begins with an empty one."""

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelCache, ()


def cached_on(model: Model) -> ModelCache:
    """The cache of a model object."""
    return model.__dict__.setdefault(CACHE, ModelCache())
