"""Scenes with contacts: single bodies on the ground, stacks, heaps, robots with points that touch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import gyrostat as gs

INERTIA = (0.004, 0.005, 0.006)


def body(kind: str, size: Sequence[float], mass: float = 1.0, name: str = "body", inertia: Any = INERTIA) -> gs.Model:
    """A free body with one shape above the ground, which the caller adds."""
    shape = gs.Shape(kind=kind, size=tuple(size), role="collision")
    return gs.assemble("scene", gs.chain("world", *_free(name, mass, inertia, [shape])))


def _free(name: str, mass: float, inertia: Any, shapes: Sequence[gs.Shape]) -> list[gs.Entity]:
    return [gs.Joint(f"{name}_free", "free"), gs.RigidBody(name, mass=mass, inertia=inertia, shapes=list(shapes))]


def on_ground(kind: str, size: Sequence[float], mass: float = 1.0, inertia: Any = INERTIA, **law: Any) -> gs.Model:
    """A free body with one shape on a plane."""
    return body(kind, size, mass, inertia=inertia).with_ground(**law)


def heap(shapes: Sequence[tuple[str, tuple[float, ...], float]], **law: Any) -> gs.Model:
    """Free bodies, each (kind, size, mass), that touch each other and the ground."""
    parts = []
    for k, (kind, size, mass) in enumerate(shapes):
        r = max(size) if kind != "capsule" else size[0] + size[1] / 2
        moments = tuple(0.4 * mass * r * r * x for x in (1.0, 0.9, 0.8))
        shape = gs.Shape(kind=kind, size=size, role="collision")
        parts.append(gs.chain("world", *_free(f"body{k}", mass, moments, [shape])))
    pairs = [
        gs.ContactPair(f"body{i}", f"body{j}", name=f"pair{i}_{j}", **law)
        for i in range(len(shapes))
        for j in range(i + 1, len(shapes))
        if "box" not in (shapes[i][0], shapes[j][0])
    ]
    return gs.assemble("heap", *parts, gs.Ground("ground", **law), *pairs)


def random_heap(rng: np.random.Generator) -> tuple[gs.Model, np.ndarray, np.ndarray]:
    """A heap with a state: at rest, stacked, falling, or cutting into each other; all kinds of laws."""
    count = int(rng.integers(1, 5))
    kinds = {"sphere": lambda: (r(),), "capsule": lambda: (r(), 2 * r()), "box": lambda: (r(), 2 * r(), r())}

    def r() -> float:
        return float(rng.choice([0.05, 0.1, 0.2]))

    chosen = [str(rng.choice(list(kinds))) for _ in range(count)]
    shapes = [(kind, kinds[kind](), float(10.0 ** rng.uniform(-2, 2))) for kind in chosen]
    mu, e = float(rng.choice([0.0, 0.3, 1.0, 10.0])), float(rng.choice([0.0, 0.0, 0.5, 1.0]))
    model = heap(shapes, friction=mu, restitution=e)
    q, v = np.array(gs.neutral(model)), np.zeros(model.nv)
    height = 0.0
    for k, (kind, size, _) in enumerate(shapes):
        at = next(block.q for block in model.layout if block.entity == f"body{k}_free")
        turn = rng.normal(size=4) if rng.random() < 0.5 else np.eye(4)[int(rng.choice([3, 3, 0]))]
        half = size[0] if kind == "sphere" else (size[2] / 2 if kind == "box" else size[0] + size[1] / 2)
        height += half
        q[at] = [*(0.05 * rng.normal(size=2) * rng.integers(0, 2)), height, *(turn / np.linalg.norm(turn))]
        height += half * float(rng.choice([1.0, 1.0, 0.5, 2.0]))
    if rng.random() < 0.7:
        v = rng.normal(size=model.nv) * float(rng.choice([0.1, 3.0]))
    return model, q, v


def energy(model: gs.Model, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Kinetic and potential energy [J] along a motion."""
    return np.array([gs.kinetic_energy(model, x, y) + gs.potential_energy(model, x) for x, y in zip(q, v, strict=True)])
