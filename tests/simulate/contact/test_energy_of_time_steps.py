"""Energy never grows in a time step, whatever touches: single bodies, trees, stacks, terrain, single runs and lanes.
The bound is rounding, fixed before the first run; restitution is 0, 1 and between, friction 0 to 1.5."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gyrostat as gs
from tests.support.contact_scenes import energy, on_ground

pytestmark = pytest.mark.filterwarnings("ignore::gyrostat.PerformanceWarning")
ROUNDING = 1e-10
"""Of the largest energy of a run."""
KINDS = {
    "sphere": (0.1,), "box": (0.2, 0.3, 0.1), "capsule": (0.05, 0.2), "cylinder": (0.08, 0.2),
    "ellipsoid": (0.1, 0.08, 0.05),
}  # fmt: skip
MANY = [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(1, 25))]


def law(rng: np.random.Generator, spins: bool = True) -> dict[str, float]:
    mu, e = rng.uniform(0.0, 1.5) * (rng.random() < 0.8), rng.choice([0.0, rng.uniform(0.0, 1.0), 1.0])
    chosen = {"friction": float(mu), "restitution": float(e)}
    if spins and rng.random() < 0.4:
        chosen |= {"torsional": float(rng.uniform(0.0, 0.02)), "rolling": float(rng.uniform(0.0, 0.02))}
    return chosen


def free_body(name: str, kind: str, mass: float = 1.0) -> Any:
    shape = gs.Shape(kind=kind, size=KINDS[kind], role="collision")
    return gs.chain("world", gs.Joint(f"{name}_free", "free"), gs.RigidBody.from_shape(name, shape, mass=mass))


def turn(rng: np.random.Generator) -> np.ndarray:
    x = rng.normal(size=4)
    return x / np.linalg.norm(x)


def expect_no_gain(model: gs.Model, q0: Any, v0: Any, dt: float, t_end: float) -> gs.Result:
    run = gs.simulate(model, q0=q0, v0=v0, t_end=t_end, method="moreau", dt=dt, progress=False)
    E = energy(model, run.q, run.v)
    assert np.diff(E).max() <= ROUNDING * np.abs(E).max()
    assert run.counters.statistics["deepest_penetration"] <= 1e-4
    return run


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", MANY)
def test_of_a_body_on_the_ground(kind, seed):
    rng = np.random.default_rng([seed, 1])
    model = gs.assemble("one", free_body("a", kind), gs.Ground("g", **law(rng)))
    q0 = np.array([0, 0, 0.3, *turn(rng)])
    expect_no_gain(model, q0, rng.normal(size=6) * [8, 8, 8, 1, 1, 1], float(rng.choice([5e-4, 1e-3, 2e-3])), 0.6)


@pytest.mark.parametrize("seed", MANY)
def test_of_random_trees(seed):
    rng = np.random.default_rng([seed, 2])
    count = int(rng.integers(2, 6))
    tree = gs.robots.tree(seed, count, gravity=gs.UniformGravity(g=(0.0, 0.0, -9.81)))
    points, places = [f"body{k}.origin" for k in range(count)], gs.fk(tree, gs.neutral(tree))
    low = min(float(places[port].p[2]) for port in points)
    model = tree.with_ground(at=(0.0, 0.0, low - 0.02), points=points, radius=0.01, **law(rng))
    expect_no_gain(model, gs.neutral(tree), 0.7 * rng.normal(size=tree.nv), float(rng.choice([5e-4, 1e-3])), 0.4)


@pytest.mark.parametrize("seed", MANY)
def test_of_shapes_that_tumble_on_each_other(seed):
    pytest.importorskip("coal")
    rng = np.random.default_rng([seed, 3])
    kinds = [str(rng.choice(["box", "box", "cylinder", "ellipsoid"])) for _ in range(2)]
    rules = law(rng)
    bodies = [free_body(f"b{k}", kind, float(rng.uniform(0.3, 3.0))) for k, kind in enumerate(kinds)]
    model = gs.assemble("pile", *bodies, gs.Ground("g", **rules), gs.ContactPair("b0", "b1", name="pair", **rules))
    q0 = np.concatenate([[0, 0, 0.25, *turn(rng)], [0.02, 0.01, 0.55, *turn(rng)]])
    expect_no_gain(model, q0, 1.5 * rng.normal(size=12), 1e-3, 0.5)


@pytest.mark.parametrize("seed", MANY)
def test_on_rough_terrain(seed):
    pytest.importorskip("coal")
    rng = np.random.default_rng([seed, 4])
    x, y = np.linspace(-1.5, 1.5, 31), np.linspace(-1.0, 1.0, 21)
    heights = 0.15 * np.sin(4 * x[None]) * np.cos(3 * y[:, None]) + 0.03 * rng.normal(size=(21, 31))
    surface = gs.ContactSurface(**law(rng))
    field = gs.Shape(kind="height-field", size=(3.0, 2.0, 1.0), heights=heights, contact=surface)
    terrain = gs.chain("world", gs.RigidBody("terrain", mass=0.0, shapes=[field]))
    model = gs.assemble("hills", free_body("a", str(rng.choice(list(KINDS)))), terrain)
    q0 = np.array([0.01, 0.013, 0.5, *turn(rng)])
    expect_no_gain(model, q0, rng.normal(size=6) * [4, 4, 4, 0.3, 0.3, 0.3], 1e-3, 0.4)


@pytest.mark.parametrize("seed", MANY)
def test_in_lanes(seed):
    rng = np.random.default_rng([seed, 5])
    kind, robots, dt = str(rng.choice(["sphere", "box", "capsule", "ellipsoid"])), 8, 1e-3
    kind = "box" if seed == 0 else kind
    model = gs.assemble("one", free_body("a", kind), gs.Ground("g", **law(rng, spins=False)))
    q0 = np.array([[0, 0, 0.3, *turn(rng)] for _ in range(robots)])
    run = gs.rollout(model, q0=q0, v0=rng.normal(size=(robots, 6)) * 4.0, dt=dt, steps=400, method="moreau")
    q, v = run.q.reshape(-1, 7), run.v.reshape(-1, 6)
    E = (gs.kinetic_energy(model, q, v) + gs.potential_energy(model, q)).reshape(-1, robots)
    assert np.diff(E, axis=0).max() <= ROUNDING * np.abs(E).max()


def test_in_free_flight_of_a_body_that_spins_fast_energy_is_kept():
    model = on_ground("box", (0.2, 0.3, 0.1))
    run = gs.simulate(model, q0=[0, 0, 5, 0, 0, 0, 1], v0=[30, 20, 10, 1, 0, 0], t_end=0.5, method="moreau", dt=1e-3)
    E = energy(model, run.q, run.v)
    assert np.ptp(E) <= ROUNDING * E[0]


def test_a_box_that_came_to_rest_is_not_in_the_ground():
    model = on_ground("box", (0.2, 0.3, 0.1), friction=0.5)
    q0 = np.array([0, 0, 0.4, *turn(np.random.default_rng(3))])
    run = gs.simulate(model, q0=q0, v0=[3, 2, 1, 0.5, 0, 0], t_end=3.0, method="moreau", dt=1e-3)
    assert np.abs(run.v[-1]).max() < 1e-9
    assert np.abs(run.q[-1, 2] - np.array([0.05, 0.1, 0.15])).min() <= 2e-9
