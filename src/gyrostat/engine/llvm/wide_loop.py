"""A recurrence in machine code for many robots at once: W of them in the lanes of the registers, threads over the rest.

One program is run again and again; all of its outputs are inputs of the next run (``carried``). A step consists of one
or more runs, its *phases*, each with its own row of numbers in the input ``cyclic`` (for example the coefficients of a
Runge-Kutta stage); the input ``counter`` holds the number of the step. Everything else stays as it is, one row for
each robot or one for all. After every so many steps the ``kept`` inputs are written to memory.

A lane whose result or guard is not finite keeps the numbers it had; its robot and step are told. The others do not
notice. All lanes do the same operations in the same order: one robot alone gives the same bits as among thousands, on
any number of threads."""

from __future__ import annotations

import ctypes
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.llvm.compile import Loaded, key_of, load
from gyrostat.engine.llvm.emit import Emitted, emit
from gyrostat.engine.llvm.object_cache import ObjectCache
from gyrostat.engine.llvm.target import host
from gyrostat.engine.llvm.threads import in_threads, shares
from gyrostat.engine.llvm.wide_loop_text import LINE, Layout, wide_loop_text
from gyrostat.engine.tracing.program import Program
from gyrostat.errors import ShapeError

Array = np.ndarray

BUDGET = 400_000_000
"""Operations (of W lanes) in one call of machine code, about 0.2 s: Python listens to Ctrl-C between two of them."""


@dataclass(frozen=True)
class Memory:
    """Arrays of a run. ``kept`` (rows + 1, N, n): the start, then a row after every ``every`` steps; ``fixed`` (N, n)
    or (1, n); ``first_bad`` (N,): the first step that is not finite, or -1."""

    kept: Mapping[str, Array]
    fixed: Mapping[str, Array]
    phases: Array
    every: int
    first_bad: Array


class WideLoop:
    """A compiled recurrence. ``carried``: output -> the input that it is in the next run; ``start``: what each of these
    inputs is at the beginning of a step, a ``kept`` one or None for zeros."""

    def __init__(
        self,
        program: Program,
        carried: Mapping[str, str],
        start: Mapping[str, str | None],
        cyclic: str,
        counter: str,
        cache: ObjectCache | None = None,
    ):
        self.program, self.carried, self.start = program, dict(carried), dict(start)
        self.cyclic, self.counter, self._cache = cyclic, counter, cache
        self.kept = tuple(dict.fromkeys(name for name in start.values() if name is not None))
        shapes = {slot.name: slot.shape for slot in program.inputs}
        for slot in program.outputs:
            if shapes.get(self.carried.get(slot.name, "")) != slot.shape:
                raise ShapeError(f"wide loop: '{slot.name}' is no input of the next run, or has another shape")
        if set(self.carried.values()) != set(start) or len(set(self.carried.values())) < len(program.outputs):
            raise ShapeError("wide loop: every carried input needs one output and one start")
        if shapes.get(counter) != () or len(shapes.get(cyclic, ())) != 1:
            raise ShapeError("wide loop: the counter must be a number, the cyclic input a vector")

    # ------------------------------------------------------------------ code
    @cached_property
    def _codes(self) -> dict[int, tuple[Any, int, Loaded]]:
        return {}

    def _code(self, lanes: int) -> tuple[Any, int]:
        """The function for this many lanes, and its doubles of scratch memory."""
        if lanes not in self._codes:
            emitted: Emitted = emit(self.program, lanes, host().fma, host().lanes if lanes == 1 else 1)
            layout = Layout(self.program, self.carried, self.kept, self.cyclic, self.counter, emitted.work, lanes)

            def text() -> str:
                return emitted.text + "\n" + wide_loop_text(layout, host().fma)

            loaded = load(key_of(self.program.digest, "wide", repr(layout.identity)), text, self._cache)
            kind = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3, *[ctypes.c_int64] * 5)
            self._codes[lanes] = kind(loaded.address("wide")), layout.doubles + LINE // 8, loaded
        function, size, _ = self._codes[lanes]
        return function, size

    # ------------------------------------------------------------------ runs
    def run(self, memory: Memory, threads: int = 1) -> None:
        """All steps of all robots; ``kept[0]`` holds the start."""
        rows, count = self._checked(memory)
        if not rows or not count:
            return
        lanes = 1 if count == 1 else host().lanes
        self._code(lanes)  # before any thread needs it
        threads = min(threads, -(-count // lanes))
        pieces = shares(count, lanes, threads)
        stop: list[bool] = []

        def work(supply: Iterable[tuple[int, int]]) -> None:
            for first, last in supply:
                self._advance(memory, rows, first, last, lanes, stop)

        if threads == 1:
            work(pieces)
            return
        try:
            for _ in in_threads(work, pieces, threads):
                pass
        except BaseException:
            stop.append(True)  # Ctrl-C: the others end after their present call
            raise

    def _checked(self, memory: Memory) -> tuple[int, int]:
        """Rows to be written, and robots; whatever machine code reads or writes is there."""
        sizes = {slot.name: slot.size for slot in self.program.inputs}
        shapes = {memory.kept[name].shape[:2] for name in self.kept}
        if len(shapes) != 1 or memory.every < 1:
            raise ShapeError("wide loop: kept arrays differ in their rows or robots, or no steps lie between the rows")
        ((rows, count),) = shapes
        others = [n for n in sizes if n not in (*self.start, self.cyclic, self.counter)]
        right = {name: [(rows, count, sizes[name])] for name in self.kept}
        right |= {name: [(count, sizes[name]), (1, sizes[name])] for name in others}
        for name, shape in right.items():
            x = memory.kept[name] if name in self.kept else memory.fixed[name]
            if x.shape not in shape or x.dtype != np.float64 or not x.flags.c_contiguous or not x.flags.aligned:
                raise ShapeError(
                    f"wide loop: '{name}' has shape {x.shape} of {x.dtype}, expected {shape[0]} of float64"
                )
        if memory.phases.ndim != 2 or memory.phases.shape[1] != sizes[self.cyclic] or not len(memory.phases):
            raise ShapeError(f"wide loop: phases {memory.phases.shape} are not (phases, {sizes[self.cyclic]})")
        if memory.first_bad.shape != (count,) or memory.first_bad.dtype != np.int64:
            raise ShapeError("wide loop: first_bad must be an int64 for each robot")
        return rows - 1, count

    def _advance(self, memory: Memory, rows: int, first: int, last: int, lanes: int, stop: list[bool]) -> None:
        """All steps of the robots from first to last."""
        function, size = self._code(lanes)
        scratch, phases = (ctypes.c_double * size)(), np.ascontiguousarray(memory.phases)
        bad = memory.first_bad.ctypes.data + 8 * first
        cost = -(-(last - first) // lanes) * len(self.program.nodes) * len(phases)
        for source, target, count, every, begin in spans(rows, memory.every, max(1, BUDGET // cost)):
            if stop:
                return
            words = [*self._words(memory, first, source, target), phases.ctypes.data]
            table = (ctypes.c_int64 * len(words))(*words)
            addresses = ctypes.addressof(table), ctypes.addressof(scratch), bad
            function(*addresses, last - first, begin, count, every, len(phases))

    def _words(self, memory: Memory, first: int, source: int, target: int) -> Iterator[int]:
        """The table: (address, bytes to the next robot) of each input but cyclic and counter, where a start of zeros
        has the address 0; then (address, bytes to the next robot, to the next row) of what is kept."""
        for slot in self.program.inputs:
            if slot.name in self.start:
                name = self.start[slot.name]
                yield from (0, 0) if name is None else _place(memory.kept[name][source], first)
            elif slot.name not in (self.cyclic, self.counter):
                yield from _place(memory.fixed[slot.name], first)
        for name in self.kept:
            yield from (*_place(memory.kept[name][target], first), memory.kept[name].strides[0])


def _place(rows: Array, first: int) -> tuple[int, int]:
    """Address of a robot's row, and bytes to the next; 0 where all have the same."""
    stride = rows.strides[0] if len(rows) > 1 else 0
    return rows.ctypes.data + first * stride, stride


def spans(rows: int, every: int, most: int) -> Iterator[tuple[int, int, int, int, int]]:
    """(row to begin from, first row to write, rows, steps between them, first step), of at most ``most`` steps each."""
    done = 0
    while done < rows:
        if every <= most:
            count = min(rows - done, most // every)
            yield done, done + 1, count, every, done * every
            done += count
            continue
        for part in range(0, every, most):  # a row in several parts, each from where the one before ended
            yield done + (part > 0), done + 1, 1, min(most, every - part), done * every + part
        done += 1
