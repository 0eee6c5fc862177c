"""One primitive of JAX for all solvers: bound with a :class:`~gyrostat.frameworks.directions.Smooth` function, it knows
its shapes, batches, derivatives in both modes (which bind it again), and its lowering to a custom call of XLA.

Its operands have the shapes of the function's inputs, with one leading shape that all those share that have any."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from gyrostat.frameworks.arguments import framework
from gyrostat.frameworks.directions import Smooth
from gyrostat.frameworks.xla_call import XlaCall

_calls: dict[tuple[Smooth, str], tuple[str, XlaCall]] = {}
"""Calls that XLA knows by a name. Programs of JAX may refer to them until the process ends."""


def registered(smooth: Smooth, nonfinite: str) -> tuple[str, XlaCall]:
    """Name of the call that XLA has for a function, and the call."""
    key = smooth, nonfinite
    if key not in _calls:
        ffi = framework("jax", "gs.jax", "jax").ffi
        call = XlaCall(smooth.kernel, nonfinite)
        name = f"gyrostat_{len(_calls)}_{smooth.program.digest[:12]}"
        ffi.register_ffi_target(name, ffi.pycapsule(ctypes.c_void_p(call.address)), platform="cpu")
        _calls[key] = name, call
    return _calls[key]


def lead_of(smooth: Smooth, shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The leading shape of the operands that have one."""
    cuts = (s[: len(s) - len(slot.shape)] for s, slot in zip(shapes, smooth.program.inputs, strict=True))
    return next((tuple(lead) for lead in cuts if lead), ())


def lowered(*operands: Any, smooth: Smooth, nonfinite: str) -> list[Any]:
    """The custom call on rows of states."""
    jax = framework("jax", "gs.jax", "jax")
    name, call = registered(smooth, nonfinite)
    lead = lead_of(smooth, [x.shape for x in operands])
    count = math.prod(lead)
    rows = [
        x.reshape((count, slot.size) if x.ndim > len(slot.shape) else (slot.size,))
        for x, slot in zip(operands, smooth.program.inputs, strict=True)
    ]
    slots = smooth.program.outputs
    results = [jax.ShapeDtypeStruct((count, slot.size), "float64") for slot in slots]
    scratch = jax.ShapeDtypeStruct((call.scratch,), "float64")
    found = jax.ffi.ffi_call(name, [*results, scratch])(*rows)
    return [x.reshape(lead + slot.shape) for x, slot in zip(found, slots, strict=False)]


@cache
def primitive() -> Any:
    """The primitive, with its rules."""
    jax = framework("jax", "gs.jax", "jax")
    core, ad, batching, mlir = (
        framework(f"jax.{name}", "gs.jax", "jax")
        for name in ("extend.core", "interpreters.ad", "interpreters.batching", "interpreters.mlir")
    )
    jnp = framework("jax.numpy", "gs.jax", "jax")
    solver_p = core.Primitive("gyrostat")
    solver_p.multiple_results = True
    compiled: Callable[..., Any] = jax.jit(solver_p.bind, static_argnames=("smooth", "nonfinite"))
    solver_p.def_impl(lambda *operands, **how: compiled(*operands, **how))

    @solver_p.def_abstract_eval
    def shapes(*operands: Any, smooth: Smooth, nonfinite: str) -> list[Any]:
        lead = lead_of(smooth, [x.shape for x in operands])
        return [jax.core.ShapedArray(lead + slot.shape, "float64") for slot in smooth.program.outputs]

    def batched(operands: Any, axes: Any, *, smooth: Smooth, nonfinite: str) -> Any:
        size = next(x.shape[k] for x, k in zip(operands, axes, strict=True) if k is not None)
        slots = smooth.program.inputs
        plain = [x.shape if k is None else x.shape[:k] + x.shape[k + 1 :] for x, k in zip(operands, axes, strict=True)]
        lead = lead_of(smooth, plain)

        def spread(x: Any, k: int | None, slot: Any) -> Any:
            if k is None and x.ndim == len(slot.shape):
                return x  # all states share it
            x = x[None] if k is None else jnp.moveaxis(x, k, 0)
            if x.ndim == 1 + len(slot.shape):
                x = x.reshape((x.shape[0], *(1 for _ in lead), *slot.shape))
            return jnp.broadcast_to(x, (size, *lead, *slot.shape))

        operands = [spread(x, k, slot) for x, k, slot in zip(operands, axes, slots, strict=True)]
        results = solver_p.bind(*operands, smooth=smooth, nonfinite=nonfinite)
        return results, [0] * len(results)

    def spread_alike(smooth: Smooth, operands: Sequence[Any]) -> list[Any]:
        """Operands with the leading shape of them all: those of derivatives each have their own weights."""
        lead = lead_of(smooth, [x.shape for x in operands])
        return [
            jnp.broadcast_to(x, (*lead, *slot.shape))
            for x, slot in zip(operands, smooth.program.inputs, strict=True)
        ]  # fmt: skip

    def derived(primals: Any, tangents: Any, *, smooth: Smooth, nonfinite: str) -> Any:
        results = solver_p.bind(*primals, smooth=smooth, nonfinite=nonfinite)
        moved = [k for k, dot in enumerate(tangents) if type(dot) is not ad.Zero]
        along = smooth.pushforward(smooth.outputs, [smooth.inputs[k] for k in moved])
        rates = solver_p.bind(*primals, *(tangents[k] for k in moved), smooth=along, nonfinite=nonfinite)
        return results, rates

    def transposed(weights: Any, *operands: Any, smooth: Smooth, nonfinite: str) -> Any:
        unknown = [k for k, x in enumerate(operands) if ad.is_undefined_primal(x)]
        known = [k for k, bar in enumerate(weights) if type(bar) is not ad.Zero]
        if not known:
            return [ad.Zero(x.aval) if ad.is_undefined_primal(x) else None for x in operands]
        back = smooth.pullback([smooth.outputs[k] for k in known], [smooth.inputs[k] for k in unknown])
        # linear in what is unknown: the derivative is the same wherever it is taken
        at = [jnp.zeros(x.aval.shape) if ad.is_undefined_primal(x) else x for x in operands]
        given = spread_alike(back, [*at, *(weights[k] for k in known)])
        bars = dict(zip(unknown, solver_p.bind(*given, smooth=back, nonfinite=nonfinite), strict=True))
        summed = {k: _summed(bar, operands[k].aval.shape) for k, bar in bars.items()}
        return [summed.get(k) for k in range(len(operands))]

    batching.primitive_batchers[solver_p] = batched
    ad.primitive_jvps[solver_p] = derived
    ad.primitive_transposes[solver_p] = transposed
    mlir.register_lowering(solver_p, mlir.lower_fun(lowered, multiple_results=True), platform="cpu")
    return solver_p


def _summed(bar: Any, shape: tuple[int, ...]) -> Any:
    """Weights of an operand that all states share are those of all states together."""
    spare = bar.ndim - len(shape)
    return bar.sum(axis=tuple(range(spare))) if spare else bar
