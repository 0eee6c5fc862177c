"""The loop over a batch, as LLVM text: rows of users' arrays go through registers into W-lane columns, and back.

``i64 @batch(table, scratch, count)``: the table holds (address, bytes from row to row) of each input, then of each
output. Returns the first state of the first block with a result that is not finite, or -1. The last, incomplete block
repeats its last row; what belongs to no row goes nowhere."""

from __future__ import annotations

from gyrostat.engine.llvm.counting_loop import CountingLoop
from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.llvm.row_text import movers
from gyrostat.engine.tracing.program import Program

LINE = 64
"""Bytes of a cache line: columns begin at one, so that no vector lies across two."""
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
    loop = CountingLoop(w)
    names, moving = movers(program, lanes, fma)

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
    lines.append(f"  %bad_in{k} = phi i64 [ %bad, %{loop.before(label)} ], [ %worse, %{label}_end ]")
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
    return "\n".join([*moving, text])
