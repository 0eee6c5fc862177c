"""Torques for motions of joints and tips of robots whose links and drives are elastic."""

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.flexible_product import arm

MOTION = gs.trajectories.point_to_point([0.0, 0.2], [0.4, -0.3], 0.3, order=6)
STEEL = {"E": 2.1e11, "G": 8.1e10, "density": 7850.0}


def lever(gravity=(0, 0, 0), **properties):
    beam = gs.FlexibleBeam(
        "lever", length=1.0, area=4e-4, I_y=1.3e-8, I_z=1.3e-8, J=2.2e-8, modes=(2, 0), modes_x=0,
        **(STEEL | properties),
    )  # fmt: skip
    hinge = gs.Joint("hinge", "revolute", axis="z")
    wires = gs.connect("world", "hinge.a"), gs.connect("hinge.b", "lever.a")
    return gs.assemble("one", hinge, beam, *wires, gravity=gravity)


def elastic(model, *joints):
    for name in joints:
        model = model.with_drive(name, rotor_inertia=1e-4, gear_ratio=50.0, stiffness=4000.0)
    return model


def played_back(model, done, end):
    """The motion of the model under the torques, from the state at the begin."""
    t = np.linspace(done.begin, end, 3001)
    tau = make_interp_spline(t, done.torque(t), k=5)
    q, v, _, _ = done.at(done.begin)
    at = np.linspace(done.begin, end, 101)
    run = gs.simulate(
        model, lambda s, q, v: tau(min(max(s, 0.0) + done.begin, end)), q, v, end - done.begin, t_eval=at - done.begin,
        rtol=1e-10, atol=1e-12, compiled=False, progress=False,
    )  # fmt: skip
    return run, done.at(at)


@pytest.mark.parametrize("joints", [(), ("wrist", "shoulder")])
def test_rows_satisfy_the_equations_of_motion(joints):
    model = elastic(arm("segments"), *joints)
    done = gs.flexible.inverse_dynamics(model, MOTION, np.linspace(0.0, 0.35, 36))
    names = [model.dofs.index(name) for name in ("shoulder", "wrist")]
    assert_close(done.q[:, names], MOTION(np.clip(done.t, 0.0, 0.3)), 1e-14)
    idle = [k for k, name in enumerate(model.dofs) if "boom" in name or name in joints]
    assert np.abs(done.tau[:, idle]).max() == 0.0
    residual = gs.rnea(model, done.q, done.v, done.a) - done.tau
    assert np.abs(residual).max() < 1e-6 * np.abs(gs.gravity(model, done.q)).max()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["segments", "in-cut, by b"])
@pytest.mark.parametrize("joints", [(), ("wrist",), ("wrist", "shoulder")])
def test_torques_played_back_move_the_joints_of_an_arm_as_prescribed(kind, joints):
    expect_played_back(elastic(arm(kind), *joints), MOTION, ("shoulder", "wrist"))


@pytest.mark.parametrize("joints", [(), ("hinge",)])
def test_torques_played_back_move_a_lever_as_prescribed(joints):
    model = elastic(lever(gravity=(0.0, -9.81, 0.0)), *joints)
    expect_played_back(model, gs.trajectories.point_to_point([0.0], [1.0], 0.2, 6), ("hinge",))


def expect_played_back(model, motion, joints):
    done = gs.flexible.inverse_dynamics(model, motion, after=0.05)
    run, (q, *_) = played_back(model, done, done.end)
    names = [model.dofs.index(name) for name in joints]
    assert np.abs(run.q - q)[:, names].max() < 1e-7
    assert np.abs(run.q - q).max() < 1e-7 * np.abs(q).max()


def test_elastic_joints_alone_need_the_torques_that_differentiation_gives():
    """H04's algorithm differentiates six times; here a boundary-value problem is solved."""
    model = (
        gs.robots.two_link()
        .with_drive("shoulder", rotor_inertia=1e-3, gear_ratio=50, stiffness=900.0)
        .with_drive("elbow", rotor_inertia=5e-4, gear_ratio=-40, stiffness=700.0)
    )
    solver = gs.ElasticInverseDynamics(model)
    motion = gs.trajectories.point_to_point([0.1, 0.2], [0.9, -0.5], 1.0, order=7)
    t = np.linspace(0.0, 1.0, 21)
    expected = solver(motion.derivatives(t, solver.order))
    done = gs.flexible.inverse_dynamics(model, motion, t)
    rotors = [model.dofs.index(name) for name in model.shafts.rotors]
    assert_close(done.tau[:, rotors], expected.tau_motor, 1e-7 * np.abs(expected.tau_motor).max())
    assert_close(done.q[:, rotors], expected.theta, 1e-9)


def test_joints_are_minimum_phase_and_a_tip_is_not():
    model = lever(damping=1e-4)
    assert gs.flexible.zeros(model, np.zeros(3)).minimum_phase
    held = model.lock("hinge", 0.0)
    clamped = gs.eigenfrequencies(held, np.zeros(2)).undamped * 2 * np.pi
    assert_close(np.abs(gs.flexible.zeros(model, np.zeros(3)).values)[::2], clamped, 1e-6 * clamped[-1])
    tip = gs.flexible.zeros(model, np.zeros(3), ("lever.b", "y"))
    assert list(tip.unstable) == ["lever.y1", "lever.y1 (2)"] and "+298.4 1/s" in repr(tip)
    motion = gs.trajectories.septic([0.0], [0.4], 0.5)
    with pytest.raises(gs.SpecError, match=r"unstable zeros: \+298\.4 1/s \('lever.y1'\), \+1218"):
        gs.flexible.inverse_dynamics(model, motion, outputs=("lever.b", "y"), before=0.0)


@pytest.mark.parametrize("joints", [(), ("hinge",)])
def test_a_tip_follows_its_motion_by_torques_that_begin_earlier(joints):
    model = elastic(lever(damping=1e-4), *joints)
    motion = gs.trajectories.point_to_point([0.0], [0.5], 0.5, order=7)
    done = gs.flexible.inverse_dynamics(model, motion, outputs=("lever.b", "y"))
    assert done.begin < -0.05 and done.end > 0.55
    early = np.abs(done.torque(np.array([done.begin, 0.5 * done.begin, 0.0]))).max(axis=1)
    assert early[0] < 1e-6 * early[2] and early[1] < early[2]
    run, (q, *_) = played_back(model, done, done.end)
    tip = gs.fk(model, run.q)["lever.b"].p[:, 1]
    assert np.abs(tip - motion(np.clip(run.t + done.begin, 0.0, 0.5))[:, 0]).max() < 1e-7
    assert np.abs(run.q - q).max() < 1e-7 * np.abs(q).max()


def test_small_motions_of_a_tip_need_the_torques_of_the_frequency_response():
    """tau(w) = y(w) / G(i w) knows no causes and effects: it is the bounded, non-causal solution."""
    model = lever(damping=1e-3)
    C = np.array([[1.0, 2.0, -2.0]])
    there = gs.trajectories.point_to_point([0.0], [1e-5], 0.1, order=6)
    back = gs.trajectories.point_to_point([1e-5], [0.0], 0.1, order=6)
    n, T = 4096, 0.8
    t = np.arange(n) * T / n - 0.3
    y = np.where(t < 0.1, there(np.clip(t, 0.0, 0.1))[:, 0], back(np.clip(t - 0.1, 0.0, 0.1))[:, 0])
    still = np.zeros(3)
    slopes = gs.rnea_derivatives(model, still, still, still)
    w = 2 * np.pi * np.fft.rfftfreq(n, T / n)[1:, None, None]
    G = C @ np.linalg.inv(slopes.dtau_dq + 1j * w * slopes.dtau_dv - w**2 * slopes.dtau_da)[:, :, :1]
    expected = np.fft.irfft(np.concatenate([[0.0], np.fft.rfft(y)[1:] / G[:, 0, 0]]), n)
    done = gs.flexible.inverse_dynamics(model, there.then(back), outputs=C, rtol=1e-7)
    tau = done.torque(t)[:, 0]
    inside = (t > -0.04) & (t < 0.23)
    assert np.abs(tau - expected)[inside].max() < 1e-5 * np.abs(expected).max()


@pytest.mark.parametrize("joints", [(), pytest.param(("wrist", "shoulder"), marks=pytest.mark.slow)])
def test_a_shaped_motion_leaves_no_vibration(joints):
    model = elastic(arm("segments"), *joints)
    shaped = gs.flexible.rest_to_rest(model, [0.0, 0.2], [0.4, -0.3], 0.6)
    assert shaped.left < 1e-5
    assert_close(shaped.motion([0.0, 0.6]), [[0.0, 0.2], [0.4, -0.3]], 1e-14)
    t = np.linspace(0.61, 0.8, 50)
    after = gs.flexible.inverse_dynamics(model, shaped.motion, t)
    plain = gs.flexible.inverse_dynamics(model, gs.trajectories.point_to_point([0.0, 0.2], [0.4, -0.3], 0.6, 5), t)
    links = [k for k, name in enumerate(model.dofs) if "boom" in name]
    left, usual = (np.ptp(x.q[:, links], axis=0).max() for x in (after, plain))
    assert usual > 1e-2 and left < 1e-7 * usual


def test_what_cannot_be_prescribed_is_told():
    model = arm("segments")
    for motion, words in (
        (gs.trajectories.quintic([0.0], [1.0], 1.0), "in their order: shoulder, wrist"),
        (gs.trajectories.quintic([0.0] * 2, [1.0] * 2, 1.0, names=["x", "y"]), "outputs= says what"),
        (gs.trajectories.point_to_point([0.0] * 2, [1.0] * 2, 1.0, 1, [[1.0, 0.0]]), "not begin at rest"),
    ):
        with pytest.raises(gs.SpecError, match=words):
            gs.flexible.inverse_dynamics(model, motion, [0.0, 1.0])
    with pytest.raises(gs.SpecError, match="has no flexible link and no elastic joint"):
        gs.flexible.inverse_dynamics(gs.flexible.rigid(model), MOTION, [0.0, 1.0])
    with pytest.raises(gs.SpecError, match=r"1 outputs \(hand.tip.z\) for 2 motors \(shoulder, wrist\)"):
        gs.flexible.inverse_dynamics(model, MOTION, outputs=("hand.tip", "z"))
    with pytest.raises(gs.ShapeError, match="a finite matrix"):
        gs.flexible.zeros(model, np.zeros(6), [[1.0, 2.0]])
    jump = elastic(lever(), "hinge")
    with pytest.raises(gs.StateError, match="torques still change"):
        gs.flexible.inverse_dynamics(jump, gs.trajectories.quintic([0.0], [1.0], 0.1), intervals=200, rtol=1e-12)
