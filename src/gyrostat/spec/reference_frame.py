"""The reference frame (H04 2.2.1.4): where the mechanism meets inertial space."""

from __future__ import annotations

from typing import ClassVar

from gyrostat.spec.entity import Entity


class ReferenceFrame(Entity):
    """The root of every model; exactly one. Whether it is fixed, free or moving, the context says.

    Port ``frame``.
    """

    tells_mass: ClassVar[bool] = True
