"""Laws of impact: closed forms, Newton's cradle, and energy that never grows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.algorithms.contact.impact_laws import LAWS, impact
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError
from tests.support.random_cones import random_cones

every_law = pytest.mark.parametrize("law", LAWS)


@every_law
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_ball_returns_with_e_times_its_speed(law, e):
    found = impact(np.eye(3) / 2.0, [-3.0, 0.0, 0.0], ConeLayout(1), 0.3, e, law)
    np.testing.assert_allclose(found.w, [3.0 * e, 0.0, 0.0], atol=1e-12)
    assert found.gained == pytest.approx(-0.5 * 2.0 * 9.0 * (1 - e * e), abs=1e-11)


@every_law
def test_a_ball_with_spin_rolls_or_slides_on(law):
    """A ball (2/5 m r^2) that comes in at 1 m/s with the tangential speed s: it grips if s <= 7/2 mu (1 + e)."""
    mu, e = 0.2, 0.5
    G = np.diag([1.0, 3.5, 3.5])
    grip = impact(G, [-1.0, 3.4 * mu, 0.0], ConeLayout(1), mu, 0.0, law)
    slide = impact(G, [-1.0, 6.0 * mu, 0.0], ConeLayout(1), mu, e, law)
    np.testing.assert_allclose(grip.w, [0.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(slide.w, [e, 6.0 * mu - 3.5 * mu * (1 + e), 0.0], atol=1e-12)


@every_law
def test_a_rod_that_falls_on_its_end_turns(law):
    """Half length l, moment m l^2/3, level: impulse P = (1 + e) m w/4 at the end (Routh)."""
    mass, half, speed, e = 2.0, 0.5, 3.0, 0.6
    G = np.array([[1 / mass + half**2 / (mass * half**2 / 3)]])
    found = impact(G, [-speed], ConeLayout((1,)), 0.0, e, law)
    assert found.P[0] == pytest.approx((1 + e) * mass * speed / 4, rel=1e-12)


def test_newtons_cradle_passes_the_motion_on_in_sequence_and_shares_it_at_once():
    J, v = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]]), np.array([1.0, 0.0, 0.0])
    after = {law: v + J.T @ impact(J @ J.T, J @ v, ConeLayout((1, 1)), 0.0, 1.0, law).P for law in LAWS}
    np.testing.assert_allclose(after["sequential"], [0.0, 0.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(after["poisson"], np.array([-1.0, 2.0, 2.0]) / 3, atol=1e-11)
    np.testing.assert_allclose(after["newton"], np.array([-1.0, 2.0, 2.0]) / 3, atol=1e-11)


@pytest.mark.parametrize("balls, moving", [(5, 1), (5, 2), (7, 3)])
def test_as_many_balls_leave_the_cradle_as_have_come(balls, moving):
    J = np.eye(balls - 1, balls, 1) - np.eye(balls - 1, balls)
    v = (np.arange(balls) < moving).astype(float)
    found = impact(J @ J.T, J @ v, ConeLayout((1,) * (balls - 1)), 0.0, 1.0, "sequential")
    np.testing.assert_allclose(v + J.T @ found.P, v[::-1], atol=1e-11)


def test_newtons_law_is_held_back_where_it_gains_energy():
    """Kane's double pendulum on rough ground [Kane, Levinson 1985]: two equal rods (l, m) that hang at 20 and 30
    degrees from the vertical, falling with 0.1 and 0.2 rad/s, e = 0.5, mu = 0.5."""
    a, b = np.radians([20.0, 30.0])
    M = np.array([[4 / 3, 0.5 * np.cos(a - b)], [0.5 * np.cos(a - b), 1 / 3]])
    rows = np.array([[np.sin(a), np.sin(b)], [np.cos(a), np.cos(b)], [0.0, 0.0]])  # height and x of the tip
    w = rows @ np.array([-0.1, -0.2])
    G = rows @ np.linalg.solve(M, rows.T)
    found = impact(G, w, ConeLayout(1), 0.5, 0.5, "newton")
    bare = w + G @ found.P
    assert 0.0 <= found.scaled < 1.0
    assert found.gained <= 1e-12
    assert bare[0] >= -1e-12
    poisson = impact(G, w, ConeLayout(1), 0.5, 0.5, "poisson")
    assert poisson.scaled == 1.0 and poisson.gained < 0.0


def test_bilateral_rows_take_part():
    """Two masses on a rigid rod: they meet the ground as one."""
    J, W = np.array([[1.0, 0.0], [1.0, -1.0]]), np.diag([1.0, 1.0 / 3.0])
    found = impact(J @ W @ J.T, [-2.0, 0.0], ConeLayout((1,), bilateral=1), 0.0, 0.5)
    np.testing.assert_allclose(found.P, [1.5 * 4.0 * 2.0, -1.5 * 3.0 * 2.0], rtol=1e-10)
    np.testing.assert_allclose(found.w, [1.0, 0.0], atol=1e-10)


def check_energy(seeds: range) -> None:
    for seed in seeds:
        case, rng = random_cones(seed), np.random.default_rng(seed)
        laws: dict[str, Any] = case.laws | {"bounds": np.zeros((case.layout.boxes, 2))}
        many = len(case.layout.one_sided)
        e = rng.choice([0.0, 0.3, 0.9, 1.0], many) if seed % 3 else rng.choice([0.5, 1.0])
        law = LAWS[seed % 3 if seed % 2 else 0]
        found = impact(case.G, case.c, case.layout, case.mu, e, law, **laws)
        before = case.v @ np.linalg.solve(case.W, case.v) / 2
        after = case.v + case.W @ case.J.T @ found.P
        assert np.isfinite(found.P).all()
        assert after @ np.linalg.solve(case.W, after) / 2 <= before * (1 + 1e-10), (seed, law)
        if found.converged:
            s = np.sqrt(np.diag(case.G).max())
            assert found.w[list(case.layout.one_sided)].min() >= -1e-8 * max(np.abs(case.c).max(), s), (seed, law)


def test_kinetic_energy_never_grows():
    check_energy(range(300))


@pytest.mark.slow
def test_kinetic_energy_never_grows_in_thousands_of_impacts():
    check_energy(range(300, 2000))


def test_mistakes_are_named():
    with pytest.raises(GyrostatError, match="impact: law 'hertz' is not one of 'poisson', 'newton', 'sequential'"):
        impact(np.eye(3), np.zeros(3), ConeLayout(1), 0.1, 0.5, "hertz")
    with pytest.raises(NonFiniteError, match="restitution must lie between 0 and 1"):
        impact(np.eye(3), np.zeros(3), ConeLayout(1), 0.1, 1.5)
    with pytest.raises(ShapeError, match=r"restitution has shape \(2,\), expected \(\) or \(1,\)"):
        impact(np.eye(3), np.zeros(3), ConeLayout(1), 0.1, [0.5, 0.5])
