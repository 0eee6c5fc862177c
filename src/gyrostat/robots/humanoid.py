"""A humanoid without arms: a torso and two legs of six joints on a free base (H04 5.4.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gyrostat.robots.hydraulic import box
from gyrostat.spec.assemble import Link, Parts, assemble, chain, connect
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

Vector = tuple[float, float, float]

# Ours: as tall as a child of twelve, 47 kg. Lengths [m], masses [kg].
TORSO, TORSO_MASS, TORSO_HEIGHT = (0.20, 0.30, 0.48), 26.0, 0.26
"""Edges of the torso, its mass, and how far its middle is above the hips."""
HIP_WIDTH = 0.09  # from the middle to each hip
THIGH, SHANK = 0.34, 0.34  # hip to knee, knee to ankle
ANKLE_HEIGHT = 0.09  # of the ankle above the sole
FOOT, FOOT_SHIFT = (0.22, 0.11, 0.03), 0.035
"""Edges of the foot, and how far its middle is before the ankle."""
SIDES = {"left": 1, "right": -1}

GREY, BLUE, BLACK = (0.35, 0.35, 0.4), (0.2, 0.4, 0.7), (0.1, 0.1, 0.1)


@dataclass(frozen=True)
class Axis:
    """A joint of the leg and the body behind it; a body is a box. ``low``, ``high`` [degrees] are those of the left
    leg; yaw and roll of the right one are mirrored."""

    name: str
    axis: str
    low: float
    high: float
    torque: float  # [N m]
    body: str
    mass: float
    edges: Vector
    middle: Vector
    ratio: float  # of the gear, if there are drives
    rotor: float  # [kg m^2]


LEG = (
    Axis("hip_yaw", "z", -40, 60, 80, "hip_yaw_body", 0.9, (0.09, 0.08, 0.08), (0, 0, 0.03), 100, 5e-5),
    Axis("hip_roll", "x", -30, 60, 150, "hip_roll_body", 1.1, (0.10, 0.09, 0.09), (0, 0, 0), 100, 9e-5),
    Axis("hip_pitch", "y", -120, 50, 150, "thigh", 4.2, (0.11, 0.11, THIGH), (0, 0, -THIGH / 2), 100, 9e-5),
    Axis("knee", "y", 0, 150, 180, "shank", 2.6, (0.09, 0.09, SHANK), (0, 0, -SHANK / 2), 100, 9e-5),
    Axis("ankle_pitch", "y", -60, 60, 110, "ankle", 0.5, (0.06, 0.06, 0.06), (0, 0, 0), 100, 5e-5),
    Axis("ankle_roll", "x", -40, 40, 80, "foot", 1.2, FOOT, (FOOT_SHIFT, 0, FOOT[2] / 2 - ANKLE_HEIGHT), 100, 5e-5),
)


def humanoid(drives: bool = False) -> Model:
    """A torso with a free base and two legs of six joints, 18 degrees of freedom (H04 5.4.1, figure 5.7): joints
    ``<side>_hip_yaw`` (about z), ``<side>_hip_roll`` (x), ``<side>_hip_pitch`` (y), ``<side>_knee`` (y),
    ``<side>_ankle_pitch`` (y), ``<side>_ankle_roll`` (x), sides ``left`` and ``right``. All figures are ours; H04
    takes its own from a paper. 47 kg, hips 0.77 m above the soles.

    x points forwards, y to the left, z up; with all angles zero the legs hang straight down, and a bent knee is
    positive. The origin of ``torso`` is in the middle between the hips. Axes of the hip meet in one point, those of
    the ankle in another: :func:`~gyrostat.robots.leg_kinematics.humanoid_leg` has the leg in closed form. Feet are
    boxes that may touch, with the frames ``<side>_foot.sole``, below the ankle in the ground, and at its corners
    ``toe_left``, ``toe_right``, ``heel_left``, ``heel_right``. With ``drives`` every joint has a rotor in the body
    before it, behind a stiff gear with friction (its mass is in that body)."""
    hips = {f"{side}_hip": (0.0, sign * HIP_WIDTH, 0.0) for side, sign in SIDES.items()}
    middle = (0.0, 0.0, TORSO_HEIGHT)
    shape = Shape(kind="box", size=TORSO, translation=middle, color=BLUE)
    inertia = box(TORSO_MASS, *TORSO)
    torso = RigidBody("torso", mass=TORSO_MASS, com=middle, inertia=inertia, frames=hips, shapes=(shape,))
    legs = [_leg(side, sign) for side, sign in SIDES.items()]
    model = assemble("humanoid", connect("world", "torso.origin"), torso, *legs, base="free")
    for row in LEG if drives else ():
        for side in SIDES:
            model = _driven(model, f"{side}_{row.name}", row)
    return model


def _driven(model: Model, joint: str, row: Axis) -> Model:
    return model.with_drive(
        joint,
        rotor_inertia=row.rotor,
        gear_ratio=row.ratio,
        viscous=0.8,
        coulomb=1.5,
        torque_limit=row.torque / row.ratio,
        speed_limit=row.ratio * 12.0,
    )


def _leg(side: str, sign: int) -> Parts:
    links: list[Link] = []
    for row in LEG:
        mirrored = sign < 0 and row.axis != "y"
        low, high = (-row.high, -row.low) if mirrored else (row.low, row.high)
        limits = {"lower": math.radians(low), "upper": math.radians(high)}
        joint = Joint(f"{side}_{row.name}", "revolute", axis=row.axis, velocity_limit=12.0, effort_limit=row.torque,
                      **limits)  # fmt: skip
        links += [joint, _body(side, row)]
    return chain(f"torso.{side}_hip", *links)


def _body(side: str, row: Axis) -> RigidBody:
    after = {"thigh": {"knee": (0.0, 0.0, -THIGH)}, "shank": {"ankle": (0.0, 0.0, -SHANK)}, "foot": sole_frames()}
    drawn = Shape(kind="box", size=row.edges, translation=row.middle, color=BLACK if row.body == "foot" else GREY)
    touching = Shape(kind="box", size=row.edges, translation=row.middle, role="collision")
    shapes = (drawn, touching) if row.body == "foot" else (drawn,)
    inertia, frames = box(row.mass, *row.edges), after.get(row.body, {})
    return RigidBody(f"{side}_{row.body}", mass=row.mass, com=row.middle, inertia=inertia, frames=frames, shapes=shapes)


def sole_frames() -> dict[str, Vector]:
    """Frames of a foot, seen from the ankle."""
    front, back = FOOT_SHIFT + FOOT[0] / 2, FOOT_SHIFT - FOOT[0] / 2
    corners = {"toe": front, "heel": back}
    ends = {
        f"{name}_{side}": (x, sign * FOOT[1] / 2, -ANKLE_HEIGHT)
        for name, x in corners.items()
        for side, sign in SIDES.items()
    }
    return {"sole": (0.0, 0.0, -ANKLE_HEIGHT), **ends}
