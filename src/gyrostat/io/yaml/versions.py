"""Which version of the text form a file says it is in, and which one a model needs to be written in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from pydantic import BaseModel

from gyrostat.errors import LoadError, Problem, SaveError, SpecError, clipped, near
from gyrostat.io.yaml.migrations import (
    LATER,
    LATER_IN_SHAPES,
    LATER_SHAPES,
    MIGRATIONS,
    VERSION,
    Migrations,
    newest,
    oldest_alike,
)
from gyrostat.io.yaml.parse import Node, read
from gyrostat.io.yaml.reading import Reading
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.context import Context
from gyrostat.spec.entity import Entity

RULE = "schema-version"
UPGRADE = "upgrade gyrostat: pip install --upgrade gyrostat"


def read_version(reading: Reading, root: Node, migrations: Migrations = MIGRATIONS) -> int:
    """The version that a file says. One that is missing or no whole number is a mistake, and the rest is read as the
    newest; a newer one than this gyrostat knows is refused at once: nobody here knows what the rest means."""
    node, last = _version_node(root), newest(migrations)
    if node is None:
        message = f"needs the property '{VERSION}', the version of the format"
        reading.add("model", RULE, message, f"write '{VERSION}: {last}'", None, root.line)
        return last
    version = _whole(node)
    if version is not None and 1 <= version <= last:
        return version
    message = f"has the format version {clipped(node.plain())}, this gyrostat reads {_known(last)}"
    if version is not None and version > last:
        place = f"{reading.file}:{node.line}"
        raise SpecError([Problem("model", RULE, message, UPGRADE, version, place)])
    reading.add("model", RULE, message, f"write '{VERSION}: {last}'", node.plain(), node.line)
    return last


def _version_node(root: Node) -> Node | None:
    """The value of the version; of a misspelt key, if there is no other: the reader tells that."""
    sections = root.value if isinstance(root.value, dict) else {}
    keys = [VERSION] if VERSION in sections else list(sections)[:100]
    return next((sections[key] for key in keys if near(key, (VERSION,), 1)), None)


def _whole(node: Node) -> int | None:
    return node.value if isinstance(node.value, int) and not isinstance(node.value, bool) else None


def _known(last: int) -> str:
    return "version 1" if last == 1 else f"versions 1 to {last}"


def stated_version(text: str, file: str) -> int | None:
    """The whole number that a text says as its version; None if it says none, or is no YAML."""
    try:
        root = read(text, file)
    except LoadError:
        return None
    node = _version_node(root)
    return None if node is None else _whole(node)


def needed_version(
    entities: Iterable[Entity], migrations: Migrations = MIGRATIONS, context: Context | None = None
) -> int:
    """The oldest version that can say these entities and the context: older programs read what they can read."""
    last, version = newest(migrations), oldest_alike(migrations)
    for entity in _all(entities):
        if entity.since > last:
            message = f"the kind '{entity.type_name}' says since = {entity.since}, the newest version is {last}"
            remedy = "leave 'since' out in a kind of your own"
            raise SaveError([entity.problem("kind-version", message, remedy, entity.since)])
        version = max(version, entity.since, *_later_properties(entity.type_name, entity))
    return version if context is None else max(version, *_later_properties("context", context))


def _all(entities: Iterable[Entity]) -> Iterator[Entity]:
    for entity in entities:
        yield entity
        if isinstance(entity, Assembly):
            yield from _all(entity.entities)


def _later_properties(kind: str, owner: BaseModel) -> list[int]:
    """The versions of those later properties that are not what they are by default; 1 at least."""
    unused = unused_later(kind, owner)
    shapes = getattr(owner, "shapes", ())
    inside = [since for shape in shapes for key, since in LATER_IN_SHAPES.items() if getattr(shape, key, None)]
    inside += [LATER_SHAPES.get(shape.kind, 1) for shape in shapes]
    return [1, *(since for key, since in LATER.get(kind, {}).items() if key not in unused), *inside]


def unused_later(kind: str, owner: BaseModel) -> set[str]:
    """Later properties that are what they are by default: they are not written."""
    fields = type(owner).model_fields
    usual = {key: fields[key].get_default(call_default_factory=True) for key in LATER.get(kind, {})}
    return {key for key, value in usual.items() if getattr(owner, key) == value}


def refuse_later_kind(reading: Reading, label: str, kind: type[Entity], line: int) -> None:
    """A kind that came with a later version than the file says."""
    if kind.since > reading.version:
        message = f"the kind '{kind.type_name}' came with version {kind.since}, the file says version {reading.version}"
        reading.add(label, "kind-version", message, f"write '{VERSION}: {kind.since}' at its top", kind.since, line)


def refuse_later_properties(reading: Reading, label: str, kind: str, given: Mapping[str, Node]) -> None:
    """Properties that came with a later version than the file says."""
    _refuse_later(reading, label, LATER.get(kind, {}), given, "")
    shapes = given["shapes"].value if "shapes" in given else None
    for k, shape in enumerate(shapes if isinstance(shapes, list) else ()):
        if isinstance(shape.value, dict):
            _refuse_later(reading, label, LATER_IN_SHAPES, shape.value, f"shapes.{k}.")
            _refuse_later_shape(reading, label, shape.value.get("kind"), f"shapes.{k}.kind")


def _refuse_later_shape(reading: Reading, label: str, kind: Node | None, at: str) -> None:
    since = LATER_SHAPES.get(kind.value, 1) if kind is not None and isinstance(kind.value, str) else 1
    if kind is not None and since > reading.version:
        message = f"'{at}' is '{kind.value}', which came with version {since}, the file says version {reading.version}"
        reading.add(label, "kind-version", message, f"write '{VERSION}: {since}' at its top", since, kind.line)


def _refuse_later(
    reading: Reading, label: str, later: Mapping[str, int], given: Mapping[str, Node], within: str
) -> None:
    for key, since in later.items():
        if key in given and since > reading.version:
            message = f"the property '{within}{key}' came with version {since}, the file says version {reading.version}"
            remedy = f"write '{VERSION}: {since}' at its top"
            reading.add(label, "kind-version", message, remedy, since, given[key].line)
