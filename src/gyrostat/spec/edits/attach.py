"""``model.attach``: a payload, a tool or a second robot at a port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from pydantic import ValidationError

from gyrostat.errors import clipped
from gyrostat.spec.closed_loops import to_reference
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.displacement import DHDisplacement, Displacement
from gyrostat.spec.edits.rebuild import Changes, rebuilt
from gyrostat.spec.edits.scope import PlacedPort, checked, find_port, refused, scope_of, with_scope
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.model import Model
from gyrostat.spec.values import IDENTITY, ROTATION_FORMS, RotationMatrix, to_place
from gyrostat.spec.wiring import is_name

WHO = "attach"
PLACES = (
    "write (x, y, z) in m, ((x, y, z), rpy(r, p, y)), {translation: ..., rotation: ...}, a rotation, or a 4x4 matrix"
)


def attach(model: Model, part: Any, to: str, at: Any, prefix: str, port: str | None, check: bool) -> Model:
    """See :meth:`Model.attach`."""
    place = find_port(model, to, f"{WHO} to")
    if not isinstance(prefix, str):
        raise refused(WHO, f"prefix must be a text, got {clipped(prefix)}", "write prefix='left_'", prefix)
    if isinstance(part, Model):
        return checked(_with_model(model, part, place, at, prefix, port), check)
    if not isinstance(part, Entity):
        message = f"expected an entity or a model, got {clipped(part)}"
        raise refused(WHO, message, "gs.RigidBody, gs.assembly(...) and gs.load(...) make one", part)
    part = part.model_copy(update={"name": prefix + part.name}) if prefix else part
    entered = _entered(part, port, place)
    new: list[Entity] = [part]
    leave, links = place.text, []
    if at is not None:
        if place.port.kind != "spatial":
            raise refused(f"{WHO} to '{to}'", f"'at' is given, but '{to}' is a shaft", "leave 'at' out", at)
        new.insert(0, placed(f"{part.name}_origin", at))
        links, leave = [(place.text, f"{new[0].name}.a")], f"{new[0].name}.b"
    links.append((leave, f"{part.name}.{entered.name}"))
    entities, connections = scope_of(model, place.scope)
    _expect_free(model, place, new)
    return checked(with_scope(model, place.scope, (*entities, *new), (*connections, *links)), check)


def _entered(part: Entity, port: str | None, place: PlacedPort) -> Port:
    """The port of the part that is connected: the one that is named, or the first of the kind that is there."""
    ports = [p for p in part.ports if p.kind == place.port.kind]
    entered = next((p for p in ports if port in (None, p.name)), None)
    if entered is None:
        sort = "frame" if place.port.kind == "spatial" else "shaft"
        message = f"has no {sort}{'' if port is None else f' {port!r}'} to be connected with '{place.text}'"
        remedy = "frames go to frames, shafts to shafts"
        remedy += f"; its ports: {', '.join(p.name for p in part.ports) or 'none'}"
        raise refused(f"{WHO}: {part.label}", message, remedy, port)
    return entered


def _expect_free(model: Model, place: PlacedPort, new: Sequence[Entity]) -> None:
    """Names that are in use are refused, all at once."""
    entities, _ = scope_of(model, place.scope)
    known = {entity.name for entity in entities}
    taken = [entity.name for entity in new if entity.name in known]
    if taken:
        shown = ", ".join(f"'{name}'" for name in taken[:6]) + (", ..." if len(taken) > 6 else "")
        message = f"the names {shown} are in use already" if len(taken) > 1 else f"the name {shown} is in use already"
        raise refused(WHO, message, "put something before the new names, such as prefix='second_'", tuple(taken))


def placed(name: str, at: Any) -> Entity:
    """The displacement that a place means."""
    if isinstance(at, DHDisplacement):
        return at.model_copy(update={"name": name})
    if isinstance(at, tuple(ROTATION_FORMS.values())):
        return Displacement(name, rotation=at)
    if hasattr(at, "translation") and hasattr(at, "rotation"):  # a displacement, a frame, a placement of others
        return Displacement(name, translation=at.translation, rotation=at.rotation)
    if isinstance(at, list | tuple | np.ndarray) and len(at) == 4:
        return _from_matrix(name, at)
    try:
        place = to_place(at)
    except (RefusedError, ValidationError, TypeError):
        raise refused(f"{WHO}: at", f"is no place, got {clipped(at)}", PLACES, at) from None
    values = dict(place)
    unknown = [key for key in values if key not in ("translation", "rotation")]
    if unknown:
        raise refused(f"{WHO}: at", f"has no '{unknown[0]}'", PLACES, at)
    return Displacement(name, **values)


def _from_matrix(name: str, at: Any) -> Displacement:
    try:
        T = np.array(at, dtype=float)
    except (TypeError, ValueError):
        T = np.zeros(0)
    if T.shape != (4, 4) or not np.array_equal(T[3], [0.0, 0.0, 0.0, 1.0]):
        raise refused(f"{WHO}: at", f"is no place, got {clipped(at)}", PLACES, at)
    rotation: Any = RotationMatrix(matrix=T[:3, :3].tolist())
    return Displacement(name, translation=T[:3, 3].tolist(), rotation=IDENTITY if _is_one(T[:3, :3]) else rotation)


def _is_one(R: np.ndarray) -> bool:
    return bool(np.array_equal(R, np.eye(3)))


def _with_model(model: Model, part: Model, place: PlacedPort, at: Any, prefix: str, port: str | None) -> Model:
    """Both models in one: the second one's reference frame becomes a displacement that is called like it."""
    who = f"{WHO}: model '{part.name}'"
    root = part.wiring.root
    if root is None or "." in root:
        message = "needs one reference frame, not inside an assembly"
        raise refused(who, message, "gs.check says what is wrong with it", part.name)
    if part.context.base != "fixed":
        base = part.context.base if isinstance(part.context.base, str) else "moving"
        message = f"has a {base} base, and would be fixed to '{place.text}'"
        raise refused(who, message, "say so with model.replace({'context.base': 'fixed'})", part.context.base)
    if port is not None or place.port.kind != "spatial":
        what = f"port {port!r} is given" if port is not None else f"'{place.text}' is a shaft"
        raise refused(who, f"is attached by its reference frame, but {what}", "attach it to a frame", port)
    title = prefix + "".join(c if is_name(c) else "_" for c in part.name)[: 100 - len(prefix)]
    title += "_origin" if title in {prefix + e.name for e in part.entities if e.name != root} else ""
    mount = Displacement(title) if at is None else placed(title, at)
    swap = {e.name: e.model_copy(update={"name": prefix + e.name}) for e in part.entities} if prefix else {}
    second = rebuilt(part, Changes(swap=swap | {root: mount}, ports={(root, "frame"): "b"}))
    entities, connections = scope_of(model, place.scope)
    _expect_free(model, place, second.entities)
    links = ((place.text, f"{title}.a"), *second.connections, *_standing(part, title, prefix, who))
    above = "".join(f"{name}." for name in place.scope)
    sources = dict(model.sources)
    for path, where in second.sources.items():
        if path.startswith("connections["):
            number, _, rest = path.removeprefix("connections[").partition("]")
            path = f"connections[{len(connections) + 1 + int(number)}]{rest}"
        if path != "model":
            sources[above + path] = where
    whole = with_scope(model, place.scope, (*entities, *second.entities), (*connections, *links), sources)
    return _with_loops(whole, model, part, second, above)


def _standing(part: Model, title: str, prefix: str, who: str) -> list[tuple[str, str]]:
    """Grounds that stand by themselves go with the reference frame of their model."""
    wiring = part.wiring
    standing = [name for name, entity in wiring.entities.items() if entity.stands_alone and entity.ports]
    alone = [name for name in standing if not wiring.connection(name, "frame")]
    inside = [name for name in alone if "." in name]
    if inside:
        message = f"'{inside[0]}' stands by itself inside an assembly"
        raise refused(who, message, "connect it to the frame that it shall move with", inside[0])
    return [(f"{title}.b", f"{prefix}{name}.frame") for name in alone]


def _with_loops(whole: Model, model: Model, given: Model, part: Model, above: str) -> Model:
    """With what both say about closed loops, the part ``given`` by the names it has now; they must not ask for
    different treatments."""
    one, two = model.context, part.context
    treatments = {c.loops for c, m in ((one, model), (two, given)) if m.wiring.tree.loops}
    if len(treatments) > 1:
        message = f"treats its loops as {two.loops!r}, the model its own as {one.loops!r}"
        raise refused(f"{WHO}: model '{part.name}'", message, "replace 'context.loops' in one of them", two.loops)
    reference = dict(one.reference) | {above + name: x for name, x in two.reference.items()}
    independent = (*one.independent, *(above + name for name in two.independent))
    loops = treatments.pop() if treatments else one.loops
    context = one.model_copy(update={"reference": to_reference(reference), "independent": independent, "loops": loops})
    return replace(whole, context=context)
