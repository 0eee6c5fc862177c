"""A robot with three driven joints and two flexible links, as in AS Fig. 2: joints 1, 2 and 15 of 27 are real ones. The
source prints no figures; these are ours."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import pi

from gyrostat.graph.in_cut_joints import cut_places, uniform_piece
from gyrostat.spec.assemble import Link, Parts, assemble, chain, connect
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shaft_elements import Damper, Spring


@dataclass(frozen=True)
class Tube:
    """A round tube: ``length``, ``diameter`` outside and ``wall`` [m]."""

    length: float
    diameter: float
    wall: float

    @property
    def area(self) -> float:
        return pi / 4 * (self.diameter**2 - (self.diameter - 2 * self.wall) ** 2)

    @property
    def second_moment(self) -> float:
        return pi / 64 * (self.diameter**4 - (self.diameter - 2 * self.wall) ** 4)


# Aluminium tubes, a motor at the elbow, a payload.
UPPER, FORE = Tube(1.5, 0.06, 0.002), Tube(1.2, 0.05, 0.002)
E, G, DENSITY = 70e9, 26e9, 2700.0
COLUMN, MOTOR, PAYLOAD = 20.0, 4.0, 3.0  # [kg]
FRICTION = 2e-3  # damping of a spring by its stiffness [s]


def flexible_arm(elements: int = 2) -> Model:
    """Joints ``turn`` about z, ``shoulder`` and ``elbow`` about y; links ``upper`` (1.5 m) and ``fore`` (1.2 m) along x
    at q = 0, each of ``elements`` superelements with two cuts of three rotations: 3 + 12 + 12 rates for two; a motor of
    4 kg at the elbow, and a payload of 3 kg with the frame ``payload.tip``. Links are aluminium tubes of 60 and 50 mm,
    walls of 2 mm; springs at cuts have linear friction, 2 ms times their stiffness."""
    column = RigidBody("column", mass=COLUMN, com=(0, 0, 0.3), inertia=(0.7, 0.7, 0.2), frames={"top": (0, 0, 0.6)})
    motor = RigidBody("motor", mass=MOTOR, inertia=(0.01, 0.01, 0.01))
    payload = RigidBody("payload", mass=PAYLOAD, com=(0.05, 0, 0), inertia=(6e-3,) * 3, frames={"tip": (0.1, 0, 0)})
    first, springs = _cut("upper", UPPER, elements)
    second, more = _cut("fore", FORE, elements)
    links = Joint("turn", "revolute", axis="z"), column, Joint("shoulder", "revolute", axis="y"), *first
    return assemble(
        "flexible_arm",
        chain("world", *links, motor, Joint("elbow", "revolute", axis="y"), *second, payload),
        *springs,
        *more,
    )


def _cut(name: str, tube: Tube, elements: int) -> tuple[list[Link], list[Parts | Entity]]:
    """A link as pieces with joints, and the springs of these."""
    at = [0.0, *(x * tube.length for x in cut_places(elements)), tube.length]
    I, c = tube.second_moment, 2 * elements / tube.length
    links: list[Link] = []
    springs: list[Parts | Entity] = []
    for k, (x0, x1) in enumerate(pairwise(at)):
        piece = uniform_piece(x0, x1 - x0, DENSITY, tube.area, I, I)
        for axis, stiffness in (("z", c * E * I), ("y", c * E * I), ("x", c * G * 2 * I)) if k else ():
            joint, spring, damper = (f"{name}_{letter}{axis}{k}" for letter in "rkd")
            links.append(Joint(joint, "revolute", axis=axis))
            springs += [
                Spring(spring, stiffness=stiffness, ground=True),
                Damper(damper, damping=FRICTION * stiffness, ground=True),
                connect(f"{joint}.shaft", f"{spring}.a", f"{damper}.a"),
            ]
        frames = {"end": (x1 - x0, 0.0, 0.0)}
        links.append(RigidBody(f"{name}{k}", mass=piece.mass, com=piece.com, inertia=piece.inertia, frames=frames))
    return links, springs
