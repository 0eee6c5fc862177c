"""Recorded functions with their exact first and second derivatives as sparse compiled programs, for batches of points.

    out(z, data) (k,),    J = d out / dz,    H = d^2 (weights . out) / dz^2

Small functions are differentiated as a whole, only entries that are not zero. Large ones take second
derivatives direction by direction, reverse then forward over the recorded program: the code stays six times as long as
the function, however many variables there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.tracing.derivative import jacobian, pullback, pushforward
from gyrostat.engine.tracing.program import Program, Slot, prune
from gyrostat.engine.tracing.record import record
from gyrostat.engine.tracing.sparsity import dependence
from gyrostat.studies.optimal_control.batch_call import LONG, SHORT, batch_call

Array = np.ndarray
Batch = Callable[..., Any]
LARGE = 5_000
"""Operations times variables from which on second derivatives go direction by direction."""


class SmoothFunction:
    """``function(z, **data) -> out``; ``size`` = len(z), ``data``: shapes of further inputs;
    ``whole``: differentiated as a whole, however large."""

    def __init__(self, function: Callable[..., Any], size: int, data: Mapping[str, tuple[int, ...]], name: str,
                 whole: bool = False):  # fmt: skip
        self.size, self.name, self.whole = size, name, whole
        self.program: Program = record(
            lambda **x: {"out": np.asarray(function(**x), dtype=object)}, {"z": (size,), **data}, name
        )
        self.rows = self.program.outputs[0].size

    @cached_property
    def _value(self) -> Batch:
        return batch_call(self.program, self.name)

    def value(self, z: Array, *data: Array) -> Array:
        """out (n, k)."""
        return self._value(z, *data)

    # ------------------------------------------------------------------ first derivatives
    @cached_property
    def _first(self) -> tuple[Batch | None, Array, Array]:
        """Kernel of the entries of J, their rows and columns; for large functions the kernel goes along directions."""
        if self.large:
            i, j = np.nonzero(dependence(self.program, 0, 0))
            return batch_call(pushforward(self.program, ["out"], ["z"]), f"{self.name}_first"), i, j
        J, pattern = jacobian(self.program, "out", "z")
        i, j = np.nonzero(pattern.reshape(self.rows, self.size))
        return self._entries(J, i, j, "first"), i, j

    def _entries(self, program: Program, i: Array, j: Array, name: str) -> Batch | None:
        """Entries i, j of a program with one output (rows, size)."""
        if not len(i):
            return None
        chosen = tuple(program.results[0][k] for k in i * self.size + j)
        entries = replace(program, outputs=(Slot(name, (len(i),)),), results=(chosen,))
        return batch_call(prune(entries), f"{self.name}_{name}", LONG if self.whole else SHORT)

    @property
    def first_pattern(self) -> tuple[Array, Array]:
        """Rows and columns of entries of J."""
        return self._first[1:]

    def first(self, z: Array, *data: Array) -> Array:
        """Entries (n, nnz) of J."""
        kernel, i, j = self._first
        if kernel is None:
            return np.zeros((len(z), 0))
        if not self.large:
            return kernel(z, *data)
        places = np.unique(j)
        along = self._in_directions(kernel, places, z, *data)  # (n, directions, rows)
        return along[:, np.searchsorted(places, j), i]

    def _in_directions(self, kernel: Batch, places: Array, *inputs: Array) -> Array:
        """Results (n, directions, ...) of a kernel whose last input is a direction among variables ``places``."""
        n, k = len(inputs[0]), len(places)
        seeds = np.broadcast_to(np.eye(self.size)[places], (n, k, self.size))
        rest = [np.repeat(x, k, axis=0) for x in inputs]
        found = kernel(*rest, seeds.reshape(n * k, self.size))
        return found.reshape(n, k, *found.shape[1:])

    def jacobian(self, z: Array, *data: Array) -> Array:
        """J (n, k, size)."""
        J = np.zeros((len(z), self.rows, self.size))
        J[:, self._first[1], self._first[2]] = self.first(z, *data)
        return J

    # ------------------------------------------------------------------ second derivatives
    @property
    def second_pattern(self) -> tuple[Array, Array]:
        """Rows and columns of entries of the lower triangle of H, of functions that are not large."""
        return self._second[1:]

    def second(self, z: Array, weights: Array, *data: Array) -> Array:
        """Entries (n, nnz) of H."""
        kernel = self._second[0]
        return np.zeros((len(z), 0)) if kernel is None else kernel(z, *data, weights)

    @cached_property
    def large(self) -> bool:
        """Whether second derivatives go direction by direction."""
        return not self.whole and len(self.program.nodes) * self.size > LARGE

    @cached_property
    def _second(self) -> tuple[Batch | None, Array, Array]:
        gradient = pullback(self.program, ["out"], ["z"])
        H, pattern = jacobian(gradient, "bar_z", "z")
        i, j = np.nonzero(np.tril(pattern.reshape(self.size, self.size)))
        return self._entries(H, i, j, "second"), i, j

    @cached_property
    def _along(self) -> tuple[Batch, Array]:
        """Change of the gradient along a direction, and the variables that appear in second derivatives, by numbers at
        a random point."""
        gradient = pullback(self.program, ["out"], ["z"])
        kernel = batch_call(pushforward(gradient, ["bar_z"], ["z"]), f"{self.name}_second")
        rng = np.random.default_rng(0)
        given = [rng.normal(size=slot.shape) for slot in (*self.program.inputs, self.program.outputs[0])]
        H = kernel(*(np.broadcast_to(x, (self.size, *x.shape)) for x in given), np.eye(self.size))
        return kernel, np.flatnonzero(np.any(H != 0.0, axis=1))

    def hessian(self, z: Array, weights: Array, *data: Array, first: int | None = None) -> Array:
        """H (n, size, size), symmetric; with ``first`` only rows of that many variables are needed, and others may be
        missing."""
        H = np.zeros((len(z), self.size, self.size))
        if self.large:
            kernel, places = self._along
            places = places if first is None else places[places < first]
            if len(places):
                H[:, places] = self._in_directions(kernel, places, z, *data, weights)
            return H
        kernel, i, j = self._second
        if kernel is not None:
            entries = kernel(z, *data, weights)
            H[:, i, j] = entries
            H[:, j, i] = entries
        return H

    @cached_property
    def first_places(self) -> Array:
        """Where J may be non-zero (k, size)."""
        places = np.zeros((self.rows, self.size), dtype=bool)
        places[self._first[1], self._first[2]] = True
        return places
