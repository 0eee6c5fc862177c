"""Mass of a beam, and the rotary inertia of its sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.flexible.beam_kinematics import shapes_of
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array


@dataclass(frozen=True)
class BeamMass:
    """``m`` [kg]; moments of inertia (3,) of all sections about x, y, z [kg m^2]: ``sections`` as they are, ``J`` as
    they count in the motion: without shear nothing about y and z, as in the beam equation of Euler and Bernoulli."""

    m: Any
    J: Array
    sections: Array


def beam_mass(c: Component) -> BeamMass:
    area, I_y, I_z = (c[key] * mean for key, mean in zip(("area", "I_y", "I_z"), shapes_of(c).means, strict=True))
    line = c["density"] * c["length"]
    sheared = float(c["form"].shear_y is not None)
    sections = line * np.array([I_y + I_z, I_y, I_z])
    return BeamMass(line * area, sections * np.array([1.0, sheared, sheared]), sections)
