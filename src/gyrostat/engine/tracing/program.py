"""A program: a flat list of scalar operations in an order in which they can be run, verified before anybody trusts
it."""

from __future__ import annotations

import hashlib
import math
import struct
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.errors import RecordError

Node = tuple[int, int, int, int]
"""(code, x, y, z): operands are numbers of earlier nodes; INPUT holds (input, element), CONST (number of the
constant)."""


@dataclass(frozen=True)
class Slot:
    """An input or output: its name and shape; elements are counted in C order."""

    name: str
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(self.shape)


@dataclass(frozen=True)
class Program:
    """``outputs[k]`` has the nodes ``results[k]``; ``guards`` are nodes that must be finite for the result to be
    trusted."""

    name: str
    inputs: tuple[Slot, ...]
    outputs: tuple[Slot, ...]
    nodes: tuple[Node, ...]
    constants: tuple[float, ...]
    results: tuple[tuple[int, ...], ...]
    guards: tuple[int, ...] = ()
    recorded: dict[str, int] = field(default_factory=dict, compare=False)  # operations before simplification

    @cached_property
    def digest(self) -> str:
        """Hash of everything that determines the machine code (names of inputs and outputs do not)."""
        h = hashlib.sha256(b"gyrostat program 1")
        h.update(repr([s.shape for s in self.inputs] + [s.shape for s in self.outputs]).encode())
        flat = [x for node in self.nodes for x in node]
        h.update(struct.pack(f"<{len(flat)}q", *flat))
        h.update(struct.pack(f"<{len(self.constants)}d", *self.constants))
        h.update(repr((self.results, self.guards)).encode())
        return h.hexdigest()

    def fixed(self, output: int) -> dict[int, float]:
        """Elements of an output that are constants, and their values."""
        constants_at: dict[int, float] = {}
        for element, x in enumerate(self.results[output]):
            if self.nodes[x][0] == CONST:
                constants_at[element] = self.constants[self.nodes[x][1]]
        return constants_at

    def counts(self) -> dict[str, int]:
        """Number of operations of each kind."""
        numbers = Counter(OPERATIONS[code].name for code, *_ in self.nodes if code >= 0)
        return {op.name: numbers[op.name] for op in OPERATIONS if numbers[op.name]}


def verify(program: Program) -> Program:
    """Raise :class:`RecordError` unless the program can be run: operands earlier, leaves in range, outputs complete."""

    def refuse(what: str) -> RecordError:
        return RecordError(
            f"program '{program.name}' is broken: {what}. Hint: this is a fault of gyrostat, please report it"
        )

    for k, (code, *operands) in enumerate(program.nodes):
        if code == INPUT:
            source, element = operands[:2]
            if not (0 <= source < len(program.inputs) and 0 <= element < program.inputs[source].size):
                raise refuse(f"node {k} reads element {element} of input {source}")
        elif code == CONST:
            if not 0 <= operands[0] < len(program.constants):
                raise refuse(f"node {k} reads constant {operands[0]}")
        elif not 0 <= code < len(OPERATIONS):
            raise refuse(f"node {k} has the unknown operation {code}")
        elif any(not 0 <= x < k for x in operands[: OPERATIONS[code].arity]):
            raise refuse(f"node {k} ({OPERATIONS[code].name}) uses a later node")
    if len(program.results) != len(program.outputs):
        raise refuse("there are more outputs than results, or fewer")
    for slot, nodes in zip(program.outputs, program.results, strict=True):
        if len(nodes) != slot.size:
            raise refuse(f"output '{slot.name}' has {len(nodes)} results for {slot.size} elements")
    if any(not 0 <= x < len(program.nodes) for x in [*program.guards, *(x for r in program.results for x in r)]):
        raise refuse("a result is no node")
    return program


def prune(program: Program) -> Program:
    """Drop nodes that no result needs."""
    needed = bytearray(len(program.nodes))
    for x in [*program.guards, *(x for r in program.results for x in r)]:
        needed[x] = 1
    for k in range(len(program.nodes) - 1, -1, -1):
        code, *operands = program.nodes[k]
        if needed[k] and code >= 0:
            for x in operands[: OPERATIONS[code].arity]:
                needed[x] = 1
    number = [0] * len(program.nodes)
    nodes: list[Node] = []
    for k, node in enumerate(program.nodes):
        if needed[k]:
            number[k] = len(nodes)
            nodes.append(renumber(node, number))
    return rebuilt(program, nodes, number)


def rebuilt(program: Program, nodes: Sequence[Node], number: Sequence[int]) -> Program:
    """The program with other nodes; ``number`` tells which of them stands for each of its old ones."""
    results = tuple(tuple(number[x] for x in r) for r in program.results)
    return replace(program, nodes=tuple(nodes), results=results, guards=tuple(number[x] for x in program.guards))


def renumber(node: Node, number: Sequence[int]) -> Node:
    code, x, y, z = node
    if code < 0:
        return node
    arity = OPERATIONS[code].arity
    return code, number[x], number[y] if arity > 1 else 0, number[z] if arity > 2 else 0


def run(program: Program, *inputs: Any) -> list[list[Any]]:
    """Evaluate in Python, operation by operation, on whatever the operations' folds can take: the slowest, plainest
    reading."""
    values: list[Any] = []
    for code, x, y, z in program.nodes:
        if code == INPUT:
            values.append(inputs[x][y])
        elif code == CONST:
            values.append(program.constants[x])
        else:
            op = OPERATIONS[code]
            values.append(op.fold(*(values[i] for i in (x, y, z)[: op.arity])))
    return [[values[x] for x in nodes] for nodes in program.results]
