"""Contact forces within cones: closed forms, degenerate problems, messages."""

from __future__ import annotations

import numpy as np
import pytest

from gyrostat.algorithms.contact.cone_driver import ConeSolver
from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.algorithms.contact.cone_problem import solve_cones
from gyrostat.errors import NonFiniteError, ShapeError

GRAVITY = 9.81


def compiled(G, c, layout, mu, start=None, tolerance=1e-10, **laws):
    return ConeSolver(layout, mu, **laws)(G, c, start, tolerance)


both = pytest.mark.parametrize("solve", [solve_cones, compiled])


def box_rows(points: np.ndarray) -> np.ndarray:
    """Rows (normal z, x, y) of points [m] of a body, on its rates (angular, linear)."""
    rows = []
    for x, y, z in points:
        cross = np.array([[0.0, z, -y], [-z, 0.0, x], [y, -x, 0.0]])  # omega x p
        rows.append(np.hstack([cross, np.eye(3)])[[2, 0, 1]])
    return np.vstack(rows)


@both
@pytest.mark.parametrize("turn", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("slope", [0.1, 0.4, 0.49, 0.51, 0.7])
def test_a_block_on_a_slope_sticks_below_the_angle_of_friction_and_slides_above(solve, slope, turn):
    mass, mu, angle = 3.0, 0.5, np.arctan(slope)
    along = GRAVITY * np.sin(angle) * np.array([np.cos(turn), np.sin(turn)])
    found = solve(np.eye(3) / mass, np.array([-GRAVITY * np.cos(angle), *along]), ConeLayout(1), mu)
    normal = mass * GRAVITY * np.cos(angle)
    friction = min(mass * np.linalg.norm(along), mu * normal)
    assert found.converged
    np.testing.assert_allclose(found.P, [normal, *(-along / np.linalg.norm(along) * friction)], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(found.u[1:], along - along / np.linalg.norm(along) * friction / mass, atol=1e-9)


@both
@pytest.mark.parametrize("points", [4, 8])
@pytest.mark.parametrize("push", [0.0, 2.0, 30.0])
def test_a_box_on_redundant_points_keeps_its_weight(solve, points, push):
    """4 and 8 points have 12 and 24 rows of rank 6: the sums of forces are unique."""
    mass, moments = 2.0, np.array([0.02, 0.03, 0.04])
    angles = np.arange(points) * 2 * np.pi / points + 0.3
    where = np.stack([0.2 * np.cos(angles), 0.2 * np.sin(angles), np.zeros(points) - 0.01], axis=1)
    J, W = box_rows(where), np.diag([*(1 / moments), *[1 / mass] * 3])
    c = J @ np.array([0.0, 0.0, 0.0, push / mass, 0.0, -GRAVITY])
    found = solve(J @ W @ J.T, c, ConeLayout(points), 0.6)
    wrench = J.T @ found.P
    assert found.converged and found.residual <= 1e-10
    assert wrench[5] == pytest.approx(mass * GRAVITY, rel=1e-9)
    assert wrench[3] == pytest.approx(-min(push, 0.6 * mass * GRAVITY), rel=1e-8, abs=1e-8)


@both
def test_limits_boxes_and_bilateral_rows_do_what_they_say(solve):
    layout = ConeLayout(0, limits=2, boxes=3, bilateral=1)
    c = np.array([-1.0, 1.0, 0.2, -5.0, 5.0, 3.0])
    found = solve(np.eye(6), c, layout, 0.0, bounds=[[-1.0, 1.0]] * 3)
    np.testing.assert_allclose(found.P, [1.0, 0.0, -0.2, 1.0, -1.0, -3.0], atol=1e-9)
    np.testing.assert_allclose(found.u, [0.0, 1.0, 0.0, -4.0, 4.0, 0.0], atol=1e-9)


@both
def test_torsion_and_rolling_hold_up_to_their_share_of_the_normal_force(solve):
    c = np.array([-2.0, 0.0, 0.0, 0.5, 0.03, -0.04])
    found = solve(np.eye(6), c, ConeLayout((6,)), 0.5, torsional=0.1, rolling=0.02)
    np.testing.assert_allclose(found.P, [2.0, 0.0, 0.0, -0.2, -0.024, 0.032], atol=1e-9)
    held = solve(np.eye(6), c, ConeLayout((6,)), 0.5, torsional=1.0, rolling=1.0)
    np.testing.assert_allclose(held.u, np.zeros(6), atol=1e-9)


@both
@pytest.mark.parametrize("mu", [1e3, 1e30, np.inf])
def test_huge_friction_sticks(solve, mu):
    G = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.0], [0.1, 0.0, 3.0]])
    found = solve(G, np.array([-1.0, 4.0, -2.0]), ConeLayout(1), mu)
    np.testing.assert_allclose(found.u, np.zeros(3), atol=1e-9)


@both
def test_nothing_to_do_is_done(solve):
    assert solve(np.zeros((0, 0)), np.zeros(0), ConeLayout(0), 0.0).converged
    at_rest = solve(np.eye(6), np.zeros(6), ConeLayout(2), 0.5)
    assert at_rest.converged and not at_rest.P.any()


@both
def test_a_planar_contact_leaves_the_row_that_cannot_move_alone(solve):
    G = np.diag([1.0, 1.0, 0.0])
    found = solve(G, np.array([-1.0, 3.0, 0.0]), ConeLayout(1), 0.5)
    np.testing.assert_allclose(found.P, [1.0, -0.5, 0.0], atol=1e-10)


@both
def test_what_no_force_can_stop_is_not_called_solved(solve):
    found = solve(np.zeros((1, 1)), np.array([-1.0]), ConeLayout((1,)), 0.0)
    assert not found.converged and found.residual == pytest.approx(1.0) and not found.P.any()
    pulled = solve(np.ones((2, 2)), np.array([1.0, -1.0]), ConeLayout(0, bilateral=2), 0.0)
    assert not pulled.converged and np.isfinite(pulled.P).all()


@both
def test_the_answer_as_a_start_is_kept(solve):
    rng = np.random.default_rng(0)
    J = rng.normal(size=(9, 12))
    G, c = J @ J.T, J @ rng.normal(size=12)
    first = solve(G, c, ConeLayout(3), 0.4)
    again = solve(G, c, ConeLayout(3), 0.4, start=first.P)
    assert again.iterations == 0
    np.testing.assert_allclose(again.P, first.P, rtol=1e-12)


def test_mistakes_are_named():
    layout = ConeLayout(1)
    with pytest.raises(ShapeError, match=r"solve_cones: G has shape \(2, 2\), expected \(3, 3\)"):
        solve_cones(np.eye(2), np.zeros(3), layout, 0.1)
    with pytest.raises(NonFiniteError, match="solve_cones: c holds NaN"):
        solve_cones(np.eye(3), np.full(3, np.nan), layout, 0.1)
    with pytest.raises(NonFiniteError, match="mu must not be negative"):
        solve_cones(np.eye(3), np.zeros(3), layout, -0.1)
    with pytest.raises(ShapeError, match=r"mu has shape \(2,\), expected \(\) or \(1,\)"):
        solve_cones(np.eye(3), np.zeros(3), layout, [0.1, 0.2])
    with pytest.raises(ShapeError, match=r"bounds has shape .*, expected \(1, 2\)"):
        solve_cones(np.eye(1), np.zeros(1), ConeLayout(0, boxes=1), 0.0)
    with pytest.raises(NonFiniteError, match="every box needs low <= high"):
        solve_cones(np.eye(1), np.zeros(1), ConeLayout(0, boxes=1), 0.0, bounds=[[1.0, 0.0]])
    with pytest.raises(ShapeError, match=r"ConeLayout: a contact has 1, 3, 4 or 6 rows .*\(2,\)"):
        ConeLayout((2,))
    with pytest.raises(ShapeError, match=r"ConeSolver: G has shape"):
        ConeSolver(layout, 0.1)(np.eye(4), np.zeros(3))
    solver = ConeSolver(layout, 0.1)
    with pytest.raises(NonFiniteError, match="ConeSolver: G holds NaN"):
        solver(np.full((3, 3), np.nan), np.zeros(3))
    assert solver(np.eye(3), np.zeros(3)).converged  # and has not kept it
