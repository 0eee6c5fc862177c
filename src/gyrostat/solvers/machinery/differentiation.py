"""Derivatives of a solver's recorded program: Jacobian, Hessian, along directions; each is made once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from gyrostat.engine.tracing import derivative
from gyrostat.errors import ShapeError
from gyrostat.solvers.machinery.derivative import Derivative

if TYPE_CHECKING:
    from gyrostat.solvers.machinery.state_solver import StateSolver


def jacobian(solver: StateSolver, of: str, wrt: str) -> Derivative:
    """d of / d wrt, shape of + wrt."""
    expect_names(solver.name, of, wrt)
    wrt = solver.model.canonical(wrt)

    def make() -> Derivative:
        program, pattern = derivative.jacobian(solver.main_kernel().program, of, wrt)
        return Derivative(solver, program, pattern, f"jacobian({of}, {wrt})")

    return _once(solver, ("jacobian", of, wrt), make)


def hessian(solver: StateSolver, of: str, wrt: str, and_wrt: str | None) -> Derivative:
    """Second derivatives, shape of + wrt + and_wrt."""
    second = and_wrt or wrt
    expect_names(solver.name, of, wrt, second)

    def make() -> Derivative:
        first, _ = derivative.jacobian(solver.main_kernel().program, of, wrt)
        program, pattern = derivative.jacobian(first, first.outputs[0].name, second)
        return Derivative(solver, program, pattern, f"hessian({of}, {wrt}, {second})")

    return _once(solver, ("hessian", of, wrt, and_wrt), make)


def directional(solver: StateSolver, of: str, wrt: str | Sequence[str]) -> Derivative:
    """Derivative along one direction for each name, without any matrix."""
    names = (wrt,) if isinstance(wrt, str) else tuple(wrt)
    if not names:
        raise ShapeError(f"{solver.name}.directional: name at least one input to vary, such as 'q'")

    def make() -> Derivative:
        program = derivative.directional(solver.main_kernel().program, of, names)
        return Derivative(solver, program, None, f"directional({of}, {', '.join(names)})", names)

    return _once(solver, ("directional", of, names), make)


def _once(solver: StateSolver, key: Any, make: Callable[[], Derivative]) -> Derivative:
    known = solver._derivatives
    if key not in known:
        known[key] = make()
    return known[key]


def expect_names(who: str, *names: Any) -> None:
    for name in names:
        if not isinstance(name, str):
            raise ShapeError(f"{who}: derivatives are named by strings such as 'tau' and 'q', got {name!r}")
