"""LLVM text of a program that runs from tables: one loop for each kind of operation, whatever their number.

All values are in the work array: constants and inputs are copied there first, results from there to the outputs. A run
(:mod:`~gyrostat.engine.llvm.runs`) is two numbers, its kind and its length; an operation is the places of what it reads
and of its result. Operations are those of the plan, fused products included: the bits are the same as in straight-line
code."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Sequence

from gyrostat.engine.llvm.elementary import Writer, sine_cosine
from gyrostat.engine.llvm.operation_text import fused, operation
from gyrostat.engine.llvm.plan import COS, SIN, Plan
from gyrostat.engine.llvm.runs import Kind, Run, read_by
from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS

ESCAPED = [f"\\{byte:02X}" for byte in range(256)]


class TableText:
    """Text of one function, and of its tables. ``offset`` are the places of the work array, of one double for each
    lane, before its own; ``work`` is how many those are."""

    def __init__(self, plan: Plan, runs: Sequence[Run], lanes: int, fma: bool, offset: int = 0):
        self.plan, self.runs, self.offset = plan, runs, offset
        self.number = plan.common
        self.w = Writer(lanes, fma)
        self.tables: list[str] = []
        self.acc = self.w.number(0.0)
        self.groups = self._groups()
        given = [k for _, ks in self.groups for k in ks]
        self.place = {k: place for place, k in enumerate(given)}
        self.work = self._places(len(given))

    # ------------------------------------------------------------------ where values are
    def _groups(self) -> list[tuple[str, list[int]]]:
        """What is copied into the work array, by where it comes from: "constant", "shared" values, inputs."""
        plan, made = self.plan, {k for run in self.runs for k in run.nodes}
        read = {x for run in self.runs for k in run.nodes for x in read_by(plan, k)}
        read |= {x for x in plan.results if plan.program.nodes[x][0] != CONST}
        groups: dict[str, list[int]] = {"constant": [], "shared": []}
        for x in sorted(read - made):
            code, source, *_ = plan.program.nodes[x]
            name = "constant" if code == CONST else f"%in{source}" if code == INPUT else "shared"
            groups.setdefault(name, []).append(x)
        return [(name, ks) for name, ks in groups.items() if ks]

    def _places(self, size: int) -> int:
        """A place for every result of a run, free again after the last run that reads it; how many there are."""
        last: dict[int, int] = {}
        for r, run in enumerate(self.runs):
            for k in run.nodes:
                last[k] = r
                last |= dict.fromkeys((x for x in read_by(self.plan, k) if x not in self.place), r)
        last |= {x: len(self.runs) for x in self.plan.results if x in last}
        free: list[int] = []
        expiring: dict[int, list[int]] = {}
        for r, run in enumerate(self.runs):
            free += expiring.pop(r - 1, [])
            for k in run.nodes:
                if free:
                    self.place[k] = free.pop()
                else:
                    self.place[k], size = size, size + 1
                expiring.setdefault(last[k], []).append(self.place[k])
        return size

    # ------------------------------------------------------------------ tables
    def _table(self, numbers: Sequence[int]) -> str:
        """The name of a table of 32-bit numbers."""
        name = f"@table{self.number}_{len(self.tables)}"
        data = "".join(map(ESCAPED.__getitem__, struct.pack(f"<{len(numbers)}i", *numbers)))
        self.tables.append(f'{name} = internal constant [{4 * len(numbers)} x i8] c"{data}", align 64')
        return name

    def _entry(self, table: str, at: str) -> str:
        """A number of a table, as a place in the work array or in another."""
        number = self.w.put(f"getelementptr inbounds i32, ptr {table}, i64 {at}")
        return self.w.put(f"zext i32 {self.w.put(f'load i32, ptr {number}, align 4')} to i64")

    def _load(self, place: str) -> str:
        return self.w.put(f"load {self.w.vt}, ptr {self._at('%values', place)}, align 8")

    def _at(self, base: str, place: str) -> str:
        return self.w.put(f"getelementptr inbounds {self.w.vt}, ptr {base}, i64 {place}")

    # ------------------------------------------------------------------ loops
    def _loop(self, name: str, count: str, body: Callable[[str], None]) -> None:
        """``body(i)`` for i from 0 to count, at least once."""
        w, before = self.w, self.w.block
        w.lines.append(f"  br label %{name}")
        w.label(name)
        i = w.put(f"phi i64 [ 0, %{before} ], [ %next_{name}, %{name}_end ]")
        body(i)
        w.lines += [f"  br label %{name}_end"]
        w.label(f"{name}_end")
        w.lines += [f"  %next_{name} = add nuw nsw i64 {i}, 1", f"  %go_{name} = icmp ult i64 %next_{name}, {count}"]
        w.lines += [f"  br i1 %go_{name}, label %{name}, label %{name}_done"]
        w.label(f"{name}_done")

    def _summed(self, name: str, count: int, body: Callable[[str], str]) -> None:
        """0 * value for each value that ``body`` gives, added to what tells whether all is finite."""
        w, before = self.w, self.w.block
        start, sums = self.acc, [f"%acc_{name}", f"%sum_{name}"]

        def watched(i: str) -> None:
            w.lines.append(f"  {sums[0]} = phi {w.vt} [ {start}, %{before} ], [ {sums[1]}, %{name}_end ]")
            total = w.fma(body(i), w.number(0.0), sums[0])
            w.lines.append(f"  {sums[1]} = select i1 true, {w.vt} {total}, {w.vt} {total}")  # the same, under its name

        self._loop(name, str(count), watched)
        self.acc = sums[1]

    def _copied(self) -> None:
        """Constants, shared values and inputs into the work array."""
        plan, w, first = self.plan, self.w, 0
        one = w.beside(1)
        for name, ks in self.groups:
            nodes = [plan.program.nodes[k] for k in ks]
            same = name == "constant" or bool(plan.shared[ks[0]])  # in all lanes
            if name == "constant":
                numbers = ", ".join(f"double {one.number(plan.program.constants[x])}" for _, x, *_ in nodes)
                source = f"@constants{self.number}"
                self.tables.append(f"{source} = internal constant [{len(ks)} x double] [{numbers}], align 64")
                table = None
            else:
                at = [plan.slot[k] if name == "shared" else y for k, (_, _, y, _) in zip(ks, nodes, strict=True)]
                source, table = "%work" if name == "shared" else name, self._table(at)

            def copy(i: str, source: str = source, table: str | None = table, same: bool = same, first: int = first):
                at = self._entry(table, i) if table else i
                if same:
                    number = w.put(f"getelementptr inbounds double, ptr {source}, i64 {at}")
                    value = w.spread(w.put(f"load double, ptr {number}, align 8"))
                else:
                    value = w.put(f"load {w.vt}, ptr {self._at(source, at)}, align 8")
                w.lines.append(
                    f"  store {w.vt} {value}, ptr {self._at('%values', w.put(f'add i64 {i}, {first}'))}, align 8"
                )

            self._loop(f"copy{first}", str(len(ks)), copy)
            first += len(ks)

    def _computed(self) -> None:
        """All runs."""
        w, plan = self.w, self.plan
        kinds = list(dict.fromkeys(run.kind for run in self.runs))
        runs = self._table([x for run in self.runs for x in (kinds.index(run.kind), len(run.nodes))])
        code = [self.place[x] for run in self.runs for k in run.nodes for x in (*read_by(plan, k), k)]
        operations, before = self._table(code), w.block
        w.lines.append("  br label %runs")
        w.label("runs")
        arrivals = [f"[ %there{n}, %kind{n}_done ]" for n in range(len(kinds))]
        r = w.put(
            "phi i64 [ 0, %" + before + " ], " + ", ".join(f"[ %next_run, %kind{n}_done ]" for n in range(len(kinds)))
        )
        here = w.put(f"phi ptr [ {operations}, %{before} ], {', '.join(arrivals)}")
        kind, count = self._entry(runs, r), self._entry(runs, w.put(f"add i64 {r}, 1"))
        w.lines.append(f"  %next_run = add i64 {r}, 2")
        targets = " ".join(f"i64 {n}, label %begin{n}" for n in range(len(kinds)))
        w.lines.append(f"  switch i64 {kind}, label %finished [ {targets} ]")
        for n, kind_n in enumerate(kinds):
            w.label(f"begin{n}")
            width = 1 + len(read_by(plan, next(run.nodes[0] for run in self.runs if run.kind == kind_n)))

            def body(i: str, kind: Kind = kind_n, width: int = width) -> None:
                at = w.put(f"mul nuw nsw i64 {i}, {width}")
                places = [self._entry(here, w.put(f"add nuw nsw i64 {at}, {k}") if k else at) for k in range(width)]
                result = self._operation(kind, [self._load(place) for place in places[:-1]])
                w.lines.append(f"  store {w.vt} {result}, ptr {self._at('%values', places[-1])}, align 8")

            self._loop(f"kind{n}", count, body)
            w.lines.append(
                f"  %there{n} = getelementptr inbounds i32, ptr {here}, i64 {w.put(f'mul i64 {count}, {width}')}"
            )
            w.lines.append(f"  %more{n} = icmp ult i64 %next_run, {2 * len(self.runs)}")
            w.lines.append(f"  br i1 %more{n}, label %runs, label %finished")
        w.label("finished")

    def _operation(self, kind: Kind, x: list[str]) -> str:
        code, last = kind
        if code in (SIN, COS):
            return sine_cosine(self.w, x[0], (code == SIN, code == COS))[0 if code == SIN else 1]
        if last is not None:
            return fused(self.w, code, (x[0], x[1]), x[2], last)
        return operation(self.w, code, x[: OPERATIONS[code].arity])

    def _handed_over(self) -> None:
        """Results to the outputs, and a look whether they and the guards are finite."""
        plan, w = self.plan, self.w
        by_output: dict[int, list[int]] = {}
        for x, places in sorted(plan.out_of.items()):
            for output, element in places if plan.program.nodes[x][0] != CONST else ():
                if output not in plan.shared_outputs:
                    by_output.setdefault(output, []).extend((self.place[x], element))
        for output, moves in by_output.items():
            table = self._table(moves)

            def move(i: str, table: str = table, output: int = output) -> str:
                at = w.put(f"mul nuw nsw i64 {i}, 2")
                value = self._load(self._entry(table, at))
                to = self._at(f"%out{output}", self._entry(table, w.put(f"add nuw nsw i64 {at}, 1")))
                w.lines.append(f"  store {w.vt} {value}, ptr {to}, align 8")
                return value

            self._summed(f"move{output}", len(moves) // 2, move)
        guards = [self.place[x] for x in plan.program.guards if plan.watched_in(x) >= plan.common and x in self.place]
        if guards:
            table = self._table(guards)
            self._summed("guards", len(guards), lambda i: self._load(self._entry(table, i)))
        constants = [v for o in range(len(plan.program.outputs)) for v in plan.program.fixed(o).values()]
        if not all(math.isfinite(v) for v in constants):
            self.acc = w.fma(w.number(math.nan), w.number(0.0), self.acc)

    def text(self, arguments: str) -> str:
        w = self.w
        w.lines.append(f"  %values = getelementptr inbounds {w.vt}, ptr %work, i64 {self.offset}")
        self._copied()
        self._computed()
        self._handed_over()
        body = "\n".join(w.lines)
        aligned = f' alignstack({8 * w.lanes}) "stackrealign"' if w.lanes > 1 else ""
        head = f"define internal {w.vt} @part{self.number}({arguments}){aligned}"
        return "\n".join([*self.tables, f"{head} {{\nentry:\n{body}\n  ret {w.vt} {self.acc}\n}}"])
