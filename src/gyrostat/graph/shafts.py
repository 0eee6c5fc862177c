"""Shafts: what turns with what. Connected scalar ports are one shaft; gears relate the angles of shafts linearly.

The relations are solved for as many shafts as they determine. What is left are the shafts that have a coordinate of
their own: those of joints, and those of rotors that no gear ties to a joint (behind a spring, for example). The choice
is made here, on the numbers of the specification; ``graph.transmission`` does the arithmetic again on live ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gyrostat.errors import Problem
from gyrostat.graph.shaft_problems import At, is_wrong, massless, open_ports, without_frames
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.wiring import Wiring, label_of

Rate = tuple[str, int]
"""Entity, and the number of its rate."""
ROUNDING = 1e-12


@dataclass(frozen=True)
class Relation:
    """sum of terms[shaft] x angle = constant, as a gear says it."""

    gear: str
    row: int
    terms: Mapping[int, Any]
    constant: Any


@dataclass(frozen=True)
class Line:
    """Angle of a shaft = sum of terms[independent shaft] x angle + constant."""

    terms: Mapping[int, Any]
    constant: Any = 0.0


@dataclass
class Shafts:
    """``at``: shaft of each connected scalar port; ``rates``: joint rates and rotors of each shaft, joints first, in
    state order; ``pivots``: which relation was solved for which shaft, in order; ``lines``: every shaft by the
    independent ones; ``wheels``: all rotors; ``problems``: with the entity's full name in ``where``."""

    at: dict[tuple[str, str], int] = field(default_factory=dict)
    rates: dict[int, list[Rate]] = field(default_factory=dict)
    pivots: list[tuple[int, int]] = field(default_factory=list)
    lines: dict[int, Line] = field(default_factory=dict)
    wheels: tuple[str, ...] = ()
    problems: list[Problem] = field(default_factory=list)

    def owner(self, shaft: int) -> Rate | None:
        """Whose coordinate the shaft has, if it is independent."""
        return None if shaft in self.lines else next(iter(self.rates.get(shaft, ())), None)

    def shaft(self, name: str, entity: Entity, k: int) -> int | None:
        """The shaft that turns with rate k of an entity, if one is connected."""
        return self.at.get((name, entity.shafts[k])) if k < len(entity.shafts) else None

    def kept(self, name: str, entity: Entity) -> list[int]:
        """Numbers of the rates of an entity that are coordinates of the model."""
        places = {k: self.shaft(name, entity, k) for k in range(len(entity.rates))}
        return [k for k, shaft in places.items() if shaft is None or self.owner(shaft) == (name, k)]

    @property
    def rotors(self) -> list[str]:
        """Rotors with a coordinate of their own, in file order."""
        return [name for name in self.wheels if self.owner(self.at[name, "shaft"]) == (name, 0)]


def relations(gears: Mapping[str, Gear], at: At, value: Callable[[str, str], Any]) -> list[Relation]:
    """One for each motor shaft of each gear; ``value(gear, property)`` reads its numbers."""
    found: list[Relation] = []
    for name, gear in gears.items():
        ratio, offset = value(name, "ratio"), value(name, "offset")
        for i, motor in enumerate(gear.motors):
            if (name, motor) not in at or any((name, joint) not in at for joint in gear.joints):
                continue  # an open port, reported elsewhere
            terms: dict[int, Any] = {at[name, motor]: 1.0}
            for j, joint in enumerate(gear.joints):
                shaft = at[name, joint]
                factor = ratio[i][j] if isinstance(gear.ratio, tuple) else ratio
                terms[shaft] = terms.get(shaft, 0.0) - factor
            found.append(Relation(name, i, terms, offset[i] if isinstance(gear.offset, tuple) else offset))
    return found


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
    """Find the shafts of a model, solve the relations of its gears, and say what is wrong with them."""
    found = Shafts(problems=without_frames(wiring))
    kinds = {(name, port.name): port.kind for name, entity in wiring.entities.items() for port in entity.ports}
    groups = [group for group in wiring.groups if kinds.get(group[0]) == "scalar"]
    for k, group in enumerate(groups):
        found.at.update(dict.fromkeys(group, k))
    loose = [
        name for name, e in wiring.entities.items() if isinstance(e, RotorInertia) and (name, "shaft") not in found.at
    ]
    for k, name in enumerate(loose, len(groups)):  # a wheel that nothing drives
        found.at[name, "shaft"] = k
    if not found.at:
        return found
    found.wheels = tuple(name for name, e in wiring.entities.items() if isinstance(e, RotorInertia))
    order = {name: k for k, name in enumerate(wiring.state_order())}
    rates = [
        (order.get(name, 0), found.at[name, port], (name, k))
        for name, e in wiring.entities.items()
        for k, port in enumerate(e.shafts[: len(e.rates)])
        if (name, port) in found.at
    ]
    for _, shaft, rate in sorted(rates):
        found.rates.setdefault(shaft, []).append(rate)
    for name in found.wheels:
        found.rates.setdefault(found.at[name, "shaft"], []).append((name, 0))
    _solve(wiring, found)
    turning = set(found.lines) | set(found.rates)
    found.problems += open_ports(wiring, found.at) + massless(wiring, found.at, groups, turning)
    return found


def _solve(wiring: Wiring, found: Shafts) -> None:
    gears = {name: e for name, e in wiring.entities.items() if isinstance(e, Gear)}
    gears = {name: gear for name, gear in gears.items() if not is_wrong(name, gear, found.at)}
    every = relations(gears, found.at, lambda name, key: getattr(gears[name], key))
    driven = {found.at.get((name, motor)) for name, gear in gears.items() for motor in gear.motors}
    prefer = partial(_preference, wiring, found, driven)
    for k, relation in enumerate(every):
        terms, constant = substitute(relation, found.lines)
        size = max(
            abs(factor * x)
            for shaft, factor in relation.terms.items()
            for x in found.lines.get(shaft, Line({shaft: 1.0})).terms.values() or (0.0,)
        )
        terms = {shaft: x for shaft, x in terms.items() if abs(x) > ROUNDING * size}
        gear = label_of(gears[relation.gear], relation.gear)
        if not terms:
            if abs(constant) > 1e-9:
                message = f"contradicts other gears: it asks for an angle that differs by {constant:g} rad"
                found.problems.append(
                    Problem(gear, "gear-loop", message, "change its offset, or take it out", constant, relation.gear)
                )
            continue
        shaft = min(terms, key=prefer)
        if len(terms) == 1:
            message = "locks its shafts: together with other gears it allows one angle only"
            ratio = gears[relation.gear].ratio
            found.problems.append(
                Problem(gear, "gear-loop", message, "take it out, or change a ratio", ratio, relation.gear)
            )
        solve_for(shaft, terms, constant, found.lines)
        found.pivots.append((k, shaft))


def _preference(wiring: Wiring, found: Shafts, driven: set[Any], shaft: int) -> tuple[int, int]:
    """Shafts are solved for in this order: bare ones, rotors, joints at the motor side of a gear, other joints."""
    rates = found.rates.get(shaft, [])
    if not rates:
        return 0, -shaft
    if any(wiring.entities[name].rates for name, _ in rates):
        return (3 if shaft in driven else 4), -shaft
    return (1 if shaft in driven else 2), -shaft


def has_shafts(entity: Entity) -> bool:
    """Whether it acts on shafts alone: it has scalar ports and no spatial one."""
    kinds = {port.kind for port in entity.ports}
    return kinds == {"scalar"}
