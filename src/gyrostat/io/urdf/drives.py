"""What a URDF says about drives: limits, damping and friction, followers (mimic), transmissions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gyrostat.errors import Problem
from gyrostat.io.xml import Element, Reader, number, short
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.rules import not_finite
from gyrostat.spec.shaft_elements import Friction
from gyrostat.spec.with_drive import own_axis, put_together

TURN = 2.0 * math.pi * 1.001
"""A little more than a whole turn: angles beyond may be degrees."""

SINGLE = ("revolute", "continuous", "prismatic")
"""Kinds with one rate: these have limits, drives and followers."""

Connections = list[tuple[str, ...]]


@dataclass(frozen=True)
class Mimic:
    """angle = multiplier x angle of the leader + offset."""

    leader: str
    multiplier: float
    offset: float
    element: Element


@dataclass
class UrdfDrive:
    """Limits as properties of :class:`Joint`; damping and friction at the joint; reduction and rotor of a
    transmission."""

    limits: dict[str, float] = field(default_factory=dict)
    damping: float = 0.0
    friction: float = 0.0
    mimic: Mimic | None = None
    reduction: float | None = None
    rotor: float | None = None
    reflected: bool = False
    transmission: Element | None = None
    motor: dict[str, float] = field(default_factory=dict)


def read_drive(reader: Reader, joint: Element, kind: str, friction: bool) -> UrdfDrive:
    """Limits, damping and friction of a joint; ``friction=False`` leaves the latter two out, and tells it."""
    drive = UrdfDrive()
    _limit(reader, joint, kind, drive)
    element = reader.child(joint, "dynamics")
    if element is None:
        return drive
    used = kind in SINGLE and friction
    values = {k: reader.scalar(element, k, used) or 0.0 for k in ("damping", "friction") if k in element.attrib}
    if not any(values.values()):
        return drive
    if not used:
        why = "left out, as asked for" if kind in SINGLE else f"a {kind} joint has none"
        reader.ignore(element, "unused-dynamics", f"damping and friction: {why}", shown(element))
        return drive
    for key, value in values.items():
        if value < 0.0:
            what = f"'{key}' is negative: it would drive the joint"
            fix = "give its magnitude"
            values[key] = 0.0 if reader.wrong(element, "dynamics", what, f"{value:g}", fix, "taken as zero") else value
    drive.damping, drive.friction = (values.get(key, 0.0) for key in ("damping", "friction"))
    return drive


def _limit(reader: Reader, joint: Element, kind: str, drive: UrdfDrive) -> None:
    element = reader.child(joint, "limit")
    bounded = kind in ("revolute", "prismatic")
    if element is None:
        if bounded:
            what = f"a {kind} joint has no limits, which URDF asks for"
            reader.warn(joint, "limit-missing", what, "nothing", "add <limit>")
        return
    keys = ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk")
    values = {k: reader.scalar(element, k, strict=False) for k in keys if k in element.attrib}
    unused = [k for k in keys[4:] if k in values]
    if kind not in SINGLE or unused:
        what = f"a {kind} joint has no limits" if kind not in SINGLE else f"{', '.join(unused)}: not in the model"
        reader.ignore(element, "unused-limit", what, shown(element))
    for key in keys[2:]:
        value = values.get(key)
        if value is not None and value < 0.0:
            reader.warn(element, "limit-negative", f"'{key}' is negative", f"{value:g}", "give its magnitude")
    lower, upper = (values.get(k, 0.0) for k in ("lower", "upper"))
    if bounded and lower is not None and upper is not None:
        drive.limits |= _range(reader, element, kind, lower, upper)
    for key, name in (("velocity", "velocity_limit"), ("effort", "effort_limit")):
        value = values.get(key)
        if kind in SINGLE and value is not None and value >= 0.0:
            drive.limits[name] = value


def _range(reader: Reader, element: Element, kind: str, lower: float, upper: float) -> dict[str, float]:
    """Limits of the coordinate; the other way round they are taken as they are meant, or not at all."""
    if lower > upper:
        what = "the lower limit is above the upper one"
        found = f"{lower:g} > {upper:g}"
        what = accepted(reader, what, "they are left out")
        if not reader.wrong(
            element, "limit-order", what, found, "exchange them", "read the other way round", left_out=True
        ):
            return {}
        lower, upper = upper, lower
    elif lower == upper:
        what = "the limits leave no room to move"
        reader.warn(element, "limit-zero", what, shown(element), "give lower and upper, or make the joint fixed")
    if kind == "revolute" and max(abs(lower), abs(upper)) > TURN:
        what = "the limits are more than a turn; are they in degrees?"
        reader.warn(element, "limit-degrees", what, f"{lower:g} .. {upper:g}", "write radians")
    return {"lower": lower, "upper": upper}


def read_mimics(
    reader: Reader, joints: Mapping[str, tuple[Element, str]], drives: Mapping[str, UrdfDrive], follow: bool
) -> None:
    """Joints that follow others. ``joints``: element and kind by name; ``follow=False`` leaves them independent."""
    for name, (joint, kind) in joints.items():
        element = reader.child(joint, "mimic")
        if element is None:
            continue
        values = {"multiplier": 1.0, "offset": 0.0}
        given = {key: reader.scalar(element, key, strict=follow) for key in values if key in element.attrib}
        leader = reader.need(element, "joint")
        if leader is None:
            continue
        if not follow:
            what = f"follows '{leader[:60]}' in the file; it is independent here, as asked for"
            reader.ignore(element, "unused-mimic", what, shown(element))
            continue
        if None in given.values():  # told already
            continue
        values |= {key: value for key, value in given.items() if value is not None}
        if _can_follow(reader, element, kind, leader, joints, values["multiplier"]):
            drives[name].mimic = Mimic(leader, values["multiplier"], values["offset"], element)
    _refuse_circles(reader, drives)


def _can_follow(
    reader: Reader,
    element: Element,
    kind: str,
    leader: str,
    joints: Mapping[str, tuple[Element, str]],
    multiplier: float,
) -> bool:
    fix, mended = "take the mimic out", "it moves by itself"
    told = partial(accepted, reader, done=mended)
    if leader in joints and joints[leader][0] is element.getparent():
        reader.wrong(element, "mimic", "a joint cannot follow itself", repr(leader[:60]), fix, mended, fatal=True)
        return False
    if leader not in joints:
        what = "follows a joint that does not exist"
        reader.wrong(
            element,
            "unknown-joint",
            told(what),
            repr(leader[:60]),
            reader.nearest(leader, joints),
            mended,
            left_out=True,
        )
        return False
    if kind not in SINGLE or joints[leader][1] not in SINGLE:
        what = "a follower and its leader must have one rate each"
        reader.wrong(
            element,
            "mimic",
            told(what),
            f"a {kind} joint follows a {joints[leader][1]} one",
            fix,
            mended,
            left_out=True,
        )
        return False
    if multiplier == 0.0:
        what = "a follower with the multiplier 0 does not move"
        reader.wrong(element, "mimic", told(what), 'multiplier="0"', "make it a fixed joint", mended, left_out=True)
        return False
    return True


def accepted(reader: Reader, what: str, done: str) -> str:
    """What is wrong, and under ``policy="accept"`` what becomes of it."""
    return f"{what}; {done}" if reader.notes.policy == "accept" else what


def settle(reader: Reader, joints: Mapping[str, tuple[Element, str]], drives: dict[str, UrdfDrive]) -> None:
    """After repairs: a joint that was made fixed has no drive, and what followed it moves by itself."""
    for name, (_, kind) in joints.items():
        mimic = drives[name].mimic
        if kind not in SINGLE:
            drives[name] = UrdfDrive()
        elif mimic is not None and joints[mimic.leader][1] not in SINGLE:
            drives[name].mimic = None
            what = f"follows '{mimic.leader[:60]}', which was made fixed: it moves by itself"
            reader.note("repaired", mimic.element, "mimic", what, shown(mimic.element), "")


def _refuse_circles(reader: Reader, drives: Mapping[str, UrdfDrive]) -> None:
    for name, drive in drives.items():
        seen, at = [name], drive.mimic
        while at is not None and at.leader not in seen:
            seen.append(at.leader)
            at = drives[at.leader].mimic if at.leader in drives else None
        if at is not None and at.leader == name and drive.mimic is not None:
            ring = " follows ".join(repr(n[:40]) for n in [*seen[:6], name])
            what, done = "joints follow each other in a circle", "it moves by itself"
            reader.wrong(drive.mimic.element, "mimic", what, ring, "take one mimic out", done, fatal=True)
            drive.mimic = None


def read_transmissions(reader: Reader, root: Element, drives: Mapping[str, UrdfDrive]) -> None:
    """Reduction and rotor of simple transmissions: ``<mechanicalReduction>``, and as gyrostat writes them
    ``<rotorInertia>`` (``reflected="true"``: felt by no body), ``<torqueLimit>`` and ``<speedLimit>`` of the motor."""
    for element in root.iterchildren("transmission"):
        named = [j.get("name") or "" for j in element.iterchildren("joint")]
        if len(named) != 1 or named[0] not in drives:
            what = "a transmission of one joint that turns or slides is read; others are not in the model"
            reader.ignore(
                element, "unused-transmission", what, f"joints {', '.join(n[:40] for n in named[:4]) or 'none'}"
            )
            continue
        drive = drives[named[0]]
        found = {tag: _inner(reader, element, tag) for tag in ("mechanicalReduction", "rotorInertia")}
        reduction, rotor = found["mechanicalReduction"], found["rotorInertia"]
        rest = sorted({short(e.tag) for e in element.iterdescendants() if isinstance(e.tag, str)} - READ)
        if rest:
            reader.ignore(element, "unused-transmission", f"{', '.join(rest[:6])}: not in the model")
        if drive.transmission is not None:
            what = f"another transmission drives this joint, in line {reader.line(drive.transmission)}"
            found = f"reduction {reduction}, rotor inertia {rotor}"
            what, fix = accepted(reader, what, "this one is left out"), "keep one of them, with the sum of the inertias"
            reader.wrong(element, "doubled-rotor", what, found, fix, "this one is left out", left_out=True)
            continue
        drive.transmission = element
        if reduction == 0.0:
            what = "a reduction of zero means nothing"
            reader.warn(element, "transmission", what, "0", "give the turns of the motor for one of the joint")
            reduction = None
        if rotor is not None and rotor <= 0.0:
            reader.warn(
                element, "transmission", "the rotor's inertia must be positive", f"{rotor:g}", "give it in kg m^2"
            )
            rotor = None
        drive.reduction, drive.rotor = reduction, rotor
        drive.reflected = any(e.get("reflected") == "true" for e in element.iterdescendants("rotorInertia"))
        for tag, key in (("torqueLimit", "torque_limit"), ("speedLimit", "speed_limit")):
            value = _inner(reader, element, tag)
            if value is not None and value > 0.0:
                drive.motor[key] = value


READ = {"joint", "actuator", "mechanicalReduction", "rotorInertia", "torqueLimit", "speedLimit"}


def _inner(reader: Reader, element: Element, tag: str) -> float | None:
    """The number inside a tag, at any depth of a transmission."""
    for inner in element.iterdescendants(tag):
        value = number((inner.text or "").strip())
        if isinstance(value, float):
            return value
        tell = reader.error if tag == "rotorInertia" else reader.warn  # the dynamics depend on it
        tell(inner, "transmission", f"<{tag}> must be a number", repr((inner.text or "")[:40]), str(value))
    return None


def couplings(
    name: str, joint: Joint, drive: UrdfDrive, taken: Mapping[str, str], free: Callable[[str, str], str]
) -> tuple[list[Assembly | Gear], Connections]:
    """Entities and connections of a joint's drive. ``taken``: names of joints in the model by those in the file;
    ``free(wanted, sort)`` gives a name that is not in use."""
    entities: list[Assembly | Gear] = []
    connections: Connections = []
    given: dict[str, Any] = {}
    if drive.damping:
        given["viscous"] = drive.damping
    if drive.friction:
        given["coulomb"] = drive.friction
    if drive.rotor is not None:
        given["rotor_inertia"] = drive.rotor
    if drive.reduction is not None and (drive.reduction != 1.0 or drive.rotor is not None or drive.motor):
        given |= {"gear_ratio": drive.reduction, "motor": True}
    given |= drive.motor
    if given:
        seat = (f"{name}.a", own_axis(joint, "a")) if drive.rotor is not None and not drive.reflected else None
        made = put_together(name, seat, **given)
        if min(drive.damping, drive.friction) < 0.0:
            parts = tuple(_as_it_is(e) if isinstance(e, Friction) else e for e in made.entities)
            made = made.model_copy(update={"entities": parts})
        made = made.model_copy(update={"name": free(made.name, "drive")})
        entities.append(made)
        connections.append((f"{name}.shaft", f"{made.name}.shaft"))
        if seat is not None:
            connections.append((seat[0], f"{made.name}.carrier"))
    if drive.mimic is not None:
        gear = Gear(free(f"{name}_mimic", "gear"), drive.mimic.multiplier, offset=drive.mimic.offset)
        entities.append(gear)
        leader = taken[drive.mimic.leader]
        connections += [(f"{name}.shaft", f"{gear.name}.motor"), (f"{leader}.shaft", f"{gear.name}.joint")]
    return entities, connections


class AcceptedFriction(Friction):
    """Friction with numbers that drive the joint; what ``policy="accept"`` makes of them. It cannot be saved."""

    def problems(self) -> list[Problem]:
        return not_finite(self)


del Entity.registry[AcceptedFriction.type_name]


def _as_it_is(friction: Friction) -> Friction:
    return AcceptedFriction(**dict(friction))


def shown(element: Element) -> str:
    """Attributes of an element, for messages."""
    return " ".join(f'{short(k)}="{v[:20]}"' for k, v in list(element.attrib.items())[:6]) or "nothing"
