"""Types of physical properties: numbers, vectors, inertia matrices and rotations, as plain frozen data.

Nothing is computed here. A value is taken as it was written (a rotation stays Euler angles if it was given so), so that every
physical property keeps its meaning and its address. ``spatial.rotation`` turns the forms into matrices.
"""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    PlainSerializer,
    PlainValidator,
    ValidationError,
    WithJsonSchema,
)


def to_number(value: Any) -> float:
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        raise ValueError(f"must be a number, got {value!r}")
    try:
        return float(value)
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _sequence(value: Any, length: int, what: str) -> list[Any]:
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple) or len(value) != length:
        raise ValueError(f"must be {what}, got {value!r}")
    return list(value)


def to_vector(value: Any) -> tuple[float, float, float]:
    x, y, z = _sequence(value, 3, "three numbers")
    return to_number(x), to_number(y), to_number(z)


AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
AXES |= {"-" + name: (-x, -y, -z) for name, (x, y, z) in AXES.items()}
AXES = {name: tuple(c + 0.0 for c in axis) for name, axis in AXES.items()}  # no negative zeros


def to_axis(value: Any) -> tuple[float, float, float]:
    if isinstance(value, str):
        if value not in AXES:
            raise ValueError(f"must be three numbers or one of x, y, z, -x, -y, -z, got {value!r}")
        return AXES[value]  # type: ignore[return-value]
    return to_vector(value)


def to_wrench(value: Any) -> tuple[float, ...]:
    return tuple(to_number(x) for x in _sequence(value, 6, "six numbers (torque, then force)"))


def to_quaternion(value: Any) -> tuple[float, ...]:
    return tuple(to_number(x) for x in _sequence(value, 4, "four numbers x, y, z, w"))


def to_matrix(value: Any) -> tuple[tuple[float, float, float], ...]:
    return tuple(to_vector(row) for row in _sequence(value, 3, "three rows of three numbers"))


def to_inertia(value: Any) -> tuple[tuple[float, float, float], ...]:
    """3x3 matrix, or three principal moments for a diagonal one."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple) and len(value) == 3 and not any(isinstance(x, list | tuple) for x in value):
        x, y, z = to_vector(value)
        return (x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)
    return to_matrix(value)


def _plain_inertia(value: tuple[tuple[float, ...], ...]) -> list[Any]:
    rows = [list(row) for row in value]
    if all(rows[i][j] == 0.0 for i in range(3) for j in range(3) if i != j):
        return [rows[i][i] for i in range(3)]
    return rows


_NUMBERS = {"type": "array", "items": {"type": "number"}}
_VECTOR = _NUMBERS | {"minItems": 3, "maxItems": 3}
_MATRIX = {"type": "array", "items": _VECTOR, "minItems": 3, "maxItems": 3}

Number = Annotated[float, BeforeValidator(to_number), WithJsonSchema({"type": "number"})]
Vector = Annotated[tuple[float, float, float], BeforeValidator(to_vector), WithJsonSchema(_VECTOR)]
Axis = Annotated[
    tuple[float, float, float],
    BeforeValidator(to_axis),
    WithJsonSchema({"anyOf": [_VECTOR, {"enum": ["x", "y", "z", "-x", "-y", "-z"]}]}),
]
Wrench = Annotated[
    tuple[float, ...], BeforeValidator(to_wrench), WithJsonSchema(_NUMBERS | {"minItems": 6, "maxItems": 6})
]
Matrix = Annotated[tuple[tuple[float, float, float], ...], BeforeValidator(to_matrix), WithJsonSchema(_MATRIX)]
Inertia = Annotated[
    tuple[tuple[float, float, float], ...],
    BeforeValidator(to_inertia),
    PlainSerializer(_plain_inertia),
    WithJsonSchema({"anyOf": [_VECTOR, _MATRIX]}),
]


class Value(BaseModel):
    """A frozen group of properties inside an entity."""

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


T = TypeVar("T", bound=BaseModel)


def read(form: type[T], properties: Mapping[str, Any], what: str) -> T:
    """Validate nested properties; a mistake becomes one sentence that starts with ``what``."""
    try:
        return form.model_validate(dict(properties))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(key) for key in first["loc"])
        text = {"missing": "is missing", "extra_forbidden": "is not known here"}.get(first["type"], first["msg"])
        raise ValueError(f"{what}: '{place}' {text.removeprefix('Value error, ')}") from None


class Euler(Value):
    """Three successive rotations [rad]; lower-case axes are fixed (``"xyz"`` is roll-pitch-yaw), upper-case ones move."""

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
                return read(form, value, "rotation")
    elif isinstance(value, np.ndarray) and value.shape == (3, 3):
        return read(RotationMatrix, {"matrix": value}, "rotation")
    elif isinstance(value, list | tuple) and len(value) == 3 and all(isinstance(row, list | tuple) for row in value):
        return read(RotationMatrix, {"matrix": value}, "rotation")
    raise ValueError(
        "must be one of {euler: [a, b, c], axes: xyz}, {quaternion: [x, y, z, w]}, {matrix: [[...], [...], [...]]}, "
        f"{{axis: [x, y, z], angle: a}}, got {value!r}"
    )


RotationValue = Annotated[
    Any,
    PlainValidator(to_rotation),
    PlainSerializer(lambda value: value.model_dump(exclude_defaults=True)),
    WithJsonSchema({"anyOf": [form.model_json_schema() for form in ROTATION_FORMS.values()]}),
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
    """A named place on an entity: ``translation`` [m] and ``rotation`` of the frame, seen from the entity's own frame."""

    name: str
    translation: Vector = (0.0, 0.0, 0.0)
    rotation: RotationValue = IDENTITY


def to_frames(value: Any) -> tuple[Frame, ...]:
    """Mapping of names to a translation, to (translation, rotation), or to {translation, rotation}."""
    if isinstance(value, tuple | list) and all(isinstance(f, Frame) for f in value):
        return tuple(value)
    if not isinstance(value, Mapping):
        raise ValueError(f"must map names to places, for example {{tip: {{translation: [0, 0, 0.5]}}}}, got {value!r}")
    frames: list[Frame] = []
    for name, place in value.items():
        if isinstance(place, Mapping):
            frames.append(read(Frame, {"name": name, **place}, f"frame {name!r}"))
        elif isinstance(place, tuple) and len(place) == 2:
            frames.append(read(Frame, {"name": name, "translation": place[0], "rotation": place[1]}, f"frame {name!r}"))
        else:
            frames.append(read(Frame, {"name": name, "translation": place}, f"frame {name!r}"))
    return tuple(frames)


def _plain_frames(value: tuple[Frame, ...]) -> dict[str, Any]:
    return {f.name: f.model_dump(exclude_defaults=True, exclude={"name"}) for f in value}


_PLACE = {
    "type": "object",
    "additionalProperties": False,
    "properties": {
        "translation": _VECTOR,
        "rotation": {"anyOf": [form.model_json_schema() for form in ROTATION_FORMS.values()]},
    },
}
Frames = Annotated[
    tuple[Frame, ...],
    PlainValidator(to_frames),
    PlainSerializer(_plain_frames),
    WithJsonSchema({"type": "object", "additionalProperties": _PLACE}),
]
