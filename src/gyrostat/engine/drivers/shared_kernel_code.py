"""Machine code of a program for W columns at once, some of whose inputs all columns share: two addresses for drivers.

``common(in..., out..., work)`` computes what depends on the shared inputs only; ``columns(in..., out..., work)`` does
the rest for W columns, and may be called for any number of them after it, with the same work space. Both return one
double, zero if all that they found is finite. Element j of an input or output that differs from column to column is at
[j W + c] for column c, of one that is shared at [j]."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

from gyrostat.engine.drivers.kernel_code import WHOLE
from gyrostat.engine.llvm.compile import Loaded, key_of, load
from gyrostat.engine.llvm.emit import Emitted, emit
from gyrostat.engine.llvm.plan import PART
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.program import Program


class SharedKernelCode:
    """Of a program, for the ``lanes`` columns of a register; ``shared``: names of inputs that all columns share."""

    def __init__(self, program: Program, shared: Iterable[str]):
        self.program, self.lanes = program, host().lanes
        names = [slot.name for slot in program.inputs]
        self.shared = frozenset(names.index(name) for name in shared)

    @cached_property
    def _part(self) -> int:
        return WHOLE if len(self.program.nodes) <= WHOLE else PART

    @cached_property
    def _emitted(self) -> Emitted:
        options = {"shared": self.shared, "part": self._part, "constants": True}
        return emit(self.program, self.lanes, host().fma, **options)

    @cached_property
    def work(self) -> int:
        """Doubles of work space."""
        return max(1, self._emitted.work * self.lanes)

    @cached_property
    def code(self) -> Loaded:
        """The machine code."""
        parts = "shared entry", str(self.lanes), str(sorted(self.shared)), str(self._part)
        return load(key_of(self.program.digest, *parts), self._text)

    @cached_property
    def common(self) -> int:
        """Address of what is computed once."""
        return self.code.address("entry_common")

    @cached_property
    def columns(self) -> int:
        """Address of what is computed for W columns."""
        return self.code.address("entry_lanes")

    def _text(self) -> str:
        count = len(self.program.inputs) + len(self.program.outputs) + 1
        names = ", ".join(f"ptr %a{k}" for k in range(count))
        vt = f"<{self.lanes} x double>"
        lines = [
            f"declare double @llvm.vector.reduce.fadd.v{self.lanes}f64(double, {vt})",
            f"define double @entry_common({names}) {{",
            f"  %r = call double @common({names})",
            "  ret double %r\n}",
            f"define double @entry_lanes({names}) {{",
            f"  %r = call {vt} @lanes({names})",
            f"  %s = call double @llvm.vector.reduce.fadd.v{self.lanes}f64(double 0.0, {vt} %r)",
            "  ret double %s\n}",
        ]
        return "\n".join([self._emitted.text, *lines])
