"""A forward dynamics of the user's in ``gs.simulate``: what it must be, and where it cannot stand in."""

from __future__ import annotations

from typing import Any

from gyrostat.errors import GyrostatError, clipped
from gyrostat.solvers.builders.block_solver import BlockSolver
from gyrostat.solvers.dynamics.forward_dynamics import ForwardDynamics
from gyrostat.spec.model import Model

WHO = "simulate"
BY_RESIDUAL = ("newmark", "trapezoid", "generalised-alpha", "dina", "ida", "variational")
"""Methods that solve the equations of inverse dynamics, and never ask for accelerations."""


def expected_block(forward: Any, model: Model) -> BlockSolver | None:
    """A block for the forward dynamics of the model."""
    if forward is None:
        return None
    if not isinstance(forward, BlockSolver) or not isinstance(forward.like, ForwardDynamics):
        raise GyrostatError(
            f"{WHO}: forward_dynamics is {clipped(forward)}. "
            "Hint: gs.BlockSolver(model, f, like=gs.ForwardDynamics), f(q, v, tau) -> a"
        )
    if forward.model is not model and forward.model != model:
        raise GyrostatError(f"{WHO}: the block is of '{forward.model.name}' with other data. Hint: build one for it")
    if forward.order is not None:
        raise GyrostatError(f"{WHO}: the block has an order of its own. Hint: the one without in_order")
    return forward


def refuse_by_residual(forward: Any, method: str) -> None:
    """Some methods have no use for accelerations: nothing is left out in silence."""
    if forward is not None and method in BY_RESIDUAL:
        raise GyrostatError(
            f"{WHO}: method '{method}' solves the inverse dynamics and would not call the block "
            f"{forward.called}. Hint: dopri5, rk4, radau or another of its kind"
        )
