"""Derivatives of a solver's result, compiled, with the pattern of their nonzeros."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.program import Program
from gyrostat.solvers.fast import install
from gyrostat.solvers.solver import Solver


class Derivative:
    """A function of the same arguments as its solver. ``pattern``: which entries can be other than zero (None: not known)."""

    def __init__(self, solver: Solver, program: Program, pattern: np.ndarray | None, name: str):
        self.solver, self.pattern, self.name = solver, pattern, name
        self.kernel = Kernel(program, f"{solver.name}.{name}")
        self.general = self._general

    def __call__(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        result = self._general(*state, t=t, out=out, threads=threads, nonfinite=nonfinite)
        if isinstance(self.solver.model.context.base, str):
            install(self, self.kernel, list(self.solver._live.values()), self._general)
        return result

    def _general(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        solver = self.solver
        arrays = solver.arguments(state, t)
        (slot,) = self.kernel.program.outputs
        return self.kernel.call(
            *arrays,
            out=None if out is None else {slot.name: out},
            threads=threads,
            nonfinite=nonfinite,
            explain=lambda: solver.examine(state),
        )[slot.name]

    def __repr__(self) -> str:
        shape = self.kernel.program.outputs[0].shape
        return f"<derivative {self.name} of {self.solver!r}, shape {shape}>"
