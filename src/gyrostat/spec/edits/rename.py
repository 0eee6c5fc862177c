"""``model.rename``: another name for an entity, a frame of a body or an exposed port, wherever it is used."""

from __future__ import annotations

from gyrostat.errors import clipped
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.edits.scope import checked, find_port, full_name, names_in, refused, scope_of
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import first_of_each
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.wiring import is_name

COMPANIONS = ("drive", "origin", "mimic", "spring", "bushing")
"""Entities ``<name>_drive`` and so on that are connected with ``<name>`` are called after it."""


def rename(model: Model, old: str, new: str, check: bool) -> Model:
    """See :meth:`Model.rename`."""
    who = f"rename {clipped(old, 60)}"
    if not isinstance(new, str) or not is_name(new):
        remedy = "use up to 128 characters without spaces, dots, quotes, commas and brackets, not the path"
        raise refused(who, f"the new name {clipped(new)} is not usable", remedy, new)
    names = names_in(model)
    if isinstance(old, str) and old not in names and model.canonical(old) not in names and "." in old:
        return checked(rebuilt(model, _port(model, old, new, who)), check)
    full = full_name(model, old, "rename")
    scope, _, name = full.rpartition(".")
    entities, _ = scope_of(model, tuple(scope.split(".")) if scope else ())
    changes, known = Changes(), first_of_each(entities)
    for before, after in ((name, new), *_companions(model, full, name, new)):
        if after in known and after != before:
            raise refused(who, f"the name '{after}' is in use already", "choose another one", new)
        changes.swap[f"{scope}.{before}" if scope else before] = known[before].model_copy(update={"name": after})
    return checked(rebuilt(model, changes), check)


def _companions(model: Model, full: str, name: str, new: str) -> list[tuple[str, str]]:
    """What belongs to an entity by its name, and is connected with it."""
    wiring = model.wiring
    mates = {other for group in wiring.groups if any(n == full for n, _ in group) for other, _ in group}
    pairs: list[tuple[str, str]] = []
    for suffix in COMPANIONS:
        own = f"{full}_{suffix}"
        if any(other == own or other.startswith(f"{own}.") for other in mates):
            pairs.append((f"{name}_{suffix}", f"{new}_{suffix}"))
    return pairs


def _port(model: Model, old: str, new: str, who: str) -> Changes:
    place = find_port(model, old, "rename")
    name, port = place.text.split(".")
    full = ".".join((*place.scope, name))
    entity = first_of_each(scope_of(model, place.scope)[0])[name]
    if any(p.name == new for p in entity.ports):
        raise refused(who, f"'{name}' has a port '{new}' already", "choose another one", new)
    return Changes(swap={full: _with_port(entity, port, new, who)}, ports={(full, port): new})


def _with_port(entity: Entity, port: str, new: str, who: str) -> Entity:
    if isinstance(entity, RigidBody) and port != "origin":
        frames = tuple(f.model_copy(update={"name": new}) if f.name == port else f for f in entity.frames)
        return entity.model_copy(update={"frames": frames})
    if isinstance(entity, Assembly):
        shown = tuple((new if outer == port else outer, inner) for outer, inner in entity.exposes)
        fields = {key: getattr(entity, key) for key in type(entity).model_fields}
        return type(entity).model_validate(fields | {"exposes": shown})
    message = f"the port '{port}' of a {entity.type_name.replace('_', ' ')} has its name by kind"
    raise refused(who, message, "only frames of bodies and exposed ports of assemblies can be renamed", port)
