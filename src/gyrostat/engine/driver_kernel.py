"""A kernel whose loop over states is a driver: it is called with arrays, and installed, as any other kernel.

The driver is ``loop(run: words, rows: words, memory: ptr, count: int) -> int``. ``rows`` holds (address, bytes from row
to row) of each input, then of each output; ``run`` are words that the driver was given once, ``memory`` is its own for
this call, at a cache line. It returns the first state with a result that is not finite, or -1."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.cpython.builtin_text import builtin_text
from gyrostat.engine.cpython.object_text import ObjectText
from gyrostat.engine.drivers.translate import translated
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.llvm.batch import LINE
from gyrostat.engine.llvm.compile import Loaded, key_of, load
from gyrostat.engine.tracing.program import Program, Slot


class DriverKernel(Kernel):
    """``driver``: the loop; ``run``: its words; ``memory``: how many doubles it needs for a call. ``kept``: whatever
    the words point to."""

    def __init__(
        self,
        name: str,
        inputs: Sequence[Slot],
        outputs: Sequence[Slot],
        driver: Callable[..., int],
        run: Sequence[int],
        memory: int,
        kept: Any,
    ):
        super().__init__(Program(name, tuple(inputs), tuple(outputs), (), (), ()), name)
        self.driver, self.run = driver, np.array(run, dtype=np.int64)
        self.memory, self.kept = memory, kept

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError(f"{self.who}: a kernel of a driver holds addresses and has no copies")

    @cached_property
    def _scratch_size(self) -> int:
        return self.memory + LINE // 8

    @cached_property
    def batch_code(self) -> Loaded:
        """The driver with its words; loaded anew for each kernel."""

        source = f"{translated(self.driver)}\n{ENTRY.replace('LOOP', self.driver.__name__)}"
        code = load(key_of("driver kernel", source), lambda: source, self._cache, optimised=True)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(code.address("tell"))(self.run.ctypes.data)
        return self._codes.setdefault("states", code)

    def single_code(self, visible: int) -> Loaded:
        """Code of a builtin: one state goes through the loop, too."""
        self._loop  # noqa: B018  # the builtin finds it in its table

        def text() -> str:
            return f"{_one_state(self.program)}\n{builtin_text(self.program, visible, self._scratch_size)}"

        parts = self.program.digest, "driver kernel, one state", str(visible), str(self._scratch_size)
        return self._codes.setdefault("one state", load(key_of(*parts), text, self._cache))


ENTRY = f"""@told = internal global ptr null
define void @tell(ptr %run) {{
  store ptr %run, ptr @told
  ret void
}}
define i64 @batch(ptr %rows, ptr %memory, i64 %count) {{
  %at = ptrtoint ptr %memory to i64
  %beyond = add i64 %at, {LINE - 1}
  %line = and i64 %beyond, {-LINE}
  %space = inttoptr i64 %line to ptr
  %run = load ptr, ptr @told
  %bad = call i64 @LOOP(ptr %run, ptr %rows, ptr %space, i64 %count)
  ret i64 %bad
}}"""


def _one_state(program: Program) -> str:
    """``double @kernel(in..., out..., work)``: the loop for one row; NaN if that is not finite."""
    w = ObjectText()
    count = len(program.inputs) + len(program.outputs)
    rows = w.put(f"alloca i64, i64 {2 * count}, align 16")
    for k in range(count):
        w.say(f"  store ptr %a{k}, ptr {w.put(f'getelementptr i64, ptr {rows}, i64 {2 * k}')}, align 8")
        w.say(f"  store i64 0, ptr {w.put(f'getelementptr i64, ptr {rows}, i64 {2 * k + 1}')}, align 8")
    bad = w.put(f"call i64 {w.table('batch', 'ptr')}(ptr {rows}, ptr %work, i64 1)")
    fine = w.put(f"icmp slt i64 {bad}, 0")
    w.say(f"  ret double {w.put(f'select i1 {fine}, double 0.0, double 0x7FF8000000000000')}")
    arguments = ", ".join(f"ptr %a{k}" for k in range(count))
    return w.define(f"internal double @kernel({arguments}, ptr %work)")
