"""What URDF can say about drives: damping, friction, joints that follow others, reduction and rotor."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gyrostat.errors import Problem
from gyrostat.io.urdf.write_tree import Parts
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.motor import Motor
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.sensor import Sensor
from gyrostat.spec.shaft_elements import Friction, both_ways
from gyrostat.spec.wiring import label_of

Rate = tuple[str, int]


@dataclass
class Drive:
    """Of one coordinate: ``damping`` [N m s/rad], ``friction`` [N m], rotors as (name, reduction, inertia, whether no
    body feels it), and limits of the motor, on its own side."""

    damping: float = 0.0
    friction: float = 0.0
    rotors: list[tuple[str, float, float, bool]] = field(default_factory=list)
    motor: dict[str, float] = field(default_factory=dict)
    mimic: tuple[Rate, float, float] | None = None  # leader, multiplier, offset


def drives_of(model: Model, parts: Parts) -> dict[Rate, Drive]:
    """The drives by coordinate; what URDF cannot say goes to ``parts``."""
    drives: dict[Rate, Drive] = {}
    for name, entity in model.wiring.entities.items():
        if isinstance(entity, Joint):
            _followers(model, name, entity, parts, drives)
        elif isinstance(entity, Friction):
            _friction(model, name, entity, parts, drives)
        elif isinstance(entity, RotorInertia):
            _rotor(model, name, entity, parts, drives)
        elif isinstance(entity, Motor):
            _motor(model, name, entity, parts, drives)
        elif isinstance(entity, Sensor):
            _tell(parts, entity, name, "URDF has no sensors", "keep them in YAML")
        elif not isinstance(entity, Gear) and entity.is_shaft_element:
            _tell(parts, entity, name, "URDF has no such element between shafts", "drive the joint directly")
    return drives


def _tell(parts: Parts, entity: Entity, name: str, message: str, remedy: str, essential: bool = False) -> None:
    problem = Problem(label_of(entity, name), "urdf-lacks", message, remedy, name)
    (parts.essential if essential else parts.lost).append(problem)


def _joint_of(model: Model, shaft: int) -> tuple[Rate, float, float] | None:
    """The coordinate of a joint that a shaft follows, its ratio and offset; None if it is not one joint's alone."""
    line = model.shafts.lines.get(shaft)
    terms = {shaft: 1.0} if line is None else dict(line.terms)
    if len(terms) != 1:
        return None
    ((at, ratio),) = terms.items()
    owner = model.shafts.owner(at)
    if owner is None or not isinstance(model.wiring.entities[owner[0]], Joint):
        return None
    return owner, float(ratio), 0.0 if line is None else float(line.constant)


def _followers(model: Model, name: str, joint: Joint, parts: Parts, drives: dict[Rate, Drive]) -> None:
    kept = model.shafts.kept(name, joint)
    for k in range(len(joint.rates)):
        if k in kept:
            continue
        shaft = model.shafts.shaft(name, joint, k)
        leader = None if shaft is None else _joint_of(model, shaft)
        if leader is None:
            message = "follows several coordinates, a rotor, or by a curve, which a mimic cannot say"
            _tell(parts, joint, name, message, "couple it with one joint", essential=True)
        else:
            drives.setdefault((name, k), Drive()).mimic = leader


def _friction(model: Model, name: str, entity: Friction, parts: Parts, drives: dict[Rate, Drive]) -> None:
    joint = _joint_of(model, model.shafts.at[name, "shaft"])
    if joint is None:
        _tell(parts, entity, name, "acts on a shaft behind a spring, which URDF does not have", "put it at the joint")
        return
    rate, ratio, _ = joint
    drive, (plus, minus) = drives.setdefault(rate, Drive()), both_ways(entity.coulomb)
    drive.damping += ratio**2 * entity.viscous
    drive.friction += abs(ratio) * (plus + minus) / 2.0
    if plus != minus:
        message = f"friction differs with the direction, {plus:g} and {minus:g} N m; their mean is written"
        _tell(parts, entity, name, message, "set it again after loading")
    if entity.static is not None or entity.smooth is not None:
        message = "the curve of the friction (static, stribeck, smooth) cannot be said"
        _tell(parts, entity, name, message, "set it again after loading")


def _rotor(model: Model, name: str, entity: RotorInertia, parts: Parts, drives: dict[Rate, Drive]) -> None:
    joint = _joint_of(model, model.shafts.at[name, "shaft"])
    if joint is None:
        message = "has a coordinate of its own, behind a spring, which URDF does not have"
        _tell(parts, entity, name, message, "make the drive stiff", essential=True)
        return
    rate, ratio, _ = joint
    drive = drives.setdefault(rate, Drive())
    if drive.rotors:
        _tell(parts, entity, name, f"is a second rotor of '{rate[0]}', and a transmission has one", "add them up")
        return
    drive.rotors.append((name, ratio, entity.inertia, entity.axis is None))
    if entity.axis is not None and not _in_the_link_before(name, rate, parts):
        message = "is written as a rotor that turns about the joint's axis in the link before it, and is another one"
        remedy = "that link feels it when the file is read by gyrostat; set the drive again after loading"
        _tell(parts, entity, name, message, remedy)
    if not entity.lumped and not entity.mass:
        message = "has inertia of its own without mass, which no link has"
        _tell(parts, entity, name, message, "add it to the body that carries it, and write lumped=True")


def _in_the_link_before(name: str, rate: Rate, parts: Parts) -> bool:
    """Whether a rotor is what a transmission of gyrostat means."""
    group = next((g for g in parts.groups if g.joint == rate[0]), None)
    if name not in parts.rotors or group is None or group.steps[rate[1]].axis is None:
        return False
    carrier, axis = parts.rotors[name]
    own = group.place[0] @ group.steps[rate[1]].axis
    return rate[1] == 0 and carrier is parts.groups[group.parent] and bool(np.abs(own - axis).max() < 1e-12)


def _motor(model: Model, name: str, entity: Motor, parts: Parts, drives: dict[Rate, Drive]) -> None:
    joint = _joint_of(model, model.shafts.at[name, "shaft"])
    limits = {key: value for key in ("torque_limit", "speed_limit") if (value := getattr(entity, key)) is not None}
    if joint is not None:
        drives.setdefault(joint[0], Drive()).motor |= limits
        limits["name"] = 0.0
    given = [key for key in Motor.model_fields if getattr(entity, key) not in (None, ()) and key not in limits]
    given = [key for key in given if key != "name"]
    if given:
        message = f"figures of the motor cannot be said: {', '.join(given)}"
        _tell(parts, entity, name, message, "give limits of the joint: effort_limit, velocity_limit")
