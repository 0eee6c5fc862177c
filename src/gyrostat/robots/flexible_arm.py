"""A robot with three driven joints and two flexible links, as in AS Fig. 2: joints 1, 2 and 15 of 27 are real ones. The
source prints no figures; these are ours."""

from __future__ import annotations

from typing import Any

from gyrostat.spec.assemble import assemble, chain
from gyrostat.spec.flexible_beam import FlexibleBeam
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.sections import tube

UPPER = {"length": 1.5, "section": tube(0.06, 0.002)}
FORE = {"length": 1.2, "section": tube(0.05, 0.002)}
ALUMINIUM = {"E": 70e9, "G": 26e9, "density": 2700.0}
COLUMN, MOTOR, PAYLOAD = 20.0, 4.0, 3.0  # [kg]
FRICTION = 2e-3  # damping of a spring by its stiffness [s]


def flexible_arm(method: str = "in-cut", **beam: Any) -> Model:
    """Joints ``turn`` about z, ``shoulder`` and ``elbow`` about y; links ``upper`` (1.5 m) and ``fore`` (1.2 m) along x
    at q = 0, by default each of two superelements with two cuts of three rotations, 3 + 12 + 12 rates; a motor of 4 kg
    at the elbow, and a payload of 3 kg with the frame ``payload.tip``. Links are aluminium tubes of 60 and 50 mm, walls
    of 2 mm; springs at cuts have linear friction, 2 ms times their stiffness. ``method`` and other properties of both
    beams as in :class:`FlexibleBeam`: ``flexible_arm("modal", modes=3)``."""
    options = {"method": method} | ({"elements": 2} if method == "in-cut" else {}) | beam
    upper, fore = (
        FlexibleBeam(name, **link, **ALUMINIUM, **({"damping": FRICTION} | options))
        for name, link in (("upper", UPPER), ("fore", FORE))
    )
    column = RigidBody("column", mass=COLUMN, com=(0, 0, 0.3), inertia=(0.7, 0.7, 0.2), frames={"top": (0, 0, 0.6)})
    motor = RigidBody("motor", mass=MOTOR, inertia=(0.01, 0.01, 0.01))
    payload = RigidBody("payload", mass=PAYLOAD, com=(0.05, 0, 0), inertia=(6e-3,) * 3, frames={"tip": (0.1, 0, 0)})
    first = Joint("turn", "revolute", axis="z"), column, Joint("shoulder", "revolute", axis="y"), upper
    return assemble("flexible_arm", chain("world", *first, motor, Joint("elbow", "revolute", axis="y"), fore, payload))
