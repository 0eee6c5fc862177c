"""A model as YAML text: ``from_text(to_text(model)) == model``; equal models give equal bytes."""

from __future__ import annotations

from typing import Any

from pydantic_core import PydanticSerializationError

from gyrostat.errors import LoadError, Problem, SaveError
from gyrostat.io.yaml.emit import emit
from gyrostat.io.yaml.migrations import VERSION
from gyrostat.io.yaml.parse import read
from gyrostat.io.yaml.versions import needed_version, unused_later
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import check
from gyrostat.spec.context import GravityField, MovingBase
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model


def to_text(model: Model) -> str:
    """The model as YAML text, in the oldest version that can say it. It is checked first: what can be written can be
    read."""
    check(model)
    _refuse_functions(model)
    data: dict[str, Any] = {VERSION: needed_version(model.entities, context=model.context), "name": model.name}
    data["context"] = model.context.model_dump(mode="json", exclude=unused_later("context", model.context))
    data["entities"] = [_plain(entity) for entity in model.entities]
    if model.connections:
        data["connections"] = [list(ports) for ports in model.connections]
    if model.solvers:
        data["solvers"] = {name: spec.data() for name, spec in sorted(model.solvers.items())}
    text = emit(data)
    try:
        read(text, f"model '{model.name}'")
    except LoadError as error:  # too large, or assemblies nested too deep
        raise SaveError(error.problems) from None
    return text


def _refuse_functions(model: Model) -> None:
    problems: list[Problem] = []
    for name, kind in (("gravity", GravityField), ("base", MovingBase)):
        value = getattr(model.context, name)
        if isinstance(value, kind):
            message = f"'{name}' is a Python function, which a file cannot hold"
            remedy = "save the model with data in its place (model.replace), and set the function again after loading"
            problems.append(Problem("context", "function", message, remedy, value))
    if problems:
        raise SaveError(problems)


def _plain(entity: Entity) -> dict[str, Any]:
    if Entity.registry.get(entity.type_name) is not type(entity):
        message = f"'{entity.type_name}' is not a kind of entity that can be read back"
        remedy = "make it a subclass of Entity with a name of its own"
        raise SaveError([entity.problem("unknown-kind", message, remedy, type(entity).__name__)])
    inner = {"entities"} if isinstance(entity, Assembly) else set[str]()
    try:
        properties = entity.model_dump(mode="json", exclude_defaults=True, exclude={"name"} | inner)
    except PydanticSerializationError as error:
        message = f"has a property that cannot be stored: {error}"
        remedy = "give its type a serializer, or use plain data"
        raise SaveError([entity.problem("unstorable", message, remedy)]) from None
    if isinstance(entity, Assembly):
        properties = {"entities": [_plain(child) for child in entity.entities]} | properties
    return {entity.type_name: entity.name} | properties
