"""Cartesian lines of robots with more rates than conditions: least norm, with a posture where it is given."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gyrostat as gs
from benchmarks.robots import urdf
from gyrostat import trajectories as tr

Q = np.array([0.1, -0.5, 0.2, -2.0, 0.1, 1.5, 0.7, 0.02])
HAND = "panda_hand_tcp"


@pytest.fixture(scope="module")
def panda():
    if not urdf("panda").exists():
        pytest.skip("the robots come with the extra 'oracles'")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return gs.load(urdf("panda"))


def target(panda):
    T = gs.fk(panda, Q)[HAND].matrix
    T[:3, 3] += [0.1, 0.2, -0.1]
    return T


@pytest.mark.parametrize("posture", [None, Q * 0.8])
@pytest.mark.parametrize("only", ["pose", "position"])
def test_a_redundant_arm_follows_a_line_with_exact_derivatives_and_leaves_its_gripper_alone(panda, posture, only):
    T = target(panda)
    aim = T if only == "pose" else T[:3, 3]
    if posture is not None:
        posture = np.r_[posture[:7], Q[7]]
    line = tr.cartesian_line(panda, HAND, Q, aim, 2.0, posture=posture)
    t = np.linspace(0.0, 2.0, 41)
    q = line(t)
    p = gs.fk(panda, q)[HAND].p
    share = tr.point_to_point(0.0, 1.0, 2.0)(t)
    np.testing.assert_allclose(p, p[0] + share * [0.1, 0.2, -0.1], atol=1e-10)
    np.testing.assert_array_equal(q[:, 7], Q[7])
    h = 1e-4
    for x in (0.333, 1.0, 1.71):
        ahead, behind = line.derivatives(x + h, 1), line.derivatives(x - h, 1)
        middle = line.derivatives(x, 2)
        np.testing.assert_allclose((ahead - behind) / (2 * h), middle[1:], atol=2e-6)


def test_rates_are_those_of_least_norm(panda):
    line = tr.cartesian_line(panda, HAND, Q, target(panda), 2.0)
    for x in (0.4, 1.3):
        q, v = line.derivatives(x, 1)
        J = gs.jacobian(panda, q, HAND, "aligned")
        np.testing.assert_allclose(v, np.linalg.pinv(J) @ (J @ v), atol=1e-10)


def test_a_posture_pulls_what_is_left(panda):
    posture = np.r_[0.5, -0.2, -0.5, -1.8, 0.5, 1.5, 0.7, 0.02]
    pulled, least = (tr.cartesian_line(panda, HAND, Q, target(panda), 2.0, posture=x)(2.0) for x in (posture, None))
    assert np.linalg.norm(pulled - posture) < 0.7 * np.linalg.norm(least - posture)


def test_a_joint_that_would_pass_its_limit_is_told(panda):
    T = target(panda)
    T[:3, 3] += [0.0, 0.9, 0.0]
    with pytest.raises(gs.StateError, match="of the line"):
        tr.cartesian_line(panda, HAND, Q, T, 2.0)
