"""Rules for closed loops: what the context says about them names joints that are there; rods close loops; what is
passive has no drive."""

from __future__ import annotations

from collections.abc import Iterator

from gyrostat.errors import Problem, nearest
from gyrostat.spec.context import Context
from gyrostat.spec.wiring import Wiring, label_of


def loop_problems(wiring: Wiring, context: Context) -> list[Problem]:
    """All of them."""
    return [*_rods(wiring), *_passive(wiring), *_named(wiring, context), *_coordinates(wiring, context)]


def _rods(wiring: Wiring) -> Iterator[Problem]:
    """Rule ``rod-closes``: a rod has a frame that is held otherwise at both of its ends."""
    for name, entity in wiring.entities.items():
        if entity.carries_nothing and name in wiring.tree.parent:
            message = "closes no loop: what is at one of its ends is held by nothing else, or by nothing at all"
            remedy = "connect both ends; a body that only rods hold needs Joint(..., 'free', passive=True) of its own"
            yield Problem(label_of(entity, name), "rod-closes", message, remedy, name, name)


def _passive(wiring: Wiring) -> Iterator[Problem]:
    """Rule ``passive-drive``: what is said to be passive has no drive."""
    drives = [name for name, e in wiring.entities.items() if e.drives or e.rotor_shaft is not None]
    driven = set(wiring.joined(drives, ["scalar"]))
    for name, entity in wiring.entities.items():
        if entity.said_passive and name in driven:
            message = "is said to be passive, but has a drive: a motor or a rotor is connected with its shaft"
            remedy = "leave 'passive' out, or take the drive away"
            yield Problem(label_of(entity, name), "passive-drive", message, remedy, True, f"{name}.passive")


def _named(wiring: Wiring, context: Context) -> Iterator[Problem]:
    """Rule ``loop-joint``: names in ``reference`` and ``independent`` are those of joints with coordinates."""
    joints = [name for name, entity in wiring.entities.items() if entity.coordinates]
    for what, names in (("reference", context.reference), ("independent", context.independent)):
        for name in names:
            if name not in joints and name != wiring.root:
                message = f"'{what}' names '{name}', which is no joint with coordinates"
                yield Problem("context", "loop-joint", message, nearest(name, joints), name, f"context.{what}")
    twice = [name for k, name in enumerate(context.independent) if name in context.independent[:k]]
    if twice:
        message = f"'independent' names '{twice[0]}' twice"
        yield Problem("context", "loop-joint", message, "name every joint once", twice[0], "context.independent")
    if context.independent and not wiring.tree.loops and wiring.root is not None:
        message = "'independent' is given, but the model has no closed loop: all its coordinates are independent"
        yield Problem("context", "loop-joint", message, "leave it out", context.independent, "context.independent")


def _coordinates(wiring: Wiring, context: Context) -> Iterator[Problem]:
    """Rule ``reference-size``: as many numbers as the joint has coordinates; quaternions have a length."""
    for name, numbers in context.reference.items():
        entity = wiring.entities.get(name)
        if entity is None or not entity.coordinates:
            continue
        at = entity.quaternion_at
        if len(numbers) != len(entity.coordinates):
            message = (
                f"'reference' of '{name}' has {len(numbers)} number(s), expected {len(entity.coordinates)}: "
                f"{', '.join(entity.coordinates)}"
            )
            yield Problem("context", "reference-size", message, "give rad and m", numbers, "context.reference")
        elif at is not None and abs(sum(x * x for x in numbers[at:]) - 1.0) > 1e-3:
            message = f"'reference' of '{name}' ends in a quaternion that is not of unit length, got {numbers[at:]}"
            yield Problem("context", "reference-size", message, "write x, y, z, w", numbers, "context.reference")
