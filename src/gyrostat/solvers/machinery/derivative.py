"""A derivative of a solver's result: compiled, called like the solver, with the pattern of its nonzeros."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

import numpy as np

from gyrostat.engine.cpython.direct import Direct
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.casadi_functions import to_casadi
from gyrostat.engine.tracing.program import Program
from gyrostat.errors import ShapeError
from gyrostat.solvers.machinery.machine_call import blank, default_options, install_machine_call, written_class

if TYPE_CHECKING:
    import casadi as ca

    from gyrostat.solvers.machinery.state_solver import StateSolver


@final
class Derivative(Direct):
    """A function of the same arguments as its solver, followed by one direction for each of ``directions``.

    ``pattern``: which entries can be other than zero (None: not known)."""

    def __init__(
        self,
        solver: StateSolver,
        program: Program,
        pattern: np.ndarray | None,
        name: str,
        directions: tuple[str, ...] = (),
    ):
        self.solver, self.pattern, self.name, self.directions = solver, pattern, name, directions
        self.kernel = Kernel(program, f"{solver.name}.{name}")

    def __call__(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        if self._single(state) and t is None and out is None and default_options(threads, nonfinite):
            hidden = list(self.solver._live.values())
            if install_machine_call(self, self.kernel, hidden, self._general):
                return self(*state)  # by the builtin, now and from now on
        return self._general(*state, t=t, out=out, threads=threads, nonfinite=nonfinite)

    def _single(self, state: tuple[Any, ...]) -> bool:
        """Whether machine code can take a call with these arguments."""
        plain = all(isinstance(x, np.ndarray) and x.ndim in (1, 2) for x in state)
        return plain and not self.directions and isinstance(self.solver.model.context.base, str)

    def _general(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        solver, n = self.solver, len(self.directions)
        if n:
            self._expect_directions(state)
        at, along = (state[:-n], state[-n:]) if n else (state, ())
        (slot,) = self.kernel.program.outputs
        return self.kernel.call(
            *solver.arguments(at, t),
            *along,
            out=None if out is None else {slot.name: out},
            threads=threads,
            nonfinite=nonfinite,
            explain=lambda: solver.examine(at, nonfinite),
        )[slot.name]

    def _expect_directions(self, state: tuple[Any, ...]) -> None:
        expected, n = len(self.kernel.program.inputs) - len(self.solver._shapes()), len(self.directions)
        if len(state) != expected:
            raise ShapeError(
                f"{self.kernel.who}: got {len(state)} arguments, expected {expected}: the state, then {n} direction(s)"
            )

    def casadi(self) -> ca.Function:
        """The derivative for CasADi: :func:`~gyrostat.engine.tracing.casadi_functions.to_casadi`."""
        return to_casadi(self.kernel.program)

    def __reduce__(self) -> tuple[Any, ...]:
        return blank, (written_class(self),), dict(self.__dict__)  # copies make code of their own

    def __repr__(self) -> str:
        shape = self.kernel.program.outputs[0].shape
        return f"<derivative {self.name} of {self.solver!r}, shape {shape}>"
