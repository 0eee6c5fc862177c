"""The drive of a URDF joint as entities: friction, rotor and gear in one assembly; a gear to the leader."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from gyrostat.io.accept_policy import AcceptedFriction
from gyrostat.io.urdf.drives import UrdfDrive
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.shaft_elements import Friction
from gyrostat.spec.with_drive import own_axis, put_together

Connections = list[tuple[str, ...]]
FreeName = Callable[[str, str], str]
"""(wanted, sort) -> a name that is not in use."""


def drive_entities(
    name: str, joint: Joint, drive: UrdfDrive, names: Mapping[str, str], free: FreeName
) -> tuple[list[Assembly | Gear], Connections]:
    """Entities and connections of a joint's drive. ``names``: those of joints in the model by those in the file."""
    entities: list[Assembly | Gear] = []
    connections: Connections = []
    given = _given(drive)
    if given:
        seat = (f"{name}.a", own_axis(joint, "a")) if drive.rotor is not None and not drive.reflected else None
        made = _assembly(name, drive, given, seat, free)
        entities.append(made)
        connections.append((f"{name}.shaft", f"{made.name}.shaft"))
        if seat is not None:
            connections.append((seat[0], f"{made.name}.carrier"))
    if drive.mimic is not None:
        gear = Gear(free(f"{name}_mimic", "gear"), drive.mimic.multiplier, offset=drive.mimic.offset)
        entities.append(gear)
        leader = names[drive.mimic.leader]
        connections += [(f"{name}.shaft", f"{gear.name}.motor"), (f"{leader}.shaft", f"{gear.name}.joint")]
    return entities, connections


def _given(drive: UrdfDrive) -> dict[str, Any]:
    """What the file says, as options of ``with_drive``."""
    given: dict[str, Any] = {}
    if drive.damping:
        given["viscous"] = drive.damping
    if drive.friction:
        given["coulomb"] = drive.friction
    if drive.rotor is not None:
        given["rotor_inertia"] = drive.rotor
    if drive.reduction is not None and (drive.reduction != 1.0 or drive.rotor is not None or drive.motor):
        given |= {"gear_ratio": drive.reduction, "motor": True}
    return given | drive.motor


def _assembly(name: str, drive: UrdfDrive, given: dict[str, Any], seat: Any, free: FreeName) -> Assembly:
    made = put_together(name, seat, **given)
    if min(drive.damping, drive.friction) < 0.0:
        parts = tuple(AcceptedFriction(**dict(e)) if isinstance(e, Friction) else e for e in made.entities)
        made = made.model_copy(update={"entities": parts})
    return made.model_copy(update={"name": free(made.name, "drive")})
