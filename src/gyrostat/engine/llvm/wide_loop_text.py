"""LLVM text of the loop around a kernel of W lanes: blocks of robots, rows, steps, phases. See ``wide_loop``.

``void @wide(table, memory, bad, count, begin, rows, every, phases)``; the table is that of ``WideLoop``. Scratch memory
holds columns of W doubles: carried inputs, where they go (the two change places after each run), all other inputs, and
the work space of the kernel."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from gyrostat.engine.llvm.batch import LINE as LINE
from gyrostat.engine.llvm.counting_loop import CountingLoop
from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.tracing.program import Program


class Layout:
    """Where the columns are."""

    def __init__(
        self,
        program: Program,
        carried: Mapping[str, str],
        kept: Sequence[str],
        cyclic: str,
        counter: str,
        work: int,
        lanes: int,
    ):
        self.program, self.kept, self.cyclic, self.counter, self.lanes = program, kept, cyclic, counter, lanes
        inputs = {slot.name: slot.size for slot in program.inputs}
        self.state: dict[str, int] = {}  # carried input -> its column
        for slot in program.outputs:
            self.state[carried[slot.name]] = sum(inputs[name] for name in self.state)
        self.carried = sum(inputs[name] for name in self.state)
        self.outputs = [self.state[carried[slot.name]] for slot in program.outputs]
        self.other: dict[str, int] = {}
        end = 2 * self.carried
        for name, size in inputs.items():
            if name not in self.state:
                self.other[name], end = end, end + size
        self.work, self.columns = end, end + work

    @property
    def doubles(self) -> int:
        """Of scratch memory."""
        return self.columns * self.lanes

    @cached_property
    def identity(self) -> tuple[Any, ...]:
        """What the text depends on besides the program; names are by place."""
        at = {slot.name: k for k, slot in enumerate(self.program.inputs)}
        names = [at[name] for name in (*self.state, *self.kept, self.cyclic, self.counter)]
        return names, len(self.state), self.work, self.columns, self.lanes


def wide_loop_text(layout: Layout, fma: bool) -> str:
    """The loop and its movers, to be put into the module of the kernel."""
    w = Writer(layout.lanes, fma)
    _Text(layout, w).write()
    arguments = "ptr %table, ptr %memory, ptr %bad, i64 %count, i64 %begin, i64 %rows, i64 %every, i64 %phases"
    text = f"define void @wide({arguments}) {{\nentry:\n" + "\n".join(w.lines) + "\n}"
    return "\n".join([_mover(layout.lanes, True), _mover(layout.lanes, False), _mend(layout), text])


class _Text:
    """The lines of ``@wide``."""

    def __init__(self, layout: Layout, w: Writer):
        self.layout, self.w, self.loop = layout, w, CountingLoop(w)
        self.word = 0

    def _next(self, kind: str) -> str:
        """The next word of the table."""
        at = self.w.put(f"getelementptr i64, ptr %table, i64 {self.word}")
        self.word += 1
        return self.w.put(f"load {kind}, ptr {at}, align 8")

    def _column(self, base: str, k: int) -> str:
        return self.w.put(f"getelementptr {self.w.vt}, ptr {base}, i64 {k}")

    def _splat(self, number: str) -> str:
        """A number in all lanes."""
        if self.w.lanes == 1:
            return number
        one = self.w.put(f"insertelement {self.w.vt} undef, double {number}, i64 0")
        return self.w.put(f"shufflevector {self.w.vt} {one}, {self.w.vt} undef, <{self.w.lanes} x i32> zeroinitializer")

    def _store(self, value: str, column: str) -> None:
        self.w.lines.append(f"  store {self.w.vt} {value}, ptr {column}, align 8")

    def write(self) -> None:
        w, put, layout, lanes = self.w, self.w.put, self.layout, self.layout.lanes
        slots = [s for s in layout.program.inputs if s.name not in (layout.cyclic, layout.counter)]
        inputs = [(slot, self._next("ptr"), self._next("i64")) for slot in slots]
        kept = [(name, self._next("ptr"), self._next("i64"), self._next("i64")) for name in layout.kept]
        cyclic = self._next("ptr")
        beyond = put(f"add i64 {put('ptrtoint ptr %memory to i64')}, {LINE - 1}")
        w.lines.append(f"  %scratch = inttoptr i64 {put(f'and i64 {beyond}, {-LINE}')} to ptr")
        w.lines += ["  %now = alloca ptr", "  %next = alloca ptr"]
        blocks = put(f"sdiv i64 {put(f'add i64 %count, {lanes - 1}')}, {lanes}")

        block, b = self.loop.begin()
        first = put(f"mul i64 {b}, {lanes}")
        left = put(f"sub i64 %count, {first}")
        here = put(f"select i1 {put(f'icmp slt i64 {left}, {lanes}')}, i64 {left}, i64 {lanes}")
        for slot, base, stride in inputs:
            if slot.size:
                at = layout.state.get(slot.name, layout.other.get(slot.name, 0))
                row = put(f"getelementptr i8, ptr {base}, i64 {put(f'mul i64 {first}, {stride}')}")
                row = put(f"select i1 {put(f'icmp eq ptr {base}, null')}, ptr null, ptr {row}")
                where = f"ptr {row}, i64 {stride}, i64 {here}, ptr {self._column('%scratch', at)}, i64 {slot.size}"
                w.lines.append(f"  call void @gather({where})")
        w.lines.append("  store ptr %scratch, ptr %now, align 8")
        w.lines.append(f"  store ptr {self._column('%scratch', layout.carried)}, ptr %next, align 8")
        bad = put(f"getelementptr i64, ptr %bad, i64 {first}")

        rows, r = self.loop.begin()
        steps, s = self.loop.begin()
        number = put(f"add i64 {put(f'add i64 %begin, {s}')}, {put(f'mul i64 {r}, %every')}")
        self._store(
            self._splat(put(f"sitofp i64 {number} to double")),
            self._column("%scratch", layout.other[layout.counter]),
        )
        phases, p = self.loop.begin()
        self._phase(cyclic, p, bad, here, number)
        self.loop.end(phases, "%phases")
        self.loop.end(steps, "%every")
        now = put("load ptr, ptr %now, align 8")
        for name, base, stride, further in kept:
            size = next(slot.size for slot in slots if slot.name == name)
            if size:
                ahead = put(f"add i64 {put(f'mul i64 {first}, {stride}')}, {put(f'mul i64 {r}, {further}')}")
                row, at = put(f"getelementptr i8, ptr {base}, i64 {ahead}"), self._column(now, layout.state[name])
                w.lines.append(f"  call void @scatter(ptr {row}, i64 {stride}, i64 {here}, ptr {at}, i64 {size})")
        self.loop.end(rows, "%rows")
        self.loop.end(block, blocks)
        w.lines.append("  ret void")

    def _phase(self, cyclic: str, p: str, bad: str, here: str, number: str) -> None:
        """One run of the kernel."""
        w, put, layout, program = self.w, self.w.put, self.layout, self.layout.program
        size = next(slot.size for slot in program.inputs if slot.name == layout.cyclic)
        row = put(f"mul i64 {p}, {size}")
        for k in range(size):
            at = put(f"getelementptr double, ptr {cyclic}, i64 {put(f'add i64 {row}, {k}')}")
            column = self._column("%scratch", layout.other[layout.cyclic] + k)
            self._store(self._splat(put(f"load double, ptr {at}, align 8")), column)
        now, then = put("load ptr, ptr %now, align 8"), put("load ptr, ptr %next, align 8")
        places = [
            self._column(now, layout.state[slot.name])
            if slot.name in layout.state
            else self._column("%scratch", layout.other[slot.name])
            for slot in program.inputs
        ]
        places += [self._column(then, at) for at in layout.outputs] + [self._column("%scratch", layout.work)]
        acc = put(f"call {w.vt} @kernel({', '.join(f'ptr {x}' for x in places)})")
        for output, at in enumerate(layout.outputs):  # a kernel of several lanes leaves constants to its caller
            for element, value in program.fixed(output).items():
                self._store(w.number(value), self._column(then, at + element))
        broken = put(f"fcmp uno {w.vt} {acc}, {acc}")
        if w.lanes > 1:
            broken = put(f"call i1 @llvm.vector.reduce.or.v{w.lanes}i1({w.bt} {broken})")
        w.lines.append(f"  br i1 {broken}, label %broken, label %whole, !prof !0")
        w.label("broken")
        w.lines.append(f"  call void @mend(ptr {now}, ptr {then}, {w.vt} {acc}, ptr {bad}, i64 {here}, i64 {number})")
        w.lines.append("  br label %whole")
        w.label("whole")
        w.lines += [f"  store ptr {then}, ptr %now, align 8", f"  store ptr {now}, ptr %next, align 8"]


def _mover(lanes: int, gather: bool) -> str:
    """Rows of robots to columns, or back. Beyond the last robot, it is read again; from no address come zeros."""
    w = Writer(lanes, False)
    loop, put = CountingLoop(w), w.put
    last = put("sub i64 %here, 1")
    each, lane = loop.begin()
    row = put(f"select i1 {put(f'icmp slt i64 {lane}, {last}')}, i64 {lane}, i64 {last}")
    base = put(f"getelementptr i8, ptr %rows, i64 {put(f'mul i64 {row}, %stride')}")
    inner, e = loop.begin()
    outside = put(f"getelementptr double, ptr {base}, i64 {e}")
    at = put(f"add i64 {put(f'mul i64 {e}, {lanes}')}, {lane}")
    column = put(f"getelementptr double, ptr %columns, i64 {at}")
    if gather:
        zero = put("icmp eq ptr %rows, null")
        safe = put(f"select i1 {zero}, ptr %columns, ptr {outside}")
        value = put(f"select i1 {zero}, double 0.0, double {put(f'load double, ptr {safe}, align 8')}")
        w.lines.append(f"  store double {value}, ptr {column}, align 8")
    else:
        w.lines.append(f"  store double {put(f'load double, ptr {column}, align 8')}, ptr {outside}, align 8")
    loop.end(inner, "%n")
    loop.end(each, str(lanes) if gather else "%here")
    w.lines.append("  ret void")
    head = f"define internal void @{'gather' if gather else 'scatter'}"
    arguments = "ptr %rows, i64 %stride, i64 %here, ptr %columns, i64 %n"
    return f"{head}({arguments}) noinline {{\nentry:\n" + "\n".join(w.lines) + "\n}"


def _mend(layout: Layout) -> str:
    """Lanes that are not finite get back what they had; the first time, the number of the step is noted."""
    w, lanes = Writer(layout.lanes, False), layout.lanes
    loop, put = CountingLoop(w), w.put
    w.lines += [f"  %sum = alloca {w.vt}", f"  store {w.vt} %acc, ptr %sum, align 8"]
    each, lane = loop.begin()
    value = put(f"load double, ptr {put(f'getelementptr double, ptr %sum, i64 {lane}')}, align 8")
    finite = put(f"fcmp ord double {value}, {value}")
    w.lines.append(f"  br i1 {finite}, label %on, label %back")
    w.label("back")
    inner, e = loop.begin()
    at = put(f"add i64 {put(f'mul i64 {e}, {lanes}')}, {lane}")
    old, new = (put(f"getelementptr double, ptr {x}, i64 {at}") for x in ("%now", "%then"))
    w.lines.append(f"  store double {put(f'load double, ptr {old}, align 8')}, ptr {new}, align 8")
    loop.end(inner, str(max(1, layout.carried)))
    w.lines.append(f"  br i1 {put(f'icmp slt i64 {lane}, %here')}, label %real, label %on")
    w.label("real")
    place = put(f"getelementptr i64, ptr %bad, i64 {lane}")
    known = put(f"load i64, ptr {place}, align 8")
    noted = put(f"select i1 {put(f'icmp slt i64 {known}, 0')}, i64 %step, i64 {known}")
    w.lines += [f"  store i64 {noted}, ptr {place}, align 8", "  br label %on"]
    w.label("on")
    loop.end(each, str(lanes))
    w.lines.append("  ret void")
    arguments = f"ptr %now, ptr %then, {w.vt} %acc, ptr %bad, i64 %here, i64 %step"
    return f"define internal void @mend({arguments}) noinline cold {{\nentry:\n" + "\n".join(w.lines) + "\n}"
