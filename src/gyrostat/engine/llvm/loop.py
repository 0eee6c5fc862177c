"""A recurrence in machine code: one program, step after step, where results of a step are inputs of the next.

``i64 @loop(table, work, count)``: the table holds (address, bytes from step to step) of each input, then of each
output. What a step passes on is an output whose rows lie one row further in the array that the input reads. Returns
the number of the first step with a result or guard that is not finite, or -1."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.llvm.compile import Loaded, key_of, load
from gyrostat.engine.llvm.elementary import Writer
from gyrostat.engine.llvm.emit import Emitted, emit
from gyrostat.engine.llvm.object_cache import ObjectCache
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.program import Program
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


@dataclass(frozen=True)
class Arrays:
    """Memory of a recurrence, checked once: all inputs and results, with their place in the table of the machine code.

    ``results``: (steps, ...) of each step, (steps + 1, ...) with the start in front for what is carried."""

    steps: int
    layout: str  # of the loop that they are for
    results: Mapping[str, Array]
    inputs: tuple[Array, ...]  # keeps them alive
    rows: tuple[tuple[int, int], ...]  # address, bytes from step to step


class Loop:
    """A compiled recurrence. ``carried`` maps outputs to the inputs that they are in the next step."""

    def __init__(self, program: Program, carried: Mapping[str, str], cache: ObjectCache | None = None):
        self.program, self.carried, self._cache = program, dict(carried), cache
        outputs, inputs = ({slot.name: slot.shape for slot in slots} for slots in (program.outputs, program.inputs))
        for output, given in carried.items():
            if output not in outputs or given not in inputs:
                raise ShapeError(f"loop: there is no output '{output}' or no input '{given}' in '{program.name}'")
            if outputs[output] != inputs[given]:
                raise ShapeError(f"loop: '{output}' and '{given}' differ in shape: they cannot be one after the other")
        if len(set(carried.values())) < len(carried):
            raise ShapeError("loop: two outputs cannot be the same input of the next step")

    @cached_property
    def layout(self) -> str:
        """What its memory looks like: names and shapes of inputs and outputs, and what is carried."""
        return repr((self.program.inputs, self.program.outputs, self.carried))

    @cached_property
    def _emitted(self) -> Emitted:
        return emit(self.program, 1, host().fma, host().lanes)

    @cached_property
    def code(self) -> Loaded:
        """The machine code."""

        def text() -> str:
            return self._emitted.text + "\n" + loop_text(self.program)

        return load(key_of(self.program.digest, "loop"), text, self._cache)

    @cached_property
    def _function(self) -> Any:
        kind = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)
        return kind(self.code.address("loop"))

    def run(
        self, stepped: Mapping[str, Any], carried: Mapping[str, Any], fixed: Mapping[str, Any]
    ) -> tuple[int, Mapping[str, Array]]:
        """The number of the first step that is not finite, or -1, and the results, see :class:`Arrays`.

        ``stepped``: inputs (steps, ...) with a row for each step; ``carried``: start of each carried input; ``fixed``:
        inputs that stay the same."""
        arrays = self.arrays(stepped, carried, fixed)
        return self.advance(arrays, 0, arrays.steps), arrays.results

    def arrays(
        self, stepped: Mapping[str, Any], carried: Mapping[str, Any], fixed: Mapping[str, Any], spare: int = 0
    ) -> Arrays:
        """Memory for all steps, everything checked; results are zero. ``spare``: rows behind what is carried.

        Results lie in one block: a fresh page costs up to 10 us on a busy machine, and memory that is given back and
        taken again whole needs none (14,000 steps of five results of seven numbers: 5 ms instead of 11)."""
        lengths = {np.shape(x)[0] if np.ndim(x) else -1 for x in stepped.values()} or {0}
        if len(lengths) > 1 or -1 in lengths:
            told = ", ".join(f"'{name}' {np.shape(x)}" for name, x in stepped.items())
            raise ShapeError(f"loop: every stepped input needs one row for each step, got {told}")
        (steps,) = lengths
        known = {slot.name for slot in self.program.inputs}
        unknown = [name for name in (*stepped, *carried, *fixed) if name not in known]
        if unknown:
            raise ShapeError(f"loop: there is no input '{unknown[0]}' in '{self.program.name}'")
        rows_of = {s.name: steps + (1 + spare if s.name in self.carried else 0) for s in self.program.outputs}
        block = np.zeros(sum(rows_of[slot.name] * slot.size for slot in self.program.outputs))
        results, at = {}, 0
        for slot in self.program.outputs:
            shape = (rows_of[slot.name], *slot.shape)
            results[slot.name] = block[at : at + shape[0] * slot.size].reshape(shape)
            at += shape[0] * slot.size
        back = {given: output for output, given in self.carried.items()}
        inputs: list[Array] = []
        rows: list[tuple[int, int]] = []
        for slot in self.program.inputs:
            moves = slot.name in back or slot.name in stepped
            if slot.name in back:
                array = results[back[slot.name]]
                array[0] = checked(carried, slot.name, slot.shape)
            else:
                array = checked(stepped if moves else fixed, slot.name, (steps, *slot.shape) if moves else slot.shape)
            inputs.append(array)
            rows.append((array.ctypes.data, 8 * slot.size if moves else 0))
        for slot in self.program.outputs:
            row = 8 * slot.size
            rows.append((results[slot.name].ctypes.data + (row if slot.name in self.carried else 0), row))
        return Arrays(steps, self.layout, results, tuple(inputs), tuple(rows))

    def advance(self, arrays: Arrays, start: int, count: int) -> int:
        """Run ``count`` steps from the step ``start`` on, whose carried inputs are there. The number of the first one
        that is not finite, or -1."""
        if arrays.layout != self.layout:
            raise ShapeError("loop: these arrays belong to another loop")
        if not 0 <= start <= start + count <= arrays.steps:
            raise ShapeError(f"loop: steps {start} to {start + count} are not among 0 to {arrays.steps}")
        words = [x for address, row in arrays.rows for x in (address + start * row, row)]
        table = (ctypes.c_int64 * len(words))(*words)
        work = (ctypes.c_double * max(1, self._emitted.work))()
        bad = int(self._function(ctypes.addressof(table), ctypes.addressof(work), count))
        return bad if bad < 0 else start + bad


def checked(given: Mapping[str, Any], name: str, shape: tuple[int, ...]) -> Array:
    """A contiguous array of doubles of this shape."""
    if name not in given:
        raise ShapeError(f"loop: '{name}' is not given, expected an array {shape}")
    array = np.asarray(given[name])
    if array.shape != shape or array.dtype.kind not in "fiub":
        raise ShapeError(f"loop: '{name}' has shape {array.shape} of {array.dtype}, expected {shape} of numbers")
    return np.require(array, np.float64, ["C", "A"])
