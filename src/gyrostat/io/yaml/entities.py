"""The sections ``entities``, ``connections`` and ``exposes`` of a text, of the model as of assemblies."""

from __future__ import annotations

from collections import Counter
from typing import Any

from gyrostat.errors import clipped, near, nearest
from gyrostat.io.yaml.parse import Node
from gyrostat.io.yaml.properties import CLOSE, build, known_properties
from gyrostat.io.yaml.reading import Reading
from gyrostat.io.yaml.versions import refuse_later_kind, refuse_later_properties
from gyrostat.spec.assembly import Assembly, to_connection
from gyrostat.spec.check import place_of
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity
from gyrostat.spec.reference_frame import ReferenceFrame


def read_entities(reading: Reading, node: Node | None, prefix: str, label: str) -> tuple[Entity, ...]:
    """Entities as far as they can be made out; ``prefix``: path of the assembly with a dot, ``label``: its name."""
    if node is None or not isinstance(node.value, list):
        if node is None:
            where = place_of(reading.sources, prefix.rstrip(".") or "model")
            reading.add(label, "missing-property", "needs the property 'entities'", "add 'entities'", None, where)
        else:
            message = f"'entities' must be a list, got {clipped(node.plain())}"
            remedy = "write one '- kind: name' for each"
            reading.add(label, "property-type", message, remedy, node.plain(), node.line)
        reading.doubt_scope(prefix)
        return ()
    seen: Counter[str] = Counter()
    entities = [_entity(reading, item, prefix, seen) for item in node.value]
    return tuple(entity for entity in entities if entity is not None)


def _entity(reading: Reading, item: Node, prefix: str, seen: Counter[str]) -> Entity | None:
    if not isinstance(item.value, dict) or not item.value:
        message = f"must be a mapping that begins with kind and name, got {clipped(item.plain())}"
        reading.add("entity", "property-type", message, "write for example 'joint: elbow'", item.plain(), item.line)
        reading.doubt_scope(prefix)
        return None
    key, kind = _kind(reading, item.value, item.line, prefix)
    name = _name(reading, item.value[key], key, prefix, known=kind is not None)
    seen[name] += 1
    full = prefix + name
    if seen[name] > 1:
        full += " (again)" if seen[name] == 2 else f" (again {seen[name] - 1})"
    reading.note(full, item.line)
    entity = _of_kind(reading, kind, name, full, item.value, key) if kind else None
    if entity is None:
        reading.doubts.names.add(full)
        reading.doubts.root |= kind is None or issubclass(kind, ReferenceFrame)
        return Entity(name)
    return entity


def _kind(reading: Reading, given: dict[str, Node], line: int, prefix: str) -> tuple[str, type[Entity] | None]:
    """The key that names the kind, and the class; the most likely one if no key does."""
    for key in given:
        if key in Entity.registry:
            return key, Entity.registry[key]
    guesses = [(key, kind) for key in given for kind in near(key, Entity.registry, 1, CLOSE)]
    key, kind = guesses[0] if guesses else (next(iter(given)), None)
    name = prefix + given[key].text if given[key].text else ""
    message = f"there is no kind of entity '{clipped(key)[1:-1]}'"
    remedy = nearest(key, Entity.registry)
    reading.add(f"entity '{name}'" if name else "entity", "unknown-kind", message, remedy, key, line)
    return key, Entity.registry[kind] if kind else None


def _name(reading: Reading, node: Node, key: str, prefix: str, known: bool) -> str:
    if isinstance(node.value, str):
        return node.value
    name = node.text if node.value is not None else ""
    words = key.replace("_", " ")
    message = f"the name must be a text, got {clipped(node.plain())}"
    remedy = f'write {key}: "{name}"' if name else f"write a name behind '{key}:'"
    label = f"{words} '{prefix}{name}'" if name else words
    if known:
        reading.add(label, "property-type", message, remedy, node.plain(), node.line)
    if not name:
        reading.doubt_scope(prefix)
        name = f"?{node.line}"
        reading.doubts.ends.add(prefix + name)
    return name


def _of_kind(
    reading: Reading, kind: type[Entity], name: str, full: str, given: dict[str, Node], key: str
) -> Entity | None:
    label = f"{kind.type_name.replace('_', ' ')} '{full.partition(' (again')[0]}'"
    refuse_later_kind(reading, label, kind, given[key].line)
    refuse_later_properties(reading, label, kind.type_name, given)
    names = tuple(field for field in kind.model_fields if field != "name")
    nodes = known_properties(reading, names, {k: n for k, n in given.items() if k != key}, label, kind)
    inside: dict[str, Any] = {}
    if issubclass(kind, Assembly):
        of = f" of {label}"
        inside["entities"] = read_entities(reading, nodes.pop("entities", None), f"{full}.", label)
        inside["connections"] = read_connections(reading, nodes.pop("connections", None), f"{full}.", of)
        inside["exposes"] = _exposes(reading, nodes.pop("exposes", None), full, label)
    return build(reading, kind, label, full, nodes, lambda data: kind(name, **inside, **data))


def _exposes(reading: Reading, node: Node | None, full: str, label: str) -> dict[str, str]:
    if node is None or node.value is None:
        return {}
    reading.note_all(f"{full}.exposes", node)
    remedy = "write them as in {hip: thigh.origin}"
    if not isinstance(node.value, dict):
        message = f"'exposes' must map outer port names to inner ports, got {clipped(node.plain())}"
        reading.add(label, "property-type", message, remedy, node.plain(), node.line)
        reading.doubts.names.add(full)
        return {}
    inner_ports: dict[str, str] = {}
    for outer, inner in node.value.items():
        if isinstance(inner.value, str):
            inner_ports[outer] = inner.value
        else:
            message = f"'exposes.{outer}' must be the name of an inner port, got {clipped(inner.plain())}"
            reading.add(label, "property-type", message, remedy, inner.plain(), inner.line)
            reading.doubts.names.add(full)
    return inner_ports


def read_connections(reading: Reading, node: Node | None, prefix: str, of: str) -> tuple[tuple[str, ...], ...]:
    """Ports that are joined, as far as they can be made out; ``of``: whose connections, in messages."""
    if node is None or node.value is None:
        return ()
    scope = prefix.rstrip(".")
    if not isinstance(node.value, list):
        message = f"must be a list of connections, got {clipped(node.plain())}"
        remedy = "write [[elbow.b, forearm.origin]]"
        reading.add(f"connections{of}", "property-type", message, remedy, node.plain(), node.line)
        reading.doubts.meant.add(scope)
        return ()
    connections: list[tuple[str, ...]] = []
    for item in node.value:
        try:
            ports = to_connection(item.plain())
        except RefusedError as refused:
            reading.add(f"connection{of}", "property-type", str(refused), refused.remedy, item.plain(), item.line)
            reading.doubts.meant.add(scope)
            texts = [part.text for part in (item.value if isinstance(item.value, list) else [item])]
            reading.doubts.ends |= {prefix + text.partition(".")[0] for text in texts if text}
        else:
            reading.note(f"{prefix}connections[{len(connections)}]", item.line)
            connections.append(ports)
    return tuple(connections)
