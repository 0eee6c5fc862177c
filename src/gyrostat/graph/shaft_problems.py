"""Rules for what acts on shafts and between frames: it is connected, and what it moves has inertia.

What follows from a mistake that another rule reports is not reported again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

from gyrostat.errors import Problem
from gyrostat.spec.gear import Gear
from gyrostat.spec.motor import Motor
from gyrostat.spec.pair_forces import PairForce
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shaft_elements import Friction, TwoShafts
from gyrostat.spec.wiring import Wiring, label_of

At = Mapping[tuple[str, str], int]
"""Shaft of each connected scalar port."""


def is_wrong(name: str, gear: Gear, at: At) -> bool:
    """Whether another rule already says what is wrong with a gear: nothing follows from its numbers then."""
    places = [at[name, port] for port in (*gear.motors, *gear.joints) if (name, port) in at]
    return bool(gear.problems()) or len(set(places)) < len(places)


def _explained(wiring: Wiring) -> set[str]:
    """Entities at connections that lead nowhere."""
    return {name for end in wiring.loose for name in (*end.touches, *end.meant)}


def open_ports(wiring: Wiring, at: At) -> list[Problem]:
    """Rule ``open-shaft``: gears, springs, friction and motors do nothing unless all their shafts are connected."""
    problems: list[Problem] = []
    known = wiring.reached() - _explained(wiring)
    for name, open_port in _opened(wiring, at).items():
        entity = wiring.entities[name]
        if name in known:
            message = f"its shaft '{open_port}' is connected to nothing"
            remedy = "connect it to a joint, a rotor or a gear"
            remedy += ", or write ground=True" if isinstance(entity, TwoShafts) else ""
            problems.append(Problem(label_of(entity, name), "open-shaft", message, remedy, open_port, name))
    return problems


def _opened(wiring: Wiring, at: At) -> dict[str, str]:
    """The first open shaft of every element that has one."""
    found: dict[str, str] = {}
    for name, entity in wiring.entities.items():
        if isinstance(entity, Gear | TwoShafts | Friction | Motor):
            open_ports = [p.name for p in entity.ports if (name, p.name) not in at]
            found |= {name: open_ports[0]} if open_ports else {}
    return found


def massless(wiring: Wiring, at: At, groups: Sequence[Sequence[tuple[str, str]]], turning: Set[int]) -> list[Problem]:
    """Rule ``massless-shaft``: a shaft with a coordinate of its own belongs to a joint or a rotor; ``turning`` ones
    do, or follow others."""
    problems: list[Problem] = []
    gears = {name: e for name, e in wiring.entities.items() if isinstance(e, Gear)}
    wrong = {name for name, gear in gears.items() if is_wrong(name, gear, at)}
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
    named = {name: e for name, e in wiring.entities.items() if isinstance(e, RotorInertia | PairForce)}
    if not named:
        return []
    order, group_of = wiring.tree.parent, wiring.group_of()
    known = wiring.reached() - _explained(wiring)
    problems: list[Problem] = []
    for name, entity in named.items():
        for port in entity.ports if name in known else ():
            group = wiring.groups[group_of[name, port.name]] if (name, port.name) in group_of else ()
            there = any(n != name and n in order and wiring.entities[n].binds for n, _ in group)
            if port.kind == "spatial" and not there:
                rotor = isinstance(entity, RotorInertia)
                message = f"its port '{port.name}' is connected to no frame of the mechanism"
                remedy = "connect it to a body, a joint or the reference frame"
                remedy += "; without an axis, a rotor needs none" if rotor else ""
                rule = "rotor-carrier" if rotor else "pair-force"
                problems.append(Problem(label_of(entity, name), rule, message, remedy, port.name, name))
    return problems
