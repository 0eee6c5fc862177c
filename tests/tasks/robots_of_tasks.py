"""Robots of all kinds for tests of tasks: trees, free bases, quaternions, followers, closed loops, flexible links."""

from __future__ import annotations

import numpy as np

import gyrostat as gs
from tests.support.loop_models import five_bar, four_bar


def arm7() -> gs.Model:
    """Seven hinges, as a redundant arm has them, with limits."""
    parts: list = []
    for k, axis in enumerate("zyzyzyz"):
        joint = gs.Joint(f"j{k}", "revolute", axis=axis, lower=-2.5, upper=2.5, velocity_limit=2.0)
        body = gs.RigidBody(
            f"l{k}", mass=1.0, com=(0, 0, 0.1), inertia=(0.01, 0.01, 0.002), frames={"end": (0.02, 0, 0.22)}
        )
        parts += [joint, body]
    return gs.assemble("arm7", gs.chain("world", *parts))


def with_gripper() -> gs.Model:
    """An arm of five hinges with two fingers, one of which follows the other."""
    arm = [
        part
        for k, axis in enumerate("zyyyx")
        for part in (
            gs.Joint(f"j{k}", "revolute", axis=axis, lower=-3, upper=3),
            gs.RigidBody(f"l{k}", mass=1.0, com=(0, 0, 0.1), inertia=(0.01, 0.01, 0.01), frames={"end": (0, 0, 0.3)}),
        )
    ]
    fingers = [
        gs.chain(
            "l4.end",
            gs.Joint(
                f"finger{k}", "prismatic", axis="y", lower=0.0 if k == 0 else -0.03, upper=0.04 if k == 0 else 0.0
            ),
            gs.RigidBody(f"tip{k}", mass=0.05, inertia=(1e-4, 1e-4, 1e-4)),
        )
        for k in range(2)
    ]
    follow = gs.Gear("mimic", -1.0)
    return gs.assemble(
        "gripper", gs.chain("world", *arm), *fingers, follow,
        gs.connect("finger0.shaft", "mimic.joint"), gs.connect("finger1.shaft", "mimic.motor"),
    )  # fmt: skip


ROBOTS = {
    "seven hinges": arm7,
    "humanoid, free base": gs.robots.humanoid,
    "random tree": lambda: gs.robots.tree(3, 6, base="fixed"),
    "random tree, floating": lambda: gs.robots.tree(11, 5, base="free"),
    "four-bar in minimal coordinates": four_bar,
    "gripper": with_gripper,
    "flexible arm": lambda: gs.robots.flexible_arm(),
    "five-bar as constraints": lambda: five_bar(loops="constraints"),
}


def tip(model: gs.Model) -> str:
    """A frame far from the base."""
    ports = [name for name in gs.network(model).located if name.endswith((".origin", ".tip", ".end"))]
    return ports[-1]


def pose(model: gs.Model, q: np.ndarray, frame: str) -> np.ndarray:
    return gs.fk(model, q)[frame].matrix
