"""The list of errata names tests that exist, and what it says of the robot of WM15 holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from comparing import assert_close, assert_differs

import gyrostat as gs

ROOT = Path(__file__).parents[1]
LWR = gs.robots.kuka_lwr4()


def test_every_test_that_the_errata_name_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "theory" / "errata.md").read_text("utf-8")))
    written = {name for path in Path(__file__).parent.glob("test_*.py")
               for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)}  # fmt: skip
    assert len(named) > 15
    assert named <= written, f"named but not there: {sorted(named - written)}"


def relative(q):
    """Axes of the last link in those of the one before."""
    frames = gs.ForwardKinematics(LWR, ["link6", "link7"], mode="interpret")(q)
    return frames["link6"].R.T @ frames["link7"].R


def test_joint_7_of_the_lwr_turns_with_its_own_coordinate():
    q = np.linspace(-0.6, 0.6, 7)
    sixth, seventh = 0.3 * np.eye(7)[5:]
    assert_close(relative(q + sixth), relative(q), 1e-15)
    assert_differs(relative(q + seventh), relative(q))
    moved = gs.ForwardKinematics(LWR, ["link6", "link7"], mode="interpret")(q, np.eye(7)[6])
    assert_close(moved["link6"].V, np.zeros(6), 1e-15)
    assert_close(np.linalg.norm(moved["link7"].V[:3]), 1.0, 1e-15)  # what H says, and R_z(q_6) would deny


def static_torques(g):
    """Upright, turned about the first axis."""
    model, rest = LWR.replace({"context.gravity": tuple(g)}), np.zeros(7)
    return gs.InverseDynamics(model, mode="interpret")(0.5 * np.eye(7)[0], rest, rest)


def test_only_gravity_along_the_first_axis_lets_the_lwr_stand_without_torque():
    first_axis = gs.ForwardKinematics(LWR, "q1.b", mode="interpret")(np.zeros(7))["q1"].R[:, 2]
    assert_close(first_axis, [0.0, 1.0, 0.0], 1e-15)
    assert_close(static_torques((0, -9.81, 0)), np.zeros(7), 1e-13)
    for g in ((0, 0, -9.81), (-9.81, 0, 0)):
        assert np.abs(static_torques(g)).max() > 1.0


def test_symmetry_in_time_does_not_tell_the_gravity_of_the_lwr():
    def motion(t):
        """WM15 (28) and its derivatives, for all joints."""
        w = np.pi / 7
        return (np.full(7, np.pi / 2 * f) for f in (np.cos(w * t), -w * np.sin(w * t), -w * w * np.cos(w * t)))

    for g in ((0, -9.81, 0), (0, 0, -9.81), (3.0, 1.0, -5.0)):
        solver = gs.InverseDynamics(LWR.replace({"context.gravity": g}), mode="interpret")
        assert_close(solver(*motion(3.0)), solver(*motion(11.0)), 1e-12)
        assert_differs(solver(*motion(3.0)), solver(*motion(4.0)))
