"""LLVM text of nested counting loops."""

from __future__ import annotations

from gyrostat.engine.llvm.elementary import Writer


class CountingLoop:
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

    def before(self, label: str) -> str:
        """The block that enters a loop, as its counter's phi names it."""
        phi = next(
            line for line in reversed(self.w.lines) if line.startswith(f"  %i{label.removeprefix('loop')} = phi")
        )
        return phi.split("%", 2)[2].split(" ", 1)[0]
