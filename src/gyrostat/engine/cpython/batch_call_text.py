"""LLVM text of a builtin's call with a batch: arrays with one more axis in front, through the loop over batches."""

from __future__ import annotations

from gyrostat.engine.cpython.call_text import TableLayout, packed, slow_path
from gyrostat.engine.cpython.layout import CONTIGUOUS_ALIGNED, DATA, DIMS, ND
from gyrostat.engine.cpython.object_text import ObjectText
from gyrostat.engine.tracing.program import Program


def many_text(program: Program, visible: int, at: TableLayout) -> str:
    """A batch: arrays with one more axis in front, of one length, through the loop over batches without Python's
    lock."""
    w, head = ObjectText(), "internal ptr @many(ptr %args, i64 %nargs, ptr %kwnames) noinline"
    if not visible:
        w.say("  br label %slow")
        slow_path(w)
        return w.define(head)
    slots = [*program.inputs, *program.outputs]
    rows = w.put(f"alloca i64, i64 {2 * len(slots)}, align 16")
    w.require(w.put("icmp eq ptr %kwnames, null"))
    loop = w.table("batch", "ptr")
    w.require(w.put(f"icmp ne ptr {loop}, null"))
    items = [w.word("%args", k, "ptr") for k in range(visible)]
    count = ""
    inputs: list[str] = []
    for k, (item, slot) in enumerate(zip(items, program.inputs, strict=False)):
        w.plain(item)
        if k == 0:
            w.require(w.equal(w.half(item, ND), 1 + len(slot.shape), "i32"))
            count = w.word(w.word(item, DIMS, "ptr"), 0)
            w.require(w.put(f"icmp sgt i64 {count}, 0"))
        inputs.append(w.shaped(item, [count, *slot.shape], CONTIGUOUS_ALIGNED))
    inputs += [w.word("@table", k, "ptr") for k in range(at.hidden, at.spares)]
    space = w.put(f"call ptr {w.table('malloc', 'ptr')}(i64 {w.table('scratch')})")
    w.require(w.put(f"icmp ne ptr {space}, null"))
    made: list[str] = []
    for k in range(len(program.outputs)):
        made.append(w.put(f"call ptr @many_{k}(i64 {count})"))
        w.require(w.put(f"icmp ne ptr {made[-1]}, null"), f"failed{k}")
    data = [w.word(x, DATA, "ptr") for x in made]
    for k, (address, slot) in enumerate(zip([*inputs, *data], slots, strict=True)):
        stride = 0 if visible <= k < len(program.inputs) else 8 * slot.size
        w.say(f"  store ptr {address}, ptr {w.put(f'getelementptr i64, ptr {rows}, i64 {2 * k}')}, align 8")
        w.say(f"  store i64 {stride}, ptr {w.put(f'getelementptr i64, ptr {rows}, i64 {2 * k + 1}')}, align 8")
    thread = w.put(f"call ptr {w.table('save_thread', 'ptr')}()")
    bad = w.put(f"call i64 {loop}(ptr {rows}, ptr {space}, i64 {count})")
    w.say(f"  call void {w.table('restore_thread', 'ptr')}(ptr {thread})")
    w.say(f"  call void {w.table('free', 'ptr')}(ptr {space})")
    w.say(f"  br i1 {w.put(f'icmp slt i64 {bad}, 0')}, label %good, label %bad", "bad:")
    drop = w.table("decref", "ptr")
    w.say(*(f"  call void {drop}(ptr {x})" for x in made), "  br label %slow", "good:")
    packed(w, made)
    for k in range(len(made)):
        w.say(f"failed{k}:")
        w.say(f"  call void {w.table('free', 'ptr')}(ptr {space})")
        drop = w.table("decref", "ptr")
        w.say(*(f"  call void {drop}(ptr {x})" for x in made[:k]), "  ret ptr null")
    slow_path(w)
    return w.define(head)
