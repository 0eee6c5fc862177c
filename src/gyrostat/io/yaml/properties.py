"""The properties of an entity or context: what is wrong is told, then left out or replaced by a harmless stand-in."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from gyrostat.errors import SpecError, clipped, near, nearest
from gyrostat.io.yaml.parse import Node
from gyrostat.io.yaml.reading import Reading
from gyrostat.spec.check import place_of
from gyrostat.spec.describe import choices
from gyrostat.spec.entity import Entity

CLOSE = 0.8  # how alike a misspelt word must be to be taken for the right one while the rest is checked
ATTEMPTS = 12
STAND_INS = (1.0, [0.0] * 3, [0.0] * 6, [], {}, "x")
SHAPE_PORTS = ("frames", "kind")  # properties on which the ports of an entity depend

T = TypeVar("T")


def known_properties(
    reading: Reading, names: Iterable[str], given: dict[str, Node], label: str, kind: type[Entity] | None = None
) -> dict[str, Node]:
    """The properties that exist; one that does not is reported, and read as the one it was probably meant to be."""
    properties: dict[str, Node] = {}
    free = [name for name in names if name not in given]
    for key, node in given.items():
        if key in names:
            properties[key] = node
            continue
        message, remedy = f"has no property '{clipped(key)[1:-1]}'", _remedy(key, names, kind)
        reading.add(label, "unknown-property", message, remedy, node.plain(), node.line)
        meant = near(key, free, 1)
        if meant and key != "name":
            free.remove(meant[0])
            properties[meant[0]] = node
    return properties


def _remedy(key: str, names: Iterable[str], kind: type[Entity] | None) -> str:
    if kind and key == "name":
        return f"the name stands behind the kind, as in '{kind.type_name}: elbow'"
    return nearest(key, names) if names else "take it out"


def build(
    reading: Reading,
    kind: type[BaseModel],
    label: str,
    full: str,
    nodes: dict[str, Node],
    make: Callable[[dict[str, Any]], T],
) -> T | None:
    """What ``make`` makes of the properties: bad ones are reported, then left out or replaced until it succeeds."""
    for key, node in nodes.items():
        reading.note_all(f"{full}.{key}", node)
    data = {key: node.plain() for key, node in nodes.items()}
    for attempt in range(ATTEMPTS):
        try:
            return make(data)
        except SpecError as error:
            problems = error.problems
        for problem in problems:
            path: tuple[str, ...] = problem.value if isinstance(problem.value, tuple) else ()
            if attempt == 0:
                where = place_of(reading.sources, ".".join((full, *path)))
                reading.add(label, problem.rule, problem.message, problem.remedy, _at(data, path), where)
            _doubt(reading, kind, full, path)
        if not all(_stand_in(kind, data, problem.value, make) for problem in problems):
            return None
    return None


def _doubt(reading: Reading, kind: type[BaseModel], full: str, path: tuple[str, ...]) -> None:
    reading.doubts.doubt(full, path)
    if path and (path[0] in SHAPE_PORTS or not kind.__module__.startswith("gyrostat.")):
        reading.doubts.names.add(full)


def _at(data: Any, path: tuple[str, ...]) -> Any:
    for key in path:
        data = data.get(key) if isinstance(data, dict) else data
    return data


def _stand_in(kind: type[BaseModel], data: dict[str, Any], path: object, make: Callable[[dict[str, Any]], Any]) -> bool:
    """Change ``data`` so that the mistake at ``path`` is gone or smaller; False if nothing helps."""
    if not isinstance(path, tuple) or not path:
        return False
    if len(path) == 1 and path[0] not in data:
        return _fill(kind, data, path[0], make)
    owner, key = data, path[0]
    for inner in path[1:]:  # the innermost part that a mapping holds
        deeper = owner.get(key)
        if not isinstance(deeper, dict) or inner not in deeper:
            break
        owner, key = deeper, inner
    words = choices(kind, path)
    close = near(str(owner.get(key)), words, 1, CLOSE) if words else []
    if close:
        owner[key] = close[0]
    else:
        owner.pop(key, None)
    return True


def _fill(kind: type[BaseModel], data: dict[str, Any], field: str, make: Callable[[dict[str, Any]], Any]) -> bool:
    """Give a missing property the first stand-in that its type takes; words with a meaning are not guessed."""
    if choices(kind, (field,)):
        return False
    for value in STAND_INS:
        try:
            make(data | {field: value})
        except SpecError as error:
            if any(isinstance(p.value, tuple) and p.value[:1] == (field,) for p in error.problems):
                continue
        data[field] = value
        return True
    return False
