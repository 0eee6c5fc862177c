"""Where the boxes of a component diagram are, and how its lines run.

Chains go from left to right and are wrapped like text. Single entities hang below the connection they belong to. A
branch is a chain in rows of its own; a line leads to it along the left margin."""

from __future__ import annotations

from dataclasses import dataclass, field

from gyrostat.spec.model import Model
from gyrostat.view.diagram.box import Box, Point, curve, new_box
from gyrostat.view.diagram.tree import Chain, Node, Stop, chains, grow

WIDTH = 1240.0
"""How wide a row gets before it is wrapped [px]."""

GAP, LANE = 46.0, 10.0
MARGIN = 24.0


@dataclass
class Layout:
    """``boxes`` by name; ``lines``, ``curves``: connection and points; ``frames``: (assembly, x, y, w, h)."""

    boxes: dict[str, Box] = field(default_factory=dict)
    lines: list[tuple[int, list[Point]]] = field(default_factory=list)
    curves: list[tuple[int, list[Point]]] = field(default_factory=list)  # start, two control points, end
    dots: list[Point] = field(default_factory=list)
    frames: list[tuple[str, float, float, float, float]] = field(default_factory=list)
    width: float = 0.0
    height: float = 0.0


def layout(model: Model) -> Layout:
    """Places for everything that a model holds."""
    work = _Work(model, Layout())
    y = MARGIN + 34.0
    for root in grow(model):
        y = work.root(chains(root), y) + 14.0
    work.close_loops()
    boxes = work.done.boxes.values()
    work.done.width = max([b.x + b.w for b in boxes] + [f[1] + f[3] for f in work.done.frames]) + MARGIN
    work.done.height = y + MARGIN
    return work.done


@dataclass
class _Branch:
    """A chain that begins at a port of a stop."""

    stop: Stop | None
    port: str
    chain: Chain

    @property
    def key(self) -> tuple[str, str]:
        return (self.stop.node.name if self.stop else "", self.port)


class _Work:
    def __init__(self, model: Model, done: Layout):
        self.model, self.done = model, done
        self.group_of = model.wiring.group_of()
        self.drawn: set[tuple[str, str]] = set()  # ports that a line leads to
        self.later: list[tuple[_Branch, list[Point]]] = []  # branches that leave the assembly they begin in

    def root(self, chain: Chain, y: float) -> float:
        """A chain that nothing leads to, within its assembly if it is in one."""
        return self._block(chain.scope, "", [(_Branch(None, "", chain), [])], MARGIN, y)

    def box(self, node: Node, ahead: tuple[str | None, ...] = ()) -> Box:
        entity = self.model.wiring.entities[node.name]
        box = new_box(node.name, entity, node.enter, ahead)
        self.done.boxes[node.name] = box
        return box

    # ------------------------------------------------------------------ chains
    def chain(self, chain: Chain, x: float, y: float, feed: tuple[int, list[Point]] | None) -> float:
        """Draw a chain and its branches from (x, y) on; ``feed``: the line that leads to it. Returns where it ends."""
        branches = [_Branch(stop, port, branch) for stop in chain.stops for port, branch in stop.branches]
        inside = [b for b in branches if _within(b.chain, chain)]
        outside = [b for b in branches if not _within(b.chain, chain)]
        lanes = {key: k for k, key in enumerate(dict.fromkeys(b.key for b in (*inside, *outside)))}
        start = x + LANE * (len(lanes) + 2)
        feeds, y = self._rows(chain, start, x + 8.0, y, lanes, feed)
        y = self._branches(chain.scope, inside, start, y, feeds)
        self.later += [(branch, feeds[branch.key]) for branch in outside]
        return y

    def _branches(
        self, scope: str, branches: list[_Branch], x: float, y: float, feeds: dict[tuple[str, str], list[Point]]
    ) -> float:
        """Branches one below the other; those of one assembly together, in one frame."""
        for inner in dict.fromkeys(b.chain.scope for b in branches):
            waiting = [(b, feeds[b.key]) for b in branches if b.chain.scope == inner]
            y = self._block(inner, scope, waiting, x, y + 6.0)
        return y

    def _block(self, inner: str, scope: str, waiting: list[tuple[_Branch, list[Point]]], x: float, y: float) -> float:
        framed = inner != scope and bool(inner)
        top, known, outer = y, set(self.done.boxes), self.later
        self.later = []
        y += 20.0 if framed else 0.0
        for branch, points in waiting:
            feed = (self.group_of[branch.key], points) if branch.stop else None
            y = self.chain(branch.chain, x + (8.0 if framed else 0.0), y, feed)
        if framed:
            right = max(box.x + box.w for name, box in self.done.boxes.items() if name not in known) + 20.0
            self.done.frames.append((inner, x + 2.0, top, right - x, y - top + 2.0))
            y += 14.0
        leaving, self.later = self.later, outer
        for branch, points in leaving:  # what begins in the assembly and is outside of it
            if branch.chain.scope == scope or not scope or branch.chain.scope.startswith(f"{scope}."):
                y = self._block(branch.chain.scope, scope, [(branch, points)], x + 18.0, y + 6.0)
            else:
                self.later.append((branch, points))
        return y

    def _rows(
        self,
        chain: Chain,
        start: float,
        margin: float,
        y: float,
        lanes: dict[tuple[str, str], int],
        feed: tuple[int, list[Point]] | None,
    ) -> tuple[dict[tuple[str, str], list[Point]], float]:
        """Boxes in rows; returns how the line to each branch begins, and where the last row ends."""
        feeds: dict[tuple[str, str], list[Point]] = {}
        at, todo = 0, chain.stops
        while at < len(todo):
            row, at = self._take(todo, at, start)
            above = [s for s in row if any(port in self.done.boxes[s.node.name].top for port, _ in s.branches)]
            shafts = any(self.done.boxes[s.node.name].top for s in row)
            y += (16.0 if shafts else 8.0) + LANE * len(above)
            tall = max(self.done.boxes[s.node.name].h for s in row)
            self._place(row, start, y, tall)
            if feed is not None:
                self._enter(feed, self.done.boxes[row[0].node.name], row[0].node)
                feed = None
            y = self._below(row, y + tall)
            y = self._leave(row, lanes, margin, y, feeds)
            if at < len(todo):  # the chain goes on in the next row
                stop = row[-1]
                end = self._mouth(stop, str(stop.onward))
                lane = margin + LANE * len(lanes)
                y += LANE
                feed = (self.group_of[stop.node.name, str(stop.onward)], [*end, (end[-1][0], y), (lane, y)])
            y += 10.0
        return feeds, y

    def _take(self, todo: list[Stop], at: int, start: float) -> tuple[list[Stop], int]:
        """As many entities as fit into a row."""
        row: list[Stop] = []
        x = start
        while at < len(todo):
            box = self.box(todo[at].node, (todo[at].onward, *(port for port, _ in todo[at].hanging)))
            hanging = max((self.box(node).w for _, node in todo[at].hanging), default=0.0)
            if row and x + box.w > WIDTH:
                break
            row.append(todo[at])
            x += box.w + max(GAP, hanging + 34.0 - _next_width(todo, at))
            at += 1
        return row, at

    def _place(self, row: list[Stop], x: float, y: float, tall: float) -> None:
        for n, stop in enumerate(row):
            box = self.done.boxes[stop.node.name]
            box.x, box.y = x, y + (tall - box.h) / 2.0
            if n:
                before = row[n - 1]
                self._line(before, str(before.onward), box, stop.node)
            hanging = max((self.done.boxes[node.name].w for _, node in stop.hanging), default=0.0)
            ahead = self.done.boxes[row[n + 1].node.name].w if n + 1 < len(row) else 0.0
            x += box.w + max(GAP, hanging + 34.0 - ahead)

    def _below(self, row: list[Stop], y: float) -> float:
        """Single entities under the connection that they hang on, one under the other."""
        lowest = y
        for stop in row:
            under = y + 12.0
            for port, node in stop.hanging:
                box = self.done.boxes[node.name]
                end = self._mouth(stop, port)
                box.x, box.y = end[-1][0] + 14.0, under
                to = box.at(str(node.enter))
                self._draw(self.group_of[stop.node.name, port], [*end, (end[-1][0], to[1]), to], node)
                self.done.dots.append(end[-1])
                under += box.h + 8.0
                lowest = max(lowest, under)
        return lowest

    def _leave(
        self,
        row: list[Stop],
        lanes: dict[tuple[str, str], int],
        margin: float,
        y: float,
        feeds: dict[tuple[str, str], list[Point]],
    ) -> float:
        """Lines from ports of a row to the left margin: shafts above the row, frames below it."""
        above = min(self.done.boxes[s.node.name].y for s in row) - 12.0
        for stop in row:
            for port in dict.fromkeys(port for port, _ in stop.branches):
                end = self._mouth(stop, port)
                lane = margin + LANE * lanes[stop.node.name, port]
                if port in self.done.boxes[stop.node.name].top:
                    feeds[stop.node.name, port] = [*end, (end[-1][0], above), (lane, above)]
                    above -= LANE
                else:
                    y += LANE
                    feeds[stop.node.name, port] = [*end, (end[-1][0], y), (lane, y)]
                    self.done.dots.append(end[-1])
        return y

    # ------------------------------------------------------------------ lines
    def _mouth(self, stop: Stop, port: str) -> list[Point]:
        """From a port outwards to where its connection is met."""
        box = self.done.boxes[stop.node.name]
        x, y = box.at(port)
        if port in box.top:
            return [(x, y)]
        return [(x, y), (x + 16.0 + 5.0 * box.right.index(port), y)]

    def _line(self, stop: Stop, port: str, box: Box, node: Node) -> None:
        end, to = self._mouth(stop, port), box.at(str(node.enter))
        self._draw(self.group_of[stop.node.name, port], [*end, (end[-1][0], to[1]), to], node)

    def _enter(self, feed: tuple[int, list[Point]], box: Box, node: Node) -> None:
        group, points = feed
        to = box.at(str(node.enter))
        self._draw(group, [*points, (points[-1][0], to[1]), to], node)

    def _draw(self, group: int, points: list[Point], node: Node) -> None:
        self.drawn.add((node.name, str(node.enter)))
        self.done.lines.append((group, points))

    def close_loops(self) -> None:
        """Ports that are part of a connection but were reached another way: loops, and shafts of coupled joints."""
        for k, group in enumerate(self.model.wiring.groups):
            starts = [port for port in group if port in self.drawn] or [group[0]]
            source = next((port for port in group if port not in self.drawn and port[0] in self.done.boxes), starts[0])
            for name, port in group:
                if (name, port) in self.drawn or (name, port) == source:
                    continue
                self.done.curves.append((k, curve(self.done.boxes[source[0]], source[1], self.done.boxes[name], port)))


def _within(branch: Chain, chain: Chain) -> bool:
    return branch.scope == chain.scope or not chain.scope or branch.scope.startswith(f"{chain.scope}.")


def _next_width(todo: list[Stop], at: int) -> float:
    return 64.0 if at + 1 < len(todo) else 0.0
