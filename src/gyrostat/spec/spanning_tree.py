"""The one traversal of a mechanism (H04 2.3, causality): a depth-first search outwards from the reference frame decides
by which port each entity is met. State order, networks, checks, edits, files and drawings use the tree that it makes.

The graph has two kinds of nodes, entities and connections; its edges are the connected spatial ports. Where it is no
tree, ports are cut, as many as there are independent loops. Which ones does not depend on the order in which entities,
connections or ports are written, but on the entities in the loops. A port is cut in preference to others if

1. it belongs to a wheel that rolls; else to a connecting rod; else to a passive joint that has neither limits nor
   anything on its shafts; else to one that has; else to a joint that is driven, said to be actuated, or whose
   coordinate is to be kept; else to a rigid entity,
2. the joint has more rates: n of them leave 6 - n equations that close the loop,
3. it turns: angles are found more easily from the others than shifts are,
4. the entity is farther from the reference frame, counted in connections,
5. the name of the entity comes later in the alphabet,
6. its connection is farther from the reference frame; then, the name of the port comes later.

Ports are kept in the opposite order as long as they close no loop [Kruskal 1956], so that what is cut is the first of
its loop by this order. What is cut and is nothing but a relation between its two frames, a rod or a bare joint, leaves
the tree altogether: the loop is closed when its frames are placed so. Else its cut port coincides with those that it is
connected with."""

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
    the connection which closes it, and the port that is cut off there. ``closer``: the joint or rod that closes it and
    is not in the tree, None where the two ports of ``frames`` coincide; ``frames``: the ports of the tree at its a and
    at its b (its first and second port). ``link``: another joint and a displacement between it and the ``closer`` that
    is a massless rod; then all three are left out."""

    entities: tuple[str, ...]
    cut: tuple[str, str]
    closer: str | None = None
    frames: tuple[str, str] = ("", "")
    link: tuple[str, str] | None = None

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
    def left_out(self) -> set[str]:
        """Joints and rods that close loops and are not in the tree."""
        closers = {loop.closer for loop in self.loops if loop.closer is not None}
        return closers | {name for loop in self.loops for name in loop.link or ()}

    @cached_property
    def closing(self) -> set[str]:
        """Entities of the tree at both sides of a cut."""
        return {port.rpartition(".")[0] for loop in self.loops for port in loop.frames}


def traverse(
    root: str | None,
    entities: Mapping[str, Entity],
    connections: Sequence[Connection],
    keep: Collection[str] = frozenset(),
) -> Tree:
    """The tree of a mechanism. At a connection of several ports the one that is reached first feeds all the others.
    ``keep``: joints that loops should not be cut at."""
    if root is None:
        return Tree()
    graph = _Graph(entities, connections, keep)
    visits, feeders = graph.walk(root)
    edges = graph.edges(visits)
    cut: list[PortName] = []
    if len(edges) > len(visits) + len(feeders) - 1:  # a tree has one edge less than nodes
        cut = _surplus(edges, _priorities(graph, root, edges))
        visits, feeders = graph.walk(root, frozenset(cut))
    loops = [_loop(graph, visits, feeders[edges[port]], port) for port in cut]
    gone = {loop.closer for loop in loops} | {name for loop in loops for name in loop.link or ()}
    return Tree(tuple(v for v in visits.values() if v.entity not in gone), tuple(loops), graph.beside(feeders, root))


def _loop(graph: _Graph, visits: Mapping[str, Visit], feeder: PortName, port: PortName) -> Loop:
    """The loop that is cut at a port; ``feeder``: the port of the tree that it was connected with."""
    ring, visit = _ring(visits, feeder[0], port[0]), visits[port[0]]
    if not graph.bare(port[0]) or visit.source is None:
        return Loop(ring, _texts(feeder, port), None, _texts(feeder, port))
    ends = visit.source, ".".join(feeder)
    for near, far in (ends, ends[::-1]):  # the side of the cut joint on which a massless link may be
        link = _massless_link(graph, visits, near, port[0])
        if link is not None:
            return Loop(ring, _texts(feeder, port), port[0], (str(visits[link[0]].source), far), link)
    ends = ends if visit.inport == graph.entities[port[0]].ports[0].name else (ends[1], ends[0])
    return Loop(ring, _texts(feeder, port), port[0], ends)


def _texts(one: PortName, two: PortName) -> tuple[str, str]:
    return ".".join(one), ".".join(two)


def _massless_link(graph: _Graph, visits: Mapping[str, Visit], port: str, closer: str) -> tuple[str, str] | None:
    """A displacement that has ``port``, behind a joint, with nothing else at either: between that joint and the one
    that closes the loop it is a rod, if both let its end turn, and one of them about any axis (H04 3.2.3.1)."""
    name = port.rpartition(".")[0]
    if not graph.entities[name].is_massless_link or visits[name].source is None:
        return None
    joint = visits[name].parent
    kinds = {getattr(graph.entities[x], "kind", "") for x in (joint, closer)}
    alone = all(len(graph.connections[graph.at[p]]) == 2 for p in graph.ports[name])
    turning = kinds == {"spherical"} or kinds == {"spherical", "universal"}
    return (joint, name) if alone and turning and graph.bare(joint) and visits[joint].source is not None else None


class _Graph:
    """Spatial ports of a mechanism: ``ports`` of each entity, ``at``: the number of each port's connection."""

    def __init__(self, entities: Mapping[str, Entity], connections: Sequence[Connection], keep: Collection[str]):
        self.entities, self.connections, self.keep = entities, connections, keep
        number = {port: k for k, connection in enumerate(connections) for port in connection}
        self.ports = {
            name: [(name, port.name) for port in entity.ports if port.kind == "spatial" and (name, port.name) in number]
            for name, entity in entities.items()
        }
        self.at = {port: number[port] for ports in self.ports.values() for port in ports}
        self.shafts = {port[0] for port in number if port not in self.at}

    def bare(self, name: str) -> bool:
        """Whether an entity can be left out of the tree: nothing is lost with its coordinates."""
        kept = name in self.keep or name in self.shafts or self.entities[name].said_passive is False
        return self.entities[name].closes and not kept

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

    def beside(self, feeders: Mapping[int, PortName], root: str) -> dict[str, str]:
        """Entities that move no frames and are at one of the mechanism -> who feeds the first of them; the reference
        frame of those that stand alone."""
        fed = {
            name: [feeders[self.at[port]][0] for port in ports if self.at[port] in feeders]
            for name, ports in self.ports.items()
            if not self.entities[name].binds
        }
        alone = [name for name, entity in self.entities.items() if entity.stands_alone and not self.ports[name]]
        return {name: owners[0] for name, owners in fed.items() if owners} | dict.fromkeys(alone, root)

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
Priority = tuple[int, int, bool, int, str, int, str]


def _priorities(graph: _Graph, root: str, edges: Mapping[PortName, int]) -> dict[PortName, Priority]:
    """The rule at the head of this file: the port with the greatest one is cut first."""
    distance, driven = _distances(root, edges), graph.driven()
    rates = {name: len(graph.entities[name].rates) for name, _ in edges}

    def passive(name: str) -> int:
        entity = graph.entities[name]
        if entity.carries_nothing:
            return 4 if entity.is_rod else 5
        if not rates[name]:
            return 0
        if name in driven or name in graph.keep or entity.said_passive is False:
            return 1
        return 3 if graph.bare(name) else 2

    def turns(name: str) -> bool:
        entity = graph.entities[name]
        return entity.quaternion_at is not None or any(map(entity.is_periodic, entity.coordinates))

    return {
        (name, port): (passive(name), rates[name], turns(name), distance[name], name, distance[at], port)
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
