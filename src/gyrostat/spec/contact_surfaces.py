"""Which surfaces a model has, and which of them a pair speaks of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from gyrostat.errors import Problem, nearest
from gyrostat.spec.contact import EVERYTHING, ContactPair, ContactPoint, Ground
from gyrostat.spec.contact_law import COMPLIANT, ContactEntity
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rules import shown
from gyrostat.spec.shape import Shape
from gyrostat.spec.wiring import Wiring, label_of


@dataclass(frozen=True)
class NamedSurface:
    """A surface by its name; ``entity``: full name of who has it; ``shape``: of a body."""

    name: str
    entity: str
    shape: Shape | None = None


def surfaces(wiring: Wiring) -> dict[str, NamedSurface]:
    """All that can touch, by name: grounds, contact points and shapes of bodies. A shape is called like its body,
    ``hand``, where that has one without a name; else by its name, ``hand.palm``, or its number, ``hand.0``."""
    found: dict[str, NamedSurface] = {}
    for name, entity in wiring.entities.items():
        if isinstance(entity, Ground | ContactPoint):
            found[name] = NamedSurface(name, name)
        elif isinstance(entity, RigidBody):
            shapes = [shape for shape in entity.shapes if shape.can_touch]
            for k, shape in enumerate(shapes):
                called = name if len(shapes) == 1 and not shape.name else f"{name}.{shape.name or k}"
                called = f"{name}.{k}" if called in found else called
                found[called] = NamedSurface(called, name, shape)
    return found


def pairs(wiring: Wiring) -> dict[str, ContactPair]:
    """What is said about pairs, by full name."""
    return {name: entity for name, entity in wiring.entities.items() if isinstance(entity, ContactPair)}


def full_name(wiring: Wiring, known: Mapping[str, NamedSurface], pair: str, side: str) -> str | None:
    """The full name of the surface, entity or assembly that a side of a pair names, None if there is nothing of that
    name. Inside an assembly its own names come first, then those of what holds it."""
    scope = pair.rpartition(".")[0]
    while True:
        full = f"{scope}.{side}" if scope else side
        if full in known or full in wiring.entities or full in wiring.assemblies:
            return full
        if not scope:
            return None
        scope = scope.rpartition(".")[0]


def meant(wiring: Wiring, known: Mapping[str, NamedSurface], pair: str, side: str) -> list[str] | None:
    """Names of the surfaces that a side of a pair stands for, None if there is nothing of that name."""
    if side == EVERYTHING:
        return list(known)
    full = full_name(wiring, known, pair, side)
    if full is None or full in known:
        return None if full is None else [full]
    return [name for name in known if known[name].entity == full or name.startswith(f"{full}.")]


def contact_problems(wiring: Wiring) -> list[Problem]:
    """Rule ``contact-pair``: names of pairs lead to surfaces; rule ``contact-law``: no property without effect."""
    said, problems = pairs(wiring), _without_stiffness(wiring)
    if not said:
        return problems
    known = surfaces(wiring)
    for name, pair in said.items():
        for key, side in zip("ab", pair.sides, strict=True):
            found = meant(wiring, known, name, side)
            if found is None:
                message, remedy = f"'{key}' is '{side}', there is no such entity", nearest(side, known)
                problems.append(_problem(pair, name, key, message, remedy, side))
            elif not found and not pair.exclude and side != EVERYTHING:
                message = f"'{key}' is '{side}', which has nothing that can touch"
                remedy = "name a Ground, a ContactPoint or a body that has shapes with role='collision'"
                problems.append(_problem(pair, name, key, message, remedy, side))
    return problems


def _without_stiffness(wiring: Wiring) -> list[Problem]:
    """Properties of compliant contact, where nothing in the model has a stiffness; one side of a contact may have it,
    and the other its damping."""
    laws: list[tuple[str, Any, str, Any]] = [
        (name, entity, "", entity) for name, entity in wiring.entities.items() if isinstance(entity, ContactEntity)
    ]
    for name, entity in wiring.entities.items():
        if isinstance(entity, RigidBody):
            parts = [(k, shape.contact) for k, shape in enumerate(entity.shapes) if shape.contact is not None]
            laws += [(name, entity, f"shapes.{k}.contact.", said) for k, said in parts]
    if any(law.stiffness is not None for *_, law in laws):
        return []
    remedy = "give a stiffness, which makes the contact compliant; a rigid one has friction and restitution"
    return [
        Problem(
            label_of(entity, name), "contact-law", f"'{at}{key}' is {shown(getattr(law, key))}, but no contact has a "
            "stiffness: it has no effect", remedy, getattr(law, key), f"{name}.{at}{key}",
        )
        for name, entity, at, law in laws for key in COMPLIANT if getattr(law, key) is not None
    ]  # fmt: skip


def _problem(pair: ContactPair, name: str, key: str, message: str, remedy: str, side: str) -> Problem:
    return Problem(label_of(pair, name), "contact-pair", message, remedy, side, f"{name}.{key}")
