"""Shafts: what turns with what. Connected scalar ports are one shaft; entities relate the angles of shafts to each
other, gears linearly, cams by a curve.

The linear relations are solved for as many shafts as they determine. What is left are base shafts: those that follow
another one by a curve, and the independent ones, which have a coordinate of their own: those of joints, and those of
rotors that nothing ties to a joint (behind a spring, for example). The choice is made here, on the numbers of the
specification; ``graph.transmission`` does the arithmetic again on live ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gyrostat.errors import Problem
from gyrostat.graph.shaft_problems import (
    At,
    closes_loop,
    contradicts,
    drives_itself,
    is_wrong,
    locks,
    massless,
    open_ports,
    two_curves,
    without_frames,
)
from gyrostat.spec.entity import Entity
from gyrostat.spec.wiring import Wiring

Rate = tuple[str, int]
"""Entity, and the number of its rate."""
Read = Callable[[str, str], Any]
"""``read(entity, property)``: its number."""
ROUNDING = 1e-12


@dataclass(frozen=True)
class Relation:
    """sum of terms[shaft] x angle = constant, as an entity says it; ``follower``: the shaft that it prefers to solve
    for."""

    entity: str
    follower: int
    terms: Mapping[int, Any]
    constant: Any


@dataclass(frozen=True)
class ShaftCurve:
    """Angle of the shaft ``follower`` = function(angle of the shaft ``driver``), as an entity says it."""

    entity: str
    follower: int
    driver: int
    function: Callable[[Any], Any]


@dataclass(frozen=True)
class Line:
    """Angle of a shaft = sum of terms[base shaft] x angle + constant."""

    terms: Mapping[int, Any]
    constant: Any = 0.0


@dataclass
class Shafts:
    """``at``: shaft of each connected scalar port; ``rates``: joint rates and rotors of each shaft, joints first, in
    state order; ``pivots``: which relation was solved for which shaft, in order; ``lines``: every shaft by the base
    shafts; ``curved``: base shafts that follow by a curve, each behind those that it depends on; ``wheels``: all
    rotors; ``problems``: with the entity's full name in ``where``."""

    at: dict[tuple[str, str], int] = field(default_factory=dict)
    rates: dict[int, list[Rate]] = field(default_factory=dict)
    pivots: list[tuple[int, int]] = field(default_factory=list)
    lines: dict[int, Line] = field(default_factory=dict)
    curved: dict[int, ShaftCurve] = field(default_factory=dict)
    wheels: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def owner(self, shaft: int) -> Rate | None:
        """Whose coordinate the shaft has, if it is independent."""
        if shaft in self.lines or shaft in self.curved:
            return None
        return next(iter(self.rates.get(shaft, ())), None)

    def shaft(self, name: str, entity: Entity, k: int) -> int | None:
        """The shaft that turns with rate k of an entity, if one is connected."""
        return self.at.get((name, entity.shafts[k])) if k < len(entity.shafts) else None

    def line(self, shaft: int) -> Line:
        """A shaft by the base shafts."""
        return self.lines.get(shaft) or Line({shaft: 1.0})

    def kept(self, name: str, entity: Entity) -> list[int]:
        """Numbers of the rates of an entity that are coordinates of the model."""
        places = {k: self.shaft(name, entity, k) for k in range(len(entity.rates))}
        return [k for k, shaft in places.items() if shaft is None or self.owner(shaft) == (name, k)]

    def leaders(self, shaft: int) -> list[int]:
        """The independent shafts that a shaft depends on, through lines and curves."""
        leaders: list[int] = []
        for base in self.line(shaft).terms:
            leaders += self.leaders(self.curved[base].driver) if base in self.curved else [base]
        return list(dict.fromkeys(leaders))

    def is_linear(self, shaft: int) -> bool:
        """Whether no curve is in it."""
        return not any(base in self.curved for base in self.line(shaft).terms)

    @property
    def rotors(self) -> list[str]:
        """Rotors with a coordinate of their own, in file order."""
        return [name for name, port in self.wheels.items() if self.owner(self.at[name, port]) == (name, 0)]


def relations(entities: Mapping[str, Entity], at: At, read: Read) -> list[Relation]:
    """All linear relations, in file order."""
    every: list[Relation] = []
    for name, entity in entities.items():
        for relation in entity.relations(partial(read, name)):
            if any((name, port) not in at for port in relation.terms):
                continue  # an open port, reported elsewhere
            terms: dict[int, Any] = {}
            for port, factor in relation.terms.items():
                shaft = at[name, port]
                terms[shaft] = terms[shaft] + factor if shaft in terms else factor
            every.append(Relation(name, at[name, relation.follower], terms, relation.constant))
    return every


def curve_relations(entities: Mapping[str, Entity], at: At, read: Read) -> list[ShaftCurve]:
    """All shafts that follow by a curve, in file order."""
    return [
        ShaftCurve(name, at[name, curve.follower], at[name, curve.driver], curve.function)
        for name, entity in entities.items()
        for curve in entity.curves(partial(read, name))
        if (name, curve.follower) in at and (name, curve.driver) in at
    ]


def substitute(relation: Relation, lines: Mapping[int, Line]) -> tuple[dict[int, Any], Any]:
    """A relation in terms of shafts that are not solved for yet."""
    terms: dict[int, Any] = {}
    constant = relation.constant
    for shaft, factor in relation.terms.items():
        line = lines.get(shaft, Line({shaft: 1.0}))
        constant = constant - factor * line.constant
        for other, x in line.terms.items():
            terms[other] = terms.get(other, 0.0) + factor * x
    return terms, constant


def solve_for(shaft: int, terms: Mapping[int, Any], constant: Any, lines: dict[int, Line]) -> None:
    """Solve for a shaft, and put it into all lines that were found before."""
    pivot = terms[shaft]
    new = Line({k: -x / pivot for k, x in terms.items() if k != shaft}, constant / pivot)
    for other, line in list(lines.items()):
        if shaft in line.terms:
            factor = line.terms[shaft]
            changed = {k: x for k, x in line.terms.items() if k != shaft}
            for k, x in new.terms.items():
                changed[k] = changed.get(k, 0.0) + factor * x
            lines[other] = Line(changed, line.constant + factor * new.constant)
    lines[shaft] = new


def shafts(wiring: Wiring) -> Shafts:
    """Find the shafts of a model, solve the relations between them, and say what is wrong with them."""
    every = Shafts(problems=without_frames(wiring))
    kinds = {(name, port.name): port.kind for name, entity in wiring.entities.items() for port in entity.ports}
    groups = [group for group in wiring.groups if kinds.get(group[0]) == "scalar"]
    for k, group in enumerate(groups):
        every.at.update(dict.fromkeys(group, k))
    wheels = {name: e.rotor_shaft for name, e in wiring.entities.items() if e.rotor_shaft is not None}
    alone = [(name, port) for name, port in wheels.items() if (name, port) not in every.at]
    for k, place in enumerate(alone, len(groups)):  # a wheel that nothing drives
        every.at[place] = k
    if not every.at:
        return every
    every.wheels = wheels
    order = {name: k for k, name in enumerate(wiring.state_order())}
    rates = [
        (order.get(name, 0), every.at[name, port], (name, k))
        for name, e in wiring.entities.items()
        for k, port in enumerate(e.shafts[: len(e.rates)])
        if (name, port) in every.at
    ]
    for _, shaft, rate in sorted(rates):
        every.rates.setdefault(shaft, []).append(rate)
    for place in wheels.items():
        every.rates.setdefault(every.at[place], []).append((place[0], 0))
    _solve(wiring, every)
    turning = set(every.lines) | set(every.curved) | set(every.rates)
    every.problems += open_ports(wiring, every.at) + massless(wiring, every.at, groups, turning)
    return every


def _solve(wiring: Wiring, every: Shafts) -> None:
    """Lines of all shafts that linear relations determine, and the order of those that curves determine."""
    right = {n: e for n, e in wiring.entities.items() if e.ties_shafts and not is_wrong(n, e, every.at)}
    read = lambda name, key: getattr(right[name], key)  # noqa: E731
    curved: dict[int, ShaftCurve] = {}
    for curve in curve_relations(right, every.at, read):
        if curve.follower in curved:
            every.problems.append(two_curves(wiring, curve.entity, curved[curve.follower].entity))
        else:
            curved[curve.follower] = curve
    _eliminate(wiring, every, relations(right, every.at, read), curved)
    every.curved = _in_order(wiring, every, curved)


def _eliminate(wiring: Wiring, every: Shafts, linear: list[Relation], curved: Mapping[int, ShaftCurve]) -> None:
    """Solve the linear relations one by one."""
    driven = {relation.follower for relation in linear}
    prefer = partial(_preference, wiring, every, driven, curved)
    for k, relation in enumerate(linear):
        terms, constant = substitute(relation, every.lines)
        size = max(
            abs(factor * x)
            for shaft, factor in relation.terms.items()
            for x in every.lines.get(shaft, Line({shaft: 1.0})).terms.values() or (0.0,)
        )
        terms = {shaft: x for shaft, x in terms.items() if abs(x) > ROUNDING * size}
        if not terms:
            if abs(constant) > 1e-9:
                every.problems.append(contradicts(wiring, relation.entity, constant))
            continue
        shaft = min(terms, key=prefer)
        if shaft in curved:
            every.problems.append(closes_loop(wiring, relation.entity, [curved[s].entity for s in terms]))
            continue
        if len(terms) == 1:
            every.problems.append(locks(wiring, relation.entity))
        solve_for(shaft, terms, constant, every.lines)
        every.pivots.append((k, shaft))


def _preference(
    wiring: Wiring, every: Shafts, driven: set[int], curved: Mapping[int, Any], shaft: int
) -> tuple[int, int]:
    """Shafts are solved for in this order: bare ones, rotors, joints that a relation prefers to solve for (those at the
    motor side of a gear), other joints; those that follow by a curve never."""
    rates = every.rates.get(shaft, [])
    if shaft in curved:
        return 5, -shaft
    if not rates:
        return 0, -shaft
    if any(wiring.entities[name].rates for name, _ in rates):
        return (3 if shaft in driven else 4), -shaft
    return (1 if shaft in driven else 2), -shaft


def _in_order(wiring: Wiring, every: Shafts, curved: dict[int, ShaftCurve]) -> dict[int, ShaftCurve]:
    """Curves, each behind those that its driver depends on; one that drives itself is a mistake."""
    ordered: dict[int, ShaftCurve] = {}
    left = dict(curved)
    while left:
        ready = [s for s, c in left.items() if not any(base in left for base in every.line(c.driver).terms)]
        for shaft in ready:
            ordered[shaft] = left.pop(shaft)
        if not ready:
            every.problems.append(drives_itself(wiring, [curve.entity for curve in left.values()]))
            break
    return ordered
