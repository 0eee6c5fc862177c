"""Solvers with one recorded program: derivatives, CasADi, C."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.engine.export_c import export_c
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing import derivative
from gyrostat.errors import ShapeError
from gyrostat.solvers.machinery.derivative import Derivative
from gyrostat.solvers.machinery.solver import Solver

if TYPE_CHECKING:
    import casadi as ca

Array = np.ndarray


class Differentiable(Solver):
    """A solver whose main program can be differentiated, exported, and handed to CasADi."""

    result = "result"

    @abstractmethod
    def main_kernel(self) -> Kernel:
        """The kernel of the plain call."""

    @abstractmethod
    def arguments(self, state: Sequence[Any], t: Any) -> list[Array]:
        """Inputs of the main program for the arguments of a call."""

    @abstractmethod
    def examine(self, state: Sequence[Any], nonfinite: str = "raise") -> None:
        """Raise what is wrong with a state."""

    def expect(self, state: Sequence[Any], names: Sequence[str]) -> None:
        if len(state) != len(names):
            raise ShapeError(f"{self.name}: got {len(state)} arguments, expected {len(names)}: {', '.join(names)}")

    def jacobian(self, of: str, wrt: str) -> Derivative:
        """d of / d wrt, a function of the same arguments: ``solver.jacobian("tau", "q")(q, v, a)`` is (..., nv, nq).

        ``wrt`` may be a live property. Coordinates count as independent numbers, those of quaternions too.
        """
        expect_names(self.name, of, wrt)
        wrt = self.model.canonical(wrt)
        key = ("jacobian", of, wrt)
        if key not in self._derivatives:
            program, pattern = derivative.jacobian(self.main_kernel().program, of, wrt)
            self._derivatives[key] = Derivative(self, program, pattern, f"jacobian({of}, {wrt})")
        return self._derivatives[key]

    def hessian(self, of: str, wrt: str, and_wrt: str | None = None) -> Derivative:
        """Second derivatives, shape of + wrt + and_wrt (by default wrt twice)."""
        expect_names(self.name, of, wrt, and_wrt or wrt)
        key = ("hessian", of, wrt, and_wrt)
        if key not in self._derivatives:
            first, _ = derivative.jacobian(self.main_kernel().program, of, wrt)
            program, pattern = derivative.jacobian(first, first.outputs[0].name, and_wrt or wrt)
            self._derivatives[key] = Derivative(self, program, pattern, f"hessian({of}, {wrt}, {and_wrt or wrt})")
        return self._derivatives[key]

    def directional(self, of: str, wrt: Sequence[str]) -> Derivative:
        """Derivative along directions: ``solver.directional("tau", ["q", "v"])(q, v, a, dq, dv)``, without any
        matrix."""
        names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
        if not names:
            raise ShapeError(f"{self.name}.directional: name at least one input to vary, such as 'q'")
        key = ("directional", of, names)
        if key not in self._derivatives:
            program = derivative.directional(self.main_kernel().program, of, names)
            self._derivatives[key] = Along(self, program, names, f"directional({of}, {', '.join(names)})")
        return self._derivatives[key]

    @property
    def _derivatives(self) -> dict[Any, Derivative]:
        return self.__dict__.setdefault("_derived", {})

    def casadi(self) -> ca.Function:
        """The same function for CasADi, with matrices as matrices, see
        :func:`~gyrostat.engine.tracing.derivative.to_casadi`.

        Inputs are the parts of the state in the order of a call, then time or motion of the base where it is driven,
        then live properties. That a quaternion has unit length is not looked at there."""
        return derivative.to_casadi(self.main_kernel().program)

    def export_c(self, folder: str | Path, name: str | None = None, vectors: int = 16) -> list[Path]:
        """Write the function as C99 with a header, test vectors and a ``main`` that checks them; returns the files."""
        kernel = self.main_kernel()
        program = kernel.program
        rng = np.random.default_rng(0)
        examples = []
        for _ in range(vectors):
            inputs = [self._example(slot.name, slot.shape, rng) for slot in program.inputs]
            found = kernel.call(*inputs)
            examples.append((inputs, [found[s.name] for s in program.outputs]))
        return export_c(program, folder, name or f"{self.model.name}_{self.name}", self._entries(), examples)

    def _entries(self) -> dict[str, Sequence[str]]:
        """Names of the entries of inputs and outputs, for comments."""
        rates = ("v", "a", "tau", "v_r", "a_r", "dq", "dv", "dtau", "da")
        return {"q": self.model.coordinates, **dict.fromkeys(rates, self.model.dofs)}

    def _example(self, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        if name in self._live:
            return self._live[name]
        if name == "base_R":
            return np.eye(3)
        value = rng.uniform(-1.0, 1.0, shape)
        if name == "q":
            for block in self.model.layout.turning:
                part = value[block.quaternion]
                part /= np.sqrt(part @ part)
        return value


def expect_names(who: str, *names: Any) -> None:
    for name in names:
        if not isinstance(name, str):
            raise ShapeError(f"{who}: derivatives are named by strings such as 'tau' and 'q', got {name!r}")


class Along(Derivative):
    """A directional derivative: the state, then one direction for each name."""

    def __init__(self, solver: Differentiable, program: Any, names: tuple[str, ...], name: str):
        super().__init__(solver, program, None, name)
        self.names = names

    def __call__(self, *state: Any, **options: Any) -> Any:
        return self._general(*state, **options)

    def _general(self, *state: Any, t: Any = None, out: Any = None, threads: int = 1, nonfinite: str = "raise") -> Any:
        solver, n = self.solver, len(self.names)
        expected = len(self.kernel.program.inputs) - len(solver._shapes())
        if len(state) != expected:
            raise ShapeError(
                f"{self.kernel.who}: got {len(state)} arguments, expected {expected}: the state, then {n} direction(s)"
            )
        arrays = solver.arguments(state[:-n], t)  # type: ignore[attr-defined]
        (slot,) = self.kernel.program.outputs
        return self.kernel.call(
            *arrays,
            *state[-n:],
            out=None if out is None else {slot.name: out},
            threads=threads,
            nonfinite=nonfinite,
            explain=lambda: solver.examine(state[:-n], nonfinite),  # type: ignore[attr-defined]
        )[slot.name]
