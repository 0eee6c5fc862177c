"""From pydantic's list of errors to problems in our words."""

from __future__ import annotations

import re
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from gyrostat.errors import Problem, clipped, near, nearest

NESTED: dict[str, None] = {}
"""Names of properties inside properties, such as ``translation`` of a frame: what a misspelt one may have meant."""


class RefusedError(ValueError):
    """A value that a property cannot take: what is wrong with it, and what to write instead."""

    def __init__(self, message: str, value: object, remedy: str):
        self.remedy = remedy
        super().__init__(f"{message}, got {clipped(value)}")


def snake(name: str) -> str:
    """``DHDisplacement`` -> ``dh_displacement``."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def describe(kind: type[BaseModel], name: object, error: ValidationError) -> list[Problem]:
    """Turn pydantic's error list into problems in our words; ``value`` of each is the path of the property."""
    label = snake(kind.__name__).replace("_", " ") + (f" '{name}'" if name != "" else "")
    return [_describe_one(kind, label, e) for e in error.errors()]


def _describe_one(kind: type[BaseModel], label: str, e: Any) -> Problem:
    path = tuple(str(key) for key in e["loc"])
    shown = ".".join(path)
    if e["type"] == "missing":
        return Problem(label, "missing-property", f"needs the property '{shown}'", f"add '{shown}'", path)
    if e["type"] == "extra_forbidden":
        known = [f for f in kind.model_fields if f != "name"] if len(path) == 1 else near(path[-1], NESTED)
        remedy = nearest(path[-1], known) if known else "take it out"
        return Problem(label, "unknown-property", f"has no property '{shown}'", remedy, path)
    if e["type"] == "literal_error":
        close = near(str(e["input"]), choices(kind, path), limit=1)
        remedy = f"did you mean '{close[0]}'?" if close else f"expected {e['ctx']['expected']}"
        return Problem(label, "property-value", f"'{shown}' is {clipped(e['input'])}", remedy, path)
    if e["type"] == "value_error":
        reason = e["ctx"]["error"]
        remedy = getattr(reason, "remedy", "change the value")
        return Problem(label, "property-type", f"'{shown}' {reason}", remedy, path)
    text = f"'{shown}' is {clipped(e['input'])}: {e['msg'][:1].lower()}{e['msg'][1:]}"
    return Problem(label, "property-type", text, "change the value", path)


def choices(kind: type[BaseModel], path: tuple[str, ...]) -> list[str]:
    """The texts that a property with a closed list of values can have."""
    field = kind.model_fields.get(path[0]) if len(path) == 1 else None
    return [value for value in get_args(field.annotation) if isinstance(value, str)] if field else []
