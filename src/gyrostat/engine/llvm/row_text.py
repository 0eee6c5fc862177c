"""LLVM text that moves rows of users' arrays through registers into W-lane columns, and back.

Beyond the last row, it is read again; what belongs to no row goes nowhere."""

from __future__ import annotations

from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.llvm.plan import PART
from gyrostat.engine.llvm.stretches import chunks, runs
from gyrostat.engine.tracing.program import Program


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


def movers(program: Program, lanes: int, fma: bool) -> tuple[list[list[str]], list[str]]:
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
