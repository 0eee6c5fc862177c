"""Solvers as functions of JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gyrostat.errors import GyrostatError
from gyrostat.frameworks.arguments import arguments, expect_solver, framework, leading, smooth
from gyrostat.frameworks.jax_primitive import primitive
from gyrostat.solvers.machinery.state_solver import StateSolver


def jax(solver: StateSolver, nonfinite: str = "raise") -> Callable[..., Any]:
    """The solver as a function of arrays of JAX, to be used under ``jit``, ``vmap``, ``grad``, ``jacfwd``, ``jacrev``
    and ``hessian`` like any other: the same machine code, called by XLA without Python, with exact derivatives of any
    order in both modes.

    ``gs.jax(gs.ForwardDynamics(model))(q, v, tau)``: arguments are those of the solver (..., n), by position or name;
    ``parameters={"hand.mass": m}`` are values of its live properties, with derivatives too. All is float64: JAX needs
    ``jax.config.update("jax_enable_x64", True)``. Coordinates count as independent numbers, those of quaternions too.
    A result that is not finite ends in an exception of JAX, unless ``nonfinite="return"``. On processors only (extra
    ``jax``)."""
    who = "gs.jax"
    solver = expect_solver(solver, who, nonfinite)
    framework("jax", who, "jax")
    jnp, config = framework("jax.numpy", who, "jax"), framework("jax", who, "jax").config

    def call(*state: Any, parameters: Mapping[str, Any] | None = None, **named: Any) -> Any:
        if not config.jax_enable_x64:
            raise GyrostatError(
                f"{who}: JAX computes with 32 bits, solvers with 64. "
                'Hint: jax.config.update("jax_enable_x64", True) before the first array is made'
            )
        function = smooth(solver)
        given = arguments(solver, who, state, named, parameters)
        operands = [jnp.asarray(x, "float64") for x in given]
        lead = leading(who, function, [x.shape for x in operands])
        slots = function.program.inputs
        spread = [
            x if x.ndim == len(slot.shape) else jnp.broadcast_to(x, (*lead, *slot.shape))
            for x, slot in zip(operands, slots, strict=True)
        ]
        results = primitive().bind(*spread, smooth=function, nonfinite=nonfinite)
        return solver.returned(dict(zip(function.outputs, results, strict=True)))

    call.__name__ = call.__qualname__ = solver.name
    call.__doc__ = f"{type(solver).__doc__ or solver.name}\n\nA function of JAX, from {solver!r}."
    return call
