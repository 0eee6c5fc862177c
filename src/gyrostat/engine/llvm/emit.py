"""From a program to LLVM text: kernels for one state or W states at once, and the loop over a batch.

Multiplications that feed one addition become fused multiply-adds *here*, by the same rule for any number of lanes,
and nothing else may be contracted or reordered: so one state alone and the same state anywhere in a batch give the
same bits. Long programs are cut into parts, so that the time to compile stays linear; values that outlive a part go
through a work array."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from gyrostat.engine.llvm.elementary import Writer, far_functions, sine_cosine
from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.reassociate import reassociate

PART = 600
"""Operations in one function at most. Measured (talos, 3700 operations): compile 0.21 s at 500, 0.31 s at 1500, 0.39
s uncut; run 224, 240, 261 ns."""

ADD, SUB, MUL, NEG, SIN, COS = (CODE[n] for n in ("add", "sub", "mul", "neg", "sin", "cos"))


@dataclass(frozen=True)
class Emitted:
    """LLVM text of a module, and how many doubles of work space (per lane) its kernel needs."""

    text: str
    work: int
    parts: int


class _Plan:
    """What is computed where: fused products, sine pairs, parts, and slots of the work array."""

    def __init__(self, program: Program, fma: bool):
        nodes = program.nodes
        self.program = program
        self.results = [x for r in program.results for x in r] + list(program.guards)
        uses = [0] * len(nodes)
        for code, *operands in nodes:
            if code >= 0:
                for x in operands[: OPERATIONS[code].arity]:
                    uses[x] += 1
        for x in self.results:
            uses[x] += 1
        self.fused: dict[int, int] = {}  # sum -> the product it takes in
        taken: set[int] = set()
        for k, (code, x, y, _) in enumerate(nodes if fma else ()):
            if code in (ADD, SUB):
                for m in (y, x):
                    if nodes[m][0] == MUL and uses[m] == 1:
                        self.fused[k] = m
                        taken.add(m)
                        break
        self.sines: dict[int, list[int]] = {}  # argument -> its sine and cosine
        for k, (code, x, *_) in enumerate(nodes):
            if code in (SIN, COS):
                self.sines.setdefault(x, []).append(k)
        order = [k for k, (code, *_) in enumerate(nodes) if code >= 0 and k not in taken]
        # sines of inputs come first: their far branch calls libm, and a call costs every value that is alive a store
        early = [k for k in order if nodes[k][0] in (SIN, COS) and nodes[nodes[k][1]][0] == INPUT]
        first = set(early)
        self.order = early + [k for k in order if k not in first]
        count = max(1, -(-len(self.order) // PART))
        cuts = [len(self.order) * k // count for k in range(count + 1)]
        self.parts = [self.order[i:j] for i, j in pairwise(cuts)]
        self._slots()

    def operands(self, k: int) -> list[int]:
        """Nodes that must be there when k is computed, through fused products."""
        code, *xs = self.program.nodes[k]
        found: list[int] = []
        for x in xs[: OPERATIONS[code].arity]:
            found += self.operands(x) if self.fused.get(k) == x else [x]
        return found

    def _slots(self) -> None:
        """Slots for values that a later part needs, reused when their last reader is done."""
        made = {k: p for p, part in enumerate(self.parts) for k in part}
        for twins in self.sines.values():  # both are made where the first is asked for
            made |= dict.fromkeys(twins, min(made[k] for k in twins))
        last: dict[int, int] = {}
        for p, part in enumerate(self.parts):
            for k in part:
                for x in self.operands(k):
                    if x in made:
                        last[x] = p
        end = len(self.parts) - 1
        for x in self.results:
            if x in made:
                last[x] = max(last.get(x, 0), made[x])
        self.made = made
        self.slot: dict[int, int] = {}
        free: list[int] = []
        self.work = 0
        by_part: dict[int, list[int]] = {}
        expiring: dict[int, list[int]] = {}
        for k, p in made.items():
            if last.get(k, p) > p:
                by_part.setdefault(p, []).append(k)
        for p in range(end + 1):
            free += expiring.pop(p, [])
            for k in by_part.get(p, ()):
                if free:
                    self.slot[k] = free.pop()
                else:
                    self.slot[k] = self.work
                    self.work += 1
                expiring.setdefault(last[k] + 1, []).append(self.slot[k])
        self.out_of: dict[int, list[tuple[int, int]]] = {}  # node -> (output, element)
        for o, r in enumerate(self.program.results):
            for element, x in enumerate(r):
                self.out_of.setdefault(x, []).append((o, element))


class _Part:
    """Text of one function: a stretch of the program."""

    def __init__(self, plan: _Plan, number: int, lanes: int, fma: bool, pack: int):
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


def emit(program: Program, lanes: int, fma: bool, pack: int = 1) -> Emitted:
    """The kernel ``@kernel(in0, ..., out0, ..., work)`` for W states; it returns 0 if all is finite.

    Element j of input i is at ``in_i[j * W]``. With one lane, sines of ``pack`` inputs at a time share vector code.
    """
    plan = _Plan(reassociate(program) if fma else program, fma)
    names = (
        [f"%in{k}" for k in range(len(program.inputs))] + [f"%out{k}" for k in range(len(program.outputs))] + ["%work"]
    )
    arguments = ", ".join(f"ptr {n}" if n == "%work" else f"ptr noalias {n}" for n in names)
    texts = [_Part(plan, p, lanes, fma, pack).text(arguments) for p in range(len(plan.parts))]
    w = Writer(lanes, fma)
    acc = w.number(0.0)
    for p in range(len(plan.parts)):
        acc = w.op("fadd", acc, w.put(f"call {w.vt} @part{p}({', '.join(f'ptr {n}' for n in names)})"))
    constants = [_fixed_text(program, o) for o in range(len(program.outputs)) if lanes == 1 and program.fixed(o)]
    for output, count, _ in constants:
        w.lines += [f"  call void @fixed{output}_{n}(ptr %out{output})" for n in range(count)]
    body = "\n".join(w.lines)
    kernel = f"define internal {w.vt} @kernel({arguments}) {{\nentry:\n{body}\n  ret {w.vt} {acc}\n}}"
    widths = [lanes, pack] if lanes == 1 < pack else [lanes]
    far = [far_functions(n, fma) for n in widths]
    fixed = [text for *_, text in constants]
    return Emitted("\n".join([header(widths), *far, *texts, *fixed, kernel]), plan.work, len(plan.parts))


def runs(elements: Sequence[int]) -> list[tuple[int, int]]:
    """Stretches (first, end) of consecutive numbers, of numbers in order."""
    found: list[tuple[int, int]] = []
    for e in elements:
        if found and found[-1][1] == e:
            found[-1] = found[-1][0], e + 1
        else:
            found.append((e, e + 1))
    return found


def chunks(first: int, end: int, size: int) -> list[tuple[int, int]]:
    """A stretch in pieces of ``size``, and what is left one by one."""
    whole = end - (end - first) % size
    return [(k, k + size) for k in range(first, whole, size)] + [(k, k + 1) for k in range(whole, end)]


def _fixed_text(program: Program, output: int) -> tuple[int, int, str]:
    """Functions that write the constants of an output of one state, eight at a time; their number."""
    values = program.fixed(output)
    pieces = [piece for run in runs(sorted(values)) for piece in chunks(*run, 8)]
    texts: list[str] = []
    for start in range(0, len(pieces), PART):
        w = Writer(1, False)
        for first, end in pieces[start : start + PART]:
            numbers = [f"double {w.number(values[e])}" for e in range(first, end)]
            what = numbers[0] if end == first + 1 else f"<{end - first} x double> <{', '.join(numbers)}>"
            at = w.put(f"getelementptr inbounds double, ptr %out, i64 {first}")
            w.lines.append(f"  store {what}, ptr {at}, align 8")
        name = f"fixed{output}_{len(texts)}"
        body = "\n".join(w.lines)
        texts.append(f"define internal void @{name}(ptr %out) {{\nentry:\n{body}\n  ret void\n}}")
    return output, len(texts), "\n".join(texts)


def header(widths: list[int]) -> str:
    """Declarations that any kernel may use."""
    lines = [
        '!0 = !{!"branch_weights", i32 1, i32 100000}',
        "declare double @sin(double)",
        "declare double @cos(double)",
    ]
    for op in OPERATIONS:
        if op.libm:
            lines.append(f"declare double @{op.libm}({', '.join(['double'] * op.arity)})")
    for lanes in widths:
        w = Writer(lanes, True)
        vt, suffix = w.vt, w.suffix
        lines += [f"declare {vt} @llvm.{f}.{suffix}({vt})" for f in ("sqrt", "fabs", "floor", "ceil", "rint")]
        lines.append(f"declare {vt} @llvm.fma.{suffix}({vt}, {vt}, {vt})")
        if lanes > 1:
            lines.append(f"declare i1 @llvm.vector.reduce.or.v{lanes}i1({w.bt})")
    return "\n".join(lines)
