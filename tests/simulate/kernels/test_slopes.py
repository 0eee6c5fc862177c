"""Derivatives that implicit methods ask for: of models where closed forms do not hold, of laws beside quaternions."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.tracing.program import run
from gyrostat.simulate.plant.plant import Plant


def law(t, q, v):
    return -np.sin(q[: len(v)]) - 0.3 * v


def arm(order: str) -> gs.Model:
    """A ball and a hinge, in either order: nq = 5, nv = 4 both times."""
    joints = [gs.Joint("ball", "spherical"), gs.Joint("hinge", "revolute", axis="y")]
    first, second = joints if order == "ball first" else joints[::-1]
    bodies = [gs.RigidBody(name, mass=1.0, com=(0.1, 0.0, -0.3), inertia=(0.1, 0.2, 0.15)) for name in ("one", "two")]
    return gs.assemble(order, gs.chain("world", first, bodies[0]), gs.chain("one", second, bodies[1]))


def differences(plant, q, v, h=1e-6):
    rows = [
        (plant.torque(0.0, gs.integrate(plant.model, q, h * e), v, np.zeros(0))[0]
         - plant.torque(0.0, gs.integrate(plant.model, q, -h * e), v, np.zeros(0))[0]) / (2.0 * h)
        for e in np.eye(plant.nv)
    ]  # fmt: skip
    return np.array(rows).T


@pytest.mark.parametrize("order", ["ball first", "hinge first", "ball first"])
def test_slopes_of_one_law_know_where_the_rotations_of_each_robot_are(order):
    model = arm(order)
    plant, rng = Plant(model, law), np.random.default_rng(3)
    q, v = gs.integrate(model, gs.neutral(model), rng.normal(size=4)), rng.normal(size=4)
    assert plant.derivatives.of_source(0.0, q, v, np.zeros(0)).tau_q == pytest.approx(
        differences(plant, q, v), abs=1e-8
    )


def test_slopes_in_a_field_of_gravity_are_those_of_inverse_dynamics():
    """The closed form does not hold there."""
    field = gs.CentralGravity(mu=50.0, centre=(0.0, 0.0, -4.0))
    model = gs.robots.two_link().replace({"context.gravity": field})
    plant, q, v, a = Plant(model), np.array([0.3, -0.7]), np.array([0.4, 0.2]), np.array([1.0, -2.0])
    program = plant.kernels.slopes
    f_q, f_v, f_a = (
        np.array(x, dtype=float).reshape(2, 2) for x in run(program, [0.0], q, v, a, np.zeros(0), np.zeros(0))
    )
    want = [(gs.rnea(model, q + h, v, a) - gs.rnea(model, q - h, v, a)) / 2e-6 for h in 1e-6 * np.eye(2)]
    assert f_q == pytest.approx(np.array(want).T, abs=1e-7)
    assert f_a == pytest.approx(gs.crba(model, q), abs=1e-12) and np.isfinite(f_v).all()
