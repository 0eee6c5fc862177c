"""Long programs as runs: operations of one kind that do not wait for each other, one after the other.

Straight-line code of many operations takes long to compile and does not fit near the processor. Programs about matrices
(shapes of flexible links, derivatives) consist of few, long runs: a loop for each kind of operation, and tables that
say which values it reads and writes, do the same arithmetic (:mod:`~gyrostat.engine.llvm.table_text`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from gyrostat.engine.llvm.plan import Plan
from gyrostat.engine.tracing.operations import OPERATIONS

MANY = 60_000
"""Operations from which on a kernel may run from tables: machine code of its own takes more than five seconds to
compile. Measured (30,000 operations of a beam with 40 shapes): everything that is not recording 0.8 s instead of 3.3 s,
one state 45 us instead of 11 us, 21 us instead of 5 us in batches."""
LONG = 24
"""Operations in a run, in the mean, from which on a kernel runs from tables; each run costs about as much as ten."""
WINDOW = 4000
"""How far ahead of the first operation that waits others may be taken: what is computed early occupies memory."""

Kind = tuple[int, bool | None]
"""Code of an operation, and for one with a product in it whether that is the second operand; None without."""


@dataclass(frozen=True)
class Run:
    """Operations of one kind, none of which reads another."""

    kind: Kind
    nodes: tuple[int, ...]


def in_runs(plan: Plan) -> list[Run] | None:
    """What differs from lane to lane, as runs; None if straight-line code serves it better."""
    order = [k for part in plan.parts[plan.common :] for k in part]
    if len(order) < MANY:
        return None
    runs = runs_of(plan, order)
    return runs if len(order) >= LONG * len(runs) else None


def kind_of(plan: Plan, k: int) -> Kind:
    """The kind of a node."""
    code, _, y, _ = plan.program.nodes[k]
    return code, plan.fused[k] == y if k in plan.fused else None


def read_by(plan: Plan, k: int) -> list[int]:
    """Operands of a node as tables list them: of a sum with a product a b in it a, b and the other one."""
    code, *operands = plan.program.nodes[k]
    if k not in plan.fused:
        return operands[: OPERATIONS[code].arity]
    m = plan.fused[k]
    _, a, b, _ = plan.program.nodes[m]
    return [a, b, operands[0 if m == operands[1] else 1]]


def runs_of(plan: Plan, order: Sequence[int]) -> list[Run]:
    """Of what can be computed next, within a window, always the kind of which there is most."""
    place = {k: i for i, k in enumerate(order)}
    kinds = [kind_of(plan, k) for k in order]
    readers: list[list[int]] = [[] for _ in order]
    waits = [0] * len(order)
    for i, k in enumerate(order):
        for x in {place[x] for x in read_by(plan, k) if x in place}:
            readers[x].append(i)
            waits[i] += 1
    ready: dict[Kind, list[int]] = {}
    later = [i for i, count in enumerate(waits) if count == 0]  # a heap, as it is in order
    done, first, runs = bytearray(len(order)), 0, list[Run]()
    while first < len(order):
        while later and later[0] < first + WINDOW:
            i = heappop(later)
            ready.setdefault(kinds[i], []).append(i)
        kind = max(ready, key=lambda kind: len(ready[kind]))
        taken = sorted(ready.pop(kind))
        runs.append(Run(kind, tuple(order[i] for i in taken)))
        for i in taken:
            done[i] = 1
            for reader in readers[i]:
                waits[reader] -= 1
                if waits[reader] == 0:
                    heappush(later, reader)
        while first < len(order) and done[first]:
            first += 1
    return runs
