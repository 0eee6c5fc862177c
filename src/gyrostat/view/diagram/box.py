"""Boxes of a component diagram: their size, and where their ports are."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.spec.entity import Entity

HEIGHT, PORT = 42.0, 15.0
"""Height of a box, and of a port with its name [px]."""

Point = tuple[float, float]


@dataclass
class Box:
    """An entity: corner, size, and where its ports are."""

    name: str
    entity: Entity
    x: float = 0.0
    y: float = 0.0
    w: float = 0.0
    h: float = HEIGHT
    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    top: list[str] = field(default_factory=list)

    def at(self, port: str) -> Point:
        """The middle of a port on the border."""
        if port in self.top:
            k = self.top.index(port)
            return self.x + self.w - 16.0 - 22.0 * k, self.y
        side, x = (self.left, self.x) if port in self.left else (self.right, self.x + self.w)
        k = side.index(port)
        return x, self.y + self.h / 2.0 + PORT * (k - (len(side) - 1) / 2.0)

    def outward(self, port: str) -> Point:
        """The direction away from the box."""
        return (0.0, -1.0) if port in self.top else (-1.0, 0.0) if port in self.left else (1.0, 0.0)


def new_box(name: str, entity: Entity, enter: str | None, ahead: tuple[str | None, ...]) -> Box:
    """A box with its size, and its ports on its sides: the one it is entered by on the left, shafts of others above,
    unless the chain goes on there (``ahead``)."""
    box = Box(name, entity)
    spatial = {port.name for port in entity.ports if port.kind == "spatial"}
    box.left = [enter] if enter else []
    for port in entity.ports:
        if port.name == enter:
            continue
        over = port.kind == "scalar" and bool(spatial) and (enter in spatial or enter is None)
        over &= port.name not in ahead
        (box.top if over else box.right).append(port.name)
    sides = max(len(box.left), len(box.right))
    box.h = max(HEIGHT, PORT * sides + 10.0)
    words = max(len(name.rpartition(".")[2]) * 7.4, len(kind_of(entity)) * 5.9, 26.0 * len(box.top))
    inside = 6.0 * (max(map(len, box.left), default=0) + max(map(len, box.right), default=0))
    box.w = min(max(words + inside + 22.0, 64.0), 250.0)
    return box


def curve(one: Box, port: str, two: Box, other: str) -> list[Point]:
    """From port to port, leaving each straight away from its box."""
    a, b = one.at(port), two.at(other)
    reach = 30.0 + 0.2 * abs(a[1] - b[1])
    (ax, ay), (bx, by) = one.outward(port), two.outward(other)
    return [a, (a[0] + ax * reach, a[1] + ay * reach), (b[0] + bx * reach, b[1] + by * reach), b]


def kind_of(entity: Entity) -> str:
    kind = getattr(entity, "kind", "")
    words = entity.type_name.replace("_", " ")
    return f"{kind} {words}" if isinstance(kind, str) and kind else words
