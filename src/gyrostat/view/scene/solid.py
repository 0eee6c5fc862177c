"""A solid that is drawn, and where things are on a part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from gyrostat.spatial.algebra import compose, inverse
from gyrostat.spec.context import UniformGravity
from gyrostat.spec.model import Model

Array = np.ndarray
Placement = tuple[Array, Array]
Role = Literal["visual", "collision", "stick", "joint", "inertia", "com"]
Color = tuple[float, ...]


@dataclass(frozen=True)
class Solid:
    """A solid at ``R``, ``p`` in its link; ``size`` as in :class:`Shape`. ``color`` None: as a mesh has it.
    ``triangles``: vertices (n, 3) [m] and corners (m, 3) of a height field."""

    name: str
    kind: str
    size: tuple[float, ...]
    R: Array
    p: Array
    color: Color | None
    role: Role
    file: Path | None = None
    triangles: tuple[Array, Array] | None = None


def seen_from(rest: Mapping[str, Placement], a: str, b: str) -> Placement:
    """The port b seen from the port a."""
    return compose(*inverse(*rest[a]), *rest[b])


def upward(model: Model) -> Array:
    """The direction against gravity, z where there is none."""
    gravity = model.context.gravity
    g = np.array(gravity.g) if isinstance(gravity, UniformGravity) else np.zeros(3)
    size = float(np.linalg.norm(g))
    return -g / size if size > 0.0 else np.array([0.0, 0.0, 1.0])
