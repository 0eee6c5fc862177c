"""Fastest motions with limits of the jerk: closed forms, finer grids, and what cannot be."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

EFFORT = np.array([176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0])


def line(s):  # type: ignore[no-untyped-def]
    return [s, 0.5 * s]


def test_a_straight_line_takes_the_time_of_four_arcs_of_constant_jerk():
    found = gs.studies.time_optimal(
        gs.robots.two_link(), line, 1e6, 100.0, jerk_limits=[100.0, 1e4], intervals=40, progress=False
    )
    exact = 4.0 * (1.0 / 200.0) ** (1.0 / 3.0)
    assert exact <= found.duration <= exact * (1.0 + 1e-4)
    assert found.check(100) <= 0.0


def test_a_straight_line_with_all_three_limits_takes_the_time_of_seven_arcs():
    found = gs.studies.time_optimal(
        gs.robots.two_link(), line, 1e6, 1.0, 5.0, jerk_limits=50.0, intervals=200, progress=False
    )
    exact = 1.0 / 1.0 + 1.0 / 5.0 + 5.0 / 50.0  # D / v + v / a + a / j
    assert exact <= found.duration <= exact * 1.002
    assert found.check(100) <= 0.0


@pytest.mark.slow
@pytest.mark.parametrize("jerk", [200.0, 1000.0])
@pytest.mark.parametrize("seed", [0, 1])
def test_no_limit_of_an_arm_is_exceeded_between_the_points(seed, jerk):
    model, points = gs.robots.kuka_lwr4(), np.random.default_rng(seed).uniform(-0.8, 0.8, (5, 7))
    found = gs.studies.time_optimal(model, points, EFFORT, 4.0, jerk_limits=jerk, progress=False)
    fastest = gs.studies.time_optimal(model, points, EFFORT, 4.0, progress=False)
    t = np.linspace(0.0, found.duration, 20_001)
    q, v, a, j = np.moveaxis(found.trajectory.derivatives(t, 3), 1, 0)
    tau = gs.rnea(model, q, v, a)
    assert np.all(np.abs(tau) <= EFFORT) and np.abs(v).max() <= 4.0 and np.abs(j).max() <= jerk
    assert np.abs(j).max() > 0.99 * jerk and found.excess <= 0.0
    numeric = np.diff(a, axis=0) / np.diff(t)[:, None]
    assert np.abs(numeric).max() <= jerk * (1.0 + 1e-6)  # accelerations do not jump
    assert found.duration >= fastest.duration
    assert found.torques(t[::100]) == pytest.approx(tau[::100], abs=1e-5)


def test_wider_limits_of_the_jerk_take_less_time_and_come_back_from_data():
    model = gs.robots.two_link()
    times = []
    for jerk in (20.0, 200.0):
        found = gs.studies.time_optimal(
            model, [[0.2, 0.1], [1.0, 0.6], [0.4, 0.9]], 200.0, 3.0, jerk_limits=jerk, intervals=40, progress=False
        )
        assert found.check(100) <= 0.0
        times.append(found.duration)
    assert times[1] < 0.8 * times[0]
    again = gs.studies.JerkLimitedPath.from_dict(found.to_dict())
    assert again.duration == found.duration and again.check(10) == found.check(10)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"start_speed": 0.1}, "from rest to rest"),
        ({"stops": [0.5]}, "from rest to rest"),
        ({"jerk_limits": [0.0, 1.0]}, "0 is not inside"),
        ({"jerk_limits": {"elbw": 1.0}}, "jerk_limits: no rate .*elbw"),
        ({"intervals": 3}, "from 8 to 2000"),
        ({"torque_limits": [1.0, 1.0]}, "stand still"),
    ],
)
def test_what_cannot_be_is_refused(more, message):
    given = {"torque_limits": 200.0, "velocity_limits": 3.0, "jerk_limits": 50.0} | more
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.time_optimal(gs.robots.two_link(), [[0.2, 0.1], [1.0, 0.6]], progress=False, **given)


def test_dry_friction_keeps_the_limits_beside_turning_points():
    model, effort = gs.robots.two_link(), np.array([60.0, 25.0])
    for joint in model.dofs:
        model = model.with_drive(joint, coulomb=4.0)
    points = np.random.default_rng(1).uniform(-0.8, 0.8, (3, 2))
    found = gs.studies.time_optimal(model, points, effort, 6.0, grid=60, positions=False, jerk_limits=3e4, intervals=30)
    tau = found.torques(np.linspace(0.0, found.duration, 3001))
    assert found.check(100) <= 0.0 and np.all(np.abs(tau) <= effort)
