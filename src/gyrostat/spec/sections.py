"""Cross-sections of beams by name: ``gs.sections.tube(0.1, 0.005)``. Lengths in m; y and z are those of the beam.

Moments of area and St. Venant's torsion constant are those of elasticity: closed ones, a series for the rectangle,
thin walls (Bredt) for the box and the I-beam. Shear factors are Cowper's (1966) at a Poisson ratio of 0.3, for the box
and the I-beam the share of the walls that carry the shear."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any

from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from gyrostat.errors import SpecError, nearest
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.values import Number, Value, to_number

POISSON = 0.3


class Section(Value):
    """``area`` [m^2]; ``I_y``, ``I_z``, ``J`` [m^4]; shear factors ``k_y``, ``k_z`` (shear area over area, for forces
    along y, z); for stresses the outermost fibres ``c_y``, ``c_z`` [m] and ``W_t`` [m^3], torque over the largest shear
    stress; ``round``: drawn so. What is not known is zero."""

    area: Number
    I_y: Number
    I_z: Number
    J: Number
    k_y: Number = 5 / 6
    k_z: Number = 5 / 6
    c_y: Number = 0.0
    c_z: Number = 0.0
    W_t: Number = 0.0
    round: bool = False


def _positive(who: str, **lengths: Any) -> list[float]:
    for name, value in lengths.items():
        if not to_number(value) > 0.0 or math.isinf(value):
            message = f"'{name}' must be positive, got {value:g} m"
            raise SpecError.one(f"section {who}", "section", message, "give it in m", (name,))
    return [float(value) for value in lengths.values()]


def _expect(who: str, fits: bool, message: str, remedy: str) -> None:
    if not fits:
        raise SpecError.one(f"section {who}", "section", message, remedy)


def round(diameter: float) -> Section:
    """A solid circle."""
    (d,) = _positive("round", diameter=diameter)
    return _ring(d / 2, 0.0)


def tube(diameter: float, thickness: float) -> Section:
    """A circular tube: outer diameter and thickness of the wall."""
    d, t = _positive("tube", diameter=diameter, thickness=thickness)
    _expect("tube", 2 * t < d, f"a wall of {t:g} m does not fit a diameter of {d:g} m", "write round(diameter)")
    return _ring(d / 2, d / 2 - t)


def _ring(outer: float, inner: float) -> Section:
    I = math.pi / 4 * (outer**4 - inner**4)
    m = (1.0 + (inner / outer) ** 2) ** 2
    k = 6 * (1 + POISSON) * m / ((7 + 6 * POISSON) * m + (20 + 12 * POISSON) * (inner / outer) ** 2)
    area = math.pi * (outer**2 - inner**2)
    fibres = {"c_y": outer, "c_z": outer, "W_t": 2 * I / outer}
    return Section(area=area, I_y=I, I_z=I, J=2 * I, k_y=k, k_z=k, **fibres, round=True)


def rectangle(width: float, height: float) -> Section:
    """A solid rectangle, ``width`` along y and ``height`` along z."""
    b, h = _positive("rectangle", width=width, height=height)
    long, short = max(b, h), min(b, h)
    odd, slender = range(1, 200, 2), math.pi * long / (2 * short)
    series = sum(math.tanh(n * slender) / n**5 for n in odd)
    J = long * short**3 * (1 / 3 - 64 / math.pi**5 * short / long * series)
    peak = 1 - 8 / math.pi**2 * sum(1 / (n * n * math.cosh(min(n * slender, 700.0))) for n in odd)
    k = 10 * (1 + POISSON) / (12 + 11 * POISSON)
    return Section(
        area=b * h,
        I_y=b * h**3 / 12,
        I_z=h * b**3 / 12,
        J=J,
        k_y=k,
        k_z=k,
        c_y=b / 2,
        c_z=h / 2,
        W_t=J / (short * peak),
    )


def box(width: float, height: float, thickness: float) -> Section:
    """A hollow rectangle, ``width`` along y and ``height`` along z outside, with walls of one thickness."""
    b, h, t = _positive("box", width=width, height=height, thickness=thickness)
    _expect("box", 2 * t < min(b, h), f"walls of {t:g} m do not fit {b:g} x {h:g} m", "write rectangle(width, height)")
    b_i, h_i = b - 2 * t, h - 2 * t
    area, inside = b * h - b_i * h_i, (b - t) * (h - t)
    return Section(
        area=area,
        I_y=(b * h**3 - b_i * h_i**3) / 12,
        I_z=(h * b**3 - h_i * b_i**3) / 12,
        J=2 * inside**2 * t / (b + h - 2 * t),
        k_y=2 * t * b / area,
        k_z=2 * t * h / area,
        c_y=b / 2,
        c_z=h / 2,
        W_t=2 * inside * t,
    )


def i_beam(width: float, height: float, web: float, flange: float) -> Section:
    """Two flanges of ``width`` along y, ``height`` along z outside; thicknesses of the web and of each flange."""
    b, h, s, t = _positive("i_beam", width=width, height=height, web=web, flange=flange)
    _expect("i_beam", 2 * t < h and s < b, f"web and flanges do not fit {b:g} x {h:g} m", "check the thicknesses")
    inner = h - 2 * t
    area = 2 * b * t + inner * s
    J = (2 * b * t**3 + (h - t) * s**3) / 3
    return Section(
        area=area,
        I_y=(b * h**3 - (b - s) * inner**3) / 12,
        I_z=(2 * t * b**3 + inner * s**3) / 12,
        J=J,
        k_y=2 * b * t / area,
        k_z=h * s / area,
        c_y=b / 2,
        c_z=h / 2,
        W_t=J / max(s, t),
    )


NAMED: Mapping[str, Callable[..., Section]] = {
    "round": round, "tube": tube, "rectangle": rectangle, "box": box, "i_beam": i_beam,
}  # fmt: skip

Table = tuple[tuple[float, Section], ...]
"""Places along a beam [m] with their sections."""


def to_section(value: Any) -> Section:
    """A section, ``{"tube": [0.1, 0.005]}`` or ``{"tube": {"diameter": ...}}``, or its numbers."""
    if isinstance(value, Section):
        return value
    if not isinstance(value, Mapping):
        raise RefusedError("must be a section", value, "write gs.sections.tube(0.1, 0.005), or {tube: [0.1, 0.005]}")
    if len(value) != 1:
        return Section.model_validate(dict(value))
    ((name, sizes),) = value.items()
    if name not in NAMED:
        raise RefusedError(f"has no section '{name}'", value, nearest(str(name), NAMED))
    sizes = sizes if isinstance(sizes, list | tuple | Mapping) else [sizes]
    try:
        return NAMED[name](**sizes) if isinstance(sizes, Mapping) else NAMED[name](*sizes)
    except (TypeError, SpecError) as error:
        raise RefusedError(f"is no {name}: {error}", value, "see gs.sections") from None


def to_sections(value: Any) -> Section | Table | None:
    """One section, or a table of (x, section) along a beam."""
    if value is None or not isinstance(value, list | tuple):
        return None if value is None else to_section(value)
    rows = [row if isinstance(row, list | tuple) and len(row) == 2 else (None, None) for row in value]
    if any(x is None for x, _ in rows):
        raise RefusedError("must be a table of places and sections", value, "write [[0, {tube: ...}], [2, ...]]")
    return tuple((to_number(x), to_section(section)) for x, section in rows)


def _plain(value: Section | Table | None) -> Any:
    if isinstance(value, tuple):
        return [[x, section.model_dump(exclude_defaults=True)] for x, section in value]
    return None if value is None else value.model_dump(exclude_defaults=True)


_OF_NUMBERS = Section.model_json_schema()
_ONE = {
    "anyOf": [
        _OF_NUMBERS,
        {"type": "object", "minProperties": 1, "maxProperties": 1, "propertyNames": {"enum": [*NAMED]}},
    ]
}
_ROW = {"type": "array", "prefixItems": [{"type": "number"}, _ONE], "minItems": 2, "maxItems": 2}

Sections = Annotated[
    Any,
    PlainValidator(to_sections),
    PlainSerializer(_plain),
    WithJsonSchema({"anyOf": [*_ONE["anyOf"], {"type": "array", "items": _ROW, "minItems": 2}, {"type": "null"}]}),
]
