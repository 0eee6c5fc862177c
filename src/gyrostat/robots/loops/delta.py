"""A delta robot (Clavel 1988): three arms carry a platform that only translates."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import GREY, ORANGE, bar, box_inertia
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.connecting_rod import ConnectingRod
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import rpy

BASE, ARM, ROD, PLATFORM, WIDTH = 0.2, 0.3, 0.8, 0.06, 0.05  # radius, lengths, radius, half a parallelogram's width [m]
START = 0.35  # angle of the arms at home [rad]
HOME = -ARM * math.sin(START) - math.sqrt(ROD**2 - (BASE + ARM * math.cos(START) - PLATFORM) ** 2)  # -0.783 [m]
REACH = {"x": (-0.3, 0.3), "y": (-0.3, 0.3), "z": (-0.95, -0.65)}  # of the platform [m]
ROD_MASS = 0.12  # of one of six [kg]


def delta(parallelograms: bool = False, drives: bool = False, loops: LoopTreatment = "auto") -> Model:
    """Three driven arms at 120 degrees and rods that carry a platform; all figures ours::

            base  o-------o arm1 (about the tangent of the base, positive downwards)
                           \\  arm, 0.3 m
                            o
                           / /
                          / /   two parallel rods, 0.8 m
                         / /
            platform    o-o      x, y, z: at home 0.78 m below the base

    The two rods of an arm, its elbow and the platform's edge are a parallelogram: the edge stays parallel to the arm's
    axis, and three edges keep the platform's orientation. So the platform is carried by three slides ``x``, ``y``,
    ``z`` that cannot turn, which are the independent coordinates; one connecting rod from the middle of each elbow to
    the middle of each edge stands for both of a parallelogram, and gives the angle of its arm (3.58).

    ``parallelograms=True`` has all six rods and a platform on a free joint ``platform``: nine rates, six equations,
    without closed form, the independent coordinates being those of the arms; motion and torques are the same. Rods are
    massless; half the mass of each, 0.12 kg, is at either end."""
    carried = 3 * 2 * ROD_MASS / 2.0
    anchors: dict[str, tuple[float, float, float]] = {"tool": (0.0, 0.0, -0.02)}
    parts: list[Parts | Entity] = []
    reference: dict[str, object] = {}
    sides = {"l": WIDTH, "r": -WIDTH} if parallelograms else {"": 0.0}
    for k in (1, 2, 3):
        turn = 2.0 * math.pi / 3.0 * (k - 1)
        c, s = math.cos(turn), math.sin(turn)
        place = Displacement(f"base{k}", translation=(BASE * c, BASE * s, 0.0), rotation=rpy(0.0, 0.0, turn))
        elbows = {f"elbow{side}": (ARM, y, 0.0) for side, y in sides.items()}
        arm = _arm(k, elbows)
        parts.append(
            chain("world", place, Joint(f"arm{k}", "revolute", axis="y", lower=-0.7, upper=1.5, passive=False), arm)
        )
        reference[f"arm{k}"] = START
        for side, y in sides.items():
            anchors[f"edge{k}{side}"] = (PLATFORM * c - y * s, PLATFORM * s + y * c, 0.0)
            rod = ConnectingRod(f"rod{k}{side}", ROD)
            parts += [rod, connect(f"{rod.name}.a", f"arm{k}_link.elbow{side}")]
            parts.append(connect(f"{rod.name}.b", f"plate.edge{k}{side}"))
    inertia = box_inertia(1.0 + carried, 2.0 * PLATFORM, 2.0 * PLATFORM, 0.03)
    shape = Shape(kind="cylinder", size=(PLATFORM, 0.02), color=ORANGE)
    plate = RigidBody("plate", mass=1.0 + carried, inertia=inertia, frames=anchors, shapes=(shape,))
    if parallelograms:
        parts.insert(0, chain("world", Joint("platform", "free"), plate))
        reference["platform"] = (0.0, 0.0, HOME, 0.0, 0.0, 0.0, 1.0)
        independent = ["arm1", "arm2", "arm3"]
    else:
        slides = (Joint(axis, "prismatic", axis=axis, lower=low, upper=high) for axis, (low, high) in REACH.items())
        parts.insert(0, chain("world", *slides, plate))
        reference |= {"x": 0.0, "y": 0.0, "z": HOME}
        independent = ["x", "y", "z"]
    model = assemble("delta", *parts, reference=reference, independent=independent, loops=loops)
    for k in (1, 2, 3) if drives else ():
        model = model.with_drive(f"arm{k}", rotor_inertia=1.2e-4, gear_ratio=35.0, viscous=0.2, coulomb=0.4)
    return model


def _arm(k: int, elbows: dict[str, tuple[float, float, float]]) -> RigidBody:
    """A bar of 1.1 kg with half of two rods at its end."""
    plain = bar(f"arm{k}_link", 1.1, (ARM, 0.0, 0.0), 0.04, color=GREY)
    at_end = 2 * ROD_MASS / 2.0
    mass = 1.1 + at_end
    com = (1.1 * ARM / 2.0 + at_end * ARM) / mass
    across = 1.1 * (ARM**2 + 0.04**2) / 12.0 + 1.1 * (com - ARM / 2.0) ** 2 + at_end * (ARM - com) ** 2
    return RigidBody(
        plain.name,
        mass=mass,
        com=(com, 0.0, 0.0),
        inertia=(1.1 * 0.04**2 / 6.0, across, across),
        frames=elbows,
        shapes=plain.shapes,
    )
