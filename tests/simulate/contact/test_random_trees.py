"""Random trees of every joint kind, some geared, fall on the ground by events: energy never grows."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.contact.scenes import expect_sound, gaps

KINDS = {
    "revolute": {"axis": "y"}, "prismatic": {"axis": "x"}, "spherical": {}, "planar": {"axis": "y"},
    "universal": {"axis": "x", "second_axis": "y"}, "cylindrical": {"axis": "y"},
    "helical": {"axis": "y", "pitch": 0.05}, "fixed": {},
}  # fmt: skip
DEFAULT, MANY = 1, 300


def random_tree(seed: int) -> tuple[gs.Model, float, np.ndarray, np.ndarray]:
    """A free body with one to four more, each joined to any earlier one; points on all, some joints geared."""
    rng = np.random.default_rng(seed)
    friction, restitution = float(rng.choice([0.0, 0.3, 0.8])), float(rng.choice([0.0, 0.4, 1.0]))
    parts: list[object] = [gs.chain("world", gs.Joint("root", "free"), body(rng, 0))]
    geared: list[str] = []
    for k in range(1, int(rng.integers(2, 6))):
        kind = str(rng.choice(list(KINDS)))
        joint = gs.Joint(f"j{k}", kind, **KINDS[kind])
        parts.append(gs.chain(f"b{rng.integers(k)}.hip", joint, body(rng, k)))
        geared += [joint.name] if kind in ("revolute", "prismatic") and rng.random() < 0.5 else []
    names = [f"b{k}" for k in range(len(parts))]
    points = [
        gs.chain(f"{name}.toe", gs.ContactPoint(f"p{name}", radius=float(rng.choice([0, 0.05])))) for name in names
    ]
    model = gs.assemble("tree", *parts, *points, gs.Ground("floor", friction=friction, restitution=restitution))  # type: ignore[arg-type]
    for name in geared:
        model = model.with_drive(name, rotor_inertia=1e-5, gear_ratio=30.0, reflected_inertia_only=True)
    q0 = gs.integrate(model, gs.neutral(model), 0.5 * rng.normal(size=model.nv))
    q0[2] += 0.02 - gaps(model, q0).min()  # the lowest point is just above the ground
    return model, friction, q0, 0.3 * rng.normal(size=model.nv)


def body(rng: np.random.Generator, k: int) -> gs.RigidBody:
    frames = {"hip": 0.2 * rng.normal(size=3), "toe": 0.2 * rng.normal(size=3)}
    com = 0.05 * rng.normal(size=3)
    return gs.RigidBody(f"b{k}", mass=0.5 + rng.random(), com=com, inertia=(0.01, 0.012, 0.009), frames=frames)


def expect_tree(seed: int) -> None:
    model, friction, q0, v0 = random_tree(seed)
    run = gs.simulate(model, q0=q0, v0=v0, t_end=0.4)
    assert run.impulses
    expect_sound(model, run, friction, gain=1e-4)


@pytest.mark.parametrize("seed", range(DEFAULT))
def test_a_random_tree_falls_soundly(seed):
    expect_tree(seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(DEFAULT, MANY))
def test_many_random_trees_fall_soundly(seed):
    expect_tree(seed)
