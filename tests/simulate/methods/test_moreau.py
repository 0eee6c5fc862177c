"""Moreau's time stepping against closed forms: balls that bounce, blocks that slide and rest, stacks."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from tests.support.contact_scenes import energy, heap, on_ground

G = 9.81
STEP = 1e-3


def run(model: gs.Model, q0, v0=None, t_end=1.0, dt=STEP, **options):
    return gs.simulate(model, q0=q0, v0=v0, t_end=t_end, method="moreau", dt=dt, **options)


def bounced(t: float, height: float, e: float) -> float:
    """Height of a point that falls from rest, at a time t."""
    fall = np.sqrt(2 * height / G)
    if t < fall:
        return height - G * t * t / 2
    v, t = e * G * fall, t - fall
    while t > 2 * v / G:
        t, v = t - 2 * v / G, e * v
        if v < 1e-9:
            return 0.0
    return v * t - G * t * t / 2


@pytest.mark.parametrize("e", [0.5, 0.9, 1.0])
def test_a_bouncing_ball_converges_with_order_one(e):
    model = on_ground("sphere", (0.1,), friction=0.5, restitution=e)
    errors = []
    for dt in 8e-3 * 0.5 ** np.arange(7):
        result = run(model, [0, 0, 1.1, 0, 0, 0, 1], t_end=1.5, dt=dt, t_eval=np.linspace(0.0, 1.5, 31))
        exact = [bounced(t, 1.0, e) for t in result.t]
        errors.append(np.mean(np.abs(result.q[:, 2] - 0.1 - exact)))
    assert np.polyfit(np.arange(7), np.log2(errors), 1)[0] < -0.85
    assert errors[-1] < 2e-3


def test_free_fall_is_exact():
    model = on_ground("sphere", (0.1,), friction=0.5)
    result = run(model, [0, 0, 2.0, 0, 0, 0, 1], [0, 0, 0, 1.0, 0, 0], t_end=0.5)
    np.testing.assert_allclose(result.q[-1, :3], [0.5, 0, 2.0 - G * 0.125], atol=1e-12)


@pytest.mark.parametrize("mu, slides", [(0.5, True), (0.65, False)])
def test_a_block_on_a_slope_slides_or_stays(mu, slides):
    angle = np.deg2rad(30.0)
    level = on_ground("box", (0.2, 0.3, 0.1), mass=2.0, friction=mu)
    tilted = gs.UniformGravity(g=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    model = gs.Model(level.name, level.entities, level.connections, gs.Context(gravity=tilted))
    result = run(model, [0, 0, 0.05, 0, 0, 0, 1], t_end=0.5)
    a = G * (np.sin(angle) - mu * np.cos(angle)) if slides else 0.0
    np.testing.assert_allclose(result.q[-1, 0], a * 0.125, atol=1e-9)
    np.testing.assert_allclose(result.v[-1, 3], a * 0.5, atol=1e-9)
    forces = np.array([f for f in result.contact_forces.values()]).sum(axis=0)[1:]
    np.testing.assert_allclose(forces[:, 0], 2.0 * G * np.cos(angle), rtol=1e-7)
    np.testing.assert_allclose(forces[:, 1], -2.0 * (G * np.sin(angle) - a), rtol=1e-7)


@pytest.mark.parametrize("turned", [False, True])
def test_a_box_rests_on_its_corners_for_good(turned):
    """Four corners carry it, eight candidates are there: redundant rows."""
    model = on_ground("box", (0.2, 0.3, 0.1), mass=2.0, friction=0.5)
    q0 = [0, 0, 0.1, 0, np.sqrt(0.5), 0, np.sqrt(0.5)] if turned else [0, 0, 0.05, 0, 0, 0, 1]
    result = run(model, q0, t_end=2.0)
    assert np.abs(result.q - result.q[0]).max() < 1e-9
    assert np.abs(result.v).max() < 1e-8
    total = sum(f[-1] for f in result.contact_forces.values())
    np.testing.assert_allclose(total, [2.0 * G, 0.0, 0.0], atol=1e-6)


def test_a_sliding_block_stops_where_friction_says():
    model = on_ground("box", (0.2, 0.3, 0.1), mass=2.0, friction=0.5)
    result = run(model, [0, 0, 0.05, 0, 0, 0, 1], [0, 0, 0, 1.0, 0.3, 0], t_end=0.5)
    v = np.hypot(1.0, 0.3)
    np.testing.assert_allclose(result.q[-1, :2], np.array([1.0, 0.3]) * v / (2 * 0.5 * G), atol=1e-6)
    phases = [x.phase for x in result.contact_phases if x.name == "body---|ground"]
    assert phases == ["slide", "stick"] and np.abs(result.v[-1]).max() < 1e-9


def test_static_friction_holds_what_dynamic_friction_does_not():
    angle = np.arctan(0.5)
    tilted = gs.UniformGravity(g=(G * np.sin(angle), 0.0, -G * np.cos(angle)))
    level = on_ground("box", (0.2, 0.3, 0.1), friction=(0.6, 0.3))
    model = gs.Model(level.name, level.entities, level.connections, gs.Context(gravity=tilted))
    at_rest = run(model, [0, 0, 0.05, 0, 0, 0, 1], t_end=0.2)
    moving = run(model, [0, 0, 0.05, 0, 0, 0, 1], [0, 0, 0, 0.1, 0, 0], t_end=0.2)
    assert abs(at_rest.q[-1, 0]) < 1e-9
    a = G * np.cos(angle) * (0.5 - 0.3)
    np.testing.assert_allclose(moving.v[-1, 3], 0.1 + a * 0.2, rtol=1e-6)


def test_a_rolling_ball_ends_with_five_sevenths_of_its_speed():
    model = on_ground("sphere", (0.1,), inertia=(0.004, 0.004, 0.004), friction=0.3)
    result = run(model, [0, 0, 0.1, 0, 0, 0, 1], [0, 0, 0, 2.0, 0, 0], t_end=1.0)
    R = gs.fk(model, result.q[-1])["body"].R
    np.testing.assert_allclose(R @ result.v[-1, 3:], [2.0 * 5 / 7, 0, 0], atol=1e-5)


def test_a_stack_of_balls_stands_and_carries_its_weight():
    masses = (1.0, 2.0, 3.0)
    model = heap([("sphere", (0.1,), m) for m in masses], friction=0.5)
    q0 = np.concatenate([[0, 0, 0.1 + 0.2 * k, 0, 0, 0, 1] for k in range(3)])
    result = run(model, q0, t_end=0.3)
    assert np.abs(result.q - q0).max() < 1e-8
    forces = {name: f[-1, 0] for name, f in result.contact_forces.items()}
    np.testing.assert_allclose(forces["body0|ground"], 6.0 * G, rtol=1e-7)
    np.testing.assert_allclose(forces["body1|body2"], -0.0 + 3.0 * G, rtol=1e-7)


@pytest.mark.parametrize("ratio", [1e-3, 1e3])
def test_masses_a_thousand_times_apart_rest_on_each_other(ratio):
    model = heap([("sphere", (0.1,), 1.0), ("sphere", (0.1,), ratio)], friction=0.5)
    result = run(model, [0, 0, 0.1, 0, 0, 0, 1, 0, 0, 0.3, 0, 0, 0, 1], t_end=0.1)
    assert np.abs(result.v).max() < 1e-7 and result.counters.statistics["unsolved_steps"] == 0


def test_penetration_is_taken_back():
    model = on_ground("box", (0.2, 0.3, 0.1), friction=0.5)
    result = run(model, [0, 0, 0.04, 0, 0, 0, 1], t_end=0.2)
    assert result.q[-1, 2] == pytest.approx(0.05, abs=1e-8)
    assert np.abs(result.v).max() < 1e-9, "what was below comes up without gaining speed"


def test_contacts_are_found_before_they_penetrate():
    model = on_ground("sphere", (0.1,), friction=0.5)
    result = run(model, [0, 0, 1.1, 0, 0, 0, 1], dt=5e-3)
    assert result.q[:, 2].min() > 0.1 - 1e-12
    assert abs(result.q[-1, 2] - 0.1) < 1e-4
    np.testing.assert_allclose(sum(x.impulse[0] for x in result.impulses), np.sqrt(2 * G), rtol=0.02)


def test_energy_of_a_tumbling_box_never_grows():
    rng = np.random.default_rng(0)
    for e in (0.0, 0.5, 1.0):
        model = on_ground("box", (0.2, 0.3, 0.1), mass=2.0, friction=0.5, restitution=e)
        q0 = np.r_[0, 0, 0.5, rng.normal(size=4)]
        q0[3:] /= np.linalg.norm(q0[3:])
        result = run(model, q0, 3.0 * rng.normal(size=6), t_end=2.0)
        E = energy(model, result.q, result.v)
        assert np.diff(E).max() <= 1e-10 * np.abs(E).max()
