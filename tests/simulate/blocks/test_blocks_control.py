"""Controllers of robots: computed torque, gravity, feedforward, joints by name."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat import blocks as bl
from tests.support.blocks_loop import run

BODIES = [
    gs.RigidBody(f"link{k}", mass=m, com=(0.2, 0.0, 0.05), inertia=(0.2, 0.3, 0.25), frames={"tip": (0.4, 0.0, 0.0)})
    for k, m in enumerate((6.0, 4.0, 3.0), start=1)
]
HINGES = [gs.Joint(name, "revolute", axis=axis) for name, axis in (("waist", "z"), ("shoulder", "y"), ("elbow", "y"))]
ARM = gs.assemble("arm", gs.chain("world", *(part for pair in zip(HINGES, BODIES, strict=True) for part in pair)))
MOTION = gs.trajectories.quintic([0.1, 0.2, -0.3], [1.0, -0.4, 0.5], 1.0)
NOTHING = np.zeros(0)


def motion_of(model, block, q0, v0, t_end, dt):
    n = model.nv
    plant = lambda t, y, out: np.concatenate([y[n:], gs.aba(model, y[:n], y[n:], out["tau"])])  # noqa: E731
    return run(block, lambda t, y: {"q": y[:n], "v": y[n:]}, t_end, dt, plant, [*q0, *v0])


def torque(block, t, q, v):
    x = {"q": np.asarray(q, dtype=float), "v": np.asarray(v, dtype=float)}
    return block.output(t, x, np.array(block.states), np.array(block.memory))["tau"]


def test_computed_torque_gives_linear_error_dynamics():
    """e'' + kd e' + kp e = 0 with kp = (25, 16, 9), kd = (10, 8, 6): double poles at -5, -4, -3."""
    w = np.array([5.0, 4.0, 3.0])
    law = bl.computed_torque(ARM, w**2, 2.0 * w, MOTION)
    e0, r0 = np.array([0.2, -0.1, 0.3]), np.array([0.5, 1.0, -1.0])
    start = MOTION.derivatives(0.0, 1)
    found = motion_of(ARM, law, start[0] - e0, start[1] - r0, 0.6, 2.5e-3)
    t = found.t[:, None]
    expected = (e0 + (r0 + w * e0) * t) * np.exp(-w * t)
    error = MOTION(found.t) - found.y[:, :3]
    assert np.abs(error - expected).max() < 1e-9


def test_the_acceleration_under_computed_torque_is_the_wanted_one():
    law = bl.computed_torque(ARM, 100.0, 20.0, MOTION)
    rng = np.random.default_rng(0)
    for _ in range(20):
        q, v, t = rng.normal(size=3), rng.normal(size=3), rng.uniform(0.0, 1.0)
        r, v_r, a_r = MOTION.derivatives(t, 2)
        a = gs.aba(ARM, q, v, torque(law, t, q, v))
        assert np.allclose(a, a_r + 20.0 * (v_r - v) + 100.0 * (r - q), rtol=0.0, atol=1e-9)


def test_the_model_of_the_controller_may_be_another_than_the_plant():
    light = ARM.replace({"link3.mass": 1.5})
    q, v = [0.3, 0.2, 0.1], [0.0, 0.1, 0.2]
    r, v_r, a_r = MOTION.derivatives(0.4, 2)
    wanted = a_r + 20.0 * (v_r - np.array(v)) + 100.0 * (r - np.array(q))
    got = torque(bl.computed_torque(light, 100.0, 20.0, MOTION), 0.4, q, v)
    assert np.allclose(got, gs.rnea(light, q, v, wanted), rtol=1e-12)
    assert not np.allclose(got, gs.rnea(ARM, q, v, wanted), rtol=1e-3)


def test_gravity_compensation_holds_the_arm_where_it_is():
    law = bl.renamed(bl.GravityCompensation(ARM), outputs={"tau_g": "tau"})
    found = motion_of(ARM, law, [0.4, -0.3, 0.8], [0.0, 0.0, 0.0], 0.2, 0.01)
    assert np.abs(found.y[-1] - [0.4, -0.3, 0.8, 0.0, 0.0, 0.0]).max() < 1e-12


def test_feedforward_with_feedback_keeps_the_path():
    start = MOTION.derivatives(0.0, 1).ravel()
    both = bl.pd(50.0, 5.0, MOTION, feedforward=bl.InverseDynamicsFeedforward(ARM))
    alone = bl.pd(50.0, 5.0, MOTION)
    ends = {}
    for name, law in (("both", both), ("alone", alone), ("open", bl.feedforward(ARM, MOTION))):
        found = motion_of(ARM, law, start[:3], start[3:], 0.3, 3e-3)
        ends[name] = np.abs(found.y[-1, :3] - MOTION(found.t[-1])).max()
    assert ends["both"] < 1e-8
    assert ends["open"] < 1e-6
    assert ends["alone"] > 1e-3


def test_pd_with_gravity_compensation_comes_to_its_point():
    goal = [0.3, -0.2, 0.4]
    law = bl.pd(40.0, 12.0, goal, feedforward=bl.GravityCompensation(ARM))
    found = motion_of(ARM, law, [0.0, 0.0, 0.0], [0.0, 0.0, 0.0], 3.0, 0.03)
    assert np.abs(found.y[-1, :3] - goal).max() < 0.02
    assert np.abs(torque(law, 0.0, goal, [0.0] * 3) - gs.gravity(ARM, goal)).max() < 1e-12


def test_simulate_runs_a_compiled_digital_controller_as_the_plain_loop_does():
    law = bl.pid(60, 20, 12, MOTION, limit=80, sample_time=2e-3, delay=1, feedforward=bl.GravityCompensation(ARM))
    q0, v0 = MOTION.derivatives(0.0, 1)
    found = gs.simulate(ARM, law, q0=q0, v0=v0, t_end=0.05, rtol=1e-9, atol=1e-12, progress=False)
    plain = motion_of(ARM, law, q0, v0, 0.05, 5e-4)
    assert np.abs(found.q[-1] - plain.y[-1, :3]).max() < 1e-12
    assert np.abs(found.v[-1] - plain.y[-1, 3:]).max() < 1e-10


# ------------------------------------------------------------------------------------------------ joints
def test_gains_by_joint_name():
    a, b, c = ARM.dofs
    law = bl.pd({c: 3.0, a: 1.0, b: 2.0}, 0.0, [1.0, 1.0, 1.0], model=ARM)
    assert torque(law, 0.0, [0.0] * 3, [0.0] * 3).tolist() == [1.0, 2.0, 3.0]


def test_a_block_for_each_joint():
    parts = [bl.pd(1.0, 0.5, [1.0]), bl.pi(2.0, 5.0, [1.0]), bl.p(3.0, [2.0], sample_time=0.01)]
    law = bl.per_joint(parts)
    assert (law.inputs, law.outputs, len(law.states), law.sample_time) == (("q", "v"), ("tau",), 1, 0.01)
    x = {"q": np.array([0.5, 0.5, 0.5]), "v": np.zeros(3)}
    m = law.update(0.0, x, np.array([0.25]), np.array(law.memory))
    assert law.output(0.0, x, np.array([0.25]), m)["tau"].tolist() == [0.5, 1.25, 4.5]
    assert law.derivative(0.0, x, np.array([0.25]), m).tolist() == [2.5]
    named = bl.per_joint(dict(zip(reversed(ARM.dofs), reversed(parts), strict=True)), ARM)
    m = named.update(0.0, x, np.array([0.25]), np.array(named.memory))
    assert named.output(0.0, x, np.array([0.25]), m)["tau"].tolist() == [0.5, 1.25, 4.5]


def test_a_block_for_some_joints_of_a_floating_robot():
    robot = gs.robots.quadruped()
    leg = robot.dofs[-3:]
    law = bl.at_joints(robot, leg, bl.pd([1.0, 2.0, 3.0], 0.0, [1.0, 1.0, 1.0]))
    q = gs.neutral(robot)
    q[-3:] = [0.5, 0.25, 0.125]
    found = torque(law, 0.0, q, np.zeros(robot.nv))
    assert found.shape == (robot.nv,)
    assert found[-3:].tolist() == [0.5, 1.5, 2.625]
    assert not found[:-3].any()


def test_a_motor_in_the_loop_of_one_joint():
    """PI control of the current, inside: the torque follows what is asked for with the loop's time constant."""
    loop = bl.diagram(
        bl.difference("wanted", "i", "e"),
        bl.PID(2.0, 500.0, target="u"),
        bl.MotorCurrent(2e-3, 0.5, 0.1),
        gives=("tau", "i"),
    )
    assert loop.inputs == ("wanted", "v")
    found = run(loop, lambda t, y: {"wanted": np.array([3.0]), "v": np.zeros(1)}, 0.008, 2e-5)
    assert found.out["i"][-1, 0] == pytest.approx(3.0, rel=1e-3)  # kp / L = ki / R: a lag of 1 ms
    assert np.allclose(found.out["i"][:, 0], 3.0 * (1.0 - np.exp(-found.t / 1e-3)), atol=1e-9)
