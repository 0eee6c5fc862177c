"""A platform on six legs (Gough 1956, Stewart 1965)."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import GREY, ORANGE, STEEL, Vector, box_inertia, tube
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import axis_angle

HOME = 1.2  # height of the plate [m]
GROUND, PLATE = 0.9, 0.6  # radii of the circles of joints [m]
SPREAD = math.radians(14.0)  # half the angle between neighbours, on the ground; on the plate it is 60 degrees less this


def stewart(drives: bool = False, loops: LoopTreatment = "auto") -> Model:
    """6-UPS: a plate on six legs, each a universal joint on the ground, a driven slide, a ball at the plate::

             plate (platform: free)
           -------------------------
            o b1   o b2  ...  o b6       ball joints
            |      |          |
            H      H          H          leg1 ... leg6: prismatic, driven; 0 at home
            |      |          |
            x u1   x u2       x u6       universal joints
        ///////////////////////////

    The free joint ``platform`` carries the plate, 1.2 m above the ground at home, and is the independent one: q is the
    pose of the plate, v its velocity in its own axes. Each leg is a loop that is solved explicitly, as its inverse
    kinematics: length, then the two angles. Joints are on circles of 0.9 m on the ground and of 0.6 m on the plate, in
    pairs. Plate 80 kg, cylinders 12 kg, pistons 6 kg: all figures ours. The legs' forces follow from the platform's
    wrench, ``gs.actuator_efforts``.

    ``drives``: spindles of 10 mm turned by rotors of 2e-4 kg m^2, with friction."""
    anchors = [_on_circle(PLATE, k, math.pi / 3.0 - SPREAD, HOME) for k in range(6)]
    feet = [_on_circle(GROUND, k, SPREAD, 0.0) for k in range(6)]
    plate = RigidBody(
        "plate",
        mass=80.0,
        inertia=box_inertia(80.0, 1.1, 1.1, 0.05),
        frames={f"a{k + 1}": (x, y, 0.0) for k, (x, y, _) in enumerate(anchors)} | {"top": (0.0, 0.0, 0.025)},
        shapes=(Shape(kind="cylinder", size=(PLATE, 0.05), color=ORANGE),),
    )
    parts: list[Parts | Entity] = [chain("world", Joint("platform", "free"), plate)]
    reference: dict[str, object] = {"platform": (0.0, 0.0, HOME, 0.0, 0.0, 0.0, 1.0)}
    for k, (foot, anchor) in enumerate(zip(feet, anchors, strict=True), start=1):
        parts += _leg(k, foot, anchor)
        reference |= {f"u{k}": (0.0, 0.0), f"leg{k}": 0.0}
    model = assemble("stewart", *parts, reference=reference, independent=["platform"], loops=loops)
    for k in range(1, 7) if drives else ():
        model = model.with_drive(
            f"leg{k}", rotor_inertia=2e-4, gear_ratio=2.0 * math.pi / 0.01, viscous=300.0, coulomb=40.0
        )
    return model


def _on_circle(radius: float, k: int, spread: float, height: float) -> Vector:
    """Joint k of six, in pairs at ``spread`` beside 0, 120 and 240 degrees: one behind each of them, one before."""
    angle = 2.0 * math.pi / 3.0 * ((k + 1) // 2) + (spread if k % 2 == 0 else -spread)
    return radius * math.cos(angle), radius * math.sin(angle), height


def _leg(k: int, foot: Vector, anchor: Vector) -> list[Parts | Entity]:
    """A leg whose joints are zero at home, where its z points from the foot to the anchor."""
    length = math.dist(foot, anchor)
    way = [(b - a) / length for a, b in zip(foot, anchor, strict=True)]
    across = math.hypot(way[0], way[1])
    turned = axis_angle((-way[1] / across, way[0] / across, 0.0), math.acos(way[2]))
    cylinder = RigidBody(
        f"cylinder{k}",
        mass=12.0,
        com=(0.0, 0.0, 0.35),
        inertia=(0.55, 0.55, 0.02),
        shapes=(tube((0.0, 0.0, 0.0), (0.0, 0.0, 0.75), 0.05, GREY),),
    )
    piston = RigidBody(
        f"piston{k}",
        mass=6.0,
        com=(0.0, 0.0, length - 0.35),
        inertia=(0.25, 0.25, 0.004),
        frames={"tip": (0.0, 0.0, length)},
        shapes=(tube((0.0, 0.0, length - 0.75), (0.0, 0.0, length), 0.03, STEEL),),
    )
    universal = Joint(f"u{k}", "universal", axis="x", second_axis="y")
    slide = Joint(f"leg{k}", "prismatic", axis="z", passive=False)
    place = Displacement(f"foot{k}", translation=foot, rotation=turned)
    return [
        chain("world", place, universal, cylinder, "origin", slide, piston, Joint(f"b{k}", "spherical")),
        connect(f"b{k}.b", f"plate.a{k}"),
    ]
