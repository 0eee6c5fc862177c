"""Recorded functions with exact first and second derivatives, direction by direction, in batches of points.

    J e_k = forward sweep along e_k,        H e_k = forward sweep along e_k of the reverse sweep of w . out

Code stays a few times as long as the function, however many variables there are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.derivative import pullback, pushforward
from gyrostat.engine.tracing.record import record

Array = np.ndarray


class DirectionalFunction:
    """``function(z, **data) -> out (k,)``; ``data``: shapes of further inputs."""

    def __init__(self, function: Callable[..., Any], size: int, data: Mapping[str, tuple[int, ...]], name: str):
        self.size, self.name = size, name

        def recorded(**x: Any) -> Mapping[str, Any]:
            return {"out": np.asarray(function(**x), dtype=object)}

        self.program = record(recorded, {"z": (size,), **data}, name)
        self.rows = self.program.outputs[0].size

    @cached_property
    def _value(self) -> Kernel:
        return Kernel(self.program, self.name)

    @cached_property
    def _first(self) -> Kernel:
        return Kernel(pushforward(self.program, ["out"], ["z"]), f"{self.name}_first")

    @cached_property
    def _second(self) -> Kernel:
        return Kernel(pushforward(pullback(self.program, ["out"], ["z"]), ["bar_z"], ["z"]), f"{self.name}_second")

    def value(self, z: Array, *data: Array) -> Array:
        """out (n, k)."""
        return _called(self._value, z, *data)

    def jacobian(self, z: Array, *data: Array) -> Array:
        """(n, k, size)."""
        rest = self._spread(z, *data)
        seeds = np.broadcast_to(np.eye(self.size), (len(z), self.size, self.size))
        return _called(self._first, *rest, seeds).swapaxes(1, 2)

    def hessian(self, z: Array, weights: Array, *data: Array) -> Array:
        """(n, size, size) of weights (n, k) . out."""
        rest = self._spread(z, *data, weights)
        seeds = np.broadcast_to(np.eye(self.size), (len(z), self.size, self.size))
        H = _called(self._second, *rest, seeds)
        return 0.5 * (H + H.swapaxes(1, 2))

    def _spread(self, *arrays: Array) -> list[Array]:
        return [np.broadcast_to(x[:, None], (len(x), self.size, *x.shape[1:])) for x in arrays]


def _called(kernel: Kernel, *inputs: Array) -> Array:
    """The one output; what is not finite comes back as it is."""
    return next(iter(kernel.call(*inputs, nonfinite="return").values()))
