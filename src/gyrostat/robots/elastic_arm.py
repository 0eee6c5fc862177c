"""A light-weight arm of seven axes with elastic joints, built like the DLR LBR 2 of H04 5.1."""

from __future__ import annotations

from dataclasses import dataclass

from gyrostat.spec.assemble import Link, assemble, chain
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody


@dataclass(frozen=True)
class Stage:
    """A joint, its drive and its link; all frames are parallel to the world at q = 0, when the arm stands upright."""

    axis: str
    reach: float  # from this joint to the next, along z [m]
    mass: float  # of the link [kg]
    ratio: float  # motor turns per joint turn
    rotor: float  # [kg m^2]
    stiffness: float  # [N m/rad]


# H04 5.1: seven axes, neighbours perpendicular; about 1 m long, 17 kg; joint stiffness roughly 10^4 N m/rad; rotors in
# the joints, turning about their axes. The single figures are ours.
STAGES = (
    Stage("z", 0.16, 3.2, 160.0, 1.1e-4, 1.2e4),
    Stage("y", 0.20, 3.4, 160.0, 1.1e-4, 1.2e4),
    Stage("z", 0.20, 2.9, 160.0, 1.1e-4, 1.0e4),
    Stage("y", 0.19, 2.7, 160.0, 6.0e-5, 1.0e4),
    Stage("z", 0.19, 2.2, 100.0, 4.0e-5, 8.0e3),
    Stage("y", 0.08, 1.6, 100.0, 2.0e-5, 6.0e3),
    Stage("z", 0.06, 1.0, 100.0, 2.0e-5, 5.0e3),
)
RADIUS = 0.06


def elastic_arm(elastic: bool = True, drives: bool = True, reflected_inertia_only: bool = False) -> Model:
    """Joints ``q1`` ... ``q7`` about z and y in turn, links ``link1`` ... ``link7``, the frame ``link7.flange`` 1.08 m
    above the base. Each joint is driven through a spring by a motor in the link before it; the rotors' angles are the
    coordinates behind those of the joints.

    ``elastic=False``: the same drives without springs; ``drives=False``: the bare arm."""
    links: list[Link] = []
    for k, row in enumerate(STAGES, start=1):
        far = "flange" if k == len(STAGES) else "next"
        middle, across = (0.01 * (-1) ** k, 0.008, row.reach / 2), row.mass * (3 * RADIUS**2 + row.reach**2) / 12
        inertia = (across, 1.1 * across, row.mass * RADIUS**2 / 2)
        frames = {far: (0.0, 0.0, row.reach)}
        body = RigidBody(f"link{k}", mass=row.mass, com=middle, inertia=inertia, frames=frames)
        links += [Joint(f"q{k}", "revolute", axis=row.axis), body]
    model = assemble("elastic_arm", chain("world", *links))
    for k, row in enumerate(STAGES, start=1) if drives else ():
        spring = {"stiffness": row.stiffness} if elastic else {}
        model = model.with_drive(
            f"q{k}",
            rotor_inertia=row.rotor,
            gear_ratio=row.ratio,
            reflected_inertia_only=reflected_inertia_only,
            **spring,
        )
    return model
