"""How the coordinates of the model move the components (H04 2.2.2, scalar ports): through gears linearly, through cams
by curves.

Components see more rates than the model has: those of a joint that follows another one, of a rotor behind a gear.
They come behind the model's own ones: all rates = (v, T v), and generalised forces come back as u + T^T u'. Elements
on shafts, which no frame carries, see the angle and rate of each of their shafts.

Behind curves T depends on the state, and accelerations have a bias: ``transmission.at(q, v)`` gives the transmission
with both. Without curves that is the transmission itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gyrostat.graph.lower import Values, lower
from gyrostat.graph.shafts import Line, ShaftCurve, Shafts, curve_relations, relations, solve_for, substitute
from gyrostat.graph.tied_shafts import CurvedShaft, FollowedCurve, Moved, Shaft, Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model

__all__ = ["Shaft", "ShaftComponent", "Ties", "Transmission", "transmission"]


@dataclass(frozen=True)
class ShaftComponent:
    """An element that acts on shafts alone; ``shafts`` by the names of its ports."""

    name: str
    kind: type
    props: Mapping[str, Any]
    shafts: Mapping[str, Shaft]

    def __getitem__(self, prop: str) -> Any:
        return self.props[prop]

    @property
    def has_inertia(self) -> bool:
        """Whether its torques depend on accelerations."""
        return bool(getattr(self.kind, "has_inertia", True))


@dataclass(frozen=True)
class Transmission:
    """``followers``: rates beyond the ``n`` of the model, each tied to those; ``place``: where the coordinate of each
    rate is in q; ``slices``: part of the state of each component; ``elements``: what acts on shafts alone; ``curves``:
    what followers follow that do so by a curve; ``state``: the q and v that these were evaluated at."""

    n: int = 0
    place: tuple[int, ...] = ()
    followers: tuple[Shaft, ...] = ()
    slices: Mapping[str, tuple[slice, slice]] = field(default_factory=dict)
    elements: tuple[ShaftComponent, ...] = ()
    curves: tuple[FollowedCurve, ...] = ()
    state: tuple[Array, Array | None] | None = field(default=None, repr=False, compare=False)

    def at(self, q: Array, v: Array | None = None) -> Transmission:
        """With ties and biases at a state; without ``v`` at rest. Itself where all ties are constant."""
        if not self.curves or self._is_at(q, v):
            return self
        moved: list[Moved] = []
        for curve in self.curves:
            moved.append(curve.at(q, np.zeros(self.n) if v is None else v, self.place, moved))
        followers = tuple(shaft.at(q, self.place, moved) for shaft in self.followers)
        elements = tuple(
            replace(c, shafts={port: shaft.at(q, self.place, moved) for port, shaft in c.shafts.items()})
            for c in self.elements
        )
        return replace(self, followers=followers, elements=elements, state=(q, v))

    def _is_at(self, q: Array, v: Array | None) -> bool:
        return self.state is not None and self.state[0] is q and (v is None or self.state[1] is v)

    def coordinates(self, q: Array) -> Array:
        """Coordinates that the components see."""
        if not self.followers:
            return q
        return np.concatenate([q, np.array([shaft.angle(q, self.place) for shaft in self.at(q).followers])])

    def rates(self, v: Array) -> Array:
        """Rates that the components see."""
        if not self.followers:
            return v
        return np.concatenate([v, np.array([shaft.rate(v) for shaft in self.followers])])

    def accelerations(self, a: Array) -> Array:
        """Accelerations that the components see, with their bias."""
        if not self.followers:
            return a
        return np.concatenate([a, np.array([shaft.acceleration(a) for shaft in self.followers])])

    def gathered(self, u: Array) -> Array:
        """Generalised forces (n, ...) of the model's rates, from those of all rates (all, ...)."""
        if not self.followers:
            return u
        total = list(u[: self.n])
        for shaft, follower in zip(self.followers, u[self.n :], strict=True):
            for k, factor in shaft.ties:
                total[k] = total[k] + follower * factor
        return np.array(total).reshape(self.n, *np.shape(u)[1:])

    def ties(self, rate: int) -> Ties:
        """A rate of a component, by the rates of the model."""
        return ((rate, 1.0),) if rate < self.n else self.followers[rate - self.n].ties

    def shaft(self, rate: int) -> Shaft:
        """The same with its angle."""
        return Shaft(((rate, 1.0),)) if rate < self.n else self.followers[rate - self.n]

    def reduced(self, X: Array) -> Array:
        """G^T X G of a matrix over all rates (all, all)."""
        return self.gathered(self.gathered(X).T).T


def transmission(model: Model, live: Mapping[str, Any]) -> Transmission:
    """Shafts of all components with live numbers."""
    place, nq = model.layout.coordinate_of_rate, model.nq
    own = {block.entity: (block.q, block.v) for block in model.layout}
    numbers = {(b.entity, part): k for b in model.layout for k, part in enumerate(b.rates, b.v.start)}
    every, entities = model.shafts, model.wiring.entities
    if not every.at:
        return Transmission(len(place), place, (), own)
    shafts = _Shafts(model, every, live, numbers)
    followers: list[Shaft] = []
    for name, entity in entities.items():
        rates = entity.carried_rates
        if (name in own and own[name][1].stop - own[name][1].start == len(rates)) or not rates:
            continue
        at = nq + len(followers), len(place) + len(followers)
        own[name] = slice(at[0], at[0] + len(rates)), slice(at[1], at[1] + len(rates))
        for k, rate in enumerate(rates):
            s = _shaft_of(every, name, entity, k)
            followers.append(Shaft(((numbers[name, rate], 1.0),)) if s is None else shafts.shaft(s))
    elements = tuple(
        ShaftComponent(
            name,
            (low := lower(entity, Values(name, entity, live), None)).kind,
            low.props,
            {port.name: shafts.shaft(every.at[name, port.name]) for port in entity.ports},
        )
        for name, entity in entities.items()
        if entity.is_shaft_element and not entity.ties_shafts and all((name, p.name) in every.at for p in entity.ports)
    )
    return Transmission(len(place), place, tuple(followers), own, elements, tuple(shafts.curves))


def _shaft_of(every: Shafts, name: str, entity: Entity, k: int) -> int | None:
    """The shaft that turns with rate k of a component."""
    return every.shaft(name, entity, k) if entity.rotor_shaft is None else every.at[name, entity.rotor_shaft]


class _Shafts:
    """All shafts of a model by the numbers of its rates, with live factors."""

    def __init__(self, model: Model, every: Shafts, live: Mapping[str, Any], numbers: Mapping[tuple[str, str], int]):
        self.lines, curved = _solved(model, every, live)
        self.number = _numbers(model, every, numbers)
        self.index = {shaft: i for i, shaft in enumerate(curved)}
        self.curves: list[FollowedCurve] = []
        for curve in curved.values():  # in their order: a driver may follow one of those before
            self.curves.append(FollowedCurve(curve.entity, self.shaft(curve.driver), curve.function))

    def shaft(self, k: int) -> Shaft:
        line = self.lines.get(k, Line({k: 1.0}))
        direct = tuple((self.number[s], x) for s, x in line.terms.items() if s not in self.index)
        bent = tuple((self.index[s], x) for s, x in line.terms.items() if s in self.index)
        if not bent:
            return Shaft(direct, line.constant)
        ties = {k: unknown for i, _ in bent for k, unknown in self.curves[i].ties}
        ties = {k: ties.get(k, x) for k, x in direct} | ties
        return CurvedShaft(tuple(ties.items()), line.constant, direct, bent)


def _solved(
    model: Model, every: Shafts, live: Mapping[str, Any]
) -> tuple[Mapping[int, Line], Mapping[int, ShaftCurve]]:
    """Lines and curves of ``every`` again, with live numbers in the same order of elimination."""
    ties = {name: e for name, e in model.wiring.entities.items() if e.ties_shafts}
    if not any(path.rpartition(".")[0] in ties for path in live):
        return every.lines, every.curved
    read = lambda name, key: Values(name, ties[name], live)(key)  # noqa: E731
    linear, curves = relations(ties, every.at, read), curve_relations(ties, every.at, read)
    lines: dict[int, Line] = {}
    for k, shaft in every.pivots:
        terms, constant = substitute(linear[k], lines)
        kept = {s: x for s, x in terms.items() if s == shaft or not (isinstance(x, float) and x == 0.0)}
        solve_for(shaft, kept, constant, lines)
    new = {curve.follower: curve for curve in curves}
    return lines, {shaft: new[shaft] for shaft in every.curved}


def _numbers(model: Model, every: Shafts, numbers: Mapping[tuple[str, str], int]) -> dict[int, int]:
    """Number of the rate of every independent shaft."""
    number: dict[int, int] = {}
    for k in every.rates:
        owner = every.owner(k)
        if owner is not None:
            entity = model.wiring.entities[owner[0]]
            number[k] = numbers[owner[0], "v" if entity.rotor_shaft is not None else entity.rates[owner[1]]]
    return number
