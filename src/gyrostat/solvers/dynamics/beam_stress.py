"""Stress and strain along a flexible beam, at rest or in motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.packing import coordinates, rates, real_array
from gyrostat.errors import ShapeError, SpecError, StateError, nearest
from gyrostat.solvers.dynamics.beam_stations import profile, stations
from gyrostat.solvers.dynamics.section_forces import by_equilibrium
from gyrostat.solvers.dynamics.section_strain import by_strain
from gyrostat.spec.check import expect_model
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.model import Model
from gyrostat.spec.sections import Section

Array = np.ndarray
WHO = "beam_stress"
PLACES = 21
"""Along the beam, if nothing else is asked for."""


@dataclass(frozen=True, eq=False)
class BeamStress:
    """Along the beam, at ``x`` (m,) [m]: ``forces`` (m, 6) in the sections, (N, V_y, V_z, T, M_y, M_z) [N, N m], what
    the part beyond x exerts on the part before it, in the axes of the section, by equilibrium with inertia; and
    ``strain_forces`` (m, 6), the same by strain. Beams that cannot stretch have no N by strain: it is NaN there, and so
    are moments in planes without shapes.

    ``strain`` (m, 4): stretch, twist [rad/m] and curvatures about y and z [1/m] that belong to ``forces``. Stresses
    [Pa] need the sizes of the section."""

    x: Array
    forces: Array
    strain_forces: Array
    beam: FlexibleBeam
    section: Section | None
    areas: dict[str, Array]

    @property
    def strain(self) -> Array:
        N, _, _, T, M_y, M_z = self.forces.T
        E, G, of = self.beam.E, self.beam.G, self.areas
        return np.stack([N / (E * of["area"]), T / (G * of["J"]), M_y / (E * of["I_y"]), M_z / (E * of["I_z"])], axis=1)

    @property
    def axial(self) -> Array:
        """N / A (m,) [Pa]."""
        return self.forces[:, 0] / self.areas["area"]

    @property
    def bending(self) -> Array:
        """Largest (m,) [Pa] in the section: |M_y| c_z / I_y + |M_z| c_y / I_z at a corner; in a round one that of the
        resulting moment."""
        section = self._sized("bending", "c_y", "c_z")
        y = np.abs(self.forces[:, 4]) * section.c_z / self.areas["I_y"]
        z = np.abs(self.forces[:, 5]) * section.c_y / self.areas["I_z"]
        return np.hypot(y, z) if section.round else y + z

    @property
    def torsion(self) -> Array:
        """Largest shear stress (m,) [Pa] of the torque, |T| / W_t."""
        return np.abs(self.forces[:, 3]) / self._sized("torsion", "W_t").W_t

    @property
    def von_mises(self) -> Array:
        """sqrt(s^2 + 3 t^2) (m,) [Pa], s = |axial| + bending, t = torsion: at the outermost fibres, where shear forces
        have no stress. In a section that is not round the two are largest at different places: it is a bound."""
        return np.sqrt((np.abs(self.axial) + self.bending) ** 2 + 3.0 * self.torsion**2)

    @property
    def disagreement(self) -> float:
        """Largest difference of moments by equilibrium and by strain, relative to the largest moment: what the shapes
        cannot take, squares of slopes, and damping, which the strain does not see."""
        moments, strains = self.forces[:, 3:], self.strain_forces[:, 3:]
        off = np.abs(moments - np.where(np.isnan(strains), moments, strains))
        return float(off.max() / max(float(np.abs(moments).max()), 1e-300))

    def _sized(self, what: str, *keys: str) -> Section:
        if self.section is None or not all(getattr(self.section, key) > 0.0 for key in keys):
            message = f"{what} needs {' and '.join(keys)} of its section, which are not known"
            remedy = "section=gs.sections.tube(...) of the beam, or of beam_stress"
            raise SpecError.one(self.beam.label, "section", message, remedy, self.section)
        return self.section


def beam_stress(
    model: Model,
    q: Any,
    beam: str,
    x: Any = None,
    *,
    v: Any = None,
    a: Any = None,
    wrenches: Any = None,
    section: Section | None = None,
) -> BeamStress:
    """Forces in the sections of a :class:`FlexibleBeam` and its stresses, in the state q (nq,), v and a (nv,), at rest
    by default, with external ``wrenches`` as of :func:`rnea`.

    ``x`` (m,) [m]: places along the beam, 21 by default; where a port or a cut is, the value just before it counts.
    ``section``: sizes for stresses, if the beam does not have them."""
    expect_model(model, WHO)
    entity = model.wiring.entities.get(beam)
    if not isinstance(entity, FlexibleBeam):
        beams = [name for name, one in model.wiring.entities.items() if isinstance(one, FlexibleBeam)]
        raise StateError(f"{WHO}: '{beam}' is no flexible beam of '{model.name}'. Hint: {nearest(str(beam), beams)}")
    if not isinstance(model.context.gravity, UniformGravity) or not isinstance(model.context.base, str):
        raise StateError(f"{WHO}: '{model.name}' needs uniform gravity and a base that stands or is free. Hint: fix it")
    v, a = (np.zeros(model.nv) if y is None else rates(model, y, WHO, n) for y, n in ((v, "v"), (a, "a")))
    state = coordinates(model, q, WHO), v, a
    if any(y.ndim != 1 for y in state):
        raise ShapeError(f"{WHO}: one state at a time, got q {state[0].shape}. Hint: loop over them")
    places = np.linspace(0.0, entity.length, PLACES) if x is None else np.atleast_1d(real_array(x, WHO, "x"))
    if places.ndim != 1 or not ((places >= 0.0) & (places <= entity.length)).all():
        raise ShapeError(f"{WHO}: x must be places (m,) from 0 to {entity.length:g} m, got {places}. Hint: linspace")
    at = stations(model, beam, places.astype(float))
    motion = at.sections(*state)
    g = np.array(model.context.gravity.g)
    forces = by_equilibrium(model, beam, at, state, wrenches, g, motion)
    sizes = section if section is not None else entity.section if isinstance(entity.section, Section) else None
    return BeamStress(places, forces, by_strain(at, motion), entity, sizes, profile(entity, places))
