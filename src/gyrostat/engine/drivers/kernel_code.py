"""The plain address of a program's machine code, for drivers: ``double entry(in..., out..., work)``."""

from __future__ import annotations

from functools import cached_property

from gyrostat.engine.llvm.compile import LOADING, Loaded, key_of, load
from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.llvm.emit import Emitted, emit
from gyrostat.engine.llvm.plan import PART
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.program import Program

WHOLE = 4000
"""Operations up to which a program stays in one piece: 7 to 10 % faster for forward dynamics (measured, Panda)."""


class KernelCode:
    """Machine code of a program for W lanes, which returns zero in lanes where all results and guards are finite."""

    def __init__(self, program: Program, lanes: int = 1):
        self.program, self.lanes = program, lanes
        self._code: Loaded | None = None

    @cached_property
    def _part(self) -> int:
        return WHOLE if len(self.program.nodes) <= WHOLE else PART

    @cached_property
    def _emitted(self) -> Emitted:
        pack = host().lanes if self.lanes == 1 else 1
        return emit(self.program, self.lanes, host().fma, pack, part=self._part)

    @cached_property
    def work(self) -> int:
        """Doubles of work space."""
        return max(1, self._emitted.work * self.lanes)

    @property
    def code(self) -> Loaded:
        """The machine code: made once, whoever asks first."""
        with LOADING:
            if self._code is None:
                key = key_of(self.program.digest, "entry", str(self.lanes), str(self._part))
                self._code = load(key, self._text)
            return self._code

    @cached_property
    def address(self) -> int:
        """Of the entry."""
        return self.code.address("entry")

    def _text(self) -> str:
        w = Writer(self.lanes, host().fma)
        count = len(self.program.inputs) + len(self.program.outputs) + 1
        names = [f"ptr %a{k}" for k in range(count)]
        fixed = [(k, *x) for k in range(len(self.program.outputs)) for x in self.program.fixed(k).items()]
        left = fixed if self.lanes > 1 else []  # a kernel of several lanes leaves constants to its caller
        how = "call" if left else "musttail call"  # arguments that stay where they are need not be copied
        result = w.put(f"{how} {w.vt} @kernel({', '.join(names)})")
        for output, element, value in left:
            base = f"%a{len(self.program.inputs) + output}"
            place = w.put(f"getelementptr inbounds {w.vt}, ptr {base}, i64 {element}")
            w.lines.append(f"  store {w.vt} {w.number(value)}, ptr {place}, align 8")
        body = "\n".join(w.lines)
        entry = f"define {w.vt} @entry({', '.join(names)}) {{\nentry:\n{body}\n  ret {w.vt} {result}\n}}"
        return f"{self._emitted.text}\n{entry}"
