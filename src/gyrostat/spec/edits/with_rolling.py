"""``model.with_rolling``: a wheel of a model rolls on a plane."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from gyrostat.errors import clipped
from gyrostat.spec.edits.scope import checked, find_port, refused
from gyrostat.spec.model import Model
from gyrostat.spec.port_names import first_of_each
from gyrostat.spec.rolling import Rolling, RollingOn

WHO = "with_rolling"


def with_rolling(model: Model, what: Any, check: bool) -> Model:
    """See :meth:`Model.with_rolling`."""
    if isinstance(what, Rolling) or not isinstance(what, RollingOn):
        remedy = "say what rolls: gs.Rolling('contact', radius=0.3).on('wheel')"
        raise refused(WHO, f"expected a rolling wheel, got {clipped(what)}", remedy, what)
    if what.ground is None and model.context.base != "fixed":
        remedy = "a body that moves freely has Joint(..., 'free') of its own; or say ground="
        raise refused(WHO, "the reference frame moves with the base, and is no ground", remedy, what.ground)
    ground = f"{model.wiring.root}.frame" if what.ground is None else what.ground
    links: list[tuple[str, str]] = []
    for port, name in (("ground", ground), ("wheel", what.wheel)):
        place = find_port(model, name, f"{WHO}: {port}")
        if place.port.kind != "spatial":
            raise refused(f"{WHO}: {port}", f"'{name}' is a shaft", "name a frame, such as 'wheel.origin'", name)
        if place.scope:
            message = f"'{name}' is inside the assembly '{'.'.join(place.scope)}'"
            raise refused(f"{WHO}: {port}", message, "let the assembly have a port there, or hold the wheel", name)
        links.append((place.text, f"{what.rolling.name}.{port}"))
    if what.rolling.name in first_of_each(model.entities):
        message = f"the name '{what.rolling.name}' is in use already"
        raise refused(WHO, message, "give another one: gs.Rolling('second_contact', ...)", what.rolling.name)
    whole = replace(model, entities=(*model.entities, what.rolling), connections=(*model.connections, *links))
    return checked(whole, check)
