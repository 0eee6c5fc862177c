"""Where time steps with contact begin: bodies that touch, or are within each other; samples of a controller on the way.
Only the lift out of what a start has put into each other adds energy, and no more than the lift takes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import gyrostat as gs
from tests.simulate.contact.test_energy_of_time_steps import ROUNDING, free_body, turn
from tests.support.contact_scenes import energy

G = 9.81
HALF = {"box": 0.05, "sphere": 0.1, "capsule": 0.15}
FAST = np.array([20.0, -15.0, 10.0, 0.5, 0.3, -0.2])


def motions(kind: str, depth: float, v0: np.ndarray, t_end: float = 0.2) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
    """Heights and energies of a body of 1 kg that begins ``depth`` within the ground, in a single run and in lanes."""
    model = gs.assemble("one", free_body("a", kind), gs.Ground("g", friction=0.8))
    q0, dt = np.array([0.0, 0.0, HALF[kind] - depth, 0.0, 0.0, 0.0, 1.0]), 1e-3
    run = gs.simulate(model, q0=q0, v0=v0, t_end=t_end, method="moreau", dt=dt)
    lanes = gs.rollout(
        model, q0=np.stack([q0, q0]), v0=np.stack([v0, v0]), dt=dt, steps=round(t_end / dt), method="moreau"
    )
    states = {"run": (run.q, run.v), "lanes": (lanes.q[:, 0], lanes.v[:, 0])}
    return {name: (q[:, 2], energy(model, q, v)) for name, (q, v) in states.items()}


@pytest.mark.parametrize("kind", HALF)
def test_what_begins_where_it_touches_gains_nothing(kind):
    for _, E in motions(kind, 0.0, FAST).values():
        assert np.diff(E).max() <= ROUNDING * E[0]


@pytest.mark.parametrize("kind", HALF)
@pytest.mark.parametrize("depth", [1e-3, 0.02])
def test_what_begins_at_rest_in_the_ground_is_lifted_out_by_its_depth(kind, depth):
    for z, E in motions(kind, depth, np.zeros(6)).values():
        assert z[-1] == pytest.approx(HALF[kind], abs=2e-9)
        assert E[-1] - E[0] == pytest.approx(G * depth, abs=1e-7)


@pytest.mark.parametrize("kind", HALF)
def test_what_begins_moving_in_the_ground_gains_the_energy_of_that_lift_at_most(kind):
    for _, E in motions(kind, 0.02, FAST).values():
        gains = np.diff(E)
        assert gains[gains > 0.0].sum() <= G * 0.02 + 1e-6
        assert gains[100:].max() <= ROUNDING * E[0]


def test_what_leaves_the_ground_it_began_in_by_itself_is_lifted_alike_in_lanes():
    (z, _), (lanes, _) = motions("sphere", 0.01, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 1.7]), 0.02).values()
    np.testing.assert_allclose(z, lanes, atol=1e-12)


class Sampled:
    """A digital law that Python calls, and that does nothing."""

    states, memory, sample_time = (), (0.0,) * 6, 0.002

    def output(self, t, x, p, m):
        return {"tau": m}

    def update(self, t, x, p, m):
        return float(str(0.0)) * x["v"]


@pytest.mark.parametrize("seed", [0, 1])
def test_instants_of_sampling_are_no_starts(seed):
    rng = np.random.default_rng(seed)
    model = gs.assemble("one", free_body("a", "box"), gs.Ground("g", friction=0.8))
    q0, v0 = np.array([0.0, 0.0, 0.3, *turn(rng)]), rng.normal(size=6) * [8, 8, 8, 1, 1, 1]
    run = gs.simulate(model, Sampled(), q0=q0, v0=v0, t_end=0.6, dt=1e-3, method="moreau")
    E = energy(model, run.q, run.v)
    assert np.diff(E).max() <= ROUNDING * E[0]


def test_a_reset_into_the_ground_is_lifted_out_as_a_start_is():
    model = gs.assemble("one", free_body("a", "sphere"), gs.Ground("g", friction=0.8))

    def down(t, q, v):
        return np.array([0.0, 0.0, 0.09, 0.0, 0.0, 0.0, 1.0]), np.zeros(6)

    pushed = gs.Event(lambda t, q, v: t - 0.1, reset=down)
    q0 = [0.0, 0.0, 0.1, 0.0, 0.0, 0.0, 1.0]
    run = gs.simulate(model, q0=q0, t_end=0.3, dt=1e-3, method="moreau", events=pushed)
    assert run.q[:, 2].min() == pytest.approx(0.09, abs=1e-9)
    assert run.q[-1, 2] == pytest.approx(0.1, abs=2e-9)


def test_derivatives_know_the_lift_of_a_start():
    model = gs.assemble("one", free_body("a", "capsule"), gs.Ground("g", friction=0.8))
    q0, v0 = np.array([0, 0, 0.14, 0, 0.05, 0, 1.0]), np.array([0.1, 0.2, 0.3, 0.2, 0.1, -0.1])
    q0[3:] /= np.linalg.norm(q0[3:])
    at_end = np.array([1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 0.0])

    def last(steps: np.ndarray) -> np.ndarray:
        q = np.array([gs.integrate(model, q0, x) for x in steps])
        run = gs.rollout(model, q0=q, v0=np.tile(v0, (len(q), 1)), dt=1e-3, steps=12, method="moreau")
        return run.q[-1] @ at_end + run.v[-1].sum(axis=1)

    run = gs.rollout(model, q0=q0[None], v0=v0[None], dt=1e-3, steps=12, method="moreau", every=None)
    found = run.vjp((at_end[None, None], np.ones((1, 1, 6))))["q0"][0]
    step = 1e-6 * np.eye(6)
    np.testing.assert_allclose(found, (last(step) - last(-step)) / 2e-6, atol=1e-5)


def standing_with_an_arm(depth: float) -> tuple[gs.Model, np.ndarray, np.ndarray]:
    """A trunk on three feet whose arm begins ``depth`` within the floor, and efforts that press it down."""
    feet = {"left": (-0.3, -0.2, 0.0), "right": (-0.3, 0.2, 0.0), "front": (0.2, 0.0, 0.0)}
    trunk = gs.RigidBody("trunk", mass=8.0, inertia=(0.2, 0.3, 0.3), frames=feet | {"hip": (0.1, 0.0, 0.2)})
    arm = gs.RigidBody("arm", mass=1.5, com=(0.25, 0, 0), inertia=(0.002, 0.03, 0.03), frames={"tip": (0.5, 0, 0)})
    model = gs.assemble(
        "standing",
        gs.chain("world", gs.Joint("root", "free"), trunk),
        gs.chain("trunk.hip", gs.Joint("shoulder", "revolute", axis="y"), arm),
        gs.chain("arm.tip", gs.ContactPoint("tip")),
        *[gs.chain(f"trunk.{name}", gs.ContactPoint(name)) for name in feet],
        gs.Ground("floor", friction=0.7),
    )
    q0, tau = gs.neutral(model), np.zeros(model.nv)
    q0[7], tau[6] = np.arcsin((0.2 + depth) / 0.5), 3.0
    return model, q0, tau


@pytest.mark.parametrize("depth", [-0.02, 0.01])
def test_a_robot_that_presses_on_the_floor_comes_to_rest_on_it(depth):
    model, q0, tau = standing_with_an_arm(depth)
    run = gs.simulate(model, tau, q0=q0, t_end=2.0, method="moreau", dt=5e-3)
    lanes = gs.rollout(model, np.stack([tau] * 2), q0=np.stack([q0] * 2), dt=5e-3, steps=400, method="moreau")
    for q, v, forces in (
        (run.q, run.v, sum(f[-1, 0] for f in run.contact_forces.values())),
        (lanes.q[:, 0], lanes.v[:, 0], sum(f[-1, 0, 0] for f in lanes.contact_forces.values())),
    ):
        assert np.abs(v[-1]).max() < 1e-9
        assert np.abs(q[-1] - q[-100]).max() < 1e-9
        assert forces == pytest.approx(9.5 * G, rel=1e-4)
        assert 0.5 * np.sin(q[-1, 7]) == pytest.approx(0.2, abs=1e-8)
