"""Torsional and rolling friction in Moreau's steps: closed forms, moments within their bounds, energy, impacts."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.contact_scenes import energy, on_ground

G = 9.81
R, MASS = 0.1, 2.0
INERTIA = 0.4 * MASS * R * R
REST = [0, 0, R, 0, 0, 0, 1]


def ball(friction: float = 0.5, **law) -> gs.Model:
    solid = gs.Shape(kind="sphere", size=(R,), role="collision")
    body = gs.RigidBody("ball", mass=MASS, inertia=(INERTIA,) * 3, shapes=[solid])
    flight = gs.chain("world", gs.Joint("flight", "free"), body)
    return gs.assemble("yard", flight, gs.Ground("floor", friction=friction, **law))


def run(model: gs.Model, v0, q0=REST, t_end=1.0, dt=1e-3):
    return gs.simulate(model, q0=q0, v0=v0, t_end=t_end, method="moreau", dt=dt)


@pytest.mark.parametrize("torsional", [0.005, 0.02])
def test_a_spinning_ball_comes_to_rest_when_torsional_friction_says_so(torsional):
    """dw/dt = -torsional m g / I; it stands still for ever after."""
    result = run(ball(torsional=torsional), [0, 0, 10.0, 0, 0, 0])
    slower = torsional * MASS * G / INERTIA
    exact = np.maximum(10.0 - slower * result.t, 0.0)
    np.testing.assert_allclose(result.v[:, 2], exact, atol=1e-9)
    rest = result.t[np.argmax(np.abs(result.v[:, 2]) < 1e-9)]
    assert 0.0 <= rest - 10.0 / slower < 1.1e-3
    turning = result.contact_moments["ball|floor"][1 : int(10.0 / slower / 1e-3), 0]
    np.testing.assert_allclose(turning, -torsional * MASS * G, rtol=1e-9)
    np.testing.assert_allclose(result.q[:, :3], np.broadcast_to(REST[:3], (len(result.t), 3)), atol=1e-12)


def test_a_rolling_ball_is_stopped_by_rolling_friction_where_the_closed_form_says():
    """(I + m r^2) dw/dt = -rolling m g without slipping: a = (5/7) rolling g / r, distance v^2/(2 a)."""
    rolling, errors = 0.005, []
    distance = 1.0 / (2 * (5 / 7) * rolling * G / R)
    for dt in (4e-3, 2e-3, 1e-3):
        result = run(ball(rolling=rolling), [0, 1.0 / R, 0, 1.0, 0, 0], t_end=4.0, dt=dt)
        np.testing.assert_allclose(result.v[-1], 0.0, atol=1e-12)
        errors.append(abs(result.q[-1, 0] - distance))
        moments = result.contact_moments["ball|floor"][1:]
        most = rolling * result.contact_forces["ball|floor"][1:, 0]
        assert np.all(np.hypot(moments[:, 1], moments[:, 2]) <= most + 1e-9)
    assert errors[-1] < 5e-4 and errors[0] > 2.5 * errors[-1]


def test_a_ball_on_a_slope_stays_while_rolling_friction_is_larger_than_the_angle():
    """It rolls as soon as tan(angle) > rolling / r."""
    for angle, rolls in ((0.04, False), (0.06, True)):
        level = ball(rolling=0.05 * R)
        tilted = gs.UniformGravity(g=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
        model = gs.Model(level.name, level.entities, level.connections, gs.Context(gravity=tilted))
        result = run(model, np.zeros(6), t_end=0.5)
        a = (5 / 7) * G * (np.sin(angle) - 0.05 * np.cos(angle)) if rolls else 0.0
        np.testing.assert_allclose(result.q[-1, 0], a * 0.125, atol=1e-4 if rolls else 1e-12)


def test_moments_of_friction_act_in_cut_forces():
    """The free joint transmits no torque: that of the contact is in it."""
    result = run(ball(torsional=0.01), [0, 0, 10.0, 0, 0, 0], t_end=0.1)
    np.testing.assert_allclose(result.port_forces("flight.b")["flight.b"][1:], 0.0, atol=1e-9)


def test_moments_are_saved_with_a_result(tmp_path):
    result = run(ball(torsional=0.01), [0, 0, 10.0, 0, 0, 0], t_end=0.01)
    result.save(tmp_path / "spin.gyro")
    again = gs.load_result(tmp_path / "spin.gyro")
    np.testing.assert_array_equal(again.contact_moments["ball|floor"], result.contact_moments["ball|floor"])


def test_an_impact_with_spin_gives_a_torsional_impulse_within_its_bound():
    """From 1 m, e = 0.5: the normal impulse (1 + e) m v takes up to torsional times as much from the spin."""
    model = ball(torsional=0.01, restitution=0.5)
    v = 2.0
    result = run(model, [0, 0, 100.0, 0, 0, -v], q0=[0, 0, R + 1e-9, 0, 0, 0, 1], t_end=0.01)
    impulse = result.impulses[0].impulse[0]
    np.testing.assert_allclose(impulse, 1.5 * MASS * v, rtol=2e-2)
    np.testing.assert_allclose(100.0 - result.v[-1, 2], 0.01 * impulse / INERTIA, rtol=1e-9)


@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in range(1, 6))])
@pytest.mark.parametrize("kind, size", [("sphere", (0.1,)), ("box", (0.2, 0.3, 0.1)), ("capsule", (0.05, 0.2))])
def test_energy_never_grows_with_all_frictions(kind, size, seed):
    rng = np.random.default_rng(seed)
    law = {
        "torsional": rng.uniform(0, 0.02),
        "rolling": rng.uniform(0, 0.02),
        "restitution": rng.choice([0.0, 0.7, 1.0]),
    }
    model = on_ground(kind, size, friction=rng.uniform(0, 1), **law)
    turn = rng.normal(size=4)
    q0 = [0, 0, 0.35, *(turn / np.linalg.norm(turn))]
    result = run(model, rng.normal(size=6) * [5, 5, 5, 1, 1, 1], q0=q0, t_end=0.8)
    E = energy(model, result.q, result.v)
    assert np.diff(E).max() <= 1e-10 * np.abs(E).max()
    told = result.counters.statistics
    assert told["unsolved_steps"] <= 0.01 * told["contact_steps"]
    assert len(result.contact_moments) > 0
