"""``model.detach`` and ``model.remove``: what goes when an entity is taken out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gyrostat.errors import Problem, SpecError
from gyrostat.spec.contact import ContactPair
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.edits.scope import checked, full_name, refused, within
from gyrostat.spec.model import Model
from gyrostat.spec.wiring import Wiring


def detach(model: Model, name: str, check: bool) -> Model:
    """See :meth:`Model.detach`."""
    gone = {*within(model, full := _removable(model, name, "detach")), *_own_place(model, full)}
    try:
        return checked(rebuilt(model, Changes(drop=gone | lost_with(model, gone))), check)
    except SpecError as error:
        raise SpecError(_idle(problem, model.wiring.root) for problem in error.problems) from None


def _idle(problem: Problem, root: str | None) -> Problem:
    """A joint that is left with nothing to move could be detached instead."""
    if problem.rule != "moved-mass" or not isinstance(problem.value, str):
        return problem
    if problem.value == root:
        return replace(problem, remedy="pass check=False and attach something else")
    return replace(problem, remedy=f"detach '{problem.value}' instead, or pass check=False and attach something else")


def remove(model: Model, name: str, check: bool) -> Model:
    """See :meth:`Model.remove`."""
    gone = set(within(model, full := _removable(model, name, "remove")))
    without = lost_with(model, gone) | _said_of(model, gone)
    lost = [other for other in model.wiring.entities if other in without]
    if lost:
        shown = ", ".join(f"'{other}'" for other in lost[:6]) + (f" and {len(lost) - 6} more" if len(lost) > 6 else "")
        message = f"{shown} depend{'s' if len(lost) == 1 else ''} on it"
        remedy = f"model.detach('{full}') takes them along; or remove them first"
        raise refused(f"remove '{full}'", message, remedy, tuple(lost))
    return checked(rebuilt(model, Changes(drop=gone)), check)


def _said_of(model: Model, gone: set[str]) -> set[str]:
    """Pairs of surfaces that name something of ``gone``."""
    left = rebuilt(model, Changes(drop=gone)).wiring.entities
    pairs = {name for name, entity in model.wiring.entities.items() if isinstance(entity, ContactPair)}
    return pairs - set(left) - gone


def _removable(model: Model, name: str, who: str) -> str:
    full = full_name(model, name, who)
    if model.wiring.root in within(model, full):
        raise refused(f"{who} '{full}'", "is the reference frame", "a model needs one", full)
    return full


def _own_place(model: Model, full: str) -> list[str]:
    """The displacement ``<name>_origin``, if nothing else is connected with what it carries."""
    own = f"{full}_origin"
    if not isinstance(model.wiring.entities.get(own), Displacement | DHDisplacement):
        return []
    mates = {name for group in model.wiring.groups if (own, "b") in group for name, _ in group}
    return [own] if mates == {own, full} or mates - {own} <= set(within(model, full)) else []


def lost_with(model: Model, gone: Iterable[str]) -> set[str]:
    """Full names of what is no longer part of the mechanism without ``gone``, by the connections as they are written.

    Frames: what the reference frame no longer reaches; forces between frames need all of theirs. Shafts: a drivetrain
    that drove a joint and now drives none, with its rotors; and elements of two shafts, one of which leads nowhere."""
    gone, lost = set(gone), set[str]()
    while True:  # a joint that goes opens a shaft, a shaft that opens may free another
        left = rebuilt(model, Changes(drop=gone | lost)).wiring
        more = _without_frame(model.wiring, left) | _without_shaft(model.wiring, left)
        if not more:
            return lost
        lost |= more


def _without_frame(before: Wiring, left: Wiring) -> set[str]:
    """Entities that were reached through frames, and are not any more, or not by all their frames."""
    reached = left.tree.parent
    lost = {name for name in before.tree.parent if name in left.entities and name not in reached}
    for name in reached:
        for port in left.entities[name].ports if not left.entities[name].binds else ():
            group = left.connection(name, port.name)
            alone = left.entities[name].stands_alone and not before.connection(name, port.name)
            if not alone and not any(other in reached and left.entities[other].binds for other, _ in group):
                lost.add(name)
    return lost


def _without_shaft(before: Wiring, left: Wiring) -> set[str]:
    """Elements on shafts that act on nothing any more."""
    was, now = _drivetrains(before), _drivetrains(left)
    moving = {name for name, entity in before.entities.items() if entity.rates}
    connected, then = left.group_of(), before.group_of()
    idle: set[str] = set()
    for name, train in now.items():
        if name in moving or was[name] <= train:
            continue  # nothing is missing from its drivetrain
        ports = left.entities[name].ports
        opened = [p for p in ports if (name, p.name) in then and (name, p.name) not in connected]
        drove = was[name] & moving
        if (drove and not train & moving) or (opened and len(ports) <= 2 and {p.kind for p in ports} == {"scalar"}):
            idle.add(name)
    return idle


def _drivetrains(wiring: Wiring) -> dict[str, set[str]]:
    """For each entity with shafts, all that are connected with it through shafts, itself included."""
    scalar = {(name, p.name) for name, entity in wiring.entities.items() for p in entity.ports if p.kind == "scalar"}
    trains: dict[str, set[str]] = {name: {name} for name, _ in scalar}
    for group in wiring.groups:
        together = set[str]().union(*(trains[name] for name, port in group if (name, port) in scalar))
        for name in together:
            trains[name] = together
    return trains
