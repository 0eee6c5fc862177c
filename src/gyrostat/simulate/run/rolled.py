"""Wheels that roll, given to a run beside its events: they become a part of its model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from gyrostat.configuration.model_cache import cached_on
from gyrostat.spec.model import Model
from gyrostat.spec.rolling import RollingOn

KEPT = "rolling wheels"
MOST = 8
"""Models with wheels that stay with the one they were made of."""


def rolled(model: Model, events: Any) -> tuple[Model, Any]:
    """The model with the wheels among ``events``, made once for a model object, and what is left of the events."""
    if isinstance(events, RollingOn):
        events = [events]
    if not isinstance(events, Iterable) or isinstance(events, str):
        return model, events
    events = list(events) if not isinstance(events, list | tuple) else events
    wheels = tuple(x for x in events if isinstance(x, RollingOn))
    if not wheels:
        return model, events
    kept = cached_on(model).setdefault(KEPT, {})
    if wheels not in kept:
        whole = model
        for wheel in wheels:
            whole = whole.with_rolling(wheel)
        while len(kept) >= MOST:
            kept.pop(next(iter(kept)))
        kept[wheels] = whole
    return kept[wheels], [x for x in events if not isinstance(x, RollingOn)]
