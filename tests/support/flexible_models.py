"""Models with flexible beams, for tests of every room."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

import gyrostat as gs

ALUMINIUM = {"area": 4e-4, "I_y": 1.3e-8, "I_z": 2.1e-8, "J": 2.5e-8, "E": 7e9, "G": 2.7e9, "density": 2700.0}
"""A soft beam: E is a tenth of that of the metal."""
MOUNTINGS = (("a", "b"), ("b", "a"), ("tool", "b"))
"""Ports by which a beam is entered and left."""


@cache
def boom_arm(entry: str = "a", leave: str = "b", base: str = "fixed", **beam: Any) -> gs.Model:
    """Two hinges, a beam with two frames along it, a load at its end and one beside it."""
    boom = gs.FlexibleBeam(
        "boom", **(ALUMINIUM | {"length": 1.2} | beam), frames={"mid": 0.5, "tool": (0.9, 0.05, -0.1)}
    )
    hinges = gs.Joint("pan", "revolute", axis="z"), gs.Joint("tilt", "revolute", axis="y")
    load = gs.RigidBody("load", mass=0.7, com=(0.05, 0.02, -0.03), inertia=(1e-3, 2e-3, 1.5e-3))
    beside = gs.RigidBody("beside", mass=0.3, com=(0.0, 0.02, 0.01), inertia=(1e-3, 2e-3, 1.5e-3))
    wires = [("world", "pan.a"), ("pan.b", "tilt.a"), ("tilt.b", f"boom.{entry}"), (f"boom.{leave}", "load")]
    wires.append(("boom.mid" if entry == "tool" else "boom.tool", "beside"))
    return gs.assemble("boom_arm", *hinges, boom, load, beside, *(gs.connect(*w) for w in wires), base=base)


@cache
def cantilever(n: Any, after: tuple[Any, ...] = (), **beam: Any) -> gs.Model:
    """A beam clamped to the world, without gravity; bodies at its end."""
    boom = gs.FlexibleBeam("boom", **(ALUMINIUM | {"length": 1.0, "modes_x": 0} | beam), modes=n)
    wires = [gs.connect("world", "boom.a"), *(gs.connect("boom.b", body.name) for body in after)]
    return gs.assemble("cantilever", boom, *after, *wires, gravity=(0, 0, 0))


def bent_state(model: gs.Model, seed: int = 0) -> tuple[Any, Any, Any]:
    """A state q, v and accelerations of a model whose beams bend visibly."""
    rng = np.random.default_rng(seed)
    small = np.array(["boom." in name for name in model.dofs])
    q, v, a = (rng.normal(size=model.nv) for _ in range(3))
    q[small] *= 0.05
    v[small] *= 0.3
    return q, v, a
