"""Blocks made of blocks: who reads what, in which order, and how samples of several rates go together.

The traversal is written here once; ``compose`` and ``joints`` only say how parts are wired.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from gyrostat.engine.tracing.choose import where
from gyrostat.errors import clipped
from gyrostat.simulate.blocks.block import Block, Signals
from gyrostat.simulate.blocks.given import Numbers, refuse

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

RATIO = 100_000
"""Sample times whose common period is smaller than this fraction of the longest are refused."""


@dataclass(frozen=True)
class Wire:
    """A signal, or some ``places`` of it."""

    signal: str
    places: tuple[int, ...] | None = None


@dataclass(frozen=True)
class Wiring:
    """``reads``: of each part, port -> wire; ``writes``: of each part, port -> signal. ``gives``: output -> wires that
    are added, each into its places of an array of ``width`` zeros where places are given."""

    reads: tuple[Mapping[str, Wire], ...]
    writes: tuple[Mapping[str, str], ...]
    gives: Mapping[str, tuple[Wire, ...]]
    width: int = 0


class Composite(Block):
    """Base of blocks with ``parts``. Sample time: the common period of the parts; the memory of a composite with
    several rates begins with the number of the sample, so that each part is updated at its own instants."""

    parts: tuple[Block, ...]

    @abstractmethod
    def connected(self) -> Wiring:
        """How the parts are connected, found anew."""

    @cached_property
    def wiring(self) -> Wiring:
        """How the parts are connected."""
        return self.connected()

    def check(self) -> None:
        """What every composite asks of its parts."""
        if isinstance(self.parts, list):
            object.__setattr__(self, "parts", tuple(self.parts))
        if not self.parts:
            raise refuse(self.who, "parts", "there are no parts", "give at least one block")
        for part in self.parts:
            if not isinstance(part, Block):
                remedy = "use the blocks of gyrostat.blocks, or derive from Block"
                raise refuse(self.who, "parts", f"{clipped(part)} is no block", remedy, part)
        _ = self.order, self.sample_time

    def __str__(self) -> str:
        """A line for this block, then one for each part, in the order of evaluation."""
        lines = [super().__str__(), *(line for k in self.order for line in str(self.parts[k]).splitlines())]
        return "\n  ".join(lines)

    # ------------------------------------------------------------------ ports
    @property
    def inputs(self) -> tuple[str, ...]:
        made = {s for writes in self.wiring.writes for s in writes.values()}
        read = (wire.signal for reads in self.wiring.reads for wire in reads.values())
        return tuple(dict.fromkeys(s for s in read if s not in made))

    @property
    def outputs(self) -> tuple[str, ...]:
        return tuple(self.wiring.gives)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Numbers of the parts in the order of evaluation: what has feedthrough comes after what it reads."""
        makers = {s: k for k, writes in enumerate(self.wiring.writes) for s in writes.values()}
        needs = {
            k: [makers[reads[port].signal] for port in part.direct if reads[port].signal in makers]
            for k, (part, reads) in enumerate(zip(self.parts, self.wiring.reads, strict=True))
        }
        try:
            return tuple(TopologicalSorter(needs).static_order())
        except CycleError as error:
            names = " -> ".join(self.parts[k].who for k in reversed(error.args[1]))
            message = f"an algebraic loop, each output needs the next at the same instant: {names}"
            remedy = "put a lag (first_order) or a delay of one sample into the loop, or solve it by hand"
            raise refuse(self.who, "wiring", message, remedy, names) from None

    @cached_property
    def feedthrough(self) -> bool:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Whether an input reaches an output within one instant; digital ones count as if it did."""
        return self.sample_time is not None or bool(self.direct)

    @cached_property
    def direct(self) -> tuple[str, ...]:  # pyright: ignore[reportIncompatibleMethodOverride]
        """The inputs that reach an output within one instant; of digital ones all."""
        return self.inputs if self.sample_time is not None else tuple(x for x in self.inputs if self._reaches(x))

    def _reaches(self, signal: str) -> bool:
        reached = {signal}
        for k in self.order:
            reads = self.wiring.reads[k]
            if any(reads[port].signal in reached for port in self.parts[k].direct):
                reached |= set(self.wiring.writes[k].values())
        return any(w.signal in reached for wires in self.wiring.gives.values() for w in wires)

    def within(self, model: Model) -> Block:
        parts = tuple(part.within(model) for part in self.parts)
        return self if all(new is old for new, old in zip(parts, self.parts, strict=True)) else self.made_of(parts)

    def made_of(self, parts: tuple[Block, ...]) -> Self:
        """The same wiring with other parts in the place of these."""
        return replace(self, parts=parts)  # type: ignore[type-var]

    # ------------------------------------------------------------------ states, memory, samples
    @cached_property
    def sample_time(self) -> float | None:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The common period of all digital parts [s]."""
        return common_period([part.sample_time for part in self.parts if part.sample_time is not None], self.who)

    @cached_property
    def ratios(self) -> tuple[int, ...]:
        """Of each part: sample time over the common period; 0 if it is analogue."""
        base = self.sample_time
        return tuple(0 if p.sample_time is None or base is None else round(p.sample_time / base) for p in self.parts)

    @property
    def _counts(self) -> bool:
        return any(ratio > 1 for ratio in self.ratios)

    @property
    def states(self) -> Numbers:
        return tuple(x for part in self.parts for x in part.states)

    @property
    def sizes(self) -> Numbers:
        return tuple(x for part in self.parts for x in part.sizes)

    @property
    def memory(self) -> Numbers:
        count = (0.0,) if self._counts else ()
        return (*count, *(x for part in self.parts for x in part.memory))

    @cached_property
    def _places(self) -> tuple[tuple[slice, slice], ...]:
        """Of each part: its places in p and in m."""
        places, i, j = [], 0, int(self._counts)
        for part in self.parts:
            np_, nm = len(part.states), len(part.memory)
            places.append((slice(i, i + np_), slice(j, j + nm)))
            i, j = i + np_, j + nm
        return tuple(places)

    def sized(self, rates: tuple[str, ...]) -> Block:
        parts = tuple(part.sized(self._served(k, rates)) for k, part in enumerate(self.parts))
        same = all(one is two for one, two in zip(parts, self.parts, strict=True))
        return self if same else self.made_of(parts)

    def _served(self, k: int, rates: tuple[str, ...]) -> tuple[str, ...]:
        """Rates of the joints that a part serves."""
        return rates

    # ------------------------------------------------------------------ one instant
    def _given(self, k: int, signals: Mapping[str, Any]) -> dict[str, Any]:
        """Inputs of a part, as far as they are known."""
        return {
            port: signals[w.signal] if w.places is None else np.asarray(signals[w.signal])[list(w.places)]
            for port, w in self.wiring.reads[k].items()
            if w.signal in signals
        }

    def _signals(self, t: Any, x: Signals, p: Any, memories: list[Any]) -> dict[str, Any]:
        """All signals at an instant, with the memories of the parts; as far as the inputs that are known lead to, but
        the outputs at least."""
        signals = {name: self.take(x, name) for name in self.inputs if name in x or name in self.direct}
        for k in self.order:
            if any(self.wiring.reads[k][port].signal not in signals for port in self.parts[k].direct):
                continue
            values = self.parts[k].output(t, self._given(k, signals), p[self._places[k][0]], memories[k])
            signals |= {self.wiring.writes[k][port]: value for port, value in values.items()}
        return signals

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        signals = self._signals(t, x, p, self._memories(m))
        return {name: self._gathered(wires, signals) for name, wires in self.wiring.gives.items()}

    def derivative(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        memories = self._memories(m)
        signals = self._signals(t, x, p, memories)
        rates = [
            part.derivative(t, self._given(k, signals), p[self._places[k][0]], memories[k])
            for k, part in enumerate(self.parts)
            if part.states
        ]
        return np.concatenate(rates) if rates else np.zeros(0)

    def trouble(self, t: Any, x: Signals, p: Any, m: Any) -> str:
        memories = self._memories(m)
        signals = self._signals(t, x, p, memories)
        told = (
            part.trouble(t, self._given(k, signals), p[self._places[k][0]], memories[k])
            for k, part in enumerate(self.parts)
        )
        return next(filter(None, told), "")

    def update(self, t: Any, x: Signals, p: Any, m: Any) -> Any:
        if self.sample_time is None:
            return m
        old = self._memories(m)
        new, signals = list(old), {name: self.take(x, name) for name in self.inputs}
        for k in self.order:
            part, p_k = self.parts[k], p[self._places[k][0]]
            given = self._given(k, signals)
            if part.sample_time is not None:  # what is not known yet does not matter: there is no feedthrough then
                blind = {} if part.feedthrough else part.unknown()
                new[k] = self._due(k, m, lambda k=k, x=blind | given: self._updated(k, t, x, p, old), old[k])
            values = part.output(t, given, p_k, new[k])
            signals |= {self.wiring.writes[k][port]: value for port, value in values.items()}
        for k, part in enumerate(self.parts):
            if part.sample_time is not None and not part.feedthrough:
                given = self._given(k, signals)
                new[k] = self._due(k, m, lambda k=k, x=given: self._updated(k, t, x, p, old), old[k])
        head = [np.asarray([(m[0] + 1.0) % math.lcm(*filter(None, self.ratios))])] if self._counts else []
        return np.concatenate([*head, *new])

    def _memories(self, m: Any) -> list[Any]:
        return [m[places] for _, places in self._places]

    def _updated(self, k: int, t: Any, x: Signals, p: Any, memories: list[Any]) -> Any:
        return self.parts[k].update(t, x, p[self._places[k][0]], memories[k])

    def _due(self, k: int, m: Any, update: Callable[[], Any], old: Any) -> Any:
        """The new memory of a part at its own samples, else the old one."""
        if self.ratios[k] == 1:
            return update()
        due = m[0] % self.ratios[k] == 0.0
        if isinstance(due, bool | np.bool_):  # numbers: nothing is called between its samples
            return update() if due else old
        return where(due, update(), old)

    def _gathered(self, wires: Iterable[Wire], signals: Mapping[str, Any]) -> Any:
        total: Any = 0.0
        for wire in wires:
            value = signals[wire.signal]
            if wire.places is not None:
                whole = np.zeros(self.wiring.width, dtype=np.asarray(value).dtype)
                whole[list(wire.places)] = value
                value = whole
            total = value if isinstance(total, float) else total + value
        return total


def common_period(times: list[float], who: str) -> float | None:
    """The longest time of which all sample times are whole multiples; None for none."""
    if len(set(times)) < 2:
        return times[0] if times else None
    parts = [Fraction(x).limit_denominator(10**9) for x in times]
    base = Fraction(
        math.gcd(*(f.numerator * math.lcm(*(g.denominator for g in parts)) // f.denominator for f in parts)),
        math.lcm(*(g.denominator for g in parts)),
    )
    if max(parts) / base > RATIO or any(abs(float(f) - x) > 1e-9 * x for f, x in zip(parts, times, strict=True)):
        told = ", ".join(f"{x:.12g}" for x in sorted(set(times)))
        message = f"sample times {told} s have no common period above {max(times) / RATIO:g} s"
        raise refuse(who, "sample_time", message, "choose whole multiples of one of them", times)
    return float(base)
