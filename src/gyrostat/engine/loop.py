"""A recurrence in machine code: one program, step after step, where results of a step are inputs of the next.

``i64 @loop(table, work, count)``: the table holds (address, bytes from step to step) of each input, then of each
output. What a step passes on is an output whose rows lie one row further in the array that the input reads. Returns
the number of the first step with a result or guard that is not finite, or -1."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from functools import cached_property

import numpy as np

from gyrostat.engine.cache import ObjectCache
from gyrostat.engine.compile import Loaded, key_of, load
from gyrostat.engine.elementary import Writer
from gyrostat.engine.emit import Emitted, emit
from gyrostat.engine.program import Program
from gyrostat.engine.target import host
from gyrostat.errors import ShapeError

Array = np.ndarray


def loop_text(program: Program) -> str:
    """LLVM text of the loop around a one-lane kernel."""
    slots = len(program.inputs) + len(program.outputs)
    w = Writer(1, host().fma)
    bases, strides = [], []
    for k in range(slots):
        for words, offset in ((bases, 2 * k), (strides, 2 * k + 1)):
            at = w.put(f"getelementptr i64, ptr %table, i64 {offset}")
            words.append(w.put(f"load {'ptr' if words is bases else 'i64'}, ptr {at}, align 8"))
    w.lines += ["  br label %test", "test:"]
    step = w.put("phi i64 [ 0, %entry ], [ %next, %step ]")
    places = [w.put(f"phi ptr [ {base}, %entry ], [ %next{k}, %step ]") for k, base in enumerate(bases)]
    w.lines += [f"  br i1 {w.put(f'icmp slt i64 {step}, %count')}, label %step, label %done", "step:"]
    acc = w.put(f"call double @kernel({', '.join(f'ptr {p}' for p in [*places, '%work'])})")
    for k, (place, stride) in enumerate(zip(places, strides, strict=True)):
        w.lines.append(f"  %next{k} = getelementptr i8, ptr {place}, i64 {stride}")
    w.lines += [
        f"  %next = add i64 {step}, 1",
        f"  br i1 {w.put(f'fcmp ord double {acc}, {acc}')}, label %test, label %bad",
        "bad:",
        f"  ret i64 {step}",
        "done:",
        "  ret i64 -1",
    ]
    body = "\n".join(w.lines)
    return f"define i64 @loop(ptr %table, ptr %work, i64 %count) {{\nentry:\n{body}\n}}"


class Loop:
    """A compiled recurrence. ``carried`` maps outputs to the inputs that they are in the next step."""

    def __init__(self, program: Program, carried: Mapping[str, str], cache: ObjectCache | None = None):
        self.program, self.carried, self._cache = program, dict(carried), cache
        shapes = {slot.name: slot.shape for slot in (*program.inputs, *program.outputs)}
        for output, given in carried.items():
            if shapes.get(output) != shapes.get(given):
                raise ShapeError(f"loop: '{output}' and '{given}' differ in shape: they cannot be one after the other")

    @cached_property
    def _emitted(self) -> Emitted:
        return emit(self.program, 1, host().fma, host().lanes)

    @cached_property
    def code(self) -> Loaded:
        """The machine code."""

        def text() -> str:
            return self._emitted.text + "\n" + loop_text(self.program)

        return load(key_of(self.program.digest, "loop"), text, self._cache)

    def run(
        self, stepped: Mapping[str, Array], carried: Mapping[str, Array], fixed: Mapping[str, Array]
    ) -> tuple[int, dict[str, Array]]:
        """The number of the first step that is not finite, or -1, and arrays by output: (steps, ...) of each step,
        (steps + 1, ...) with the start in front for what is carried.

        ``stepped``: inputs (steps, ...) with a row for each step; ``carried``: start of each carried input; ``fixed``:
        inputs that stay the same."""
        (steps,) = {len(x) for x in stepped.values()} or {0}
        back = {given: output for output, given in self.carried.items()}
        found: dict[str, Array] = {}
        for slot in self.program.outputs:
            more = slot.name in self.carried
            found[slot.name] = np.zeros((steps + more, *slot.shape))
            if more:
                found[slot.name][0] = carried[self.carried[slot.name]]
        rows: list[tuple[int, int]] = []
        keep: list[Array] = []
        for slot in self.program.inputs:
            if slot.name in back:
                array, stride = found[back[slot.name]], 8 * slot.size
            else:
                given = stepped.get(slot.name, fixed.get(slot.name))
                moves = slot.name in stepped
                want = ((steps,) if moves else ()) + slot.shape
                if given is None or np.shape(given) != want:
                    shape = "nothing" if given is None else str(np.shape(given))
                    raise ShapeError(f"loop: '{slot.name}' has shape {shape}, expected {want}")
                array, stride = np.ascontiguousarray(given, dtype=np.float64), 8 * slot.size if moves else 0
            keep.append(array)
            rows.append((array.ctypes.data, stride))
        for slot in self.program.outputs:
            array, stride = found[slot.name], 8 * slot.size
            rows.append((array.ctypes.data + (stride if slot.name in self.carried else 0), stride))
        table = (ctypes.c_int64 * (2 * len(rows)))(*(word for row in rows for word in row))
        work = (ctypes.c_double * max(1, self._emitted.work))()
        function = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            self.code.address("loop")
        )
        return int(function(ctypes.addressof(table), ctypes.addressof(work), steps)), found
