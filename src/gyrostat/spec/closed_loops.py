"""What a model says about its closed loops: the reference configuration, which coordinates to keep, and how to treat
them. Part of the context."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from gyrostat.spec.describe import RefusedError
from gyrostat.spec.values import numbers_of, to_number

LoopTreatment = Literal["auto", "minimal", "constraints", "maximal"]


class Reference(Mapping[str, tuple[float, ...]]):
    """Coordinates of joints by name, as they were given; frozen, with a hash."""

    def __init__(self, given: Mapping[str, tuple[float, ...]] | None = None):
        self._given = dict(given or {})

    def __getitem__(self, joint: str) -> tuple[float, ...]:
        return self._given[joint]

    def __iter__(self) -> Iterator[str]:
        return iter(self._given)

    def __len__(self) -> int:
        return len(self._given)

    def __hash__(self) -> int:
        return hash(tuple(sorted(self._given.items())))

    def __repr__(self) -> str:
        return repr(plain_reference(self))


def to_reference(value: Any) -> Reference:
    if isinstance(value, Reference):
        return value
    remedy = "write {'elbow': 0.5}, rad and m; joints with several coordinates take a list"
    if not isinstance(value, Mapping) or not all(isinstance(name, str) for name in value):
        raise RefusedError("must map names of joints to their coordinates", value, remedy)
    given: dict[str, tuple[float, ...]] = {}
    for name, x in value.items():
        several = isinstance(x, list | tuple) or (isinstance(x, np.ndarray) and x.ndim > 0)
        given[name] = numbers_of(x, f"numbers for '{name}'", remedy) if several else (to_number(x),)
    return Reference(given)


def plain_reference(value: Reference) -> dict[str, Any]:
    return {name: x[0] if len(x) == 1 else list(x) for name, x in value.items()}


def to_names(value: Any) -> tuple[str, ...]:
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) for name in value):
        raise RefusedError("must be a list of names of joints", value, "write ['crank']")
    return tuple(value)


ReferenceConfiguration = Annotated[
    Any,
    PlainValidator(to_reference),
    PlainSerializer(plain_reference),
    WithJsonSchema(
        {
            "type": "object",
            "additionalProperties": {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}}]},
        }
    ),
]
Names = Annotated[
    tuple[str, ...],
    PlainValidator(to_names),
    PlainSerializer(list),
    WithJsonSchema({"type": "array", "items": {"type": "string"}}),
]
