"""A compiled function with its derivatives along directions and from weights, as often as wanted: each of them is a
function of the same kind.

    y = f(x);   pushforward: (x, dot_x) -> dot_y = df/dx dot_x;   pullback: (x, bar_y) -> bar_x = (df/dx)^T bar_y
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.derivative import pullback, pushforward
from gyrostat.engine.tracing.program import Program

Names = tuple[str, ...]


class Smooth:
    """A kernel of named inputs and outputs. Derivatives are recorded when they are first asked for, and kept."""

    def __init__(self, kernel: Kernel):
        self.kernel, self.program = kernel, kernel.program
        self.inputs: Names = tuple(slot.name for slot in kernel.program.inputs)
        self.outputs: Names = tuple(slot.name for slot in kernel.program.outputs)
        self._derivatives: dict[Any, Smooth] = {}

    def pushforward(self, of: Sequence[str], wrt: Sequence[str]) -> Smooth:
        """Rates of the outputs ``of`` along directions of the inputs ``wrt``, which follow the inputs."""
        return self._derivative("pushforward", pushforward, tuple(of), tuple(wrt))

    def pullback(self, of: Sequence[str], wrt: Sequence[str]) -> Smooth:
        """Weights of the inputs ``wrt`` from weights of the outputs ``of``, which follow the inputs."""
        return self._derivative("pullback", pullback, tuple(of), tuple(wrt))

    def _derivative(self, way: str, make: Any, of: Names, wrt: Names) -> Smooth:
        key = way, of, wrt
        if key not in self._derivatives:
            self._derivatives[key] = Smooth(Kernel(numbered(make(self.program, of, wrt)), f"{self.kernel.who}.{way}"))
        return self._derivatives[key]

    def __repr__(self) -> str:
        return f"<{self.kernel.who}({', '.join(self.inputs)}) -> {', '.join(self.outputs)}>"


def numbered(program: Program) -> Program:
    """The program with numbered inputs and outputs: the second derivative's directions have names of their own."""
    inputs = tuple(replace(slot, name=f"x{k}") for k, slot in enumerate(program.inputs))
    return replace(
        program, inputs=inputs, outputs=tuple(replace(s, name=f"y{k}") for k, s in enumerate(program.outputs))
    )
