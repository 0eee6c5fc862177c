"""Mechanisms with closed loops, small and of every form that is solved explicitly; ``LOOPS`` lists them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

import gyrostat as gs

Y = "y"


def rod(name: str, length: float, along: str = "x", **frames: Any) -> gs.RigidBody:
    """A slender rod with frame ``tip`` at its far end."""
    u = np.eye(3)["xyz".index(along)] * length
    moments = [length**3 / 12 + 1e-3] * 3
    moments["xyz".index(along)] = 2e-3
    return gs.RigidBody(name, mass=length, com=u / 2, inertia=moments, frames={"tip": tuple(u), **frames})


def hinge(name: str, axis: Any = Y, **options: Any) -> gs.Joint:
    return gs.Joint(name, "revolute", axis=axis, **options)


def placed(name: str, *p: float) -> gs.Displacement:
    return gs.Displacement(name, translation=p)


def four_bar(
    crank: float = 0.3, coupler: float = 0.9, rocker: float = 0.7, base: float = 1.0, **options: Any
) -> gs.Model:
    return gs.assemble(
        "four-bar",
        gs.chain("world", hinge("A"), rod("crank", crank), hinge("B"), rod("coupler", coupler)),
        gs.chain("world", placed("ground", base, 0, 0), hinge("D"), rod("rocker", rocker)),
        hinge("C"),
        gs.connect("coupler.tip", "C.a"),
        gs.connect("C.b", "rocker.tip"),
        **({"reference": {"A": -1.0, "B": 0.6, "D": -1.5}, "independent": ["A"]} | options),
    )


def parallelogram(**options: Any) -> gs.Model:
    return four_bar(0.5, 1.0, 0.5, 1.0, **({"reference": {"A": -1.0, "B": 1.0, "D": -1.0}} | options))


def five_bar(**options: Any) -> gs.Model:
    left = gs.chain("world", placed("l", -0.2, 0, 0), hinge("A1"), rod("a1", 0.5), hinge("P1"), rod("p1", 0.8))
    right = gs.chain("world", placed("r", 0.2, 0, 0), hinge("A2"), rod("a2", 0.5), hinge("P2"), rod("p2", 0.8))
    return gs.assemble(
        "five-bar",
        left,
        right,
        hinge("E"),
        gs.connect("p1.tip", "E.a"),
        gs.connect("p2.tip", "E.b"),
        **({"reference": {"A1": -2.0, "P1": 1.2, "A2": -1.0, "P2": -1.2}, "independent": ["A1", "A2"]} | options),
    )


def slider_crank(**options: Any) -> gs.Model:
    slider = gs.RigidBody("slider", mass=0.4, inertia=(1e-3, 1e-3, 1e-3))
    return gs.assemble(
        "slider-crank",
        gs.chain("world", hinge("crank_pin"), rod("crank", 0.3), hinge("big_end"), rod("conrod", 0.8)),
        gs.chain("world", gs.Joint("guide", "prismatic", axis="x"), slider),
        hinge("small_end"),
        gs.connect("conrod.tip", "small_end.a"),
        gs.connect("slider.origin", "small_end.b"),
        **({"reference": {"crank_pin": -0.7, "big_end": 1.0, "guide": 1.0}, "independent": ["crank_pin"]} | options),
    )


def cylinder(**options: Any) -> gs.Model:
    """A boom lifted by a cylinder on hinges, whose stroke is the coordinate."""
    barrel = gs.RigidBody("barrel", mass=3.0, com=(0.2, 0, 0), inertia=(0.01, 0.1, 0.1))
    piston = gs.RigidBody("piston", mass=2.0, com=(-0.1, 0, 0), inertia=(0.01, 0.1, 0.1))
    boom = gs.RigidBody("boom", mass=10.0, com=(0.6, 0, 0.05), inertia=(0.1, 2, 2), frames={"eye": (0.5, 0, -0.1)})
    return gs.assemble(
        "boom with a cylinder",
        gs.chain("world", hinge("boom_pin"), boom),
        gs.chain("world", placed("foot", 0.2, 0, -0.6), hinge("barrel_pin"), barrel),
        gs.chain("barrel", gs.Joint("stroke", "prismatic", axis="x"), piston),
        hinge("rod_pin"),
        gs.connect("piston.origin", "rod_pin.a"),
        gs.connect("boom.eye", "rod_pin.b"),
        **({"reference": {"boom_pin": -0.4, "barrel_pin": -1.2, "stroke": 0.75}, "independent": ["stroke"]} | options),
    )


def rod_loop(joint: str = "revolute", **options: Any) -> gs.Model:
    """Two arms in space, tied by a connecting rod; the second one turns or slides."""
    second = hinge("follower", (0.6, 0.0, 0.8)) if joint == "revolute" else gs.Joint("follower", "prismatic", axis="x")
    body = rod("second", 0.6, "z", ball=(0.1, 0.2, 0.6))
    q = 0.3
    return gs.assemble(
        f"rod loop ({joint})",
        gs.chain("world", hinge("driver", "z"), rod("first", 0.5, "x", ball=(0.5, 0.0, 0.1))),
        gs.chain("world", placed("foot", 0.9, 0.2, -0.1), second, body),
        gs.ConnectingRod("link", 0.8),
        gs.connect("first.ball", "link.a"),
        gs.connect("second.ball", "link.b"),
        **({"reference": {"driver": q, "follower": 0.4}, "independent": ["driver"]} | options),
    )


def universal_rod(**options: Any) -> gs.Model:
    """The same with a rod that has mass, between a universal and a ball joint."""
    link = gs.RigidBody(
        "link", mass=0.7, com=(0, 0, 0.4), inertia=(0.04, 0.05, 0.01), frames={"ball": (0.02, 0.0, 0.8)}
    )
    return gs.assemble(
        "universal rod",
        gs.chain("world", hinge("driver", "z"), rod("first", 0.5, "x", eye=(0.5, 0.0, 0.1))),
        gs.chain("first.eye", gs.Joint("knuckle", "universal", axis="x", second_axis="y"), link),
        gs.chain("world", placed("foot", 0.9, 0.2, -0.1), hinge("follower", (0.6, 0, 0.8)), rod("second", 0.6, "z")),
        gs.Joint("ball", "spherical"),
        gs.connect("link.ball", "ball.a"),
        gs.connect("second.tip", "ball.b"),
        **({"reference": {"driver": 0.3, "knuckle": [0.2, 0.4], "follower": 0.4}, "independent": ["driver"]} | options),
    )


def cardan(**options: Any) -> gs.Model:
    """Two shafts at 30 degrees and the cross between them."""
    one = gs.RigidBody("one", mass=1.0, inertia=(0.02, 0.02, 0.01))
    two = gs.RigidBody("two", mass=2.0, com=(0, 0.01, 0.2), inertia=(0.03, 0.04, 0.02))
    return gs.assemble(
        "cardan",
        gs.chain("world", hinge("input", "z"), one),
        gs.chain("world", hinge("output", (0.0, 0.5, math.sqrt(0.75))), two),
        gs.Joint("cross", "universal", axis="x", second_axis="y"),
        gs.connect("one", "cross.a"),
        gs.connect("two.origin", "cross.b"),
        **({"reference": {"input": 0.4, "output": 0.4}, "independent": ["input"]} | options),
    )


def stewart(**options: Any) -> gs.Model:
    """6-UPS: the pose of the plate is the coordinate."""
    frames, parts = {}, []
    for k in range(6):
        side, at = (1 if k % 2 else -1), (k // 2) * 2 * np.pi / 3
        B, P = (
            r * np.array([np.cos(x), np.sin(x), 0.0])
            for r, x in ((0.8, at + 0.2 * side), (0.5, at + (np.pi / 3 - 0.2) * side))
        )
        frames[f"ball{k}"] = tuple(P)
        lower = gs.RigidBody(f"lower{k}", mass=1.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 1e-3))
        upper = gs.RigidBody(f"upper{k}", mass=0.6, com=(0, 0, -0.2), inertia=(0.01, 0.01, 5e-4))
        knuckle = gs.Joint(f"knuckle{k}", "universal", axis="x", second_axis="y")
        leg = gs.Joint(f"leg{k}", "prismatic", axis="z")
        parts.append(gs.chain("world", placed(f"foot{k}", *B), knuckle, lower, leg, upper))
        ends = gs.connect(f"upper{k}", f"ball{k}.a"), gs.connect(f"plate.ball{k}", f"ball{k}.b")
        parts += [gs.Joint(f"ball{k}", "spherical"), *ends]
    plate = gs.RigidBody("plate", mass=10.0, inertia=(0.4, 0.4, 0.8), frames=frames)
    q = np.array([0.05, -0.03, 0.8, 0.05, 0.02, -0.04, 1.0])
    q[3:] /= np.linalg.norm(q[3:])
    lengths = {f"leg{k}": 0.85 for k in range(6)}
    return gs.assemble(
        "stewart",
        gs.chain("world", gs.Joint("platform", "free"), plate),
        *parts,
        **({"reference": {"platform": list(q), **lengths}, "independent": ["platform"]} | options),
    )


def two_rods(**options: Any) -> gs.Model:
    """Two coupled loops: the second needs what the first one gives."""
    arm = gs.RigidBody("arm", mass=16, com=(0, 0, 0.6), inertia=(2, 2, 0.2), frames={"elbow": (0, 0, 1.25)})
    fore = gs.RigidBody("fore", mass=12, com=(0.5, 0, 0), inertia=(0.2, 2, 2), frames={"wrist": (1.4, 0, 0)})
    hand = gs.RigidBody("hand", mass=4, com=(0.1, 0, -0.05), inertia=(0.1, 0.1, 0.1), frames={"ear": (0.12, 0, 0.25)})
    ears = {"l": (-0.25, 0, 0.15), "r": (0.12, 0, 0.25)}
    triangle = gs.RigidBody("triangle", mass=1.5, com=(0, 0, 0.1), inertia=(0.03, 0.03, 0.03), frames=ears)
    base = gs.RigidBody("base", mass=40, inertia=(3, 3, 3), frames={"pin": (0.3, 0, 0.4), "ear": (0.05, 0, 0.55)})
    return gs.assemble(
        "two rods",
        gs.chain("world", hinge("R1", "z"), base, "pin", hinge("R2"), arm, hinge("R3"), fore, hinge("R4"), hand),
        gs.chain("arm.elbow", hinge("R6"), triangle),
        gs.ConnectingRod("rod1", 1.27),
        gs.ConnectingRod("rod2", 1.37),
        gs.connect("base.ear", "rod1.a"),
        gs.connect("triangle.l", "rod1.b"),
        gs.connect("triangle.r", "rod2.a"),
        gs.connect("hand.ear", "rod2.b"),
        **(
            {
                "reference": {"R1": 0.4, "R2": 0.3, "R3": 0.2, "R6": -0.3, "R4": -0.5},
                "independent": ["R2", "R3"],
            }
            | options
        ),
    )


LOOPS: dict[str, Callable[..., gs.Model]] = {
    "four-bar": four_bar,
    "parallelogram": parallelogram,
    "five-bar": five_bar,
    "slider-crank": slider_crank,
    "cylinder": cylinder,
    "rod, turning": rod_loop,
    "rod, sliding": lambda **o: rod_loop("prismatic", **o),
    "universal rod": universal_rod,
    "cardan": cardan,
    "stewart": stewart,
    "two rods": two_rods,
}
"""Each takes the options of ``assemble``; all have a closed form."""
