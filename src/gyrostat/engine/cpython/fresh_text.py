"""LLVM text that makes arrays for results, or takes one that was returned earlier and that nobody refers to any more.

That saves a third of the time of a small robot's call; for a batch, the page faults of fresh memory."""

from __future__ import annotations

from gyrostat.engine.cpython.layout import CONTIGUOUS_ALIGNED, OWN, WEAK, WRITEABLE
from gyrostat.engine.cpython.object_text import ObjectText
from gyrostat.engine.tracing.program import Slot

SPARES = 2
"""Arrays per output that may be returned again: with ``x = f(...)`` in a loop, one is still held by x. One more for
batches."""
LARGEST_SPARE = 2**27
"""Bytes of a batch's result that is kept, at most, to be returned again: fresh memory costs more than writing it."""


def _make(w: ObjectText, dims: str, ndim: int) -> str:
    """A call of PyArray_New."""
    new, kind = w.table("new_array", "ptr"), w.table("array_type", "ptr")
    return w.put(
        f"call ptr {new}(ptr {kind}, i32 {ndim}, ptr {dims}, i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)"
    )


def fresh_text(k: int, slot: Slot, spares: int, many: bool) -> str:
    """``ptr @fresh_k(count)``: an array for output k with a reference for the caller, or null; of one state, or with
    ``many`` of ``count`` states."""
    w = ObjectText()
    shape = ["%count", *slot.shape] if many else list(slot.shape)
    dims = w.put(f"alloca i64, i64 {max(1, len(shape))}, align 16")
    pool = w.word("@table", spares, "ptr")
    numbers = [SPARES] if many else list(range(SPARES))
    for number in numbers:
        busy = f"busy{number}"
        item = w.word(pool, number, "ptr")
        w.require(w.equal(w.half(item, 0), 1, "i32"), busy)  # the only reference is ours
        w.plain(item, busy)
        w.shaped(item, shape, CONTIGUOUS_ALIGNED | WRITEABLE | OWN, busy)
        w.require(w.equal(w.word(item, WEAK), 0), busy)
        w.say(f"  call void {w.table('incref', 'ptr')}(ptr {item})", f"  ret ptr {item}", f"{busy}:")
    for i, n in enumerate(shape):
        w.say(f"  store i64 {n}, ptr {w.put(f'getelementptr i64, ptr {dims}, i64 {i}')}, align 8")
    made = _make(w, dims, len(shape))
    w.require(w.put(f"icmp ne ptr {made}, null"), "failed")
    if many:
        w.require(w.put(f"icmp sle i64 %count, {LARGEST_SPARE // (8 * max(1, slot.size))}"), "large")
    items = [w.word(pool, number, "ptr") for number in numbers]
    for number, item in zip(numbers, [made, *items[:-1]], strict=True):
        w.say(f"  store ptr {item}, ptr {w.put(f'getelementptr ptr, ptr {pool}, i64 {number}')}, align 8")
    w.say(f"  call void {w.table('incref', 'ptr')}(ptr {made})")
    w.say(f"  call void {w.table('decref', 'ptr')}(ptr {items[-1]})")
    w.say(f"  ret ptr {made}", "large:", f"  ret ptr {made}", "failed:", "  ret ptr null")
    return w.define(f"internal ptr @{'many' if many else 'fresh'}_{k}(i64 %count) noinline")
