"""A program that can be called with NumPy arrays: one state or any batch, safely.

All results of :meth:`Kernel.call` come from the W-lane code, whatever the number of states; the builtin for one state
runs the one-lane code. Both do the same operations in the same order, so that a state gives the same bits alone,
anywhere in a batch, and on any number of threads."""

from __future__ import annotations

import ctypes
import math
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.arguments import (
    as_input,
    as_rows,
    check_nonfinite,
    check_out,
    check_threads,
    copy_out,
    refuse_overlap,
)
from gyrostat.engine.cpython.builtin import Entry, make_builtin
from gyrostat.engine.cpython.builtin_text import builtin_text
from gyrostat.engine.cpython.fresh_text import LARGEST_SPARE
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.llvm.batch import batch_text, scratch_doubles
from gyrostat.engine.llvm.compile import Loaded, key_of, load
from gyrostat.engine.llvm.emit import Emitted, emit
from gyrostat.engine.llvm.object_cache import ObjectCache
from gyrostat.engine.llvm.target import host
from gyrostat.engine.llvm.threads import in_threads, shares
from gyrostat.engine.tracing.program import Program
from gyrostat.errors import NonFiniteError, ShapeError

Array = np.ndarray
WORTHWHILE = 2**16
"""Bytes from which on a result is kept to be returned again."""


class Kernel:
    """A compiled program. Code for batches and for single calls is made when it is first needed."""

    def __init__(self, program: Program, who: str = "kernel", cache: ObjectCache | None = None):
        self.program, self.who = program, who
        self._cache = cache
        self._codes: dict[str, Loaded] = {}
        self._entries: list[weakref.ref[Entry]] = []
        self._spares: dict[str, list[Array]] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Kernel, (self.program, self.who)  # copies make code of their own

    # ------------------------------------------------------------------ code
    @cached_property
    def _wide(self) -> Emitted:
        return emit(self.program, host().lanes, host().fma)

    @cached_property
    def _narrow(self) -> Emitted:
        return emit(self.program, 1, host().fma, host().lanes)

    @cached_property
    def batch_code(self) -> Loaded:
        """Code of the loop over batches."""
        lanes, fma = host().lanes, host().fma

        def text() -> str:
            return self._wide.text + "\n" + batch_text(self.program, self._wide.work, lanes, fma, self._wide.parts)

        code = load(key_of(self.program.digest, "batch", str(lanes)), text, self._cache)
        return self._codes.setdefault("batches", code)

    def single_code(self, visible: int) -> Loaded:
        """Code of a builtin for one state, loaded anew each time: it holds the table of that builtin."""

        def text() -> str:
            return self._narrow.text + "\n" + builtin_text(self.program, visible, self._narrow.work)

        code = load(key_of(self.program.digest, "single", str(visible)), text, self._cache)
        self._codes["one state"] = code
        return code

    def codes(self) -> dict[str, Loaded]:
        """Code that was made so far."""
        return dict(self._codes)

    @cached_property
    def _scratch_size(self) -> int:
        return scratch_doubles(self.program, self._wide.work, host().lanes, self._wide.parts)

    @cached_property
    def _loop(self) -> Callable[[int, int, int], int]:
        for known in self._entries:
            self._serve_batches(known())
        self._entries.clear()
        return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(
            self.batch_code.address("batch")
        )

    def _serve_batches(self, entry: Entry | None) -> None:
        if entry is not None:
            entry.serve_batches(self.batch_code, 8 * self._scratch_size)

    def builtin(
        self,
        slow: Callable[..., Any],
        hidden: Sequence[Array],
        name: str,
        doc: str,
        result: type[tuple[Any, ...]] | None = None,
    ) -> Callable[..., Any]:
        """A function of the visible inputs for one state, and for batches from the first one on; ``hidden`` are the
        arrays of the last inputs, read at every call. ``result`` is the class of several outputs, a named tuple. Where
        no builtin can be made (:func:`~gyrostat.engine.cpython.layout.available`), it is ``slow`` itself."""
        if available():
            return slow
        visible = max(0, len(self.program.inputs) - len(hidden))
        entry = Entry(self.program, self.single_code(visible), slow, hidden, result)
        if "_loop" in self.__dict__:
            self._serve_batches(entry)
        else:
            self._entries.append(weakref.ref(entry))
        return make_builtin(entry, name, doc)

    # ------------------------------------------------------------------ calls
    def call(
        self,
        *inputs: Any,
        out: Mapping[str, Any] | None = None,
        threads: int = 1,
        nonfinite: str = "raise",
        explain: Callable[[], None] | None = None,
    ) -> dict[str, Array]:
        """Outputs by name, with the broadcast leading shape of the inputs.

        ``out`` maps outputs to arrays to write into. ``nonfinite``: ``"raise"`` or ``"return"``. ``explain`` is
        called when a result or guard is not finite, whatever ``nonfinite`` says, to raise something more telling than
        a :class:`NonFiniteError`."""
        check_nonfinite(nonfinite, self.who)
        threads = check_threads(threads, self.who)
        arrays = self._inputs(inputs)
        self._check_names(out or {})
        shape = self._together(arrays)
        count = math.prod(shape)
        rows = [as_rows(x, slot, shape, count) for x, slot in zip(arrays, self.program.inputs, strict=True)]
        results, computed = self._targets(out or {}, shape, rows)
        targets = [as_rows(x, slot, shape, count) for x, slot in zip(computed, self.program.outputs, strict=True)]
        bad = self._run([*rows, *targets], count, threads)
        if bad >= 0:
            if explain is not None:
                explain()
            if nonfinite == "raise":
                raise self._not_finite(arrays, computed, shape, self._first_bad([*rows, *targets], bad, count))
        self._hand_over(results, computed, out or {})
        return results

    def _inputs(self, inputs: Sequence[Any]) -> list[Array]:
        """The inputs as float64 arrays whose trailing shapes are right."""
        slots = self.program.inputs
        if len(inputs) != len(slots):
            names = ", ".join(s.name for s in slots)
            raise ShapeError(f"{self.who}: got {len(inputs)} arrays, expected {len(slots)}: {names}")
        return [as_input(x, slot, self.who) for x, slot in zip(inputs, slots, strict=True)]

    def _check_names(self, out: Mapping[str, Any]) -> None:
        """Every array to write into is one of an output, and apart from the others."""
        refuse_overlap([x for x in out.values() if isinstance(x, np.ndarray)], self.who)
        unknown = sorted(set(out) - {s.name for s in self.program.outputs})
        if unknown:
            raise ShapeError(f"{self.who}: there is no output '{unknown[0]}' to write into out")

    def _hand_over(self, results: Mapping[str, Array], computed: Sequence[Array], out: Mapping[str, Any]) -> None:
        """Results where they were asked for; large ones of our own are kept, to be returned again."""
        for (name, array), source in zip(results.items(), computed, strict=True):
            if source is not array:
                copy_out(source, array, self.who)
            if name not in out and WORTHWHILE <= array.nbytes <= LARGEST_SPARE:
                self._spares[name] = [array]

    def _fresh(self, name: str, shape: tuple[int, ...]) -> Array:
        """An array for a result: the last one, if nobody has it any more; fresh memory costs more than writing it."""
        try:
            spare = self._spares[name].pop()  # nobody else can take it now
        except (KeyError, IndexError):
            return np.empty(shape)
        mine = sys.getrefcount(spare) == 2 and weakref.getweakrefcount(spare) == 0
        kept = (
            mine and spare.shape == shape and spare.dtype == np.float64 and spare.flags.carray and spare.flags.owndata
        )
        return spare if kept else np.empty(shape)

    def _together(self, arrays: Sequence[Array]) -> tuple[int, ...]:
        lead = [x.shape[: x.ndim - len(s.shape)] for x, s in zip(arrays, self.program.inputs, strict=True)]
        if lead and all(shape == lead[0] for shape in lead):
            return lead[0]
        try:
            return np.broadcast_shapes(*lead) if lead else ()
        except ValueError:
            told = ", ".join(f"{s.name} {d}" for s, d in zip(self.program.inputs, lead, strict=True))
            raise ShapeError(f"{self.who}: leading shapes do not go together: {told}") from None

    def _targets(
        self, out: Mapping[str, Any], shape: tuple[int, ...], inputs: Sequence[Array]
    ) -> tuple[dict[str, Array], list[Array]]:
        """Arrays to return, and arrays to compute into: the same, unless a given one overlaps an input or has odd
        strides."""
        results: dict[str, Array] = {}
        computed: list[Array] = []
        for slot in self.program.outputs:
            want = (*shape, *slot.shape)
            given = out.get(slot.name)
            if given is None:
                array = self._fresh(slot.name, want)
                results[slot.name] = array
                computed.append(array)
                continue
            check_out(given, want, self.who)
            results[slot.name] = given
            plain = type(given) is np.ndarray and given.flags.c_contiguous and given.flags.aligned
            shared = any(np.may_share_memory(given, x) for x in [*inputs, *computed])
            computed.append(given if plain and not shared else np.empty(want))
        return results, computed

    def _run(self, rows: Sequence[Array], count: int, threads: int) -> int:
        """First state of a block with a result that is not finite, or -1."""
        lanes, loop, size = host().lanes, self._loop, self._scratch_size
        places = [(x.__array_interface__["data"][0], x.strides[0]) for x in rows]

        def work(pieces: Iterable[tuple[int, int]]) -> int:
            table, scratch = (ctypes.c_int64 * (2 * len(rows)))(), (ctypes.c_double * size)()
            worst = -1
            for start, stop in pieces:
                table[:] = [word for at, stride in places for word in (at + start * stride, stride)]
                bad = loop(ctypes.addressof(table), ctypes.addressof(scratch), stop - start)
                worst = bad + start if bad >= 0 and (worst < 0 or bad + start < worst) else worst
            return worst

        if count == 0:
            return -1
        threads = min(threads, -(-count // lanes))
        if threads == 1:
            return work([(0, count)])
        bad = in_threads(work, shares(count, lanes, threads), threads)
        return min((first for first in bad if first >= 0), default=-1)

    def _first_bad(self, rows: Sequence[Array], start: int, count: int) -> int:
        """Which state of the block from ``start`` on it is."""
        stop = min(start + host().lanes, count)
        return next((k for k in range(start, stop) if self._run([x[k : k + 1] for x in rows], 1, 1) >= 0), start)

    def _not_finite(
        self, arrays: Sequence[Array], results: Sequence[Array], shape: tuple[int, ...], k: int
    ) -> NonFiniteError:
        """What is wrong in state number k, and which of its inputs is to blame."""
        where = tuple(int(i) for i in np.unravel_index(k, shape)) if shape else ()
        odd = [
            slot.name for slot, x in zip(self.program.outputs, results, strict=True) if not np.isfinite(x[where]).all()
        ]
        what = f"'{odd[0]}'" if odd else "a guard"
        state = f" in state {where}" if where else ""
        for slot, x in zip(self.program.inputs, arrays, strict=True):
            value = np.broadcast_to(x, shape + slot.shape)[where]
            places = np.argwhere(~np.isfinite(value))
            if len(places):
                at = tuple(int(i) for i in places[0])
                return NonFiniteError(
                    f"{self.who}: {slot.name}{list(at)}{state} is {value[at]}, so that {what} is not finite"
                )
        return NonFiniteError(
            f"{self.who}: {what}{state} is not finite although all inputs are. Hint: the numbers are too large, or the "
            "state is singular; "
            "nonfinite='return' lets it through"
        )
