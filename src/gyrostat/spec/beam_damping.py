"""Damping of flexible links: a time constant (Kelvin and Voigt), Rayleigh's two constants, or ratios of the modes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema

from gyrostat.spec.describe import RefusedError
from gyrostat.spec.values import Number, Value, numbers_of, to_number


class Rayleigh(Value):
    """Damping matrix alpha M + beta K of the deformation: ``alpha`` [1/s], ``beta`` [s]; the ratio of a mode with the
    circular frequency w is alpha / (2 w) + beta w / 2."""

    alpha: Number
    beta: Number


def _to_ratios(value: Any) -> tuple[float, ...]:
    single = isinstance(value, int | float) and not isinstance(value, bool)
    return (to_number(value),) if single else numbers_of(value, "a ratio, or a list of ratios", "write 0.01")


class Modal(Value):
    """Damping ``ratios`` of the natural modes 1, 2, ... of the clamped link, in each family (y, z, twist, stretch); the
    last one counts for all that follow. One number: the same for all."""

    ratios: Annotated[
        tuple[float, ...],
        BeforeValidator(_to_ratios),
        WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 1}]}),
    ]


def to_damping(value: Any) -> Any:
    if isinstance(value, Rayleigh | Modal):
        return value
    if isinstance(value, Mapping):
        return (Modal if "ratios" in value else Rayleigh).model_validate(dict(value))
    try:
        return to_number(value)
    except RefusedError:
        remedy = "write a time constant in s, {alpha: ..., beta: ...}, or {ratios: 0.01}"
        raise RefusedError("must be a damping", value, remedy) from None


Damping = Annotated[
    Any,
    PlainValidator(to_damping),
    PlainSerializer(lambda value: value.model_dump() if isinstance(value, Value) else value),
    WithJsonSchema({"anyOf": [{"type": "number"}, Rayleigh.model_json_schema(), Modal.model_json_schema()]}),
]
