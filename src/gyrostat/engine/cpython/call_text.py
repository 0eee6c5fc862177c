"""LLVM text that the calls of a builtin share: its table, the way to the general Python function, and the result."""

from __future__ import annotations

from collections.abc import Sequence

from gyrostat.engine.cpython.layout import ITEMS
from gyrostat.engine.cpython.object_text import FIXED, ObjectText
from gyrostat.engine.tracing.program import Program


class TableLayout:
    """Where things are in the table."""

    def __init__(self, program: Program, visible: int):
        self.hidden = len(FIXED)
        self.spares = self.hidden + len(program.inputs) - visible
        self.size = self.spares + len(program.outputs) + 1


def slow_path(w: ObjectText) -> None:
    """The block ``slow``: the Python function that deals with anything, with the arguments as they are."""
    w.say("slow:")
    call, slow = w.table("vectorcall", "ptr"), w.table("slow", "ptr")
    w.say(f"  ret ptr {w.put(f'call ptr {call}(ptr {slow}, ptr %args, i64 %nargs, ptr %kwnames)')}")


def packed(w: ObjectText, targets: Sequence[str]) -> None:
    """Return the one result, or a tuple of them."""
    if len(targets) == 1:
        w.say(f"  ret ptr {targets[0]}")
        return
    new, kind = w.table("new_tuple", "ptr"), w.table("tuple_type", "ptr")
    answer = w.put(f"call ptr {new}(ptr {kind}, i64 {len(targets)})")
    w.require(w.put(f"icmp ne ptr {answer}, null"), "no_tuple")
    for k, x in enumerate(targets):
        w.say(f"  store ptr {x}, ptr {w.put(f'getelementptr ptr, ptr {answer}, i64 {ITEMS + k}')}, align 8")
    w.say(f"  ret ptr {answer}", "no_tuple:")
    drop = w.table("decref", "ptr")
    w.say(*(f"  call void {drop}(ptr {x})" for x in targets), "  ret ptr null")
