"""Fastest paths of robots: against toppra, Pinocchio, a convex program, and on grids a hundred times finer."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.fastest_path.paths import read_path

EFFORT = np.array([176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0])


def waypoints(seed: int = 0, n: int = 7, k: int = 5) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-0.8, 0.8, (k, n))


def arm() -> gs.Model:
    return gs.robots.kuka_lwr4()


def test_no_limit_is_exceeded_on_a_grid_a_hundred_times_finer():
    model = arm()
    found = gs.studies.time_optimal(model, waypoints(), EFFORT, velocity_limits=4.0, grid=200)
    s = found.s[:-1, None] + np.diff(found.s)[:, None] * np.linspace(0.0, 1.0, 101)
    x = np.maximum(found.x[:-1, None] + 2.0 * (s - found.s[:-1, None]) * found.u[:, None], 0.0).ravel()
    q, q1, q2 = found.study.curve.derivatives(s.ravel(), 2)
    v, a = q1 * np.sqrt(x)[:, None], q1 * np.repeat(found.u, 101)[:, None] + q2 * x[:, None]
    tau = gs.rnea(model, q, v, a)
    assert np.all(np.abs(tau) <= EFFORT) and np.abs(v).max() <= 4.0
    assert (np.abs(tau) / EFFORT).max() > 0.999  # and they are used


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_the_time_is_that_of_toppra(seed):
    ta = pytest.importorskip("toppra")
    from toppra import constraint as limit

    ta.setup_logging("ERROR")
    model, points, grid = arm(), waypoints(seed), np.linspace(0.0, 1.0, 501)
    found = gs.studies.time_optimal(model, points, EFFORT, 4.0, degree=3, grid=grid)
    path = ta.SplineInterpolator(found.study.curve.breaks, points, bc_type="natural")
    limits = np.stack([-EFFORT, EFFORT], 1)
    rows = [
        limit.JointVelocityConstraint(np.full((7, 2), 4.0) * [-1.0, 1.0]),
        limit.JointTorqueConstraint(
            lambda q, v, a: gs.rnea(model, q, v, a), limits, np.zeros(7),
            discretization_scheme=limit.DiscretizationType.Interpolation,
        ),
    ]  # fmt: skip
    theirs = ta.algorithm.TOPPRA(rows, path, gridpoints=grid).compute_trajectory()
    assert found.duration == pytest.approx(theirs.duration, rel=1e-3)
    assert found.duration >= theirs.duration * (1.0 - 1e-6)


def test_the_convex_program_with_the_same_rows_is_no_faster():
    clarabel = pytest.importorskip("clarabel")
    from scipy import sparse

    study = gs.studies.TimeOptimal(arm(), waypoints(), EFFORT, 4.0, grid=np.linspace(0.0, 1.0, 61), check=0)
    found, stages = study.run(), study.stages
    N, P, R = 60, study.points + 1, len(study.rows.names)
    block = stages.block
    # x_i + x_(i+1) and u = (x_(i+1) - x_i) / steps; minimise sum 2 ds / (r_i + r_(i+1)), r^2 <= x, as cones
    A, B = block.A.reshape(N, P, R), block.B.reshape(N, P, R)
    part = stages.offsets / stages.steps[:, None]
    left = (-A / stages.steps[:, None, None] + B * (1.0 - part)[:, :, None]).reshape(N, -1)
    right = (A / stages.steps[:, None, None] + B * part[:, :, None]).reshape(N, -1)
    high, low = block.high.reshape(N, -1), block.low.reshape(N, -1)
    n = 2 * (N + 1) + N  # x, r, w
    rows, h = [], []
    for i in range(N):
        for sign, side in ((1.0, high), (-1.0, -low)):
            use = np.isfinite(side[i])
            M = np.zeros((use.sum(), n))
            M[:, i], M[:, i + 1] = sign * left[i][use], sign * right[i][use]
            rows.append(M)
            h.append(side[i][use])
    ends = np.zeros((2, n))
    ends[0, 0] = ends[1, N] = 1.0
    cones = [clarabel.ZeroConeT(2), clarabel.NonnegativeConeT(sum(len(x) for x in h))]
    G, g = [ends, *rows], [np.zeros(2), *h]
    for k in range(N + 1):  # (x + 1, x - 1, 2 r)
        M = np.zeros((3, n))
        M[0, k], M[1, k], M[2, N + 1 + k] = -1.0, -1.0, -2.0
        G.append(M)
        g.append(np.array([1.0, -1.0, 0.0]))
        cones.append(clarabel.SecondOrderConeT(3))
    for i in range(N):  # w (r_i + r_(i+1)) >= 1
        M = np.zeros((3, n))
        at = [N + 1 + i, N + 2 + i]
        M[0, at], M[1, at] = -1.0, -1.0
        M[0, 2 * N + 2 + i], M[1, 2 * N + 2 + i] = -1.0, 1.0
        G.append(M)
        g.append(np.array([0.0, 0.0, 2.0]))
        cones.append(clarabel.SecondOrderConeT(3))
    cost = np.concatenate([np.zeros(2 * N + 2), stages.steps])
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    matrix = sparse.csc_matrix(np.vstack(G))
    solved = clarabel.DefaultSolver(sparse.csc_matrix((n, n)), cost, matrix, np.concatenate(g), cones, settings).solve()
    exact = float(cost @ np.array(solved.x))
    assert str(solved.status) == "Solved"
    assert exact * (1.0 - 1e-6) <= found.duration <= exact * 1.01


def test_torques_are_those_of_pinocchio(tmp_path):
    pinocchio = pytest.importorskip("pinocchio")
    file = tmp_path / "arm.urdf"
    gs.save(arm(), file)
    model = gs.load(file, friction=False)
    peer = pinocchio.buildModelFromUrdf(str(file))
    found = gs.studies.time_optimal(model, waypoints(), EFFORT, velocity_limits=4.0, grid=100)
    data = peer.createData()
    for t in np.linspace(0.0, found.duration, 50):
        q, v, a = found.trajectory.derivatives(t, 2)
        theirs = pinocchio.rnea(peer, data, np.stack([np.cos(q), np.sin(q)], 1).ravel(), v, a)
        assert found.torques(t) == pytest.approx(theirs, abs=1e-8)


def test_friction_of_the_model_is_kept_and_settles():
    model = gs.robots.puma560()  # viscous and Coulomb friction behind gears
    effort = [200.0, 180.0, 120.0, 60.0, 30.0, 15.0]
    found = gs.studies.time_optimal(model, waypoints(n=6), effort, velocity_limits=4.0, grid=200)
    assert found.check(60) <= 0.0 and found.passes <= 12
    tau = found.torques(np.linspace(0.0, found.duration, 4001))
    assert np.all(np.abs(tau) <= np.array(effort) * (1.0 + 1e-9)) and (np.abs(tau) / effort).max() > 0.99


@pytest.mark.parametrize(
    ("friction", "seed"),
    [
        ({"coulomb": 4.0, "smooth": 0.01}, 0),  # narrow: the end itself, and where a joint turns round
        ({"coulomb": 4.0, "smooth": 0.01}, 2),
        ({"coulomb": 2.0, "static": 5.0, "stribeck": 0.1, "smooth": 0.05}, 1),  # a peak inside the first interval
    ],
)
def test_smooth_friction_keeps_the_limits_beside_rests_and_turning_points(friction, seed):
    model = gs.robots.two_link()
    for joint in model.dofs:
        model = model.with_drive(joint, friction=friction)
    effort, points = np.array([60.0, 25.0]), np.random.default_rng(seed).uniform(-0.6, 0.6, (3, 2))
    found = gs.studies.time_optimal(model, points, effort, velocity_limits=6.0, grid=100, positions=False)
    assert found.excess <= 0.0 and found.check(100) <= 0.0
    for s, x, side in ((found.s[:-1], found.x[:-1], np.inf), (found.s[1:], found.x[1:], -np.inf)):  # both limits
        q, q1, q2 = found.study.curve.derivatives(np.nextafter(s, side), 2)
        tau = gs.rnea(model, q, q1 * np.sqrt(x)[:, None], q1 * found.u[:, None] + q2 * x[:, None])
        assert np.all(np.abs(tau) <= effort)
    ends = np.geomspace(1e-12, 1e-2, 300) * found.duration
    times = np.concatenate([[0.0], ends, np.linspace(0.0, found.duration, 2001), found.duration - ends])
    assert np.all(np.abs(found.torques(times)) <= effort)


def test_viscous_friction_keeps_the_limits_at_rest_itself():
    model = gs.robots.two_link()
    for joint in model.dofs:
        model = model.with_drive(joint, viscous=3.0)
    rng = np.random.default_rng(10)
    points, grid = rng.uniform(-0.8, 0.8, (rng.integers(2, 6), 2)), int(rng.integers(20, 150))
    found = gs.studies.time_optimal(model, points, [60.0, 25.0], 5.0, grid=grid, positions=False)
    assert found.check(100) <= 0.0


def test_derivatives_of_the_trajectory_are_exact():
    motion = gs.studies.time_optimal(arm(), waypoints(), EFFORT, 4.0, grid=100).trajectory
    t = np.linspace(0.01, motion.duration - 0.01, 57)
    h = 1e-6
    _, v, a = np.moveaxis(motion.derivatives(t, 2), -2, 0)
    assert v == pytest.approx((motion(t + h) - motion(t - h)) / (2.0 * h), abs=1e-5)
    rates = [motion.derivatives(t + d, 1)[:, 1] for d in (-h, h)]
    smooth = np.abs((rates[1] - rates[0]) / (2.0 * h) - a).max(axis=1)
    assert np.median(smooth) < 1e-5  # a jumps at grid points
    assert motion.smoothness == 1 and motion(-1.0) == pytest.approx(motion(0.0))


def test_retiming_on_the_way_finds_the_same_rest_and_takes_other_limits():
    found = gs.studies.time_optimal(arm(), waypoints(), EFFORT, 4.0, grid=200)
    t, speed = found.at(0.4)
    again = found.retime(0.4, 0.99 * float(speed))
    assert again.duration == pytest.approx(found.duration - float(t), rel=5e-3)
    weaker = found.retime(0.4, 0.7 * float(speed), torque_limits=0.8 * EFFORT)
    assert weaker.duration > again.duration and weaker.check(30) <= 0.0
    with pytest.raises(gs.GyrostatError, match=r"cannot be followed from s = 0\.4 at the speed"):
        found.retime(0.4, 3.0 * float(speed))
    with pytest.raises(gs.GyrostatError, match="there is no 'limits' to change"):
        found.retime(0.4, 0.1, limits=3.0)


def test_a_function_of_s_and_a_trajectory_are_the_same_path():
    model, q0, q1 = arm(), np.zeros(7), np.full(7, 0.5)
    by_function = gs.studies.time_optimal(model, lambda s: q0 + (q1 - q0) * np.sin(1.2 * s), EFFORT, 4.0, grid=1000)
    straight = gs.studies.time_optimal(model, [q0, q0 + (q1 - q0) * np.sin(1.2)], EFFORT, 4.0, grid=1000)
    assert by_function.duration == pytest.approx(straight.duration, rel=1e-3)
    timed = gs.trajectories.quintic(q0, q0 + (q1 - q0) * np.sin(1.2), 3.0)
    assert gs.studies.time_optimal(model, timed, EFFORT, 4.0, grid=2000).duration == pytest.approx(
        straight.duration, rel=2e-2
    )


def test_derivatives_of_paths_are_those_of_their_kinds():
    model, s = arm(), np.linspace(0.0, 1.0, 31)
    for path in (waypoints(), lambda s: np.array([np.sin(k * s) + s * s for k in range(1, 8)], dtype=object)):
        curve = read_path(model, path, None, 5)
        for order in (2, 4):
            d = curve.derivatives(s, order)
            h = 1e-5
            middle = (curve.derivatives(s[1:-1] + h, order) - curve.derivatives(s[1:-1] - h, order)) / (2.0 * h)
            near = np.abs(s[1:-1, None] - curve.breaks).min(axis=1) > 2.0 * h
            assert middle[:-1][:, near] == pytest.approx(d[1:, 1:-1][:, near], rel=1e-4, abs=1e-3)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"torque_limits": [176.0, 10.0, 100.0, 100.0, 100.0, 38.0, 38.0]},
            r"not enough to stand still: .* more is needed",
        ),
        ({"path": np.zeros((3, 7))}, "waypoints 0 and 1 are the same"),
        ({"path": np.zeros((3, 5))}, r"expected \(2 or more, 7\)"),
        ({"torque_limits": {"elbow": 3.0}}, "torque_limits: no rate '+elbow"),
        ({"velocity_limits": -1.0}, "above the upper one"),
        ({"torque_limits": np.inf, "velocity_limits": np.inf}, "nothing bounds the speed"),
        ({"start_speed": 50.0}, "cannot be followed from s = 0 at the speed s' = 50"),
        ({"stops": [2.0]}, "stops must lie inside"),
        ({"grid": 2}, "from 4 to 1000000"),
        ({"path": lambda s: [float(s)] * 7}, "cannot be recorded"),
        ({"path": gs.trajectories.spline([0.0, 1.0, 2.0], [[0.0] * 7, [1.0] * 7, [0.0] * 7], 1, "natural")}, "corners"),
    ],
)
def test_what_cannot_be_is_told_in_words(change, message):
    given = {"path": waypoints(), "torque_limits": EFFORT, "velocity_limits": 4.0} | change
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.time_optimal(arm(), **given)


def test_elastic_joints_and_quaternions_are_refused_by_name():
    with pytest.raises(gs.GyrostatError, match="has elastic joints"):
        gs.studies.time_optimal(gs.robots.elastic_arm(), np.eye(6))
    with pytest.raises(gs.GyrostatError, match="quaternions in q"):
        gs.studies.time_optimal(gs.robots.quadruped(), np.zeros((2, 19)))
