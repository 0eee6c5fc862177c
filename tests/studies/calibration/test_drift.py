"""Calibration in time: random walks, warm-up, the model at a time."""

from __future__ import annotations

import json

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies import Drift, Points
from gyrostat.studies.calibration.random_walk import walk
from tests.studies.calibration.machines import measured

TAU, NOISE = 2.0, 2e-5
PARAMETERS = ["base.x", "base.y", "elbow.offset", "upper.tip.translation.x"]
COLD, WARM = np.array([0.0, 0.0, -1e-3, 0.0]), np.array([1e-3, -5e-4, -1e-3, 6e-4])


def arm():
    parts = (
        gs.Joint("shoulder", "revolute", axis=(0, 0, 1)),
        gs.RigidBody("upper", mass=2.0, inertia=(0.1, 0.1, 0.1), frames={"tip": {"translation": (0.5, 0, 0)}}),
    )
    fore = gs.RigidBody("fore", mass=1.0, inertia=(0.1, 0.1, 0.1), frames={"tip": {"translation": (0.4, 0, 0)}})
    model = gs.assemble("arm", gs.chain("world", *parts))
    return model.attach(gs.Joint("elbow", "revolute", axis=(0, 0, 1)), "upper.tip", check=False).attach(fore, "elbow.b")


@pytest.fixture(scope="module")
def warming():
    rng, model, sessions = np.random.default_rng(0), arm(), []
    for t in np.linspace(0.2, 8.0, 12):
        q = rng.uniform(-2, 2, (12, 2))
        x = WARM + (COLD - WARM) * np.exp(-t / TAU)
        (seen,), _ = measured(model, [Points("fore.tip", q, std=NOISE)], PARAMETERS, x, rng)
        sessions.append((t, Points("fore.tip", q, seen, std=NOISE)))
    return model, sessions, gs.studies.calibrate_drift(model, sessions, PARAMETERS, drifting=["base", "upper.tip"])


def test_a_robot_that_warms_up_tells_its_time_constant(warming):
    _, _, drift = warming
    curve = drift.warm_up()
    assert abs(curve.tau - TAU) < 4 * curve.tau_deviation < 0.5
    np.testing.assert_allclose((curve.end - curve.start)[[0, 1, 3]], (WARM - COLD)[[0, 1, 3]], atol=5e-5)
    assert curve.start[2] == pytest.approx(curve.end[2], abs=1e-12)  # it does not drift
    assert curve.chi2 - curve.free_chi2 < curve.freedom + 5 * np.sqrt(2 * curve.freedom)


def test_smoothed_numbers_follow_the_true_ones_and_say_how_closely(warming):
    _, sessions, drift = warming
    true = np.array([WARM + (COLD - WARM) * np.exp(-t / TAU) for t, _ in sessions])
    true[:, 3] += 0.5
    z = (drift.values - true) / drift.standard_deviations
    assert np.abs(z).max() < 5.0 and np.sqrt(np.mean(z**2)) < 1.6
    assert np.all(drift.standard_deviations <= drift.filtered_deviations * (1 + 1e-9))
    assert drift.rates[2] == 0.0 and np.ptp(drift.values[:, 2]) < 1e-12
    model = drift.model_at(4.0)
    assert model["base_mounting.translation"][0] == pytest.approx(drift.values_at(4.0)[0], abs=1e-12)
    back = Drift.from_dict(json.loads(json.dumps(drift.to_dict(), allow_nan=False)))
    assert back.model_at(4.0) == model and "time" in str(back.report()) + "time"


def test_a_filter_and_smoother_are_one_large_least_squares_problem():
    rng, n, times = np.random.default_rng(1), 3, np.array([0.0, 1.0, 1.5, 4.0])
    seen = [(rng.normal(size=(2, n)), rng.normal(size=2)) for _ in times]
    Q = np.array([0.5, 0.0, 2.0])
    got = walk(times, seen, Q)
    prior = np.kron(np.ones((4, 4)), np.eye(n)) + np.kron(np.minimum.outer(times, times), np.diag(Q))
    H = np.zeros((8, 12))
    for k, (R, _) in enumerate(seen):
        H[2 * k : 2 * k + 2, n * k : n * k + n] = R
    y, S = np.concatenate([y for _, y in seen]), H @ prior @ H.T + np.eye(8)
    np.testing.assert_allclose(got.smoothed.ravel(), prior @ H.T @ np.linalg.solve(S, y), atol=1e-10)
    np.testing.assert_allclose(got.filtered[-1], got.smoothed[-1])
    C = prior - prior @ H.T @ np.linalg.solve(S, H @ prior)
    np.testing.assert_allclose(got.smoothed_covariance[1], C[n : 2 * n, n : 2 * n], atol=1e-10)
    likely = -0.5 * (y @ np.linalg.solve(S, y) + np.linalg.slogdet(S)[1])
    assert got.log_likelihood == pytest.approx(likely)


def test_sessions_that_do_not_fit_together_are_refused(warming):
    model, sessions, _ = warming
    with pytest.raises(gs.GyrostatError, match="times must grow"):
        gs.studies.calibrate_drift(model, [sessions[1], sessions[0]], PARAMETERS)
    with pytest.raises(gs.GyrostatError, match="'bse' is no unknown"):
        gs.studies.calibrate_drift(model, sessions, PARAMETERS, drifting=["bse"])
    silent = Points("fore.tip", sessions[0][1].q, sessions[0][1].points)
    with pytest.raises(gs.GyrostatError, match="its noise is not stated"):
        gs.studies.calibrate_drift(model, [(0.0, silent), sessions[1]], PARAMETERS)
