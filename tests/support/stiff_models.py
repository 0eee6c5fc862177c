"""Random stiff, damped, geared models, with laws that drive them along slow ways."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import gyrostat as gs

Array = np.ndarray


class Stiff(NamedTuple):
    """A model, its law, and where it starts, at rest and with springs that are not loaded."""

    model: gs.Model
    law: Callable[[Any, Any, Any], Any]
    q: Array


def size(rng: np.random.Generator, low: float, high: float) -> float:
    """Between 10^low and 10^high."""
    return float(10.0 ** rng.uniform(low, high))


def stiff_model(seed: int) -> Stiff:
    """Two to five hinges, each free, with a stiff gear, or with an elastic one; dampers and gains over five orders.
    The laws pull along ways of up to three radians, which begin slowly; nothing holds the weight at the start."""
    rng = np.random.default_rng(seed)
    parts: list[Any] = ["world"]
    for k in range(int(rng.integers(2, 6))):
        axis = rng.normal(size=3)
        inertia = np.diag(rng.uniform(0.5, 1.0, 3)) * size(rng, -3, -1)
        parts += [
            gs.Displacement(f"shift{k}", translation=tuple(rng.uniform(-0.4, 0.4, 3))),
            gs.Joint(f"joint{k}", "revolute", axis=tuple(axis / np.linalg.norm(axis))),
            gs.RigidBody(f"link{k}", mass=size(rng, -1, 1), com=tuple(rng.uniform(-0.2, 0.2, 3)), inertia=inertia),
        ]
    model, ratios = gs.assemble("stiff", gs.chain(*parts)), {}
    for name in model.dofs:
        kind = rng.integers(3)
        if kind:
            ratio = size(rng, 0, 2.3)
            drive = {"rotor_inertia": size(rng, -6, -4), "gear_ratio": ratio, "viscous": size(rng, -1, 4)}
            if kind == 2:
                drive |= {"stiffness": size(rng, 3, 6), "damping": size(rng, 0, 3)}
                ratios[name] = ratio
            model = model.with_drive(name, **drive)
    joints = {name: k for k, name in enumerate(model.dofs) if "_drive" not in name}
    of = np.array([joints[name.split("_drive")[0]] for name in model.dofs])
    N = np.array([ratios[name.split("_drive")[0]] if "_drive" in name else 1.0 for name in model.dofs])
    k, d = (np.array([size(rng, low, high) for _ in N]) / N**2 for low, high in ((0, 3), (-1, 4)))
    start, way = (N * rng.uniform(-x, x, len(joints))[of] for x in (1.0, 1.5))
    w = rng.uniform(1.0, 4.0)

    def law(t: Any, q: Any, v: Any) -> Any:
        return k * (start + way * (1.0 - np.cos(w * t)) - q) + d * (w * way * np.sin(w * t) - v)

    return Stiff(model, law, start)
