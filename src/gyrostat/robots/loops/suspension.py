"""A wheel on five rods: the multi-link suspension (the benchmark that AS 3 names; its data are not printed)."""

from __future__ import annotations

import math

from gyrostat.robots.loops.links import GREY, Vector
from gyrostat.spec.assemble import Parts, assemble, chain, connect
from gyrostat.spec.closed_loops import LoopTreatment
from gyrostat.spec.connecting_rod import ConnectingRod
from gyrostat.spec.displacement import Displacement
from gyrostat.spec.entity import Entity
from gyrostat.spec.joint import Joint
from gyrostat.spec.model import Model
from gyrostat.spec.pair_forces import PointSpring
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import rpy

WHEEL: Vector = (0.0, 0.75, 0.30)  # its centre [m]
# Rods: where they are on the chassis, and on the carrier [m], both seen from the chassis
RODS: dict[str, tuple[Vector, Vector]] = {
    "upper_front": ((0.12, 0.40, 0.46), (0.03, 0.68, 0.49)),
    "upper_rear": ((-0.16, 0.42, 0.48), (-0.06, 0.68, 0.47)),
    "lower_front": ((0.20, 0.36, 0.20), (0.04, 0.69, 0.18)),
    "lower_rear": ((-0.24, 0.35, 0.22), (-0.03, 0.68, 0.16)),
    "toe": ((-0.22, 0.38, 0.28), (-0.16, 0.69, 0.27)),
}
STRUT: tuple[Vector, Vector] = ((-0.01, 0.55, 0.78), (-0.01, 0.62, 0.22))
STIFFNESS, DAMPING, PRELOAD = 3.2e4, 2200.0, 3900.0  # of the strut [N/m], [N s/m]; force at the reference [N]


def five_point_suspension(loops: LoopTreatment = "auto") -> Model:
    """A wheel carrier on five rods, which leave it one degree of freedom: up and down, with the small turns that the
    suspension is designed for; all figures ours::

                 strut            z
          chassis  |  upper       |
           o-------|------o carrier
           o-------|------o==[ wheel ]      x forward, y to the left, z up
           o-------o------o                 gravity (0, 0, -9.81)
                     lower, toe

    The carrier is on a free joint ``carrier``: q is its pose, six rates, five equations of constant distance, no
    closed form: the loops are constraints. The wheel turns on the hinge ``wheel_spin``, the chassis is fixed. The strut
    is a spring of 3.2e4 N/m with a damper of 2.2e3 N s/m that pushes with 3900 N at the reference, against the road:
    without a wrench at ``wheel.contact`` the wheel drops until the strut holds it. Carrier 18 kg, wheel 22 kg."""

    def seen(point: Vector) -> Vector:
        x, y, z = (a - b for a, b in zip(point, WHEEL, strict=True))
        return x, y, z

    frames = {name: seen(at) for name, (_, at) in RODS.items()} | {"strut": seen(STRUT[1]), "hub": (0.0, 0.0, 0.0)}
    carrier = RigidBody(
        "upright",
        mass=18.0,
        com=(0.0, -0.05, 0.01),
        inertia=(0.35, 0.30, 0.25),
        frames=frames,
        shapes=(Shape(kind="box", size=(0.1, 0.06, 0.36), translation=(0.0, -0.06, 0.03), color=GREY),),
    )
    wheel = RigidBody(
        "wheel",
        mass=22.0,
        inertia=(0.75, 1.3, 0.75),
        frames={"contact": (0.0, 0.0, -0.30)},
        shapes=(Shape(kind="cylinder", size=(0.30, 0.2), rotation=rpy(math.pi / 2, 0.0, 0.0), color=GREY),),
    )
    parts: list[Parts | Entity] = [
        chain("world", Joint("carrier", "free"), carrier, "hub", Joint("wheel_spin", "revolute", axis="y"), wheel)
    ]
    for name, (on_chassis, on_carrier) in RODS.items():
        parts.append(chain("world", Displacement(f"{name}_mount", translation=on_chassis)))
        parts.append(ConnectingRod(name, math.dist(on_chassis, on_carrier)))
        parts += [connect(f"{name}.a", f"{name}_mount.b"), connect(f"{name}.b", f"upright.{name}")]
    rest = math.dist(*STRUT) + PRELOAD / STIFFNESS
    parts.append(chain("world", Displacement("strut_mount", translation=STRUT[0])))
    parts.append(PointSpring("strut", stiffness=STIFFNESS, damping=DAMPING, rest_length=rest))
    parts += [connect("strut.a", "strut_mount.b"), connect("strut.b", "upright.strut")]
    return assemble("five_point_suspension", *parts, reference={"carrier": (*WHEEL, 0.0, 0.0, 0.0, 1.0)}, loops=loops)
