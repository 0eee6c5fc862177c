"""Rules for what acts on shafts and between frames: it is connected, and what it moves has inertia.

What follows from a mistake that another rule reports is not reported again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity
from gyrostat.spec.wiring import Wiring, label_of

At = Mapping[tuple[str, str], int]
"""Shaft of each connected scalar port."""


def is_wrong(name: str, entity: Entity, at: At) -> bool:
    """Whether another rule already says what is wrong with a gear or cam: nothing follows from its numbers then."""
    places = [at[name, port] for port in entity.shafts if (name, port) in at]
    return bool(entity.problems()) or len(set(places)) < len(places)


def contradicts(wiring: Wiring, name: str, difference: float) -> Problem:
    """Rule ``gear-loop``: gears in a loop agree."""
    message = f"contradicts other gears: it asks for an angle that differs by {difference:g} rad"
    label = label_of(wiring.entities[name], name)
    return Problem(label, "gear-loop", message, "change its offset, or take it out", difference, name)


def locks(wiring: Wiring, name: str) -> Problem:
    """Rule ``gear-loop``: something is left that can turn."""
    entity = wiring.entities[name]
    message = "locks its shafts: together with other gears it allows one angle only"
    remedy = "take it out, or change a ratio"
    return Problem(label_of(entity, name), "gear-loop", message, remedy, getattr(entity, "ratio", None), name)


def closes_loop(wiring: Wiring, name: str, others: Sequence[str]) -> Problem:
    """Rule ``curve-loop``: shafts that follow by curves are not tied to each other once more."""
    message = f"ties shafts to each other that follow curves already: those of {_quoted(others)}"
    return Problem(label_of(wiring.entities[name], name), "curve-loop", message, "take one of them out", name, name)


def two_curves(wiring: Wiring, name: str, other: str) -> Problem:
    """Rule ``curve-loop``: a shaft follows by one curve."""
    message = f"its follower follows '{other}' already"
    remedy = "take one of them out, or connect it to another joint"
    return Problem(label_of(wiring.entities[name], name), "curve-loop", message, remedy, other, name)


def drives_itself(wiring: Wiring, names: Sequence[str]) -> Problem:
    """Rule ``curve-loop``: no shaft follows itself."""
    through = f", through {_quoted(names[1:])}" if len(names) > 1 else ""
    message = f"drives itself{through}: its driver depends on its follower"
    remedy = "connect its driver to a joint that does not follow it"
    label = label_of(wiring.entities[names[0]], names[0])
    return Problem(label, "curve-loop", message, remedy, tuple(names), names[0])


def _quoted(names: Sequence[str]) -> str:
    return ", ".join(f"'{name}'" for name in dict.fromkeys(names))


def _explained(wiring: Wiring) -> set[str]:
    """Entities at connections that lead nowhere."""
    return {name for end in wiring.loose for name in (*end.touches, *end.meant)}


def open_ports(wiring: Wiring, at: At) -> list[Problem]:
    """Rule ``open-shaft``: gears, cams, springs, friction and motors do nothing unless all their shafts are
    connected."""
    problems: list[Problem] = []
    known = wiring.reached() - _explained(wiring)
    for name, open_port in _opened(wiring, at).items():
        entity = wiring.entities[name]
        if name in known:
            message = f"its shaft '{open_port}' is connected to nothing"
            remedy = "connect it to a joint, a rotor or a gear"
            remedy += ", or write ground=True" if "ground" in type(entity).model_fields else ""
            problems.append(Problem(label_of(entity, name), "open-shaft", message, remedy, open_port, name))
    return problems


def _opened(wiring: Wiring, at: At) -> dict[str, str]:
    """The first open shaft of every element that has one."""
    first: dict[str, str] = {}
    for name, entity in wiring.entities.items():
        if entity.needs_all_shafts:
            open_ports = [p.name for p in entity.ports if (name, p.name) not in at]
            first |= {name: open_ports[0]} if open_ports else {}
    return first


def massless(wiring: Wiring, at: At, groups: Sequence[Sequence[tuple[str, str]]], turning: Set[int]) -> list[Problem]:
    """Rule ``massless-shaft``: a shaft with a coordinate of its own belongs to a joint or a rotor; ``turning`` ones
    do, or follow others."""
    problems: list[Problem] = []
    wrong = {name for name, e in wiring.entities.items() if e.ties_shafts and is_wrong(name, e, at)}
    wrong |= set(_opened(wiring, at)) | _explained(wiring)
    for shaft, group in enumerate(groups):
        if shaft not in turning and not any(name in wrong for name, _ in group):
            name = group[0][0]
            ports = ", ".join(".".join(port) for port in group)
            message = f"the shaft [{ports}] can turn by itself, but has neither a joint nor a rotor"
            remedy = "add a RotorInertia to it, or connect it to a joint"
            label = label_of(wiring.entities[name], name)
            problems.append(Problem(label, "massless-shaft", message, remedy, ports, name))
    return problems


def without_frames(wiring: Wiring) -> list[Problem]:
    """Rules ``rotor-carrier`` and ``pair-force``: what acts on frames is connected to frames of the mechanism."""
    named = {name: e for name, e in wiring.entities.items() if e.rotor_shaft is not None or not e.binds}
    if not named:
        return []
    order, group_of = wiring.tree.parent, wiring.group_of()
    known = wiring.reached() - _explained(wiring)
    problems: list[Problem] = []
    for name, entity in named.items():
        for port in entity.ports if name in known else ():
            group = wiring.groups[group_of[name, port.name]] if (name, port.name) in group_of else ()
            there = any(n != name and n in order and wiring.entities[n].binds for n, _ in group)
            if port.kind == "spatial" and not there and not (entity.stands_alone and not group):
                rotor = entity.rotor_shaft is not None
                message = f"its port '{port.name}' is connected to no frame of the mechanism"
                remedy = "connect it to a body, a joint or the reference frame"
                remedy += "; without an axis, a rotor needs none" if rotor else ""
                rule = "rotor-carrier" if rotor else "pair-force"
                problems.append(Problem(label_of(entity, name), rule, message, remedy, port.name, name))
    return problems
