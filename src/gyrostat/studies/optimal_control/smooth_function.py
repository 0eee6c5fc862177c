"""Recorded functions with their exact first and second derivatives as sparse compiled programs, for batches of points.

    out(z, data) (k,),    J = d out / dz,    H = d^2 (weights . out) / dz^2

Small functions are differentiated as a whole (CasADi's graph, only entries that are not zero). Large ones take second
derivatives direction by direction, reverse then forward over the recorded program: the code stays six times as long as
the function, however many variables there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.casadi_functions import expressions, from_casadi
from gyrostat.engine.tracing.derivative import pullback, pushforward
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.engine.tracing.record import record

Array = np.ndarray
LARGE = 40_000
"""Operations times variables from which on second derivatives go direction by direction."""


class SmoothFunction:
    """``function(z, **data) -> out``; ``size`` = len(z), ``data``: shapes of further inputs."""

    def __init__(self, function: Callable[..., Any], size: int, data: Mapping[str, tuple[int, ...]], name: str):
        self.size, self.name = size, name
        self.program: Program = record(
            lambda **x: {"out": np.asarray(function(**x), dtype=object)}, {"z": (size,), **data}, name
        )
        self.rows = self.program.outputs[0].size

    @cached_property
    def _symbols(self) -> Any:
        return expressions(self.program)

    @cached_property
    def _value(self) -> Kernel:
        return Kernel(self.program, self.name)

    def value(self, z: Array, *data: Array) -> Array:
        """out (n, k)."""
        return called(self._value, z, *data)

    # ------------------------------------------------------------------ first derivatives
    @cached_property
    def _first(self) -> tuple[Kernel | None, Array, Array]:
        import casadi as ca

        symbols, results, guards = self._symbols
        J = ca.jacobian(results[0], symbols[0])
        i, j = (np.array(x, dtype=int) for x in J.sparsity().get_triplet())
        if not len(i):
            return None, i, j
        f = ca.Function("first", symbols, [ca.cse(ca.vertcat(*J.nonzeros())), guards])
        slot = Slot("first", (len(i),))
        program = from_casadi(f, self.program.inputs, [slot], [np.arange(len(i))], f"{self.name}_first")
        return Kernel(program, f"{self.name}_first"), i, j

    @property
    def first_pattern(self) -> tuple[Array, Array]:
        """Rows and columns of entries of J."""
        return self._first[1:]

    def first(self, z: Array, *data: Array) -> Array:
        """Entries (n, nnz) of J."""
        kernel = self._first[0]
        return np.zeros((len(z), 0)) if kernel is None else called(kernel, z, *data)

    def jacobian(self, z: Array, *data: Array) -> Array:
        """J (n, k, size)."""
        J = np.zeros((len(z), self.rows, self.size))
        J[:, self._first[1], self._first[2]] = self.first(z, *data)
        return J

    # ------------------------------------------------------------------ second derivatives
    @cached_property
    def large(self) -> bool:
        """Whether second derivatives go direction by direction."""
        return len(self.program.nodes) * self.size > LARGE

    @cached_property
    def _second(self) -> tuple[Kernel | None, Array, Array]:
        import casadi as ca

        symbols, results, guards = self._symbols
        weights = ca.SX.sym("weights", self.rows)
        gradient = ca.jacobian(ca.dot(weights, results[0]), symbols[0]).T
        H = ca.tril(ca.jacobian(gradient, symbols[0]))
        H = ca.sparsify(H)
        i, j = (np.array(x, dtype=int) for x in H.sparsity().get_triplet())
        if not len(i):
            return None, i, j
        f = ca.Function("second", [*symbols, weights], [ca.cse(ca.vertcat(*H.nonzeros())), guards])
        slots = [*self.program.inputs, Slot("weights", (self.rows,))]
        program = from_casadi(f, slots, [Slot("second", (len(i),))], [np.arange(len(i))], f"{self.name}_second")
        return Kernel(program, f"{self.name}_second"), i, j

    @cached_property
    def _along(self) -> tuple[Kernel, Array]:
        """Change of the gradient along a direction, and the variables that second derivatives depend on."""
        gradient = pullback(self.program, ["out"], ["z"])
        program = pushforward(gradient, ["bar_z"], ["z"])
        return Kernel(program, f"{self.name}_second"), self._nonlinear()

    def _nonlinear(self) -> Array:
        """Variables that appear in any second derivative, by numbers at a random point."""
        rng = np.random.default_rng(0)
        gradient = pullback(self.program, ["out"], ["z"])
        kernel = Kernel(pushforward(gradient, ["bar_z"], ["z"]), f"{self.name}_second")
        shapes = [s.shape for s in self.program.inputs[1:]]
        z, data = rng.normal(size=self.size), [rng.normal(size=s) for s in shapes]
        seeds = np.eye(self.size)
        H = called(
            kernel, *(np.broadcast_to(x, (self.size, *x.shape)) for x in (z, *data, rng.normal(size=self.rows))), seeds
        )
        return np.flatnonzero(np.any(H != 0.0, axis=1))

    def hessian(self, z: Array, weights: Array, *data: Array) -> Array:
        """H (n, size, size), symmetric."""
        H = np.zeros((len(z), self.size, self.size))
        if self.large:
            kernel, places = self._along
            if len(places):
                n, k = len(z), len(places)
                seeds = np.broadcast_to(np.eye(self.size)[places], (n, k, self.size))
                rest = [np.broadcast_to(x[:, None], (n, k, *x.shape[1:])) for x in (z, *data, weights)]
                H[:, places] = called(kernel, *rest, seeds)
                H = 0.5 * (H + H.swapaxes(1, 2))
            return H
        kernel, i, j = self._second
        if kernel is not None:
            entries = called(kernel, z, *data, weights)
            H[:, i, j] = entries
            H[:, j, i] = entries
        return H

    @cached_property
    def first_places(self) -> Array:
        """Where J may be non-zero (k, size)."""
        places = np.zeros((self.rows, self.size), dtype=bool)
        places[self._first[1], self._first[2]] = True
        return places


def called(kernel: Kernel, *inputs: Array) -> Array:
    """The one output of a kernel; what is not finite comes back as it is."""
    return next(iter(kernel.call(*inputs, nonfinite="return").values()))
