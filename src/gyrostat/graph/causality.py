"""Causality (H04 2.3): a depth-first search from the reference frame decides which port of each entity is met first."""

from __future__ import annotations

from dataclasses import dataclass

from gyrostat.spec.wiring import Wiring


@dataclass(frozen=True)
class Visit:
    """An entity, the port it is entered by, and the outport that feeds it (None for the reference frame)."""

    entity: str
    inport: str | None
    source: str | None


@dataclass(frozen=True)
class Loop:
    """A closed chain of entities, from the one where it was found back to it; ``cut`` is the connection that closes
    it."""

    entities: tuple[str, ...]
    cut: tuple[str, str]

    def __str__(self) -> str:
        return " - ".join(self.entities) + f" (closed by {self.cut[0]} - {self.cut[1]})"


def causality(wiring: Wiring) -> tuple[list[Visit], list[Loop]]:
    """Visits in outward (depth-first) order, and the loops that the search closed.

    At a connection of several ports the one that is reached first is the outport; it feeds all the others.
    """
    root = wiring.root
    if root is None:
        return [], []
    group_of = wiring.group_of()
    visits: dict[str, Visit] = {}
    stack = [Visit(root, None, None)]
    while stack:
        visit = stack.pop()
        if visit.entity in visits:
            continue
        visits[visit.entity] = visit
        ahead = [
            Visit(other, other_port, f"{visit.entity}.{port.name}")
            for port in wiring.entities[visit.entity].ports
            if port.kind == "spatial" and port.name != visit.inport and (visit.entity, port.name) in group_of
            for other, other_port in wiring.groups[group_of[visit.entity, port.name]]
            if other not in visits and wiring.entities[other].binds
        ]
        stack += reversed(ahead)
    return list(visits.values()), _loops(wiring, visits)


def _loops(wiring: Wiring, visits: dict[str, Visit]) -> list[Loop]:
    """Of the ports by which their entities were not entered, the first feeds its connection; the others close loops."""
    rank = {name: k for k, name in enumerate(visits)}
    found: list[Loop] = []
    for group in wiring.groups:
        ports = sorted((p for p in group if p[0] in visits), key=lambda p: rank[p[0]])
        kinds = {port.name: port.kind for port in wiring.entities[ports[0][0]].ports} if ports else {}
        if len(ports) < 2 or kinds[ports[0][1]] != "spatial":
            continue
        first, *others = (p for p in ports if visits[p[0]].inport != p[1])
        for port in others:
            found.append(Loop(_ring(visits, first[0], port[0]), (".".join(first), ".".join(port))))
    return found


def _ring(visits: dict[str, Visit], one: str, two: str) -> tuple[str, ...]:
    """Entities of the loop that a connection between ``one`` and ``two`` closes."""

    def inward(name: str) -> list[str]:
        path = [name]
        while (source := visits[path[-1]].source) is not None:
            path.append(source.rpartition(".")[0])
        return path

    a, b = inward(one), inward(two)
    while len(a) > 1 and len(b) > 1 and a[-2] == b[-2]:
        a.pop()
        b.pop()
    return tuple(reversed(a)) + tuple(b[:-1])
