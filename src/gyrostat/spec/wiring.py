"""The flat view of a model: who is joined to whom, and what follows from it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from gyrostat.errors import Problem
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity, PortKind
from gyrostat.spec.reference_frame import ReferenceFrame
from gyrostat.spec.spanning_tree import Connection, PortName, Tree, traverse

RESERVED = ("context", "model", "local", "aligned")


def is_name(text: str) -> bool:
    """Whether entities and ports can be called so."""
    return 0 < len(text) <= 128 and text.isprintable() and not any(c.isspace() or c in ".'\"[]{},|" for c in text)


def label_of(entity: Entity, full: str) -> str:
    """How messages call an entity by its full name: ``joint 'leg.knee'``."""
    return entity.label.replace(f"'{entity.name}'", f"'{full}'")


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
    """Flat view of a model, made by :func:`gyrostat.spec.flatten.wire` and not changed afterwards.

    ``entities``: by full name; ``groups``: connected ports, as (entity, port), in order of appearance. ``where`` of
    each problem is a path (``leg.connections[3]``, ``leg.knee``); ``check`` turns it into file:line.
    """

    entities: dict[str, Entity] = field(default_factory=dict)
    groups: list[Connection] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    loose: list[LooseEnd] = field(default_factory=list)
    assemblies: dict[str, Assembly] = field(default_factory=dict)
    again: list[tuple[str, Entity]] = field(default_factory=list)  # with a name that is taken: ("knee (again)", knee)
    keep: frozenset[str] = frozenset()  # joints whose coordinates are to be kept where loops are cut

    @property
    def root(self) -> str | None:
        """The reference frame's name, if there is exactly one."""
        names = [name for name, entity in self.entities.items() if isinstance(entity, ReferenceFrame)]
        return names[0] if len(names) == 1 else None

    def group_of(self) -> dict[PortName, int]:
        """Number of the connection that each connected port is in."""
        return {port: k for k, group in enumerate(self.groups) for port in group}

    @cached_property
    def _connection(self) -> dict[PortName, Connection]:
        return {port: group for group in self.groups for port in group}

    def connection(self, entity: str, port: str) -> Connection:
        """The ports that are connected with one, itself included; none if it is open."""
        return self._connection.get((entity, port), ())

    @cached_property
    def tree(self) -> Tree:
        """Who moves whom, outwards from the reference frame, and where loops are cut."""
        return traverse(self.root, self.entities, self.groups, self.keep)

    def joined(self, names: Iterable[str], kinds: Iterable[PortKind]) -> list[str]:
        """Entities that can be reached from some through ports of given kinds, these first, each once."""
        order, kinds = list(dict.fromkeys(names)), set(kinds)
        reached = set(order)
        for name in order:
            for port in self.entities[name].ports:
                for other, _ in self.connection(name, port.name) if port.kind in kinds else ():
                    if other not in reached:
                        reached.add(other)
                        order.append(other)
        return order

    def reached(self) -> set[str]:
        """Entities that are connected with the reference frame in any way, by frames or by shafts."""
        return set(self.joined([*self.tree.parent, *self.tree.left_out], ["scalar"]))

    def state_order(self) -> list[str]:
        """Entities with coordinates: file order, parents first."""
        parent, done = self.tree.parent, dict[str, None]()
        for name in self.entities:
            path: list[str] = []
            while name in parent and name not in done:
                path.append(name)
                if parent[name] == name:
                    break
                name = parent[name]
            done.update(dict.fromkeys(reversed(path)))
        return [name for name in done if self.entities[name].rates]
