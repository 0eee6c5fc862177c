"""The derivatives of contact dynamics of large robots: what all columns share in one program, the columns in lanes of
another. All in one straight line Talos on two feet would be 270,000 operations."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from sys import getrefcount
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.redundant_forces import Cholesky, ContactFactors
from gyrostat.algorithms.matrices.ltdl import Factors
from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.drivers.shared_kernel_code import SharedKernelCode
from gyrostat.engine.llvm.target import host
from gyrostat.engine.llvm.threads import in_threads, shares
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record
from gyrostat.solvers.dynamics import column_blocks as at
from gyrostat.solvers.dynamics.column_terms import ColumnTerms, Packed, read

Array = np.ndarray
GROUPS = 3
"""By q, by v, by tau."""
MINE = 3
"""References to an array that nobody else has: where it is kept, here, and the question's."""
SPARES = 3
"""Results of one state that may be returned again."""


class _Kept:
    """An array with its address, and the result that was made of its parts."""

    __slots__ = ("_count", "address", "array", "result")

    def __init__(self, array: Array, made: Callable[[Array], tuple[Array, ...]]):
        self.array, self.address, self.result = array, array.ctypes.data, made(array)
        self._count = 2 + len(self.result)  # here, the question's, and the parts'

    def free(self) -> bool:
        """Whether nobody else has the result, a part of it, or a part of these."""
        if getrefcount(self.result) != 2 or getrefcount(self.array) != self._count:
            return False
        return all(getrefcount(part) == 3 for part in self.result)  # the result's, the loop's and the question's


class ContactColumns:
    """Programs and their code; ``terms(q, v, tau)`` gives the terms and the guards of a state."""

    shape: ColumnTerms
    """As they were recorded: which of them are there."""
    size: int
    """Numbers of one right-hand side."""

    def __init__(self, nq: int, nv: int, terms: Callable[..., tuple[ColumnTerms, Sequence[Any]]], name: str):
        self.nq, self.nv = nq, nv
        self._local = threading.local()
        self.places: dict[str, Any] = {}
        self.first = KernelCode(self._first(terms, name))
        self.columns = SharedKernelCode(self._second(name), ["shared"])
        self.low = 6 * len(self.shape.Q)
        self.form = GROUPS, nv + self.low, nv
        self.sizes = (nq,), (nv,), (nv,)

    @property
    def width(self) -> int:
        return host().lanes

    @property
    def blocks(self) -> int:
        """Of one matrix."""
        return -(-self.nv // self.width)

    # ------------------------------------------------------------------ programs
    def _first(self, terms: Callable[..., tuple[ColumnTerms, Sequence[Any]]], name: str) -> Program:
        def function(q: Array, v: Array, tau: Array) -> Mapping[str, Any]:
            t, guards = terms(q, v, tau)
            packed = Packed()
            put = packed.put
            self.shape = t
            D = {k: 1.0 / x for k, x in t.mass.inverse.items()}
            outer, inner = t.contact.outer, t.contact.inner
            self.places = {"L": put(t.mass.L), "D": put(D), "U": put(t.U), "Q": [put(Q) for Q in t.Q]}
            if t.Lambda is None:
                self.places["factors"] = [(put(part.L), put(part.inverse)) for part in (outer, inner)]
            else:
                self.places["Lambda"] = put(t.Lambda)
            none = np.zeros((0, self.nv))
            more = [x for x in (t.swept, t.turned) if x is not None]
            by_q = np.concatenate([-t.forces[0], t.accelerations[0], *more])
            by_v = np.concatenate([-t.forces[1], t.accelerations[1], *(np.zeros(x.shape) for x in more), none])
            by_tau = np.concatenate([np.eye(self.nv), np.zeros((len(by_q) - self.nv, self.nv))])
            self.size = len(by_q)
            right = np.stack([self._blocked(x) for x in (by_q, by_v, by_tau)])
            return {"shared": np.array(packed.values), "right": right, "guard": guards}

        with np.errstate(all="ignore"):
            return record(function, {"q": (self.nq,), "v": (self.nv,), "tau": (self.nv,)}, f"{name}_shared")

    def _blocked(self, x: Array) -> Array:
        """(size, nv) as (blocks, size, W)."""
        full = np.concatenate([x, np.zeros((len(x), self.blocks * self.width - self.nv))], axis=1)
        return full.reshape(len(x), self.blocks, self.width).transpose(1, 0, 2)

    def _second(self, name: str) -> Program:
        t, places = self.shape, self.places

        def function(shared: Array, right: Array) -> Mapping[str, Any]:
            D = read(places["D"], shared)
            mass = Factors(t.mass.inboard, read(places["L"], shared), {k: 1.0 / x for k, x in D.items()})
            here = replace(t, mass=mass, U=read(places["U"], shared))
            if t.Lambda is None:
                parts = [Cholesky(read(L, shared), read(inverse, shared)) for L, inverse in places["factors"]]
                here = replace(here, contact=ContactFactors(*parts))
            else:
                here = replace(here, Lambda=read(places["Lambda"], shared))
            a, df, done = here.solve(right)
            selectors = [read(Q, shared) for Q in places["Q"]]
            wrenches = np.concatenate([Q.T @ df[rows] for Q, rows in zip(selectors, t.rows, strict=True)])
            return {"a": a, "forces": wrenches if t.turned is None else wrenches + right[done:]}

        with np.errstate(all="ignore"):
            shapes = {"shared": self.first.program.outputs[0].shape, "right": (self.size,)}
            return record(function, shapes, f"{name}_columns")

    # ------------------------------------------------------------------ calls
    def _memory(self) -> tuple[Any, ...]:
        """Words of a run, what they point to, and the loop; one set for each thread."""
        kept = getattr(self._local, "kept", None)
        if kept is not None:
            return kept
        W = self.width
        sizes = {
            at.SHARED: self.first.program.outputs[0].size, at.RIGHT: GROUPS * self.blocks * self.size * W,
            at.WORK: self.columns.work, at.FIRST_WORK: self.first.work, at.TOP: self.nv * W, at.LOW: self.low * W,
        }  # fmt: skip
        run = np.zeros(32, dtype=np.int64)
        arrays = {k: np.zeros(size + W) for k, size in sizes.items()}
        for k, x in arrays.items():
            run[k] = x.ctypes.data + (-x.ctypes.data) % (8 * W)
        numbers = {
            at.NQ: self.nq, at.NV: self.nv, at.WIDTH: W, at.BLOCKS: self.blocks, at.GROUPS: GROUPS,
            at.SIZE: self.size, at.TOP_SIZE: self.nv, at.LOW_SIZE: self.low, at.FIRST: self.first.address,
            at.COMMON: self.columns.common, at.COLUMNS: self.columns.columns,
        }  # fmt: skip
        for k, x in numbers.items():
            run[k] = x
        state = np.zeros(self.nq), np.zeros(self.nv), np.zeros(self.nv)
        call = driver(at.column_blocks).call
        self._local.kept = run, arrays, call, run.ctypes.data, state, _addresses(state), list[_Kept]()
        return self._local.kept

    def one(self, q: Array, v: Array, tau: Array, made: Callable[[Array], tuple[Array, ...]]) -> Any:
        """``made`` of (3, nv + 6 contacts, nv) of one state; None if that is not finite. Results that were returned
        earlier, and that nobody refers to any more, are returned again."""
        _, _, call, run, (x, y, z), (at_x, at_y, at_z), spare = self._memory()
        x[:], y[:], z[:] = q, v, tau
        for kept in spare:
            if kept.free():
                break
        else:
            kept = _Kept(np.empty(self.form), made)
            spare.insert(0, kept)
            del spare[SPARES:]
        return None if call(run, 1, at_x, at_y, at_z, kept.address) else kept.result

    def many(self, q: Array, v: Array, tau: Array, threads: int) -> tuple[Array, bool]:
        """(states, 3, nv + 6 contacts, nv) for contiguous arrays of one row a state, and whether all are finite."""
        found = getattr(self._local, "many", None)
        if found is None or len(found) != len(q) or getrefcount(found) > MINE:
            found = self._local.many = np.empty((len(q), *self.form))

        def work(supply: Iterator[tuple[int, int]]) -> bool:
            _, _, call, run, *_ = self._memory()
            bad = 0
            for start, end in supply:
                bad += call(run, end - start, *_addresses([x[start:end] for x in (q, v, tau, found)]))
            return bad == 0

        pieces = shares(len(q), 1, threads)
        if threads == 1:
            return found, work(iter(pieces))
        return found, all(list(in_threads(work, pieces, threads)))


def _addresses(arrays: Sequence[Array]) -> tuple[int, ...]:
    return tuple(x.ctypes.data for x in arrays)
