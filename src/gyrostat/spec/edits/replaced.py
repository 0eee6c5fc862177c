"""After ``model.replace``: a value that changes the ports or rates of an entity must leave a sound model."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from gyrostat.errors import SpecError
from gyrostat.spec.check import problems
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model


def expect_sound(before: Model, after: Model, paths: Iterable[str]) -> None:
    """Raise what is wrong with a model whose structure was changed by values, such as ``{"wrist.kind": "fixed"}``."""
    changed = [
        name
        for name in dict.fromkeys(_owner(before, path) for path in paths)
        if name and _structure(before[name]) != _structure(after[name])
    ]
    known = {(p.entity, p.rule, p.message) for p in problems(before)} if changed else set()
    new = [p for p in problems(after) if (p.entity, p.rule, p.message) not in known] if changed else []
    if new:
        raise SpecError([replace(new[0], remedy=_remedy(after, changed, new[0].remedy)), *new[1:]])


def _owner(model: Model, path: str) -> str:
    """The innermost entity on a path."""
    while path and not isinstance(model[path], Entity):
        path = path.rpartition(".")[0]
    return path


def _structure(entity: Entity) -> object:
    return entity.ports, entity.coordinates, entity.rates


def _remedy(model: Model, changed: list[str], remedy: str) -> str:
    """Whoever makes a joint fixed wants to lock it."""
    name = changed[0]
    joint = model.wiring.entities.get(name)
    if isinstance(joint, Joint) and joint.kind == "fixed":
        return f"model.lock('{name}', 0.0) makes a joint a displacement and takes its drive along; or {remedy}"
    return remedy
