"""From the tree of a YAML text to a model, through any number of mistakes.

A mistake is reported with its line; then the property is given a harmless stand-in, so that the entity exists for the
checks of the whole, and what was guessed is noted down as a doubt: nothing that may follow from a guess is reported.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from pydantic import BaseModel

from gyrostat.errors import Problem, SpecError, clipped, near, nearest
from gyrostat.io.yaml.solvers import read_solvers
from gyrostat.io.yaml.text import Node, refusal
from gyrostat.spec.assembly import Assembly, to_connection
from gyrostat.spec.check import Doubts, place_of
from gyrostat.spec.context import Context
from gyrostat.spec.describe import RefusedError, choices
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.reference_frame import ReferenceFrame

VERSION = 1
SECTIONS = ("gyrostat", "name", "context", "entities", "connections", "solvers")

CLOSE = 0.8  # how alike a misspelt word must be to be taken for the right one while the rest is checked
ATTEMPTS = 12
STAND_INS = (1.0, [0.0] * 3, [0.0] * 6, [], {}, "x")
SHAPE_PORTS = ("frames", "kind")  # properties on which the ports of an entity depend

ENOUGH = 1000
"""After so many mistakes, the rest of the text is not read."""

T = TypeVar("T")


class ModelReader:
    """One pass over one text. ``found``: mistakes of form; ``doubts``: what had to be guessed, for ``check``."""

    def __init__(self, file: str):
        self.file = file
        self.found: list[Problem] = []
        self.sources: dict[str, str] = {}
        self.doubts = Doubts()

    def model(self, root: Node) -> Model:
        """The model, as far as it can be made out."""
        if not isinstance(root.value, dict):
            message = f"a model is a mapping, got {clipped(root.plain())}"
            raise refusal(self.file, root.line, "yaml-form", message, "start with 'gyrostat: 1' and 'name: ...'")
        self._note("model", root.value.get("entities", root).line)
        given = self._known(SECTIONS, root.value, "model", "model")
        self._version(given.get("gyrostat"), root.line)
        name = self._name(given.get("name"), root.line)
        context = self._context(given.get("context"))
        entities = self._entities(given.get("entities"), "", "model")
        connections = self._connections(given.get("connections"), "", "")
        solvers, wrong = read_solvers(given.get("solvers"), self._note_all, self.sources)
        self.found += wrong
        return Model(name, entities, connections, context, self.sources, solvers)

    # ------------------------------------------------------------------ mistakes and places
    def _add(self, entity: str, rule: str, message: str, remedy: str, value: object, where: int | str | None) -> None:
        place = f"{self.file}:{where}" if isinstance(where, int) else where
        self.found.append(Problem(entity, rule, message, remedy, value, place))
        if len(self.found) >= ENOUGH:
            message = f"has {ENOUGH} mistakes or more, and was not read any further"
            raise SpecError([*self.found, Problem("model", "too-many", message, "mend these first", None, place)])

    def _note(self, path: str, line: int) -> None:
        self.sources[path] = f"{self.file}:{line}"

    def _note_all(self, path: str, node: Node) -> None:
        self._note(path, node.line)
        for key, inner in node.value.items() if isinstance(node.value, dict) else ():
            self._note_all(f"{path}.{key}", inner)

    # ------------------------------------------------------------------ sections
    def _version(self, node: Node | None, top: int) -> None:
        expected = f"write 'gyrostat: {VERSION}'"
        if node is None:
            message = "needs the property 'gyrostat', the version of the format"
            self._add("model", "schema-version", message, expected, None, top)
        elif node.value != VERSION or not isinstance(node.value, int) or isinstance(node.value, bool):
            message = f"has the format version {clipped(node.plain())}, this gyrostat reads version {VERSION}"
            remedy = "update gyrostat" if isinstance(node.value, int) and node.value > VERSION else expected
            self._add("model", "schema-version", message, remedy, node.plain(), node.line)

    def _name(self, node: Node | None, top: int) -> str:
        if node is None:
            message = "needs the property 'name'"
            self._add("model", "missing-property", message, "add 'name'", None, top)
        elif isinstance(node.value, str):
            self._note("model.name", node.line)
            return node.value
        else:
            message = f"'name' must be a text, got {clipped(node.plain())}"
            self._add("model", "property-type", message, "put the name in quotes", node.plain(), node.line)
        return ""

    def _context(self, node: Node | None) -> Context:
        if node is None or node.value is None:
            return Context()
        self._note_all("context", node)
        if not isinstance(node.value, dict):
            message = f"must be a mapping, got {clipped(node.plain())}"
            remedy = "write {gravity: [0, 0, -9.81], base: fixed}"
            self._add("context", "property-type", message, remedy, node.plain(), node.line)
            return Context()
        given = self._known(tuple(Context.model_fields), node.value, "context", "context")
        return self._build(Context, "context", "context", given, lambda data: Context(**data)) or Context()

    def _connections(self, node: Node | None, prefix: str, of: str) -> tuple[tuple[str, ...], ...]:
        if node is None or node.value is None:
            return ()
        scope = prefix.rstrip(".")
        if not isinstance(node.value, list):
            message = f"must be a list of connections, got {clipped(node.plain())}"
            remedy = "write [[elbow.b, forearm.origin]]"
            self._add(f"connections{of}", "property-type", message, remedy, node.plain(), node.line)
            self.doubts.meant.add(scope)
            return ()
        found: list[tuple[str, ...]] = []
        for item in node.value:
            try:
                ports = to_connection(item.plain())
            except RefusedError as refused:
                self._add(f"connection{of}", "property-type", str(refused), refused.remedy, item.plain(), item.line)
                self.doubts.meant.add(scope)
                texts = [part.text for part in (item.value if isinstance(item.value, list) else [item])]
                self.doubts.ends |= {prefix + text.partition(".")[0] for text in texts if text}
            else:
                self._note(f"{prefix}connections[{len(found)}]", item.line)
                found.append(ports)
        return tuple(found)

    # ------------------------------------------------------------------ entities
    def _entities(self, node: Node | None, prefix: str, label: str) -> tuple[Entity, ...]:
        if node is None or not isinstance(node.value, list):
            if node is None:
                where = place_of(self.sources, prefix.rstrip(".") or "model")
                self._add(label, "missing-property", "needs the property 'entities'", "add 'entities'", None, where)
            else:
                message = f"'entities' must be a list, got {clipped(node.plain())}"
                remedy = "write one '- kind: name' for each"
                self._add(label, "property-type", message, remedy, node.plain(), node.line)
            self._doubt_scope(prefix)
            return ()
        seen: Counter[str] = Counter()
        found = [self._entity(item, prefix, seen) for item in node.value]
        return tuple(entity for entity in found if entity is not None)

    def _doubt_scope(self, prefix: str) -> None:
        """Something may be missing among the entities here."""
        self.doubts.names.add(f"{prefix}*")
        self.doubts.root = True

    def _entity(self, item: Node, prefix: str, seen: Counter[str]) -> Entity | None:
        if not isinstance(item.value, dict) or not item.value:
            message = f"must be a mapping that begins with kind and name, got {clipped(item.plain())}"
            self._add("entity", "property-type", message, "write for example 'joint: elbow'", item.plain(), item.line)
            self._doubt_scope(prefix)
            return None
        key, kind = self._kind(item.value, item.line, prefix)
        name = self._entity_name(item.value[key], key, prefix, known=kind is not None)
        seen[name] += 1
        full = prefix + name
        if seen[name] > 1:
            full += " (again)" if seen[name] == 2 else f" (again {seen[name] - 1})"
        self._note(full, item.line)
        entity = self._of_kind(kind, name, full, item.value, key) if kind else None
        if entity is None:
            self.doubts.names.add(full)
            self.doubts.root |= kind is None or issubclass(kind, ReferenceFrame)
            return Entity(name)
        return entity

    def _kind(self, given: dict[str, Node], line: int, prefix: str) -> tuple[str, type[Entity] | None]:
        """The key that names the kind, and the class; the most likely one if no key does."""
        for key in given:
            if key in Entity.registry:
                return key, Entity.registry[key]
        guesses = [(key, kind) for key in given for kind in near(key, Entity.registry, 1, CLOSE)]
        key, kind = guesses[0] if guesses else (next(iter(given)), None)
        name = prefix + given[key].text if given[key].text else ""
        message = f"there is no kind of entity '{clipped(key)[1:-1]}'"
        remedy = nearest(key, Entity.registry)
        self._add(f"entity '{name}'" if name else "entity", "unknown-kind", message, remedy, key, line)
        return key, Entity.registry[kind] if kind else None

    def _entity_name(self, node: Node, key: str, prefix: str, known: bool) -> str:
        if isinstance(node.value, str):
            return node.value
        name = node.text if node.value is not None else ""
        words = key.replace("_", " ")
        message = f"the name must be a text, got {clipped(node.plain())}"
        remedy = f'write {key}: "{name}"' if name else f"write a name behind '{key}:'"
        label = f"{words} '{prefix}{name}'" if name else words
        if known:
            self._add(label, "property-type", message, remedy, node.plain(), node.line)
        if not name:
            self._doubt_scope(prefix)
            name = f"?{node.line}"
            self.doubts.ends.add(prefix + name)
        return name

    def _of_kind(self, kind: type[Entity], name: str, full: str, given: dict[str, Node], key: str) -> Entity | None:
        label = f"{kind.type_name.replace('_', ' ')} '{full.partition(' (again')[0]}'"
        fields = tuple(f for f in kind.model_fields if f != "name")
        nodes = self._known(fields, {k: n for k, n in given.items() if k != key}, label, full, kind)
        ready: dict[str, Any] = {}
        if issubclass(kind, Assembly):
            of = f" of {label}"
            ready["entities"] = self._entities(nodes.pop("entities", None), f"{full}.", label)
            ready["connections"] = self._connections(nodes.pop("connections", None), f"{full}.", of)
            ready["exposes"] = self._exposes(nodes.pop("exposes", None), full, label)
        return self._build(kind, label, full, nodes, lambda data: kind(name, **ready, **data))

    def _exposes(self, node: Node | None, full: str, label: str) -> dict[str, str]:
        if node is None or node.value is None:
            return {}
        self._note_all(f"{full}.exposes", node)
        remedy = "write them as in {hip: thigh.origin}"
        if not isinstance(node.value, dict):
            message = f"'exposes' must map outer port names to inner ports, got {clipped(node.plain())}"
            self._add(label, "property-type", message, remedy, node.plain(), node.line)
            self.doubts.names.add(full)
            return {}
        found: dict[str, str] = {}
        for outer, inner in node.value.items():
            if isinstance(inner.value, str):
                found[outer] = inner.value
            else:
                message = f"'exposes.{outer}' must be the name of an inner port, got {clipped(inner.plain())}"
                self._add(label, "property-type", message, remedy, inner.plain(), inner.line)
                self.doubts.names.add(full)
        return found

    # ------------------------------------------------------------------ properties
    def _known(
        self, fields: Iterable[str], given: dict[str, Node], label: str, full: str, kind: type[Entity] | None = None
    ) -> dict[str, Node]:
        """The properties that exist; one that does not is reported, and read as the one it was probably meant to be."""
        found: dict[str, Node] = {}
        free = [f for f in fields if f not in given]
        for key, node in given.items():
            if key in fields:
                found[key] = node
                continue
            shown = clipped(key)[1:-1]
            if kind and key == "name":
                remedy = f"the name stands behind the kind, as in '{kind.type_name}: elbow'"
            else:
                remedy = nearest(key, fields) if fields else "take it out"
            self._add(label, "unknown-property", f"has no property '{shown}'", remedy, node.plain(), node.line)
            meant = near(key, free, 1)
            if meant and key != "name":
                free.remove(meant[0])
                found[meant[0]] = node
        return found

    def _build(
        self, kind: type[BaseModel], label: str, full: str, nodes: dict[str, Node], make: Callable[[dict[str, Any]], T]
    ) -> T | None:
        """What ``make`` makes of the properties: bad ones are reported, then left out or replaced until it succeeds."""
        for key, node in nodes.items():
            self._note_all(f"{full}.{key}", node)
        data = {key: node.plain() for key, node in nodes.items()}
        for attempt in range(ATTEMPTS):
            try:
                return make(data)
            except SpecError as error:
                problems = error.problems
            for problem in problems:
                path: tuple[str, ...] = problem.value if isinstance(problem.value, tuple) else ()
                if attempt == 0:
                    where = place_of(self.sources, ".".join((full, *path)))
                    self._add(label, problem.rule, problem.message, problem.remedy, _at(data, path), where)
                self.doubts.doubt(full, path)
                if path and (path[0] in SHAPE_PORTS or not kind.__module__.startswith("gyrostat.")):
                    self.doubts.names.add(full)
            if not all(_stand_in(kind, data, problem.value, make) for problem in problems):
                return None
        return None


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
