"""Arithmetic on the nodes of a tape, simplified as it is recorded: signs move outward, constants stand first and are
combined, commuting operands are in order."""

from __future__ import annotations

import math
import sys

from gyrostat.engine.tracing.operations import CODE, CONST
from gyrostat.engine.tracing.tape import Tape

TINY = sys.float_info.min
ADD, SUB, MUL, NEG = (CODE[name] for name in ("add", "sub", "mul", "neg"))


def negation(tape: Tape, x: int) -> int:
    code, a, b, _ = tape.nodes[x]
    if code == NEG:
        return a
    return tape.node(SUB, b, a) if code == SUB else tape.node(NEG, x)


def addition(tape: Tape, x: int, y: int) -> int:
    nodes = tape.nodes
    if nodes[y][0] == NEG:
        return subtraction(tape, x, nodes[y][1])
    if nodes[x][0] == NEG:
        return subtraction(tape, y, nodes[x][1])
    return tape.node(ADD, x, y) if x <= y else tape.node(ADD, y, x)


def subtraction(tape: Tape, x: int, y: int) -> int:
    nodes = tape.nodes
    if nodes[y][0] == NEG:
        return addition(tape, x, nodes[y][1])
    if nodes[x][0] == NEG:  # -a - b
        return negation(tape, addition(tape, nodes[x][1], y))
    return tape.node(SUB, x, y)


def multiplication(tape: Tape, x: int, y: int) -> int:
    nodes = tape.nodes
    nx, ny = nodes[x][0] == NEG, nodes[y][0] == NEG
    if nx or ny:
        product = multiplication(tape, nodes[x][1] if nx else x, nodes[y][1] if ny else y)
        return product if nx and ny else negation(tape, product)
    return tape.node(MUL, x, y) if x <= y else tape.node(MUL, y, x)


def scaling(tape: Tape, factor: float, x: int) -> int:
    """factor times a node."""
    if factor == 1.0:
        return x
    if factor == -1.0:
        return negation(tape, x)
    code, a, b, _ = tape.nodes[x]
    if code == NEG:
        return scaling(tape, -factor, a)
    if code == MUL and tape.nodes[a][0] == CONST:  # a constant stands first in a product
        combined = factor * tape.constants[tape.nodes[a][1]]
        if TINY <= abs(combined) < math.inf:
            return scaling(tape, combined, b)
    return tape.node(MUL, tape.constant(factor), x)
