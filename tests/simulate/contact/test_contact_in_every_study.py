"""Studies and runs of robots on a ground: each answers with the contact, or refuses by name."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from tests.support.comparing import assert_close

HUMAN = gs.robots.humanoid()
HARD = HUMAN.with_ground(friction=0.8)
HIGH, STANDING = gs.neutral(HUMAN), gs.neutral(HUMAN)
HIGH[2], STANDING[2] = 2.0, 0.769
CLOSED = r"the rigid contact '.*ground' is closed here \(gap -0\.00\d+ m\), and there is no law.*Hint: a stiffness"


def ball(**law) -> gs.Model:
    """A ball with a radius of 10 cm, and a floor."""
    sphere = gs.RigidBody("ball", mass=1.0, inertia=(4e-3, 4e-3, 4e-3))
    model = gs.assemble("ball", gs.chain("world", sphere), base="free")
    return model.with_ground(points=["ball.origin"], radius=0.1, **law) if law else model


def lamp(**law) -> gs.Model:
    """A bar on a hinge 0.5 m above the floor, 0.4 m or 0.6 m long."""
    tip = (0.0, 0.0, -law.pop("length"))
    parts = [
        gs.Displacement("post", translation=(0, 0, 0.5)),
        gs.Joint("hinge", "revolute", axis="y"),
        gs.RigidBody("bar", mass=1.0, com=(0, 0, -0.3), inertia=(0.01, 0.01, 0.001), frames={"tip": tip}),
    ]
    return gs.assemble("lamp", gs.chain("world", *parts)).with_ground(points=["bar.tip"], **law)


START = np.array([0.0, 0.0, 0.3, 0.0, 0.0, 0.0, 1.0])


# ------------------------------------------------------------------------------------------------ studies
@pytest.mark.parametrize("study", [gs.linearise, gs.eigenfrequencies], ids=["linearise", "eigenfrequencies"])
def test_small_motions_know_compliant_contact_and_refuse_rigid_contact_that_is_closed(study):
    with pytest.raises(gs.StateError, match=f"{study.__name__}: {CLOSED}"):
        study(HARD, STANDING)
    with pytest.raises(gs.StateError, match=CLOSED):
        study(HARD, np.stack([HIGH, STANDING]))
    hard, free = ball(friction=0.5), ball()
    one, two = study(hard, START), study(free, START)
    for name in ("A", "B") if study is gs.linearise else ("undamped", "modes", "poles"):
        assert_close(getattr(one, name), getattr(two, name), 1e-12)


def test_the_slope_of_a_compliant_ground_is_in_the_linearisation():
    """A ball pressed in: d a_z / d z = -k/m."""
    model = ball(stiffness=1e3, damping=0.0, friction=0.0)
    q = START.copy()
    q[2] = 0.09
    A = gs.linearise(model, q).A
    assert A[6 + 5, 5] == pytest.approx(-1e3, rel=1e-9)
    assert gs.eigenfrequencies(model, q).undamped.max() == pytest.approx(np.sqrt(1e3) / (2.0 * np.pi), rel=1e-9)


def test_an_equilibrium_that_lies_in_a_rigid_ground_is_refused():
    above = gs.equilibrium(lamp(length=0.4, friction=0.5), [0.3])
    assert above.q == pytest.approx([0.0], abs=1e-9) and above.stable
    with pytest.raises(gs.StateError, match=r"equilibrium: the rigid contact 'bar_tip.*' is closed here \(gap -0\.1 m"):
        gs.equilibrium(lamp(length=0.6, friction=0.5), [0.3])
    soft = lamp(length=0.6, friction=0.0, stiffness=100.0, damping=0.1)
    q = gs.equilibrium(soft, [0.9]).q
    depth = 0.6 * np.cos(q[0]) - 0.5
    assert 9.81 * 0.3 * np.sin(q[0]) == pytest.approx(100.0 * depth * 0.6 * np.sin(q[0]), rel=1e-8) and depth > 0.01


def test_a_humanoid_that_nothing_carries_has_no_equilibrium():
    with pytest.raises(gs.StateError, match=r"equilibrium: 'humanoid' did not come to rest.*'world\.vz' still accel"):
        gs.equilibrium(HARD, HIGH, iterations=5)


def test_the_bicycle_is_linearised_in_minimal_coordinates_and_has_no_eigenfrequencies_of_a_tree():
    bicycle = gs.robots.bicycle()
    assert len(gs.linearise(bicycle, gs.neutral(bicycle)).basis)
    with pytest.raises(gs.LoopError, match=r"eigenfrequencies.*loop"):
        gs.eigenfrequencies(bicycle, gs.neutral(bicycle))


# ------------------------------------------------------------------------------------------------ runs
OF_OTHERS = ("cvode", "ida", "scipy-bdf", "scipy-radau")
RUNS = [pytest.param(name, marks=pytest.mark.slow) if name in OF_OTHERS else name for name in METHODS]


@pytest.mark.parametrize("name", RUNS)
def test_no_method_lets_a_ball_fall_through_the_floor(name):
    """From rest at a gap of 0.2 m: it is there after 0.2019 s."""
    fixed = {} if METHODS[name].adaptive else {"dt": 1e-3}
    hard, soft = ball(friction=0.5), ball(friction=0.5, stiffness=1e4, damping=1.0)
    try:
        run = gs.simulate(hard, None, START, None, 0.4, method=name, **fixed)
    except gs.GyrostatError as error:
        assert "'ball', which has rigid contacts" in str(error) and "Hint" in str(error), error
        assert name in ("variational", "newmark", "trapezoid", "generalised-alpha", "dina")
    else:
        assert run.q[-1, 2] == pytest.approx(0.1, abs=1e-9) and run.v[-1] == pytest.approx(np.zeros(6), abs=1e-9)
    z = gs.simulate(soft, None, START, None, 0.4, method=name, **fixed).q[:, 2]
    assert z.min() > 0.05 and z[-1] > 0.08


@pytest.mark.parametrize("name", ["rk4", "semi-implicit", "moreau"])
def test_rollouts_stop_at_the_floor_or_refuse(name):
    options = {"q0": START, "dt": 1e-3, "steps": 400, "method": name}
    if name == "moreau":
        assert gs.rollout(ball(friction=0.5), **options).q[..., -1, 2] == pytest.approx(0.1, abs=1e-6)
    else:
        with pytest.raises(gs.StateError, match=f"rollout: method '{name}' knows no rigid contact.*Hint: method='mor"):
            gs.rollout(ball(friction=0.5), **options)
    assert gs.rollout(ball(friction=0.5, stiffness=1e4, damping=1.0), **options).q[..., 2].min() > 0.05


def test_steps_and_batches_are_the_run_alone():
    for law in ({}, {"stiffness": 1e4, "damping": 1.0}):
        model = ball(friction=0.5, **law)
        alone = gs.simulate(model, None, START, None, 0.4, method="rk4", dt=1e-3)
        simulator = gs.Simulator(model, None, START, method="rk4", dt=1e-3)
        for _ in range(400):
            simulator.step()
        assert_close(simulator.q, alone.q[-1], 1e-9)
        higher = START + np.array([0, 0, 0.1, 0, 0, 0, 0.0])
        both = gs.simulate(model, None, np.stack([START, higher]), None, 0.4, method="rk4", dt=1e-3)
        assert_close(both[0].q[-1], alone.q[-1], 1e-9)


@pytest.mark.parametrize("name", ["dopri5", "rk4", "radau", "moreau"])
def test_an_accelerometer_on_the_floor_feels_the_floor(name):
    model = gs.sensors.add(ball(friction=0.5), gs.sensors.IMU("ball.origin"))
    fixed = {} if METHODS[name].adaptive else {"dt": 1e-3}
    run = gs.simulate(model, None, START, None, 0.4, method=name, **fixed)
    assert run.sensors["imu"][-1] == pytest.approx([0, 0, 0, 0, 0, 9.81], abs=1e-8)
    assert run.sensors["imu"][1] == pytest.approx(np.zeros(6), abs=1e-8)  # it falls


def test_sensitivities_across_an_impact_are_refused_and_those_of_a_compliant_one_are_there():
    with pytest.raises(gs.SimulationError, match=r"changes the motion at t = 0\.2019.*sensitivities across.*not known"):
        gs.simulate(ball(friction=0.5), None, START, None, 0.4, sensitivities=["ball.mass"])
    soft = ball(friction=0.5, stiffness=1e4, damping=1.0)
    tight = {"rtol": 1e-11, "atol": 1e-13}  # the slope of the force jumps at touchdown, which costs digits
    exact = gs.simulate(soft, None, START, None, 0.3, sensitivities=["ball.mass"], **tight)
    ends = [
        gs.simulate(soft.replace({"ball.mass": 1.0 + s}), None, START, None, 0.3, **tight).q[-1, 2]
        for s in (1e-3, -1e-3)
    ]
    assert exact.sensitivities["ball.mass"].q[-1, 5, 0] == pytest.approx((ends[0] - ends[1]) / 2e-3, rel=1e-3)


def test_files_that_know_no_contact_say_so(tmp_path):
    told = [p for p in gs.save(lamp(length=0.4, friction=0.5), tmp_path / "lamp.urdf") if p.rule == "urdf-lacks"]
    assert {p.entity.split("'")[1] for p in told} == {"ground", "bar_tip_point"}
    gs.save(lamp(length=0.4, friction=0.5), tmp_path / "lamp.yaml")
    assert gs.load(tmp_path / "lamp.yaml") == lamp(length=0.4, friction=0.5)
