"""``model.with_ground``: something to stand on, and points to stand with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from gyrostat.errors import clipped
from gyrostat.spec.contact import ContactPoint, Ground
from gyrostat.spec.edits.attach import placed
from gyrostat.spec.edits.scope import checked, find_port, refused
from gyrostat.spec.entity import Entity
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import first_of_each

WHO = "with_ground"


def with_ground(
    model: Model, name: str, at: Any, points: Any, radius: float, law: Mapping[str, Any], check: bool
) -> Model:
    """See :meth:`Model.with_ground`."""
    new: list[Entity] = [Ground(name, **law)]
    links: list[tuple[str, ...]] = []
    if at is not None:
        if model.context.base != "fixed":
            message = "'at' is given, but the reference frame moves with the base"
            raise refused(WHO, message, "add gs.Ground and connect it to what it shall move with", at)
        new.append(placed(f"{name}_origin", at))
        links += [(f"{model.wiring.root}.frame", f"{name}_origin.a"), (f"{name}_origin.b", f"{name}.frame")]
    for called, port in _points(points):
        place = find_port(model, port, f"{WHO}: points")
        if place.port.kind != "spatial":
            raise refused(f"{WHO}: points", f"'{port}' is a shaft", "name frames of bodies, such as 'foot.toe'", port)
        if place.scope:
            message = f"'{port}' is inside the assembly '{'.'.join(place.scope)}'"
            raise refused(f"{WHO}: points", message, "attach a ContactPoint there: model.attach(point, port)", port)
        new.append(ContactPoint(called, radius=radius))
        links.append((place.text, f"{called}.frame"))
    known = first_of_each(model.entities)
    for entity in new:
        if entity.name in known:
            remedy = "choose another one: with_ground(name=...), points={'name': 'port'}"
            raise refused(WHO, f"the name '{entity.name}' is in use already", remedy, entity.name)
    whole = replace(model, entities=(*model.entities, *new), connections=(*model.connections, *links))
    return checked(whole, check)


def _points(points: Any) -> Iterable[tuple[str, str]]:
    """(name, port) of each point."""
    if isinstance(points, Mapping):
        return list(points.items())
    if isinstance(points, str) or not isinstance(points, Iterable):
        message = f"points must be a list of ports, got {clipped(points)}"
        raise refused(WHO, message, "write points=['left_foot.toe', ...] or {'toe': 'left_foot.toe'}", points)
    return [(f"{port}_point".replace(".", "_") if isinstance(port, str) else "", port) for port in points]
