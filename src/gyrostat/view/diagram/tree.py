"""The order in which a component diagram is drawn: chains of entities, what hangs beside them, and branches."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.spec.model import Model
from gyrostat.spec.wiring import Wiring


@dataclass
class Node:
    """An entity: the port by which it is entered, and for each further port the entities met there first."""

    name: str
    enter: str | None
    group: int | None
    ahead: list[tuple[str, int, list[Node]]] = field(default_factory=list)  # port, connection, entities


@dataclass
class Stop:
    """One entity of a chain; ``hanging``: single entities at a port; ``branches``: chains that begin at a port."""

    node: Node
    hanging: list[tuple[str, Node]] = field(default_factory=list)
    branches: list[tuple[str, Chain]] = field(default_factory=list)
    onward: str | None = None  # the port that leads to the next one


@dataclass
class Chain:
    """Entities one after the other, all within the same assembly, whose name is ``scope``."""

    scope: str
    stops: list[Stop] = field(default_factory=list)


def grow(model: Model) -> list[Node]:
    """Trees of entities in breadth-first order from the reference frame; others where it does not reach."""
    wiring = model.wiring
    roots: list[Node] = []
    met: set[str] = set()
    entered: set[int] = set()
    for start in [name for name in (wiring.root,) if name] + list(wiring.entities):
        if start not in met:
            met.add(start)
            roots.append(Node(start, None, None))
            _spread(wiring, roots[-1], met, entered)
    return roots


def _spread(wiring: Wiring, root: Node, met: set[str], entered: set[int]) -> None:
    group_of = wiring.group_of()
    order = [root]
    for node in order:  # grows on the way
        entity = wiring.entities[node.name]
        ports = sorted(entity.ports, key=lambda port: port.kind == "scalar")  # frames first, then shafts
        for port in ports:
            group = group_of.get((node.name, port.name))
            if group is None or group in entered or (node.name, port.name) in wiring.tree.cut:
                continue
            entered.add(group)
            children: list[Node] = []
            for name, own in wiring.groups[group]:
                if name not in met and (name, own) not in wiring.tree.cut:
                    met.add(name)
                    children.append(Node(name, own, group))
            node.ahead.append((port.name, group, children))
            order += children


def chains(root: Node) -> Chain:
    """A tree as a chain with branches; the longest way is the chain, single entities hang beside it."""
    sizes: dict[int, int] = {}
    order = [root]
    for node in order:
        order += [child for _, _, children in node.ahead for child in children]
    for node in reversed(order):
        sizes[id(node)] = 1 + sum(sizes[id(child)] for _, _, children in node.ahead for child in children)
    first = Chain(scope_of(root.name))
    todo = [(first, root)]
    while todo:
        chain, node = todo.pop()
        while True:
            stop = Stop(node)
            chain.stops.append(stop)
            ahead = [(port, child) for port, _, children in node.ahead for child in children]
            longest = _longest(ahead, sizes, chain.scope)
            for port, child in ahead:
                if child is longest:
                    stop.onward = port
                elif sizes[id(child)] == 1 and scope_of(child.name) == chain.scope:
                    stop.hanging.append((port, child))
                else:
                    branch = Chain(scope_of(child.name))
                    stop.branches.append((port, branch))
                    todo.append((branch, child))
            if longest is None:
                break
            node = longest
    return first


def _longest(ahead: list[tuple[str, Node]], sizes: dict[int, int], scope: str) -> Node | None:
    inside = [child for _, child in ahead if scope_of(child.name) == scope]
    return max(inside, key=lambda child: sizes[id(child)], default=None)


def scope_of(name: str) -> str:
    """The assembly that an entity is in: ``leg.drive`` for ``leg.drive.rotor``, nothing for the model itself."""
    return name.rpartition(".")[0]
