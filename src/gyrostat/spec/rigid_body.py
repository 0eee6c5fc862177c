"""The rigid body (H04 2.2.1.1), with internal angular momentum: a gyrostat (H04 2.1.1)."""

from __future__ import annotations

from typing import Any, ClassVar, Self

from gyrostat.errors import Problem
from gyrostat.spec.contact_law import law_problems
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import inertia_problems, not_finite, rotation_problems
from gyrostat.spec.shape import Shapes
from gyrostat.spec.values import Frames, Inertia, Number, Vector


class RigidBody(Entity):
    """A rigid body; ports ``origin`` (the body frame) and one for each of ``frames``.

    ``mass`` [kg]; ``com``: centre of mass seen from the body frame [m]; ``inertia``: about the centre of mass, in the
    axes of the body frame [kg m^2], 3x3 or three principal moments; ``momentum``: internal angular momentum, constant
    in the body frame [kg m^2/s], for example of a wheel spinning at constant speed relative to the body (H04 (2.7)).
    ``shapes``: what it looks like and where it can touch.
    """

    tells_mass: ClassVar[bool] = True

    mass: Number
    com: Vector = (0.0, 0.0, 0.0)
    inertia: Inertia = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    momentum: Vector = (0.0, 0.0, 0.0)
    frames: Frames = ()
    shapes: Shapes = ()

    def __init__(self, name: str, **properties: Any):  # said here, because values may be written in several forms
        super().__init__(name, **properties)

    @classmethod
    def from_shape(cls, name: str, shape: Any, *, density: Any = None, mass: Any = None, **properties: Any) -> Self:
        """A homogeneous solid: mass, centre of mass and inertia of a box, sphere, cylinder, capsule, ellipsoid, mesh
        or height field.

        ``shape``: a :class:`Shape`, or its kind with its properties beside: ``RigidBody.from_shape("part", "box",
        size=(0.1, 0.2, 0.3), density=2700)``. ``density`` [kg/m^3] or ``mass`` [kg]; other ``properties`` (``frames``,
        ``momentum``) are the body's. The shape's place in the body frame counts, and it is kept, to be drawn. The
        formulas are closed ones; those of a mesh are exact integrals over the polyhedron, whose surface must be closed
        and counterclockwise from outside. Its ``file`` is a path.

        >>> RigidBody.from_shape("cube", "box", size=(1, 1, 1), mass=6.0).inertia[0]
        (1.0, 0.0, 0.0)
        """
        from gyrostat.spec.from_shape import mass_properties

        return cls(name, **mass_properties(name, shape, density, mass, properties), **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("origin"), *(Port(frame.name) for frame in self.frames)

    @property
    def default_port(self) -> str | None:
        return "origin"

    def problems(self) -> list[Problem]:
        problems = not_finite(self) + inertia_problems(self, self.mass, self.inertia)
        for frame in self.frames:
            problems += rotation_problems(self, f"frames.{frame.name}.rotation", frame.rotation)
        for k, shape in enumerate(self.shapes):
            problems += rotation_problems(self, f"shapes.{k}.rotation", shape.rotation)
            if shape.contact is not None:
                problems += law_problems(self, shape.contact, ("shapes", str(k), "contact"))
        return problems
