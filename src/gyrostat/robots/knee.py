"""A leg with a series-elastic knee."""

from __future__ import annotations

from gyrostat.spec.assemble import assemble, chain
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody

RATIO = 100.0  # motor turns per turn of the knee
ROTOR = 1.2e-4  # [kg m^2]


def elastic_knee(stiffness: float | None = 350.0, damping: float | None = 0.0) -> Model:
    """Joints ``hip`` and ``knee``, both about y, bodies ``thigh`` and ``shank``, the frame ``shank.foot``. At q = 0 the
    leg hangs straight down; positive angles swing forwards (along x), so a bent knee is negative.

    The knee is driven by a motor in the thigh, through a gear of ratio 100 and a spring of ``stiffness`` [N m/rad] with
    ``damping`` [N m s/rad] between gear and shank: the third coordinate, ``knee_drive.rotor``, is the angle of the
    rotor. ``stiffness=None``: the same drive without spring. The hip is driven directly.

    All figures are ours, of the size of a human leg: thigh 0.42 m and 8 kg, shank with foot 0.43 m and 4.5 kg; a motor
    of 2.5 N m and 500 rad/s, whose rotor of 1.2e-4 kg m^2 counts with 1.2 kg m^2 at the knee."""
    thigh = RigidBody("thigh", mass=8.0, com=(0, 0, -0.18), inertia=(0.13, 0.13, 0.03), frames={"knee": (0, 0, -0.42)})
    shank = RigidBody(
        "shank", mass=4.5, com=(0.02, 0, -0.20), inertia=(0.07, 0.07, 0.01), frames={"foot": (0, 0, -0.43)}
    )
    joints = [
        Joint(name, "revolute", axis=(0, -1, 0), lower=lower, upper=upper)
        for name, lower, upper in (("hip", -0.5, 1.8), ("knee", -2.4, 0.05))
    ]
    leg = assemble("elastic_knee", chain("world", joints[0], thigh, joints[1], shank))
    elastic = {} if stiffness is None else {"stiffness": stiffness, "damping": damping or None}
    return leg.with_drive("knee", rotor_inertia=ROTOR, gear_ratio=RATIO, torque_limit=2.5, speed_limit=500.0, **elastic)
