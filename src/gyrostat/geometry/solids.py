"""Volume, centre and second moments of simple solids, in closed form."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class VolumeMoments:
    """Of a solid with density one: ``volume`` [m^3]; ``centre`` (3,) [m]; ``inertia`` (3, 3) [m^5] about the centre,
    J = integral (r.r 1 - r r^T) dV."""

    volume: float
    centre: Array
    inertia: Array

    def placed(self, R: Array, p: Array) -> VolumeMoments:
        """The same solid, whose frame has the axes R (3, 3) and the origin p (3,) in another one."""
        J = R @ self.inertia @ R.T
        return VolumeMoments(self.volume, p + R @ self.centre, (J + J.T) / 2.0)


def from_squares(volume: float, squares: Sequence[float]) -> VolumeMoments:
    """About its middle, from the mean squares of x, y, z over the volume: J_xx = V (<y^2> + <z^2>)."""
    x, y, z = squares
    return VolumeMoments(volume, np.zeros(3), volume * np.diag([y + z, x + z, x + y]))


def box(size: Sequence[float]) -> VolumeMoments:
    """Full lengths along x, y, z [m]: <x^2> = a^2 / 12."""
    a, b, c = size
    return from_squares(a * b * c, [a * a / 12.0, b * b / 12.0, c * c / 12.0])


def ellipsoid(size: Sequence[float]) -> VolumeMoments:
    """Radii along x, y, z [m]: <x^2> = a^2 / 5."""
    a, b, c = size
    return from_squares(4.0 / 3.0 * math.pi * a * b * c, [a * a / 5.0, b * b / 5.0, c * c / 5.0])


def sphere(size: Sequence[float]) -> VolumeMoments:
    """The radius [m]."""
    return ellipsoid((size[0],) * 3)


def cylinder(size: Sequence[float]) -> VolumeMoments:
    """Radius and length along z [m]: <x^2> = r^2 / 4, <z^2> = l^2 / 12."""
    r, length = size
    return from_squares(math.pi * r * r * length, [r * r / 4.0, r * r / 4.0, length * length / 12.0])


def capsule(size: Sequence[float]) -> VolumeMoments:
    """Radius, and length of the cylinder between the caps, along z [m].

    A half ball has its centre 3 r / 8 from its flat side, so over both caps
    <z^2> = r^2 / 5 + l^2 / 4 + 2 (l / 2) (3 r / 8)."""
    r, length = size
    middle, caps = math.pi * r * r * length, 4.0 / 3.0 * math.pi * r**3
    across = (middle * r * r / 4.0 + caps * r * r / 5.0) / (middle + caps)
    ends = r * r / 5.0 + length * length / 4.0 + 3.0 / 8.0 * r * length
    along = (middle * length * length / 12.0 + caps * ends) / (middle + caps)
    return from_squares(middle + caps, [across, across, along])


SOLIDS = {"box": box, "sphere": sphere, "cylinder": cylinder, "capsule": capsule, "ellipsoid": ellipsoid}
"""By kind; each takes the size as :class:`Shape` has it."""
