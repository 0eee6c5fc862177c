"""Solvers as functions of PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from gyrostat.errors import GyrostatError
from gyrostat.frameworks.arguments import arguments, expect_solver, framework, leading, smooth
from gyrostat.frameworks.directions import Smooth
from gyrostat.solvers.machinery.state_solver import StateSolver

WHO = "gs.torch"


def torch(solver: StateSolver, nonfinite: str = "raise") -> Callable[..., Any]:
    """The solver as a function of tensors, with exact derivatives of any order: ``backward``, double backward,
    ``torch.func.grad``, ``jvp``, ``jacfwd``, ``jacrev``, ``hessian`` and ``vmap``.

    ``gs.torch(gs.ForwardDynamics(model))(q, v, tau)``: arguments are those of the solver (..., n), by position or name;
    ``parameters={"hand.mass": m}`` are values of its live properties, with derivatives too. Tensors of other types are
    computed with, and returned, as float64, on the processor, without copies. Coordinates count as independent numbers,
    those of quaternions too. Extra ``torch``."""
    solver = expect_solver(solver, WHO, nonfinite)
    library = framework("torch", WHO, "torch")

    def call(*state: Any, parameters: Mapping[str, Any] | None = None, **named: Any) -> Any:
        function = smooth(solver)
        operands = [tensor(library, x) for x in arguments(solver, WHO, state, named, parameters)]
        lead = leading(WHO, function, [tuple(x.shape) for x in operands])
        slots = function.program.inputs
        spread = [x.expand((*lead, *slot.shape)) for x, slot in zip(operands, slots, strict=True)]
        results = call_class().apply(function, nonfinite, *spread)
        return solver.returned(dict(zip(function.outputs, results, strict=True)))

    call.__name__ = call.__qualname__ = solver.name
    call.__doc__ = f"{type(solver).__doc__ or solver.name}\n\nA function of PyTorch, from {solver!r}."
    return call


def tensor(library: Any, x: Any) -> Any:
    """A float64 tensor of the processor."""
    found = library.as_tensor(x)
    if found.device.type != "cpu":
        raise GyrostatError(f"{WHO}: solvers run on the processor, got a tensor on '{found.device}'. Hint: x.cpu()")
    if found.is_complex():
        raise GyrostatError(f"{WHO}: takes real numbers, got a tensor of {found.dtype}. Hint: its real part, x.real")
    return found.to(library.float64)


@cache
def call_class() -> Any:
    """The ``autograd.Function`` of all solvers: its operands are a :class:`Smooth` function, what to do with what is
    not finite, and tensors of one leading shape; its derivatives apply it again."""
    library = framework("torch", WHO, "torch")

    class Call(library.autograd.Function):
        @staticmethod
        def forward(function: Smooth, nonfinite: str, *operands: Any) -> Any:
            arrays = [x.detach().numpy() for x in operands]
            results = function.kernel.call(*arrays, nonfinite=nonfinite)
            return tuple(library.from_numpy(results[name]) for name in function.outputs)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.function, ctx.nonfinite, *operands = inputs
            ctx.set_materialize_grads(False)
            ctx.save_for_backward(*operands)
            ctx.save_for_forward(*operands)

        @staticmethod
        def backward(ctx: Any, *weights: Any) -> Any:
            function, operands = ctx.function, ctx.saved_tensors
            wanted = [k for k, needed in enumerate(ctx.needs_input_grad[2:]) if needed]
            known = [k for k, bar in enumerate(weights) if bar is not None]
            if not known or not wanted:
                return (None,) * (2 + len(operands))
            back = function.pullback([function.outputs[k] for k in known], [function.inputs[k] for k in wanted])
            given = (*operands, *(weights[k] for k in known))
            bars = dict(zip(wanted, Call.apply(back, ctx.nonfinite, *given), strict=True))
            return None, None, *(bars.get(k) for k in range(len(operands)))

        @staticmethod
        def jvp(ctx: Any, *directions: Any) -> Any:
            function, dots = ctx.function, directions[2:]
            moved = [k for k, dot in enumerate(dots) if dot is not None]
            along = function.pushforward(function.outputs, [function.inputs[k] for k in moved])
            return Call.apply(along, ctx.nonfinite, *ctx.saved_tensors, *(dots[k] for k in moved))

        @staticmethod
        def vmap(info: Any, axes: Any, function: Smooth, nonfinite: str, *operands: Any) -> Any:
            size = info.batch_size
            spread = [
                x.expand((size, *x.shape)) if k is None else x.movedim(k, 0)
                for x, k in zip(operands, axes[2:], strict=True)
            ]
            results = Call.apply(function, nonfinite, *spread)
            return results, (0,) * len(results)

    return Call
