"""Fastest paths with closed forms: bang-bang motions of one mass, and what the literature prints."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gyrostat as gs

EVEN = np.linspace(0.0, 1.0, 401)


def mass(m: float = 2.0, *more: gs.Entity, **joint: object) -> gs.Model:
    parts = [gs.Joint("x", "prismatic", axis=(1.0, 0.0, 0.0), **joint), gs.RigidBody("box", mass=m)]
    return gs.assemble("cart", gs.chain("world", *parts, *more))


def line(length: float) -> list[list[float]]:
    return [[0.0], [length]]


def test_a_mass_under_a_force_limit_needs_twice_the_root_of_m_l_over_f():
    found = gs.studies.time_optimal(mass(), line(3.0), torque_limits=5.0)
    assert found.duration == pytest.approx(2.0 * np.sqrt(2.0 * 3.0 / 5.0), rel=1e-6)
    (switch,) = found.switching
    assert (switch.before, switch.after) == ("accelerate", "decelerate") and switch.s == pytest.approx(0.5, abs=5e-3)


def test_forces_that_differ_by_direction_move_the_switch():
    # T = v/a + v/d with v^2 = 2 L a d/(a + d)
    a, d = 3.0 / 2.0, 8.0 / 2.0
    v = np.sqrt(2.0 * 3.0 * a * d / (a + d))
    found = gs.studies.time_optimal(mass(), line(3.0), torque_limits=[[-8.0, 3.0]], grid=2000)
    assert found.duration == pytest.approx(v / a + v / d, rel=1e-6)


@pytest.mark.parametrize(("speed", "exact"), [(1.0, 1.5), (10.0, np.sqrt(2.0))])
def test_limits_of_speed_and_acceleration_give_trapezia(speed, exact):
    # toppra 0.6.10 gives 1.5000001, 1.4142137 with 101 points
    found = gs.studies.time_optimal(
        mass(), line(1.0), np.inf, velocity_limits=speed, acceleration_limits=2.0, grid=np.linspace(0.0, 1.0, 101)
    )
    assert found.duration == pytest.approx(exact, rel=1e-6)
    kinds = [w.after for w in found.switching]
    assert kinds == (["cruise", "decelerate"] if speed == 1.0 else ["decelerate"])


def test_viscous_friction_against_the_solved_equation_of_motion():
    # m v' = +-F - d v: v = F/d (1 - e^(-t d/m)) forwards, backwards in time likewise with -d
    from scipy.optimize import brentq

    m, d, F, L = 2.0, 1.5, 5.0, 3.0
    k = d / m

    def ahead(t):
        return F / d * (1.0 - np.exp(-k * t)), F / d * (t - (1.0 - np.exp(-k * t)) / k)

    def back(v):
        t = np.log(1.0 + d * v / F) / k
        return t, v / k - F / d * t  # time and way to stop from v under -F

    t1 = brentq(lambda t: ahead(t)[1] + back(ahead(t)[0])[1] - L, 1e-3, 20.0)
    exact = t1 + back(ahead(t1)[0])[0]
    model = gs.assemble(
        "cart",
        gs.chain("world", gs.Joint("x", "prismatic", axis=(1.0, 0.0, 0.0)), gs.RigidBody("box", mass=m)),
        gs.Friction("rub", viscous=d, coulomb=0.0),
        gs.connect("rub.shaft", "x.shaft"),
    )
    late = []
    for N in (500, 1000):  # s'' is constant in an interval, in which friction grows: of first order
        found = gs.studies.time_optimal(model, line(L), torque_limits=F, grid=N)
        assert found.check(20) <= 0.0
        late.append(found.duration / exact - 1.0)
    assert 0.0 < late[1] < 6e-4 and late[0] / late[1] == pytest.approx(2.0, rel=0.1)


def test_coulomb_friction_takes_its_force_off_when_driving_and_helps_when_braking():
    c, F, L, m = 1.0, 5.0, 3.0, 2.0
    a, d = (F - c) / m, (F + c) / m
    v = np.sqrt(2.0 * L * a * d / (a + d))
    model = gs.assemble(
        "cart",
        gs.chain("world", gs.Joint("x", "prismatic", axis=(1.0, 0.0, 0.0)), gs.RigidBody("box", mass=m)),
        gs.Friction("rub", viscous=0.0, coulomb=c),
        gs.connect("rub.shaft", "x.shaft"),
    )
    for path, way in ((line(L), 1), ([[L], [0.0]], -1)):
        found = gs.studies.time_optimal(model, path, torque_limits=F, grid=1000)
        assert found.duration == pytest.approx(v / a + v / d, rel=2e-6), way


def test_the_speed_of_a_motor_limits_its_torque():
    # F = k (U - k w)/R while driving, min(F, k U/R + ...) while braking: the mass has the viscous friction k^2/R ahead
    m, k, U, R, L = 2.0, 0.5, 12.0, 1.0, 3.0
    rate, end = k * k / R / m, U / k
    model = gs.assemble(
        "cart",
        gs.chain("world", gs.Joint("x", "prismatic", axis=(1.0, 0.0, 0.0)), gs.RigidBody("box", mass=m)),
        gs.Motor("motor", torque_constant=k, resistance=R, voltage_limit=U),
        gs.connect("motor.shaft", "x.shaft"),
    )
    found = gs.studies.time_optimal(model, [[0.0], [L]], end_speed=0.0, grid=1000)
    t = np.linspace(0.0, found.duration, 4001)
    v, F = found.trajectory.derivatives(t, 1)[:, 1, 0], found.torques(t)[:, 0]
    assert np.all(k * (U - k * v) / R + 1e-8 >= F) and found.check(20) <= 0.0
    ahead = t < 0.4 * found.duration
    assert v[ahead] == pytest.approx(end * (1.0 - np.exp(-rate * t[ahead])), rel=3e-3, abs=1e-5)


def test_a_pendulum_needs_longer_upwards_than_a_mass_without_weight():
    model = gs.robots.pendulum()
    limit = 60.0
    up = gs.studies.time_optimal(model, [[0.0], [1.5]], torque_limits=limit, positions=False)
    tau = up.torques(np.linspace(0.0, up.duration, 3001))
    assert np.abs(tau).max() <= limit * (1.0 + 1e-9)
    # energy: what the torque did is the height that was gained; the motion begins and ends at rest
    t = np.linspace(0.0, up.duration, 200_001)
    q, v, _ = np.moveaxis(up.trajectory.derivatives(t, 2), -2, 0)
    work = np.trapezoid(up.torques(t)[:, 0] * v[:, 0], t)
    rise = gs.potential_energy(model, q[-1]) - gs.potential_energy(model, q[0])
    assert work == pytest.approx(float(rise), rel=1e-4)


def test_start_and_end_speeds_are_kept_and_stops_are_stops():
    found = gs.studies.time_optimal(mass(), line(3.0), 5.0, start_speed=0.2, end_speed=0.1)
    assert found.sdot[0] == pytest.approx(0.2) and found.sdot[-1] == pytest.approx(0.1)
    assert found.trajectory.derivatives(0.0, 1)[1] == pytest.approx([0.6])
    stopped = gs.studies.time_optimal(mass(), line(3.0), 5.0, stops=[0.5])
    assert stopped.duration == pytest.approx(2.0 * 2.0 * np.sqrt(2.0 * 1.5 / 5.0), rel=1e-6)


def test_the_study_and_its_result_are_data():
    found = gs.studies.time_optimal(mass(), line(3.0), 5.0, grid=EVEN)
    again = gs.studies.FastestPath.from_dict(json.loads(json.dumps(found.to_dict())))
    assert again.duration == found.duration and again.switching == found.switching
    assert again.study.run().duration == found.duration
    with pytest.raises(gs.GyrostatError, match="is a function, which is no data"):
        gs.studies.TimeOptimal(mass(), lambda s: [s], 5.0).to_dict()


def test_power_is_bounded():
    found = gs.studies.time_optimal(mass(), line(3.0), 5.0, power_limits={"x": 4.0}, grid=1000)
    t = np.linspace(0.0, found.duration, 5001)
    v = found.trajectory.derivatives(t, 1)[:, 1]
    power = np.abs(found.torques(t) * v)
    assert power.max() <= 4.0 * (1.0 + 1e-6) and power.max() > 3.99
    # constant power: m v^2/2 = P t after the force limit; time of the way, then mirrored in time
    F, P, m, half = 5.0, 4.0, 2.0, 1.5
    v1 = P / F
    t1, s1 = v1 * m / F, 0.5 * v1 * v1 * m / F
    v2 = (v1**3 + 3.0 * P / m * (half - s1)) ** (1.0 / 3.0)
    exact = 2.0 * (t1 + m * (v2**2 - v1**2) / (2.0 * P))
    assert found.duration == pytest.approx(exact, rel=1e-3)


def test_margins_that_the_check_asks_for_stay_so_that_one_more_pass_is_enough():
    """Viscous friction, splines of degree 3: the check between points sees what three points do not."""
    arm = gs.robots.two_link()
    for joint in arm.dofs:
        arm = arm.with_drive(joint, viscous=2.0)
    limits = {"velocity_limits": 2.0, "acceleration_limits": 9.0, "degree": 3, "grid": 200, "progress": False}
    for seed in (14, 18, 27):
        way = np.random.default_rng(seed).uniform(-1.0, 1.0, (6, 2))
        found = gs.studies.time_optimal(arm, way, torque_limits=[60.0, 25.0], **limits)
        assert found.passes <= 6 and found.check(50) <= 0.0
