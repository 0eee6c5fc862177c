"""A small four-legged robot on point feet, after Sony's Aibo (H04 5.4.1)."""

from __future__ import annotations

import math

from gyrostat.robots.hydraulic import box
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

Vector = tuple[float, float, float]

# Ours: a toy dog of 1.6 kg with its head. Lengths [m], masses [kg].
TORSO, TORSO_MASS = (0.18, 0.11, 0.08), 0.86
SHOULDER = (0.065, 0.060)  # where the shoulders are: forwards, sideways
OFFSET = 0.010  # from the axis of the abductor sideways to the leg
UPPER, LOWER = 0.070, 0.072  # shoulder to knee, knee to the tip of the foot
SHOULDER_MASS, UPPER_MASS, LOWER_MASS = 0.025, 0.060, 0.040
FOOT_RADIUS = 0.006
NECK = (0.085, 0.0, 0.035)
NECK_MASS, PAN_MASS, HEAD_MASS = 0.03, 0.03, 0.18
NECK_LENGTH = 0.06
LEGS = {"front_left": (1, 1), "front_right": (1, -1), "rear_left": (-1, 1), "rear_right": (-1, -1)}
"""Signs of x (forwards) and y (to the left)."""

WHITE, GREY, BLACK = (0.9, 0.9, 0.92), (0.5, 0.5, 0.55), (0.1, 0.1, 0.1)


def aibo(head: bool = False) -> Model:
    """A torso with a free base and four legs of three joints, 18 degrees of freedom (H04 5.4.1, figure 5.7):
    ``<leg>_rotator`` (about y, forwards and backwards), ``<leg>_abductor`` (about x, outwards) and ``<leg>_knee``
    (about y); legs ``front_left``, ``front_right``, ``rear_left``, ``rear_right``. With ``head``, three joints more:
    ``neck_tilt`` (y), ``head_pan`` (z), ``head_nod`` (y). All figures are ours; H04 takes its own from a paper.

    x points forwards, y to the left, z up; with all angles zero the legs hang straight down. The origin of ``torso``
    is in its middle, at the height of the shoulders. Bodies ``<leg>_shoulder``, ``<leg>_upper`` and ``<leg>_lower``,
    whose frame ``foot`` is the point that stands on the ground, 0.142 m below the shoulder; a ball of 6 mm around the
    end may touch. :func:`~gyrostat.robots.leg_kinematics.aibo_leg` has the leg in closed form."""
    places = {leg: (sx * SHOULDER[0], sy * SHOULDER[1], 0.0) for leg, (sx, sy) in LEGS.items()} | {"neck": NECK}
    shape = (Shape(kind="box", size=TORSO, color=WHITE),)
    torso = RigidBody("torso", mass=TORSO_MASS, inertia=box(TORSO_MASS, *TORSO), frames=places, shapes=shape)
    legs = [_leg(leg, sx, sy) for leg, (sx, sy) in LEGS.items()]
    return assemble("aibo", connect("world", "torso.origin"), torso, *legs, *([_head()] if head else []), base="free")


def _leg(leg: str, forwards: int, side: int) -> Parts:
    rotator = Joint(f"{leg}_rotator", "revolute", axis="y", **_limits(115.0, 115.0))
    inward, outward = (12.0, 90.0) if side > 0 else (90.0, 12.0)
    abductor = Joint(f"{leg}_abductor", "revolute", axis="x", **_limits(inward, outward))
    bent = (125.0, 28.0) if forwards < 0 else (28.0, 125.0)
    knee = Joint(f"{leg}_knee", "revolute", axis="y", **_limits(*bent))
    shoulder = _part(f"{leg}_shoulder", SHOULDER_MASS, (0.03, 0.02, 0.03), (0.0, 0.0, 0.0))
    y = side * OFFSET
    knee_at = {"knee": (0.0, y, -UPPER)}
    upper = _part(f"{leg}_upper", UPPER_MASS, (0.03, 0.016, UPPER), (0.0, y, -UPPER / 2), knee_at)
    return chain(f"torso.{leg}", rotator, shoulder, abductor, upper, knee, _lower(leg))


def _lower(leg: str) -> RigidBody:
    touching = {"size": (FOOT_RADIUS,), "translation": (0.0, 0.0, FOOT_RADIUS - LOWER)}
    ball = Shape(kind="sphere", color=BLACK, **touching)
    contact = Shape(kind="sphere", role="collision", **touching)
    foot = {"foot": (0.0, 0.0, -LOWER)}
    return _part(f"{leg}_lower", LOWER_MASS, (0.02, 0.012, LOWER), (0.0, 0.0, -LOWER / 2), foot, (ball, contact))


def _head() -> Parts:
    tilt = Joint("neck_tilt", "revolute", axis="y", **_limits(5.0, 75.0))
    pan = Joint("head_pan", "revolute", axis="z", **_limits(88.0, 88.0))
    nod = Joint("head_nod", "revolute", axis="y", **_limits(40.0, 20.0))
    neck = _part("neck", NECK_MASS, (0.02, 0.02, NECK_LENGTH), (0, 0, NECK_LENGTH / 2), {"top": (0, 0, NECK_LENGTH)})
    panned = _part("head_pan_body", PAN_MASS, (0.02, 0.02, 0.02), (0.0, 0.0, 0.0))
    skull = _part("head", HEAD_MASS, (0.10, 0.07, 0.06), (0.035, 0.0, 0.0), {"nose": (0.085, 0.0, 0.0)})
    return chain("torso.neck", tilt, neck, pan, panned, nod, skull)


def _part(
    name: str,
    mass: float,
    edges: Vector,
    middle: Vector,
    frames: dict[str, Vector] | None = None,
    more: tuple[Shape, ...] = (),
) -> RigidBody:
    """A uniform box."""
    drawn = Shape(kind="box", size=edges, translation=middle, color=GREY)
    inertia = box(mass, *edges)
    return RigidBody(name, mass=mass, com=middle, inertia=inertia, frames=frames or {}, shapes=(drawn, *more))


def _limits(down: float, up: float) -> dict[str, float]:
    """Angles in degrees."""
    return {"lower": -math.radians(down), "upper": math.radians(up), "velocity_limit": 8.0, "effort_limit": 1.0}
