"""LLVM text of one part of a program: its operations, for one state or W states at once."""

from __future__ import annotations

import math

from gyrostat.engine.llvm.elementary import Writer, sine_cosine
from gyrostat.engine.llvm.plan import ADD, COS, SIN, Plan
from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS

NEG = CODE["neg"]


class PartText:
    """Text of one function: a stretch of the program."""

    def __init__(self, plan: Plan, number: int, lanes: int, fma: bool, pack: int):
        self.plan, self.number, self.pack = plan, number, pack
        self.w = Writer(lanes, fma)
        self.values: dict[int, str] = {}
        self.acc = self.w.number(0.0)

    def address(self, base: str, element: int) -> str:
        return self.w.put(f"getelementptr inbounds {self.w.vt}, ptr {base}, i64 {element}")

    def value(self, k: int) -> str:
        """The name of a node's value, loaded if it comes from elsewhere."""
        if k not in self.values:
            code, x, y, _ = self.plan.program.nodes[k]
            if code == CONST:
                self.values[k] = self.w.number(self.plan.program.constants[x])
            elif code == INPUT:
                self.values[k] = self.w.put(f"load {self.w.vt}, ptr {self.address(f'%in{x}', y)}, align 8")
            else:
                self.values[k] = self.w.put(
                    f"load {self.w.vt}, ptr {self.address('%work', self.plan.slot[k])}, align 8"
                )
        return self.values[k]

    def compute(self, k: int) -> None:
        code = self.plan.program.nodes[k][0]
        if k in self.values or self.plan.made[k] != self.number:
            return  # a sine that came with its cosine, perhaps in an earlier part
        if code in (SIN, COS):
            self._sine(self.plan.program.nodes[k][1])
        else:
            self._keep(k, self._operation(k))

    def _keep(self, k: int, name: str) -> None:
        self.values[k] = name
        if k in self.plan.slot:
            self.w.lines.append(f"  store {self.w.vt} {name}, ptr {self.address('%work', self.plan.slot[k])}, align 8")
        places = self.plan.out_of.get(k, ())
        for output, element in places:
            self.store(name, output, element)
        if places:
            self.watch(name)

    def store(self, name: str, output: int, element: int) -> None:
        self.w.lines.append(f"  store {self.w.vt} {name}, ptr {self.address(f'%out{output}', element)}, align 8")

    def watch(self, name: str) -> None:
        """0 * value, summed: stays 0 while everything is finite."""
        self.acc = self.w.fma(name, self.w.number(0.0), self.acc)

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
            self.w.block = wide.block
            for lane, x in enumerate(some):
                for k in plan.sines[x]:
                    name = names[0] if nodes[k][0] == SIN else names[1]
                    self._keep(k, self.w.put(f"extractelement {wide.vt} {name}, i64 {lane}"))

    def _operation(self, k: int) -> str:
        w = self.w
        code, x, y, z = self.plan.program.nodes[k]
        if k in self.plan.fused:
            return self._fused(k)
        op = OPERATIONS[code]
        if code == NEG:
            return w.put(f"fneg {w.vt} {self.value(x)}")
        if op.llvm.startswith("fcmp"):
            return self._truth(w.put(f"{op.llvm} {w.vt} {self.value(x)}, {self.value(y)}"))
        if op.llvm.startswith("@"):
            return w.call(op.llvm[1:], self.value(x))
        if op.llvm:
            return w.op(op.llvm, self.value(x), self.value(y))
        if op.libm:
            return w.by_lane(op.libm, *(self.value(i) for i in (x, y)[: op.arity]))
        return self._choice(op.name, [self.value(i) for i in (x, y, z)[: op.arity]])

    def _fused(self, k: int) -> str:
        w, m = self.w, self.plan.fused[k]
        code, x, y, _ = self.plan.program.nodes[k]
        _, a, b, _ = self.plan.program.nodes[m]
        if code == ADD:
            return w.fma(self.value(a), self.value(b), self.value(x if m == y else y))
        if m == y:  # x - a b
            return w.fma(w.put(f"fneg {w.vt} {self.value(a)}"), self.value(b), self.value(x))
        return w.fma(self.value(a), self.value(b), w.put(f"fneg {w.vt} {self.value(y)}"))

    def _truth(self, condition: str) -> str:
        return self.w.put(f"uitofp {self.w.bt} {condition} to {self.w.vt}")

    def _nonzero(self, x: str) -> str:
        return self.w.put(f"fcmp une {self.w.vt} {x}, {self.w.number(0.0)}")

    def _choice(self, name: str, x: list[str]) -> str:
        w = self.w
        if name == "not":
            return self._truth(w.put(f"fcmp oeq {w.vt} {x[0]}, {w.number(0.0)}"))
        if name in ("and", "or"):
            both = w.put(f"{name} {w.bt} {self._nonzero(x[0])}, {self._nonzero(x[1])}")
            return self._truth(both)
        if name == "select":
            return w.put(f"select {w.bt} {self._nonzero(x[0])}, {w.vt} {x[1]}, {w.vt} {x[2]}")
        if name == "min":
            return w.put(f"select {w.bt} {w.put(f'fcmp olt {w.vt} {x[1]}, {x[0]}')}, {w.vt} {x[1]}, {w.vt} {x[0]}")
        if name == "max":
            return w.put(f"select {w.bt} {w.put(f'fcmp olt {w.vt} {x[0]}, {x[1]}')}, {w.vt} {x[1]}, {w.vt} {x[0]}")
        above = self._truth(w.put(f"fcmp ogt {w.vt} {x[0]}, {w.number(0.0)}"))
        below = self._truth(w.put(f"fcmp olt {w.vt} {x[0]}, {w.number(0.0)}"))
        unknown = w.put(f"fcmp uno {w.vt} {x[0]}, {x[0]}")
        return w.put(f"select {w.bt} {unknown}, {w.vt} {x[0]}, {w.vt} {w.op('fsub', above, below)}")

    def text(self, arguments: str) -> str:
        self._packed_sines()
        for k in self.plan.parts[self.number]:
            self.compute(k)
        if self.number == len(self.plan.parts) - 1:
            self._leaves()
        for x in self.plan.program.guards:
            if self.plan.made.get(x, len(self.plan.parts) - 1) == self.number:
                self.watch(self.value(x))
        body = "\n".join(self.w.lines)
        head, vt = f"define internal {self.w.vt} @part{self.number}({arguments})", self.w.vt
        # values that do not fit into registers lie on the stack: across two cache lines they cost a tenth of the time
        aligned = f' alignstack({8 * self.w.lanes}) "stackrealign"' if self.w.lanes > 1 else ""
        return f"{head}{aligned} {{\nentry:\n{body}\n  ret {vt} {self.acc}\n}}"

    def _leaves(self) -> None:
        """Outputs that are inputs themselves; constants are written by :func:`fixed_text` or by the loop."""
        for x, places in self.plan.out_of.items():
            if self.plan.program.nodes[x][0] == INPUT:
                for output, element in places:
                    self.store(self.value(x), output, element)
                self.watch(self.value(x))
        if any(
            not math.isfinite(v)
            for o in range(len(self.plan.program.outputs))
            for v in self.plan.program.fixed(o).values()
        ):
            self.watch(self.w.number(math.nan))
