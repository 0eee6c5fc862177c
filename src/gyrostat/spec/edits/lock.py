"""``model.lock``: joints that stand still, and what that makes of their drives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from gyrostat.errors import SpecError, clipped, nearest
from gyrostat.spec.edits.lock_shafts import Angles, lock_shafts
from gyrostat.spec.edits.locked_place import is_unit, locked_place
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.edits.scope import checked, full_name, refused
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rules import shown

Standing = dict[str, tuple[float, ...]]
"""Coordinates of the joints that are locked."""


def lock(model: Model, joints: str | Mapping[str, Any], value: Any, check: bool) -> Model:
    """See :meth:`Model.lock`."""
    if isinstance(joints, Mapping):
        if value is not None:
            raise refused("lock", "takes a value or a mapping, not both", "write lock({'wrist': 0.1})", value)
        wanted = dict(joints)
    else:
        wanted = {joints: value}
    standing: Standing = {}
    problems: list[Any] = []
    for name, coordinates in wanted.items():
        try:
            full, q = _wanted(model, name, coordinates)
            standing[full] = q
        except SpecError as error:
            problems += error.problems
    if problems:
        raise SpecError(problems)
    angles = _angles(model, standing)
    _follow(model, standing, angles)
    changes = Changes()
    for name, q in standing.items():
        changes.swap[name] = locked_place(_joint(model, name), q)
        changes.drop |= _forces_inside(model, name)
    lock_shafts(model, angles, set(standing), changes)
    return checked(rebuilt(model, changes), check)


def _joint(model: Model, name: str) -> Joint:
    return cast("Joint", model.wiring.entities[name])


def _wanted(model: Model, name: Any, value: Any) -> tuple[str, tuple[float, ...]]:
    """Full name and coordinates of one joint."""
    full, who = full_name(model, name, "lock"), f"lock '{str(name)[:60]}'"
    joint = model.wiring.entities.get(full)
    if type(joint) is not Joint:  # what a derived kind redefines is not known here
        what = "is an assembly" if joint is None else f"is a {joint.type_name.replace('_', ' ')}"
        known = [n for n, e in model.wiring.entities.items() if isinstance(e, Joint) and e.rates]
        remedy = nearest(full, known)
        if full == model.wiring.root:
            remedy = "a free base is fixed by model.replace({'context.base': 'fixed'})"
        raise refused(who, f"{what}, expected a joint", remedy, name)
    if not joint.rates:
        raise refused(who, "is fixed already", "leave it out", name)
    if len(model.shafts.kept(full, joint)) < len(joint.rates):
        raise _follower(model, full, joint, who)
    return full, _coordinates(joint, value, who)


def _coordinates(joint: Joint, value: Any, who: str) -> tuple[float, ...]:
    expected = f"{len(joint.coordinates)} as in q ({', '.join(joint.coordinates)})" if len(joint.rates) > 1 else "one"
    remedy = f"give {expected}: model.lock('{joint.name}', ...)"
    try:
        q = np.atleast_1d(np.array(value, dtype=float)) if value is not None else np.zeros(0)
    except (TypeError, ValueError):
        q = np.zeros(0)
    if q.shape != (len(joint.coordinates),) or isinstance(value, str | bool):
        raise refused(who, f"needs numbers, {expected}, got {clipped(value)}", remedy, value)
    if not np.isfinite(q).all():
        raise refused(who, f"must be finite, got {clipped(value)}", remedy, value)
    at = joint.quaternion_at
    if at is not None and not is_unit(q[at : at + 4].tolist()):
        length = float(np.linalg.norm(q[at : at + 4]))
        message = f"must have a unit quaternion, got {shown(tuple(q[at : at + 4].tolist()))} of length {length:g}"
        raise refused(who, message, "divide it by its length; the order is x, y, z, w", value)
    return tuple(q.tolist())


def _follower(model: Model, full: str, joint: Joint, who: str) -> SpecError:
    """A follower has no coordinate: say which joints do."""
    leaders: list[str] = []
    for k in range(len(joint.rates)):
        shaft = model.shafts.shaft(full, joint, k)
        line = None if shaft is None else model.shafts.lines.get(shaft)
        terms = [shaft] if line is None else [*line.terms]
        leaders += [owner[0] for s in terms if s is not None and (owner := model.shafts.owner(s)) is not None]
    named = [f"'{name}'" for name in dict.fromkeys(leaders) if name != full]
    message = f"has no coordinate of its own: it follows {', '.join(named) or 'others'}"
    return refused(who, message, f"lock {', '.join(named) or 'these'}, and it stands still as well", full)


def _angles(model: Model, standing: Standing) -> Angles:
    """Angles of all shafts that stand still because of these joints."""
    angles: Angles = {}
    for name, q in standing.items():
        joint = _joint(model, name)
        for k in range(len(joint.table.shafts)):
            shaft = model.shafts.shaft(name, joint, k)
            if shaft is not None:
                angles[shaft] = q[k]
    own = dict(angles)
    for shaft, line in model.shafts.lines.items():
        if line.terms and all(other in own for other in line.terms):
            angles[shaft] = sum(factor * own[other] for other, factor in line.terms.items()) + line.constant
    return angles


def _follow(model: Model, standing: Standing, angles: Angles) -> None:
    """Joints whose shafts stand still are locked as well."""
    for name, joint in model.wiring.entities.items():
        if not joint.rates or name in standing:
            continue
        places = [model.shafts.shaft(name, joint, k) for k in range(len(joint.rates))]
        q = [angles[s] for s in places if s is not None and s in angles]
        if q and len(q) < len(joint.rates):
            message = (
                f"would stand still in {len(q)} of its {len(joint.rates)} rates, because it follows a locked joint"
            )
            raise refused(f"lock: joint '{name}'", message, "lock it, too, or take the gear between them out", name)
        if q and type(joint) is not Joint:
            message = "follows a locked joint, and what its kind looks like at an angle is not known here"
            raise refused(f"lock: {joint.label}", message, "take the gear between them out", name)
        if q:
            standing[name] = tuple(q)


def _forces_inside(model: Model, name: str) -> set[str]:
    """Forces between the two sides of the joint: they do nothing once it is locked."""
    group_of = model.wiring.group_of()
    ends = {group_of.get((name, port)) for port in ("a", "b")} - {None}
    forces: set[str] = set()
    for other, entity in model.wiring.entities.items():
        if not entity.binds and len(ends) == 2:
            forces |= {other} if {group_of.get((other, port.name)) for port in entity.ports} == ends else set()
    return forces
