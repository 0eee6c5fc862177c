"""Mechanisms with closed loops of every kind that integration meets, each as constraints or in minimal coordinates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import gyrostat as gs
from gyrostat.graph.network import kept_network


def hinge(name: str, axis: str = "y", **more: Any) -> gs.Joint:
    return gs.Joint(name, "revolute", axis=axis, **more)


def rod(name: str, length: float) -> gs.RigidBody:
    """A slender rod of 1 kg/m along x, with a frame at its end."""
    moments = length * 2e-4, length**3 / 12.0, length**3 / 12.0
    return gs.RigidBody(name, mass=length, com=(length / 2.0, 0, 0), inertia=moments, frames={"end": (length, 0, 0)})


def four_bar(loops: str = "constraints", **more: Any) -> gs.Model:
    """A crank-rocker in a vertical plane; ``joints``: properties of its hinges by name."""
    joints = more.pop("joints", {})
    parts = more.pop("parts", [])
    given = {"A": -1.0, "B": 0.4823821, "D": -1.6506082}
    return gs.assemble(
        "four_bar",
        gs.chain("world", hinge("A", **joints.get("A", {})), rod("crank", 0.3), hinge("B"), rod("coupler", 0.9)),
        gs.chain("world", gs.Displacement("base", translation=(1.0, 0, 0)), hinge("D", **joints.get("D", {}))),
        gs.chain("D.b", rod("rocker", 0.7)),
        gs.chain("coupler.end", hinge("C")),
        gs.connect("C.b", "rocker.end"),
        *parts,
        **({"reference": given, "independent": ["A"], "loops": loops} | more),
    )


def five_bar(loops: str = "constraints") -> gs.Model:
    """Two cranks that carry two rods, which meet: two degrees of freedom."""
    return gs.assemble(
        "five_bar",
        gs.chain("world", gs.Displacement("left", translation=(-0.2, 0, 0)), hinge("A1"), rod("a1", 0.5)),
        gs.chain("a1.end", hinge("B1"), rod("p1", 0.8)),
        gs.chain("world", gs.Displacement("right", translation=(0.2, 0, 0)), hinge("A2"), rod("a2", 0.5)),
        gs.chain("a2.end", hinge("B2"), rod("p2", 0.8)),
        gs.chain("p1.end", hinge("C")),
        gs.connect("C.b", "p2.end"),
        reference={"A1": -2.0, "B1": 1.2, "A2": -1.0, "B2": -1.2},
        independent=["A1", "A2"],
        loops=loops,
    )


def stewart(loops: str = "constraints") -> gs.Model:
    """6-UPS: a platform on six legs of universal joint, slide with a spring, and ball."""
    parts: list[Any] = []
    frames: dict[str, Any] = {}
    for k in range(6):
        side, at = (1 if k % 2 else -1), (k // 2) * 2.0 * np.pi / 3.0
        B, P = (
            r * np.array([np.cos(x), np.sin(x), 0.0])
            for r, x in ((0.8, at + 0.2 * side), (0.5, at + (np.pi / 3.0 - 0.2) * side))
        )
        frames[f"ball{k}"] = tuple(P)
        leg = [
            gs.Displacement(f"foot{k}", translation=tuple(B)),
            gs.Joint(f"U{k}", "universal", axis="x", second_axis="y"),
            gs.RigidBody(f"cylinder{k}", mass=1.0, com=(0, 0, 0.2), inertia=(0.02, 0.02, 1e-3)),
            gs.Joint(f"P{k}", "prismatic", axis="z"),
            gs.RigidBody(f"piston{k}", mass=0.6, com=(0, 0, -0.2), inertia=(0.01, 0.01, 5e-4)),
            gs.Joint(f"S{k}", "spherical"),
        ]
        parts += [gs.chain("world", *leg), gs.connect(f"S{k}.b", f"plate.ball{k}")]
        parts += [gs.Spring(f"k{k}", stiffness=4000.0, rest=0.85, ground=True), gs.connect(f"P{k}.shaft", f"k{k}.a")]
    plate = gs.RigidBody("plate", mass=10.0, inertia=(0.4, 0.4, 0.8), frames=frames)
    return gs.assemble(
        "stewart",
        gs.chain("world", gs.Joint("pose", "free"), plate),
        *parts,
        reference={"pose": [0.02, -0.01, 0.8, 0.02, 0.01, -0.02, 1.0], **{f"P{k}": 0.85 for k in range(6)}},
        loops=loops,
    )


def bricard() -> gs.Model:
    """IFToMM A04: six hinges on a cube, mobility one, two equations that say nothing new."""
    P = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1.0)])
    links: list[Any] = []
    for k in range(5):
        u, moments = P[k + 1] - P[k], [1.01 / 12.0] * 3
        moments[int(np.argmax(np.abs(u)))] = 0.01 / 6.0
        body = gs.RigidBody(f"rod{k}", mass=1.0, com=tuple(u / 2), inertia=tuple(moments), frames={"end": tuple(u)})
        links += [gs.chain("world" if k == 0 else f"rod{k - 1}.end", hinge(f"H{k}", "yzxyz"[k]), body)]
    return gs.assemble(
        "bricard",
        *links,
        gs.chain("world", gs.Displacement("last", translation=tuple(P[5])), hinge("H5", "x")),
        gs.connect("H5.b", "rod4.end"),
        gravity=(0, -9.81, 0),
        loops="constraints",
    )


def slider_crank(loops: str = "constraints") -> gs.Model:
    """A driven crank with a rotor behind gears, a rod, and a slider on a spring with a damper."""
    slider = gs.RigidBody("slider", mass=0.5, inertia=(1e-3, 1e-3, 1e-3))
    model = gs.assemble(
        "slider_crank",
        gs.chain("world", hinge("A"), rod("crank", 0.2), hinge("B"), rod("conrod", 0.6)),
        gs.chain(
            "world", gs.Displacement("rail", translation=(0.1, 0, 0)), gs.Joint("S", "prismatic", axis="x"), slider
        ),
        gs.chain("slider.origin", hinge("C")),
        gs.connect("C.b", "conrod.end"),
        gs.Spring("spring", stiffness=80.0, rest=0.5, ground=True),
        gs.Damper("damper", damping=0.5, ground=True),
        gs.connect("S.shaft", "spring.a"),
        gs.connect("S.shaft", "damper.a"),
        reference={"A": 0.7, "B": -0.9, "S": 0.6},
        independent=["A"],
        loops=loops,
    )
    return model.with_drive("A", rotor_inertia=1e-4, gear_ratio=12.0, viscous=0.02)


def floating(loops: str = "constraints") -> gs.Model:
    """The four-bar on a base that floats."""
    frame = gs.RigidBody("frame", mass=2.0, inertia=(0.2, 0.3, 0.2), frames={"a": (0, 0, 0.1), "d": (1, 0, 0.1)})
    return gs.assemble(
        "floating_four_bar",
        gs.chain("world", frame),
        gs.chain("frame.a", hinge("A"), rod("crank", 0.3), hinge("B"), rod("coupler", 0.9)),
        gs.chain("frame.d", hinge("D"), rod("rocker", 0.7)),
        gs.chain("coupler.end", hinge("C")),
        gs.connect("C.b", "rocker.end"),
        base="free",
        reference={"A": -1.0, "B": 0.4823821, "D": -1.6506082},
        independent=["A"],
        loops=loops,
    )


MECHANISMS: dict[str, Callable[[], gs.Model]] = {
    "four-bar": four_bar, "five-bar": five_bar, "stewart": stewart, "bricard": bricard, "slider-crank": slider_crank,
    "floating four-bar": floating,
}  # fmt: skip
STIRRED = {"five-bar": [0.5, -0.5], "four-bar": [1.0], "slider-crank": [2.0], "floating four-bar": [3.0]}
"""Rates of the independent joints at the start; others begin at rest."""


def stirred(model: gs.Model, name: str) -> Any:
    """v0 (nv,): rates with which the loops stay closed."""
    rates = STIRRED.get(name, [])
    v = np.zeros(model.nv)
    if model.context.base == "free":
        v[:6] = 0.3, -0.5, 0.2, 0.1, 0.0, -0.2
    joints = {"five-bar": ["A1", "A2"]}.get(name, ["A"])
    for joint, rate in zip(joints, rates, strict=False):
        v[model.layout.of[joint].v] = rate
    if not rates or not kept_network(model).closures:
        return v
    return gs.close(model, gs.neutral(model), v, keep=joints)[1]
