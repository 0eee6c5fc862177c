"""The text form of a model: YAML, schema version 1. ``from_text(to_text(model)) == model``, and the bytes are stable."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError

from gyrostat.errors import SaveError, SpecError
from gyrostat.io.yaml_emit import emit
from gyrostat.io.yaml_read import ModelReader
from gyrostat.io.yaml_text import read
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import check, problems
from gyrostat.spec.context import Context, GravityField, MovingBase
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model

VERSION = 1


def to_text(model: Model) -> str:
    """The model as YAML text. It is checked first: what can be written can be read."""
    check(model)
    data: dict[str, Any] = {"gyrostat": VERSION, "name": model.name, "context": _plain_context(model.context)}
    data["entities"] = [_plain_entity(entity) for entity in model.entities]
    if model.connections:
        data["connections"] = [list(ports) for ports in model.connections]
    return emit(data)


def from_text(text: str, file: str = "<text>") -> Model:
    """The model that a YAML text describes; one :class:`SpecError` lists every mistake, in order of lines.

    ``file`` is the name that messages give to the text.
    """
    reader = ModelReader(file, VERSION)
    model = reader.model(read(text, file))
    found = reader.found + (problems(model, reader.doubts) if model else [])
    if found:
        unique = list(dict.fromkeys((p.where, p.entity, p.rule, p.message, p.remedy) for p in found))
    return model
