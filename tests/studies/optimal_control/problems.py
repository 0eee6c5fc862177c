"""Small problems that the tests of optimal control share."""

from __future__ import annotations

import numpy as np

import gyrostat as gs


def cart_pole(m1: float = 2.0, m2: float = 0.5, length: float = 0.5) -> gs.Model:
    """The cart-pole of OptimTraj: a point mass on a rod that nothing drives; it hangs at q = 0."""
    return gs.assemble(
        "cartpole",
        gs.chain(
            "world", gs.Joint("cart", "prismatic", axis="x"), gs.RigidBody("c", mass=m1),
            gs.Joint("pole", "revolute", axis="y", passive=True), gs.RigidBody("bob", mass=m2, com=(0, 0, -length)),
        ),
    )  # fmt: skip


def block() -> gs.Model:
    """One kilogram on a line."""
    return gs.assemble("block", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("b", mass=1.0)))


def swing_up(nodes: int, **more: object) -> gs.studies.Phase:
    """OptimTraj, demo/cartPole/MAIN_minForce.m: 0.8 m in 2 s, |u| <= 100 N; the pole turns the other way round y."""
    ends = {"start": {"q": [0, 0], "v": 0}, "end": {"q": [0.8, -np.pi], "v": 0}}
    return gs.studies.Phase(cart_pole(), duration=2.0, nodes=nodes, cost="torque", limits={"u": 100.0}, **ends, **more)
