"""Paths: every physical property of a model has an address, ``forearm.mass``, ``tool.tip``, ``leg.knee.axis``.

What can follow in a path is a mapping of names to values; that of a model holds its context and its entities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from gyrostat.errors import SpecError, nearest
from gyrostat.spec.assembly import Assembly
from gyrostat.spec.context import Context
from gyrostat.spec.describe import describe
from gyrostat.spec.entity import Entity
from gyrostat.spec.values import Frame


def children(value: Any) -> Mapping[str, Any]:
    """Name -> value of what can follow in a path."""
    if isinstance(value, Mapping):
        return value
    if isinstance(value, Assembly):
        return {entity.name: entity for entity in value.entities}
    if isinstance(value, BaseModel):
        properties = {k: getattr(value, k) for k in type(value).model_fields if k != "name"}
        frames = {f.name: f for f in properties.get("frames", ()) if isinstance(f, Frame)}
        return frames | {k: v for k, v in properties.items() if k != "frames"}
    return {}


def value_at(inside: Mapping[str, Any], path: str, canonical: str, owner: str) -> Any:
    """The value at a path inside a model; ``path`` is what the user wrote, ``owner`` what messages call the model."""
    value: Any = inside
    for depth, key in enumerate(canonical.split(".")):
        value = _child(value, key, path, ".".join(path.split(".")[:depth]) or owner)
    return value


def _child(value: Any, key: str, path: str, owner: str) -> Any:
    known = children(value)
    if key not in known:
        owner = getattr(value, "label", None) or owner
        raise SpecError.one(owner, "unknown-path", f"'{path}': there is no '{key}'", nearest(key, known), path)
    return known[key]


def canonical(inside: Mapping[str, Any], path: str) -> str:
    """A path as it is stored: ``elbow.gear.ratio`` is ``elbow_drive.gear.ratio``, the drive of that joint."""
    keys, stored = path.split("."), []
    for k, key in enumerate(keys):
        drive = inside.get(f"{key}_drive")
        below = children(inside.get(key))
        after = keys[k + 1 : k + 3]  # a single word that neither of them has belongs to the joint
        if isinstance(drive, Assembly) and after and after[0] not in below:
            key = f"{key}_drive" if len(after) > 1 or after[0] in children(drive) else key
        stored.append(key)
        inside = children(inside.get(key))
    return ".".join(stored)


def paths(value: Any, prefix: str) -> Iterator[str]:
    """Addresses of all properties of an entity or frame at the path ``prefix``."""
    for key, child in children(value).items():
        inside = f"{prefix}.{key}"
        if isinstance(child, Entity | Frame):
            yield from paths(child, inside)
        else:
            yield inside


def changed(value: Any, keys: Sequence[str], new: Any, path: str) -> Any:
    """A copy of ``value`` in which the property at ``keys`` is ``new``; with no keys, ``new`` itself."""
    if not keys:
        return new
    key = keys[0]
    child = changed(_child(value, key, path, ""), keys[1:], new, path)
    fields = {k: getattr(value, k) for k in type(value).model_fields}
    if isinstance(value, Assembly):
        fields["entities"] = swapped(value.entities, key, child)
    elif key in fields:
        fields[key] = child
    else:
        fields["frames"] = _with_place(fields["frames"], key, child)
    try:
        return type(value).model_validate(fields)
    except ValidationError as error:
        owner = "" if isinstance(value, Context) else path.rpartition(".")[0]
        raise SpecError(describe(type(value), owner, error)) from None


def _with_place(frames: Sequence[Frame], name: str, place: Any) -> Any:
    """The frames with one of them elsewhere: a :class:`Frame`, or what ``frames={name: ...}`` takes."""
    if isinstance(place, Frame):
        return swapped(frames, name, place)
    return {f.name: {"translation": f.translation, "rotation": f.rotation} for f in frames} | {name: place}


def swapped(items: Sequence[Any], name: str, new: Any) -> tuple[Any, ...]:
    """The items, with ``new`` in the place of the one that has the name."""
    return tuple(new if item.name == name else item for item in items)
