"""Things on a tray or in a gripper: the forces that hold them exist, found by another way."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs

POINTS = np.array([(x, y, 0.0) for x in (-0.2, 0.2) for y in (-0.15, 0.15)])


def lift() -> gs.Model:
    """A tray that moves along x and z, and tilts about y."""
    parts = [
        gs.Joint("x", "prismatic", axis=(1.0, 0.0, 0.0)), gs.RigidBody("cart", mass=5.0),
        gs.Joint("z", "prismatic", axis=(0.0, 0.0, 1.0)), gs.RigidBody("column", mass=2.0),
        gs.Joint("tilt", "revolute", axis=(0.0, 1.0, 0.0)), gs.RigidBody("tray", mass=1.0, inertia=(0.1, 0.1, 0.1)),
    ]  # fmt: skip
    return gs.assemble("lift", gs.chain("world", *parts))


WAY = [[0.0, 0.0, 0.0], [0.5, 0.2, 0.1], [1.0, 0.1, -0.05], [1.5, 0.3, 0.0]]


def test_on_a_level_tray_friction_alone_bounds_the_acceleration():
    tray = gs.studies.Carried("tray", 1.0, com=(0.0, 0.0, 0.01), friction=0.3, points=POINTS)
    path = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    found = gs.studies.time_optimal(lift(), path, 1e4, velocity_limits=50.0, carried=tray)
    most = 0.3 * 9.81
    assert found.duration == pytest.approx(2.0 * np.sqrt(1.0 / most), rel=1e-3)  # a face of the pyramid lies along x
    assert "friction cone" in found.active[10]


def test_a_tall_thing_tips_before_it_slides():
    tall = gs.studies.Carried("tray", 1.0, com=(0.0, 0.0, 1.5), friction=0.9, points=POINTS)
    path = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0]]
    found = gs.studies.time_optimal(lift(), path, 1e4, velocity_limits=50.0, carried=tall)
    assert found.duration == pytest.approx(2.0 * np.sqrt(1.0 / (9.81 * 0.2 / 1.5)), rel=1e-3)


def test_contact_forces_inside_the_cones_exist_all_along():
    from scipy.optimize import linprog

    m, com, J, mu = 2.0, np.array([0.02, 0.01, 0.1]), np.diag([0.02, 0.03, 0.01]), 0.4
    tray = gs.studies.Carried("tray", m, com=com, inertia=J, friction=mu, points=POINTS)
    model = lift()
    found = gs.studies.time_optimal(model, WAY, 1e3, velocity_limits=20.0, carried=tray, grid=200)
    free = gs.studies.time_optimal(model, WAY, 1e3, velocity_limits=20.0, grid=200)
    assert found.duration > 1.3 * free.duration
    angles = 2.0 * np.pi * np.arange(8) / 8
    edges = np.stack([mu * np.cos(angles), mu * np.sin(angles), np.ones(8)], axis=1)
    columns = np.array([np.concatenate([np.cross(p, e), e]) for p in POINTS for e in edges]).T
    tight = 0
    for t in np.linspace(0.003, found.duration - 0.003, 60):
        q, v, a = found.trajectory.derivatives(t, 2)
        c, s, w, wd = np.cos(q[2]), np.sin(q[2]), v[2], a[2]
        R = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        omega, alpha = np.array([0.0, w, 0.0]), np.array([0.0, wd, 0.0])
        r = R @ com
        acceleration = np.array([a[0], 0.0, a[1]]) + np.cross(alpha, r) + np.cross(omega, np.cross(omega, r))
        force = m * (acceleration + np.array([0.0, 0.0, 9.81]))
        I = R @ J @ R.T
        moment = I @ alpha + np.cross(omega, I @ omega) + np.cross(r, force)
        wrench = np.concatenate([R.T @ moment, R.T @ force])
        for scale, holds in ((1.0, True), (1.05, False)):
            wanted = wrench.copy()
            wanted[3:5] *= scale
            wanted[:3] = scale * (wanted[:3] - np.cross(com, wrench[3:])) + np.cross(com, wanted[3:])
            answer = linprog(np.ones(32), A_eq=columns, b_eq=wanted, bounds=(0.0, None))
            if holds:
                residual = linprog(
                    np.concatenate([np.zeros(32), np.ones(12)]), A_eq=np.hstack([columns, np.eye(6), -np.eye(6)]),
                    b_eq=wanted, bounds=(0.0, None),
                )  # fmt: skip
                assert residual.fun < 2e-3 * m * 9.81
            else:
                tight += answer.status != 0
    assert tight > 5


def test_a_gripper_holds_what_its_force_and_friction_hold():
    grip = gs.studies.Carried("tray", 1.0, friction=0.5, grip=30.0, normal=(0.0, 1.0, 0.0))
    path = [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    found = gs.studies.time_optimal(lift(), path, 1e4, velocity_limits=50.0, carried=grip)
    # upwards m (g + a) <= 2 mu F inside an octagon, downwards m (g - d) >= -2 mu F
    most = 30.0 * np.cos(np.pi / 8) / np.cos(np.pi / 8)
    a, d = most - 9.81, most + 9.81
    v = np.sqrt(2.0 * a * d / (a + d))
    assert found.duration == pytest.approx(v / a + v / d, rel=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"mass": -1.0, "points": POINTS}, "a positive number"),
        ({"mass": 1.0}, "needs points .on a tray. or grip"),
        ({"mass": 1.0, "points": POINTS[:2]}, "three or more that are not on a line"),
        ({"mass": 1.0, "grip": -3.0}, "a force above 0 N"),
    ],
)
def test_what_is_no_tray_and_no_gripper_is_refused(options, message):
    with pytest.raises(gs.GyrostatError, match=message):
        gs.studies.Carried("tray", **options)
