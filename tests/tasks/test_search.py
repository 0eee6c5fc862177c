"""Configurations in which tasks are met, or are nearest to being met."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tasks as ts
from tests.tasks.robots_of_tasks import arm7, pose

FRAME = "l6.end"


@pytest.fixture(scope="module")
def arm():
    return arm7()


def test_poses_within_reach_are_reached_from_somewhere_else(arm):
    q = gs.random_configuration(arm, 7, 30) * 0.8
    targets = np.array([pose(arm, one, FRAME) for one in q])
    stack = ts.Stack(arm, ts.Frame(FRAME))
    found = stack.solve(q * 0.7, {FRAME: targets})
    assert found.reached[FRAME].mean() > 0.85
    reached = found.reached[FRAME]
    np.testing.assert_allclose(gs.fk(arm, found.q)[FRAME].matrix[reached], targets[reached], atol=2e-6)
    assert found.iterations.max() < 1000 and np.all(found.q <= 2.5) and np.all(found.q >= -2.5)


def test_a_posture_below_a_pose_costs_the_pose_nothing_and_is_the_nearest(arm):
    q = np.array([0.1, 0.5, 0.2, 0.9, 0.1, 0.6, 0.3])
    start = q + 0.2
    T = pose(arm, q, FRAME)
    found = ts.Stack(arm, [ts.Frame(FRAME, T), ts.Posture(start, level=1)]).solve(start)
    assert found.converged and found.reached[FRAME] and not found.reached["posture"]
    J = gs.jacobian(arm, found.q, FRAME, "local")
    _, _, Vt = np.linalg.svd(J)
    np.testing.assert_allclose(Vt[6:] @ (found.q - start), 0.0, atol=1e-6)  # stationary along the motion that is left


def test_what_is_out_of_reach_ends_at_a_stationary_point_that_is_told(arm):
    far = np.array([1.6, 0.5, 0.5])
    found = ts.Stack(arm, ts.Position(FRAME, far), limits=None).solve(np.full(7, 0.3))
    assert found.converged and not found.reached[f"{FRAME} position"]
    e = found.errors[f"{FRAME} position"]
    J = gs.jacobian(arm, found.q, FRAME, "aligned")[3:]
    np.testing.assert_allclose(J.T @ e, 0.0, atol=3e-6 * np.linalg.norm(e))
    assert "off" in repr(found)


def test_limits_of_joints_are_kept_and_met_exactly(arm):
    found = ts.Stack(arm, ts.Posture(np.full(7, 4.0))).solve(np.zeros(7))
    assert found.converged
    np.testing.assert_allclose(found.q, 2.5, atol=1e-12)


def test_free_bases_turn_on_the_manifold():
    model = gs.robots.humanoid()
    q = gs.neutral(model)
    other = gs.integrate(model, q, np.r_[0.4, -0.3, 1.2, 0.2, 0.3, 0.4, np.zeros(model.nv - 6)])
    soles = ("left_foot.sole", "right_foot.sole")
    stack = ts.Stack(model, [*(ts.Frame(sole) for sole in soles), ts.Posture(q, 1e-3)])
    found = stack.solve(q, {sole: pose(model, other, sole) for sole in soles})
    assert found.converged and max(np.abs(found.errors[sole]).max() for sole in soles) < 1e-5
    assert np.linalg.norm(found.q[3:7]) == pytest.approx(1.0, abs=1e-12)


def test_history_is_the_way_there(arm):
    found = ts.Stack(arm, ts.Posture(np.full(7, 0.5))).solve(np.zeros(7), history=True)
    np.testing.assert_array_equal(found.history[0], np.zeros(7))
    np.testing.assert_allclose(found.history[-1], 0.5, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(20))
def test_steps_never_leave_the_limits_whatever_is_asked(arm, seed):
    rng = np.random.default_rng(seed)
    tasks = [
        ts.Frame(FRAME, pose(arm, gs.random_configuration(arm, seed), FRAME), *rng.uniform(0.1, 3, 2)),
        ts.LookAt("l4.end", rng.normal(size=3) * 3, level=int(rng.integers(0, 2))),
        ts.Posture(rng.uniform(-2.5, 2.5, 7), 0.1, level=int(rng.integers(0, 3))),
    ]
    found = ts.Stack(arm, tasks).solve(gs.random_configuration(arm, seed + 100))
    assert np.all(np.abs(found.q) <= 2.5) and np.isfinite(found.q).all() and found.reason in ("converged", "stopped")
