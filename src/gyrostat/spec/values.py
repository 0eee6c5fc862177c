"""Types of physical properties: numbers, vectors, inertia matrices and rotations, as plain frozen data.

Nothing is computed here. A value is taken as it was written (a rotation stays Euler angles if it was given so), so that
every physical property keeps its meaning and its address. ``geometry.rotation`` turns the forms into matrices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Real
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
)

from gyrostat.errors import SpecError
from gyrostat.spec.describe import NESTED, RefusedError, describe


def to_number(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise RefusedError("must be a number", value, "write a number such as 0.5, without quotes or units")
    number: Any = value
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def _sequence(value: Any, length: int, what: str, remedy: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) != length:
        raise RefusedError(f"must be {what}", value, remedy)
    return list(value)


def _numbers(value: Any, length: int, what: str, remedy: str) -> tuple[float, ...]:
    items = _sequence(value, length, what, remedy)
    try:
        return tuple(to_number(item) for item in items)
    except RefusedError:
        raise RefusedError(f"must be {what}", value, remedy) from None


def numbers_of(value: Any, what: str, remedy: str) -> tuple[float, ...]:
    """A list of numbers of any length but zero."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple) or not value:
        raise RefusedError(f"must be {what}", value, remedy)
    return _numbers(value, len(value), what, remedy)


def to_vector(value: Any) -> tuple[float, float, float]:
    x, y, z = _numbers(value, 3, "three numbers", "write three numbers such as [0, 0, 0.5]")
    return x, y, z


AXES: dict[str, tuple[float, float, float]] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}


def to_axis(value: Any) -> tuple[float, float, float]:
    if isinstance(value, str) and value in AXES:
        return AXES[value]
    x, y, z = _numbers(value, 3, "three numbers or one of x, y, z, -x, -y, -z", "write z or [0, 0, 1]")
    return x, y, z


def to_wrench(value: Any) -> tuple[float, ...]:
    return _numbers(value, 6, "six numbers (torque, then force)", "write them as in [0, 0, 0, 0, 0, -9.81]")


def to_quaternion(value: Any) -> tuple[float, ...]:
    return _numbers(value, 4, "four numbers x, y, z, w", "write them as in [0, 0, 0, 1], the scalar part last")


def to_matrix(value: Any) -> tuple[tuple[float, float, float], ...]:
    what, remedy = "three rows of three numbers", "write them as in [[1, 0, 0], [0, 1, 0], [0, 0, 1]]"
    try:
        return tuple(to_vector(row) for row in _sequence(value, 3, what, remedy))
    except RefusedError:
        raise RefusedError(f"must be {what}", value, remedy) from None


def to_inertia(value: Any) -> tuple[tuple[float, float, float], ...]:
    """3x3 matrix, or three principal moments for a diagonal one."""
    try:
        if not _has_rows(value):
            x, y, z = to_vector(value)
            return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
        return to_matrix(value)
    except RefusedError:
        remedy = "write the principal moments as in [0.1, 0.1, 0.02], or three rows"
        raise RefusedError("must be three numbers or three rows of three numbers", value, remedy) from None


def _has_rows(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 1
    return isinstance(value, list | tuple) and any(isinstance(row, list | tuple | np.ndarray) for row in value)


def _plain_inertia(value: tuple[tuple[float, ...], ...]) -> list[Any]:
    rows = [list(row) for row in value]
    if all(rows[i][j] == 0.0 for i in range(3) for j in range(3) if i != j):
        return [rows[i][i] for i in range(3)]
    return rows


_NUMBERS = {"type": "array", "items": {"type": "number"}}
VECTOR_SCHEMA = _NUMBERS | {"minItems": 3, "maxItems": 3}
_MATRIX = {"type": "array", "items": VECTOR_SCHEMA, "minItems": 3, "maxItems": 3}

Number = Annotated[float, BeforeValidator(to_number), WithJsonSchema({"type": "number"})]
Vector = Annotated[tuple[float, float, float], BeforeValidator(to_vector), WithJsonSchema(VECTOR_SCHEMA)]
Axis = Annotated[
    tuple[float, float, float],
    BeforeValidator(to_axis),
    WithJsonSchema({"anyOf": [VECTOR_SCHEMA, {"enum": ["x", "y", "z", "-x", "-y", "-z"]}]}),
]
Wrench = Annotated[
    tuple[float, ...], BeforeValidator(to_wrench), WithJsonSchema(_NUMBERS | {"minItems": 6, "maxItems": 6})
]
Matrix = Annotated[tuple[tuple[float, float, float], ...], BeforeValidator(to_matrix), WithJsonSchema(_MATRIX)]
Inertia = Annotated[
    tuple[tuple[float, float, float], ...],
    BeforeValidator(to_inertia),
    PlainSerializer(_plain_inertia),
    WithJsonSchema({"anyOf": [VECTOR_SCHEMA, _MATRIX]}),
]


class _InOurWords(type(BaseModel)):
    """A value made by a call raises our own exception; one made as part of a larger value joins that one's list."""

    if not TYPE_CHECKING:  # the constructor of each class keeps its signature for editors

        def __call__(cls, /, *args, **properties):
            try:
                return super().__call__(*args, **properties)
            except ValidationError as error:
                raise SpecError(describe(cls, "", error)) from None


class Value(BaseModel, metaclass=_InOurWords):
    """A frozen group of properties inside an entity."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        NESTED.update(dict.fromkeys(cls.model_fields))


class Euler(Value):
    """Three successive rotations [rad]; lower-case axes are fixed (``"xyz"``: roll pitch yaw), upper-case move."""

    euler: Vector
    axes: str = "xyz"


class Quaternion(Value):
    """Unit quaternion x, y, z, w."""

    quaternion: Annotated[
        tuple[float, ...], BeforeValidator(to_quaternion), WithJsonSchema(_NUMBERS | {"minItems": 4, "maxItems": 4})
    ]


class RotationMatrix(Value):
    """Rows of R_ab: the columns are the axes of b in a."""

    matrix: Matrix


class AxisAngle(Value):
    """Rotation by ``angle`` [rad] about the unit vector ``axis``."""

    axis: Axis
    angle: Number


ROTATION_FORMS: dict[str, type[Value]] = {
    "euler": Euler,
    "quaternion": Quaternion,
    "matrix": RotationMatrix,
    "axis": AxisAngle,
}
Rotation = Euler | Quaternion | RotationMatrix | AxisAngle
IDENTITY = Euler(euler=(0.0, 0.0, 0.0))


def to_rotation(value: Any) -> Value:
    if isinstance(value, tuple(ROTATION_FORMS.values())):
        return value
    if isinstance(value, Mapping):
        for key, form in ROTATION_FORMS.items():
            if key in value:
                return form.model_validate(dict(value))
    elif _has_rows(value):
        return RotationMatrix.model_validate({"matrix": value})
    forms = "{euler: [a, b, c], axes: xyz}, {quaternion: [x, y, z, w]}, {axis: [x, y, z], angle: a} or {matrix: [...]}"
    raise RefusedError("must be a rotation", value, f"write one of {forms}")


RotationValue = Annotated[
    Any,
    PlainValidator(to_rotation),
    PlainSerializer(lambda value: value.model_dump(exclude_defaults=True)),
    WithJsonSchema({"anyOf": [*(form.model_json_schema() for form in ROTATION_FORMS.values()), _MATRIX]}),
]


def rpy(roll: float, pitch: float, yaw: float) -> Euler:
    """Roll, pitch, yaw [rad] about the fixed x, y, z axes: R = Rz(yaw) Ry(pitch) Rx(roll), as in URDF."""
    return Euler(euler=(roll, pitch, yaw))


def euler(angles: Any, axes: str = "xyz") -> Euler:
    """Euler angles [rad]; ``axes`` as in SciPy: ``"xyz"`` about fixed axes, ``"XYZ"`` about moving ones."""
    return Euler(euler=angles, axes=axes)


def quaternion(x: float, y: float, z: float, w: float) -> Quaternion:
    """Unit quaternion, scalar part last."""
    return Quaternion(quaternion=(x, y, z, w))


def axis_angle(axis: Any, angle: float) -> AxisAngle:
    """Rotation by ``angle`` [rad] about ``axis``."""
    return AxisAngle(axis=axis, angle=angle)


class Frame(Value):
    """A named place on an entity: ``translation`` [m] and ``rotation``, seen from the entity's own frame."""

    name: str
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: RotationValue = IDENTITY


class _Place(Value):
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: RotationValue = IDENTITY


def to_place(value: Any) -> Any:
    """A translation, (translation, rotation), or a mapping."""
    if isinstance(value, Mapping | _Place):
        return value
    if isinstance(value, tuple) and len(value) == 2 and isinstance(value[0], list | tuple | np.ndarray):
        return {"translation": value[0], "rotation": value[1]}
    return _Place.model_validate({"translation": value})


_PLACES = TypeAdapter(dict[str, Annotated[_Place, BeforeValidator(to_place)]])


def to_frames(value: Any) -> tuple[Frame, ...]:
    """Mapping of names to a translation, to (translation, rotation), or to {translation, rotation}."""
    if isinstance(value, tuple | list) and all(isinstance(f, Frame) for f in value):
        return tuple(value)
    if not isinstance(value, Mapping):
        raise RefusedError("must map names to places", value, "write them as in {tip: {translation: [0, 0, 0.5]}}")
    places = _PLACES.validate_python(dict(value))
    return tuple(Frame(name=name, **dict(place)) for name, place in places.items())


def _plain_frames(value: tuple[Frame, ...]) -> dict[str, Any]:
    return {f.name: f.model_dump(exclude_defaults=True, exclude={"name"}) for f in value}


Frames = Annotated[
    tuple[Frame, ...],
    PlainValidator(to_frames),
    PlainSerializer(_plain_frames),
    WithJsonSchema({"type": "object", "additionalProperties": {"anyOf": [VECTOR_SCHEMA, _Place.model_json_schema()]}}),
]
