"""How the coordinates of the model move the components (H04 2.2.2, scalar ports): gears and couplings are linear.

Components see more rates than the model has: those of a joint that follows another one, of a rotor behind a gear.
They come behind the model's own ones: all rates = (v, T v), and generalised forces come back as u + T^T u'. Elements
on shafts, which no frame carries, see the angle and rate of each of their shafts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.graph.lower import Values, lower
from gyrostat.graph.shafts import Line, Shafts, has_shafts, relations, solve_for, substitute
from gyrostat.spatial.algebra import Array
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.model import Model
from gyrostat.spec.rotor import RotorInertia

Ties = tuple[tuple[int, Any], ...]
"""A rate as a sum over rates of the model: (number, factor)."""


@dataclass(frozen=True)
class Shaft:
    """Angle = sum of factor x coordinate + offset, rate = sum of factor x rate."""

    ties: Ties
    offset: Any = 0.0

    def angle(self, q: Array, place: Sequence[int]) -> Any:
        total = self.offset
        for k, factor in self.ties:
            total = total + q[place[k]] * factor
        return total

    def rate(self, v: Array) -> Any:
        total: Any = 0.0
        for k, factor in self.ties:
            total = total + v[k] * factor
        return total


@dataclass(frozen=True)
class ShaftComponent:
    """An element that acts on shafts alone; ``shafts`` by the names of its ports."""

    name: str
    kind: type
    props: Mapping[str, Any]
    shafts: Mapping[str, Shaft]

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]


@dataclass(frozen=True)
class Transmission:
    """``followers``: rates beyond the ``n`` of the model, each tied to those; ``place``: where the coordinate of each
    rate is in q; ``slices``: part of the state of each component; ``elements``: what acts on shafts alone."""

    n: int = 0
    place: tuple[int, ...] = ()
    followers: tuple[Shaft, ...] = ()
    slices: Mapping[str, tuple[slice, slice]] = field(default_factory=dict)
    elements: tuple[ShaftComponent, ...] = ()

    def coordinates(self, q: Array) -> Array:
        """Coordinates that the components see."""
        if not self.followers:
            return q
        return np.concatenate([q, np.array([shaft.angle(q, self.place) for shaft in self.followers])])

    def rates(self, v: Array) -> Array:
        """Rates, or accelerations, that the components see."""
        if not self.followers:
            return v
        return np.concatenate([v, np.array([shaft.rate(v) for shaft in self.followers])])

    def gathered(self, u: Array) -> Array:
        """Generalised forces (n, ...) of the model's rates, from those of all rates (all, ...)."""
        if not self.followers:
            return u
        found = list(u[: self.n])
        for shaft, follower in zip(self.followers, u[self.n :], strict=True):
            for k, factor in shaft.ties:
                found[k] = found[k] + follower * factor
        return np.array(found).reshape(self.n, *np.shape(u)[1:])

    def ties(self, rate: int) -> Ties:
        """A rate of a component, by the rates of the model."""
        return ((rate, 1.0),) if rate < self.n else self.followers[rate - self.n].ties

    def reduced(self, X: Array) -> Array:
        """G^T X G of a matrix over all rates (all, all)."""
        return self.gathered(self.gathered(X).T).T


def transmission(model: Model, live: Mapping[str, Any]) -> Transmission:
    """Lines of all shafts with live numbers, and what follows from them for each component."""
    place, nq = model.layout.coordinate_of_rate, model.nq
    own = {block.entity: (block.q, block.v) for block in model.layout}
    numbers = {(b.entity, part): k for b in model.layout for k, part in enumerate(b.rates, b.v.start)}
    found, entities = model.shafts, model.wiring.entities
    if not found.at:
        return Transmission(len(place), place, (), own)
    lines = _lines(model, found, live)
    number = _numbers(model, found, numbers)

    def shaft(k: int) -> Shaft:
        line = lines.get(k, Line({k: 1.0}))
        return Shaft(tuple((number[s], x) for s, x in line.terms.items()), line.constant)

    followers: list[Shaft] = []
    for name, entity in entities.items():
        rates = _rates(entity)
        if (name in own and own[name][1].stop - own[name][1].start == len(rates)) or not rates:
            continue
        at = nq + len(followers), len(place) + len(followers)
        own[name] = slice(at[0], at[0] + len(rates)), slice(at[1], at[1] + len(rates))
        for k, rate in enumerate(rates):
            s = found.shaft(name, entity, k)
            followers.append(Shaft(((numbers[name, rate], 1.0),)) if s is None else shaft(s))
    elements = tuple(
        ShaftComponent(
            name,
            (low := lower(entity, Values(name, entity, live), None)).kind,
            low.props,
            {port.name: shaft(found.at[name, port.name]) for port in entity.ports},
        )
        for name, entity in entities.items()
        if has_shafts(entity) and not isinstance(entity, Gear) and all((name, p.name) in found.at for p in entity.ports)
    )
    return Transmission(len(place), place, tuple(followers), own, elements)


def _rates(entity: Entity) -> tuple[str, ...]:
    """Rates of an entity that a frame carries."""
    if isinstance(entity, RotorInertia):
        return () if entity.axis is None else ("v",)
    return entity.rates


def _lines(model: Model, found: Shafts, live: Mapping[str, Any]) -> dict[int, Line]:
    """The lines of ``found`` again, with live numbers in the same order of elimination."""
    gears = {name: e for name, e in model.wiring.entities.items() if isinstance(e, Gear)}
    if not any(path.rpartition(".")[0] in gears for path in live):
        return found.lines
    every = relations(gears, found.at, lambda name, key: Values(name, gears[name], live)(key))
    lines: dict[int, Line] = {}
    for k, shaft in found.pivots:
        terms, constant = substitute(every[k], lines)
        kept = {s: x for s, x in terms.items() if s == shaft or not (isinstance(x, float) and x == 0.0)}
        solve_for(shaft, kept, constant, lines)
    return lines


def _numbers(model: Model, found: Shafts, numbers: Mapping[tuple[str, str], int]) -> dict[int, int]:
    """Number of the rate of every independent shaft."""
    number: dict[int, int] = {}
    for k in found.rates:
        owner = found.owner(k)
        if owner is not None:
            entity = model.wiring.entities[owner[0]]
            part = "v" if isinstance(entity, RotorInertia) else entity.rates[owner[1]]
            number[k] = numbers[owner[0], part]
    return number
