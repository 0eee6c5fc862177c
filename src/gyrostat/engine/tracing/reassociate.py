"""Sums in an order that multiply-adds like: b + m0 x0 + m1 x1 + m2 x2 starts with b, and every product joins by one
fused instruction.

NumPy computes R @ x + b as ((m0 x0 + m1 x1) + m2 x2) + b: a multiplication, two multiply-adds and an addition.
Started with b it is three multiply-adds. Terms that are ready early come first, so that the last ones wait least. The
order is part of the program: it is the same for one state and for a batch. Only sums whose parts were recorded close
together are taken apart, lest their terms stay alive for long."""

from __future__ import annotations

from collections.abc import Callable

from gyrostat.engine.tracing.operations import CODE, OPERATIONS
from gyrostat.engine.tracing.program import Node, Program, prune, rebuilt, renumber

ADD, SUB, MUL, NEG = (CODE[name] for name in ("add", "sub", "mul", "neg"))
NEAR = 100
"""Nodes between a sum and a part of it that may be taken apart."""
TERMS = 8
"""Terms of one chain at most."""


Put = Callable[[int, int, int], int]


def reassociate(program: Program) -> Program:
    """The same program with its sums reordered."""
    old = program.nodes
    uses = [0] * len(old)
    for code, *xs in old:
        if code >= 0:
            for x in xs[: OPERATIONS[code].arity]:
                uses[x] += 1
    for x in [*program.guards, *(x for r in program.results for x in r)]:
        uses[x] += 1
    inner = _inner(old, uses)
    nodes: list[Node] = []
    number = [0] * len(old)

    def put(code: int, x: int, y: int) -> int:
        nodes.append((code, x, y, 0))
        return len(nodes) - 1

    for k, node in enumerate(old):
        if inner[k]:
            continue  # computed as part of the sum that uses it
        if node[0] in (ADD, SUB) and any(inner[x] for x in node[1:3]):
            number[k] = _chain(_terms(old, inner, k), old, uses, number, put)
        else:
            nodes.append(renumber(node, number))
            number[k] = len(nodes) - 1
    return prune(rebuilt(program, nodes, number))


def _inner(nodes: tuple[Node, ...], uses: list[int]) -> bytearray:
    """Which sums are only parts of a sum nearby."""
    inner = bytearray(len(nodes))
    size = [1] * len(nodes)
    for k, (code, x, y, _) in enumerate(nodes):
        if code not in (ADD, SUB):
            continue
        size[k] = 0
        for part in (x, y):
            near = nodes[part][0] in (ADD, SUB) and uses[part] == 1 and k - part <= NEAR
            if near and size[k] + size[part] < TERMS:
                inner[part] = 1
                size[k] += size[part]
            else:
                size[k] += 1
    return inner


def _terms(nodes: tuple[Node, ...], inner: bytearray, k: int, sign: int = 1) -> list[tuple[int, int]]:
    """(sign, node) of everything that a sum adds up."""
    code, x, y, _ = nodes[k]
    terms: list[tuple[int, int]] = []
    for part, s in ((x, sign), (y, -sign if code == SUB else sign)):
        terms += _terms(nodes, inner, part, s) if inner[part] else [(s, part)]
    return terms


def _chain(terms: list[tuple[int, int]], old: tuple[Node, ...], uses: list[int], number: list[int], put: Put) -> int:
    """Plain terms first, then products, each in the order in which they become known; a positive term leads."""
    plain = sorted((t for t in terms if old[t[1]][0] != MUL or uses[t[1]] > 1), key=lambda t: t[1])
    products = sorted((t for t in terms if old[t[1]][0] == MUL and uses[t[1]] == 1), key=lambda t: t[1])
    order = plain + products
    lead = next((t for t in order if t[0] > 0), None)
    if lead is None:
        total = put(NEG, number[order[0][1]], 0)
        rest = order[1:]
    else:
        total = number[lead[1]]
        rest = [t for t in order if t is not lead]
    for sign, x in rest:
        total = put(ADD if sign > 0 else SUB, total, number[x])
    return total
