"""Identification of geared drives, coupled joints, floating bases, loops; torques of motors; wrenches; payloads."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import GyrostatError
from tests.support.identification_runs import motion, run_of, with_friction, wrong
from tests.support.loop_models import five_bar, four_bar

identify = gs.studies.identify


@pytest.mark.slow
def test_torques_of_motors_give_what_torques_of_joints_give():
    robot = with_friction(gs.robots.two_link())
    for joint in robot.dofs:
        robot = robot.with_drive(joint, rotor_inertia=1e-4, gear_ratio=50.0, motor=True)
    run = run_of(robot, noise=0.003)
    before = robot.replace({"upper.mass": 3.0, "shoulder_drive.rotor.inertia": 3e-4})
    asked = {"terms": ("viscous", "coulomb", "rotor"), "candidates": ()}
    joint = identify(before, run.t, run.q, run.tau, **asked)
    motors = identify(before, run.t, run.q, run.tau / 50.0, torque_side="motor", **asked)
    np.testing.assert_allclose(motors.x, joint.x, rtol=1e-4, atol=1e-6)
    assert abs(joint.model["elbow_drive.rotor.inertia"] - 1e-4) < 2e-5
    told = gs.rnea(joint.model, run.q, run.v, run.a)
    np.testing.assert_allclose(joint.torques(run.q, run.v, run.a), told, atol=1e-9)
    with pytest.raises(GyrostatError, match=r"expected \(T, 2\): shoulder, elbow"):
        identify(before, run.t, run.q, run.tau[:, :1], torque_side="motor", **asked)


@pytest.mark.slow
def test_springs_and_dampers_are_parameters_by_path():
    robot = with_friction(gs.robots.two_link())
    robot = robot.attach(gs.Spring("balance", stiffness=40.0, rest=0.2, ground=True), to="shoulder.shaft", port="a")
    run = run_of(robot, noise=0.005)
    found = identify(
        robot.replace({"balance.stiffness": 10.0}),
        run.t,
        run.q,
        run.tau,
        parameters=["balance.stiffness"],
        candidates=(),
    )
    assert abs(found.model["balance.stiffness"] - 40.0) < 1.0
    np.testing.assert_allclose(found.torques(run.q, run.v, run.a), gs.rnea(found.model, run.q, run.v, run.a), atol=1e-9)
    with pytest.raises(GyrostatError, match=r"torques are not linear in 'balance.rest'|not linear"):
        identify(robot, run.t, run.q, run.tau, parameters=["balance.stiffness", "balance.rest"], candidates=())


@pytest.mark.slow
def test_a_floating_base_is_identified_from_the_wrench_on_it():
    robot = floating()
    run = floating_run(robot)
    before = wrong(robot)
    found = identify(
        before, run[0], run[1], run[4], run[2], run[3], band=False, terms=("viscous", "coulomb"), candidates=()
    )
    again = gs.rnea(found.model, run[1], run[2], run[3])
    assert np.abs(again - run[4]).max() < 1e-3 * np.abs(run[4]).max()
    with pytest.raises(GyrostatError, match=r"'tilt' makes no sense here: the robot flies"):
        identify(before, run[0], run[1], run[4], run[2], run[3], band=False, terms=("viscous", "tilt"), candidates=())


def floating():
    """Two links on a base of their own that flies."""
    joints = [gs.Joint("shoulder", "revolute", axis="y"), gs.Joint("elbow", "revolute", axis="x")]
    inertias = [np.diag(d).tolist() for d in ([0.3, 0.2, 0.25], [0.05, 0.06, 0.02], [0.03, 0.035, 0.012])]
    frames = [{"out": (0.2, 0.0, 0.1)}, {"out": (0.0, 0.0, -0.4)}, {}]
    bodies = [
        gs.RigidBody(name, mass=m, com=c, inertia=J, frames=f)
        for name, m, c, J, f in zip(
            ("hull", "upper", "lower"),
            (6.0, 2.0, 1.0),
            ((0.01, 0.02, 0.0), (0.0, 0.01, -0.2), (0.02, 0.0, -0.15)),
            inertias,
            frames,
            strict=True,
        )
    ]
    parts = gs.chain("world", gs.Joint("flight", "free"), bodies[0])
    arm = [
        ("hull.out", "shoulder.a"),
        ("shoulder.b", "upper.origin"),
        ("upper.out", "elbow.a"),
        ("elbow.b", "lower.origin"),
    ]
    whole = gs.assemble("flyer", parts)
    return gs.Model("flyer", (*whole.entities, *joints, *bodies[1:]), (*whole.connections, *arm), whole.context)


def floating_run(robot):
    """A tumbling motion made of rates: q is integrated from them."""
    rng, dt, count = np.random.default_rng(0), 1e-3, 1500
    t = np.arange(count) * dt
    w = rng.uniform(2.0, 7.0, (3, robot.nv))
    phase = rng.uniform(0.0, 6.0, (3, robot.nv))
    x = t[:, None, None] * w + phase
    v, a = np.sin(x).sum(axis=1), (w * np.cos(x)).sum(axis=1)
    q = np.empty((count, robot.nq))
    q[0] = gs.neutral(robot)
    middle = np.sin(x + 0.5 * dt * w).sum(axis=1)
    for k in range(count - 1):
        q[k + 1] = gs.integrate(robot, q[k], middle[k], dt)
    return t, q, v, a, gs.rnea(robot, q, v, a)


@pytest.mark.slow
def test_rates_of_a_floating_base_follow_from_its_quaternions():
    robot = floating()
    t, q, v, _a, tau = floating_run(robot)
    flipped = q.copy()
    flipped[700:, 3:7] *= -1.0  # the same rotations
    for given in (q, flipped):
        run = gs.studies.measured_run(robot, t, given, tau, band=40.0)
        places = np.searchsorted(t, run.t)
        inner = run.inner
        np.testing.assert_allclose(run.v[inner], v[places][inner], atol=2e-2)


@pytest.mark.slow
@pytest.mark.parametrize("make", [four_bar, five_bar, gs.robots.palletizer])
def test_closed_loops_in_minimal_coordinates_are_identified(make):
    robot = make()
    t, q, v, a = motion(robot, seconds=3.0, rate=200.0, size=0.15)
    q = q + gs.neutral(robot) - q.mean(axis=0)
    tau = gs.rnea(robot, q, v, a)
    found = identify(wrong(robot), t, q, tau, v, a, band=False, terms=(), candidates=())
    np.testing.assert_allclose(found.torques(q, v, a), tau, atol=1e-3 * np.abs(tau).max())
    np.testing.assert_allclose(gs.rnea(found.model, q, v, a), tau, atol=1e-3 * np.abs(tau).max())


def test_loops_that_stay_constraints_are_refused_by_name():
    robot = four_bar(loops="constraints")
    t = np.arange(100) * 0.01
    with pytest.raises(GyrostatError, match="keeps loops as constraints"):
        identify(robot, t, np.zeros((100, robot.nq)), np.zeros((100, robot.nv)))


def test_measured_wrenches_are_taken_off():
    robot = with_friction(gs.robots.two_link())
    run = run_of(robot)
    w = np.zeros((len(run.t), 6))
    w[:, 3] = 20.0 * np.sin(3.0 * run.t)
    tau = gs.rnea(robot, run.q, run.v, run.a, wrenches={"lower.tip": w})
    assert np.abs(tau - run.tau).max() > 5.0
    found = identify(wrong(robot), run.t, run.q, tau, wrenches={"lower.tip": w}, candidates=())
    clean = identify(wrong(robot), run.t, run.q, run.tau, candidates=())
    np.testing.assert_allclose(found.base.values, clean.base.values, atol=2e-2)
    with_w = found.torques(run.q, run.v, run.a, {"lower.tip": w})
    assert np.abs(with_w - tau).max() < 0.05 * np.abs(tau).max()


@pytest.mark.slow
def test_a_payload_is_found_in_one_call():
    robot = gs.robots.arm6()
    port = tool(robot)
    true = robot.attach(
        gs.RigidBody("load", mass=2.3, com=(0.02, -0.03, 0.08), inertia=np.diag([0.02, 0.015, 0.01]).tolist()), to=port
    )
    run = run_of(true, seconds=8.0, rate=250.0, noise=0.002)
    found = gs.studies.identify_payload(robot, run.t, run.q, run.tau, at=port)
    assert found.known and abs(found.mass - 2.3) < 3.0 * found.sigma[0] + 1e-3
    np.testing.assert_allclose(found.com, (0.02, -0.03, 0.08), atol=5e-3)
    np.testing.assert_allclose(gs.rnea(found.model, run.q, run.v, run.a), found.torques(run.q, run.v, run.a), atol=1e-9)
    assert "mass [kg]" in str(found.report())
    still = np.broadcast_to(run.q[::10], run.q[::10].shape)
    zero = np.zeros_like(still)
    tau = gs.rnea(true, still, zero, zero)
    held = gs.studies.identify_payload(robot, run.t[: len(still)], still, tau, zero, zero, at=port, band=False)
    assert abs(held.mass - 2.3) < 0.02 and not held.known and np.isinf(held.sigma[4:]).all()


def tool(robot):
    """The last body's own port."""
    return f"{gs.Regressor(robot).bodies[-1]}.origin"


def test_a_run_without_the_payload_takes_the_errors_of_the_robot_away():
    robot = with_friction(gs.robots.two_link())
    true = robot.attach(
        gs.RigidBody("load", mass=1.5, com=(0.0, 0.0, 0.05), inertia=np.diag([0.01] * 3).tolist()), to="lower.tip"
    )
    empty, full = run_of(robot, noise=0.003), run_of(true, seed=1, noise=0.003)
    before = wrong(gs.robots.two_link())
    shift = np.array([1.0, -0.6])
    found = gs.studies.identify_payload(
        before, full.t, full.q, full.tau + shift, at="lower.tip", without=(empty.t, empty.q, empty.tau + shift)
    )
    assert abs(found.mass - 1.5) < 0.1 and "offset" in found.identification.outside
    told = found.torques(full.q, full.v, full.a)
    assert np.abs(told - full.tau - shift).max() < 0.05 * np.abs(full.tau).max()
    again = type(found).from_dict(found.to_dict())
    np.testing.assert_array_equal(again.torques(full.q, full.v, full.a), told)


def test_joints_without_shafts_have_inertias_only():
    inertia = (0.1, 0.12, 0.08)
    ball = gs.RigidBody("ball", mass=1.0, com=(0.0, 0.0, 0.1), inertia=inertia)
    robot = gs.assemble("pivot", gs.chain("world", gs.Joint("s", "spherical"), ball))
    t = np.arange(1500) * 2e-3
    x = t[:, None] * [3.0, 2.0, 5.0] + [0.0, 1.5, 1.0]
    v, a = np.sin(x), np.cos(x) * [3.0, 2.0, 5.0]
    q = [gs.neutral(robot)]
    for rate in np.sin(x + 1e-3 * np.array([3.0, 2.0, 5.0]))[:-1]:
        q.append(gs.integrate(robot, q[-1], rate, 2e-3))
    tau = gs.rnea(robot, np.array(q), v, a)
    found = identify(wrong(robot), t, np.array(q), tau)
    assert found.terms == ()
    assert np.abs(gs.rnea(found.model, np.array(q), v, a) - tau).max() < 1e-3 * np.abs(tau).max()
    with pytest.raises(GyrostatError, match="tau is zero throughout"):
        identify(gs.robots.two_link(gravity=0.0), t, np.zeros((1500, 2)), np.zeros((1500, 2)))
