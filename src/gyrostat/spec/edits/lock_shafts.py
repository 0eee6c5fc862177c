"""What is left of drivetrains when some of their shafts stand still.

A rotor that its carrier does not contain keeps its mass there (:class:`LockedRotor`). Motors, friction, and what lies
between shafts that both stand still, go. A spring or damper to a shaft of another joint is grounded at the angle of the
shaft that stands; what has no other joint behind it is the locked joint's own drive, and stands still with it. Gears
lose the shafts that stand, and their offset takes up the angles."""

from __future__ import annotations

from gyrostat.spec.edits.rebuild import Changes
from gyrostat.spec.edits.scope import refused
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.model import Model
from gyrostat.spec.rotor import LockedRotor, RotorInertia
from gyrostat.spec.shaft_elements import Backlash, Spring, TwoShafts
from gyrostat.spec.wiring import label_of

Angles = dict[int, float]
"""Angle [rad] of each shaft that stands still; what is behind a spring stands at one that nothing depends on."""


def lock_shafts(model: Model, angles: Angles, locked: set[str], changes: Changes) -> None:
    """Note in ``changes`` what becomes of everything on shafts, beside the joints that are ``locked``."""
    at = model.shafts.at
    own = _own_drive(model, angles, locked)
    for name, entity in model.wiring.entities.items():
        ports = [port.name for port in entity.ports if port.kind == "scalar"]
        still = [p for p in ports if at.get((name, p)) in angles or at.get((name, p)) in own]
        if not still or entity.rates:
            continue
        if isinstance(entity, RotorInertia):
            _rotor(name, entity, changes)
        elif isinstance(entity, Gear):
            _gear(model, name, entity, {p: angles.get(at[name, p], 0.0) for p in still}, changes)
        elif len(still) == len(entity.ports):
            changes.drop.add(name)
        elif isinstance(entity, TwoShafts):
            _grounded(name, entity, still[0], angles[at[name, still[0]]], changes)
        else:
            raise _unknown(name, entity)


def _unknown(name: str, entity: Entity) -> Exception:
    message = "is on a shaft that would stand still, and nothing is known about what is left of it then"
    return refused(f"lock: {label_of(entity, name)}", message, "remove it first", name)


def _own_drive(model: Model, angles: Angles, locked: set[str]) -> set[int]:
    """Shafts behind springs, dampers and the like of the locked ones, with no other joint on them."""
    shafts, entities = model.shafts, model.wiring.entities
    beside: dict[int, set[int]] = {}
    for name, entity in entities.items():
        places = {shafts.at[name, p.name] for p in entity.ports if (name, p.name) in shafts.at}
        for one in places:
            beside.setdefault(one, set()).update(() if entity.rates else places - {one})
    free = {s for s, rates in shafts.rates.items() if any(entities[n].rates for n, _ in rates)}
    free -= set(angles)
    standing: set[int] = set()
    for start in sorted({s for one in angles for s in beside.get(one, ())} - set(angles)):
        reached, queue = {start}, [start]
        for shaft in queue:
            ahead = beside.get(shaft, set()) - set(angles) - reached
            reached |= ahead
            queue += sorted(ahead)
        if not reached & free:
            standing |= reached
    return standing


def _rotor(name: str, rotor: RotorInertia, changes: Changes) -> None:
    if rotor.axis is None or rotor.lumped:
        changes.drop.add(name)  # felt by its shaft alone, or contained in its carrier
        return
    own = {key: getattr(rotor, key) for key in LockedRotor.model_fields}
    changes.swap[name] = LockedRotor(own.pop("name"), **own)


def _grounded(name: str, entity: TwoShafts, port: str, angle: float, changes: Changes) -> None:
    """The element between its other shaft and the housing, where the shaft at ``port`` stands at ``angle``.

    With b standing, d = angle(a) - (rest + angle(b)); with a standing the element is met from its other end, and d and
    its torque change their signs."""
    fields = {key: getattr(entity, key) for key in type(entity).model_fields} | {"ground": True}
    if isinstance(entity, Spring):
        fields["rest"] = entity.rest + angle if port == "b" else angle - entity.rest
        if port == "a":
            fields["curve"] = tuple((-d, -torque) for d, torque in reversed(entity.curve))
    elif isinstance(entity, Backlash) and angle != 0.0:
        message = f"would stand against a shaft at {angle:g} rad, and has no rest angle to say so"
        raise refused(f"lock: {label_of(entity, name)}", message, "remove it first, or lock at zero", name)
    changes.swap[name] = type(entity).model_validate(fields)
    if port == "a":
        changes.ports[name, "b"] = "a"
        changes.ports[name, "a"] = "standing"  # no such port: its connection goes


def _gear(model: Model, name: str, gear: Gear, still: dict[str, float], changes: Changes) -> None:
    """The rows and columns of the shafts that move; motor = ratio x joint + offset."""
    offsets = gear.offset if isinstance(gear.offset, tuple) else (gear.offset,) * len(gear.rows)
    columns = [j for j, port in enumerate(gear.joints) if port not in still]
    rows: list[int] = []
    for i, motor in enumerate(gear.motors):
        if motor not in still:
            rows.append(i)
        elif any(gear.rows[i][j] for j in columns):
            message = f"would tie joints to each other: its shaft '{motor}' would stand still"
            raise refused(f"lock: {label_of(gear, name)}", message, "lock these joints, too, or remove it", name)
    if not rows or not columns:
        changes.drop.add(name)
        return
    constant = [
        offsets[i] + sum(gear.rows[i][j] * still[port] for j, port in enumerate(gear.joints) if port in still)
        for i in rows
    ]
    new = Gear(gear.name, tuple(tuple(gear.rows[i][j] for j in columns) for i in rows), offset=tuple(constant))
    changes.swap[name] = new
    for before, after in [
        *zip((gear.motors[i] for i in rows), new.motors, strict=True),
        *zip((gear.joints[j] for j in columns), new.joints, strict=True),
    ]:
        changes.ports[name, before] = after
    for port in still:
        changes.ports[name, port] = "standing"  # no such port: its connection goes
