"""An industrial arm of six axes with drives, limits and shapes."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrostat.spec.assemble import Link, assemble, chain
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Axis:
    """A joint, its link and its drive. ``axis``: at q = 0, when the arm stands upright and all frames are parallel to
    the world; ``reach``: from this joint to the next [m]; ``radius`` of the tube that the link is drawn as [m]."""

    axis: str
    reach: Vector
    mass: float  # [kg]
    radius: float
    limit: float  # both ways [degrees]
    speed: float  # [degrees/s]
    ratio: float  # motor turns per joint turn
    rotor: float  # [kg m^2]
    viscous: float  # at the joint [N m s/rad]
    coulomb: float  # at the joint [N m]
    torque: float  # limit of the motor [N m]


# Ours: sizes of a small industrial arm for loads of about 5 kg. Masses are those of tubes with their motors; a link is
# a solid cylinder from joint to joint, which gives its inertia.
AXES = (
    Axis("z", (0.0, 0.0, 0.35), 22.0, 0.11, 170.0, 180.0, 121.0, 2.5e-4, 12.0, 9.0, 2.4),
    Axis("y", (0.0, 0.0, 0.42), 16.0, 0.08, 120.0, 160.0, -121.0, 2.5e-4, 14.0, 10.0, 2.4),
    Axis("y", (0.0, 0.0, 0.10), 9.0, 0.07, 150.0, 180.0, 101.0, 1.2e-4, 7.0, 6.0, 1.3),
    Axis("z", (0.0, 0.0, 0.33), 6.0, 0.05, 200.0, 320.0, 81.0, 3.0e-5, 1.8, 1.6, 0.32),
    Axis("y", (0.0, 0.0, 0.08), 2.5, 0.04, 120.0, 320.0, -81.0, 3.0e-5, 1.6, 1.4, 0.32),
    Axis("z", (0.0, 0.0, 0.05), 0.6, 0.03, 360.0, 450.0, 51.0, 1.5e-5, 0.5, 0.6, 0.16),
)
HEIGHT = 0.15  # of the first joint [m]
COLORS = ((0.95, 0.55, 0.10), (0.25, 0.25, 0.28))


def arm6(drives: bool = True) -> Model:
    """A six-axis arm that stands upright at q = 0: joints ``q1`` ... ``q6``, links ``link1`` ... ``link6``, the frame
    ``link6.flange`` at its end 1.48 m above the floor. All figures are ours.

    Each joint has limits and, unless ``drives`` is False, a motor whose rotor sits in the link before it (its mass is
    in that link), a stiff gear, viscous and Coulomb friction, and limits of torque and speed.
    """
    links: list[Link] = []
    for k, row in enumerate(AXES, start=1):
        limit, speed = math.radians(row.limit), math.radians(row.speed)
        effort = abs(row.ratio) * row.torque
        limits = {"lower": -limit, "upper": limit, "velocity_limit": speed, "effort_limit": effort}
        links += [Joint(f"q{k}", "revolute", axis=row.axis, **limits), _link(k, row)]
    base = RigidBody("base", mass=18.0, com=(0, 0, HEIGHT / 2), inertia=_cylinder(18.0, 0.12, HEIGHT), frames=_top())
    model = assemble("arm6", chain("world", base, *links))
    for k, row in enumerate(AXES, start=1) if drives else ():
        model = model.with_drive(
            f"q{k}",
            rotor_inertia=row.rotor,
            gear_ratio=row.ratio,
            viscous=row.viscous,
            coulomb=row.coulomb,
            torque_limit=row.torque,
            speed_limit=abs(row.ratio) * math.radians(row.speed),
        )
    return model


def _top() -> dict[str, Vector]:
    return {"top": (0.0, 0.0, HEIGHT)}


def _link(k: int, row: Axis) -> RigidBody:
    length = row.reach[2]
    middle = (0.0, 0.0, length / 2.0)
    shape = Shape(kind="cylinder", size=(row.radius, length), translation=middle, color=COLORS[k % 2])
    far = "flange" if k == len(AXES) else "next"
    inertia = _cylinder(row.mass, row.radius, length)
    return RigidBody(f"link{k}", mass=row.mass, com=middle, inertia=inertia, frames={far: row.reach}, shapes=(shape,))


def _cylinder(mass: float, radius: float, length: float) -> Vector:
    """Moments of inertia [kg m^2] of a solid cylinder along z."""
    across = mass * (3.0 * radius**2 + length**2) / 12.0
    return across, across, mass * radius**2 / 2.0
