"""Live properties: those that stay inputs of compiled code, and which differences of two models they cover."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gyrostat.engine.tracing.dual import Dual
from gyrostat.errors import SpecError
from gyrostat.spec.contact_law import ContactEntity
from gyrostat.spec.model import Model

Array = np.ndarray


def live_value(model: Model, path: str) -> Array:
    """The numbers of a property, as an array of their own."""
    value = model[path]
    expect_may_be_live(model, path)
    if path == "context.gravity":
        value = getattr(value, "g", value)
    elif path.startswith("context."):
        value = None  # no row asks for it as a number
    if isinstance(value, float | tuple):
        array = np.array(value)
        if array.dtype == float:
            return array
    raise SpecError.one(
        "live", "live-property", f"'{path}' is {value!r}, which is no number, vector or matrix",
        "list paths such as 'payload.mass' or 'elbow.axis'", path,
    )  # fmt: skip


def expect_may_be_live(model: Model, path: str) -> None:
    """Refuse properties of which their entity says that they cannot be live, and those of contacts that are not
    given: whether they are decides about the equations."""
    keys = path.split(".")
    owners = [k for k in range(len(keys) - 1, 0, -1) if ".".join(keys[:k]) in model.wiring.entities]
    if not owners:
        return
    entity, prop = model.wiring.entities[".".join(keys[: owners[0]])], ".".join(keys[owners[0] :])
    hint = entity.why_not_live(prop)
    if hint is not None:
        raise SpecError.one(entity.label, "live-property", f"'{prop}' cannot be live", hint, path)
    if isinstance(entity, ContactEntity) and getattr(entity, prop, None) is None:
        message, remedy = f"'{prop}' is not given, so it cannot be live", "give it a number: model.replace({...})"
        raise SpecError.one(entity.label, "live-property", message, remedy, path)


# ------------------------------------------------------------------------------------------------ number by number
def number_names(values: Mapping[str, Array]) -> tuple[str, ...]:
    """A name for every number of live properties."""
    return tuple(
        path if value.ndim == 0 else f"{path}[{', '.join(map(str, index))}]"
        for path, value in values.items()
        for index in np.ndindex(value.shape)
    )


def with_unit_rates(values: Mapping[str, Array]) -> Iterator[tuple[str, dict[str, Array]]]:
    """Live properties with a unit rate in one number, one number after the other; and whose it is."""
    for path, value in values.items():
        for index in np.ndindex(value.shape):
            changed = np.array(value, dtype=object)
            changed[index] = Dual(changed[index], 1.0)
            yield path, {**values, path: changed}


# ------------------------------------------------------------------------------------------------ two models
def expect_only_live_differences(one: Model, two: Model, live: Sequence[str], who: str) -> None:
    """Refuse to go from one model to the other if more than live numbers differ."""
    changed = differing(one, two, live)
    if not changed:
        return
    first, more = changed[0], f" (and {len(changed) - 1} more)" if len(changed) > 1 else ""
    remedy = f"build the solver with live=[{first!r}, ...], or build a new one"
    if first in ("structure", *live):
        remedy = "build a new solver"
    raise SpecError.one(f"{who} of '{one.name}'", "refresh", _why_not(first, live) + more, remedy, first)


def differing(one: Model, two: Model, live: Sequence[str] = ()) -> list[str]:
    """Paths of properties in which two models differ, but for live ones; 'structure' if their parts are not the
    same."""
    shape = [(m.connections, [(n, type(e)) for n, e in m.wiring.entities.items()]) for m in (one, two)]
    paths = [list(m.paths()) for m in (one, two)]
    if shape[0] != shape[1] or paths[0] != paths[1]:
        return ["structure"]
    return [path for path in paths[0] if one[path] != two[path] and not _is_live(one, two, path, live)]


def _why_not(path: str, live: Sequence[str]) -> str:
    if path == "structure":
        return "the model is made of other parts"
    if path in live:
        return f"'{path}' differs in its kind, not only in its numbers"
    return f"'{path}' differs but is not live"


def _is_live(one: Model, two: Model, path: str, live: Sequence[str]) -> bool:
    """Whether two models differ at a path in live numbers only."""
    if path == "context.gravity":
        kinds = [(type(m[path]), getattr(m[path], "treat_as", None)) for m in (one, two)]
        return path in live and kinds[0] == kinds[1]
    if path in live:
        return _first_direction(one, path) == _first_direction(two, path)
    inside = [p for p in live if p.startswith(f"{path}.")]
    if not inside or type(one[path]) is not type(two[path]):
        return False
    return one.replace({p: two[p] for p in inside})[path] == two[path]


def _first_direction(model: Model, path: str) -> int:
    """Which coordinate axis a planar joint takes its first direction from: a choice that was recorded."""
    owner, _, prop = path.rpartition(".")
    entity = model[owner]
    if prop != "axis" or getattr(entity, "kind", None) != "planar" or entity.second_axis is not None:
        return 0
    return int(np.argmax(np.abs(np.array(entity.axis))))
