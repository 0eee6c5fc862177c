"""The palletizing robot of H04 5.2: two coupled loops keep its flange level."""

from __future__ import annotations

import math

from gyrostat.errors import SpecError
from gyrostat.robots.loops.links import GREY, ORANGE, STEEL, Vector, box_inertia, tube
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.connecting_rod import ConnectingRod
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

HEIGHT, ARM, FOREARM = 0.45, 1.25, 1.40  # [m]
SHOULDER: Vector = (0.35, 0.0, 0.40)  # R2, seen from R1
FIRST: Vector = (-0.25, 0.0, 0.15)  # ends of rod 1, seen from R2 and from R6
SECOND: Vector = (0.12, 0.0, 0.25)  # ends of rod 2, seen from R6 and from R4
FLANGE: Vector = (0.25, 0.0, -0.20)  # R5, seen from R4
BARS = {"rod1": (ARM, 14.0), "rod2": (FOREARM, 13.0)}  # length [m], mass [kg] of the two as bars
# rotor inertia [kg m^2], gear ratio, viscous [N m s/rad] and Coulomb friction [N m] at the joint
DRIVES = {
    "R1": (6e-3, 160.0, 60.0, 40.0),
    "R2": (6e-3, 150.0, 50.0, 30.0),
    "R3": (6e-3, -150.0, 50.0, 30.0),
    "R5": (8e-4, 60.0, 12.0, 10.0),
}


def palletizer(payload: float = 180.0, bars: bool = False, drives: bool = True, loops: LoopTreatment = "auto") -> Model:
    """H04 5.2, Figs. 5.4 and 5.5, after the KUKA KR180PA: a chain of five revolute joints and two coupled loops::

                   rod 2 (R9, R10)
            o-----------------------------o
           /| triangle                    | \\ hand
          o R6==R3-----forearm------------R4 |
         /   |                               R5
        / rod 1 (R7, R8)                  [payload]
       /     | arm
      o      |                      R1 vertical; R2, R3, R4, R6 about y;
       \\    |                      R5 vertical, because the hand is level
        ---- R2  carousel
             R1

    Four degrees of freedom; ``R1``, ``R2``, ``R3``, ``R5`` are driven and independent. Loop 1 (carousel, arm,
    triangle, rod 1) has R6 as unknown, loop 2 (forearm, hand, triangle, rod 2) R4 and R6: loop 1 is solved for R6, then
    loop 2 for R4. Both are parallelograms here, which keeps the hand, ``flange``, parallel to the ground; other lengths
    (``model.replace("rod1.length", 1.27)``) are as good, and tilt it.

    ``payload`` [kg]: a box of 0.6 m x 0.4 m x 0.4 m, 0.4 m below the flange, from H04's 180 kg. ``bars``: rods of
    14 and 13 kg on the hinges R7 ... R10 in the place of massless ones: H04 replaces "the four revolute joints from the
    parallel kinematics" by two rods, as is done here by default. ``drives``: rotors, gears, friction.

    Of H04: the structure, which joints are driven, the payload. Ours, because it prints none: all dimensions, masses
    and drives. At q = 0 the arm is upright and the forearm horizontal along x; R2 and R3 turn about y, positive ones
    downwards. Table 5.1 counts nine joints; its figures show R1 to R6 and those four."""

    if not 0.0 < payload < math.inf:
        message = f"payload is {payload!r}: R5 would turn nothing that has mass"
        raise SpecError.one("palletizer", "payload", message, "the mass of the gripper alone, payload=20.0", payload)

    def hinge(name: str, axis: str = "y", **more: float) -> Joint:
        return Joint(name, "revolute", axis=axis, **more)

    carousel = RigidBody(
        "carousel",
        mass=400.0,
        com=(0.10, 0.0, 0.20),
        inertia=(30.0, 30.0, 25.0),
        frames={"rod1": _sum(SHOULDER, FIRST), "shoulder": SHOULDER},
        shapes=(Shape(kind="box", size=(0.7, 0.5, 0.5), translation=(0.1, 0.0, 0.2), color=GREY),),
    )
    arm = RigidBody(
        "arm",
        mass=160.0,
        com=(0.0, 0.0, ARM / 2),
        inertia=(22.0, 22.0, 2.0),
        frames={"elbow": (0.0, 0.0, ARM)},
        shapes=(tube((0.0, 0.0, 0.0), (0.0, 0.0, ARM), 0.11, ORANGE),),
    )
    forearm = RigidBody(
        "forearm",
        mass=120.0,
        com=(0.50, 0.0, 0.0),
        inertia=(2.0, 20.0, 20.0),
        frames={"wrist": (FOREARM, 0.0, 0.0)},
        shapes=(tube((0.0, 0.0, 0.0), (FOREARM, 0.0, 0.0), 0.09, ORANGE),),
    )
    hand = RigidBody(
        "hand",
        mass=45.0,
        com=(0.10, 0.0, -0.05),
        inertia=(0.8, 0.8, 0.6),
        frames={"rod2": SECOND, "flange": FLANGE},
        shapes=(tube(SECOND, (0.0, 0.0, 0.0), 0.04, GREY), tube((0.0, 0.0, 0.0), FLANGE, 0.07, GREY)),
    )
    triangle = RigidBody(
        "triangle",
        mass=15.0,
        com=(-0.03, 0.0, 0.13),
        inertia=(0.3, 0.3, 0.3),
        frames={"rod1": FIRST, "rod2": SECOND},
        shapes=(tube(FIRST, (0.0, 0.0, 0.0), 0.03, GREY), tube((0.0, 0.0, 0.0), SECOND, 0.03, GREY)),
    )
    load = RigidBody(
        "payload",
        mass=payload,
        com=(0.0, 0.0, -0.4),
        inertia=box_inertia(payload, 0.6, 0.4, 0.4),
        frames={"flange": (0.0, 0.0, 0.0), "tool": (0.0, 0.0, -0.4)},
        shapes=(Shape(kind="box", size=(0.6, 0.4, 0.4), translation=(0.0, 0.0, -0.4), color=STEEL),),
    )
    foot = RigidBody(
        "foot", mass=300.0, com=(0.0, 0.0, 0.2), inertia=(15.0, 15.0, 15.0), frames={"top": (0.0, 0.0, HEIGHT)}
    )
    primary = chain(
        "world",
        foot,
        hinge("R1", "z", lower=-3.2, upper=3.2, velocity_limit=1.9),
        carousel,
        "shoulder",
        hinge("R2", lower=-0.7, upper=1.2, velocity_limit=1.8),
        arm,
        hinge("R3", lower=-0.9, upper=1.4, velocity_limit=1.8),
        forearm,
        hinge("R4"),
        hand,
        "flange",
        hinge("R5", "z", lower=-6.2, upper=6.2, velocity_limit=4.5),
        load,
    )
    parts: list[Parts | Entity] = [primary, chain("arm.elbow", hinge("R6"), triangle)]
    joints = {"rod1": ("R7", "R8", (0.0, 0.0, ARM)), "rod2": ("R9", "R10", (FOREARM, 0.0, 0.0))}
    ends = {"rod1": ("carousel.rod1", "triangle.rod1"), "rod2": ("triangle.rod2", "hand.rod2")}
    for name, (length, mass) in BARS.items():
        if bars:
            near, far, end = joints[name]
            parts.append(chain(ends[name][0], hinge(near), _bar(name, mass, end), hinge(far)))
            parts.append(connect(f"{far}.b", ends[name][1]))
        else:
            parts.append(ConnectingRod(name, length))
            parts += [connect(f"{name}.{port}", end) for port, end in zip("ab", ends[name], strict=True)]
    model = assemble("palletizer", *parts, independent=["R2", "R3"], loops=loops)
    for joint, (rotor, ratio, viscous, coulomb) in DRIVES.items() if drives else ():
        model = model.with_drive(joint, rotor_inertia=rotor, gear_ratio=ratio, viscous=viscous, coulomb=coulomb)
    return model


def _sum(one: Vector, two: Vector) -> Vector:
    return one[0] + two[0], one[1] + two[1], one[2] + two[2]


def _bar(name: str, mass: float, end: Vector) -> RigidBody:
    across = mass * math.dist(end, (0.0, 0.0, 0.0)) ** 2 / 12.0
    inertia = (across, across, 0.02) if end[2] else (0.02, across, across)
    middle = (end[0] / 2.0, 0.0, end[2] / 2.0)
    shape = tube((0.0, 0.0, 0.0), end, 0.03, GREY)
    return RigidBody(name, mass=mass, com=middle, inertia=inertia, frames={"tip": end}, shapes=(shape,))
