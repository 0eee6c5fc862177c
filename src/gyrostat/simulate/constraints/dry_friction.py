"""Dry friction as an effort on sums of rates, with the direction of sliding as a number instead of a sign of the rate.

Every :class:`Friction` with an exact sign acts on one speed w = c . v, c the ties of its shaft to the rates. Frictions
on proportional speeds stop and start together: they are one :class:`FrictionGroup` with the sum of their sizes. For a
direction s = 1, -1 or 0 (rest) its effort along w is

    -(s + |s|)/2 F+(w) + (|s| - s)/2 F-(w),    F(w) = coulomb + (static - coulomb) exp(-(w / stribeck)^2),

smooth in w, so that a step of any method may pass w = 0. At rest it may take any value from -F+(0) to F-(0)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.constraint import ConstraintRows, constraints
from gyrostat.configuration.model_cache import cached_on
from gyrostat.errors import StateError
from gyrostat.graph.network import Network, kept_network
from gyrostat.graph.transmission import ShaftComponent
from gyrostat.spec.model import Model
from gyrostat.spec.shaft_elements import Friction

Array = np.ndarray
PARALLEL = 1e-12
"""Relative difference of two rows of ties that is rounding."""


@dataclass(frozen=True)
class FrictionElement:
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

    def slope(self, w: Any, side: int) -> Any:
        """Derivative of :meth:`size` by w; of a number, or of a recorded one."""
        more = self.static[side] - self.coulomb[side]
        if self.stribeck is None or not more:
            return 0.0
        x = (self.factor / self.stribeck) * w
        return (-2.0 * abs(self.factor) * more * self.factor / self.stribeck) * x * np.exp(-(x * x))


@dataclass(frozen=True, eq=False)
class FrictionGroup:
    """Frictions on one speed w = ``row`` . v."""

    row: Array
    elements: tuple[FrictionElement, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the frictions."""
        return tuple(element.name for element in self.elements)

    @property
    def limits(self) -> tuple[float, float]:
        """Least and greatest effort along w at rest."""
        plus, minus = (sum(float(element.size(0.0, side)) for element in self.elements) for side in (0, 1))
        return -plus, minus

    def speed(self, v: Array) -> Any:
        """w = row . v."""
        return sum((v[k] * self.row[k] for k in np.flatnonzero(self.row)), 0.0)

    def effort(self, v: Array, s: Any) -> Any:
        """Along w, for the direction s."""
        w = self.speed(v)
        plus, minus = (sum(element.size(w, side) for element in self.elements) for side in (0, 1))
        return -(s * (0.5 * (plus + minus)) + abs(s) * (0.5 * (plus - minus)))

    def slope(self, v: Array, s: Any) -> Any:
        """Derivative of the effort by w."""
        w = self.speed(v)
        plus, minus = (sum(element.slope(w, side) for element in self.elements) for side in (0, 1))
        return -(s * (0.5 * (plus + minus)) + abs(s) * (0.5 * (plus - minus)))


class DryFriction:
    """All dry friction of a model: ``groups``, and ``smooth``, the same model without it."""

    def __init__(self, model: Model, frictions: Sequence[ShaftComponent], nv: int):
        self.groups = _grouped(frictions, nv)
        changes: dict[str, Any] = {}
        for c in frictions:
            changes |= {f"{c.name}.coulomb": 0.0, f"{c.name}.static": None, f"{c.name}.stribeck": None}
        self.smooth = model.replace(changes)
        self.rows = np.array([group.row for group in self.groups]).reshape(len(self.groups), nv)
        self.low, self.high = (np.array(x) for x in zip(*(group.limits for group in self.groups), strict=True))

    @classmethod
    def of(cls, model: Model) -> DryFriction | None:
        """None if no friction of the model has an exact sign. It stays with the model."""
        kept = cached_on(model)
        if "dry friction" not in kept:
            frictions = _dry(kept_network(model))
            kept["dry friction"] = cls(model, frictions, model.nv) if frictions else None
        return kept["dry friction"]

    def efforts(self, v: Array, s: Array) -> Array:
        """Efforts (nv,) on the rates v (nv,), for the directions s (groups,); numbers, or recorded ones."""
        total = [0.0 * v[k] for k in range(len(v))]
        for group, direction in zip(self.groups, s, strict=True):
            effort = group.effort(v, direction)
            for k in np.flatnonzero(group.row):
                total[k] = total[k] + effort * group.row[k]
        return np.array(total)

    def slopes(self, v: Array, s: Array) -> Array:
        """Derivative (nv, nv) of the efforts by v."""
        slopes = np.array([group.slope(v, x) for group, x in zip(self.groups, s, strict=True)])
        return self.rows.T @ (slopes[:, None] * self.rows)


@constraints.row(DryFriction)
def friction_rows(dry: DryFriction, model: Model) -> ConstraintRows:
    """One row for each group of frictions, on its speed."""
    return ConstraintRows(
        names=tuple(group.names[0] for group in dry.groups),
        residual=None,
        jacobian=dry.rows,
        side=np.zeros(len(dry.groups), dtype=int),
        limits=(dry.low, dry.high),
        members=tuple(group.names for group in dry.groups),
        sliding=dry,
    )


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


def _grouped(frictions: Sequence[ShaftComponent], nv: int) -> tuple[FrictionGroup, ...]:
    rows: list[Array] = []
    elements: list[list[FrictionElement]] = []
    for c in frictions:
        row = np.zeros(nv)
        for k, factor in c.shafts["shaft"].ties:
            row[k] += float(factor)
        at = next((i for i, known in enumerate(rows) if _ratio(row, known) is not None), None)
        if at is None:
            at = len(rows)
            rows.append(row)
            elements.append([])
        elements[at].append(_element(c, _ratio(row, rows[at]) or 1.0))
    return tuple(FrictionGroup(row, tuple(group)) for row, group in zip(rows, elements, strict=True))


def _ratio(row: Array, known: Array) -> float | None:
    """row / known, if they are parallel."""
    ratio = float(row @ known / (known @ known))
    return ratio if np.abs(row - ratio * known).max() <= PARALLEL * np.abs(row).max() else None


def _element(c: ShaftComponent, factor: float) -> FrictionElement:
    coulomb = _pair(c["coulomb"])
    static = coulomb if c["static"] is None else _pair(c["static"])
    if factor < 0.0:  # the group's plus is this one's minus
        coulomb, static = (coulomb[1], coulomb[0]), (static[1], static[0])
    return FrictionElement(c.name, factor, coulomb, static, None if c["stribeck"] is None else float(c["stribeck"]))


def _pair(value: Any) -> tuple[float, float]:
    both = np.ravel(value).tolist()
    return both[0], both[-1]
