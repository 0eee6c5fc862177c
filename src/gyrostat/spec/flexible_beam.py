"""Flexible beams: bodies that bend, twist and stretch, with coordinates of their own (floating frame of reference)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema

from gyrostat.errors import Problem
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import finite, not_finite, rotation_problems, shown
from gyrostat.spec.values import VECTOR_SCHEMA, Frame, Number, _plain_frames, to_frames

DEFAULT_MODES = 5
"""Shapes for each bending plane if nothing is said: f1 and f2 of a cantilever to 4e-8 and 3e-5."""


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise RefusedError("must be a number of shapes", value, "write a whole number such as 4; 0: none")
    return value


def to_counts(value: Any) -> Any:
    """A number of shapes, or one for each of two families."""
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise RefusedError("must be one number or two", value, "write 4, or [4, 0]")
        return tuple(_count(n) for n in value)
    return value if value is None else _count(value)


_COUNTS_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2},
    ]
}
Counts = Annotated[int | tuple[int, int], BeforeValidator(to_counts), WithJsonSchema(_COUNTS_SCHEMA)]


def to_stations(value: Any) -> tuple[Frame, ...]:
    """Frames fixed to sections: a number is a place on the axis."""
    if isinstance(value, Mapping):
        numbers = {k: isinstance(x, int | float) and not isinstance(x, bool) for k, x in value.items()}
        value = {k: (x, 0.0, 0.0) if numbers[k] else x for k, x in value.items()}
    return to_frames(value)


Stations = Annotated[
    tuple[Frame, ...],
    PlainValidator(to_stations),
    PlainSerializer(_plain_frames),
    WithJsonSchema(
        {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, VECTOR_SCHEMA, {"type": "object"}]}}
    ),
]


class FlexibleBeam(Entity):
    """A beam along x of its frame ``a``, from x = 0 (port ``a``, clamped: the floating frame) to x = length (``b``).

    ``length`` [m]; of its section: ``area`` [m^2], ``I_y`` (bending along z, E I_y w''), ``I_z`` (along y, E I_z v''),
    ``J`` (torsion) [m^4]; ``E``, ``G`` [Pa]; ``density`` [kg/m^3]. The axis runs through the centres of the sections.

    ``modes``: shapes for each bending plane, a number or (along y, along z), 0: none. ``modes_x``: shapes of torsion
    and of stretch, a number or (torsion, stretch). Coordinates ``y1``..., ``z1``... [m], ``t1``... [rad] and ``x1``...
    [m] are amplitudes of the natural modes of the clamped beam, each with the mean square 1 over the length.

    ``frames``: further ports, fixed to the section at their x: ``{"mid": 0.6}`` [m] or ``{"tool": (x, y, z)}``. They
    stay at their fraction of the length if that is live. Any port may be the one that the beam is held by.

    ``damping``: Kelvin-Voigt time constant [s]: the damping matrix is that of stiffness, times it."""

    since: ClassVar[int] = 5
    deforms: ClassVar[bool] = True
    not_live: ClassVar[Mapping[str, str]] = {
        name: "it decides how many coordinates there are; build a solver for each"
        for name in ("modes", "modes_x", "elements", "segments", "method", "shear")
    }

    length: Number
    area: Number
    I_y: Number
    I_z: Number
    J: Number
    E: Number
    G: Number
    density: Number
    elements: int = 8
    modes: Counts | None = None
    modes_x: Counts = 1
    segments: int = 1
    method: Literal["modal", "in-cut", "fe"] = "modal"
    shear: bool = False
    damping: Number = 0.0
    frames: Stations = ()

    def __init__(self, name: str, **properties: Any):  # said here, because values may be written in several forms
        super().__init__(name, **properties)

    @property
    def families(self) -> dict[str, int]:
        """How many shapes there are along y and z, of twist t and of stretch x, in the order of the coordinates."""
        modes = DEFAULT_MODES if self.modes is None else self.modes
        y, z = (modes, modes) if isinstance(modes, int) else modes
        t, x = (self.modes_x, self.modes_x) if isinstance(self.modes_x, int) else self.modes_x
        return {"y": y, "z": z, "t": t, "x": x}

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), *(Port(frame.name) for frame in self.frames), Port("b")

    @property
    def coordinates(self) -> tuple[str, ...]:
        return tuple(f"{family}{i + 1}" for family, n in self.families.items() for i in range(n))

    @property
    def rates(self) -> tuple[str, ...]:
        return self.coordinates

    def is_length(self, coordinate: str) -> bool:
        return not coordinate.startswith("t")

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        for key, what in (
            ("length", "m"), ("area", "m^2"), ("I_y", "m^4"), ("I_z", "m^4"), ("J", "m^4"), ("E", "Pa"), ("G", "Pa"),
            ("density", "kg/m^3"),
        ):  # fmt: skip
            value = getattr(self, key)
            if finite(value) and value <= 0.0:
                message = f"'{key}' must be positive, got {shown(value)} {what}"
                problems.append(self.problem("beam-positive", message, f"give it in {what}", (key,)))
        if finite(self.damping) and self.damping < 0.0:
            message = f"'damping' must not be negative, got {shown(self.damping)} s"
            problems.append(self.problem("beam-damping", message, "give a time constant in s", ("damping",)))
        for key, known in (("method", "modal"), ("segments", 1), ("shear", False)):
            if (value := getattr(self, key)) != known:
                message = f"'{key}' is {value!r}, of which the equations are not there"
                problems.append(self.problem("beam-method", message, f"write {known!r}", (key,)))
        for frame in self.frames:
            problems += rotation_problems(self, f"frames.{frame.name}.rotation", frame.rotation)
            x = frame.translation[0]
            if finite(x) and finite(self.length) and not 0.0 <= x <= self.length:
                message = f"frame '{frame.name}' is at x = {shown(x)} m, outside of 0 ... {shown(self.length)}"
                problems.append(
                    self.problem("beam-frame", message, "give its place along the beam in m", ("frames", frame.name))
                )
        return problems
