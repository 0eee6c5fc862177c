"""Limits of joints that follow others, through gears or cams, as rows on the coordinates that they follow.

The coordinate of a follower is y = g(q), its rate G(q) v, its acceleration G a + G' v (:mod:`~gyrostat.graph.
tied_shafts`): a stop at y = limit has the residual y - limit, the Jacobian G and the bias G' v. A limit that a linear
follower cannot reach, since its leaders stop before it or with it, needs no row: two stops at one place share their
force in no unique way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.constraint import LOWER, UPPER
from gyrostat.configuration.limits import own_range
from gyrostat.engine.kernel import Kernel
from gyrostat.engine.tracing.record import record
from gyrostat.graph.loops.angle import plain
from gyrostat.graph.network import kept_network
from gyrostat.graph.tied_shafts import Shaft, Ties
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
EQUAL = 1e-9
"""Relative difference of two limits that are the same."""
FLAT = 1e-6
"""dy/dq [rad, m per rad, m] at which a curve is at its dead centre: it goes no further, and nothing holds it there."""


@dataclass(frozen=True)
class FollowerEnd:
    """One end of the range of a joint that follows: ``number`` among the followers of the transmission, and a side."""

    joint: str
    number: int
    side: int
    limit: float


class FollowerStops:
    """Limits of all followers with one rate that the ``low`` and ``high`` (nq,) of their leaders do not imply:
    ``ends``."""

    def __init__(self, model: Model, low: Array, high: Array):
        self.moved, self.low = kept_network(model).transmission, low
        self.ranges = _ranges(model)
        self.ends = self._reachable(low.copy(), high.copy())
        self.numbers = [end.number for end in self.ends]

    @property
    def constant(self) -> bool:
        """Whether G does not depend on the configuration."""
        return all(self.moved.followers[i].is_linear for i in self.numbers)

    def coordinates(self, q: Array) -> Array:
        """y (..., ends) at q (..., nq); recorded for recorded q (nq,)."""
        if q.dtype == object:
            return np.array(self._coordinates(q), dtype=object)
        if self.moved.loops is not None:
            return self._kernel.call(q, np.zeros((*q.shape[:-1], self.moved.n)))["y"]
        rows = [self._coordinates(x) for x in q.reshape(-1, q.shape[-1])]
        return np.array(rows, dtype=float).reshape(*q.shape[:-1], len(self.ends))

    def _coordinates(self, q: Array) -> list[Any]:
        moved = self.moved.at(q)
        return [plain(moved.followers[i].angle(q, moved.place)) for i in self.numbers]

    def jacobian(self, q: Array) -> Array:
        """G (ends, nv) at q (nq,); zero where a curve is flat."""
        if self.moved.loops is not None:
            G = self._kernel.call(q, np.zeros(self.moved.n))["G"]
            return np.where(np.abs(G).max(axis=1, initial=0.0, keepdims=True) > FLAT, G, 0.0)
        moved = self.moved.at(q)
        return np.array([_row(moved.followers[i], moved.n) for i in self.numbers]).reshape(len(self.ends), moved.n)

    def bias(self, q: Array, v: Array) -> Array:
        """G' v (ends,)."""
        if self.moved.loops is not None:
            return self._kernel.call(q, v)["b"]
        moved = self.moved.at(q, v)
        return np.array([_product(moved.followers[i].tie_rates, v) for i in self.numbers])

    @cached_property
    def _kernel(self) -> Kernel:
        """y, G and G' v where followers follow from loops: closed forms take their time in Python."""

        def function(q: Array, v: Array) -> Mapping[str, Any]:
            moved = self.moved.at(q, v)
            shafts = [moved.followers[i] for i in self.numbers]
            G = np.zeros((len(shafts), moved.n), dtype=object)
            for row, shaft in zip(G, shafts, strict=True):
                for k, factor in shaft.ties:
                    row[k] = row[k] + factor
            b = [sum((x * v[k] for k, x in shaft.tie_rates), start=0.0) for shaft in shafts]
            return {"y": np.array([plain(s.angle(q, moved.place)) for s in shafts]), "G": G, "b": np.array(b)}

        with np.errstate(all="ignore"):
            return Kernel(record(function, {"q": (len(self.low),), "v": (self.moved.n,)}, "follower_stops"), WHO)

    def _reachable(self, low: Array, high: Array) -> tuple[FollowerEnd, ...]:
        """Ends that need a row; each row narrows the range of a single leader for those behind it."""
        ends: list[FollowerEnd] = []
        for joint, limits in self.ranges.items():
            number = self.moved.slices[joint][1].start - self.moved.n
            shaft = self.moved.followers[number]
            sides = [side for side, x in zip((LOWER, UPPER), limits, strict=True) if np.isfinite(x)]
            if shaft.is_linear:
                sides = [side for side in sides if self._stricter(shaft, limits[side == UPPER], side, low, high)]
                self._narrow(shaft, limits, sides, low, high)
            ends += [FollowerEnd(joint, number, side, float(limits[side == UPPER])) for side in sides]
        return tuple(ends)

    def _stricter(self, shaft: Shaft, limit: float, side: int, low: Array, high: Array) -> bool:
        """Whether a limit comes before what the ranges of the leaders imply: offset + sum of factor x end."""
        terms = [
            float(factor) * float((high if side * factor > 0.0 else low)[self.moved.place[k]])
            for k, factor in shaft.ties
            if factor
        ]
        if not terms:  # it cannot move
            return False
        size = max(abs(x) for x in (limit, shaft.offset, *terms) if np.isfinite(x))
        return side * (shaft.offset + sum(terms) - limit) > EQUAL * size

    def _narrow(self, shaft: Shaft, limits: tuple[float, float], sides: list[int], low: Array, high: Array) -> None:
        if len(shaft.ties) != 1:
            return
        ((k, factor),) = shaft.ties
        for side in sides:
            end, upper = (limits[side == UPPER] - shaft.offset) / factor, side * factor > 0.0
            (high if upper else low)[self.moved.place[k]] = end


def _ranges(model: Model) -> dict[str, tuple[float, float]]:
    """(lower, upper) of all followers with one rate and a limit."""
    moved = kept_network(model).transmission
    ranges: dict[str, tuple[float, float]] = {}
    for name, entity in model.wiring.entities.items():
        if name in moved.slices and len(entity.rates) == 1 and moved.slices[name][1].start >= moved.n:
            limits = own_range(entity)
            ranges |= {name: limits} if np.isfinite(limits).any() else {}
    return ranges


def _row(shaft: Shaft, n: int) -> Array:
    row = np.zeros(n)
    for k, factor in shaft.ties:
        row[k] += float(factor)
    return row if shaft.is_linear or np.abs(row).max(initial=0.0) > FLAT else np.zeros(n)


def _product(ties: Ties, v: Array) -> float:
    return float(sum((x * v[k] for k, x in ties), start=0.0))
