"""From nested entities and connections to flat ones: who is joined to whom, and every way in which that can be wrong.

Rules of H04 2.3: (i) an entity owns ports, (ii) may contain entities, (iii) every port belongs to an entity, (iv) connections end in
ports, (v) they relate different ports, (vi) they are transitive, (vii) two ports are related by one connection at most.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from gyrostat.errors import Problem, nearest
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.reference_frame import ReferenceFrame

RESERVED = ("context", "model")


@dataclass
class Wiring:
    """Flat view of a model. ``entities``: by full name; ``groups``: connected ports, as (entity, port), in order of appearance."""

    entities: dict[str, Entity] = field(default_factory=dict)
    groups: list[tuple[tuple[str, str], ...]] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)

    @property
    def root(self) -> str | None:
        """The reference frame's name, if there is exactly one."""
        names = [name for name, entity in self.entities.items() if isinstance(entity, ReferenceFrame)]
        return names[0] if len(names) == 1 else None

    def group_of(self) -> dict[tuple[str, str], int]:
        return {port: k for k, group in enumerate(self.groups) for port in group}

    def outward(self) -> tuple[list[str], dict[str, str]]:
        """Entities in breadth-first order from the reference frame, and for each the entity it was reached from."""
        root = self.root
        if root is None:
            return [], {}
        group_of, order, parent = self.group_of(), [root], {root: root}
        for name in order:
            for port in self.entities[name].ports:
                for other, _ in self.groups[group_of[name, port.name]] if (name, port.name) in group_of else ():
                    if other not in parent:
                        parent[other] = name
                        order.append(other)
        return order, parent

    def state_order(self) -> list[str]:
        """Entities with coordinates: file order, parents first."""
        _, parent = self.outward()
        done: dict[str, None] = {}
        for name in self.entities:
            path: list[str] = []
            while name in parent and name not in done:
                path.append(name)
                name = parent[name]  # noqa: PLW2901
                if name in path:
                    break
            done.update(dict.fromkeys(reversed(path)))
        return [name for name in done if self.entities[name].rates]


def wire(entities: Sequence[Entity], connections: Iterable[tuple[str, ...]], label: str = "model") -> Wiring:
    """Flatten assemblies and join the connections, collecting every problem on the way."""
    wiring = Wiring()
    joined = _Union()
    _flatten(entities, connections, "", label, wiring, joined)
    wiring.groups = joined.groups()
    wiring.problems += _scalar_loops(wiring)
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
    entities: Sequence[Entity],
    connections: Iterable[tuple[str, ...]],
    prefix: str,
    label: str,
    wiring: Wiring,
    joined: _Union,
) -> None:
    by_name: dict[str, Entity] = {}
    for entity in entities:
        wiring.problems += _name_problems(entity, prefix, by_name)
        if entity.name in by_name:
            continue
        by_name[entity.name] = entity
        if isinstance(entity, Assembly):
            inside = f"assembly '{prefix}{entity.name}'"
            _flatten(entity.entities, entity.connections, f"{prefix}{entity.name}.", inside, wiring, joined)
            wiring.problems += _exposure_problems(entity, prefix)
        else:
            wiring.entities[prefix + entity.name] = entity
    for index, ports in enumerate(connections):
        _connect(index, ports, by_name, prefix, label, wiring, joined)


def _connect(
    index: int,
    ports: tuple[str, ...],
    by_name: Mapping[str, Entity],
    prefix: str,
    label: str,
    wiring: Wiring,
    joined: _Union,
) -> None:
    where = f"connection [{', '.join(ports)}]" + ("" if label == "model" else f" of {label}")

    def add(rule: str, message: str, remedy: str) -> None:
        wiring.problems.append(Problem(where, rule, message, remedy, ("connections", prefix, index)))

    if len(ports) < 2:
        add("dangling-connection", f"joins {len(ports)} port(s), expected two or more", "add the other port, or remove it")
    resolved: list[tuple[tuple[str, str], Port]] = []
    for text in ports:
        found = resolve(text, by_name, prefix)
        if isinstance(found, str):
            message, _, remedy = found.partition(" | ")
            add("dangling-connection", message, remedy)
        else:
            resolved.append(found)
    kinds = {port.kind for _, port in resolved}
    if len(kinds) > 1:
        told = ", ".join(f"'{name}.{port.name}' is {port.kind}" for (name, _), port in resolved)
        add("port-kind", f"joins ports of different kinds: {told}", "frames go to frames, shafts to shafts")
        return
    for one, two in zip(resolved, resolved[1:], strict=False):
        if one[0] == two[0] or len({place for place, _ in resolved}) < len(resolved):
            add("self-connection", f"joins port '{'.'.join(one[0])}' with itself", "connect two different ports")
            return
    for one, two in zip(resolved, resolved[1:], strict=False):
        if not joined.join(one[0], two[0]):
            pair = f"'{'.'.join(one[0])}' and '{'.'.join(two[0])}'"
            add("duplicate-connection", f"{pair} are connected already", "remove one of the connections")


def resolve(text: str, by_name: Mapping[str, Entity], prefix: str) -> tuple[tuple[str, str], Port] | str:
    """Port of a name as written; a string is 'what is wrong | what to do'."""
    name, _, port_name = text.partition(".")
    entity = by_name.get(name)
    if entity is None:
        return f"there is no entity '{prefix}{name}' | {nearest(name, by_name)}"
    port_name = port_name or entity.default_port or ""
    ports = {port.name: port for port in entity.ports}
    if port_name not in ports:
        what = f"has no port '{port_name}'" if port_name else "has several ports and none was named"
        return f"'{prefix}{name}' {what} | {nearest(port_name, ports)}"
    while isinstance(entity, Assembly):
        inner = entity.inner(port_name) or ""
        prefix, inside = f"{prefix}{entity.name}.", {e.name: e for e in entity.entities}
        name, _, port_name = inner.partition(".")
        if name not in inside:
            return f"exposed port '{text}' leads to '{inner}', which does not exist | {nearest(name, inside)}"
        entity = inside[name]
        port_name = port_name or entity.default_port or ""
    kinds = {port.name: port for port in entity.ports}
    if port_name not in kinds:
        return f"'{prefix}{name}' has no port '{port_name}' | {nearest(port_name, kinds)}"
    return (prefix + name, port_name), kinds[port_name]


def _name_problems(entity: Entity, prefix: str, known: Mapping[str, Entity]) -> list[Problem]:
    full, found = prefix + entity.name, []
    names = [("name", entity.name), *(("port", port.name) for port in entity.ports)]
    for what, name in names:
        if not name or len(name) > 128 or any(c.isspace() or c in ".'\"[]{},|" or not c.isprintable() for c in name):
            message = f"{what} {name!r} is not usable"
            remedy = "use up to 128 characters without spaces, dots, quotes, commas and brackets"
            found.append(Problem(f"{entity.type_name.replace('_', ' ')} '{full}'", "name", message, remedy, name))
    if entity.name in RESERVED:
        message = f"the name '{entity.name}' is reserved"
        found.append(Problem(entity.label, "name", message, "choose another name", entity.name))
    if entity.name in known:
        message = f"another {known[entity.name].type_name.replace('_', ' ')} has the same name '{full}'"
        found.append(Problem(entity.label, "unique-name", message, "rename one of them", ("duplicate", full)))
    ports = [port.name for port in entity.ports]
    for name in dict.fromkeys(p for p in ports if ports.count(p) > 1):
        message = f"has two ports called '{name}'"
        found.append(Problem(entity.label, "unique-name", message, "rename one of them", name))
    return found


def _exposure_problems(assembly: Assembly, prefix: str) -> list[Problem]:
    inside = {entity.name: entity for entity in assembly.entities}
    found: list[Problem] = []
    for outer, inner in assembly.exposes:
        target = resolve(inner, inside, f"{prefix}{assembly.name}.")
        if isinstance(target, str):
            message, _, remedy = target.partition(" | ")
            text = f"exposes '{outer}', but {message}"
            found.append(assembly.problem("dangling-connection", text, remedy, ("exposes",)))
    return found


def _scalar_loops(wiring: Wiring) -> list[Problem]:
    """Two ports of one entity in one connection: the entity would be locked to itself."""
    found: list[Problem] = []
    for group in wiring.groups:
        names = [name for name, _ in group]
        for name in dict.fromkeys(n for n in names if names.count(n) > 1):
            ports = " and ".join(f"'{name}.{port}'" for other, port in group if other == name)
            label = wiring.entities[name].label if name in wiring.entities else f"entity '{name}'"
            message = f"{ports} are connected to each other"
            found.append(Problem(label, "self-connection", message, "an entity cannot be closed on itself", name))
    return found
