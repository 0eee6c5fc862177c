"""Bodies that mechanisms are made of: bars, boxes, and plates as they are drawn."""

from __future__ import annotations

import math
from collections.abc import Mapping

from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import axis_angle

Vector = tuple[float, float, float]
GREY, ORANGE, STEEL = (0.25, 0.25, 0.28), (0.95, 0.55, 0.10), (0.55, 0.60, 0.66)


def bar(
    name: str, mass: float, end: Vector, width: float = 0.0, frames: Mapping[str, Vector] | None = None, color=STEEL
) -> RigidBody:
    """A uniform bar of square section ``width`` [m] from its origin to ``end`` (along x, y or z) [m], where its frame
    ``tip`` is. A bar without a width is a thin rod, drawn with a twentieth of its length."""
    lengths = [abs(x) for x in end]
    length, along = max(lengths), lengths.index(max(lengths))
    across = mass * (length**2 + width**2) / 12.0
    moments = [across] * 3
    moments[along] = mass * width**2 / 6.0
    middle = (end[0] / 2.0, end[1] / 2.0, end[2] / 2.0)
    edges = [width or length / 20.0] * 3
    edges[along] = length
    shape = Shape(kind="box", size=tuple(edges), translation=middle, color=color)
    places = {**(frames or {}), "tip": end}
    return RigidBody(name, mass=mass, com=middle, inertia=tuple(moments), frames=places, shapes=(shape,))


def box_inertia(mass: float, x: float, y: float, z: float) -> Vector:
    """Moments of inertia [kg m^2] of a uniform box with edges x, y, z [m]."""
    return mass * (y * y + z * z) / 12.0, mass * (z * z + x * x) / 12.0, mass * (x * x + y * y) / 12.0


def tube(start: Vector, end: Vector, radius: float, color=STEEL) -> Shape:
    """A cylinder as drawn between two points [m]."""
    way = [b - a for a, b in zip(start, end, strict=True)]
    length = math.dist(start, end)
    middle = tuple((a + b) / 2.0 for a, b in zip(start, end, strict=True))
    axis, angle = (-way[1], way[0], 0.0), math.acos(max(-1.0, min(1.0, way[2] / length)))
    size = math.hypot(*axis)
    rotation = axis_angle((1.0, 0.0, 0.0) if size == 0.0 else tuple(x / size for x in axis), angle)
    return Shape(kind="cylinder", size=(radius, length), translation=middle, rotation=rotation, color=color)
