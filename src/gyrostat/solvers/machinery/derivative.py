"""Derivatives of a solver's result, compiled, with the pattern of their nonzeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.engine.cpython.direct import Direct
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.derivative import to_casadi
from gyrostat.engine.tracing.program import Program
from gyrostat.solvers.machinery.machine_call import install, new, plain_class, usual

if TYPE_CHECKING:
    import casadi as ca

    from gyrostat.solvers.machinery.differentiable import Differentiable


class Derivative(Direct):
    """A function of the same arguments as its solver. ``pattern``: which entries can be other than zero (None: not
    known)."""

    def __init__(self, solver: Differentiable, program: Program, pattern: np.ndarray | None, name: str):
        self.solver, self.pattern, self.name = solver, pattern, name
        self.kernel = Kernel(program, f"{solver.name}.{name}")

    def __call__(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        plain = t is None and out is None and usual(threads, nonfinite)
        single = all(isinstance(x, np.ndarray) and x.ndim in (1, 2) for x in state)
        hidden = list(self.solver._live.values())
        fast = plain and single and isinstance(self.solver.model.context.base, str)
        if fast and install(self, self.kernel, hidden, self._general):
            return self(*state)  # by the builtin, now and from now on
        return self._general(*state, t=t, out=out, threads=threads, nonfinite=nonfinite)

    def _general(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        solver = self.solver
        arrays = solver.arguments(state, t)
        (slot,) = self.kernel.program.outputs
        return self.kernel.call(
            *arrays,
            out=None if out is None else {slot.name: out},
            threads=threads,
            nonfinite=nonfinite,
            explain=lambda: solver.examine(state, nonfinite),
        )[slot.name]

    def casadi(self) -> ca.Function:
        """The derivative for CasADi: :func:`~gyrostat.engine.tracing.derivative.to_casadi`."""
        return to_casadi(self.kernel.program)

    def __reduce__(self) -> tuple[Any, ...]:
        return new, (plain_class(self),), dict(self.__dict__)  # copies make code of their own

    def __repr__(self) -> str:
        shape = self.kernel.program.outputs[0].shape
        return f"<derivative {self.name} of {self.solver!r}, shape {shape}>"
