"""The loop over a batch, as LLVM text: rows of users' arrays go through registers into W-lane columns, and back.

``i64 @batch(table, scratch, count)``: the table holds (address, bytes from row to row) of each input, then of each
output. Returns the first state of the first block with a result that is not finite, or -1. The last, incomplete block
repeats its last row; what belongs to no row goes nowhere."""

from __future__ import annotations

from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.llvm.emit import PART, chunks, runs
from gyrostat.engine.tracing.program import Program

LINE = 64
"""Bytes of a cache line: columns begin at one, so that no vector lies across two."""


def _transpose(w: Writer, rows: list[str]) -> list[str]:
    """W registers, rows become columns: log2 W stages of shuffles."""
    n, step = w.lanes, 1
    while step < n:
        new = list(rows)
        for i in range(n):
            if not i & step:
                a, b = rows[i], rows[i + step]
                low = [c if not c & step else n + c - step for c in range(n)]
                high = [c + step if not c & step else n + c for c in range(n)]
                for target, mask in ((i, low), (i + step, high)):
                    picks = ", ".join(f"i32 {m}" for m in mask)
                    new[target] = w.put(f"shufflevector {w.vt} {a}, {w.vt} {b}, <{n} x i32> <{picks}>")
        rows, step = new, step * 2
    return rows


UNROLLED = 48
"""Rows up to this length are moved without a loop."""


def _name(gather: bool, n: int) -> str:
    """The function that moves rows of this length."""
    return ("gather" if gather else "scatter") + (str(n) if n <= UNROLLED else "")


def _block(w: Writer, rows: list[str], column: str, gather: bool) -> None:
    """W columns from ``column`` on, from rows to columns or back."""
    put, at = w.put, [w.put(f"add i64 {column}, {k}") for k in range(w.lanes)]
    places = [put(f"getelementptr double, ptr {row}, i64 {column}") for row in rows]
    columns = [put(f"getelementptr {w.vt}, ptr %columns, i64 {k}") for k in at]
    source, target = (places, columns) if gather else (columns, places)
    loaded = [put(f"load {w.vt}, ptr {x}, align 8") for x in source]
    for name, x in zip(_transpose(w, loaded), target, strict=True):
        w.lines.append(f"  store {w.vt} {name}, ptr {x}, align 8")


def _single(w: Writer, rows: list[str], column: str, gather: bool) -> None:
    """One column, lane by lane."""
    put = w.put
    at = put(f"getelementptr {w.vt}, ptr %columns, i64 {column}")
    places = [put(f"getelementptr double, ptr {row}, i64 {column}") for row in rows]
    if gather:
        value = "undef"
        for lane, place in enumerate(places):
            value = put(f"insertelement {w.vt} {value}, double {put(f'load double, ptr {place}, align 8')}, i64 {lane}")
        w.lines.append(f"  store {w.vt} {value}, ptr {at}, align 8")
        return
    value = put(f"load {w.vt}, ptr {at}, align 8")
    for lane, place in enumerate(places):
        w.lines.append(f"  store double {put(f'extractelement {w.vt} {value}, i64 {lane}')}, ptr {place}, align 8")


def _rows(w: Writer, gather: bool) -> list[str]:
    """Addresses of the W rows of a block. Beyond the last row, it is read again; what is written there goes nowhere."""
    rows: list[str] = []
    for lane in range(w.lanes):
        index = w.put(f"add i64 %first, {lane}")
        inside = w.put(f"icmp sle i64 {index}, %last")
        if gather:
            index = w.put(f"select i1 {inside}, i64 {index}, i64 %last")
        address = w.put(f"getelementptr i8, ptr %base, i64 {w.put(f'mul i64 {index}, %stride')}")
        rows.append(address if gather else w.put(f"select i1 {inside}, ptr {address}, ptr %spare"))
    return rows


def _scatter_with_constants(lanes: int, fma: bool, program: Program, output: int) -> tuple[int, str]:
    """``@constants_o_k(...)``: outputs with constants in them, which are written as they are; the others through
    columns. Cut into functions; their number."""
    values = program.fixed(output)
    other = [e for e in range(program.outputs[output].size) if e not in values]
    pieces = [(piece, True) for run in runs(sorted(values)) for piece in chunks(*run, lanes)]
    pieces += [(piece, False) for run in runs(other) for piece in chunks(*run, lanes)]
    pieces.sort()  # along the rows, so that memory is written once and in order
    texts: list[str] = []
    step = max(1, PART // lanes)
    for start in range(0, len(pieces), step):
        w = Writer(lanes, fma)
        rows = _rows(w, False)
        for (first, end), constant in pieces[start : start + step]:
            if constant:
                numbers = ", ".join(f"double {Writer(1, fma).number(values[e])}" for e in range(first, end))
                what = f"<{end - first} x double> <{numbers}>" if end > first + 1 else numbers
                for row in rows:
                    at = w.put(f"getelementptr double, ptr {row}, i64 {first}")
                    w.lines.append(f"  store {what}, ptr {at}, align 8")
            elif end > first + 1:
                _block(w, rows, str(first), False)
            else:
                _single(w, rows, str(first), False)
        w.lines.append("  ret void")
        arguments = "ptr %base, i64 %stride, i64 %first, i64 %last, ptr %columns, i64 %n, ptr %spare"
        head = f"define internal void @constants_{output}_{len(texts)}({arguments}) noinline"
        texts.append(f"{head} {{\nentry:\n" + "\n".join(w.lines) + "\n}")
    return len(texts), "\n".join(texts)


def _mover(lanes: int, fma: bool, gather: bool, size: int) -> str:
    """``@gather(base, stride, first, last, columns, n)`` or ``@scatter(..., spare)``: W rows of n doubles to n
    columns of W, or back. Short rows have functions for their length."""
    w = Writer(lanes, fma)
    put, lines = w.put, w.lines
    rows = _rows(w, gather)
    if lanes <= size <= UNROLLED:
        for k in [*range(0, size - lanes, lanes), size - lanes]:  # the last one overlaps the one before
            _block(w, rows, str(k), gather)
        lines.append("  ret void")
        return _defined(w, gather, size)
    wide = put(f"icmp sge i64 %n, {lanes}")
    end = put(f"sub i64 %n, {lanes}")
    lines.append(f"  br i1 {wide}, label %blocks, label %narrow")

    # ---- W columns at a time; the last step overlaps the one before, so that nothing outside a row is touched
    w.label("blocks")
    column = "%column"
    lines.append(f"  {column} = phi i64 [ 0, %entry ], [ %clamped, %blocks ]")
    _block(w, rows, column, gather)
    ahead = put(f"add i64 {column}, {lanes}")
    beyond = put(f"icmp sgt i64 {ahead}, {end}")
    lines.append(f"  %clamped = select i1 {beyond}, i64 {end}, i64 {ahead}")
    done = put(f"icmp eq i64 {column}, {end}")
    lines.append(f"  br i1 {done}, label %out, label %blocks")

    # ---- fewer columns than lanes
    w.label("narrow")
    lines.append("  %some = icmp sgt i64 %n, 0")
    lines.append("  br i1 %some, label %single, label %out")
    w.label("single")
    lines.append("  %one = phi i64 [ 0, %narrow ], [ %two, %single ]")
    _single(w, rows, "%one", gather)
    lines += ["  %two = add i64 %one, 1", "  %more = icmp slt i64 %two, %n", "  br i1 %more, label %single, label %out"]
    w.label("out")
    lines.append("  ret void")
    return _defined(w, gather, size)


def _defined(w: Writer, gather: bool, size: int) -> str:
    spare = "" if gather else ", ptr %spare"
    arguments = f"ptr %base, i64 %stride, i64 %first, i64 %last, ptr %columns, i64 %n{spare}"
    name = _name(gather, size)
    return f"define internal void @{name}({arguments}) noinline {{\nentry:\n" + "\n".join(w.lines) + "\n}"


NEAR = 2**17
"""Bytes of scratch memory that stay near the processor."""


def group(program: Program, work: int, lanes: int, parts: int) -> int:
    """Blocks that go through a part one after the other, before the next part: its code then stays near the processor.

    Measured in one run (talos, 32 joints, 90 kB of code): 1 block 238 ns per state, 16 blocks 210 ns.
    """
    if parts == 1:
        return 1
    return max(1, min(16, NEAR // (8 * _block_doubles(program, work, lanes))))


def _block_doubles(program: Program, work: int, lanes: int) -> int:
    """Columns of inputs and outputs, work space, and the sum that tells whether all is finite."""
    return (sum(s.size for s in program.inputs) + sum(s.size for s in program.outputs) + work + 1) * lanes


def scratch_doubles(program: Program, work: int, lanes: int, parts: int) -> int:
    """Doubles of scratch memory for one thread."""
    spare = max([s.size for s in program.outputs], default=0) + lanes
    return group(program, work, lanes, parts) * _block_doubles(program, work, lanes) + spare + LINE // 8


class _Loop:
    """Text of nested counting loops."""

    def __init__(self, w: Writer):
        self.w = w
        self.count = 0

    def begin(self) -> tuple[str, str]:
        """``for i in range(limit)``; the limit is at least 1. Returns the label and the name of i."""
        self.count += 1
        label, here = f"loop{self.count}", self.w.block
        self.w.lines.append(f"  br label %{label}")
        self.w.label(label)
        self.w.lines.append(f"  %i{self.count} = phi i64 [ 0, %{here} ], [ %n{self.count}, %{label}_end ]")
        return label, f"%i{self.count}"

    def end(self, label: str, limit: str) -> None:
        k = label.removeprefix("loop")
        self.w.lines += [f"  br label %{label}_end"]
        self.w.label(f"{label}_end")
        self.w.lines += [f"  %n{k} = add i64 %i{k}, 1", f"  %c{k} = icmp slt i64 %n{k}, {limit}"]
        self.w.lines.append(f"  br i1 %c{k}, label %{label}, label %{label}_out")
        self.w.label(f"{label}_out")


def batch_text(program: Program, work: int, lanes: int, fma: bool, parts: int) -> str:
    """The loop, to be put into the module of the W-lane kernel."""
    w = Writer(lanes, fma)
    put, lines = w.put, w.lines
    slots = [*program.inputs, *program.outputs]
    n_in, blocks, stride = (
        len(program.inputs),
        group(program, work, lanes, parts),
        _block_doubles(program, work, lanes) // lanes,
    )
    bases, strides, offsets = [], [], []
    offset = 0
    for k, slot in enumerate(slots):
        bases.append(put(f"load ptr, ptr {put(f'getelementptr i64, ptr %table, i64 {2 * k}')}, align 8"))
        strides.append(put(f"load i64, ptr {put(f'getelementptr i64, ptr %table, i64 {2 * k + 1}')}, align 8"))
        offsets.append(offset)
        offset += slot.size
    offsets += [offset, offset + work]  # work space, sum
    beyond = put(f"add i64 {put('ptrtoint ptr %memory to i64')}, {LINE - 1}")
    lines.append(f"  %scratch = inttoptr i64 {put(f'and i64 {beyond}, {-LINE}')} to ptr")
    spare = put(f"getelementptr {w.vt}, ptr %scratch, i64 {blocks * stride}")
    lines += [
        "  %last = sub i64 %count, 1",
        "  %any = icmp sgt i64 %count, 0",
        "  br i1 %any, label %start, label %out",
    ]
    w.label("start")
    total = put(f"sdiv i64 {put(f'add i64 %count, {lanes - 1}')}, {lanes}")
    lines.append("  br label %loop")
    w.label("loop")
    lines += [
        "  %done = phi i64 [ 0, %start ], [ %next, %again ]",
        "  %bad = phi i64 [ -1, %start ], [ %bad_now, %again ]",
    ]
    ahead = put(f"sub i64 {total}, %done")
    few = put(f"icmp slt i64 {ahead}, {blocks}")
    here = put(f"select i1 {few}, i64 {ahead}, i64 {blocks}")
    loop = _Loop(w)
    names, movers = _movers(program, lanes, fma)

    def place(b: str, k: int) -> str:
        at = put(f"add i64 {put(f'mul i64 {b}, {stride}')}, {offsets[k]}")
        return put(f"getelementptr {w.vt}, ptr %scratch, i64 {at}")

    def move(gather: bool, ks: range, extra: str = "") -> None:
        label, b = loop.begin()
        first = put(f"mul i64 {put(f'add i64 %done, {b}')}, {lanes}")
        for k in ks:
            where = f"ptr {bases[k]}, i64 {strides[k]}, i64 {first}, i64 %last, ptr {place(b, k)}, i64 {slots[k].size}"
            for name in names[k]:
                lines.append(f"  call void @{name}({where}{extra})")
        if gather:
            lines.append(f"  store {w.vt} {w.number(0.0)}, ptr {place(b, len(slots) + 1)}, align 8")
        loop.end(label, here)

    move(True, range(n_in))
    for p in range(parts):
        label, b = loop.begin()
        arguments = ", ".join(f"ptr {place(b, k)}" for k in range(len(slots) + 1))
        part = put(f"call {w.vt} @part{p}({arguments})")
        at = place(b, len(slots) + 1)
        lines.append(f"  store {w.vt} {w.op('fadd', put(f'load {w.vt}, ptr {at}, align 8'), part)}, ptr {at}, align 8")
        loop.end(label, here)
    move(False, range(n_in, len(slots)), f", ptr {spare}")

    label, b = loop.begin()
    k = label.removeprefix("loop")
    lines.append(f"  %bad_in{k} = phi i64 [ %bad, %{_before(lines, label)} ], [ %worse, %{label}_end ]")
    acc = put(f"load {w.vt}, ptr {place(b, len(slots) + 1)}, align 8")
    broken = put(f"fcmp uno {w.vt} {acc}, {acc}")
    if lanes > 1:
        broken = put(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({w.bt} {broken})")
    fresh = put(f"and i1 {broken}, {put(f'icmp slt i64 %bad_in{k}, 0')}")
    state = put(f"mul i64 {put(f'add i64 %done, {b}')}, {lanes}")
    lines.append(f"  %worse = select i1 {fresh}, i64 {state}, i64 %bad_in{k}")
    loop.end(label, here)
    lines += ["  br label %again"]
    w.label("again")
    lines += ["  %bad_now = add i64 %worse, 0", f"  %next = add i64 %done, {blocks}"]
    lines += [f"  %go = icmp slt i64 %next, {total}", "  br i1 %go, label %loop, label %out"]
    w.label("out")
    lines += ["  %result = phi i64 [ -1, %entry ], [ %bad_now, %again ]", "  ret i64 %result"]
    text = "define i64 @batch(ptr %table, ptr %memory, i64 %count) {\nentry:\n" + "\n".join(lines) + "\n}"
    return "\n".join([*movers, text])


def _movers(program: Program, lanes: int, fma: bool) -> tuple[list[list[str]], list[str]]:
    """For every input and output, the functions that move its rows; and the text of all of them."""
    names: list[list[str]] = []
    texts: dict[str, str] = {}
    for k, slot in enumerate([*program.inputs, *program.outputs]):
        output = k - len(program.inputs)
        if output >= 0 and program.fixed(output):
            count, text = _scatter_with_constants(lanes, fma, program, output)
            names.append([f"constants_{output}_{n}" for n in range(count)])
            texts[f"constants_{output}"] = text
            continue
        name = _name(output < 0, slot.size)
        names.append([name])
        if name not in texts:
            texts[name] = _mover(lanes, fma, output < 0, slot.size)
    return names, list(texts.values())


def _before(lines: list[str], label: str) -> str:
    """The block that enters a loop, as its counter's phi names it."""
    phi = next(line for line in reversed(lines) if line.startswith(f"  %i{label.removeprefix('loop')} = phi"))
    return phi.split("%", 2)[2].split(" ", 1)[0]
