"""Torques for a motion of the joints of an arm with a flexible link."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import gyrostat as gs
from tests.support.comparing import assert_close
from tests.support.flexible_product import arm

MOTION = gs.trajectories.point_to_point([0.0, 0.2], [0.4, -0.3], 0.3, order=4)


@pytest.mark.parametrize("kind", ["segments", pytest.param("in-cut, by b", marks=pytest.mark.slow)])
def test_torques_played_back_move_the_joints_as_prescribed(kind):
    model = arm(kind)
    t = np.linspace(0.0, 0.3, 1201)
    done = gs.flexible.inverse_dynamics(model, MOTION, t)
    joints = [0, model.nv - 1]
    expected = MOTION.derivatives(t, 2)
    assert_close(done.q[:, joints], expected[:, 0], 1e-8)
    assert_close(done.a[:, joints], expected[:, 2], 1e-12)
    assert np.abs(done.tau[:, 1:-1]).max() == 0.0 and np.ptp(done.q[:, 1:-1], axis=0).max() > 1e-4
    assert_close(gs.rnea(model, done.q, done.v, done.a), done.tau, 1e-9)
    tau = CubicSpline(t, done.tau)
    again = gs.simulate(
        model, lambda s, q, v: tau(s), done.q[0], None, 0.3, t_eval=t, rtol=1e-11, atol=1e-13, compiled=False,
        progress=False,
    )  # fmt: skip
    assert np.abs(again.q[:, joints] - expected[:, 0]).max() < 1e-8


def test_what_cannot_be_prescribed_is_told():
    model = arm("segments")
    for name, motion, words in (
        (
            "one joint",
            gs.trajectories.quintic([0.0], [1.0], 1.0),
            "in their order: shoulder, wrist",
        ),
        ("others", gs.trajectories.quintic([0.0] * 2, [1.0] * 2, 1.0, names=["x", "y"]), "inverse is unstable"),
        ("no rest", gs.trajectories.point_to_point([0.0] * 2, [1.0] * 2, 1.0, 1, [[1.0, 0.0]]), "not begin at rest"),
    ):
        with pytest.raises(gs.SpecError, match=words):
            gs.flexible.inverse_dynamics(model, motion, [0.0, 1.0])
        assert name
    soft = model.with_drive("wrist", rotor_inertia=1e-4, gear_ratio=50.0, stiffness=900.0)
    with pytest.raises(gs.SpecError, match="rotors behind springs"):
        gs.flexible.inverse_dynamics(soft, MOTION, [0.0, 1.0])
    with pytest.raises(gs.SpecError, match="has no flexible link"):
        gs.flexible.inverse_dynamics(gs.flexible.rigid(model), MOTION, [0.0, 1.0])
