"""From nested entities and connections to flat ones: who is joined to whom, and every way in which that can be wrong.

Rules of H04 2.3: (i) an entity owns ports, (ii) may contain entities, (iii) every port belongs to an entity, (iv)
connections end in ports, (v) they relate different ports, (vi) they are transitive, (vii) two ports are related by one
connection at most.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise

from gyrostat.errors import Problem, clipped
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.port_names import Scope, first_of_each, resolve
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.values import Frame
from gyrostat.spec.wiring import RESERVED, LooseEnd, Wiring, is_name, label_of

SUGGESTIONS = 100_000
"""How many names are compared with misspelt ones in search of near ones, all in all: it takes time."""

ENOUGH = 1000
"""After so many loose ends, further connections are not looked at."""


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
        groups: dict[tuple[str, str], list[tuple[str, str]]] = {}
        for port in self.parent:
            groups.setdefault(self.find(port), []).append(port)
        return [tuple(group) for group in groups.values()]


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
        end = resolve(text, scope, guess=_may_guess(wiring, scope))
        if isinstance(end, LooseEnd):
            loose.append(end)
        else:
            resolved.append(end)
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


def _name_problems(entity: Entity, full: str) -> list[Problem]:
    problems: list[Problem] = []
    label, ports = label_of(entity, full), [port.name for port in entity.ports]

    def add(rule: str, message: str, remedy: str, value: str, place: str = "") -> None:
        problems.append(Problem(label, rule, message, remedy, value, full + place))

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
    return problems


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
    problems: list[Problem] = []
    for group in wiring.groups:
        for name, times in Counter(name for name, _ in group).items():
            if times > 1:
                ports = " and ".join(f"'{name}.{port}'" for other, port in group if other == name)
                message, remedy = f"{ports} are connected to each other", "an entity cannot be closed on itself"
                label = label_of(wiring.entities[name], name)
                problems.append(Problem(label, "self-connection", message, remedy, ports, name))
    return problems
