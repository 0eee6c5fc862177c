"""The parts of the usual drivetrain and how they are connected: what ``with_drive`` puts together, and adds to.

::

    rotor, motor, friction  --gear--  [spring, damper]  --  joint, friction
         fast side                                           slow side
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from dataclasses import replace as changed
from typing import Any

from gyrostat.errors import Problem
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.motor import Motor
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.rules import shown
from gyrostat.spec.shaft_elements import Damper, Friction, Spring

ROLES: dict[str, type[Entity]] = {
    "rotor": RotorInertia,
    "gear": Gear,
    "motor": Motor,
    "spring": Spring,
    "damper": Damper,
    "friction": Friction,
    "joint_friction": Friction,
    "motor_friction": Friction,
}
"""Names of the parts, in order. Friction on one side is called ``friction``, on the other after its side."""


@dataclass
class DriveParts:
    """``parts`` by name; ``fast``: names of the frictions that are on the motor's side; ``clashes``: contradictions
    between what is there and what is asked for."""

    name: str
    parts: dict[str, Entity] = field(default_factory=dict)
    fast: set[str] = field(default_factory=set)
    clashes: list[Problem] = field(default_factory=list)

    def copy(self) -> DriveParts:
        return changed(self, parts=dict(self.parts), fast=set(self.fast), clashes=[])

    def give(self, role: str, kind: type[Entity], given: Mapping[str, Any], joint: str) -> None:
        """A new part; or properties that the part does not have yet."""
        present = self.parts.get(role)
        if present is None:
            self.parts[role] = kind(role, **given)
            return
        fields = {key: getattr(present, key) for key in type(present).model_fields}
        new = type(present)(**(fields | dict(given)))  # with values in their usual form
        for key in given:
            before, after = fields[key], getattr(new, key)
            if before != after and not _unset(type(present), key, before):
                self.clashes.append(conflict(joint, f"{role}.{key}", after, role, shown(before)))
        self.parts[role] = new

    def rub(self, side: str, given: Mapping[str, Any], joint: str) -> None:
        """Friction on a side, "joint" or "motor"."""
        here = [role for role in self.frictions if (role in self.fast) == (side == "motor")]
        role = here[0] if here else ("friction" if "friction" not in self.parts else f"{side}_friction")
        if side == "motor":
            self.fast.add(role)
        self.give(role, Friction, given, joint)

    @property
    def frictions(self) -> list[str]:
        return [role for role, part in self.parts.items() if isinstance(part, Friction)]

    def assembled(self) -> Assembly:
        """The drive, with the port ``shaft`` for its joint, and ``carrier`` for a rotor that a body carries."""
        parts = {role: self.parts[role] for role in ROLES if role in self.parts}
        fast = [f"{role}.{port}" for role, port in FAST if role in parts]
        slow = ["gear.joint"] if "gear" in parts else []
        connections: list[tuple[str, ...]] = []
        elastic = [role for role in ("spring", "damper") if role in parts]
        if elastic:
            connections.append((*slow, *(f"{role}.a" for role in elastic)))
            slow = [f"{role}.b" for role in elastic]
        for role in self.frictions:
            (fast if role in self.fast else slow).append(f"{role}.shaft")
        connections += [tuple(side) for side in (fast, slow) if len(side) > 1]
        carried = "rotor" in parts and bool(parts["rotor"].carried_rates)
        exposes: Any = {"shaft": slow[0]} | ({"carrier": "rotor.carrier"} if carried else {})
        return Assembly(self.name, entities=tuple(parts.values()), connections=tuple(connections), exposes=exposes)


FAST = (("rotor", "shaft"), ("gear", "motor"), ("motor", "shaft"))


def _unset(kind: type[Entity], key: str, value: object) -> bool:
    """Whether a property has the value that it has when it is not given."""
    declared = kind.model_fields[key]
    return not declared.is_required() and value == declared.default


def drive_parts(drive: Entity) -> DriveParts | None:
    """The parts of an assembly; None if it is not one that ``with_drive`` puts together."""
    if not isinstance(drive, Assembly) or any(not isinstance(e, ROLES.get(e.name, ())) for e in drive.entities):
        return None
    parts = DriveParts(drive.name, {e.name: e for e in drive.entities})
    beside = {port for ports in drive.connections if "gear.motor" in ports for port in ports}
    parts.fast = {role for role in parts.frictions if f"{role}.shaft" in beside}
    return parts if parts.parts and parts.assembled() == drive else None


def conflict(joint: str, what: str, value: object, part: str, there: str) -> Problem:
    """A property that is asked for and contradicts what is there."""
    path = f"{joint}_drive.{what}" if "." in what else f"{joint}_drive.{part}"
    message = f"'{what.rpartition('.')[2]}' {shown(value)} is given, but '{path}' is there already: {there}"
    remedy = "change it with model.replace, or put another drive in its place with with_drive(..., replace=True)"
    return Problem(f"drive of '{joint}'", "drive", message, remedy, value)
