"""A network in the making: a draft is a set of parts that rewriting rules change, merge and remove.

Each part has one inport, fed by an outport (its ``source``), and outports of its own. Outports are known by the name of
the port of the specification that they came from. ``located`` follows every port of the specification through all
changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.graph.lower import Lowered, Placement
from gyrostat.spatial.algebra import Array, compose
from gyrostat.spec.entity import Entity


@dataclass(frozen=True)
class DraftPart:
    """A component that may still change. ``outs``: name of outport -> key; ``places``: the same names -> placement.
    ``entity``: what it was lowered from; of what is inside another entity, ``owner`` is the name of that one,
    ``state`` its part of the owner's q and v, and ``enters`` the full name of its inport."""

    name: str
    kind: type
    props: dict[str, Any]
    inport: str | None
    source: str | None
    outs: dict[str, str]
    places: dict[str, Placement]
    entity: Entity | None = None
    owner: str = ""
    state: tuple[slice, slice] | None = None
    enters: str = ""

    @property
    def inport_name(self) -> str:
        """The full name of the inport."""
        return self.enters or f"{self.name}.{self.inport}"


@dataclass(frozen=True)
class ShaftPart:
    """What acts inside an entity on its rates alone, such as a spring; ``rates``: name of its port -> the entity, and
    the number of the rate within it."""

    name: str
    low: Lowered
    rates: dict[str, tuple[str, int]]


@dataclass
class Draft:
    """Parts, and where every port of the specification is: key of an outport, R, p. ``elements``: what acts on rates
    inside entities. Indices keep every step cheap."""

    parts: dict[str, DraftPart] = field(default_factory=dict)
    located: dict[str, tuple[str, Array, Array]] = field(default_factory=dict)
    elements: list[ShaftPart] = field(default_factory=list)
    _fed: dict[str, dict[str, None]] = field(default_factory=dict)  # outport -> parts it feeds
    _owner: dict[str, str] = field(default_factory=dict)  # outport -> part
    _sits: dict[str, list[str]] = field(default_factory=dict)  # outport -> ports located on it

    def add(self, part: DraftPart) -> None:
        self._insert(part)
        for key in part.outs.values():
            self._sits[key] = []
            self.locate(key, key)
        if part.source is not None:
            self.locate(part.inport_name, part.source)

    def hide(self, part: DraftPart) -> None:
        """Add a part whose ports have no names in the specification."""
        self._insert(part)
        for key in part.outs.values():
            self._sits[key] = []

    def locate(self, name: str, key: str) -> None:
        """A port of the specification that is at an outport."""
        self.located[name] = key, np.eye(3), np.zeros(3)
        self._sits[key].append(name)

    def share(self, name: str, port: str) -> None:
        """A port of the specification that is where another one is."""
        self.located[name] = self.located[port]
        self._sits[self.located[port][0]].append(name)

    def _insert(self, part: DraftPart) -> None:
        self.parts[part.name] = part
        self._owner |= dict.fromkeys(part.outs.values(), part.name)
        if part.source is not None:
            self._fed.setdefault(part.source, {})[part.name] = None

    def remove(self, part: DraftPart) -> None:
        """Take a part out; its outports must have been adopted, merged or forgotten."""
        del self.parts[part.name]
        if part.source is not None:
            del self._fed[part.source][part.name]

    def change(self, part: DraftPart, **changes: Any) -> DraftPart:
        """Replace a part in its place."""
        if part.source is not None:
            del self._fed[part.source][part.name]
        new = replace(part, **changes)
        self._insert(new)
        return new

    def each(self) -> Iterator[DraftPart]:
        """Every part as it is when its turn comes, while parts are changed and removed on the way."""
        return (self.parts[name] for name in list(self.parts) if name in self.parts)

    def at(self, key: str | None) -> list[DraftPart]:
        """Parts that the outport feeds."""
        return [self.parts[name] for name in self._fed.get(str(key), ())]

    def owner(self, key: str | None) -> DraftPart | None:
        """The part whose outport this is."""
        return self.parts.get(self._owner.get(str(key), ""))

    def forget(self, key: str, onto: str, place: Placement) -> None:
        """The outport ``key`` is no more: what sat on it now sits at ``place`` on ``onto``."""
        for name in self._sits.pop(key):
            _, R, p = self.located[name]
            self.located[name] = onto, *compose(*place, R, p)
            self._sits[onto].append(name)

    def outward(self) -> list[DraftPart]:
        """Parts in depth-first order from the reference frame."""
        order: list[DraftPart] = []
        stack = [part for part in self.parts.values() if part.source is None]
        while stack:
            part = stack.pop()
            order.append(part)
            ahead = [follower for key in part.outs.values() for follower in self.at(key)]
            stack += reversed(ahead)
        return order
