"""From nested entities and connections to flat ones: who is joined to whom, and every way in which that can be wrong.

Rules of H04 2.3: (i) an entity owns ports, (ii) may contain entities, (iii) every port belongs to an entity, (iv)
connections end in ports, (v) they relate different ports, (vi) they are transitive, (vii) two ports are related by one
connection at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice, pairwise

from gyrostat.errors import Problem, clipped, near, suggestion
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.values import Frame

RESERVED = ("context", "model", "local", "aligned")
SUGGESTIONS = 100_000
"""How many names are compared with misspelt ones in search of near ones, all in all: it takes time."""

ENOUGH = 1000
"""After so many loose ends, further connections are not looked at."""


@dataclass(frozen=True)
class LooseEnd:
    """A name in a connection that leads nowhere.

    ``lacks``: the entity that has no such port, or ``scope.*`` (``*`` for the model) when there is no such entity.
    ``touches``: entities at the other ends of the connection. ``meant``: entities that it may have meant to reach; a
    scope means all within.
    """

    lacks: str
    problem: Problem | None = None  # None: reported already, where an assembly exposes what does not exist
    touches: tuple[str, ...] = ()
    meant: tuple[str, ...] = ()


@dataclass
class Wiring:
    """Flat view of a model.

    ``entities``: by full name; ``groups``: connected ports, as (entity, port), in order of appearance. ``where`` of
    each problem is a path (``leg.connections[3]``, ``leg.knee``); ``check`` turns it into file:line.
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    groups: list[tuple[tuple[str, str], ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    loose: list[LooseEnd] = field(default_factory=list)
    assemblies: dict[str, Assembly] = field(default_factory=dict)
    again: list[tuple[str, Entity]] = field(default_factory=list)  # with a name that is taken: ("knee (again)", knee)

    @property
    def root(self) -> str | None:
        """The reference frame's name, if there is exactly one."""
        names = [name for name, entity in self.entities.items() if isinstance(entity, ReferenceFrame)]
        return names[0] if len(names) == 1 else None

    def group_of(self) -> dict[tuple[str, str], int]:
        return {port: k for k, group in enumerate(self.groups) for port in group}

    def outward(self) -> tuple[list[str], dict[str, str]]:
        """Entities in breadth-first order from the reference frame, through frames that move each other, and for each
        the entity it was reached from."""
        root = self.root
        if root is None:
            return [], {}
        group_of, order, parent, entered = self.group_of(), [root], {root: root}, set[int]()
        for name in order:
            for port in self.entities[name].ports if self.entities[name].binds else ():
                group = group_of.get((name, port.name)) if port.kind == "spatial" else None
                if group is None or group in entered:
                    continue
                entered.add(group)
                for other, _ in self.groups[group]:
                    if other not in parent:
                        parent[other] = name
                        order.append(other)
        return order, parent

    def reached(self) -> set[str]:
        """Entities that are connected with the reference frame in any way, by frames or by shafts."""
        order, _ = self.outward()
        group_of, found, queue = self.group_of(), set(order), list(order)
        for name in queue:
            for port in self.entities[name].ports:
                group = group_of.get((name, port.name)) if port.kind == "scalar" else None
                for other, _ in self.groups[group] if group is not None else ():
                    if other not in found:
                        found.add(other)
                        queue.append(other)
        return found

    def closing(self) -> set[str]:
        """Entities that close a loop: one of their ports meets, and so moves, what was reached another way."""
        group_of, via = self.group_of(), dict[str, int]()  # the connection by which an entity was reached
        found: set[str] = set()
        for name in self.outward()[0]:
            for port in self.entities[name].ports if self.entities[name].binds else ():
                group = group_of.get((name, port.name)) if port.kind == "spatial" else None
                if group is not None and group != via.setdefault(name, -1):
                    others = [n for n, _ in self.groups[group] if n != name and self.entities[n].binds]
                    if any(via.setdefault(other, group) != group for other in others):
                        found.add(name)
        return found

    def state_order(self) -> list[str]:
        """Entities with coordinates: file order, parents first."""
        _, parent = self.outward()
        done: dict[str, None] = {}
        for name in self.entities:
            path: list[str] = []
            while name in parent and name not in done:
                path.append(name)
                if parent[name] == name:
                    break
                name = parent[name]
            done.update(dict.fromkeys(reversed(path)))
        return [name for name in done if self.entities[name].rates]


@dataclass
class Scope:
    """The names that can be used in one list of connections: those of the model, or of one assembly."""

    by_name: Mapping[str, Entity]
    prefix: str = ""
    label: str = "model"
    _ports: dict[str, dict[str, Port]] = field(default_factory=dict)

    def ports(self, name: str) -> dict[str, Port]:
        if name not in self._ports:
            self._ports[name] = {port.name: port for port in self.by_name[name].ports}
        return self._ports[name]

    @cached_property
    def inner(self) -> dict[str, tuple[Scope, dict[str, str]]]:
        """For each assembly: the scope inside, and its exposed ports."""
        return {
            name: (Scope(first_of_each(entity.entities), f"{self.prefix}{name}."), dict(entity.exposes))
            for name, entity in self.by_name.items()
            if isinstance(entity, Assembly)
        }


def first_of_each(entities: Iterable[Entity]) -> dict[str, Entity]:
    """By name; of several with one name, the first."""
    found: dict[str, Entity] = {}
    for entity in entities:
        found.setdefault(entity.name, entity)
    return found


def wire(entities: Sequence[Entity], connections: Iterable[tuple[str, ...]], label: str = "model") -> Wiring:
    """Flatten assemblies and join the connections, collecting every problem on the way."""
    wiring = Wiring()
    joined = _Union()
    _flatten(entities, connections, Scope(first_of_each(entities), "", label), wiring, joined)
    wiring.groups = joined.groups()
    wiring.problems += _closed_on_itself(wiring)
    return wiring


class _Union:
    """Disjoint sets of ports that remember the order in which they came."""

    def __init__(self) -> None:
        self.parent: dict[tuple[str, str], tuple[str, str]] = {}

    def find(self, port: tuple[str, str]) -> tuple[str, str]:
        self.parent.setdefault(port, port)
        while self.parent[port] != port:
            self.parent[port] = self.parent[self.parent[port]]
            port = self.parent[port]
        return port

    def join(self, one: tuple[str, str], two: tuple[str, str]) -> bool:
        """False if the two were related already."""
        a, b = self.find(one), self.find(two)
        self.parent[b] = a
        return a != b

    def groups(self) -> list[tuple[tuple[str, str], ...]]:
        found: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for port in self.parent:
            found.setdefault(self.find(port), []).append(port)
        return [tuple(group) for group in found.values()]


def _flatten(
    entities: Sequence[Entity], connections: Iterable[tuple[str, ...]], scope: Scope, wiring: Wiring, joined: _Union
) -> None:
    seen: Counter[str] = Counter()
    for entity in entities:
        full = scope.prefix + entity.name
        seen[entity.name] += 1
        count = seen[entity.name]
        if count > 1:
            place = f"{full} (again)" if count == 2 else f"{full} (again {count - 1})"
            first = scope.by_name[entity.name].type_name.replace("_", " ")
            message = f"another {first} has the same name"
            label = label_of(entity, full)
            wiring.problems.append(Problem(label, "unique-name", message, "rename one of them", entity.name, place))
            wiring.again.append((place, entity))
            continue
        wiring.problems += _name_problems(entity, full)
        if isinstance(entity, Assembly):
            wiring.assemblies[full] = entity
            inside, _ = scope.inner[entity.name]
            inside.label = f"assembly '{full}'"
            _flatten(entity.entities, entity.connections, inside, wiring, joined)
            _exposures(entity, full, inside, wiring)
        else:
            wiring.entities[full] = entity
    for index, ports in enumerate(connections):
        if len(wiring.loose) >= ENOUGH:
            message = f"has {ENOUGH} loose ends or more, and the other connections were not looked at"
            problem = Problem(
                scope.label, "dangling-connection", message, "mend these first", None, scope.prefix or "model"
            )
            wiring.loose.append(LooseEnd("", problem, ("",), ("",)))
            return
        _connect(index, ports, scope, wiring, joined)


def _connect(index: int, ports: tuple[str, ...], scope: Scope, wiring: Wiring, joined: _Union) -> None:
    shown = f"{', '.join(ports[:6])}{', ...' if len(ports) > 6 else ''}"
    where = f"connection [{shown}]" + ("" if scope.label == "model" else f" of {scope.label}")
    place = f"{scope.prefix}connections[{index}]"
    resolved: list[tuple[tuple[str, str], Port]] = []
    loose: list[LooseEnd] = []
    for text in ports:
        found = resolve(text, scope, guess=_may_guess(wiring, scope))
        if isinstance(found, LooseEnd):
            loose.append(found)
        else:
            resolved.append(found)
    names, anywhere = tuple(name for (name, _), _ in resolved), (scope.prefix.rstrip("."),)
    for end in loose:
        problem = end.problem and replace(end.problem, entity=where, value=ports, where=place)
        wiring.loose.append(replace(end, problem=problem, touches=names))

    def add(rule: str, message: str, remedy: str) -> None:
        wiring.problems.append(Problem(where, rule, message, remedy, ports, place))

    if len(ports) < 2:
        message = f"joins {len(ports)} port(s), expected two or more"
        problem = Problem(where, "dangling-connection", message, "add the other port, or remove it", ports, place)
        wiring.loose.append(LooseEnd("", problem, names, anywhere))
        return
    if len({port.kind for _, port in resolved}) > 1:
        told = ", ".join(f"'{name}.{port.name}' is {port.kind}" for (name, _), port in resolved[:6])
        add("port-kind", f"joins ports of different kinds: {told}", "frames go to frames, shafts to shafts")
        wiring.loose.append(LooseEnd("", None, names, names))
        return
    (twice, times), *_ = Counter(port for port, _ in resolved).most_common(1) or [(("", ""), 0)]
    if times > 1:
        add("self-connection", f"joins port '{'.'.join(twice)}' with itself", "connect two different ports")
        wiring.loose.append(LooseEnd("", None, names, anywhere))
        return
    for (one, _), (two, _) in pairwise(resolved):
        if not joined.join(one, two):
            pair = f"'{'.'.join(one)}' and '{'.'.join(two)}'"
            add("duplicate-connection", f"{pair} are connected already", "remove one of the connections")


def _may_guess(wiring: Wiring, scope: Scope) -> bool:
    return len(wiring.loose) * len(scope.by_name) < SUGGESTIONS


def resolve(text: str, scope: Scope, guess: bool = True) -> tuple[tuple[str, str], Port] | LooseEnd:
    """The port that is meant by a name as written: (entity, port) by full names, through assemblies."""
    name, _, port_name = text.partition(".")
    entity = scope.by_name.get(name)
    if entity is None:
        close = tuple(near(name, scope.by_name)) if guess else ()
        remedy = suggestion(close, [*islice(scope.by_name, 9)])
        problem = Problem("", "dangling-connection", f"there is no entity '{scope.prefix}{name}'", remedy)
        meant = tuple(scope.prefix + n for n in close) or (scope.prefix.rstrip("."),)
        return LooseEnd(f"{scope.prefix}*", problem, meant=meant)
    full = scope.prefix + name
    port_name = port_name or entity.default_port or ""
    ports = scope.ports(name)
    if port_name not in ports:
        what = f"has no port '{port_name}'" if port_name else "has several ports and none was named"
        remedy = suggestion(near(port_name, ports) if guess else (), [*islice(ports, 9)])
        return LooseEnd(full, Problem("", "dangling-connection", f"'{full}' {what}", remedy), meant=(full,))
    if name not in scope.inner:
        return (full, port_name), ports[port_name]
    inside, exposes = scope.inner[name]
    found = resolve(exposes[port_name], inside, guess=False)
    return LooseEnd(found.lacks, None, meant=(full,)) if isinstance(found, LooseEnd) else found


def label_of(entity: Entity, full: str) -> str:
    """How messages call an entity by its full name: ``joint 'leg.knee'``."""
    return entity.label.replace(f"'{entity.name}'", f"'{full}'")


def _name_problems(entity: Entity, full: str) -> list[Problem]:
    found: list[Problem] = []
    label, ports = label_of(entity, full), [port.name for port in entity.ports]

    def add(rule: str, message: str, remedy: str, value: str, place: str = "") -> None:
        found.append(Problem(label, rule, message, remedy, value, full + place))

    for what, name in [("name", entity.name), *(("port", port) for port in ports)]:
        if not is_name(name):
            remedy = "use up to 128 characters without spaces, dots, quotes, commas and brackets"
            add("name", f"{what} {clipped(name)} is not usable", remedy, name)
    if full in RESERVED:
        add("name", f"the name '{entity.name}' is reserved", "choose another name", full)
    elif full == "world" and not isinstance(entity, ReferenceFrame) and type(entity) is not Entity:
        add("name", "the name 'world' is reserved for the reference frame", "choose another name", full)
    for name, times in Counter(ports).items():
        if times > 1:
            add("unique-name", f"has {times} ports called '{name}'", "rename all but one of them", name)
    for frame in getattr(entity, "frames", ()):
        if isinstance(frame, Frame) and frame.name in type(entity).model_fields:
            message = f"the frame '{frame.name}' is called like a property"
            remedy = f"rename the frame, so that '{full}.{frame.name}' means one thing"
            add("name", message, remedy, frame.name, f".frames.{frame.name}")
    return found


def is_name(text: str) -> bool:
    """Whether entities and ports can be called so."""
    return 0 < len(text) <= 128 and text.isprintable() and not any(c.isspace() or c in ".'\"[]{},|" for c in text)


def _exposures(assembly: Assembly, full: str, inside: Scope, wiring: Wiring) -> None:
    for outer, inner in assembly.exposes:
        end = resolve(inner, inside, guess=_may_guess(wiring, inside))
        if isinstance(end, LooseEnd) and end.problem is not None:
            message = f"exposes '{outer}', but {end.problem.message}"
            place = f"{full}.exposes.{outer}"
            problem = replace(end.problem, entity=label_of(assembly, full), message=message, value=inner, where=place)
            wiring.loose.append(replace(end, problem=problem))


def _closed_on_itself(wiring: Wiring) -> list[Problem]:
    """Two ports of one entity in one connection: the entity would be locked to itself."""
    found: list[Problem] = []
    for group in wiring.groups:
        for name, times in Counter(name for name, _ in group).items():
            if times > 1:
                ports = " and ".join(f"'{name}.{port}'" for other, port in group if other == name)
                message, remedy = f"{ports} are connected to each other", "an entity cannot be closed on itself"
                label = label_of(wiring.entities[name], name)
                found.append(Problem(label, "self-connection", message, remedy, ports, name))
    return found
