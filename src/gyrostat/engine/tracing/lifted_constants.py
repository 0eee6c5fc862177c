"""Constants of a program as an input: programs that differ in their numbers alone have one machine code.

A gain that a function reads from outside is a constant of its recording. Every *use* of a constant becomes an entry of
its own, so that two gains which happen to be equal are as free as any others."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Node, Program, Slot

NAME = "constants"


class Lifted(NamedTuple):
    """A program with the further input ``constants`` (k,), and their values here."""

    program: Program
    constants: np.ndarray


def lifted_constants(program: Program) -> Lifted:
    """The program with its constants as its last input."""
    source = len(program.inputs)
    values: list[float] = []
    nodes: list[Node] = []
    number: dict[int, int] = {}

    def of(x: int) -> int:
        """The new number of a node; of a constant, a new entry."""
        code, constant, *_ = program.nodes[x]
        if code != CONST:
            return number[x]
        nodes.append((INPUT, source, len(values), 0))
        values.append(program.constants[constant])
        return len(nodes) - 1

    for k, (code, *operands) in enumerate(program.nodes):
        if code == CONST:
            continue
        if code == INPUT:
            node = program.nodes[k]
        else:
            x, y, z = (*(of(x) for x in operands[: OPERATIONS[code].arity]), 0, 0)[:3]
            node = (code, x, y, z)
        number[k] = len(nodes)
        nodes.append(node)
    results = tuple(tuple(of(x) for x in r) for r in program.results)
    guards = tuple(of(x) for x in program.guards)
    slots = (*program.inputs, Slot(NAME, (len(values),)))
    lifted = replace(
        program, inputs=slots, nodes=tuple(nodes), constants=(), results=results, guards=guards, recorded={}
    )
    return Lifted(lifted, np.array(values))
