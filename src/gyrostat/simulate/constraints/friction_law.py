"""Dry friction as an effort on sums of rates, with the direction of sliding as a number instead of a sign of the rate.

Every :class:`Friction` with an exact sign acts on one speed w = c . v, c the ties of its shaft to the rates. Frictions
on proportional speeds stop and start together: they are one :class:`Rub` with the sum of their sizes. For a direction
s = 1, -1 or 0 (rest) its effort along w is

    -(s + |s|)/2 F+(w) + (|s| - s)/2 F-(w),    F(w) = coulomb + (static - coulomb) exp(-(w / stribeck)^2),

smooth in w, so that a step of any method may pass w = 0. At rest it may take any value from -F+(0) to F-(0)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import StateError
from gyrostat.graph.network import Network, network
from gyrostat.graph.transmission import ShaftComponent
from gyrostat.simulate.plant.torque_source import TorqueSource
from gyrostat.spec.model import Model
from gyrostat.spec.shaft_elements import Friction

Array = np.ndarray
PARALLEL = 1e-12
"""Relative difference of two rows of ties that is rounding."""


@dataclass(frozen=True)
class Part:
    """One friction: its speed is ``factor`` times that of its group; sizes [N m, N] for speeds above and below zero of
    the group; ``stribeck`` speed, or None."""

    name: str
    factor: float
    coulomb: tuple[float, float]
    static: tuple[float, float]
    stribeck: float | None

    def size(self, w: Any, side: int) -> Any:
        """|factor| F(factor w) on the side 0 (plus) or 1 (minus)."""
        fixed, more = self.coulomb[side], self.static[side] - self.coulomb[side]
        if self.stribeck is None or not more:
            return abs(self.factor) * fixed
        x = w * (self.factor / self.stribeck)
        return abs(self.factor) * (fixed + more * np.exp(-(x * x)))

    def slope(self, w: float, side: int) -> float:
        """Derivative of :meth:`size` by w."""
        more = self.static[side] - self.coulomb[side]
        if self.stribeck is None or not more:
            return 0.0
        k = self.factor / self.stribeck
        return float(-2.0 * abs(self.factor) * more * k * (k * w) * np.exp(-((k * w) ** 2)))


@dataclass(frozen=True, eq=False)
class Rub:
    """Frictions on one speed w = ``row`` . v."""

    row: Array
    parts: tuple[Part, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the frictions."""
        return tuple(part.name for part in self.parts)

    @property
    def limits(self) -> tuple[float, float]:
        """Least and greatest effort along w at rest."""
        plus, minus = (sum(float(part.size(0.0, side)) for part in self.parts) for side in (0, 1))
        return -plus, minus

    def speed(self, v: Array) -> Any:
        """w = row . v."""
        return sum((v[k] * self.row[k] for k in np.flatnonzero(self.row)), 0.0)

    def effort(self, v: Array, s: Any) -> Any:
        """Along w, for the direction s."""
        w = self.speed(v)
        plus, minus = (sum(part.size(w, side) for part in self.parts) for side in (0, 1))
        return -(s * (0.5 * (plus + minus)) + abs(s) * (0.5 * (plus - minus)))

    def slope(self, v: Array, s: float) -> float:
        """Derivative of the effort by w."""
        w = float(self.speed(v))
        if not s:
            return 0.0
        return -s * sum(part.slope(w, 0 if s > 0.0 else 1) for part in self.parts)


class DryFriction:
    """All dry friction of a model: ``rubs``, and ``smooth``, the same model without it."""

    def __init__(self, model: Model, found: Sequence[ShaftComponent], nv: int):
        self.rubs = _grouped(found, nv)
        changes: dict[str, Any] = {}
        for c in found:
            changes |= {f"{c.name}.coulomb": 0.0, f"{c.name}.static": None, f"{c.name}.stribeck": None}
        self.smooth = model.replace(changes)
        self.rows = np.array([rub.row for rub in self.rubs]).reshape(len(self.rubs), nv)

    @classmethod
    def of(cls, model: Model) -> DryFriction | None:
        """None if no friction of the model has an exact sign."""
        found = _dry(network(model))
        return cls(model, found, model.nv) if found else None

    def efforts(self, v: Array, s: Array) -> Array:
        """Efforts (nv,) on the rates v (nv,), for the directions s (rubs,); numbers, or recorded ones."""
        total = [0.0 * v[k] for k in range(len(v))]
        for rub, direction in zip(self.rubs, s, strict=True):
            effort = rub.effort(v, direction)
            for k in np.flatnonzero(rub.row):
                total[k] = total[k] + effort * rub.row[k]
        return np.array(total)

    def slopes(self, v: Array, s: Array) -> Array:
        """Derivative (nv, nv) of the efforts by v."""
        slopes = np.array([rub.slope(v, float(x)) for rub, x in zip(self.rubs, s, strict=True)])
        return self.rows.T @ (slopes[:, None] * self.rows)


class DirectedSource(TorqueSource):
    """A torque source whose memory has, behind its own numbers, the directions of sliding."""

    def __init__(self, inner: TorqueSource, count: int):
        self.inner, self.own = inner, len(inner.m0)
        self.p0, self.sample_times, self.constant, self.told = (
            inner.p0,
            inner.sample_times,
            inner.constant,
            inner.told,
        )
        self.m0, self.users = np.concatenate([inner.m0, np.zeros(count)]), inner.users
        self.sizes = inner.sizes

    def change_model(self, model: Model) -> None:
        self.inner.change_model(model)

    def evaluate(self, t: Any, q: Array, v: Array, p: Array, m: Array) -> tuple[Array, Array]:
        return self.inner.evaluate(t, q, v, p, m[: self.own])

    def update(self, t: float, q: Array, v: Array, p: Array, m: Array, due: Sequence[float] | None = None) -> Array:
        return np.concatenate([self.inner.update(t, q, v, p, m[: self.own], due), m[self.own :]])

    def trouble(self, t: float, q: Array, v: Array, p: Array, m: Array) -> str:
        return self.inner.trouble(t, q, v, p, m[: self.own])


def _dry(net: Network) -> list[ShaftComponent]:
    """Frictions with an exact sign and a size, on shafts that can turn."""
    dry = [
        c
        for c in net.transmission.elements
        if issubclass(c.kind, Friction)
        and c["smooth"] is None
        and any(np.ravel(c["coulomb"])) | (c["static"] is not None and any(np.ravel(c["static"])))
    ]
    for c in dry:
        if not c.shafts["shaft"].is_linear:
            raise StateError(
                f"simulate: the dry friction '{c.name}' acts on a shaft that follows by a curve: whether it sticks "
                "depends on a ratio that changes. Hint: give it smooth=..., or put it at the driver"
            )
    return [c for c in dry if any(factor for _, factor in c.shafts["shaft"].ties)]


def _grouped(found: Sequence[ShaftComponent], nv: int) -> tuple[Rub, ...]:
    rows: list[Array] = []
    parts: list[list[Part]] = []
    for c in found:
        row = np.zeros(nv)
        for k, factor in c.shafts["shaft"].ties:
            row[k] += float(factor)
        at = next((i for i, known in enumerate(rows) if _ratio(row, known) is not None), None)
        if at is None:
            at = len(rows)
            rows.append(row)
            parts.append([])
        parts[at].append(_part(c, _ratio(row, rows[at]) or 1.0))
    return tuple(Rub(row, tuple(group)) for row, group in zip(rows, parts, strict=True))


def _ratio(row: Array, known: Array) -> float | None:
    """row / known, if they are parallel."""
    ratio = float(row @ known / (known @ known))
    return ratio if np.abs(row - ratio * known).max() <= PARALLEL * np.abs(row).max() else None


def _part(c: ShaftComponent, factor: float) -> Part:
    coulomb = _pair(c["coulomb"])
    static = coulomb if c["static"] is None else _pair(c["static"])
    if factor < 0.0:  # the group's plus is this one's minus
        coulomb, static = (coulomb[1], coulomb[0]), (static[1], static[0])
    return Part(c.name, factor, coulomb, static, None if c["stribeck"] is None else float(c["stribeck"]))


def _pair(value: Any) -> tuple[float, float]:
    both = np.ravel(value).tolist()
    return both[0], both[-1]
