"""Elastic joints from responses in frequency: the truth comes back, by exact and by measured responses."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import GyrostatError, ShapeError

JOINT = "elbow"
PATHS = [f"elbow_drive.{x}" for x in ("spring.stiffness", "damper.damping", "rotor.inertia", "friction.viscous")]
TRUE = (5e3, 2.0, 1e-4, 0.5)
HZ = np.geomspace(0.5, 200.0, 160)


@pytest.fixture(scope="module")
def robot():
    model = gs.robots.two_link().lock("shoulder", 0.0)
    drive = {"rotor_inertia": 1e-4, "gear_ratio": 100.0, "stiffness": 5e3, "damping": 2.0, "viscous": 0.5}
    return model.with_drive(JOINT, **drive)


@pytest.fixture(scope="module")
def signals(robot):
    rotor = robot.dofs[-1]
    return {"q": gs.neutral(robot), "inputs": [rotor], "outputs": [f"v {rotor}"]}


@pytest.fixture(scope="module")
def response(robot, signals):
    return gs.frequency_response(robot, hz=HZ, **signals)


@pytest.fixture(scope="module")
def guess(robot):
    return robot.replace(dict(zip(PATHS, (1.5e3, 6.0, 2e-4, 0.1), strict=True)))


def test_an_exact_response_gives_the_exact_parameters(guess, signals, response):
    found = gs.studies.identify_elasticity(guess, **signals, hz=HZ, H=response.H, parameters=PATHS)
    np.testing.assert_allclose(found.values, TRUE, rtol=1e-5)
    np.testing.assert_allclose(found.resonances, response.resonances, rtol=1e-6)
    np.testing.assert_allclose(found.antiresonances, response.antiresonances(), rtol=1e-6)
    assert found.misfit < 1e-5 and found.model[PATHS[0]] == found.values[0]
    again = type(found).from_dict(found.to_dict())
    np.testing.assert_array_equal(again.values, found.values)
    assert "Resonances" in str(found.report())


def test_noise_is_within_the_deviations(guess, signals, response):
    rng = np.random.default_rng(2)
    H = response.H[:, 0, 0] * (1.0 + 0.03 * (rng.normal(size=len(HZ)) + 1j * rng.normal(size=len(HZ))))
    found = gs.studies.identify_elasticity(guess, **signals, hz=HZ, H=H, parameters=PATHS)
    assert np.all(np.abs(found.values - TRUE) < 4.0 * found.sigma)


@pytest.mark.slow
def test_signals_in_time_give_the_stiffness(robot, guess, signals):
    rng, dt = np.random.default_rng(0), 1e-3
    t = np.arange(20000) * dt
    u = np.zeros((len(t), 2))
    u[:, 1] = 0.05 * np.convolve(rng.normal(size=len(t) + 2), np.ones(3) / 3.0, "valid")
    run = gs.simulate(robot, u, q0=gs.neutral(robot), t_eval=t, rtol=1e-7)
    measured = gs.studies.measured_response(
        t, u[:, 1], run.v[:, 1] + 1e-4 * rng.normal(size=len(t)), band=(10.0, 150.0), resolution=1.0
    )
    assert measured.coherence.mean() > 0.9 and measured.averages > 10
    found = gs.studies.identify_elasticity(guess, **signals, hz=measured, parameters=[PATHS[0], PATHS[2]])
    np.testing.assert_allclose(found.values, (5e3, 1e-4), rtol=0.05)


def test_a_filter_that_is_known_is_measured():
    rng, dt = np.random.default_rng(0), 1e-3
    u = rng.normal(size=60000)
    y = np.zeros_like(u)
    for k in range(1, len(u)):
        y[k] = 0.9 * y[k - 1] + 0.1 * u[k]
    found = gs.studies.measured_response(np.arange(len(u)) * dt, u, y, band=(5.0, 200.0))
    z = np.exp(2j * np.pi * found.hz * dt)
    np.testing.assert_allclose(found.H, 0.1 / (1.0 - 0.9 / z), rtol=0.05)
    assert found.coherence.min() > 0.98


def test_what_cannot_be_is_refused(guess, signals, response):
    ask = gs.studies.identify_elasticity
    with pytest.raises(ShapeError, match=r"hz and H have shapes"):
        ask(guess, **signals, hz=HZ, H=response.H[:-1], parameters=PATHS)
    with pytest.raises(GyrostatError, match=r"expected a positive number"):
        ask(guess.replace({PATHS[3]: 0.0}), **signals, hz=HZ, H=response.H, parameters=PATHS)
    with pytest.raises(GyrostatError, match=r"nothing to fit"):
        ask(guess, **signals, hz=HZ, H=response.H, parameters=[])
    with pytest.raises(GyrostatError, match=r"u has no power"):
        gs.studies.measured_response(np.arange(100) * 0.01, np.zeros(100), np.ones(100), band=(1.0, 20.0))
