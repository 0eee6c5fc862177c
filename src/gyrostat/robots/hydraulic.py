"""The hydraulic manipulator of G13: five axes that carry a heavy load."""

from __future__ import annotations

import math
from numbers import Real

from gyrostat.errors import SpecError, clipped
from gyrostat.spec.assemble import Link, assemble, chain, connect
from gyrostat.spec.displacement import DHDisplacement
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

GRAVITY = 9.81  # [m/s^2]
STEEL = 7850.0  # [kg/m^3]

# Denavit-Hartenberg parameters as in G13 (6), where joint j turns about z of frame j: alpha [rad], a, d [m]. Lengths
# are ours.
SHIFTS = (
    (0.0, 0.0, 0.9),
    (math.pi / 2, 0.25, 0.0),
    (0.0, 1.6, 0.0),
    (0.0, 1.4, 0.0),
    (-math.pi / 2, 0.25, 0.0),
)
# Ours: mass [kg], centre of mass and edges [m] of the box that has the same inertia, in the frames of the links
LINKS = (
    (260.0, (0.05, 0.0, -0.35), (0.5, 0.5, 0.9)),
    (190.0, (0.80, 0.0, 0.0), (1.7, 0.30, 0.20)),
    (130.0, (0.65, 0.0, 0.0), (1.5, 0.25, 0.18)),
    (45.0, (0.12, 0.0, 0.0), (0.4, 0.20, 0.20)),
    (35.0, (0.0, 0.0, -0.20), (0.3, 0.30, 0.30)),
)
# Ours: pins of the cylinders that turn joints 2 to 4, and where the load's centre of mass is, in the links' frames [m]
FRAMES = (
    {"boom_base": (0.40, 0.0, -0.65)},
    {"boom_rod": (0.60, -0.10, 0.0), "stick_base": (0.70, 0.30, 0.0)},
    {"stick_rod": (-0.30, 0.20, 0.0), "wrist_base": (0.85, 0.15, 0.0)},
    {"wrist_rod": (0.0, 0.22, 0.0)},
    {"tool": (0.0, 0.0, -0.5)},
)


def hydraulic_manipulator(load: float = 3200.0) -> Model:
    """G13 section 3: five revolute joints ``q1`` ... ``q5``, links ``link1`` ... ``link5``, and at the tool a body
    ``load`` that weighs ``load`` [N].

    Of G13: five degrees of freedom, all revolute; frames by Denavit and Hartenberg, every joint about z of its own
    frame (2), (6); joints 2 to 4 turn about parallel horizontal axes (figure 4); the load stays horizontal and turns
    about the vertical, so that axes 1 and 5 are vertical when it does, which is q2 + q3 + q4 = 0; a load of 3200 N on
    the last link, the trajectory being that of its centre of mass; z points up and gravity is (0, 0, -g).

    Ours, because the paper does not print them: all lengths, masses, centres of mass and inertias (those of uniform
    boxes), g = 9.81 m/s^2, and the load as a cube of steel, so that its mass is ``load`` / g. Lengths, frame by frame:
    shoulder 0.9 m high and 0.25 m out, arms of 1.6 m and 1.4 m, wrist 0.25 m. With all angles zero the arms lie
    stretched along x; positive q2, q3, q4 lift. ``link5.tool`` is the centre of mass of the load, 0.5 m below axis 4.
    Ours, too, are the pins of three cylinders: one below the boom from ``link1.boom_base`` to ``link2.boom_rod``, which
    lifts as it grows, and two above, ``link2.stick_base`` to ``link3.stick_rod`` and ``link3.wrist_base`` to
    ``link4.wrist_rod``, which lift as they shrink.
    """
    if not isinstance(load, Real) or not math.isfinite(load) or load < 0.0:
        message = f"load must be a weight of 0 N or more, got {clipped(load)}"
        raise SpecError.one("hydraulic_manipulator", "load", message, "give its weight in newtons", load)
    links: list[Link] = []
    for j, ((alpha, a, d), (mass, com, edges)) in enumerate(zip(SHIFTS, LINKS, strict=True), start=1):
        links.append(DHDisplacement(f"shift{j}", alpha=alpha, a=a, d=d, convention="modified"))
        links.append(Joint(f"q{j}", "revolute", axis="z"))
        links.append(RigidBody(f"link{j}", mass=mass, com=com, inertia=box(mass, *edges), frames=FRAMES[j - 1]))
        links.append("origin")
    parts = chain("world", *links)
    return assemble(
        "hydraulic_manipulator", parts, steel_cube(load), connect("link5.tool", "load.origin"), gravity=(0, 0, -GRAVITY)
    )


def steel_cube(weight: float) -> RigidBody:
    """The body ``load``, its frame in its centre of mass; ``weight`` [N]."""
    mass = weight / GRAVITY
    edge = (mass / STEEL) ** (1.0 / 3.0)
    return RigidBody("load", mass=mass, inertia=box(mass, edge, edge, edge))


def box(mass: float, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Moments of inertia [kg m^2] of a uniform box with edges x, y, z [m]."""
    return mass * (y * y + z * z) / 12.0, mass * (z * z + x * x) / 12.0, mass * (x * x + y * y) / 12.0
