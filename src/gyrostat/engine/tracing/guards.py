"""Guards: inputs that must be looked at, because no result would show that they are NaN or infinite."""

from __future__ import annotations

from dataclasses import replace

from gyrostat.engine.tracing.operations import INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program


def watched(program: Program) -> Program:
    """Guards for inputs that may be NaN or infinite without any result showing it: those that nothing reads, and those
    that are read by choices, comparisons or denominators only."""
    shown = _shown(program)
    here = {(x, y): k for k, (code, x, y, _) in enumerate(program.nodes) if code == INPUT}
    places = [(i, e) for i, slot in enumerate(program.inputs) for e in range(slot.size)]
    nodes, guards = list(program.nodes), list(program.guards)
    for place in places:
        k = here.get(place)
        if k is None:
            nodes.append((INPUT, *place, 0))
            guards.append(len(nodes) - 1)
        elif not shown[k]:
            guards.append(k)
    return replace(program, nodes=tuple(nodes), guards=tuple(guards))


def _shown(program: Program) -> bytearray:
    """For every node, whether a result or guard is certain not to be finite when the node is not."""
    shown = bytearray(len(program.nodes))
    for k in [*program.guards, *(x for r in program.results for x in r)]:
        shown[k] = 1
    for k in range(len(program.nodes) - 1, -1, -1):
        code, *operands = program.nodes[k]
        if shown[k] and code >= 0:
            for x in operands[: OPERATIONS[code].shows]:
                shown[x] = 1
    return shown
