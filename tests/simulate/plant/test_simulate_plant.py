"""A plant: the same numbers compiled and in Python, Jacobians against differences, local coordinates."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.configuration.chart import local_rates, moved
from gyrostat.simulate.plant.plant import Plant


class Controller:
    """A nonlinear law with a state for each rate."""

    def __init__(self, n):
        self.states = np.full(n, 0.1)

    def output(self, t, x, p, m):
        return {"tau": -np.sin(p) * x["v"] + 0.3 * np.cos(t) * p + x["q"][0] ** 2}

    def derivative(self, t, x, p, m):
        return x["v"] - 2.0 * p * x["q"][-1]


def mixed():
    """A free base, a ball joint and a hinge."""
    hub = gs.RigidBody("hub", mass=2.0, com=(0.1, 0, 0), inertia=(0.2, 0.3, 0.4), frames={"left": (0.3, 0, 0)})
    bob = gs.RigidBody("bob", mass=0.5, com=(0, 0.1, -0.4), inertia=(0.02, 0.03, 0.01), frames={"end": (0, 0, -0.5)})
    rod = gs.RigidBody("rod", mass=0.3, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.002))
    links = (gs.Joint("base", "free"), hub, gs.Joint("ball", "spherical"), bob, gs.Joint("hinge", "revolute", axis="x"))
    return gs.assemble("mixed", gs.chain("world", *links, rod))


MODELS = {"two_link": gs.robots.two_link, "mixed": mixed}


@pytest.fixture(scope="module", params=MODELS)
def pair(request):
    """A compiled plant and one in Python, and a state."""
    model = MODELS[request.param]()
    rng = np.random.default_rng(5)
    plants = [Plant(model, Controller(model.nv), compiled) for compiled in (None, False)]
    return plants, (0.7, gs.random_configuration(model, 2), rng.normal(size=model.nv), rng.normal(size=model.nv))


def test_both_ways_give_the_same_numbers(pair):
    (one, two), (t, q, v, p) = pair
    assert not one.why_not_compiled and two.why_not_compiled
    for x, y in zip(one.acceleration(t, q, v, p), two.acceleration(t, q, v, p), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-11, atol=1e-11)
    a, _, tau = one.acceleration(t, q, v, p)
    np.testing.assert_allclose(a, gs.aba(one.model, q, v, tau), rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(one.residual(t, q, v, a, p), 0.0, atol=1e-10)


def test_jacobians_are_those_of_differences_on_the_manifold(pair):
    (one, two), (t, q, v, p) = pair
    a = np.linspace(-1, 1, one.nv)
    h, n = 1e-6, one.nv

    def columns(f, size):
        return np.stack([(f(h * e) - f(-h * e)) / (2 * h) for e in np.eye(size)], axis=1)

    r_q, r_v, r_a = one.derivatives.residual_jacobians(t, q, v, a, p)
    close = {"rtol": 1e-5, "atol": 1e-5}
    for r in (one.residual, two.residual):
        np.testing.assert_allclose(r_q, columns(lambda d, r=r: r(t, one.retract(q, d), v, a, p), n), **close)
        np.testing.assert_allclose(r_v, columns(lambda d, r=r: r(t, q, v + d, a, p), n), **close)
        np.testing.assert_allclose(r_a, columns(lambda d, r=r: r(t, q, v, a + d, p), n), **close)

    def rhs(q, v, p):
        a, p_rate, _ = one.acceleration(t, q, v, p)
        return np.concatenate([v, a, p_rate])

    want = [
        columns(lambda d: rhs(one.retract(q, d), v, p), n),
        columns(lambda d: rhs(q, v + d, p), n),
        columns(lambda d: rhs(q, v, p + d), n),
    ]
    for plant in (one, two):
        np.testing.assert_allclose(plant.derivatives.rhs_jacobian(t, q, v, p), np.hstack(want), rtol=1e-4, atol=1e-4)
    assert one.counters.jacobian_evaluations == 2


def test_local_coordinates_move_with_the_rates(pair):
    """d/ds of moved(q0, x(s)) with x' = local_rates(x, v) is the motion with the rates v."""
    (one, _), (_, q0, v, _) = pair
    rng = np.random.default_rng(8)
    for size in (1e-9, 0.1, 0.3, 2.5):
        x = rng.normal(size=one.nv)
        x *= size / np.abs(x).max()
        h = 1e-6
        rate = local_rates(one.model, x, v)
        ends = [moved(one.model, q0, x + s * h * rate) for s in (-1, 1)]
        np.testing.assert_allclose(one.difference(*ends) / (2 * h), v, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(one.move(q0, x), moved(one.model, q0, x), rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(moved(one.model, q0, np.zeros(one.nv)), q0, atol=1e-15)


def test_retract_and_difference_undo_each_other(pair):
    (one, _), (_, q, v, _) = pair
    np.testing.assert_allclose(one.difference(q, one.retract(q, 0.3 * v)), 0.3 * v, atol=1e-12)


def test_constant_torques_have_no_derivatives():
    plant = Plant(gs.robots.two_link(), [1.0, 2.0])
    assert not any(np.any(x) for x in plant.derivatives.of_source(0.0, np.zeros(2), np.zeros(2), np.zeros(0)))


def test_why_a_torque_is_not_compiled_is_told():
    def law(t, q, v):
        return q if q[0] > 0 else v

    assert "a Python condition" in Plant(gs.robots.two_link(), law).why_not_compiled
    assert Plant(gs.robots.two_link(), compiled=False).why_not_compiled == "not asked for"


def test_a_block_without_efforts_and_odd_sample_times_are_refused():
    class Nothing:
        sample_time = None

        def output(self, t, x, p, m):
            return {"u": x["q"]}

    with pytest.raises(gs.GyrostatError, match="the block Nothing has no output 'tau'"):
        gs.simulate(gs.robots.two_link(), Nothing(), t_end=1.0)
    Nothing.sample_time = 0.0
    with pytest.raises(gs.GyrostatError, match="sample_time of the block Nothing must be positive"):
        gs.simulate(gs.robots.two_link(), Nothing(), t_end=1.0)
