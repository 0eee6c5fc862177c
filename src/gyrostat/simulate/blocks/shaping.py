"""Blocks without states that act on every entry of a signal: gain, bias, sum, saturation, dead zone, quantiser."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum
from gyrostat.errors import ShapeError
from gyrostat.simulate.blocks.block import Block, Signals, Through
from gyrostat.simulate.blocks.given import (
    Numbers,
    above_zero,
    at_least_zero,
    limits,
    numbers,
    refuse,
    signal,
)


def clipped_to(u: Any, lower: Numbers, upper: Numbers) -> Any:
    """min(max(u, lower), upper), with nothing computed for limits that are all infinite."""
    if any(x > -math.inf for x in lower):
        u = maximum(u, np.array(lower))
    return minimum(u, np.array(upper)) if any(x < math.inf for x in upper) else u


@dataclass(frozen=True, kw_only=True)
class Entrywise(Through):
    """Base of y = f(u), entry by entry; parameters are one number for all entries or one for each."""

    def parameter(self, values: Numbers, u: Any, what: str) -> Any:
        if len(values) not in (1, len(u)):
            raise ShapeError(
                f"{self.who}: {what} has {len(values)} numbers, but signal '{self.source}' has {len(u)}. "
                "Hint: give one number for all, or one for each entry"
            )
        return np.array(values)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: self.shaped(self.take(x, self.source))}

    def shaped(self, u: Any) -> Any:
        raise NotImplementedError


@dataclass(frozen=True)
class Gain(Entrywise):
    """y = gain u."""

    kind: ClassVar[str] = "gain"
    gain: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", numbers(self.gain, self.who, "gain"))

    def shaped(self, u: Any) -> Any:
        return self.parameter(self.gain, u, "gain") * u


@dataclass(frozen=True)
class Saturation(Entrywise):
    """y = u within ``limit``: a magnitude, or (lower, upper)."""

    kind: ClassVar[str] = "saturation"
    limit: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "limit", limits(self.limit, self.who))

    def shaped(self, u: Any) -> Any:
        lower, upper = self.limit
        self.parameter(lower, u, "limit")
        self.parameter(upper, u, "limit")
        return clipped_to(u, lower, upper)


@dataclass(frozen=True)
class DeadZone(Entrywise):
    """y = 0 for abs(u) <= width, u - width above, u + width below: the play is taken off, nothing jumps."""

    kind: ClassVar[str] = "dead zone"
    width: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "width", at_least_zero(self.width, self.who, "width", "half the zone, as a magnitude"))

    def shaped(self, u: Any) -> Any:
        width = self.parameter(self.width, u, "width")
        return maximum(u - width, 0.0) + minimum(u + width, 0.0)


@dataclass(frozen=True)
class Quantiser(Entrywise):
    """y = quantum floor(u / quantum + 1/2): the nearest multiple, halves upwards. An encoder of 2^12 steps per turn has
    the quantum 2 pi / 4096 rad. Sample behind it: in a variable-step run its steps are jumps."""

    kind: ClassVar[str] = "quantiser"
    quantum: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantum", above_zero(self.quantum, self.who, "quantum", "the height of one step"))

    def shaped(self, u: Any) -> Any:
        quantum = self.parameter(self.quantum, u, "quantum")
        return quantum * np.floor(u / quantum + 0.5)


@dataclass(frozen=True)
class Constant(Block):
    """y = value (n,), at all times."""

    kind: ClassVar[str] = "constant"
    value: Any
    target: str = "y"
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", numbers(self.value, self.who, "value"))

    @property
    def inputs(self) -> tuple[str, ...]:
        return ()

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        return {self.target: np.array(self.value)}


@dataclass(frozen=True)
class Sum(Block):
    """y = signs[0] terms[0] + signs[1] terms[1] + ..., terms the names of signals of one length."""

    kind: ClassVar[str] = "sum"
    terms: tuple[str, ...]
    signs: Any = ()
    target: str = "y"
    name: str = ""

    def __post_init__(self) -> None:
        given: Any = self.terms
        terms = (given,) if isinstance(given, str) else tuple(given)
        for term in terms:
            signal(term, self.who, "terms")
        if not terms or len(set(terms)) < len(terms):
            raise refuse(self.who, "terms", f"terms must be different signals, got {terms}", "name each once", terms)
        signs = numbers(self.signs, self.who, "signs") if len(self.signs) else (1.0,) * len(terms)
        if len(signs) != len(terms):
            raise ShapeError(f"{self.who}: {len(signs)} signs for {len(terms)} terms. Hint: +1 or -1 for each term")
        object.__setattr__(self, "terms", terms)
        object.__setattr__(self, "signs", signs)

    @property
    def inputs(self) -> tuple[str, ...]:
        return self.terms

    @property
    def outputs(self) -> tuple[str, ...]:
        return (self.target,)

    def output(self, t: Any, x: Signals, p: Any, m: Any) -> dict[str, Any]:
        first = self.take(x, self.terms[0])
        total = self.signs[0] * first
        for term, sign in zip(self.terms[1:], self.signs[1:], strict=True):
            total = total + sign * self.take(x, term, len(first))
        return {self.target: total}


def difference(one: str, two: str, target: str = "e", name: str = "") -> Sum:
    """one - two, two signals by name."""
    return Sum((one, two), (1.0, -1.0), target, name)


def sum_of(*terms: str, target: str = "y", signs: Sequence[float] = (), name: str = "") -> Sum:
    """The sum of signals by name."""
    return Sum(terms, tuple(signs), target, name)
