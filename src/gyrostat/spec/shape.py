"""Shapes on a body: what it looks like, and where it can touch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import PurePath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, ValidationInfo, WithJsonSchema, field_validator

from gyrostat.geometry.height_field import MOST
from gyrostat.spec.contact_law import ContactSurface
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.rules import finite
from gyrostat.spec.values import IDENTITY, RotationValue, Value, Vector, to_number

SIZES: dict[str, tuple[int, str]] = {
    "box": (3, "the lengths along x, y, z"),
    "cylinder": (2, "the radius and the length along z"),
    "capsule": (2, "the radius and the length of the cylinder between the caps, along z"),
    "sphere": (1, "the radius"),
    "ellipsoid": (3, "the radii along x, y, z"),
    "mesh": (3, "the factors by which x, y, z are scaled"),
    "height-field": (3, "the lengths along x and y, and the depth of its base below z = 0"),
}
"""How many numbers the size of each kind has [m], and what they are."""

_COLOR = {"type": "array", "items": {"type": "number", "minimum": 0, "maximum": 1}, "minItems": 3, "maxItems": 4}


def _list(value: Any) -> list[float]:
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise RefusedError("must be a list of numbers", value, "write it as in [0.1, 0.2, 0.3]")
    return [to_number(item) for item in value]


def _size(value: Any) -> tuple[float, ...]:
    return tuple(_list(value))


def _heights(value: Any) -> tuple[tuple[float, ...], ...]:
    value = value.tolist() if hasattr(value, "tolist") else value
    if not isinstance(value, list | tuple):
        raise RefusedError("must be rows of numbers", value, "write it as in [[0, 0.1], [0, 0.2]]")
    return tuple(_size(row) for row in value)


def check_heights(rows: Sequence[Sequence[float]], depth: float) -> None:
    """Refuse heights [m] above a base at -depth that are no field."""
    columns = len(rows[0]) if rows else 0
    shape, finite_ones = f"{len(rows)} x {columns}", [z for row in rows for z in row if math.isfinite(z)]
    lowest = min(finite_ones, default=0.0)
    mistakes: tuple[tuple[bool, str, Any], ...] = (
        (any(len(row) != columns for row in rows), "must be rows of the same length", sorted({len(x) for x in rows})),
        (len(rows) < 2 or columns < 2, "must be at least 2 x 2", shape),
        (len(rows) * columns > MOST, f"must be at most {MOST} numbers", shape),
        (len(finite_ones) < len(rows) * columns, "must be finite", "NaN or infinity"),
        (lowest <= -depth, f"must be above the base at {-depth:g} m", lowest),
    )
    for wrong, message, value in mistakes:
        if wrong:
            raise RefusedError(f"of a height field {message}", value, "give rows along y of heights along x, in m")


def _color(value: Any) -> tuple[float, ...] | None:
    if value is None:
        return None
    rgba = (*_list(value), 1.0) if len(_list(value)) == 3 else tuple(_list(value))
    if len(rgba) != 4 or not all(0.0 <= x <= 1.0 for x in rgba):
        remedy = "write red, green, blue and, if need be, opacity, each between 0 and 1"
        raise RefusedError("must be three or four numbers between 0 and 1", value, remedy)
    return rgba


def _finite(value: Any) -> Any:
    if not finite(value):
        raise RefusedError("must be finite", value, "give a number, not NaN or infinity")
    return value


def _name(value: str) -> str:
    if value and (value.isdecimal() or not value.isprintable() or any(c.isspace() or c in ".'\"[]{},|" for c in value)):
        raise RefusedError("is not usable", value, "use letters, digits and signs, without spaces, dots and brackets")
    return value


class Shape(Value):
    """A solid in the frame of a body, drawn (``visual``) or in the way (``collision``).

    ``size`` [m]: box, full lengths; cylinder and capsule, radius and length along z; sphere, radius; ellipsoid, three
    radii; mesh, factors of scale (1, 1, 1), with the name of its ``file``. ``translation`` [m] and ``rotation`` of the
    shape's middle (a mesh: of its origin), seen from the body frame. ``color``: red, green, blue, opacity, 0 to 1.

    A height field is terrain: ``heights`` (rows, columns) [m] above the plane z = 0 of its frame, rows along y and
    columns along x, both from the negative end, or a ``file`` of them (.npy, or numbers in text); ``size``: lengths
    along x and y, depth of its base. Each cell is two triangles, cut from (x0, y0) to (x1, y1). It touches all that can
    touch, as a :class:`~gyrostat.spec.contact.Ground` does.

    Shapes with the role ``collision``, and those with ``contact``, a :class:`ContactSurface`, can touch. A ``name`` is
    how contacts call it, ``hand.palm``.

    A ``file`` is a path, or relative to the folder of the file that the model came from; that of a height field lies in
    this folder.
    """

    kind: Literal["box", "cylinder", "capsule", "sphere", "ellipsoid", "mesh", "height-field"]
    size: Annotated[
        tuple[float, ...],
        BeforeValidator(_size),
        Field(validate_default=True),
        WithJsonSchema({"type": "array", "items": {"type": "number"}, "minItems": 1, "maxItems": 3}),
    ] = ()
    file: Annotated[str, Field(validate_default=True)] = ""
    heights: Annotated[
        tuple[tuple[float, ...], ...],
        BeforeValidator(_heights),
        Field(validate_default=True),
        WithJsonSchema({"type": "array", "items": {"type": "array", "items": {"type": "number"}, "minItems": 2}}),
    ] = ()
    translation: Annotated[Vector, AfterValidator(_finite)] = (0.0, 0.0, 0.0)
    rotation: Annotated[RotationValue, AfterValidator(_finite)] = IDENTITY
    color: Annotated[
        tuple[float, ...] | None, BeforeValidator(_color), WithJsonSchema({"anyOf": [_COLOR, {"type": "null"}]})
    ] = None
    role: Literal["visual", "collision"] = "visual"
    name: Annotated[str, AfterValidator(_name)] = ""
    contact: Annotated[
        ContactSurface | None, WithJsonSchema({"anyOf": [ContactSurface.model_json_schema(), {"type": "null"}]})
    ] = None

    @property
    def can_touch(self) -> bool:
        """Whether it takes part in contacts."""
        return self.role == "collision" or self.contact is not None

    @field_validator("size")
    @classmethod
    def _fits_the_kind(cls, size: tuple[float, ...], info: ValidationInfo) -> tuple[float, ...]:
        kind = info.data.get("kind")
        if kind is None:
            return size
        if kind == "mesh" and not size:
            return 1.0, 1.0, 1.0
        count, what = SIZES[kind]
        if len(size) != count or not all(math.isfinite(x) and (x > 0.0 or (kind == "mesh" and x != 0.0)) for x in size):
            wanted = {1: "one number", 2: "two numbers", 3: "three numbers"}[count]
            sort = "other than zero" if kind == "mesh" else "above zero"
            raise RefusedError(f"of a {kind} must be {wanted} {sort}", size, f"give {what}")
        return size

    @field_validator("file")
    @classmethod
    def _belongs_to_a_mesh(cls, file: str, info: ValidationInfo) -> str:
        kind = info.data.get("kind")
        if kind == "mesh" and not file:
            raise RefusedError("must name the file of the mesh", file, "write kind='mesh', file='arm.stl'")
        if kind not in (None, "mesh", "height-field") and file:
            raise RefusedError(f"is only for meshes, this is a {kind}", file, "write kind='mesh', file='arm.stl'")
        if kind == "height-field" and (PurePath(file).is_absolute() or ".." in PurePath(file).parts):
            raise RefusedError("must lie in the folder of the model", file, "write file='terrain.npy'")
        return file

    @field_validator("heights")
    @classmethod
    def _belong_to_a_height_field(
        cls, heights: tuple[tuple[float, ...], ...], info: ValidationInfo
    ) -> tuple[tuple[float, ...], ...]:
        kind, file, size = (info.data.get(key) for key in ("kind", "file", "size"))
        if kind != "height-field" or not size or file is None:
            if kind not in (None, "height-field") and heights:
                raise RefusedError(f"are only for height fields, this is a {kind}", heights[0], "leave them out")
            return heights
        if bool(file) == bool(heights):
            remedy = "write heights=[[0, 0.1], [0, 0.2]], or file='terrain.npy'"
            raise RefusedError("of a height field, or its file, must be given, one of them", file, remedy)
        if heights:
            check_heights(heights, size[2])
        return heights


Shapes = Annotated[
    tuple[Shape, ...], WithJsonSchema({"type": "array", "items": Shape.model_json_schema()}, mode="validation")
]
