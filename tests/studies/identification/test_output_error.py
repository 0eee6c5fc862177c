"""Output error: parameters from the motion alone, with deviations; what the motion does not tell is refused."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import GyrostatError

PATHS = ["shoulder_drive.friction.viscous", "elbow_drive.friction.viscous", "lower.mass"]


@pytest.fixture(scope="module")
def robot():
    model = gs.robots.two_link()
    for joint in model.dofs:
        model = model.with_drive(joint, viscous=0.3)
    return model


@pytest.fixture(scope="module")
def measured(robot):
    t = np.arange(601) * 5e-3
    tau = np.stack([3.0 * np.sin(2.0 * t), 1.5 * np.cos(3.0 * t)], axis=1)
    run = gs.simulate(robot, tau, q0=[-1.5, 0.1], v0=[0.0, 0.0], t_eval=t, rtol=1e-10)
    return t, run.q, tau


def test_noise_of_the_encoders_is_within_the_deviations(robot, measured):
    t, q, tau = measured
    noisy = q + 1e-4 * np.random.default_rng(0).normal(size=q.shape)
    start = robot.replace(dict(zip(PATHS, (0.5, 0.1, 1.3), strict=True)))
    found = gs.studies.output_error(start, t, noisy, tau, parameters=PATHS, band=False, window=0.4)
    assert found.finished
    assert np.all(np.abs(found.values - [0.3, 0.3, 1.0]) < 4.0 * found.sigma)
    assert np.all(found.rms < 2e-4) and np.all(found.rms_before > 1e-2)
    assert found.model["lower.mass"] == found.values[2]
    again = type(found).from_dict(found.to_dict())
    np.testing.assert_array_equal(again.covariance, found.covariance)
    assert "windows" in str(found.report())


@pytest.mark.slow
def test_parameters_that_do_the_same_are_refused_by_name(robot, measured):
    t, q, tau = measured
    twice = robot.attach(gs.Damper("more", damping=0.1, ground=True), to="shoulder.shaft", port="a")
    with pytest.raises(GyrostatError, match=r"does not determine '(more\.damping|shoulder_drive\.friction\.viscous)'"):
        gs.studies.output_error(twice, t, q, tau, parameters=[PATHS[0], "more.damping"], band=False, window=0.4)


def test_what_cannot_be_is_refused(robot, measured):
    t, q, tau = measured
    with pytest.raises(GyrostatError, match="nothing to fit"):
        gs.studies.output_error(robot, t, q, tau, parameters=[])
    with pytest.raises(GyrostatError, match="longer than the run"):
        gs.studies.output_error(robot, t, q, tau, parameters=PATHS, band=False, window=100.0)
    with pytest.raises(GyrostatError, match="parameters are single numbers"):
        gs.studies.output_error(robot, t, q, tau, parameters=["lower.inertia"])
