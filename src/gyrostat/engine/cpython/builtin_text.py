"""LLVM text of a builtin: from ``solver(q, v, a)`` into the one-lane kernel with next to nothing in between."""

from __future__ import annotations

from collections.abc import Sequence

from gyrostat.engine.cpython.batch_call_text import many_text
from gyrostat.engine.cpython.call_text import TableLayout, packed, slow_path
from gyrostat.engine.cpython.fresh_text import fresh_text
from gyrostat.engine.cpython.layout import CONTIGUOUS_ALIGNED, DATA, ITEMS, ND, WRITEABLE
from gyrostat.engine.cpython.object_text import ObjectText
from gyrostat.engine.tracing.program import Program

VECTORCALL = """define ptr @vectorcall(ptr %callable, ptr %args, i64 %flagged, ptr %kwnames) {
entry:
  %nargs = and i64 %flagged, 9223372036854775807
  %value = tail call ptr @pycall(ptr %callable, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %value
}"""
"""The same as @pycall for objects: their callers say in the highest bit whether there is room before the arguments."""


def builtin_text(program: Program, visible: int, work: int) -> str:
    """``ptr @pycall(self, args, nargs, kwnames)`` for the one-lane kernel; the first ``visible`` inputs are
    arguments."""
    at = TableLayout(program, visible)
    fresh = [fresh_text(k, s, at.spares + k, many) for k, s in enumerate(program.outputs) for many in (False, True)]
    return "\n".join(
        [
            f"@table = internal global [{at.size} x i64] zeroinitializer, align 64",
            f"@work = internal global [{max(1, work)} x double] zeroinitializer, align 64",
            "define ptr @table_address() {\n  ret ptr @table\n}",
            *fresh,
            _single_text(program, visible, at),
            VECTORCALL,
            many_text(program, visible, at),
        ]
    )


def _single_text(program: Program, visible: int, at: TableLayout) -> str:
    """One state; batches go on to ``@many``."""
    w = ObjectText()
    w.require(w.equal("%nargs", visible))
    items = [w.word("%args", k, "ptr") for k in range(visible)]
    for k, item in enumerate(items):
        w.plain(item)
        if k == 0:
            w.require(w.equal(w.half(item, ND), len(program.inputs[0].shape), "i32"), "several")
    inputs = [
        w.shaped(item, slot.shape, CONTIGUOUS_ALIGNED)
        for item, slot in zip(items, program.inputs[:visible], strict=True)
    ]
    inputs += [w.word("@table", k, "ptr") for k in range(at.hidden, at.spares)]
    single = len(program.outputs) == 1
    arrival = ("", "", "")
    if single:
        w.say(f"  br i1 {w.put('icmp eq ptr %kwnames, null')}, label %fresh, label %given")
        arrival = _given(w, program, visible, inputs)
        w.say("fresh:")
    else:
        w.require(w.put("icmp eq ptr %kwnames, null"))
    made: list[str] = []
    for k in range(len(program.outputs)):
        made.append(w.put(f"call ptr @fresh_{k}(i64 1)"))
        w.require(w.put(f"icmp ne ptr {made[-1]}, null"), f"failed{k}")
    data = [w.word(x, DATA, "ptr") for x in made]
    if single:
        block = w.here()
        w.say("  br label %run", "run:")
        targets = [w.put(f"phi ptr [ {made[0]}, {block} ], [ {arrival[0]}, {arrival[2]} ]")]
        data = [w.put(f"phi ptr [ {data[0]}, {block} ], [ {arrival[1]}, {arrival[2]} ]")]
    else:
        targets = made
    acc = w.put(f"call double @kernel({', '.join(f'ptr {a}' for a in [*inputs, *data, '@work'])})")
    w.say(f"  br i1 {w.put(f'fcmp ord double {acc}, {acc}')}, label %good, label %bad", "bad:")
    drop = w.table("decref", "ptr")
    w.say(*(f"  call void {drop}(ptr {x})" for x in targets), "  br label %slow", "good:")
    packed(w, targets)
    for k in range(len(made)):
        w.say(f"failed{k}:")
        drop = w.table("decref", "ptr")
        w.say(*(f"  call void {drop}(ptr {x})" for x in made[:k]), "  ret ptr null")
    w.say("several:")
    w.say(f"  ret ptr {w.put('call ptr @many(ptr %args, i64 %nargs, ptr %kwnames)')}")
    slow_path(w)
    return w.define("ptr @pycall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames)")


def _given(w: ObjectText, program: Program, visible: int, inputs: Sequence[str]) -> tuple[str, str, str]:
    """out=: one keyword, a writeable array that shares no memory with the inputs. The array, its data, the block."""
    (output,) = program.outputs
    w.say("given:")
    w.require(w.equal(w.word("%kwnames", 2), 1))
    w.require(w.equal(w.word("%kwnames", ITEMS), w.table("out")))
    target = w.word("%args", visible, "ptr")
    w.plain(target)
    start = w.shaped(target, output.shape, CONTIGUOUS_ALIGNED | WRITEABLE)
    end = w.put(f"getelementptr double, ptr {start}, i64 {output.size}")
    for slot, address in zip(program.inputs, inputs, strict=True):
        stop = w.put(f"getelementptr double, ptr {address}, i64 {slot.size}")
        before, after = w.put(f"icmp ule ptr {end}, {address}"), w.put(f"icmp uge ptr {start}, {stop}")
        w.require(w.put(f"or i1 {before}, {after}"))
    w.say(f"  call void {w.table('incref', 'ptr')}(ptr {target})", "  br label %run")
    return target, start, w.here()
