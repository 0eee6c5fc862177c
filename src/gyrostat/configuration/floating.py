"""Owners of coordinates that hold nothing: what they move floats."""

from __future__ import annotations

from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model


def floats(model: Model, name: str) -> bool:
    """Whether ``name`` is a free base, or a joint of kind "free"."""
    if name == model.wiring.root:
        return model.context.base == "free"
    entity = model.wiring.entities[name]
    return isinstance(entity, Joint) and entity.kind == "free"
