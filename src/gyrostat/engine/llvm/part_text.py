"""LLVM text of one part of a program: its operations, for one state or W states at once.

What depends on nothing but inputs that all lanes share has parts of its own, for one lane; the others read it from the
work array and have it in all lanes."""

from __future__ import annotations

import math
from functools import reduce

from gyrostat.engine.llvm.elementary import Writer, sine_cosine
from gyrostat.engine.llvm.operation_text import fused, operation
from gyrostat.engine.llvm.plan import COS, SIN, Plan
from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS

CHAINS = 4
"""Sums that look for numbers that are not finite."""


class PartText:
    """Text of one function: a stretch of the program. ``offset`` are the places of the work array, of one double for
    each lane, before the values that differ from lane to lane."""

    def __init__(self, plan: Plan, number: int, lanes: int, fma: bool, pack: int, offset: int = 0):
        self.plan, self.number, self.pack, self.offset = plan, number, pack, offset
        self.w = Writer(lanes, fma)
        self.one = self.w.beside(1)
        self.values: dict[int, str] = {}
        self.seen = [self.w.number(0.0)] * CHAINS
        self.turn = 0

    def address(self, base: str, element: int) -> str:
        return self.w.put(f"getelementptr inbounds {self.w.vt}, ptr {base}, i64 {element}")

    def place(self, k: int) -> str:
        """Where a node is in the work array."""
        if self.plan.shared[k]:
            return self.one.put(f"getelementptr inbounds double, ptr %work, i64 {self.plan.slot[k]}")
        return self.address("%work", self.offset + self.plan.slot[k])

    def value(self, k: int) -> str:
        """The name of a node's value, loaded if it comes from elsewhere."""
        if k not in self.values:
            code, x, y, _ = self.plan.program.nodes[k]
            if code == CONST:
                self.values[k] = self.w.number(self.plan.program.constants[x])
            elif self.plan.shared[k]:
                at = f"getelementptr inbounds double, ptr %in{x}, i64 {y}"
                place = self.w.put(at) if code == INPUT else self.place(k)
                self.values[k] = self.w.spread(self.w.put(f"load double, ptr {place}, align 8"))
            else:
                place = self.address(f"%in{x}", y) if code == INPUT else self.place(k)
                self.values[k] = self.w.put(f"load {self.w.vt}, ptr {place}, align 8")
        return self.values[k]

    def compute(self, k: int) -> None:
        code, *operands = self.plan.program.nodes[k]
        if k in self.values or self.plan.made[k] != self.number:
            return  # a sine that came with its cosine, perhaps in an earlier part
        if code in (SIN, COS):
            self._sine(operands[0])
        elif k in self.plan.fused:
            m = self.plan.fused[k]
            _, a, b, _ = self.plan.program.nodes[m]
            last = m == operands[1]
            product, other = (self.value(a), self.value(b)), self.value(operands[0 if last else 1])
            self._keep(k, fused(self.w, code, product, other, last))
        else:
            self._keep(k, operation(self.w, code, [self.value(x) for x in operands[: OPERATIONS[code].arity]]))

    def _keep(self, k: int, name: str) -> None:
        self.values[k] = name
        if k in self.plan.slot:
            self.w.lines.append(f"  store {self.w.vt} {name}, ptr {self.place(k)}, align 8")
        self._store(k)

    def _store(self, k: int) -> None:
        """A node's value to the outputs that this part writes, and a look whether it is finite."""
        places = [p for p in self.plan.out_of.get(k, ()) if self._writes(p[0], k)]
        for output, element in places:
            at = self.address(f"%out{output}", element)
            self.w.lines.append(f"  store {self.w.vt} {self.value(k)}, ptr {at}, align 8")
        if places:
            self.watch(self.value(k))

    def _writes(self, output: int, k: int) -> bool:
        """Parts of what lanes share write the outputs that are shared as a whole."""
        return not self.plan.shared[k] or (output in self.plan.shared_outputs) == (self.number < self.plan.common)

    def watch(self, name: str) -> None:
        """0 * value, summed: stays 0 while everything is finite. Several sums, so that none waits for many others."""
        at = self.turn = (self.turn + 1) % CHAINS
        self.seen[at] = self.w.fma(name, self.w.number(0.0), self.seen[at])

    def _sine(self, x: int) -> None:
        """Sine and cosine of one argument share their reduction."""
        twins = {self.plan.program.nodes[k][0]: k for k in self.plan.sines[x]}
        names = sine_cosine(self.w, self.value(x), (SIN in twins, COS in twins))
        for code, name in zip((SIN, COS), names, strict=True):
            if code in twins:
                self._keep(twins[code], name)

    def _packed_sines(self) -> None:
        """Sines of inputs, several at a time in one register: for a single state, whose lanes would be idle."""
        nodes, plan = self.plan.program.nodes, self.plan
        args = [x for x, ks in plan.sines.items() if nodes[x][0] == INPUT and plan.made[ks[0]] == self.number]
        for start in range(0, len(args) if self.w.lanes == 1 < self.pack else 0, self.pack):
            some = args[start : start + self.pack]
            wide, packed = self.w.beside(self.pack), "undef"
            for lane in range(self.pack):
                value = self.value(some[min(lane, len(some) - 1)])
                packed = wide.put(f"insertelement {wide.vt} {packed}, double {value}, i64 {lane}")
            names = sine_cosine(wide, packed, (True, True))
            for lane, x in enumerate(some):
                for k in plan.sines[x]:
                    name = names[0] if nodes[k][0] == SIN else names[1]
                    self._keep(k, self.w.put(f"extractelement {wide.vt} {name}, i64 {lane}"))

    def text(self, arguments: str) -> str:
        self._packed_sines()
        for k in self.plan.parts[self.number]:
            self.compute(k)
        if self.number in (self.plan.common - 1, len(self.plan.parts) - 1):
            self._leaves()
        for x in self.plan.program.guards:
            if self.plan.watched_in(x) == self.number:
                self.watch(self.value(x))
        acc = reduce(lambda x, y: self.w.op("fadd", x, y), self.seen)
        body = "\n".join(self.w.lines)
        head, vt = f"define internal {self.w.vt} @part{self.number}({arguments})", self.w.vt
        # values that do not fit into registers lie on the stack: across two cache lines they cost a tenth of the time
        aligned = f' alignstack({8 * self.w.lanes}) "stackrealign"' if self.w.lanes > 1 else ""
        return f"{head}{aligned} {{\nentry:\n{body}\n  ret {vt} {acc}\n}}"

    def _leaves(self) -> None:
        """Outputs that are inputs themselves, or of which only some elements are shared; constants are written by
        :func:`fixed_text` or by the loop."""
        plan, last = self.plan, self.number == len(self.plan.parts) - 1
        for x in plan.out_of:
            leaf = plan.program.nodes[x][0] == INPUT
            if (leaf and plan.shared[x]) or (last and (leaf or plan.shared[x])):
                self._store(x)
        constants = [v for o in range(len(plan.program.outputs)) for v in plan.program.fixed(o).values()]
        if last and not all(math.isfinite(v) for v in constants):
            self.watch(self.w.number(math.nan))
