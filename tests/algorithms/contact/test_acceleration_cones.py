"""Contact forces at an instant: sliding, sticking, and Painleve's rod."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.acceleration_cones import solve_acceleration_cones
from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.errors import ShapeError
from tests.support.random_cones import random_cones

GRAVITY = 9.81


def test_a_sliding_block_is_braked_by_dynamic_friction_one_at_rest_held_by_static():
    mass, push = 2.0, 0.55 * GRAVITY
    G, c = np.eye(6) / mass, np.array([-GRAVITY, push, 0.0] * 2)
    found = solve_acceleration_cones(G, c, ConeLayout(2), 0.6, 0.4, [[0.3, 0.4], [0.0, 0.0]])
    weight = mass * GRAVITY
    np.testing.assert_allclose(found.P[:3], [weight, -0.4 * 0.6 * weight, -0.4 * 0.8 * weight], rtol=1e-10)
    np.testing.assert_allclose(found.P[3:], [weight, -mass * push, 0.0], rtol=1e-9, atol=1e-9)
    assert found.converged and found.situation is None


def painleve_rod(angle: float, rate: float):
    """Rows (normal, x, y) of the lower end of a rod (mass 1 kg, half length 1 m) and their acceleration without force;
    the other end leans by ``angle`` [rad] from the ground towards +x, and the rod turns by ``rate`` [rad/s]."""
    x, z = -np.cos(angle), -np.sin(angle)
    J = np.array([[0.0, 1.0, x], [1.0, 0.0, -z], [0.0, 0.0, 0.0]])
    c = J @ np.array([0.0, -GRAVITY, 0.0]) - rate**2 * np.array([z, x, 0.0])
    return J @ np.diag([1.0, 1.0, 3.0]) @ J.T, c


@pytest.mark.parametrize("rate, kind, many", [(0.0, "inconsistent", 0), (10.0, "indeterminate", 1)])
def test_painleves_rod_is_told_beyond_the_critical_friction(rate, kind, many):
    """1 + 3 cos^2 - 3 mu sin cos of the angle < 0, for a rod that slides against its lean: mu > 4/3 at the least."""
    angle = 1.2
    critical = (1 + 3 * np.cos(angle) ** 2) / (3 * np.sin(angle) * np.cos(angle))
    G, c = painleve_rod(angle, rate)
    below = solve_acceleration_cones(G, c, ConeLayout(1), 9.0, critical * 0.99, [[-1.0, 0.0]])
    beyond = solve_acceleration_cones(G, c, ConeLayout(1), 9.0, critical * 1.01, [[-1.0, 0.0]])
    assert below.converged and below.situation is None
    assert beyond.situation is not None and beyond.situation.kind == kind
    assert beyond.situation.contacts == (0,) and len(beyond.situation.others) == many
    assert beyond.converged == (kind == "indeterminate")
    pressed = 1 + 3 * np.cos(angle) ** 2 - 3 * critical * 1.01 * np.sin(angle) * np.cos(angle)
    for f in beyond.situation.others:
        assert f[0] == pytest.approx(-c[0] / pressed, rel=1e-8)


def test_many_sliding_contacts_obey_their_laws():
    for seed in range(60):
        case = random_cones(seed, free=True)
        k = len(case.layout.sizes)
        rng = np.random.default_rng(seed)
        slip = rng.normal(size=(k, 2)) * (rng.random((k, 1)) < 0.5)
        found = solve_acceleration_cones(case.G, case.c, case.layout, case.mu, 0.5 * case.mu, slip, **case.laws)
        if found.situation is not None:
            continue
        assert found.converged, seed
        np.testing.assert_allclose(found.u, case.G @ found.P + case.c, atol=1e-12 * np.abs(found.u).max() + 1e-12)
        for i, (n, size) in enumerate(zip(case.layout.normals, case.layout.sizes, strict=True)):
            assert found.P[n] >= 0.0 and found.u[n] >= -1e-8 and abs(found.P[n] * found.u[n]) <= 1e-7
            if size > 1 and slip[i].any():
                expected = -0.5 * case.mu[i] * found.P[n] * slip[i] / np.linalg.norm(slip[i])
                np.testing.assert_allclose(found.P[n + 1 : n + 3], expected, atol=1e-12 + 1e-12 * found.P[n])


def test_a_box_that_spins_on_four_points_is_no_case_of_painleve():
    """Its load can be shared in many ways (four normals of rank three); from no forces it is shared alike."""
    mass, moment, a = 2.0, 0.05, 0.2
    corners = np.array([[a, a], [-a, a], [-a, -a], [a, -a]])
    J = np.vstack([[[y, -x, 0, 0, 0, 1], [0, 0, -y, 1, 0, 0], [0, 0, x, 0, 1, 0]] for x, y in corners])
    W = np.diag([1 / moment] * 3 + [1 / mass] * 3)
    slip = np.stack([-corners[:, 1], corners[:, 0]], axis=1)
    found = solve_acceleration_cones(
        J @ W @ J.T, J @ np.array([0, 0, 0, 0, 0, -GRAVITY]), ConeLayout(4), 0.3, 0.3, slip
    )
    wrench = J.T @ found.P
    assert found.converged and found.situation is None
    np.testing.assert_allclose(wrench[2], -0.3 * mass * GRAVITY * a * np.sqrt(2), rtol=1e-9)
    np.testing.assert_allclose(wrench[5], mass * GRAVITY, rtol=1e-9)


def test_slip_has_a_row_for_each_contact():
    with pytest.raises(ShapeError, match=r"solve_acceleration_cones: slip has shape \(2,\), expected \(1, 2\)"):
        solve_acceleration_cones(np.eye(3), np.zeros(3), ConeLayout(1), 0.1, 0.1, [0.0, 0.0])
