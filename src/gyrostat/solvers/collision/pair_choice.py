"""Which pairs of shapes are meant: those that are named, or all that do not move as one, are not joined by one joint,
and are not said to be left out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from gyrostat.configuration.packing import names_of
from gyrostat.errors import StateError, clipped, nearest
from gyrostat.graph.contact_laws import contact_law
from gyrostat.graph.contact_links import Links
from gyrostat.graph.contacts import Candidate, on_a_plane, placed
from gyrostat.spatial.contact_geometry import closed_form
from gyrostat.spec.contact import Ground
from gyrostat.spec.contact_surfaces import NamedSurface, meant, pairs, surfaces
from gyrostat.spec.model import Model

Names = tuple[str, str]


@dataclass(frozen=True)
class CollisionPair:
    """Two shapes by name, and the ``candidates`` whose least gap is their distance."""

    a: str
    b: str
    candidates: tuple[Candidate, ...]


def usual_pairs(model: Model) -> tuple[CollisionPair, ...]:
    """All that can meet, found once for a model object."""
    kept = model.__dict__.setdefault("_collision_pairs", {})
    if "usual" not in kept:
        kept["usual"] = tuple(_pair(model, *names) for names in _usual(model))
    return kept["usual"]


def _usual(model: Model) -> Iterable[Names]:
    known, links = surfaces(model.wiring), Links(model)
    left_out = _excluded(model, known)
    names = list(known)
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            ordered = _ordered(model, known, one, two)
            if ordered is None or frozenset((one, two)) in left_out:
                continue
            ground = isinstance(model.wiring.entities[known[ordered[1]].entity], Ground)
            joined = links.together if ground else links.adjacent
            if not joined(known[one].entity, known[two].entity):
                yield ordered


def _ordered(model: Model, known: dict[str, NamedSurface], one: str, two: str) -> Names | None:
    """Grounds last; None for two of them."""
    first, second = (isinstance(model.wiring.entities[known[x].entity], Ground) for x in (one, two))
    return None if first and second else (two, one) if first else (one, two)


def _excluded(model: Model, known: dict[str, NamedSurface]) -> set[frozenset[str]]:
    found: set[frozenset[str]] = set()
    for name, pair in pairs(model.wiring).items():
        if pair.exclude:
            a, b = (meant(model.wiring, known, name, side) or [] for side in pair.sides)
            found |= {frozenset((one, two)) for one in a for two in b}
    return found


def chosen_pairs(model: Model, given: Any, who: str) -> tuple[CollisionPair, ...]:
    """Those that are named, or all usual ones for None. A name is that of a shape, of a body (all its shapes) or of a
    ground."""
    if given is None:
        if not surfaces(model.wiring):
            raise StateError(
                f"{who}: no body of '{model.name}' has a shape that can touch. Hint: gs.Shape(..., role='collision')"
            )
        return usual_pairs(model)
    if not isinstance(given, list | tuple):
        raise StateError(
            f"{who}: pairs must be a list of two names each, got {clipped(given)}. Hint: [('hand', 'box')]"
        )
    known = surfaces(model.wiring)
    links = Links(model)
    found: dict[Names, CollisionPair] = {}
    for pair in given:
        names = names_of(pair, who, "a pair")
        if len(names) != 2:
            raise StateError(f"{who}: a pair names {len(names)} things: {clipped(pair)}. Hint: two")
        for one in _named(model, known, names[0], who):
            for two in _named(model, known, names[1], who):
                ordered = _ordered(model, known, one, two)
                if ordered is None or one == two or links.together(known[one].entity, known[two].entity):
                    message = f"'{one}' and '{two}' do not move against each other"
                    raise StateError(f"{who}: {message}. Hint: name two bodies with a joint between them")
                found.setdefault(ordered, _pair(model, *ordered))
    return tuple(found.values())


def _named(model: Model, known: dict[str, NamedSurface], name: str, who: str) -> list[str]:
    found = [name] if name in known else [key for key, surface in known.items() if surface.entity == name]
    if not found:
        raise StateError(
            f"{who}: '{name}' has no shape that can touch, in '{model.name}'. Hint: {nearest(name, known)}"
        )
    return found


def _pair(model: Model, one: str, two: str) -> CollisionPair:
    known = surfaces(model.wiring)
    a, b = placed(model, known[one]), placed(model, known[two])
    law = contact_law(model, known[one], known[two], None)
    on_plane = b.kind == "plane" and a.kind == "capsule"
    features: Sequence[Any] = on_a_plane(model, known[one], a) if on_plane else (a,)
    named = known[one], known[two]
    return CollisionPair(
        one, two, tuple(Candidate(f"{x.name}|{two}", x, b, law, closed_form(x.kind, b.kind), named) for x in features)
    )
