"""Finding entities and ports by name, and putting new ones into the list they belong to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from gyrostat.errors import SpecError, clipped, nearest
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.check import check as check_model
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import first_of_each

Connections = Sequence[tuple[str, ...]]


def refused(who: str, message: str, remedy: str, value: object = None) -> SpecError:
    """The error of an edit."""
    return SpecError.one(who, "edit", message, remedy, value)


def checked(model: Model, check: bool) -> Model:
    """The model; all problems at once if it has any. What was said to be independent in loops is forgotten with the
    last of them."""
    if model.context.independent and model.wiring.root is not None and not model.wiring.tree.loops:
        model = replace(model, context=model.context.model_copy(update={"independent": ()}))
    if check:
        check_model(model)
    return model


def names_in(model: Model) -> list[str]:
    """Full names of entities and assemblies."""
    return [*model.wiring.entities, *model.wiring.assemblies]


def full_name(model: Model, name: object, who: str) -> str:
    """A name as it is stored: ``elbow.gear`` is ``elbow_drive.gear``; an unknown one is refused."""
    if not isinstance(name, str):
        raise refused(who, f"a name must be a text, got {clipped(name)}", "write the entity's full name", name)
    known = names_in(model)
    for full in (name, model.canonical(name)):
        if full in model.wiring.entities or full in model.wiring.assemblies:
            return full
    raise refused(f"{who} '{name[:60]}'", "there is no such entity", nearest(name, known), name)


def within(model: Model, full: str) -> list[str]:
    """Full names of the entities that a name stands for: itself, or all inside an assembly."""
    if full in model.wiring.entities:
        return [full]
    return [name for name in model.wiring.entities if name.startswith(f"{full}.")]


class PlacedPort(NamedTuple):
    """A port: the assemblies that hold its entity, its name in there, and its kind."""

    scope: tuple[str, ...]
    text: str
    port: Port


def find_port(model: Model, text: object, who: str) -> PlacedPort:
    """The port that is meant: ``hand.tip``, ``hand`` for its origin, ``elbow`` for its b, ``left.hand.tip`` inside an
    assembly."""
    if not isinstance(text, str):
        raise refused(who, f"a port must be a text, got {clipped(text)}", "write entity.port, such as 'hand.tip'", text)
    scope: list[str] = []
    entities, parts = first_of_each(model.entities), text.split(".")
    while True:
        name, rest = parts[0], ".".join(parts[1:])
        entity = entities.get(name)
        if entity is None:
            at = f" in '{'.'.join(scope)}'" if scope else ""
            raise refused(f"{who} '{text[:60]}'", f"there is no entity '{name}'{at}", nearest(name, entities), text)
        ports = {port.name: port for port in entity.ports}
        meant = rest or _own_port(entity, ports)
        if meant in ports:
            return PlacedPort(tuple(scope), f"{name}.{meant}", ports[meant])
        if not isinstance(entity, Assembly) or not rest or parts[1] not in first_of_each(entity.entities):
            what = f"'{name}' has no port '{rest}'" if rest else f"'{name}' has several ports and none was named"
            raise refused(f"{who} '{text[:60]}'", what, nearest(rest, ports), text)
        scope.append(name)
        entities, parts = first_of_each(entity.entities), parts[1:]


def _own_port(entity: Entity, ports: Mapping[str, Port]) -> str:
    """What an entity's name alone stands for."""
    return entity.default_port or ("b" if "b" in ports and ports["b"].kind == "spatial" else "")


def scope_of(model: Model, scope: Sequence[str]) -> tuple[tuple[Entity, ...], Connections]:
    """Entities and connections of the model, or of an assembly in it."""
    entities, connections = model.entities, model.connections
    for name in scope:
        inside = cast("Assembly", first_of_each(entities)[name])
        entities, connections = inside.entities, inside.connections
    return entities, connections


def with_scope(
    model: Model,
    scope: Sequence[str],
    entities: tuple[Entity, ...],
    connections: Connections,
    sources: Mapping[str, str] | None = None,
) -> Model:
    """The model with other entities and connections at a place; ``sources``: file:line of everything, if it changes."""
    for depth in range(len(scope), 0, -1):
        outer, links = scope_of(model, scope[: depth - 1])
        inner = first_of_each(outer)[scope[depth - 1]]
        fields = {key: getattr(inner, key) for key in type(inner).model_fields}
        changed = type(inner).model_validate(fields | {"entities": entities, "connections": connections})
        entities, connections = tuple(changed if e is inner else e for e in outer), links
    places = model.sources if sources is None else sources
    return replace(model, entities=entities, connections=tuple(connections), sources=places)
