"""A forearm with a differential wrist."""

from __future__ import annotations

from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.entity import Entity
from gyrostat.spec.gear import Gear
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.motor import Motor
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.rotor import RotorInertia

RATIO = 40.0


def differential_wrist(ratio: float = RATIO) -> Model:
    """Joints ``elbow`` (about y, driven directly), ``pitch`` (about y) and ``roll`` (about x); bodies ``forearm``,
    ``cross`` and ``hand``, the frame ``hand.tool``. At q = 0 the arm is stretched along x.

    Two motors ``left`` and ``right`` on the forearm drive the two side wheels of a bevel differential. Both forwards
    pitch the hand, one against the other rolls it: left = ``ratio`` (pitch + roll), right = ``ratio`` (pitch - roll).
    Their rotors turn about y.

    All figures are ours: forearm 0.3 m and 2.5 kg, hand 0.6 kg with its centre of mass off the axis of roll, motors of
    0.12 N m and 600 rad/s with rotors of 3e-6 kg m^2."""
    forearm = RigidBody(
        "forearm", mass=2.5, com=(0.14, 0, 0), inertia=(0.003, 0.022, 0.022), frames={"wrist": (0.3, 0, 0)}
    )
    cross = RigidBody("cross", mass=0.15, inertia=(5e-5, 5e-5, 5e-5))
    hand = RigidBody(
        "hand", mass=0.6, com=(0.09, 0.0, 0.015), inertia=(6e-4, 1.2e-3, 1.1e-3), frames={"tool": (0.15, 0, 0)}
    )
    links = chain(
        "world",
        Joint("elbow", "revolute", axis="y"),
        forearm,
        Joint("pitch", "revolute", axis="y", lower=-1.4, upper=1.4),
        cross,
        Joint("roll", "continuous", axis="x"),
        hand,
    )
    gear = Gear("differential", [[ratio, ratio], [ratio, -ratio]])
    drives: list[Entity | Parts] = [
        connect("pitch.shaft", "differential.joint1"),
        connect("roll.shaft", "differential.joint2"),
    ]
    for k, side in enumerate(("left", "right"), start=1):
        rotor = RotorInertia(f"{side}_rotor", inertia=3e-6, axis="y")
        drives += [Motor(side, torque_limit=0.12, speed_limit=600.0), rotor]
        drives += [connect(f"differential.motor{k}", f"{side}.shaft", f"{side}_rotor.shaft")]
        drives += [connect("forearm.origin", f"{side}_rotor.carrier")]
    return assemble("differential_wrist", links, gear, *drives)
