"""Solvers and tables that hang on a model object; they go with it."""

from __future__ import annotations

from typing import Any

from gyrostat.spec.model import Model


class Kept(dict[Any, Any]):
    """What is kept for one model object; a copy or pickle of the model begins without any."""

    def __reduce__(self) -> tuple[Any, ...]:
        return Kept, ()


def kept(model: Model) -> Kept:
    """What is kept with a model."""
    return model.__dict__.setdefault("_solvers", Kept())
