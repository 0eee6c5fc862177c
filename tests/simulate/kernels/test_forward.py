"""Accelerations of a run: with regrouped inertias they are those of the bodies as they are."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.tracing.program import run
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant import Plant
from tests.support.random_models import random_state, various_tree

ROBOTS = {
    "two_link": gs.robots.two_link,
    "puma560": gs.robots.puma560,
    "quadruped": gs.robots.quadruped,
    "tree": lambda: gs.robots.tree(3),
    "elastic knee": gs.robots.elastic_knee,
    "differential wrist": gs.robots.differential_wrist,
    "elastic arm": gs.robots.elastic_arm,
}


def accelerations(plant, q, v, tau, t=0.0):
    program = plant.kernels.forward
    (a,) = run(program, [t], q, v, tau, np.zeros(len(plant.active.directions)), plant.live)
    return np.array(a, dtype=float)


def expect_accelerations(model, seed=0):
    """gs.aba knows nothing of regrouping, and is compared with Pinocchio elsewhere."""
    rng = np.random.default_rng(seed)
    plant = Plant(model)
    for _ in range(3):
        q, v, tau = random_state(model, rng)
        want = gs.aba(model, q, v, tau)
        assert accelerations(plant, q, v, tau) == pytest.approx(want, rel=1e-9, abs=1e-9 * np.abs(want).max())


@pytest.mark.parametrize("name", ROBOTS)
def test_accelerations_of_a_run_are_those_of_forward_dynamics(name):
    expect_accelerations(ROBOTS[name]())


@pytest.mark.parametrize("seed", range(8))
def test_accelerations_of_random_trees_are_those_of_forward_dynamics(seed):
    expect_accelerations(various_tree(seed, 12, momentum=True), seed)


def test_inertias_of_a_run_are_regrouped_where_gravity_is_the_same_everywhere():
    field = gs.CentralGravity(mu=4e14, centre=(0.0, 0.0, -6.4e6))
    for gravity, regrouped in (((0.0, 0.0, -9.81), True), ((0.0, 0.0, 0.0), True), (field, False)):
        model = gs.robots.puma560().replace({"context.gravity": gravity})
        net, _ = Plant(model).kernels._scene(0.0, np.zeros(0), True)
        assert ("regroup-inertia" in net.rules) == regrouped


def test_in_a_field_every_body_stays_where_it_is():
    field = gs.CentralGravity(mu=50.0, centre=(0.0, 0.0, -4.0))
    expect_accelerations(gs.robots.puma560().replace({"context.gravity": field}))


def test_properties_that_are_inputs_are_regrouped_as_numbers_are():
    model = gs.robots.puma560()
    bodies = [path.removesuffix(".com") for path in model.paths() if path.endswith(".com")]
    mass, com = f"{bodies[-1]}.mass", f"{bodies[-1]}.com"
    live = {mass: np.array(3.0), com: np.array([0.1, -0.05, 0.2]), "context.gravity": np.array([1.0, 2.0, -9.0])}
    other = model.replace({mass: 3.0, com: live[com], "context.gravity": live["context.gravity"]})
    plant, rng = Plant(model, parameters=Parameters(live)), np.random.default_rng(4)
    q, v, tau = random_state(model, rng)
    assert accelerations(plant, q, v, tau) == pytest.approx(gs.aba(other, q, v, tau), rel=1e-9, abs=1e-9)
