"""The Franka Panda: synthetic runs with noise against the truth, and a measured run against plain least squares."""

from __future__ import annotations

import re
import sysconfig
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from tests.support.identification_runs import deviations, with_friction, wrong
from tests.support.reference_data import reference

PLAIN = np.array([0.140, 0.205, 0.157, 0.154, 0.070, 0.047, 0.046])
"""rms on the last 40 % of plain truncated least squares with viscous, Coulomb and offset, 8 Hz, fitted on the first
60 % [README of the reference data, after Gaz et al., RA-L 2019]."""


@pytest.fixture(scope="module")
def panda(tmp_path_factory):
    shared = Path(sysconfig.get_paths()["purelib"]) / "cmeel.prefix" / "share"
    urdf = shared / "example-robot-data/robots/panda_description/urdf/panda.urdf"
    if not urdf.exists():
        pytest.skip("the Panda of example-robot-data is not there")
    text = re.sub(r'(<joint name="panda_finger_joint\d" type=)"prismatic"', r'\1"fixed"', urdf.read_text())
    text = re.sub(r"<(visual|collision)>.*?</\1>", "", re.sub(r"<mimic[^>]*/>", "", text), flags=re.DOTALL)
    file = tmp_path_factory.mktemp("panda") / "panda.urdf"
    file.write_text(text)
    return gs.load(file, friction=False)


@pytest.mark.slow
def test_a_measured_run_is_predicted_better_than_by_plain_least_squares(panda):
    """Terms are chosen by folds inside the first 60 %; torques are compared without any filter on the prediction."""
    data = np.load(reference("panda_gaz2019_run.npz"))
    robot, t = panda.detach("panda_hand"), data["t"] - data["t"][0]
    whole = gs.studies.measured_run(robot, t, data["q"], data["tau"], data["v"], band=8.0)
    first = int(0.6 * len(whole.t))
    early = t < whole.t[first]
    found = gs.studies.identify(robot, t[early], data["q"][early], data["tau"][early], data["v"][early], band=8.0)
    rest = whole.part(slice(first, None))
    left = np.sqrt(np.mean((found.torques(rest.q, rest.v, rest.a) - rest.tau) ** 2, axis=0)) / PLAIN
    assert left.max() <= 1.15 and left.mean() <= 0.95
    assert min(found.consistency.values()) > 0.0 and not gs.check(found.model)
    beside = found.torques(rest.q, rest.v, rest.a) - gs.rnea(found.model, rest.q, rest.v, rest.a)
    assert (np.abs(beside).max() > 0.0) == bool(found.outside)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_noisy_run_of_twenty_seconds_gives_the_truth_within_its_deviations(panda, seed):
    true, known, rng = with_friction(panda, 0.3, 0.4), wrong(panda), np.random.default_rng(seed)
    motions = [
        gs.studies.exciting_trajectory(panda, acceleration_limits=7.0, iterations=0, rng=k).trajectory
        for k in (seed, 50)
    ]
    t = np.arange(0.0, 20.0, 1e-3)
    (q, v, a), (q2, v2, a2) = (np.moveaxis(m.derivatives(t, 2), 1, 0) for m in motions)
    tau, tau2 = gs.rnea(true, q, v, a), gs.rnea(true, q2, v2, a2)
    sigma = 0.02 * np.abs(tau).max(axis=0)
    found = gs.studies.identify(
        known, t, q + 1e-5 * rng.normal(size=q.shape), tau + sigma * rng.normal(size=tau.shape), candidates=("offset",)
    )
    z = deviations(found, true)
    assert np.abs(z).max() < 3.6 and np.mean(np.abs(z) < 3.0) > 0.97 and 0.7 < np.sqrt(np.mean(z**2)) < 1.4
    noise = sigma * rng.normal(size=tau.shape)
    left = np.sqrt(np.mean((found.torques(q2, v2, a2) - tau2 - noise) ** 2, axis=0))
    assert np.all(left <= 1.05 * np.sqrt(np.mean(noise**2, axis=0)))
    assert min(found.consistency.values()) > 0.0
