"""Steps of stacks: least squares inside bounds, strict priorities, what is left alone, what can change."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import tasks as ts
from tests.tasks.robots_of_tasks import ROBOTS, arm7, pose, with_gripper

scipy_optimize = pytest.importorskip("scipy.optimize")
FRAME = "l6.end"


@pytest.fixture(scope="module")
def arm():
    return arm7()


def near(model, q, seed=0, way=0.2):
    rng = np.random.default_rng(seed)
    return pose(model, gs.integrate(model, q, way * rng.normal(size=model.nv)), FRAME)


def reference(model, stack, q, dt, damping):
    """min |A d - r|^2 + damping |d|^2 inside the bounds, by SciPy, on numbers of gs.Jacobian's kind."""
    rows = stack._program.rows(q, stack._numbers(None, "test"))
    A = np.concatenate([rows.A, np.sqrt(damping) * np.eye(model.nv)])
    b = np.concatenate([rows.r, np.zeros(model.nv)])
    found = scipy_optimize.lsq_linear(A, b, (rows.low, rows.high), method="bvls", tol=1e-15, max_iter=500)
    return found.x / dt


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("dt", [1e-3, 0.1])
def test_rates_are_the_least_squares_inside_the_bounds(arm, seed, dt):
    q = gs.random_configuration(arm, seed)
    stack = ts.Stack(arm, [ts.Frame(FRAME, near(arm, q, seed), 2.0, 0.5), ts.Posture(q + 0.3, 0.05)], damping=1e-4)
    v = stack.rates(q, dt)
    np.testing.assert_allclose(v, reference(arm, stack, q, dt, 1e-4), atol=1e-8)
    assert np.all(np.abs(v) <= 2.0 + 1e-12)


def test_no_joint_passes_its_limit_and_one_that_is_outside_comes_back(arm):
    q = np.zeros(7)
    q[1], q[3] = 2.45, 2.7
    stack = ts.Stack(arm, ts.Posture(np.full(7, 3.0)))
    path = [q]
    for _ in range(100):
        path.append(path[-1] + 0.05 * stack.rates(path[-1], 0.05))
    path = np.array(path)
    assert np.all(path[:, [0, 1, 2, 4, 5, 6]] <= 2.5 + 1e-12)
    assert path[0, 3] > 2.5 >= path[-1, 3] - 1e-9
    assert np.all(np.diff(path[:, 3]) <= 1e-12)


def test_a_lower_level_takes_nothing_from_a_higher_one(arm):
    for seed in range(10):
        q = gs.random_configuration(arm, seed)
        first, away = ts.Frame(FRAME, near(arm, q, seed)), ts.Position("l3.end", [1.0, 1.0, 1.0], 50.0, level=1)
        alone = ts.Stack(arm, first, limits=None, damping=1e-10)
        both = ts.Stack(arm, [first, away], limits=None, damping=1e-10)
        J = gs.jacobian(arm, q, FRAME, "local")
        v1, v2 = alone.rates(q, 0.1), both.rates(q, 0.1)
        np.testing.assert_allclose(J @ v1, J @ v2, atol=1e-6 * np.abs(v1).max())
        J3 = gs.jacobian(arm, q, "l3.end", "aligned")[3:]
        toward = [1.0, 1.0, 1.0] - pose(arm, q, "l3.end")[:3, 3]
        assert toward @ (J3 @ v2) > toward @ (J3 @ v1)  # and what is left over is used


def test_priorities_stay_strict_where_limits_are_met(arm):
    """The bounds stop joints; level 0 does as well with level 1 as without it."""
    for seed in range(10):
        q = gs.random_configuration(arm, seed)
        first = ts.Position(FRAME, pose(arm, q, FRAME)[:3, 3] + [0.05, -0.03, 0.04])
        away = ts.Posture(-q, 10.0, level=1)
        J = gs.jacobian(arm, q, FRAME, "aligned")[3:]
        v1 = ts.Stack(arm, first, damping=1e-9).rates(q, 0.05)
        v2 = ts.Stack(arm, [first, away], damping=1e-9).rates(q, 0.05)
        assert np.abs(v2).max() > 2.0 - 1e-9 and np.all(np.abs(v2) <= 2.0 + 1e-9)
        np.testing.assert_allclose(J @ v2, J @ v1, atol=1e-6)


def test_levels_of_one_are_the_weighted_step_of_one_level(arm):
    q = gs.random_configuration(arm, 1)
    tasks = [ts.Frame(FRAME, near(arm, q)), ts.CenterOfMass([0.1, 0, 0.5], 2.0), ts.Posture(q, 0.1)]
    one = ts.Stack(arm, tasks)
    other = ts.Stack(arm, tasks)
    other._steps.one_level = other._steps.quick = False  # by the general way
    for dt in (1e-3, 1.0):
        np.testing.assert_allclose(one.rates(q, dt), other.rates(q, dt), atol=1e-7)


def test_what_no_task_needs_stays_at_rest_and_followers_keep_their_limits():
    model = with_gripper()
    q = gs.neutral(model)
    q[-1] = 0.01
    frame = "l4.end"
    v = ts.Stack(model, ts.Frame(frame, pose(model, q + 0.1 * (np.arange(6) < 5), frame))).rates(q, 0.1)
    assert v[-1] == 0.0 and np.abs(v[:5]).min() > 1e-3
    opened = ts.Stack(model, ts.Posture(np.r_[np.zeros(5), 1.0])).solve(q)
    assert opened.q[-1] == pytest.approx(0.03, abs=1e-12)  # finger1 may go to -0.03 only


def test_deflections_of_flexible_links_keep_their_shape_and_held_joints_too():
    model = gs.robots.flexible_arm()
    q = gs.random_configuration(model, 1)
    stack = ts.Stack(model, ts.CenterOfMass([0.2, 0.1, 0.3]), hold=[model.dofs[0]])
    v = stack.rates(q, 0.1)
    bent = stack.held
    assert bent.sum() > 3 and np.all(v[bent] == 0.0) and np.abs(v[~bent]).max() > 0.0


def test_closed_loops_stay_closed():
    model = ROBOTS["five-bar as constraints"]()
    q = gs.close(model, gs.neutral(model))
    target = pose(model, q, "p1.tip")[:3, 3] + [0.03, 0.0, 0.04]
    found = ts.Stack(model, ts.Position("p1.tip", target), limits=None).solve(q)
    assert found.converged and found.reached["p1.tip position"]
    np.testing.assert_allclose(gs.close(model, found.q), found.q, atol=1e-9)


def test_targets_weights_and_gains_change_without_compiling(arm):
    q = gs.random_configuration(arm, 2)
    stack = ts.Stack(arm, [ts.Frame(FRAME, near(arm, q)), ts.Posture(q, 0.1)])
    stack.rates(q, 0.1)
    kernels = dict(stack._program._kernels)
    other = near(arm, q, 5)
    stack.set(FRAME, other, weight=[1, 1, 1, 2, 2, 2], gain=0.5, damping=0.1)
    new = ts.Stack(arm, [ts.Frame(FRAME, other, 2.0, 1.0, gain=0.5, damping=0.1), ts.Posture(q, 0.1)])
    np.testing.assert_array_equal(stack.rates(q, 0.1), new.rates(q, 0.1))
    assert all(stack._program._kernels[key] is kernel for key, kernel in kernels.items())


def test_many_states_and_targets_are_as_one_after_the_other(arm):
    q = gs.random_configuration(arm, 2, 20)
    targets = np.array([near(arm, one, k, 0.005 if k % 2 else 1.0) for k, one in enumerate(q)])
    stack = ts.Stack(arm, [ts.Frame(FRAME), ts.Posture(np.zeros(7), 0.01)])
    many = stack.rates(q, 0.1, {FRAME: targets})
    single = np.array([stack.rates(one, 0.1, {FRAME: T}) for one, T in zip(q, targets, strict=True)])
    np.testing.assert_allclose(many, single, atol=1e-10)
    np.testing.assert_allclose(
        stack.rates(q, 0.1, {FRAME: targets[0]})[3], stack.rates(q[3], 0.1, {FRAME: targets[0]}), atol=1e-10
    )
    assert (np.abs(many).max(axis=1) > 1.99).any() and (np.abs(many).max(axis=1) < 1.9).any()


def test_a_moving_target_is_followed(arm):
    q = np.array([0.1, 0.5, 0.0, 0.9, 0.1, 0.6, 0.0])
    T0 = pose(arm, q, FRAME)

    def target(t):
        T = T0.copy()
        T[:3, 3] += [0.03 * np.sin(2 * t), 0.0, 0.02 * (1 - np.cos(2 * t))]
        return T

    t = np.linspace(0.0, 2.0, 401)
    way = ts.Stack(arm, [ts.Frame(FRAME), ts.Posture(q, 1e-3)], damping=1e-9).follow(q, {FRAME: target}, t)
    assert way.worst[FRAME] < 2e-5
    np.testing.assert_allclose(np.diff(way.q, axis=0), way.v[1:] * 0.005, atol=1e-12)


MISUSE = {
    "has no target": lambda m: ts.Stack(m, ts.Frame(FRAME)).rates(np.zeros(7), 0.1),
    "no task 'hnad'": lambda m: ts.Stack(m, ts.Frame(FRAME, np.eye(4))).set("hnad", np.eye(4)),
    "two tasks are called": lambda m: ts.Stack(m, [ts.Frame(FRAME), ts.Frame(FRAME)]),
    "there are no tasks": lambda m: ts.Stack(m, []),
    "is no task": lambda m: ts.Stack(m, [3]),
    "dt must be one number": lambda m: ts.Stack(m, ts.Posture(np.zeros(7))).rates(np.zeros(7), 0.0),
    "limits is": lambda m: ts.Stack(m, ts.Posture(np.zeros(7)), limits="none"),
    "no rate 'x'": lambda m: ts.Stack(m, ts.Posture(np.zeros(7)), hold="x"),
    "q has shape": lambda m: ts.Stack(m, ts.Posture(np.zeros(7))).rates(np.zeros(6), 0.1),
    "is nan": lambda m: ts.Stack(m, ts.Posture(np.zeros(7))).rates(np.full(7, np.nan), 0.1),
    "leading shapes do not go together": lambda m: ts.Stack(m, ts.Posture()).rates(
        np.zeros((3, 7)), 0.1, {"posture": np.zeros((2, 7))}
    ),
    "there are 3 times": lambda m: ts.Stack(m, ts.Posture()).follow(
        np.zeros(7), {"posture": np.zeros((2, 7))}, [0.0, 1.0, 2.0]
    ),
    "limits must hold real numbers": lambda m: ts.Stack(
        m, ts.Posture(np.zeros(7)), limits=[ts.VelocityLimits({"j0": "fast"})]
    ),
    "has a shape that can touch": lambda m: ts.Stack(m, ts.Posture(np.zeros(7)), limits=[ts.CollisionAvoidance()]),
    "tolerance must be one number above zero": lambda m: ts.Stack(m, ts.Posture(np.zeros(7))).solve(tolerance=0.0),
    "takes one target here": lambda m: ts.Stack(m, ts.Posture(np.zeros(7))).set("posture", np.zeros((2, 7))),
}


@pytest.mark.parametrize("words", MISUSE)
def test_misuse_is_told_in_words(arm, words):
    with pytest.raises(gs.GyrostatError, match=words):
        MISUSE[words](arm)


def test_limits_of_joints_that_follow_by_a_closed_loop_or_several_others_are_kept():
    from tests.support.loop_models import four_bar

    loop = four_bar()
    q = gs.neutral(loop)
    rocker = gs.network(loop).transmission.slices["D"][0].start
    here = float(gs.network(loop).transmission.coordinates(q)[rocker])
    loop = loop.replace({"D.lower": here - 0.05, "D.upper": here + 0.05})
    stack = ts.Stack(loop, ts.Posture(q + 1.0))
    assert [one.name for one in stack._program.followers] == ["D"]
    for _ in range(40):
        q = q + 0.05 * stack.rates(q, 0.05)
    end = float(gs.network(loop).transmission.coordinates(q)[rocker])
    assert abs(end - here) == pytest.approx(0.05, abs=1e-4)  # it stopped there, short of the posture
    assert abs(end - here) < 0.05 + 1e-6
    other = gs.assemble(
        "three",
        *(
            gs.chain(
                "world",
                gs.Joint(f"j{k}", "revolute", axis="z", lower=-1.0, upper=1.0),
                gs.RigidBody(f"b{k}", mass=1.0, inertia=(1, 1, 1)),
            )
            for k in range(3)
        ),
        gs.Gear("sum", [[1.0, 1.0]]),
        gs.connect("j0.shaft", "sum.joint1"),
        gs.connect("j1.shaft", "sum.joint2"),
        gs.connect("j2.shaft", "sum.motor"),
    )
    found = ts.Stack(other, ts.Posture([0.9, 0.9])).solve()
    np.testing.assert_allclose(found.q, 0.5, atol=1e-9)  # j2 = j0 + j1 is at its limit


def test_a_posture_of_some_joints_needs_no_others(arm):
    chosen = ["j1", "j4"]
    for target in ([0.3, -0.4], {"j4": -0.4, "j1": 0.3}, {f"j{k}": 0.3 if k == 1 else -0.4 for k in range(7)}):
        found = ts.Stack(arm, ts.Posture(target, joints=chosen)).solve(np.zeros(7))
        np.testing.assert_allclose(found.q, [0, 0.3, 0, 0, -0.4, 0, 0], atol=1e-6)
    found = ts.Stack(arm, ts.Posture(joints=chosen)).solve(np.zeros(7), {"posture": np.full((3, 2), 0.2)})
    assert found.q.shape == (3, 7) and np.all(found.reached["posture"])


def test_no_states_have_no_rates(arm):
    stack = ts.Stack(arm, ts.Posture(np.zeros(7)))
    assert stack.rates(np.zeros((0, 7)), 0.1).shape == (0, 7)
    assert stack.rates(np.zeros(7), 0.1, {"posture": np.zeros((0, 7))}).shape == (0, 7)
