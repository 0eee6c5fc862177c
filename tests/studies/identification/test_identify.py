"""Identification: the truth within its deviations, consistent parameters, models that hold what was found."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import GyrostatError, NonFiniteError, ShapeError
from tests.support.identification_runs import deviations, run_of, truth, with_friction, wrong

identify = gs.studies.identify


@pytest.fixture(scope="module")
def robot():
    return with_friction(gs.robots.two_link())


@pytest.fixture(scope="module")
def known(robot):
    return wrong(gs.robots.two_link())


@pytest.fixture(scope="module")
def found(robot, known):
    run = run_of(robot, noise=0.02, encoder=1e-5)
    return identify(known, run.t, run.q, run.tau, candidates=())


def test_base_parameters_are_within_three_sigmas_of_the_truth(found, robot):
    z = deviations(found, robot)
    assert np.abs(z).max() < 3.0 and 0.3 < np.sqrt(np.mean(z**2)) < 2.0


def test_consistent_parameters_have_the_same_base_and_a_distribution_of_mass(found, robot):
    used = found._at
    away = found.base.projection @ (found.x[used] - truth(found, robot)[used])
    assert np.abs(away / found.base.sigma).max() < 3.5
    assert min(found.consistency.values()) > 0.0
    assert not gs.check(found.model)


def test_the_model_holds_what_was_found(found, robot):
    run = run_of(robot, seed=7)
    told = found.torques(run.q, run.v, run.a)
    np.testing.assert_allclose(told, gs.rnea(found.model, run.q, run.v, run.a), atol=1e-10)
    by_columns = found.columns.at(_as_run(found, run), found.x) @ found.x + found.columns.known(_as_run(found, run))
    np.testing.assert_allclose(told, by_columns, atol=1e-10)
    assert found.outside == ()


def _as_run(found, run):
    return gs.studies.MeasuredRun(run.t, run.q, run.v, run.a, run.tau)


def test_torques_of_another_run_are_as_good_as_the_noise(found, robot):
    run = run_of(robot, seed=3, noise=0.02)
    clean = run_of(robot, seed=3)
    left = np.sqrt(np.mean((found.torques(run.q, run.v, run.a) - run.tau) ** 2, axis=0))
    noise = np.sqrt(np.mean((run.tau - clean.tau) ** 2, axis=0))
    assert np.all(left < 1.05 * noise)
    assert found.validate(run.t, run.q, run.tau).relative.max() < 0.02


def test_clean_signals_give_exact_parameters_as_plain_least_squares_does(robot, known):
    run = run_of(robot)
    shaft = {"smooth": 0.02}
    found = identify(known, *run[:2], run.tau, run.v, run.a, band=False, candidates=(), **shaft)
    np.testing.assert_allclose(
        found.base.values, found.base.projection @ truth(found, robot)[found._at], rtol=1e-6, atol=1e-8
    )
    Y, tau_0 = gs.Regressor(gs.robots.two_link())(run.q, run.v, run.a)
    each = lambda x: np.eye(2) * x[:, :, None]  # noqa: E731
    A = np.concatenate([Y, each(run.v), each(np.tanh(run.v / 0.02))], axis=2).reshape(-1, Y.shape[2] + 4)
    x = np.linalg.lstsq(A, (run.tau - tau_0).ravel(), rcond=None)[0]
    np.testing.assert_allclose(found.torques(run.q, run.v, run.a).ravel(), A @ x + tau_0.ravel(), atol=1e-6)


@pytest.mark.slow
def test_deviations_of_torques_are_those_of_repeated_measurements(robot, known):
    """Monte Carlo: the scatter of torques predicted from 12 measurements against the deviation that each claims."""
    at = run_of(robot, seed=9, seconds=2.0, rate=20.0)
    told, claimed = [], []
    for seed in range(12):
        run = run_of(robot, seconds=5.0, rate=200.0)
        rng = np.random.default_rng(seed)
        tau = run.tau + 0.5 * rng.normal(size=run.tau.shape)
        f = identify(known, run.t, run.q, tau, run.v, run.a, candidates=(), smooth=0.02, band=8.0)
        told.append(f.torques(at.q, at.v, at.a))
        claimed.append(f.torque_sigma(at.q, at.v, at.a))
    ratio = np.std(told, axis=0, ddof=1).mean(axis=0) / np.mean(claimed, axis=0).mean(axis=0)
    assert np.all((ratio > 0.6) & (ratio < 1.5))
    lower, upper = f.torque_band(at.q, at.v, at.a)
    np.testing.assert_allclose(upper - lower, 4.0 * claimed[-1])


def test_folds_find_the_terms_that_are_there_and_leave_the_others(robot, known):
    run = run_of(robot, noise=0.01)
    shaped = run.tau + np.array([1.5, -0.8])
    found = identify(known, run.t, run.q, shaped, candidates=("offset", "cogging2", "quadratic"))
    assert "offset" in found.terms and "quadratic" not in found.terms
    assert found.outside[0] == "offset"
    np.testing.assert_allclose(found.x[found.columns.places["offset"]], [1.5, -0.8], atol=0.1)
    beside = found.torques(run.q, run.v, run.a) - gs.rnea(found.model, run.q, run.v, run.a)
    assert np.abs(beside - [1.5, -0.8]).max() < 0.3
    assert found.selection.tried[0] == ("viscous", "coulomb") and found.selection.scores[1] < 1.0


@pytest.mark.slow
@pytest.mark.parametrize("term", ["asymmetric", "rotor", "tilt", "load", "quadratic", "cogging", "temperature"])
def test_every_term_is_found_again(term, known, robot):
    """Torques made with a term come back, and where a model can hold it, gs.rnea has them."""
    run = run_of(robot, seed=4)
    columns = identify(
        known,
        *run[:2],
        run.tau,
        run.v,
        run.a,
        band=False,
        terms=("viscous", "coulomb", term),
        candidates=(),
        smooth=0.02,
        temperature=20.0 + run.t,
    ).columns
    sample = gs.studies.MeasuredRun(run.t, run.q, run.v, run.a, run.tau, temperature=np.stack([20.0 + run.t] * 2, 1))
    x = truth_of_terms(columns, robot, term)
    tau = columns.at(sample, x) @ x + columns.known(sample)
    again = identify(
        known,
        run.t,
        run.q,
        tau,
        run.v,
        run.a,
        band=False,
        terms=("viscous", "coulomb", term),
        candidates=(),
        smooth=0.02,
        temperature=20.0 + run.t,
    )
    told = again.torques(run.q, run.v, run.a, temperature=sample.temperature)
    assert np.abs(told - tau).max() < 2e-3 * np.abs(tau).max()
    if term in ("asymmetric", "rotor", "tilt"):
        np.testing.assert_allclose(gs.rnea(again.model, run.q, run.v, run.a), told, atol=1e-9)
    else:
        assert again.outside == (term,)


def truth_of_terms(columns, robot, term):
    x = columns.prior()
    x[columns.places["viscous"]], x[columns.places["coulomb"]] = [0.4, 0.5], [0.6, 0.8]
    values = {"asymmetric": 0.2, "rotor": 0.3, "tilt": 0.01, "load": 0.05, "quadratic": 0.1, "cogging": 0.4}
    x[columns.places[term]] = values.get(term, 0.01)
    return x


@pytest.mark.slow
def test_speeds_of_friction_are_fitted(known):
    robot = with_friction(gs.robots.two_link(), smooth=0.01, static=1.6, stribeck=0.12)
    run = run_of(robot, noise=0.002)
    found = identify(known, run.t, run.q, run.tau, terms=("viscous", "coulomb", "stribeck"), candidates=())
    for shaft in found.columns.shafts:
        assert 0.004 < shaft.smooth < 0.02 and 0.09 < shaft.stribeck < 0.16
    law = found.model.wiring.entities["shoulder_friction"]
    assert abs(law.static - 1.6) < 0.15 and abs(law.coulomb - 0.6) < 0.1


def test_friction_that_the_model_has_is_put_in_its_place(robot):
    run = run_of(robot, noise=0.005)
    before = robot.replace({"shoulder_drive.friction.viscous": 3.0, "elbow_drive.friction.coulomb": 0.1})
    found = identify(before, run.t, run.q, run.tau, candidates=())
    assert abs(found.model["shoulder_drive.friction.viscous"] - 0.4) < 0.05
    assert abs(found.model["elbow_drive.friction.coulomb"] - 0.66) < 0.05
    assert len(found.model.wiring.entities) == len(robot.wiring.entities)


def test_several_runs_are_one_fit_and_the_study_is_data(robot, known, tmp_path):
    one, two = run_of(robot, seconds=4.0, noise=0.01), run_of(robot, seconds=5.0, seed=2, noise=0.01)
    found = identify(known, [one.t, two.t], [one.q, two.q], [one.tau, two.tau], candidates=("offset",))
    assert len(found.runs) == 2
    again = gs.studies.Identification.from_dict(found.to_dict())
    np.testing.assert_array_equal(again.torques(one.q, one.v, one.a), found.torques(one.q, one.v, one.a))
    np.testing.assert_array_equal(again.torque_sigma(one.q, one.v, one.a), found.torque_sigma(one.q, one.v, one.a))
    report = found.report()
    page = report.save(tmp_path / "report.html").read_text()
    assert page.count("<svg") == 2 and "Base parameters" in str(report) and "elbow.coulomb" in str(report)


def test_what_the_motion_does_not_excite_is_told_and_stays_near_the_model(robot, known):
    run = run_of(robot)
    still = np.broadcast_to(run.q[:1], run.q.shape)
    zero = np.zeros_like(run.q)
    tau = gs.rnea(robot, still, zero, zero)
    found = identify(known, run.t, still, tau, candidates=())
    assert not found.base.excited.all() and np.isinf(found.base.sigma[~found.base.excited]).all()
    assert any("does not tell" in note for note in found.notes)
    assert np.isinf(found.torque_sigma([0.1, 0.2], [1.0, 1.0], [1.0, 1.0])).any()


def test_an_interruption_keeps_what_was_computed(robot, known):
    run = run_of(robot, seconds=4.0, noise=0.01)

    def stop(done, total, text):
        if text == "offset":
            raise KeyboardInterrupt

    found = identify(known, run.t, run.q, run.tau, progress=stop)
    assert not found.finished and found.terms == ("viscous", "coulomb") and "interrupted" in found.message
    assert np.isfinite(found.torques(run.q, run.v, run.a)).all()


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda t, q, tau: (t, q, 1e3 * tau), "times that of the given model: units"),
        (lambda t, q, tau: (t, np.degrees(q), tau), "explain tau of '.*' badly, .*units of q"),
        (lambda t, q, tau: (t, q, tau[:, ::-1]), "badly, .*the order of columns"),
    ],
    ids=["mN m", "degrees", "exchanged columns"],
)
def test_what_looks_like_wrong_units_or_columns_is_told(spoil, words, robot, known):
    """Without measured rates nothing contradicts degrees but the torques."""
    run = run_of(robot, seconds=4.0)
    fine = identify(known, run.t, run.q, run.tau, candidates=())
    assert not any("units" in note for note in fine.notes)
    t, q, tau = spoil(run.t, run.q, run.tau)
    found = identify(known, t, q, tau, candidates=(), check_signs=False)
    assert any(re.search(words, note) for note in found.notes)


def spoiled(run, **changes):
    return run._replace(**changes)


@pytest.mark.parametrize(
    ("change", "options", "message"),
    [
        ({"q": "nan"}, {}, r"q is not finite at sample 3"),
        ({"t": "back"}, {}, r"t does not increase: t\[5\]"),
        ({"q": "degrees"}, {}, r"dq/dt is 57\.\d* times v"),
        ({"tau": "sign"}, {}, r"runs against the model"),
        ({"tau": "wide"}, {}, r"tau has shape \(\d+, 3\), expected \(\d+, 2\) = nv"),
        ({"t": "gap"}, {}, r"nothing was measured for"),
        ({}, {"band": 400.0}, r"a band of 400 Hz needs"),
        ({}, {"terms": ("viscos",)}, r"terms has no term 'viscos'\. Hint: did you mean 'viscous'"),
        ({}, {"terms": ("temperature",)}, r"makes no sense here: no temperature was given"),
        ({}, {"bodies": ("uper",)}, r"bodies names 'uper'"),
        ({}, {"parameters": ["lower.tip.translation"]}, r"parameters are single numbers"),
        ({}, {"folds": 1}, r"folds must be"),
        ({}, {"unmeasured": ("wrist",)}, r"unmeasured names 'wrist'"),
    ],
)
def test_bad_measurements_are_refused_by_name(change, options, message, robot, known):
    run = run_of(robot, seconds=4.0)
    t, q, v, tau = run.t.copy(), run.q.copy(), run.v, run.tau.copy()
    match change:
        case {"q": "nan"}:
            q[3, 1] = np.nan
        case {"t": "back"}:
            t[6] = t[5]
        case {"q": "degrees"}:
            q = np.degrees(q)
        case {"tau": "sign"}:
            tau = -tau
        case {"tau": "wide"}:
            tau = np.hstack([tau, tau[:, :1]])
        case {"t": "gap"}:
            t[1000:] += 1.0
    with pytest.raises((GyrostatError, NonFiniteError, ShapeError), match=message):
        identify(known, t, q, tau, v, **{"candidates": ()} | options)


def test_short_runs_are_refused(robot, known):
    run = run_of(robot, seconds=0.2)
    with pytest.raises(GyrostatError, match="too short"):
        identify(known, run.t, run.q, run.tau)
    with pytest.raises(ShapeError, match="at least 20 samples"):
        identify(known, run.t[:4], run.q[:4], run.tau[:4])
