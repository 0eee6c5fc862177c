"""A Python function as a block."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.record import is_recorded
from gyrostat.engine.tracing.signals import handed
from gyrostat.errors import NonFiniteError, ShapeError, clipped
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import refuse, signal


@dataclass(frozen=True)
class Function(Block):
    """y = f(t, signal, signal, ...): ``reads`` names the signals in the order of the arguments.

    It must depend on its arguments alone. What can be recorded (NumPy without branches) is compiled, anything else is
    called in every evaluation."""

    kind: ClassVar[str] = "function"
    function: Callable[..., Any]
    reads: tuple[str, ...] = ()
    target: str = "y"
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function):
            message = f"expected a function f(t, ...), got {clipped(self.function)}"
            raise refuse(self.who, "function", message, "Constant gives numbers", self.function)
        given: Any = self.reads
        reads = (given,) if isinstance(given, str) else tuple(given)
        object.__setattr__(self, "reads", tuple(signal(one, self.who, "reads") for one in reads))

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.reads

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        y = np.atleast_1d(np.asarray(self.function(t, *(handed(self.take(x, name)) for name in self.reads))))
        if y.ndim != 1 or y.dtype.kind not in "iufO":
            raise ShapeError(f"{self.who}: it returned {y.dtype} of shape {y.shape}, expected real numbers (n,)")
        if not is_recorded(y) and not np.isfinite(y).all():
            raise NonFiniteError(f"{self.who}: it returned {clipped(y.tolist())} at t = {t} s, expected finite numbers")
        return {self.target: y}


def function(f: Callable[..., Any], *reads: str, target: str = "y", name: str = "") -> Function:
    """A Python function as a block: ``function(lambda t, q: -q, "q", target="tau")``, see :class:`Function`."""
    return Function(f, reads, target, name or getattr(f, "__name__", ""))
