"""The one traversal of a mechanism (H04 2.3, causality): a depth-first search outwards from the reference frame decides
by which port each entity is met. State order, networks, checks, edits, files and drawings use the tree that it makes.

The graph has two kinds of nodes, entities and connections; its edges are the connected spatial ports. Where it is no
tree, ports are cut, as many as there are independent loops. Which ones does not depend on the order in which entities,
connections or ports are written, but on the entities in the loops. A port is cut in preference to others if

1. it belongs to a joint that no motor drives; else to a joint that is driven; else to a rigid entity,
2. the joint has more rates: n of them leave 6 - n equations that close the loop,
3. the entity is farther from the reference frame, counted in connections,
4. the name of the entity comes later in the alphabet,
5. its connection is farther from the reference frame; then, the name of the port comes later.

Ports are kept in the opposite order as long as they close no loop [Kruskal 1956], so that what is cut is the first of
its loop by this order."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from gyrostat.spec.entity import Entity

PortName = tuple[str, str]
"""Entity and port."""
Connection = tuple[PortName, ...]
Node = str | int
"""An entity, or the number of a connection."""


@dataclass(frozen=True)
class Visit:
    """An entity, the port it is entered by, and the outport that feeds it (None for the reference frame)."""

    entity: str
    inport: str | None
    source: str | None

    @property
    def parent(self) -> str:
        """The entity it was reached from; the reference frame is its own."""
        return self.entity if self.source is None else self.source.rpartition(".")[0]


@dataclass(frozen=True)
class Loop:
    """A closed chain of entities, from the one where its two ways part and back to it; ``cut``: the outport that feeds
    the connection which closes it, and the port that is cut off there."""

    entities: tuple[str, ...]
    cut: tuple[str, str]

    def __str__(self) -> str:
        return " - ".join(self.entities) + f" (closed by {self.cut[0]} - {self.cut[1]})"


@dataclass(frozen=True)
class Tree:
    """``visits``: entities whose frames move each other, parents first; ``loops``: by the names of the ports that are
    cut; ``beside``: entity that acts between frames without moving them -> the one that has its first frame."""

    visits: tuple[Visit, ...] = ()
    loops: tuple[Loop, ...] = ()
    beside: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def parent(self) -> dict[str, str]:
        """Entity -> the one it was reached from, parents first, those beside the tree last; the reference frame is its
        own."""
        return {visit.entity: visit.parent for visit in self.visits} | dict(self.beside)

    @cached_property
    def inport(self) -> dict[str, str | None]:
        """Entity -> the port by which it is entered."""
        return {visit.entity: visit.inport for visit in self.visits}

    @cached_property
    def cut(self) -> set[PortName]:
        """Ports at which loops are cut: no other entity is reached through them."""
        ports = [loop.cut[1].rpartition(".") for loop in self.loops]
        return {(entity, port) for entity, _, port in ports}

    @cached_property
    def closing(self) -> set[str]:
        """Entities at both sides of a cut."""
        return {port.rpartition(".")[0] for loop in self.loops for port in loop.cut}


def traverse(root: str | None, entities: Mapping[str, Entity], connections: Sequence[Connection]) -> Tree:
    """The tree of a mechanism. At a connection of several ports the one that is reached first feeds all the others."""
    if root is None:
        return Tree()
    graph = _Graph(entities, connections)
    visits, feeders = graph.walk(root)
    edges = graph.edges(visits)
    cut: list[PortName] = []
    if len(edges) > len(visits) + len(feeders) - 1:  # a tree has one edge less than nodes
        cut = _surplus(edges, _priorities(graph, root, edges))
        visits, feeders = graph.walk(root, frozenset(cut))
    loops = [Loop(_ring(visits, feeders[edges[port]][0], port[0]), _texts(feeders[edges[port]], port)) for port in cut]
    return Tree(tuple(visits.values()), tuple(loops), graph.beside(feeders))


def _texts(one: PortName, two: PortName) -> tuple[str, str]:
    return ".".join(one), ".".join(two)


class _Graph:
    """Spatial ports of a mechanism: ``ports`` of each entity, ``at``: the number of each port's connection."""

    def __init__(self, entities: Mapping[str, Entity], connections: Sequence[Connection]):
        self.entities, self.connections = entities, connections
        number = {port: k for k, connection in enumerate(connections) for port in connection}
        self.ports = {
            name: [(name, port.name) for port in entity.ports if port.kind == "spatial" and (name, port.name) in number]
            for name, entity in entities.items()
        }
        self.at = {port: number[port] for ports in self.ports.values() for port in ports}

    def walk(self, root: str, cut: Collection[PortName] = frozenset()) -> tuple[dict[str, Visit], dict[int, PortName]]:
        """Visits by entity, depth first; and for each connection that is reached the port that feeds it."""
        visits: dict[str, Visit] = {}
        feeders: dict[int, PortName] = {}
        stack = [Visit(root, None, None)]
        while stack:
            visit = stack.pop()
            if visit.entity in visits:
                continue
            visits[visit.entity] = visit
            ahead: list[Visit] = []
            for port in self.ports[visit.entity]:
                if port[1] == visit.inport or port in cut or self.at[port] in feeders:
                    continue  # who is at a connection that is fed already was seen from there
                feeders[self.at[port]] = port
                others = [p for p in self.connections[self.at[port]] if p not in cut and self.entities[p[0]].binds]
                ahead += [Visit(other, inport, ".".join(port)) for other, inport in others if other not in visits]
            stack += reversed(ahead)
        return visits, feeders

    def edges(self, visits: Mapping[str, Visit]) -> dict[PortName, int]:
        """All ports of the entities that were visited, each with the number of its connection."""
        return {port: self.at[port] for name in visits for port in self.ports[name]}

    def beside(self, feeders: Mapping[int, PortName]) -> dict[str, str]:
        """Entities that move no frames and are at one of the mechanism -> who feeds the first of them."""
        fed = {
            name: [feeders[self.at[port]][0] for port in ports if self.at[port] in feeders]
            for name, ports in self.ports.items()
            if not self.entities[name].binds
        }
        return {name: owners[0] for name, owners in fed.items() if owners}

    def driven(self) -> set[str]:
        """Entities that a motor is connected with through shafts."""
        number = {port: k for k, connection in enumerate(self.connections) for port in connection}
        queue = [name for name, entity in self.entities.items() if entity.drives]
        reached = set(queue)
        for name in queue:
            for port in self.entities[name].shafts:
                for other, _ in self.connections[number[name, port]] if (name, port) in number else ():
                    if other not in reached:
                        reached.add(other)
                        queue.append(other)
        return reached


# ------------------------------------------------------------------------------------------------ loops
Priority = tuple[int, int, int, str, int, str]


def _priorities(graph: _Graph, root: str, edges: Mapping[PortName, int]) -> dict[PortName, Priority]:
    """The rule at the head of this file: the port with the greatest one is cut first."""
    distance, driven = _distances(root, edges), graph.driven()
    rates = {name: len(graph.entities[name].rates) for name, _ in edges}
    passive = {name: 0 if not n else 1 if name in driven else 2 for name, n in rates.items()}
    return {
        (name, port): (passive[name], rates[name], distance[name], name, distance[at], port)
        for (name, port), at in edges.items()
    }


def _distances(root: str, edges: Mapping[PortName, int]) -> dict[Node, int]:
    """Fewest steps from the reference frame to each entity and connection."""
    neighbours: dict[Node, list[Node]] = {}
    for (name, _), at in edges.items():
        neighbours.setdefault(name, []).append(at)
        neighbours.setdefault(at, []).append(name)
    distance: dict[Node, int] = {root: 0}
    queue: list[Node] = [root]
    for node in queue:  # grows on the way
        for other in neighbours.get(node, ()):
            if other not in distance:
                distance[other] = distance[node] + 1
                queue.append(other)
    return distance


def _surplus(edges: Mapping[PortName, int], priority: Mapping[PortName, Priority]) -> list[PortName]:
    """Ports that close loops when all are joined, those with the least priority first; by name."""
    above: dict[Node, Node] = {}

    def top(node: Node) -> Node:
        while (over := above.get(node, node)) != node:
            above[node] = node = above.get(over, over)
        return node

    surplus: list[PortName] = []
    for port in sorted(edges, key=priority.__getitem__):
        one, two = top(port[0]), top(edges[port])
        if one == two:
            surplus.append(port)
        above[one] = two
    return sorted(surplus)


def _ring(visits: Mapping[str, Visit], one: str, two: str) -> tuple[str, ...]:
    """Entities of the loop that a connection between ``one`` and ``two`` closes."""
    a, b = _inward(visits, one), _inward(visits, two)
    while len(a) > 1 and len(b) > 1 and a[-2] == b[-2]:
        a.pop()
        b.pop()
    return tuple(reversed(a)) + tuple(b[:-1])


def _inward(visits: Mapping[str, Visit], name: str) -> list[str]:
    """The entity, the one it was reached from, and so on to the reference frame."""
    path = [name]
    while visits[path[-1]].source is not None:
        path.append(visits[path[-1]].parent)
    return path
