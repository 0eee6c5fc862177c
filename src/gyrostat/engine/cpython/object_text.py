"""LLVM text that reads Python's objects: words of a structure, checks that lead to another block when they fail."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from gyrostat.engine.cpython.layout import DATA, DESCR, DIMS, FLAGS, ND

FIXED = (
    "array_type", "float64", "new_array", "vectorcall", "decref", "incref", "slow", "out", "tuple_type", "new_tuple",
    "malloc", "free", "save_thread", "restore_thread", "batch", "scratch",
)  # fmt: skip
"""First words of a builtin's table; then follow the addresses of hidden inputs, and of each output's spare arrays."""


class ObjectText:
    """Lines of one LLVM function that reads Python's objects."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.count = self.labels = 0

    def put(self, text: str) -> str:
        self.count += 1
        self.lines.append(f"  %t{self.count} = {text}")
        return f"%t{self.count}"

    def say(self, *lines: str) -> None:
        self.lines += lines

    def word(self, base: str, k: int, kind: str = "i64") -> str:
        return self.put(f"load {kind}, ptr {self.put(f'getelementptr i64, ptr {base}, i64 {k}')}, align 8")

    def half(self, base: str, k: int) -> str:
        """The int at the beginning of word k."""
        return self.put(f"load i32, ptr {self.put(f'getelementptr i64, ptr {base}, i64 {k}')}, align 8")

    def table(self, name: str, kind: str = "i64") -> str:
        return self.word("@table", FIXED.index(name), kind)

    def require(self, condition: str, otherwise: str = "slow") -> None:
        self.labels += 1
        self.say(f"  br i1 {condition}, label %ok{self.labels}, label %{otherwise}", f"ok{self.labels}:")

    def here(self) -> str:
        """Name of the block since the last requirement."""
        return f"%ok{self.labels}"

    def equal(self, x: str, y: Any, kind: str = "i64") -> str:
        return self.put(f"icmp eq {kind} {x}, {y}")

    def plain(self, item: str, otherwise: str = "slow") -> None:
        """It is an array of NumPy's own class, of float64."""
        self.require(self.equal(self.word(item, 1), self.table("array_type")), otherwise)
        self.require(self.equal(self.word(item, DESCR), self.table("float64")), otherwise)

    def shaped(self, item: str, shape: Sequence[Any], flags: int, otherwise: str = "slow") -> str:
        """It has this shape and these flags; the address of its data."""
        self.require(self.equal(self.half(item, ND), len(shape), "i32"), otherwise)
        have = self.put(f"and i32 {self.half(item, FLAGS)}, {flags}")
        self.require(self.equal(have, flags, "i32"), otherwise)
        if shape:
            dims = self.word(item, DIMS, "ptr")
            for k, n in enumerate(shape):
                self.require(self.equal(self.word(dims, k), n), otherwise)
        return self.word(item, DATA, "ptr")

    def define(self, head: str) -> str:
        return f"define {head} {{\nentry:\n" + "\n".join(self.lines) + "\n}"
