"""What a solver is called with from another framework: parts of the state, then values of live properties."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from gyrostat.engine.arguments import check_nonfinite
from gyrostat.errors import GyrostatError, ShapeError, nearest
from gyrostat.frameworks.directions import Smooth
from gyrostat.solvers.machinery.call_signatures import by_name
from gyrostat.solvers.machinery.state_solver import StateSolver


def framework(module: str, who: str, extra: str) -> Any:
    """A module of a framework that is not always there."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise GyrostatError(f"{who} needs {package}. Hint: pip install 'gyrostat[{extra}]'") from error


def expect_solver(solver: Any, who: str, nonfinite: str) -> StateSolver:
    """The solver, if it is one whose calls are a function of arrays alone."""
    check_nonfinite(nonfinite, who)
    if not isinstance(solver, StateSolver):
        raise GyrostatError(
            f"{who}: needs a solver of a state, got {type(solver).__name__}. Hint: {who}(gs.ForwardDynamics(model))"
        )
    if not isinstance(solver.model.context.base, str):
        raise GyrostatError(
            f"{who}: the base of '{solver.model.name}' is driven as a function of time, which is not an argument here. "
            "Hint: base='free' with the motion of the base in q, v and a"
        )
    return solver


def smooth(solver: StateSolver) -> Smooth:
    """The solver's main function, made once."""
    known = solver.__dict__.get("_smooth")
    kernel = solver.main_kernel()
    if known is None or known.kernel is not kernel:
        known = solver.__dict__["_smooth"] = Smooth(kernel)
    return known


def arguments(
    solver: StateSolver, who: str, state: Sequence[Any], named: Mapping[str, Any], parameters: Mapping[str, Any] | None
) -> list[Any]:
    """Inputs of the main program: the state by position or name, then live properties, as given or as they are."""
    given = {solver.model.canonical(path): value for path, value in (parameters or {}).items()}
    for path in given:
        if path not in solver.live:
            hint = nearest(path, solver.live) if solver.live else f"live=[{path!r}] when the solver is made"
            raise GyrostatError(f"{who}: '{path}' is not live in {solver!r}. Hint: {hint}")
    live = [given.get(path, np.array(solver._live[path])) for path in solver.live]
    return [*by_name(who, solver.state, state, named), *live]


def leading(who: str, smooth: Smooth, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The leading shape that arrays of these shapes have together; each ends with the shape of its input."""
    lead = []
    for shape, slot in zip(shapes, smooth.program.inputs, strict=True):
        cut = len(shape) - len(slot.shape)
        if cut < 0 or tuple(shape[cut:]) != slot.shape:
            raise ShapeError(f"{who}: {slot.name} has shape {tuple(shape)}, expected (..., {_sizes(slot.shape)})")
        lead.append(tuple(shape[:cut]))
    try:
        return np.broadcast_shapes(*lead)
    except ValueError:
        told = ", ".join(f"{s.name} {d}" for s, d in zip(smooth.program.inputs, lead, strict=True))
        raise ShapeError(f"{who}: leading shapes do not go together: {told}") from None


def _sizes(shape: tuple[int, ...]) -> str:
    return ", ".join(map(str, shape)) or "no axis of its own"
