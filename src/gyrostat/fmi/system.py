"""What an FMU holds, whatever it was made of: named numbers and recorded equations.

    z = (x', y) = f(t, x, m, u, p),   m <- g(t, x, m, u, p) at the start and at t = T, 2 T, ...

with continuous states x, what digital parts hold m, inputs u, parameters p, outputs y."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.engine.tracing.operations import INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program
from gyrostat.engine.tracing.record import record

Array = np.ndarray
Equations = Callable[[Any, Array, Array, Array, Array], Array]
"""(t, x, m, u, p) -> numbers one behind the other."""


@dataclass(frozen=True)
class Variable:
    """A number with a name. ``start``: its value at the start; ``nominal``: what counts as one; ``output``: of states
    and their rates, whether they are outputs of the FMU, too."""

    name: str
    unit: str = ""
    start: float = 0.0
    description: str = ""
    nominal: float = 1.0
    output: bool = False


@dataclass(frozen=True)
class System:
    """``rates`` are those of the ``states``, in their order. ``quaternions``: where unit quaternions begin in x.
    ``equations`` give (x', y), ``sample`` gives m; ``sample_time`` T [s] is zero where nothing is digital."""

    name: str
    description: str
    states: tuple[Variable, ...]
    rates: tuple[Variable, ...]
    inputs: tuple[Variable, ...]
    parameters: tuple[Variable, ...]
    outputs: tuple[Variable, ...]
    memory: tuple[float, ...]
    sample_time: float
    equations: Equations = field(repr=False)
    sample: Equations | None = field(repr=False, default=None)
    quaternions: tuple[int, ...] = ()

    @property
    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Shapes of the inputs of programs."""
        numbers = {"x": self.states, "m": self.memory, "u": self.inputs, "p": self.parameters}
        return {"t": (1,)} | {name: (len(x),) for name, x in numbers.items()}

    @cached_property
    def program(self) -> Program:
        """z of t (1,), x, m, u, p."""
        return self._recorded(self.equations, "z", "equations")

    @cached_property
    def update(self) -> Program | None:
        """m after a sample, of the same inputs."""
        return None if self.sample is None else self._recorded(self.sample, "m", "sample")

    def _recorded(self, function: Equations, output: str, name: str) -> Program:
        def numbers(t: Array, x: Array, m: Array, u: Array, p: Array) -> Mapping[str, Any]:
            return {output: function(t[0], x, m, u, p)}

        with np.errstate(all="ignore"):
            return record(numbers, self.sizes, f"gs_{name}")


def reached(program: Program, wrt: str) -> np.ndarray:
    """Which results (rows) read which elements of an input (columns), conditions included: truth values."""
    source = [slot.name for slot in program.inputs].index(wrt)
    sets: list[int] = []
    for code, *operands in program.nodes:
        if code == INPUT:
            sets.append(1 << operands[1] if operands[0] == source else 0)
        elif code < 0:
            sets.append(0)
        else:
            bits = 0
            for k in operands[: OPERATIONS[code].arity]:
                bits |= sets[k]
            sets.append(bits)
    (results,) = program.results
    size = program.inputs[source].size
    rows = [[sets[k] >> e & 1 for e in range(size)] for k in results]
    return np.array(rows, dtype=bool).reshape(len(results), size)
