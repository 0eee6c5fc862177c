"""The simplest robot, with a closed form to compare with."""

from __future__ import annotations

from gyrostat.spec.assemble import assemble, chain
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody


def pendulum(mass: float = 1.0, length: float = 1.0) -> Model:
    """A uniform rod ``rod`` of ``mass`` [kg] and ``length`` [m] that hangs from the joint ``hinge``, which turns
    about y.

    tau = m l^2 / 3 a + m g l / 2 sin(q).
    """
    moment = mass * length**2 / 12.0
    rod = RigidBody(
        "rod", mass=mass, com=(0, 0, -length / 2), inertia=(moment, moment, 0.0), frames={"tip": (0, 0, -length)}
    )
    return assemble("pendulum", chain("world", Joint("hinge", "revolute", axis="y"), rod))
