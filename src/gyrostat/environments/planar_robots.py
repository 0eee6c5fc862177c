"""A hopper and a half-cheetah in the plane: capsules on joints with springs, dampers, rotor inertia and limits.

Lengths, ranges, stiffnesses and gears are those of Gymnasium's Hopper-v5 and HalfCheetah-v5 [Erez, Tassa,
Todorov 2011; Wawrzynski 2009], so that tasks mean the same; contact is rigid. Bodies touch the ground,
and pass through each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.geometry.solids import capsule
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.contact import ContactPair, Ground
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shaft_elements import Spring
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import euler

Array = np.ndarray


@dataclass(frozen=True)
class Bone:
    """A capsule in the plane of x and z: its middle [m], the angle of its axis from z about y [rad], length of the
    cylinder and radius [m]."""

    x: float
    z: float
    angle: float
    length: float
    radius: float

    @property
    def turn(self) -> Array:
        c, s = math.cos(self.angle), math.sin(self.angle)
        return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


@dataclass(frozen=True)
class Limb:
    """A joint about y (``sign`` -1: -y) at ``at`` (x, z) of the body ``parent``, from ``low`` to ``high`` [rad], and
    a body whose origin is there."""

    name: str
    parent: str
    at: tuple[float, float]
    low: float
    high: float
    gear: float
    bone: Bone
    sign: int = 1
    damping: float = 1.0
    stiffness: float = 0.0
    armature: float = 1.0


HOPPER = (
    Limb("thigh", "torso", (0.0, -0.2), -math.radians(150), 0, 200, Bone(0, -0.225, 0, 0.45, 0.05), -1),
    Limb("leg", "thigh", (0.0, -0.45), -math.radians(150), 0, 200, Bone(0, -0.25, 0, 0.5, 0.04), -1),
    Limb("foot", "leg", (0.0, -0.5), -math.pi / 4, math.pi / 4, 200, Bone(0.065, 0, math.pi / 2, 0.39, 0.06), -1),
)
CHEETAH = (
    Limb("bthigh", "torso", (-0.5, 0), -0.52, 1.05, 120, Bone(0.1, -0.13, -3.8, 0.29, 0.046), 1, 6, 240, 0.1),
    Limb("bshin", "bthigh", (0.16, -0.25), -0.785, 0.785, 90, Bone(-0.14, -0.07, -2.03, 0.3, 0.046), 1, 4.5, 180, 0.1),
    Limb("bfoot", "bshin", (-0.28, -0.14), -0.4, 0.785, 60, Bone(0.03, -0.097, -0.27, 0.188, 0.046), 1, 3, 120, 0.1),
    Limb("fthigh", "torso", (0.5, 0), -1.0, 0.7, 120, Bone(-0.07, -0.12, 0.52, 0.266, 0.046), 1, 4.5, 180, 0.1),
    Limb("fshin", "fthigh", (-0.14, -0.24), -1.2, 0.87, 60, Bone(0.065, -0.09, -0.6, 0.212, 0.046), 1, 3, 120, 0.1),
    Limb("ffoot", "fshin", (0.13, -0.18), -0.5, 0.5, 30, Bone(0.045, -0.07, -0.6, 0.14, 0.046), 1, 1.5, 60, 0.1),
)


def hopper() -> Model:
    """One leg of three joints: coordinates ``rootx``, ``rootz`` (height of the torso's middle [m]), ``rooty``,
    ``thigh_joint``, ``leg_joint``, ``foot_joint``."""
    torso = (Bone(0.0, 0.0, 0.0, 0.4, 0.05),)
    return _planar("hopper", 0.0, torso, HOPPER, 1000.0, 1.0, ContactPair("foot", "floor", friction=2.0))


def half_cheetah() -> Model:
    """Two legs of three joints: coordinates ``rootx``, ``rootz`` (height of the torso above 0.7 m), ``rooty``, and of
    the joints of the back and the front leg. 14 kg."""
    torso = Bone(0.0, 0.0, math.pi / 2, 1.0, 0.046), Bone(0.6, 0.1, 0.87, 0.3, 0.046)
    bones = (*torso, *(limb.bone for limb in CHEETAH))
    density = 14.0 / sum(capsule((b.radius, b.length)).volume for b in bones)
    return _planar("half_cheetah", 0.7, torso, CHEETAH, density, 0.4)


def gears(limbs: Sequence[Limb]) -> Array:
    """Efforts (joints,) [N m] for an action of one."""
    return np.array([limb.gear for limb in limbs])


def _planar(
    name: str, height: float, torso: Sequence[Bone], limbs: Sequence[Limb], density: float, friction: float,
    *pairs: ContactPair,
) -> Model:  # fmt: skip
    root = [
        Displacement("start", translation=(0.0, 0.0, height)),
        Joint("rootx", "prismatic", axis="x"),
        Joint("rootz", "prismatic", axis="z"),
        Joint("rooty", "continuous", axis="y"),
        _body("torso", torso, limbs, density),
    ]
    parts: list[Parts | Entity] = [chain("world", *root)]
    for limb in limbs:
        limits = {"lower": limb.low, "upper": limb.high}
        joint = Joint(
            f"{limb.name}_joint", "revolute", axis=(0.0, float(limb.sign), 0.0), effort_limit=limb.gear, **limits
        )
        parts.append(chain(f"{limb.parent}.{limb.name}", joint, _body(limb.name, (limb.bone,), limbs, density)))
        if limb.stiffness:
            spring = Spring(f"{limb.name}_spring", ground=True, stiffness=limb.stiffness)
            parts += [spring, connect(f"{spring.name}.a", f"{joint.name}.shaft")]
    model = assemble(name, *parts, Ground("floor", friction=friction), *pairs)
    for limb in limbs:
        drive = {"rotor_inertia": limb.armature, "gear_ratio": 1.0, "viscous": limb.damping}
        model = model.with_drive(f"{limb.name}_joint", reflected_inertia_only=True, motor=False, **drive)
    return model


def _body(name: str, bones: Sequence[Bone], limbs: Sequence[Limb], density: float) -> RigidBody:
    """Of capsules of one density, with a frame where each further limb begins."""
    frames = {limb.name: (limb.at[0], 0.0, limb.at[1]) for limb in limbs if limb.parent == name}
    solids = [capsule((b.radius, b.length)).placed(b.turn, np.array([b.x, 0.0, b.z])) for b in bones]
    volume = sum(s.volume for s in solids)
    centre = sum((s.volume * s.centre for s in solids), np.zeros(3)) / volume
    J = np.zeros((3, 3))
    for s in solids:
        d = s.centre - centre
        J = J + s.inertia + s.volume * (d @ d * np.eye(3) - np.outer(d, d))
    shapes = [
        Shape(
            kind="capsule",
            size=(b.radius, b.length),
            translation=(b.x, 0.0, b.z),
            rotation=euler((0.0, b.angle, 0.0)),
            role=role,
        )
        for b in bones
        for role in ("visual", "collision")
    ]
    return RigidBody(
        name, mass=density * volume, com=tuple(centre), inertia=density * J, frames=frames, shapes=tuple(shapes)
    )
