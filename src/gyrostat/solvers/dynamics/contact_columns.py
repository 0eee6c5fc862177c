"""The derivatives of contact dynamics of large robots: what all columns share in one program, the columns in lanes of
another. All in one straight line Talos on two feet would be 270,000 operations."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.redundant_forces import Cholesky, ContactFactors
from gyrostat.algorithms.matrices.ltdl import Factors
from gyrostat.engine.driver_kernel import DriverKernel
from gyrostat.engine.drivers.kernel_code import KernelCode
from gyrostat.engine.drivers.shared_kernel_code import SharedKernelCode
from gyrostat.engine.llvm.target import host
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.engine.tracing.record import record
from gyrostat.solvers.dynamics import column_blocks as at
from gyrostat.solvers.dynamics.column_terms import ColumnTerms, Packed, read

Array = np.ndarray
GROUPS = 3
"""By q, by v, by tau."""
LINE = 8
"""Doubles of a cache line."""


class ContactColumns:
    """Programs and their code; ``terms(q, v, tau)`` gives the terms and the guards of a state."""

    shape: ColumnTerms
    """As they were recorded: which of them are there."""
    size: int
    """Numbers of one right-hand side."""

    def __init__(self, nq: int, nv: int, terms: Callable[..., tuple[ColumnTerms, Sequence[Any]]], name: str):
        self.nq, self.nv = nq, nv
        self.places: dict[str, Any] = {}
        self.first = KernelCode(self._first(terms, name))
        self.columns = SharedKernelCode(self._second(name), ["shared"])
        self.low = 6 * len(self.shape.Q)

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
    def kernel(self, who: str, names: Sequence[str], contacts: int) -> DriverKernel:
        """The loop over states and columns, as a function of q, v and tau; ``names`` of the three matrices of
        accelerations (nv, nv), then of the three of wrenches (contacts, 6, nv)."""
        n, W = self.nv, self.width
        sizes = {
            at.SHARED_AT: self.first.program.outputs[0].size, at.RIGHT_AT: GROUPS * self.blocks * self.size * W,
            at.TOP_AT: n * W, at.LOW_AT: self.low * W, at.WORK_AT: self.columns.work, at.FIRST_WORK_AT: self.first.work,
        }  # fmt: skip
        numbers = {
            at.NV: n, at.WIDTH: W, at.BLOCKS: self.blocks, at.GROUPS: GROUPS, at.SIZE: self.size, at.TOP_SIZE: n,
            at.LOW_SIZE: self.low, at.FIRST: self.first.address, at.COMMON: self.columns.common,
            at.COLUMNS: self.columns.columns,
        }  # fmt: skip
        end = 0
        for k, size in sizes.items():
            numbers[k], end = end, end + -(-size // LINE) * LINE
        run = [numbers[k] for k in range(at.WORDS)]
        inputs = [Slot("q", (self.nq,)), Slot("v", (n,)), Slot("tau", (n,))]
        shapes = [(n, n)] * GROUPS + [(contacts, 6, n)] * GROUPS
        outputs = [Slot(name, shape) for name, shape in zip(names, shapes, strict=True)]
        return DriverKernel(who, inputs, outputs, at.column_blocks, run, end, self)
