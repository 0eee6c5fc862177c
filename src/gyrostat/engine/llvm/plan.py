"""The plan of a kernel: fused products, pairs of sine and cosine, parts of long programs, slots of the work array.

Multiplications that feed one addition become fused multiply-adds *here*, by the same rule for any number of lanes.
Long programs are cut into parts, so that the time to compile stays linear; values that outlive a part go through a work
array."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from gyrostat.engine.tracing.operations import CODE, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Node, Program

PART = 600
"""Operations in one function at most. Measured (talos, 3700 operations): compile 0.21 s at 500, 0.31 s at 1500, 0.39
s uncut; run 224, 240, 261 ns."""

ADD, SUB, MUL, SIN, COS = (CODE[n] for n in ("add", "sub", "mul", "sin", "cos"))


class Plan:
    """What is computed where.

    ``fused``: sum -> the product it takes in; ``sines``: argument -> its sine and cosine; ``parts``: nodes in the order
    in which they are computed, cut into functions; ``slot``: node -> its place in the work array, for values that a
    later part needs; ``work``: places of that array; ``out_of``: node -> (output, element) that it is. No function has
    more than ``part`` operations, :data:`PART` unless told."""

    def __init__(self, program: Program, fma: bool, part: int | None = None):
        nodes = program.nodes
        self.program = program
        self.results = [x for r in program.results for x in r] + list(program.guards)
        self.fused = _fused(nodes, _uses(nodes, self.results)) if fma else {}
        self.sines: dict[int, list[int]] = {}
        for k, (code, x, *_) in enumerate(nodes):
            if code in (SIN, COS):
                self.sines.setdefault(x, []).append(k)
        self.order = _order(nodes, set(self.fused.values()))
        count = max(1, -(-len(self.order) // (part or PART)))
        cuts = [len(self.order) * k // count for k in range(count + 1)]
        self.parts = [self.order[i:j] for i, j in pairwise(cuts)]
        self.made = self._made()
        self.slot, self.work = self._slots()
        self.out_of: dict[int, list[tuple[int, int]]] = {}
        for o, r in enumerate(program.results):
            for element, x in enumerate(r):
                self.out_of.setdefault(x, []).append((o, element))

    def operands(self, k: int) -> list[int]:
        """Nodes that must be there when k is computed, through fused products."""
        code, *xs = self.program.nodes[k]
        needed: list[int] = []
        for x in xs[: OPERATIONS[code].arity]:
            needed += self.operands(x) if self.fused.get(k) == x else [x]
        return needed

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
        return last

    def _slots(self) -> tuple[dict[int, int], int]:
        """Slots for values that a later part needs, reused when their last reader is done; their number."""
        last, slot, free, work = self._last(), dict[int, int](), list[int](), 0
        by_part: dict[int, list[int]] = {}
        expiring: dict[int, list[int]] = {}
        for k, p in self.made.items():
            if last.get(k, p) > p:
                by_part.setdefault(p, []).append(k)
        for p in range(len(self.parts)):
            free += expiring.pop(p, [])
            for k in by_part.get(p, ()):
                slot[k] = free.pop() if free else work
                work = max(work, slot[k] + 1)
                expiring.setdefault(last[k] + 1, []).append(slot[k])
        return slot, work


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
