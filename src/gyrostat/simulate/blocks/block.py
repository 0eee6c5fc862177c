"""What every block is: named inputs to named outputs, with continuous states p and a memory m that changes at samples.

    y = output(t, x, p, m),    dp/dt = derivative(t, x, p, m),    m <- update(t, x, p, m) at t = 0, T, 2 T, ...

A block is frozen data and keeps nothing between calls: p and m belong to whoever runs it. The three functions are plain
NumPy without branches, so that they can be recorded and compiled together with the robot.

**Digital blocks** (``sample_time`` T [s]) give outputs that depend on m alone, so that they are held between samples.
At a sample ``update`` comes first; what ``output`` gives from then on already answers the inputs of this instant.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from gyrostat.errors import ShapeError, StateError, nearest

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

Array = np.ndarray
Signals = Mapping[str, Any]
"""Arrays (n,) by name: "q", "v", "q_ref", ..."""


class Block(ABC):
    """Base of all blocks.

    ``states`` and ``memory`` are the values of p (np,) and m (nm,) at the start. ``feedthrough``: whether an output
    depends on an input of the same instant. ``sample_time`` [s] is None for analogue blocks."""

    kind: ClassVar[str] = "block"
    name: str = ""
    sample_time: float | None = None

    @property
    @abstractmethod
    def inputs(self) -> tuple[str, ...]:
        """Names of the signals that are read; in a series the first one takes the output of the block before."""

    @property
    @abstractmethod
    def outputs(self) -> tuple[str, ...]:
        """Names of the signals that are given."""

    @property
    def states(self) -> tuple[float, ...]:
        """Continuous states p at the start."""
        return ()

    @property
    def sizes(self) -> tuple[float, ...]:
        """What counts as one for each state: absolute tolerances are multiples of it. 1e7 for a pressure [Pa]."""
        return (1.0,) * len(self.states)

    @property
    def memory(self) -> tuple[float, ...]:
        """Memory m before the first sample."""
        return ()

    @property
    def feedthrough(self) -> bool:
        """Whether an output depends on an input of the same instant."""
        return True

    @property
    def direct(self) -> tuple[str, ...]:
        """The inputs that outputs depend on at the same instant; the others need not be known for ``output``."""
        return self.inputs if self.feedthrough else ()

    def within(self, model: Model) -> Block:
        """The same block in a robot: runs call it once, for blocks that must know where their frames are."""
        return self

    @abstractmethod
    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        """Outputs by name at the time t [s], for inputs x, states p (np,) and memory m (nm,)."""

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        """dp/dt (np,)."""
        return np.zeros(0)

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        """The memory (nm,) after the sample at t, from the one before."""
        return m

    def sized(self, rates: tuple[str, ...]) -> Block:
        """The block for joints with these rates, by name; the same unless it must know how many there are."""
        return self

    def trouble(self, t: Any, x: Signals, p: Any, m: Any) -> str:
        """Why the equations of the block do not hold here, as a sentence with a hint; "" if they do. Where they do not
        hold outputs and rates are NaN, which no run accepts."""
        return ""

    def unknown(self) -> dict[str, Array]:
        """Of digital blocks without feedthrough: any inputs of the right shapes, in place of those not known yet."""
        return {}

    @property
    def who(self) -> str:
        """Kind and name, as messages show it."""
        return f"{self.kind} '{self.name}'" if self.name else self.kind

    def __str__(self) -> str:
        """One line: signals in and out, states and samples; ``repr`` has all the numbers."""
        told = f"{self.who}: {', '.join(self.inputs) or 'nothing'} -> {', '.join(self.outputs)}"
        n = len(self.states)
        states = f", {n} state{'s' if n > 1 else ''}" if n else ""
        return told + states + ("" if self.sample_time is None else f", every {self.sample_time:g} s")

    def take(self, x: Signals, name: str, n: int | None = None) -> Any:
        """The signal of a name as (n,); a number alone is one entry."""
        if name not in x:
            raise StateError(
                f"{self.who}: there is no signal '{name}' among {', '.join(sorted(x)) or 'none at all'}. "
                f"Hint: let a block of a diagram give it, as Reference gives q_ref and v_ref; {nearest(name, x)}"
            )
        value = np.atleast_1d(np.asarray(x[name]))
        if value.ndim != 1 or (n is not None and value.shape != (n,)):
            raise ShapeError(
                f"{self.who}: signal '{name}' has shape {value.shape}, expected ({'n' if n is None else n},). "
                "Hint: give the block one value for each entry of the signal, or size=..."
            )
        return value


@dataclass(frozen=True, kw_only=True)
class Through(Block):
    """Base of blocks with one input and one output: the signals ``source`` and ``target``."""

    source: str = "u"
    target: str = "y"
    name: str = ""

    @property
    def inputs(self) -> tuple[str, ...]:
        return (self.source,)

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)
