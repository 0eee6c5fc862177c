"""Flexible beams: bodies that bend, twist and stretch, with coordinates of their own (floating frame of reference)."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, PlainSerializer, PlainValidator, WithJsonSchema, model_validator

from gyrostat.errors import Problem
from gyrostat.spec.beam_damping import Damping
from gyrostat.spec.beam_form import BeamForm
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.flexible_rules import beam_problems
from gyrostat.spec.sections import Section, Sections, to_sections
from gyrostat.spec.values import VECTOR_SCHEMA, Frame, Number, _plain_frames, to_frames

DEFAULT_MODES = 5
"""Shapes for each bending plane if nothing is said: f1 and f2 of a cantilever to 4e-8 and 3e-5."""

OF_SECTION = ("area", "I_y", "I_z", "J")
"""Properties that a section brings."""


MANY = 1000
"""Shapes, elements and segments at most, in any beam: files are hostile."""


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MANY:
        raise RefusedError("must be a number of shapes", value, "write a whole number such as 4; 0: none")
    return value


def _to_counts(value: Any) -> Any:
    """A number of shapes, or one for each of two families."""
    if isinstance(value, list | tuple):
        if len(value) != 2:
            raise RefusedError("must be one number or two", value, "write 4, or [4, 0]")
        return tuple(_count(n) for n in value)
    return value if value is None else _count(value)


def _to_positive(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MANY:
        raise RefusedError(f"must be a whole number from 1 to {MANY}", value, "write a number such as 8")
    return value


_COUNTS_SCHEMA = {
    "anyOf": [
        {"type": "integer", "minimum": 0},
        {"type": "array", "items": {"type": "integer", "minimum": 0}, "minItems": 2, "maxItems": 2},
    ]
}
Counts = Annotated[int | tuple[int, int], BeforeValidator(_to_counts), WithJsonSchema(_COUNTS_SCHEMA)]
Positive = Annotated[int, BeforeValidator(_to_positive), WithJsonSchema({"type": "integer", "minimum": 1})]


def _to_stations(value: Any) -> tuple[Frame, ...]:
    """Frames fixed to sections: a number is a place on the axis."""
    if isinstance(value, Mapping):
        single = {k: isinstance(x, int | float) and not isinstance(x, bool) for k, x in value.items()}
        value = {k: (x, 0.0, 0.0) if single[k] else x for k, x in value.items()}
    return to_frames(value)


Stations = Annotated[
    tuple[Frame, ...],
    PlainValidator(_to_stations),
    PlainSerializer(_plain_frames),
    WithJsonSchema(
        {"type": "object", "additionalProperties": {"anyOf": [{"type": "number"}, VECTOR_SCHEMA, {"type": "object"}]}}
    ),
]


class FlexibleBeam(Entity):
    """A beam along x of its frame ``a``, from x = 0 (port ``a``, clamped: the floating frame) to x = length (``b``).

    ``length`` [m]; of its section: ``area`` [m^2], ``I_y`` (bending along z, E I_y w''), ``I_z`` (along y, E I_z v''),
    ``J`` (torsion) [m^4]; or a ``section`` by name, :mod:`gs.sections <gyrostat.spec.sections>`, or a table ((x,
    section), ...) of a tapered beam, linear in between; ``area`` and the others are then those at x = 0. ``E``, ``G``
    [Pa]; ``density`` [kg/m^3]. The axis runs through the centres of the sections.

    ``modes``: shapes for each bending plane, a number or (along y, along z), 0: none; 5 if nothing is said.
    ``modes_x``: shapes of torsion and of stretch, a number or (torsion, stretch). Coordinates ``y1``..., ``z1``... [m],
    ``t1``... [rad] and ``x1``... [m] are amplitudes of natural modes of the clamped beam, with the mean square 1 over
    its mass. ``shear``: sections also shear, and have rotary inertia (Timoshenko).

    ``method``: ``"modal"``: polynomials; ``"fe"``: ``elements`` with Hermite's cubics, reduced to ``modes``, or with
    deflections ``y1``..., ``z1``... and rotations ``rz1``..., ``ry1``... of their nodes as coordinates without them.

    ``segments``: such beams in a row, each with a floating frame of its own, for large deflections; ``y1_2`` is the
    first shape of the second one. ``method="in-cut"``: ``elements`` superelements [AS Fig. 1], each of rigid pieces
    with joints at two cuts, 0.2113 of its length from its ends, and springs 2 E I / l and 2 G J / l; coordinates
    ``rz1``, ``ry1``, ``rx1``, ``rx2``, ``ry2``, ``rz2``... [rad] are rotations about z, y and x at the cuts. Of
    ``modes`` and ``modes_x`` it counts then whether they are 0.

    ``frames``: further ports, fixed to the section at their x: ``{"mid": 0.6}`` [m] or ``{"tool": (x, y, z)}``. They
    stay at their fraction of the length if that is live. Any port may be the one that the beam is held by.

    ``damping``: Kelvin-Voigt time constant [s], by which strain rates count like strains; ``{"alpha": ..., "beta":
    ...}`` (Rayleigh), or ``{"ratios": 0.01}`` of the modes of the clamped beam."""

    since: ClassVar[int] = 5
    deforms: ClassVar[bool] = True
    tells_mass: ClassVar[bool] = True
    not_live: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("modes", "modes_x", "elements", "segments", "method", "shear", "section"),
        "it decides about the shapes; build a solver for each",
    )

    length: Number
    area: Number
    I_y: Number
    I_z: Number
    J: Number
    E: Number
    G: Number
    density: Number
    section: Sections = None
    elements: Positive = 8
    modes: Counts | None = None
    modes_x: Counts = 1
    segments: Positive = 1
    method: Literal["modal", "in-cut", "fe"] = "modal"
    shear: bool = False
    damping: Damping = 0.0
    frames: Stations = ()

    def __init__(self, name: str, **properties: Any):  # said here, because values may be written in several forms
        super().__init__(name, **properties)

    @model_validator(mode="before")
    @classmethod
    def _from_section(cls, given: Any) -> Any:
        """Numbers that are not given are those of the section at x = 0."""
        if not isinstance(given, dict) or given.get("section") is None:
            return given
        try:
            first = to_sections(given["section"])
        except ValueError:
            return given | {key: given.get(key, 1.0) for key in OF_SECTION}  # refused where it is read
        first = first[0][1] if isinstance(first, tuple) and first else first
        return {key: getattr(first, key) for key in OF_SECTION if isinstance(first, Section)} | given

    @property
    def nodal(self) -> bool:
        """Whether its bending coordinates are those of nodes."""
        return self.method == "fe" and self.modes is None

    @property
    def families(self) -> dict[str, int]:
        """How many shapes there are along y and z, of twist t and of stretch x, in the order of the coordinates."""
        modes = (2 * self.elements if self.nodal else DEFAULT_MODES) if self.modes is None else self.modes
        y, z = (modes, modes) if isinstance(modes, int) else modes
        t, x = (self.modes_x, self.modes_x) if isinstance(self.modes_x, int) else self.modes_x
        return {"y": y, "z": z, "t": t, "x": x}

    def cut_axes(self, cut: int) -> str:
        """Axes of the rotations at a cut (0, 1, ...) of a beam with in-cut joints, in their order: z, y, x at the first
        cut of an element and x, y, z at the second, so that what depends on the order cancels. With the same order at
        all cuts bending in space would be of first order only in the length of the elements."""
        families = self.families
        axes = "".join(axis for axis, family in (("z", "y"), ("y", "z"), ("x", "t")) if families[family])
        return axes if cut % 2 == 0 else axes[::-1]

    @property
    def sections_turn(self) -> bool:
        """Whether its sections have inertia about y and z; not in the beam equation of Euler and Bernoulli."""
        return self.shear or self.method == "in-cut"

    @property
    def form(self) -> BeamForm:
        """What its shapes depend on."""
        return BeamForm.of(self)

    @property
    def mass(self) -> float:
        """[kg]"""
        if not isinstance(self.section, tuple) or not self.section or self.section[0][1].area <= 0.0:
            return self.density * self.length * self.area
        volume = sum((b[0] - a[0]) * (a[1].area + b[1].area) / 2 for a, b in pairwise(self.section))
        return self.density * volume * (self.area / self.section[0][1].area)

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("a"), *(Port(frame.name) for frame in self.frames), Port("b")

    @property
    def coordinates(self) -> tuple[str, ...]:
        if self.method == "in-cut":
            return tuple(f"r{axis}{k + 1}" for k in range(2 * self.elements) for axis in self.cut_axes(k))
        names: list[str] = []
        for family, n in self.families.items():
            if self.nodal and family in "yz":
                turn = "rz" if family == "y" else "ry"
                names += [f"{kind}{k + 1}" for k in range(n // 2) for kind in (family, turn)]
            else:
                names += [f"{family}{i + 1}" for i in range(n)]
        if self.segments > 1:
            names = [f"{name}_{k + 1}" for k in range(self.segments) for name in names]
        return tuple(names)

    @property
    def rates(self) -> tuple[str, ...]:
        return self.coordinates

    def is_length(self, coordinate: str) -> bool:
        return coordinate[0] not in "tr"

    def why_not_live(self, path: str) -> str | None:
        first = path.split(".")[0]
        if first in {frame.name for frame in self.frames}:
            return "frames decide about the shapes; build a solver for each"
        if self.nodal and first == "length":
            return "coordinates of nodes depend on it; give 'modes', or build a solver for each"
        if self.shear and first in ("length", "area", "I_y", "I_z", "E", "G"):
            return "with shear the shapes depend on it; build a solver for each"
        if isinstance(self.section, tuple) and first in ("I_y", "I_z"):
            return "the shapes of a tapered beam depend on it; build a solver for each"
        return super().why_not_live(path)

    def problems(self) -> list[Problem]:
        return beam_problems(self)
