"""``model.with_drive``: the usual drivetrain of a joint, put together from its entities."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from inspect import signature
from typing import Any

from gyrostat.errors import SpecError, nearest
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.drive_parts import DriveParts, conflict, drive_parts
from gyrostat.spec.entity import Entity
from gyrostat.spec.flatten import wire
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.motor import Motor
from gyrostat.spec.rotor import RotorInertia
from gyrostat.spec.shaft_elements import Damper, Spring
from gyrostat.spec.wiring import Wiring

Connections = tuple[tuple[str, ...], ...]


def with_drive(model: Model, joint: str, **given: Any) -> Model:
    """See :meth:`Model.with_drive`."""
    scope, _, name = str(joint).rpartition(".")
    if scope:  # inside an assembly: the drive goes there, too
        return _within(model, scope.split("."), name, given)
    whole = _Place(lambda: model.wiring, lambda: model.wiring, name)
    entities, connections = _driven(model.name, model.entities, model.connections, whole, name, given)
    return replace(model, entities=entities, connections=connections)


def _within(model: Model, scope: list[str], name: str, given: Mapping[str, Any]) -> Model:
    def enter(entities: tuple[Entity, ...], path: list[str]) -> tuple[Entity, ...]:
        found = next((e for e in entities if e.name == path[0]), None)
        if not isinstance(found, Assembly):
            known = [e.name for e in entities if isinstance(e, Assembly)]
            raise _refused(path[0], "is no assembly", nearest(path[0], known))
        if len(path) > 1:
            changed = found.model_copy(update={"entities": enter(found.entities, path[1:])})
        else:
            inside = partial(wire, found.entities, found.connections)
            place = _Place(inside, lambda: model.wiring, ".".join((*scope, name)))
            parts, connections = _driven(found.name, found.entities, found.connections, place, name, given)
            changed = found.model_copy(update={"entities": parts, "connections": connections})
        return tuple(changed if e is found else e for e in entities)

    return replace(model, entities=enter(model.entities, scope))


def _refused(entity: str, message: str, remedy: str) -> SpecError:
    return SpecError.one(f"drive of '{entity}'", "drive", message, remedy, entity)


@dataclass(frozen=True)
class _Place:
    """Where a joint is: in its own scope, and by its full name in the whole model."""

    scope: Callable[[], Wiring]
    model: Callable[[], Wiring]
    full: str


def _driven(
    owner: str,
    entities: tuple[Entity, ...],
    connections: Connections,
    place: _Place,
    name: str,
    given: Mapping[str, Any],
) -> tuple[tuple[Entity, ...], Connections]:
    """Entities and connections of a scope, with the drive of one of its joints."""
    joint = next((e for e in entities if e.name == name), None)
    if joint is None or not (joint.rates or isinstance(joint, Joint)):
        known = [e.name for e in entities if e.rates]
        what = "is no joint" if joint is not None else f"there is no such joint in '{owner}'"
        raise _refused(name, what, nearest(name, known))
    if len(joint.shafts) != 1:
        remedy = (
            "connect RotorInertia, Gear and Motor to its shafts one by one"
            if joint.shafts
            else "only joints with one scalar port, such as revolute and prismatic ones, can be driven so"
        )
        kind = f"{joint.kind} joint" if isinstance(joint, Joint) else joint.type_name.replace("_", " ")
        raise _refused(name, f"a {kind} has {len(joint.shafts)} shafts, expected one", remedy)
    given = dict(given)
    if given.pop("replace", False):
        entities = tuple(e for e in entities if e.name != f"{name}_drive")
        connections = tuple(c for c in connections if not any(p.partition(".")[0] == f"{name}_drive" for p in c))
    shaft = f"{name}.{joint.shafts[0]}"
    present = next((e for e in entities if e.name == f"{name}_drive"), None)
    parts = None
    if present is not None:
        parts = drive_parts(present) if _joined(connections, shaft, f"{name}_drive.shaft") else None
        if parts is None:
            remedy = "change it with model.replace, or put another in its place with with_drive(..., replace=True)"
            raise _refused(name, f"there is already '{name}_drive', and it is no drive of the usual parts", remedy)
    drive, seat = _drive(name, joint, place, parts, **given)
    links: Connections = () if present is not None else ((shaft, f"{drive.name}.shaft"),)
    if seat is not None:
        links += ((seat[0], f"{drive.name}.carrier"),)
    if present is None:
        return (*entities, drive), (*connections, *links)
    return tuple(drive if e is present else e for e in entities), (*connections, *links)


def _joined(connections: Connections, one: str, two: str) -> bool:
    """Whether one of the connections, as it is written, joins both ports."""
    return any(one in ports and two in ports for ports in connections)


def _drive(
    name: str,
    joint: Entity,
    place: _Place,
    present: DriveParts | None,
    rotor_inertia: Any = None,
    carrier: str | None = None,
    rotor_axis: Any = None,
    reflected_inertia_only: bool = False,
    **given: Any,
) -> tuple[Assembly, tuple[str, Any] | None]:
    """The assembly, and the seat of a rotor that is new."""
    there = present is not None and "rotor" in present.parts
    if rotor_inertia is None and not there and (rotor_axis is not None or carrier is not None or given.get("rotor")):
        raise _refused(name, "has a carrier, an axis or a rotor's properties, but no rotor", "give rotor_inertia")
    if reflected_inertia_only and (rotor_axis is not None or carrier is not None):
        message = "has a carrier or an axis, but reflected_inertia_only: no body feels the rotor"
        raise _refused(name, message, "leave one of them out")
    if given.get("motor") is False and any(given.get(key) is not None for key in ("torque_limit", "speed_limit")):
        raise _refused(name, "has limits of a motor, but motor=False", "leave one of them out")
    unknown = [key for key in given if key not in KNOWN]
    if unknown:
        raise _refused(name, f"there is no property '{unknown[0]}'", nearest(unknown[0], KNOWN))
    if there:
        asked = {
            "carrier": carrier,
            "rotor_axis": rotor_axis,
            "rotor": given.get("rotor"),
            "lumped": given.get("lumped"),
        }
        asked["reflected_inertia_only"] = reflected_inertia_only or None
        clashes = [conflict(name, key, value, "rotor", "a rotor") for key, value in asked.items() if value is not None]
        if clashes:
            raise SpecError(clashes)
    seat = None
    if rotor_inertia is not None and not reflected_inertia_only and not there:
        seat = _seat(name, joint, place, carrier, rotor_axis)
    try:
        return put_together(name, seat, present, rotor_inertia=rotor_inertia, **given), seat
    except SpecError as error:  # of an entity inside, by its full name
        full = [p if p.rule == "drive" else replace(p, entity=_inside(p.entity, name)) for p in error.problems]
        raise SpecError(full) from None


def _inside(label: str, name: str) -> str:
    """gear 'gear' -> gear 'elbow_drive.gear'."""
    return label.replace("'", f"'{name}_drive.", 1)


def put_together(
    name: str,
    seat: tuple[str, Any] | None,
    present: DriveParts | None = None,
    *,
    rotor_inertia: Any = None,
    gear_ratio: Any = None,
    stiffness: Any = None,
    damping: Any = None,
    viscous: Any = None,
    coulomb: Any = None,
    torque_limit: Any = None,
    speed_limit: Any = None,
    lumped: bool | None = None,
    friction_at: str = "joint",
    motor: bool | None = None,
    rotor: Mapping[str, Any] | None = None,
    spring: Mapping[str, Any] | None = None,
    friction: Mapping[str, Any] | None = None,
) -> Assembly:
    """The drive ``<name>_drive``, with the port ``shaft`` for its joint; and ``carrier`` for a rotor that has a seat:
    (port that carries it, its axis there). What is ``present`` stays, and what contradicts it is refused."""
    if friction_at not in ("joint", "motor"):
        raise _refused(name, f"friction_at must be 'joint' or 'motor', got {friction_at!r}", "friction_at='joint'")
    drive = DriveParts(f"{name}_drive") if present is None else present.copy()
    law = ({} if stiffness is None else {"stiffness": stiffness}) | dict(spring or {})
    has_rotor = rotor_inertia is not None or "rotor" in drive.parts
    if law and not has_rotor:
        message = "is elastic, but has no rotor: the motor side of the spring would have no inertia"
        raise _refused(name, message, "give rotor_inertia")
    if damping is not None and not law and "spring" not in drive.parts:
        raise _refused(name, "damping is that of the spring, and there is none", "give stiffness, or use viscous")
    rubbed = _given(viscous=viscous, coulomb=coulomb) | dict(friction or {})
    limits = _given(torque_limit=torque_limit, speed_limit=speed_limit)
    geared = has_rotor or bool(limits) or bool(motor) or (bool(rubbed) and friction_at == "motor")
    if rotor_inertia is not None:
        carried = {} if seat is None else {"axis": seat[1], "lumped": lumped is not False}
        drive.give("rotor", RotorInertia, {"inertia": rotor_inertia} | carried | dict(rotor or {}), name)
    if geared or "gear" in drive.parts:
        given = _given(ratio=gear_ratio)
        drive.give("gear", Gear, given if "gear" in drive.parts or given else {"ratio": 1.0}, name)
    if motor is False and "motor" in drive.parts:
        drive.clashes.append(conflict(name, "motor", False, "motor", "a motor"))
    elif geared and motor is not False:
        drive.give("motor", Motor, limits, name)
    if law:
        drive.give("spring", Spring, law, name)
    if damping is not None:
        drive.give("damper", Damper, {"damping": damping}, name)
    if rubbed:
        drive.rub(friction_at, rubbed, name)
    if drive.clashes:
        raise SpecError(drive.clashes)
    if not drive.parts:
        raise _refused(name, "nothing is given", "give rotor_inertia, viscous, torque_limit or others")
    return drive.assembled()


def _given(**values: Any) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}


def _seat(name: str, joint: Entity, place: _Place, carrier: str | None, axis: Any) -> tuple[str, Any]:
    """The port that carries the rotor, and its axis there."""
    near, wiring = _inport(place.model(), place.full), place.scope()
    if carrier is None:
        return f"{name}.{near}", axis if axis is not None else own_axis(joint, near)
    entity = carrier.partition(".")[0]
    if entity not in wiring.entities and not any(full.startswith(f"{entity}.") for full in wiring.entities):
        raise _refused(name, f"there is no carrier '{carrier}'", nearest(entity, [*wiring.entities]))
    if axis is not None:
        return carrier, axis
    for port in ("a", "b"):
        if entity in _rigidly(wiring, name, port):
            return f"{name}.{port}", own_axis(joint, near)
    message = f"the axis of the joint is not known in '{carrier}', which moves against both sides of the joint"
    raise _refused(name, message, "give rotor_axis in the axes of the carrier")


def own_axis(joint: Entity, near: str) -> Any:
    """The joint's axis; a rotor behind a positive gear turns as the outboard body does."""
    axis = getattr(joint, "axis", None)
    if axis is None and isinstance(joint, Joint):
        axis = (0.0, 0.0, 1.0)  # a joint without its axis is told by the check
    if axis is None:
        message = f"a {joint.type_name.replace('_', ' ')} has no property 'axis', so the axis of its rotor is not known"
        raise _refused(joint.name, message, "give rotor_axis, in the axes of the port that carries the rotor")
    return axis if near == "a" else tuple(-x if x else 0.0 for x in axis)


def _inport(wiring: Wiring, name: str) -> str:
    """Port of the joint on the side of the reference frame: a, unless it is mounted the other way round."""
    return wiring.tree.inport.get(name) or "a"


def _rigidly(wiring: Wiring, name: str, port: str) -> set[str]:
    """Entities that are fixed to one side of a joint."""
    group_of, found, queue = wiring.group_of(), {name}, [(name, port)]
    for place in queue:
        group = group_of.get(place)
        for other, _ in wiring.groups[group] if group is not None else ():
            entity = wiring.entities[other]
            if other not in found and not entity.rates and entity.binds:
                found.add(other)
                queue += [(other, p.name) for p in entity.ports if p.kind == "spatial"]
    return found - {name}


KNOWN = tuple(signature(put_together).parameters)[3:]
"""What a drive can be given, beside its rotor's seat."""
