"""Robots with joints that follow others by curves: cams, scotch yokes, and a slider-crank that is not part of
gyrostat."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import gyrostat as gs

ANGLES = np.linspace(0.0, 2.0 * np.pi, 9)
LIFTS = 0.1 * np.sin(ANGLES) + 0.03 * np.cos(2.0 * ANGLES)
CLOSED = (*LIFTS[:-1], LIFTS[0])
INERTIA = ((0.02, 0.001, 0.002), (0.001, 0.03, -0.003), (0.002, -0.003, 0.04))


class SlidingCrank(gs.Entity):
    """A user's own curve: x = r cos(angle) + sqrt(l^2 - r^2 sin(angle)^2)."""

    r: float
    l: float

    @property
    def ports(self):
        return gs.Port("crank", "scalar"), gs.Port("slider", "scalar")

    def curves(self, value):
        return (gs.CurveRelation("slider", "crank", partial(self.lift, value("r"), value("l"))),)

    @staticmethod
    def lift(r, l, angle):
        s = np.sin(angle) * r
        return np.cos(angle) * r + np.sqrt(l * l - s * s)


def body(name: str, mass: float = 1.0) -> gs.RigidBody:
    return gs.RigidBody(name, mass=mass, com=(0.1, -0.05, 0.2), inertia=INERTIA, frames={"tip": (0.1, 0.2, 0.3)})


def tied(model: gs.Model, *links: tuple[Any, str, str]) -> gs.Model:
    """The model with cams (entity, driver, follower) between shafts."""
    entities, connections = list(model.entities), list(model.connections)
    for entity, driver, follower in links:
        ports = [port.name for port in entity.ports]
        entities.append(entity)
        connections += [(driver, f"{entity.name}.{ports[0]}"), (follower, f"{entity.name}.{ports[1]}")]
    return gs.Model(model.name, tuple(entities), tuple(connections), model.context)


def periodic_cam(name: str = "cam") -> gs.Cam:
    return gs.Cam(name, ANGLES, CLOSED, periodic=True)


def yoke() -> gs.Model:
    """A crank about y that moves a block along z, side by side."""
    crank, block = gs.Joint("crank", "revolute", axis="y"), gs.Joint("lift", "prismatic", axis="z")
    arms = gs.chain("world", crank, body("wheel", 2.0)), gs.chain("world", block, body("block", 1.5))
    return tied(gs.assemble("yoke", *arms), (gs.ScotchYoke("yoke", 0.2, phase=0.3), "crank.shaft", "lift.shaft"))


def cam() -> gs.Model:
    """The same with a table instead."""
    model = yoke()
    kept = (
        tuple(e for e in model.entities if e.name != "yoke"),
        tuple(c for c in model.connections if "yoke" not in str(c)),
    )
    bare = gs.Model("cam", *kept, model.context)
    return tied(bare, (periodic_cam(), "crank.shaft", "lift.shaft"))


def outboard() -> gs.Model:
    """The follower sits on the body that its driver moves, with a joint of its own between and one behind."""
    joints = [gs.Joint(name, "revolute", axis=axis) for name, axis in (("a", "z"), ("b", "x"), ("c", "y"), ("d", "x"))]
    parts = [part for joint in joints for part in (joint, body(f"{joint.name}_link"))]
    model = gs.assemble("outboard", gs.chain("world", *parts))
    return tied(model, (gs.Cam("cam", [-2.0, -1.0, 0.5, 1.0, 2.5], [0.4, 0.1, -0.3, 0.2, 0.6]), "a.shaft", "c.shaft"))


def inboard() -> gs.Model:
    """The follower carries its driver."""
    parts = gs.Joint("rail", "prismatic", axis="x"), body("cart"), gs.Joint("arm", "revolute", axis="y"), body("link")
    more = gs.Joint("end", "revolute", axis="x"), body("hand")
    model = gs.assemble("inboard", gs.chain("world", *parts, *more))
    return tied(model, (SlidingCrank("crank", r=0.2, l=0.5), "arm.shaft", "rail.shaft"))


def branched(base: str = "fixed") -> gs.Model:
    """Two arms on a trunk; the follower is in one, before its driver in the file, with a spherical joint beside."""
    trunk = gs.chain("world", body("plinth", 5.0), gs.Joint("waist", "revolute", axis="z"), body("trunk", 3.0))
    left = gs.chain(
        "trunk",
        gs.Joint("slide", "prismatic", axis="y"),
        body("left"),
        gs.Joint("l2", "revolute", axis="x"),
        body("l_end"),
    )
    right = gs.chain(
        "trunk.tip",
        gs.Joint("ball", "spherical"),
        body("upper"),
        gs.Joint("elbow", "revolute", axis="y"),
        body("lower"),
    )
    model = gs.assemble("branched", trunk, left, right, base=base)
    return tied(model, (gs.ScotchYoke("yoke", 0.3, offset=0.1), "elbow.shaft", "slide.shaft"))


def driven() -> gs.Model:
    """Geared rotors, friction and springs on the driver and on the follower."""
    model = outboard()
    model = model.with_drive("c", rotor_inertia=2e-3, gear_ratio=7.0, viscous=0.2)
    model = model.with_drive("a", rotor_inertia=1e-3, gear_ratio=20.0, viscous=0.1)
    extra = gs.Spring("soft", stiffness=30.0, cubic=5.0, rest=0.2, ground=True), gs.RotorInertia("wheel", inertia=0.01)
    between = gs.Damper("between", damping=0.3)
    links = ("c.shaft", "soft.a"), ("c.shaft", "wheel.shaft"), ("c.shaft", "between.a"), ("d.shaft", "between.b")
    return gs.Model("driven", (*model.entities, *extra, between), (*model.connections, *links), model.context)


def behind_gears() -> gs.Model:
    """A cam driven by a differential of two joints; a coupling behind it, another curve behind that, and a joint that
    adds a follower to a coordinate."""
    names = ("a", "z"), ("b", "x"), ("c", "y"), ("d", "x"), ("e", "z"), ("f", "y")
    parts = [part for name, axis in names for part in (gs.Joint(name, "revolute", axis=axis), body(f"{name}_link"))]
    model = gs.assemble("behind_gears", gs.chain("world", *parts))
    mixer = gs.Gear("mixer", ratio=[[0.7, -0.4]], offset=0.1)
    second = gs.Gear("second", ratio=-1.5, offset=0.2)
    sum_of = gs.Gear("sum", ratio=[[1.0, 0.5]])
    entities = *model.entities, mixer, second, sum_of, periodic_cam(), gs.ScotchYoke("yoke", 0.4, phase=0.2)
    links = (
        ("a.shaft", "mixer.joint1"), ("b.shaft", "mixer.joint2"), ("mixer.motor", "cam.driver"),
        ("cam.follower", "c.shaft", "second.joint"), ("second.motor", "d.shaft", "yoke.driver"),
        ("yoke.follower", "e.shaft"), ("sum.motor", "f.shaft"), ("b.shaft", "sum.joint1"), ("d.shaft", "sum.joint2"),
    )  # fmt: skip
    return gs.Model("behind_gears", entities, (*model.connections, *links), model.context)


ROBOTS: dict[str, Callable[[], gs.Model]] = {
    "yoke": yoke,
    "cam": cam,
    "outboard": outboard,
    "inboard": inboard,
    "branched": branched,
    "floating": lambda: branched("free"),
    "driven": driven,
    "behind gears": behind_gears,
}
