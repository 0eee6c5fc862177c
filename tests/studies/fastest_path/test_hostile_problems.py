"""Fastest paths of problems that are wrong, or not as smooth as they seem: found, or refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.fastest_path.jumps import jumps

LINE = [[0.0, 0.0], [1.0, 0.2]]
POINTS = [(x, y, 0.0) for x in (-0.05, 0.05) for y in (-0.05, 0.05)]


@pytest.mark.parametrize(
    ("path", "message"),
    [
        (lambda s: [np.abs(s - 0.37), 0.3 * s], r"has a corner at s = 0\.37"),
        (lambda s: [np.where(s < 0.61, s, 0.61 + 0 * s), 0.3 * s], r"has a corner at s = 0\.61"),
        (lambda s: [np.where(s < 0.25, s, s + 0.1), s], r"jumps at s = 0\.25"),
        (lambda s: [0.2 + 0 * s, 0.3], "stays where it is"),
    ],
)
def test_functions_with_corners_and_jumps_are_refused_where_they_are(path, message):
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.time_optimal(gs.robots.two_link(), path, 200.0, 3.0)


def test_a_jump_of_the_curvature_becomes_a_grid_point_and_no_limit_is_exceeded_beside_it():
    model, at = gs.robots.two_link(), 0.4137
    path = lambda s: [np.where(s < at, s, s + 4.0 * (s - at) ** 2), 0.3 * s]  # noqa: E731
    found = gs.studies.time_optimal(model, path, 200.0, 3.0, grid=100)
    assert np.abs(found.s - at).min() < 1e-15
    near = found.at(at + np.array([-1e-6, -1e-9, 1e-9, 1e-6]))[0]
    t = np.concatenate([near, np.linspace(0.0, found.duration, 20001)])
    q, v, a = np.moveaxis(found.trajectory.derivatives(t, 2), -2, 0)
    assert np.abs(gs.rnea(model, q, v, a)).max() <= 200.0 and np.abs(v).max() <= 3.0


def test_smooth_functions_have_no_jumps_however_steep():
    def path(s, order):
        x = 400.0 * (s - 0.3)
        y = np.tanh(x)
        d = [y, 400.0 * (1 - y * y), -2 * 400.0**2 * y * (1 - y * y)]
        return np.array(d[: order + 1])[..., None]

    for order in range(3):
        assert not len(jumps(path, 0.0, 1.0, order))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"acceleration_limits": 0.0}, "no motion at all from s = 0"),
        ({"power_limits": {"shoulder": np.nan}}, "power_limits of 'shoulder': a limit is NaN"),
        ({"power_limits": {"shoulder": -30.0}}, "power_limits: that of 'shoulder' is -30 W"),
        ({"power_limits": 30.0}, "power_limits is 30.0"),
        ({"frame_speed": 0.5}, "frame_speed is 0.5"),
        ({"velocity_limits": {"shoulder": [1.0, 2.0]}}, "velocity_limits of 'shoulder' is"),
        ({"stops": [np.nan]}, "stops holds nan"),
        ({"passive": ["sholder"]}, "no rate '+sholder"),
        ({"torque_limits": {"shoulder": 200.0}, "passive": ["shoulder"]}, "is passive and has the limit 200"),
        ({"passive": ["shoulder"]}, "shoulder .*not enough to stand still"),
        ({"torque_limits": {"shoulder": lambda w: 5.0}}, "a function of the speed, gives 5.0"),
        ({"torque_limits": {"shoulder": lambda w: (np.nan * w, 9.0)}}, "a limit is NaN"),
        ({"torque_limits": {"shoulder": lambda w: (100.0, -100.0)}}, "lower limit 100 above the upper one -100"),
        ({"torque_limits": {"shoulder": lambda w: ([1.0, 2.0], 9.0)}}, "gives other shapes"),
    ],
)
def test_what_was_taken_silently_is_refused_by_name(change, message):
    given = {"torque_limits": 200.0, "velocity_limits": 3.0, "grid": 50} | change
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.time_optimal(gs.robots.two_link(), LINE, **given)


@pytest.mark.parametrize(
    "change",
    [
        {"com": (0.0, 0.0)}, {"normal": (0.0, 0.0, 0.0)}, {"sides": 4.5}, {"sides": 2}, {"inertia": (1.0, 2.0)},
        {"inertia": -np.eye(3)}, {"mass": True}, {"points": [(0, 0, np.nan), (1, 0, 0), (0, 1, 0)]},
    ],
)  # fmt: skip
def test_things_that_are_no_things_are_not_carried(change):
    with pytest.raises(gs.GyrostatError, match=f"{next(iter(change))}"):
        gs.studies.Carried(**({"frame": "lower", "mass": 1.0, "points": POINTS} | change))


def test_one_limit_of_a_joint_does_not_free_motors_that_drive_several():
    study = gs.studies.TimeOptimal(gs.robots.differential_wrist(), np.eye(3)[:2], {"pitch": 20.0})
    assert study.rows.names[:3] == ["torque of left", "torque of right", "torque of pitch"]


def test_answers_outside_the_motion_are_refused():
    found = gs.studies.time_optimal(gs.robots.two_link(), LINE, 200.0, 3.0, grid=50)
    with pytest.raises(gs.GyrostatError, match="the motion lasts from 0"):
        found.torques([0.0, 2.0 * found.duration])
    with pytest.raises(gs.GyrostatError, match="the path goes from s = 0 to 1"):
        found.at(1.5)
    assert found.at(1.0)[0] == pytest.approx(found.duration, rel=1e-12)


def test_a_stop_is_where_it_was_asked_for():
    found = gs.studies.time_optimal(gs.robots.two_link(), LINE, 200.0, 3.0, stops=(1 / 3, 2 / 3), grid=60)
    assert found.s[found.sdot == 0.0] == pytest.approx([0.0, 1 / 3, 2 / 3, 1.0], abs=1e-12)


def test_dry_friction_does_not_make_motions_at_a_speed_limit_chatter():
    # little friction costs little time: 0.46455 s against 0.46412 s without, and 0.4807 s where s'' jumped to and fro
    model, way = gs.robots.two_link(), [[0.0, 0.0], [0.5, 0.7], [1.0, 0.2]]
    free = gs.studies.time_optimal(model, way, [120.0, 60.0], 3.0)
    for coulomb, more in ((1.0, 1e-4), (15.0, 1e-3)):
        rubbing = gs.studies.time_optimal(model.with_drive("shoulder", coulomb=coulomb), way, [120.0, 60.0], 3.0)
        assert free.duration < rubbing.duration < free.duration * (1.0 + more)
        cruising = (rubbing.s[1:] > 0.55) & (rubbing.s[1:] < 0.68)
        assert np.abs(rubbing.u[cruising]).max() < 10.0 and rubbing.check(20) <= 0.0


@pytest.mark.parametrize("grid", [60, 61])  # a grid point where the robot turns round, or none
def test_a_path_that_turns_round_at_a_point_is_passed_there(grid):
    # q' = 0 there: s' is bounded by gravity and inertia alone, and the robot rests for an instant
    study = gs.studies.TimeOptimal(gs.robots.two_link(), lambda s: [(s - 0.5) ** 2] * 2, 200.0, 3.0, grid=grid)
    found = study.run()
    assert found.duration == pytest.approx(0.1918, rel=1e-3) and found.check(40) <= 0.0
