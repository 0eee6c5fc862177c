"""Strict priorities where limits stop the robot: beside a lexicographic program of SciPy, and wherever bounds meet."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tasks as ts
from gyrostat.tasks.least_distance import least_distance
from gyrostat.tasks.quadratic_program import bounded_minimum
from tests.tasks.robots_of_tasks import arm7, pose

scipy_optimize = pytest.importorskip("scipy.optimize")
FRAME = "l6.end"
DAMPING = 1e-8


@pytest.fixture(scope="module")
def stack():
    tasks = [
        ts.Position(FRAME, name="tip"),
        ts.LookAt("l4.end", level=1, weight=2.0, name="gaze"),
        ts.CenterOfMass(level=1, name="middle"),
        ts.Posture(level=2),
    ]
    return ts.Stack(arm7(), tasks, damping=DAMPING)


def asked(stack, seed):
    """A state and a step, with targets that the limits do not allow to be reached."""
    arm, rng = stack.model, np.random.default_rng(seed)
    q = gs.random_configuration(arm, seed)
    stack.set("tip", pose(arm, gs.integrate(arm, q, 0.3 * rng.normal(size=7)), FRAME)[:3, 3])
    stack.set("gaze", rng.normal(size=3) * 3.0)
    stack.set("middle", rng.normal(size=3) * 0.3)
    stack.set("posture", rng.uniform(-2, 2, 7))
    return q, float(rng.choice([0.01, 0.1, 0.5]))


def lexicographic(levels, low, high):
    """d of least |A d - r| level by level, what was reached before kept as equations, by SciPy's SLSQP."""
    n = len(low)
    E, e, d = np.zeros((0, n)), np.zeros(0), np.clip(np.zeros(n), low, high)
    for A, r in levels:
        kept = {"type": "eq", "fun": lambda x, E=E, e=e: E @ x - e, "jac": lambda x, E=E: E}
        found = scipy_optimize.minimize(
            lambda x, A=A, r=r: 0.5 * np.sum((A @ x - r) ** 2) + 0.5 * DAMPING * x @ x,
            d,
            jac=lambda x, A=A, r=r: A.T @ (A @ x - r) + DAMPING * x,
            bounds=list(zip(low, high, strict=True)),
            constraints=[kept] if len(e) else [],
            method="SLSQP",
            options={"ftol": 1e-18, "maxiter": 2000},
        )
        d = found.x
        _, s, Vt = np.linalg.svd(np.concatenate([E, A]), full_matrices=False)
        E = Vt[s > 1e-9 * s.max()]
        e = E @ d
    return d


@pytest.mark.parametrize("seed", range(5))
def test_each_level_gets_what_a_lexicographic_program_gives_it(stack, seed):
    q, dt = asked(stack, seed)
    d = stack.rates(q, dt) * dt
    rows = stack._program.rows(q, stack._x)
    levels = [(rows.A[level], rows.r[level]) for level in stack._steps.levels]
    other = lexicographic(levels, rows.low, rows.high)
    for A, r in levels:
        assert np.linalg.norm(A @ d - r) == pytest.approx(np.linalg.norm(A @ other - r), abs=1e-6)


def test_a_level_that_is_stopped_by_limits_leaves_the_next_ones_their_way(stack):
    """Where the bounds that stop a level leave no room beside it, an active-set method alone finds no step at all."""
    for seed in range(200):
        q, dt = asked(stack, seed)
        v = stack.rates(q, dt)
        rows = stack._program.rows(q, stack._x)
        assert np.all(v * dt <= rows.high + 1e-12) and np.all(v * dt >= rows.low - 1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.0, 1e-8, 1e-3])
def test_five_levels_of_a_humanoid_always_have_a_step(damping):
    human = gs.robots.humanoid()
    names = [name for name in human.dofs if not name.startswith(human.dofs[0].split(".")[0])]
    sole, other = "left_foot.sole", "right_foot.sole"
    tasks = [
        ts.Position(sole, name="a"),
        ts.LookAt(other, level=1, name="b"),
        ts.CenterOfMass(level=1, name="c"),
        ts.Orientation(sole, level=2, name="d"),
        ts.Posture(level=3, name="e"),
    ]
    limits = [ts.JointLimits(), ts.VelocityLimits(dict.fromkeys(names, 1.0))]
    stack = ts.Stack(human, tasks, limits, damping=damping)
    for seed in range(100):
        rng = np.random.default_rng(seed)
        q = gs.random_configuration(human, seed)
        T = pose(human, gs.integrate(human, q, 0.3 * rng.normal(size=human.nv)), sole)
        stack.set("a", T[:3, 3])
        stack.set("b", rng.normal(size=3) * 3.0)
        stack.set("c", rng.normal(size=3) * 0.3)
        stack.set("d", T[:3, :3])
        stack.set("e", gs.random_configuration(human, seed + 1))
        dt = float(rng.choice([0.001, 0.1, 5.0]))
        v = stack.rates(q, dt)
        rows = stack._program.rows(q, stack._x)
        assert np.all(v * dt <= rows.high + 1e-10) and np.all(v * dt >= rows.low - 1e-10)


def test_least_distances_and_active_sets_agree():
    rng = np.random.default_rng(0)
    for _ in range(60):
        n, k = rng.integers(1, 9), rng.integers(0, 8)
        A = rng.normal(size=(n, n))
        H = A @ A.T + 1e-3 * np.eye(n)
        rows = np.concatenate([np.eye(n), rng.normal(size=(k, n))])
        high, low = rng.uniform(0, 1, n + k), -rng.uniform(0, 1, n + k)
        high[rng.random(n + k) < 0.2] = 0.0
        h = rng.normal(size=n)
        y, multipliers = least_distance(H / H.max(), h, rows, low, high)
        np.testing.assert_allclose(H / H.max() @ y + h + rows.T @ multipliers, 0.0, atol=1e-9)
        other, theirs = bounded_minimum(H / H.max(), h, rows, low, high)
        np.testing.assert_allclose(y, other, atol=1e-9)
        np.testing.assert_allclose(multipliers, theirs, atol=1e-6 * (1 + np.abs(theirs).max()))


def test_bounds_that_leave_nothing_are_told():
    rows = np.array([[1.0, 0.0], [1.0, 0.0]])
    assert least_distance(np.eye(2), np.ones(2), rows, np.array([1.0, -5.0]), np.array([2.0, 0.5])) is None
    with pytest.raises(gs.StateError, match="no rates keep all limits"):
        bounded_minimum(np.eye(2), np.ones(2), rows, np.array([1.0, -5.0]), np.array([2.0, 0.5]))


def test_without_damping_the_step_is_the_one_of_least_norm():
    arm = arm7()
    q = np.array([0.1, 0.5, 0.2, 0.9, 0.1, 0.6, 0.3])
    target = pose(arm, q, FRAME)[:3, 3] + [0.02, 0.01, -0.01]
    v = ts.Stack(arm, ts.Position(FRAME, target), limits=None, damping=0.0).rates(q, 0.1)
    J = gs.jacobian(arm, q, FRAME, "aligned")[3:]
    np.testing.assert_allclose(v, np.linalg.pinv(J) @ [0.2, 0.1, -0.1], atol=1e-10)


def test_a_level_that_nothing_is_left_for_takes_nothing_from_the_next_ones():
    """Of a level whose joints all stand at bounds, or that asks for what an earlier one has decided, only rounding is
    left: no direction of those after it."""
    arm = arm7()
    q, last = np.array([0.1, 0.5, 0.2, 0.9, 0.1, 0.6, 0.3]), np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0])
    here, middle = gs.fk(arm, q)["l6.origin"].p, gs.fk(arm, q)["l3.end"].p
    far, posture = here + 3.0, ts.Posture(q + last, level=2)  # neither point moves with the last joint
    stopped = [ts.Position("l6.origin", far), ts.Position("l3.end", middle + 1.0, level=1)]
    v = ts.Stack(arm, [*stopped, posture]).rates(q, 0.05)
    assert np.all(np.abs(v[:4]) == 2.0) and v[6] == pytest.approx(2.0)
    for damping in (0.0, 1e-6):
        twice = [ts.Position("l6.origin", here), ts.Position("l6.origin", here + 0.01, level=1, name="again")]
        v = ts.Stack(arm, [*twice, posture], limits=None, damping=damping).rates(q, 1.0)
        assert v[6] == pytest.approx(1.0, abs=1e-5) and np.abs(v[:6]).max() < 1e-5
