"""The rigid body (H04 2.2.1.1), with internal angular momentum: a gyrostat (H04 2.1.1)."""

from __future__ import annotations

from typing import Any

from gyrostat.errors import Problem
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.rules import inertia_problems, not_finite, rotation_problems
from gyrostat.spec.shape import Shapes
from gyrostat.spec.values import Frames, Inertia, Number, Vector


class RigidBody(Entity):
    """A rigid body; ports ``origin`` (the body frame) and one for each of ``frames``.

    ``mass`` [kg]; ``com``: centre of mass seen from the body frame [m]; ``inertia``: about the centre of mass, in the
    axes of the body frame [kg m^2], 3x3 or three principal moments; ``momentum``: internal angular momentum, constant
    in the body frame [kg m^2/s], for example of a wheel spinning at constant speed relative to the body (H04 (2.7)).
    ``shapes``: what it looks like and where it can touch; no algorithm of the dynamics sees them.
    """

    mass: Number
    com: Vector = (0.0, 0.0, 0.0)
    inertia: Inertia = ((0.0, 0.0, 0.0), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))
    momentum: Vector = (0.0, 0.0, 0.0)
    frames: Frames = ()
    shapes: Shapes = ()

    def __init__(self, name: str, **properties: Any):  # said here, because values may be written in several forms
        super().__init__(name, **properties)

    @property
    def ports(self) -> tuple[Port, ...]:
        return Port("origin"), *(Port(frame.name) for frame in self.frames)

    @property
    def default_port(self) -> str | None:
        return "origin"

    def problems(self) -> list[Problem]:
        found = not_finite(self) + inertia_problems(self, self.mass, self.inertia)
        for frame in self.frames:
            found += rotation_problems(self, f"frames.{frame.name}.rotation", frame.rotation)
        for k, shape in enumerate(self.shapes):
            found += rotation_problems(self, f"shapes.{k}.rotation", shape.rotation)
        return found
