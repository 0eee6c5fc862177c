"""Which results of a program depend on which elements of an input, and which of them can share a sweep."""

from __future__ import annotations

import numpy as np

from gyrostat.engine.tracing.local_derivatives import CHOICE_BY_CODE, FLAT_CODES
from gyrostat.engine.tracing.operations import INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program


def dependence(program: Program, output: int, wrt: int) -> np.ndarray:
    """Which elements of an output (rows) have a derivative by which elements of an input (columns), both by their
    numbers: truth values (output.size, input.size). Every node is a set of elements, kept as the bits of a number."""
    sets: list[int] = []
    for code, x, y, z in program.nodes:
        reached = 0
        if code == INPUT:
            reached = 1 << y if x == wrt else 0
        elif code >= 0 and code not in FLAT_CODES:
            operands = (x, y, z)[: OPERATIONS[code].arity]
            chosen = CHOICE_BY_CODE.get(code)
            for k in operands if chosen is None else (operands[chosen[1]], operands[chosen[2]]):
                reached |= sets[k]
        sets.append(reached)
    size = program.inputs[wrt].size
    pattern = np.zeros((program.outputs[output].size, size), dtype=bool)
    for row, node in enumerate(program.results[output]):
        bits = np.frombuffer(sets[node].to_bytes(size // 8 + 1, "little"), dtype=np.uint8)
        pattern[row] = np.unpackbits(bits, bitorder="little")[:size]
    return pattern


def apart(pattern: np.ndarray) -> list[list[int]]:
    """Groups of rows that share no column, the fullest rows first; rows without entries are in no group."""
    count = pattern.sum(axis=1)
    groups: list[list[int]] = []
    taken: list[np.ndarray] = []
    for row in np.argsort(-count, kind="stable"):
        if not count[row]:
            continue
        for group, columns in zip(groups, taken, strict=True):
            if not np.any(columns & pattern[row]):
                group.append(int(row))
                columns |= pattern[row]
                break
        else:
            groups.append([int(row)])
            taken.append(pattern[row].copy())
    return groups
