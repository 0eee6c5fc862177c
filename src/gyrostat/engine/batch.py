"""The loop over a batch, as LLVM text: rows of users' arrays go through registers into W-lane columns, and back.

``i64 @batch(table, scratch, count)``: the table holds (address, bytes from row to row) of each input, then of each output. Returns the first state of the first block with
a result that is not finite, or -1. The last, incomplete block repeats its last row; what belongs to no row goes nowhere.
"""

from __future__ import annotations

from gyrostat.engine.elementary import Writer
from gyrostat.engine.program import Program


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


def _mover(lanes: int, fma: bool, gather: bool) -> str:
    """``@gather(base, stride, first, last, columns, n)`` or ``@scatter(..., spare)``: W rows of n doubles to n columns of W, or back."""
    w = Writer(lanes, fma)
    put, lines = w.put, w.lines
    rows: list[str] = []
    for lane in range(lanes):
        index = put(f"add i64 %first, {lane}")
        inside = put(f"icmp sle i64 {index}, %last")
        if gather:
            index = put(f"select i1 {inside}, i64 {index}, i64 %last")
        address = put(f"getelementptr i8, ptr %base, i64 {put(f'mul i64 {index}, %stride')}")
        rows.append(address if gather else put(f"select i1 {inside}, ptr {address}, ptr %spare"))
    wide = put(f"icmp sge i64 %n, {lanes}")
    end = put(f"sub i64 %n, {lanes}")
    lines.append(f"  br i1 {wide}, label %blocks, label %narrow")

    # ---- W columns at a time; the last step overlaps the one before, so that nothing outside a row is touched
    w.label("blocks")
    column = "%column"
    lines.append(f"  {column} = phi i64 [ 0, %entry ], [ %clamped, %blocks ]")
    if gather:
        loaded = [
            put(f"load {w.vt}, ptr {put(f'getelementptr double, ptr {row}, i64 {column}')}, align 8") for row in rows
        ]
        for k, name in enumerate(_transpose(w, loaded)):
            at = put(f"getelementptr {w.vt}, ptr %columns, i64 {put(f'add i64 {column}, {k}')}")
            lines.append(f"  store {w.vt} {name}, ptr {at}, align 8")
    else:
        loaded = [
            put(f"load {w.vt}, ptr {put(f'getelementptr {w.vt}, ptr %columns, i64 ' + put(f'add i64 {column}, {k}'))}, align 8")
            for k in range(lanes)
        ]
        for row, name in zip(rows, _transpose(w, loaded), strict=True):
            lines.append(f"  store {w.vt} {name}, ptr {put(f'getelementptr double, ptr {row}, i64 {column}')}, align 8")
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
    at = put(f"getelementptr {w.vt}, ptr %columns, i64 %one")
    places = [put(f"getelementptr double, ptr {row}, i64 %one") for row in rows]
    if gather:
        value = "undef"
        for lane, place in enumerate(places):
            value = put(f"insertelement {w.vt} {value}, double {put(f'load double, ptr {place}, align 8')}, i64 {lane}")
        lines.append(f"  store {w.vt} {value}, ptr {at}, align 8")
    else:
        value = put(f"load {w.vt}, ptr {at}, align 8")
        for lane, place in enumerate(places):
            lines.append(f"  store double {put(f'extractelement {w.vt} {value}, i64 {lane}')}, ptr {place}, align 8")
    lines += ["  %two = add i64 %one, 1", "  %more = icmp slt i64 %two, %n", "  br i1 %more, label %single, label %out"]
    w.label("out")
    lines.append("  ret void")
    name, spare = ("gather", "") if gather else ("scatter", ", ptr %spare")
    arguments = f"ptr %base, i64 %stride, i64 %first, i64 %last, ptr %columns, i64 %n{spare}"
    return f"define internal void @{name}({arguments}) noinline {{\nentry:\n" + "\n".join(lines) + "\n}"


def scratch_doubles(program: Program, work: int, lanes: int) -> int:
    """Doubles of scratch memory: columns of inputs and outputs, work space, one spare row."""
    columns = sum(s.size for s in program.inputs) + sum(s.size for s in program.outputs)
    return (columns + work) * lanes + max([s.size for s in program.outputs], default=0) + lanes


def batch_text(program: Program, work: int, lanes: int, fma: bool) -> str:
    """The loop, to be put into the module of the W-lane kernel."""
    w = Writer(lanes, fma)
    put, lines = w.put, w.lines
    slots = [*program.inputs, *program.outputs]
    n_in = len(program.inputs)
    bases, strides, columns = [], [], []
    offset = 0
    for k, slot in enumerate(slots):
        bases.append(put(f"load ptr, ptr {put(f'getelementptr i64, ptr %table, i64 {2 * k}')}, align 8"))
        strides.append(put(f"load i64, ptr {put(f'getelementptr i64, ptr %table, i64 {2 * k + 1}')}, align 8"))
        columns.append(put(f"getelementptr {w.vt}, ptr %scratch, i64 {offset}"))
        offset += slot.size
    work_at = put(f"getelementptr {w.vt}, ptr %scratch, i64 {offset}")
    spare = put(f"getelementptr {w.vt}, ptr %scratch, i64 {offset + work}")
    lines += ["  %last = sub i64 %count, 1", "  %any = icmp sgt i64 %count, 0", "  br i1 %any, label %loop, label %out"]
    w.label("loop")
    lines += ["  %first = phi i64 [ 0, %entry ], [ %next, %loop ]", "  %bad = phi i64 [ -1, %entry ], [ %worse, %loop ]"]
    for k in range(n_in):
        where = f"ptr {bases[k]}, i64 {strides[k]}, i64 %first, i64 %last, ptr {columns[k]}, i64 {slots[k].size}"
        lines.append(f"  call void @gather({where})")
    acc = put(f"call {w.vt} @kernel({', '.join(f'ptr {c}' for c in columns)}, ptr {work_at})")
    for k in range(n_in, len(slots)):
        where = f"ptr {bases[k]}, i64 {strides[k]}, i64 %first, i64 %last, ptr {columns[k]}, i64 {slots[k].size}"
        lines.append(f"  call void @scatter({where}, ptr {spare})")
    broken = put(f"fcmp uno {w.vt} {acc}, {acc}")
    if lanes > 1:
        broken = put(f"call i1 @llvm.vector.reduce.or.v{lanes}i1({w.bt} {broken})")
    fresh = put(f"and i1 {broken}, {put('icmp slt i64 %bad, 0')}")
    lines.append(f"  %worse = select i1 {fresh}, i64 %first, i64 %bad")
    lines.append(f"  %next = add i64 %first, {lanes}")
    lines += ["  %go = icmp slt i64 %next, %count", "  br i1 %go, label %loop, label %out"]
    w.label("out")
    lines += ["  %result = phi i64 [ -1, %entry ], [ %worse, %loop ]", "  ret i64 %result"]
    loop = "define i64 @batch(ptr %table, ptr %scratch, i64 %count) {\nentry:\n" + "\n".join(lines) + "\n}"
    return "\n".join([_mover(lanes, fma, True), _mover(lanes, fma, False), loop])
