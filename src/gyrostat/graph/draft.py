"""A network in the making: a draft is a set of parts that rewriting rules change, merge and remove.

Each part has one inport, fed by an outport (its ``source``), and outports of its own. Outports are known by the name of
the port of the specification that they came from. ``located`` follows every port of the specification through all
changes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.graph.lower import Placement
from gyrostat.spatial.algebra import Array, compose


@dataclass(frozen=True)
class DraftPart:
    """A component that may still change. ``outs``: name of outport -> key; ``places``: the same names -> placement."""

    name: str
    kind: type
    props: dict[str, Any]
    inport: str | None
    source: str | None
    outs: dict[str, str]
    places: dict[str, Placement]


@dataclass
class Draft:
    """Parts, and where every port of the specification is: key of an outport, R, p. Indices keep every step cheap."""

    parts: dict[str, DraftPart] = field(default_factory=dict)
    located: dict[str, tuple[str, Array, Array]] = field(default_factory=dict)
    _fed: dict[str, dict[str, None]] = field(default_factory=dict)  # outport -> parts it feeds
    _owner: dict[str, str] = field(default_factory=dict)  # outport -> part
    _sits: dict[str, list[str]] = field(default_factory=dict)  # outport -> ports located on it

    def add(self, part: DraftPart) -> None:
        self._insert(part)
        for key in part.outs.values():
            self.located[key] = key, np.eye(3), np.zeros(3)
            self._sits[key] = [key]
        if part.source is not None:
            name = f"{part.name}.{part.inport}"
            self.located[name] = self.located[part.source]
            self._sits[part.source].append(name)

    def hide(self, part: DraftPart) -> None:
        """Add a part whose inport has no name of its own in the specification."""
        self._insert(part)

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
