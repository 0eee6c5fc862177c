"""What the shapes of a flexible beam depend on: pure numbers, so that beams that are alike share their tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from gyrostat.spec.sections import Section

if TYPE_CHECKING:
    from gyrostat.spec.flexible_beam import FlexibleBeam

UNIFORM = ((0.0, 1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 1.0, 1.0))
Shear = tuple[float, float]
"""E I / (k G A L^2) and I / (A L^2) of one plane."""


class BeamForm(NamedTuple):
    """Numbers of shapes along y and z, of twist and stretch; ``elements``, 0 for polynomials; ``nodal``: length of the
    beam where bending coordinates are those of nodes, else 0; ``profile``: rows of x / length, area, I_y, I_z, J, each
    in its value at x = 0; ``polar_share``: I_y / (I_y + I_z) where the profile is not uniform; shear of both planes."""

    y: int
    z: int
    t: int
    x: int
    elements: int = 0
    nodal: float = 0.0
    profile: tuple[tuple[float, ...], ...] = UNIFORM
    polar_share: float = 0.5
    shear_y: Shear | None = None
    shear_z: Shear | None = None

    @staticmethod
    def of(beam: FlexibleBeam) -> BeamForm:
        n = beam.families
        form = BeamForm(n["y"], n["z"], n["t"], n["x"])
        if beam.method == "fe":
            form = form._replace(elements=beam.elements, nodal=beam.length if beam.nodal else 0.0)
        if isinstance(beam.section, tuple):
            first = beam.section[0][1]
            keys = ("area", "I_y", "I_z", "J")
            rows = [
                (x / beam.length, *(getattr(s, key) / getattr(first, key) for key in keys)) for x, s in beam.section
            ]
            form = form._replace(profile=tuple(rows), polar_share=beam.I_y / (beam.I_y + beam.I_z))
        if beam.shear:
            section = beam.section[0][1] if isinstance(beam.section, tuple) else beam.section
            k_y, k_z = (section.k_y, section.k_z) if isinstance(section, Section) else (5 / 6, 5 / 6)
            size = beam.area * beam.length**2
            form = form._replace(
                shear_y=(beam.E * beam.I_z / (k_y * beam.G * size), beam.I_z / size),
                shear_z=(beam.E * beam.I_y / (k_z * beam.G * size), beam.I_y / size),
            )
        return form

    @property
    def breaks(self) -> tuple[float, ...]:
        """Places where shapes or the profile break."""
        nodes = [k / self.elements for k in range(self.elements + 1)] if self.elements else [0.0, 1.0]
        return tuple(sorted({*nodes, *(row[0] for row in self.profile)}))
