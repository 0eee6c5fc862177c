"""The plan of a kernel: fused products, pairs of sine and cosine, parts of long programs, slots of the work array.

Multiplications that feed one addition become fused multiply-adds *here*, by the same rule for any number of lanes.
Long programs are cut into parts, so that the time to compile stays linear; values that outlive a part go through a work
array."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Node, Program

PART = 600
"""Operations in one function at most. Measured (talos, 3700 operations): compile 0.21 s at 500, 0.31 s at 1500, 0.39
s uncut; run 224, 240, 261 ns."""
SMALL_PART, OPERATIONS_OF_LONG, LOADS = 150, 20_000, 240
"""The same for programs with so many operations whose functions of PART would load so many values in the mean: LLVM's
scheduler takes a time that grows with the square of the loads in a function. Measured (30,000 operations of a beam
with 40 shapes, 282 loads): compile 6.4 s at 600, 3.4 s at 300, 2.5 s at 150, 3.1 s at 75; run 10.7, 11.0, 11.6, 12.2
us. With fewer loads nothing is gained (derivatives of talos, 188: run 5.8 us at 600, 6.1 us at 150, compile alike)."""

ADD, SUB, MUL, SIN, COS = (CODE[n] for n in ("add", "sub", "mul", "sin", "cos"))


class Plan:
    """What is computed where.

    ``fused``: sum -> the product it takes in; ``sines``: argument -> its sine and cosine; ``parts``: nodes in the order
    in which they are computed, cut into functions; ``slot``: node -> its place in the work array, for values that a
    later part needs; ``work``: places of that array; ``out_of``: node -> (output, element) that it is. No function has
    more than ``part`` operations, :data:`PART` unless told.

    ``shared``: whether a node is the same in all lanes, since it depends on nothing but the inputs of these numbers.
    Such nodes come first: they fill the first ``common`` parts, and have ``common_work`` places of one double; outputs
    that consist of nothing else are ``shared_outputs``."""

    def __init__(self, program: Program, fma: bool, part: int | None = None, shared: frozenset[int] = frozenset()):
        nodes = program.nodes
        self.program = program
        self.results = [x for r in program.results for x in r] + list(program.guards)
        self.fused = _fused(nodes, _uses(nodes, self.results)) if fma else {}
        self.sines: dict[int, list[int]] = {}
        for k, (code, x, *_) in enumerate(nodes):
            if code in (SIN, COS):
                self.sines.setdefault(x, []).append(k)
        self.order = _order(nodes, set(self.fused.values()))
        self.shared = _shared(nodes, shared)
        self._cut_into(part or PART, shared)
        if part is None and len(self.order) >= OPERATIONS_OF_LONG and self._loads() > LOADS * len(self.parts):
            self._cut_into(SMALL_PART, shared)
        self.out_of: dict[int, list[tuple[int, int]]] = {}
        for o, r in enumerate(program.results):
            for element, x in enumerate(r):
                self.out_of.setdefault(x, []).append((o, element))
        self.shared_outputs = frozenset(o for o, r in enumerate(program.results) if self._same_in_all_lanes(r))
        self.slot, self.common_work, self.work = self._slots()

    def _cut_into(self, part: int, shared: frozenset[int]) -> None:
        first = _cut([k for k in self.order if self.shared[k]], part) if shared else []
        self.common = len(first)
        self.parts = first + _cut([k for k in self.order if not self.shared[k]], part)
        self.made = self._made()

    def _loads(self) -> int:
        """Values that parts read and others made, each once for each part."""
        read = ({x for k in part for x in self.operands(k)} for part in self.parts)
        return sum(self.made.get(x, p) != p for p, values in enumerate(read) for x in values)

    def operands(self, k: int) -> list[int]:
        """Nodes that must be there when k is computed, through fused products."""
        code, *xs = self.program.nodes[k]
        needed: list[int] = []
        for x in xs[: OPERATIONS[code].arity]:
            needed += self.operands(x) if self.fused.get(k) == x else [x]
        return needed

    def watched_in(self, x: int) -> int:
        """The part that looks whether a guard is finite."""
        return self.made.get(x, (self.common if self.shared[x] else len(self.parts)) - 1)

    def _same_in_all_lanes(self, result: Sequence[int]) -> bool:
        """Whether an output is shared: not by constants alone, which kernels of many lanes leave to their callers."""
        constant = [self.program.nodes[x][0] == CONST for x in result]
        return not all(constant) and all(c or self.shared[x] for c, x in zip(constant, result, strict=True))

    def _made(self) -> dict[int, int]:
        """Node -> the part that computes it; a sine and its cosine are made where the first of them is asked for."""
        made = {k: p for p, part in enumerate(self.parts) for k in part}
        for twins in self.sines.values():
            made |= dict.fromkeys(twins, min(made[k] for k in twins))
        return made

    def _last(self) -> dict[int, int]:
        """Node -> the last part that reads it."""
        last: dict[int, int] = {}
        for p, part in enumerate(self.parts):
            for k in part:
                for x in self.operands(k):
                    if x in self.made:
                        last[x] = p
        for x in self.results:
            if x in self.made:
                last[x] = max(last.get(x, 0), self.made[x])
        for x, places in self.out_of.items():
            if self.shared[x] and any(o not in self.shared_outputs for o, _ in places):
                last[x] = len(self.parts) - 1  # where it goes to all lanes
        return last

    def _slots(self) -> tuple[dict[int, int], int, int]:
        """Slots for values that a later part needs, reused when their last reader is done; their numbers: of those that
        all lanes share, and of the others."""
        last, slot = self._last(), dict[int, int]()
        pools = _Pool(), _Pool()
        by_part: dict[int, list[int]] = {}
        for k, p in self.made.items():
            if last.get(k, p) > p:
                by_part.setdefault(p, []).append(k)
        for p in range(len(self.parts)):
            for pool in pools:
                pool.begin(p)
            for k in by_part.get(p, ()):
                slot[k] = pools[0 if self.shared[k] else 1].take(last[k])
        return slot, pools[0].size, pools[1].size


class _Pool:
    """Places of the work array, which are free again after the last part that reads them."""

    def __init__(self) -> None:
        self.size, self.free, self.expiring = 0, list[int](), dict[int, list[int]]()

    def begin(self, part: int) -> None:
        self.free += self.expiring.pop(part, [])

    def take(self, last: int) -> int:
        """A place for a value that is read until the part ``last``."""
        place = self.free.pop() if self.free else self.size
        self.size = max(self.size, place + 1)
        self.expiring.setdefault(last + 1, []).append(place)
        return place


def _cut(order: Sequence[int], part: int) -> list[list[int]]:
    """Nodes in pieces of about the same length, of at most ``part``; at least one piece."""
    count = max(1, -(-len(order) // part))
    return [list(order[i:j]) for i, j in pairwise(len(order) * k // count for k in range(count + 1))]


def _shared(nodes: Sequence[Node], inputs: frozenset[int]) -> bytearray:
    """Which nodes are the same in all lanes, if these inputs are; constants do not count."""
    shared = bytearray(len(nodes))
    for k, (code, *xs) in enumerate(nodes if inputs else ()):
        if code == INPUT:
            shared[k] = xs[0] in inputs
        elif code >= 0:
            shared[k] = all(shared[x] or nodes[x][0] == CONST for x in xs[: OPERATIONS[code].arity])
    return shared


def _uses(nodes: Sequence[Node], results: Sequence[int]) -> list[int]:
    """How often each node is read."""
    uses = [0] * len(nodes)
    for code, *operands in nodes:
        if code >= 0:
            for x in operands[: OPERATIONS[code].arity]:
                uses[x] += 1
    for x in results:
        uses[x] += 1
    return uses


def _fused(nodes: Sequence[Node], uses: Sequence[int]) -> dict[int, int]:
    """Sum -> the product it takes in: the second or else the first operand, if nobody else reads it."""
    fused: dict[int, int] = {}
    for k, (code, x, y, _) in enumerate(nodes):
        if code in (ADD, SUB):
            products = [m for m in (y, x) if nodes[m][0] == MUL and uses[m] == 1]
            fused |= {k: products[0]} if products else {}
    return fused


def _order(nodes: Sequence[Node], taken: set[int]) -> list[int]:
    """Operations in the order in which they are computed, without products that were taken into a sum. Sines of inputs
    come first: their far branch calls libm, and a call costs every value that is alive a store."""
    order = [k for k, (code, *_) in enumerate(nodes) if code >= 0 and k not in taken]
    early = [k for k in order if nodes[k][0] in (SIN, COS) and nodes[nodes[k][1]][0] == INPUT]
    first = set(early)
    return early + [k for k in order if k not in first]
