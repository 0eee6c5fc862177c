"""A four-legged robot on a free base."""

from __future__ import annotations

import math

from gyrostat.robots.hydraulic import box
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import rpy

# Ours: a robot of about 14 kg, as tall as a middle-sized dog. Lengths [m], masses [kg].
TRUNK = (0.40, 0.22, 0.12)
TRUNK_MASS = 7.0
HIP = (0.20, 0.08)  # where the hips are: forwards, sideways
SHOULDER = 0.07  # from the hip's axis sideways to the thigh
THIGH, SHANK = 0.21, 0.20
HIP_MASS, THIGH_MASS, SHANK_MASS, FOOT_MASS = 0.6, 0.9, 0.15, 0.06
FOOT_RADIUS = 0.02
LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
"""Signs of x (forwards) and y (to the left)."""

GREY, BLUE, BLACK = (0.35, 0.35, 0.4), (0.2, 0.4, 0.7), (0.1, 0.1, 0.1)


def quadruped() -> Model:
    """A trunk with a free base and four legs of three joints: ``<leg>_hip`` (about x, outwards and inwards),
    ``<leg>_thigh`` and ``<leg>_knee`` (about y); legs ``front_left``, ``front_right``, ``rear_left``, ``rear_right``.
    All figures are ours.

    With all angles zero the legs hang straight down. Bodies ``trunk``, ``<leg>_hip_body``, ``<leg>_upper``,
    ``<leg>_lower``, whose frame ``foot`` is the middle of a ball of 2 cm at the end of the leg. x points forwards, z
    up."""
    places = {leg: (sx * HIP[0], sy * HIP[1], 0.0) for leg, (sx, sy) in LEGS.items()}
    shape = _shape("box", TRUNK, (0.0, 0.0, 0.0), BLUE)
    trunk = RigidBody("trunk", mass=TRUNK_MASS, inertia=box(TRUNK_MASS, *TRUNK), frames=places, shapes=shape)
    legs = [_leg(leg, sy) for leg, (_, sy) in LEGS.items()]
    return assemble("quadruped", connect("world", "trunk.origin"), trunk, *legs, base="free")


def _leg(leg: str, side: int) -> Parts:
    hip = Joint(f"{leg}_hip", "revolute", axis="x", **_limits(45.0, 45.0, 23.0))
    thigh = Joint(f"{leg}_thigh", "revolute", axis="y", **_limits(90.0, 150.0, 23.0))
    knee = Joint(f"{leg}_knee", "revolute", axis="y", **_limits(155.0, 5.0, 35.0))
    return chain(f"trunk.{leg}", hip, _hip(leg, side), thigh, _upper(leg), knee, _lower(leg))


def _limits(down: float, up: float, effort: float) -> dict[str, float]:
    """Angles in degrees, torque in N m."""
    return {"lower": -math.radians(down), "upper": math.radians(up), "velocity_limit": 20.0, "effort_limit": effort}


def _hip(leg: str, side: int) -> RigidBody:
    middle, radius = (0.0, side * SHOULDER / 2.0, 0.0), 0.04
    across = HIP_MASS * (3.0 * radius**2 + SHOULDER**2) / 12.0
    shape = Shape(
        kind="cylinder", size=(radius, SHOULDER), translation=middle, rotation=rpy(math.pi / 2, 0, 0), color=GREY
    )
    frames = {"thigh": (0.0, side * SHOULDER, 0.0)}
    inertia = (across, HIP_MASS * radius**2 / 2.0, across)
    return RigidBody(f"{leg}_hip_body", mass=HIP_MASS, com=middle, inertia=inertia, frames=frames, shapes=(shape,))


def _upper(leg: str) -> RigidBody:
    size = (0.045, 0.03, THIGH)
    middle = (0.0, 0.0, -THIGH / 2.0)
    inertia, frames = box(THIGH_MASS, *size), {"knee": (0.0, 0.0, -THIGH)}
    shapes = _shape("box", size, middle, GREY)
    return RigidBody(f"{leg}_upper", mass=THIGH_MASS, com=middle, inertia=inertia, frames=frames, shapes=shapes)


def _lower(leg: str) -> RigidBody:
    """A rod and a ball at its end, as one body."""
    size = (0.02, 0.02, SHANK)
    mass = SHANK_MASS + FOOT_MASS
    com = -(SHANK_MASS * SHANK / 2.0 + FOOT_MASS * SHANK) / mass
    x, y, z = box(SHANK_MASS, *size)
    ball = 0.4 * FOOT_MASS * FOOT_RADIUS**2
    shifted = SHANK_MASS * (SHANK / 2.0 + com) ** 2 + FOOT_MASS * (SHANK + com) ** 2
    inertia = (x + ball + shifted, y + ball + shifted, z + ball)
    foot = (0.0, 0.0, -SHANK)
    shapes = _shape("box", size, (0.0, 0.0, -SHANK / 2.0), BLACK) + _shape("sphere", (FOOT_RADIUS,), foot, BLACK)
    contact = (Shape(kind="sphere", size=(FOOT_RADIUS,), translation=foot, role="collision"),)
    return RigidBody(
        f"{leg}_lower",
        mass=mass,
        com=(0.0, 0.0, com),
        inertia=inertia,
        frames={"foot": foot},
        shapes=shapes + contact,
    )


def _shape(kind: str, size: tuple[float, ...], at: tuple[float, ...], color: tuple[float, ...]) -> tuple[Shape, ...]:
    return (Shape.model_validate({"kind": kind, "size": size, "translation": at, "color": color}),)
