"""Runs with fixed steps that tell their error: steps of twice the length must lead to the same place."""

import numpy as np
import pytest

import gyrostat as gs
from tests.support.flexible_models import boom_arm, cantilever
from tests.support.solver_zoo import branched

FIXED = ("rk4", "semi-implicit-euler", "newmark", "trapezoid", "generalised-alpha", "dina", "variational")
ARM = {"q0": [0.3, -0.7], "v0": [1.0, 0.5], "t_end": 0.5}


def arm(**how):
    return gs.simulate(gs.robots.two_link(), progress=False, **ARM, **how)


@pytest.mark.parametrize("method", FIXED)
def test_what_is_told_is_the_difference_and_more_than_the_error(method):
    times = {"t_eval": np.linspace(0.0, 0.5, 6)}
    want = arm(method="dop853", rtol=1e-12, atol=1e-13, **times).q
    run, other = arm(method=method, dt=2e-3, error=0.1, **times), arm(method=method, dt=4e-3, **times)
    told = run.counters.statistics["error"]
    assert told == np.abs(run.q - other.q).max()
    assert np.abs(run.q - want).max() < told


@pytest.mark.by_default(2)
@pytest.mark.parametrize("scheme", ["checked", "simpson"])
@pytest.mark.parametrize("dt", [5e-3, 2e-2])
def test_undamped_beams_that_end_elsewhere_are_refused(scheme, dt):
    """Wrong by 2.9 rad and more. What is told is no bound, here 1.2; divided by 2^p - 1 it would look harmless."""
    model, rng, times = boom_arm(modes=2, modes_x=0, segments=3), np.random.default_rng(1), np.linspace(0.0, 2.0, 21)
    q, v = np.zeros(model.nv), np.zeros(model.nv)
    q[:2], v[:2] = rng.normal(size=2), 3.0 * rng.normal(size=2)
    how = {"q0": q, "v0": v, "t_eval": times, "progress": False}
    want = gs.simulate(model, method="radau", rtol=1e-8, atol=1e-11, **how).q
    run = {"method": "dina", "scheme": scheme, "dt": dt} | how
    assert np.abs(gs.simulate(model, **run).q - want).max() > 0.5
    with pytest.raises(gs.SimulationError, match="lead elsewhere"):
        gs.simulate(model, **run, error=0.5)


def test_what_is_told_is_the_run_itself():
    plain, told = arm(method="dina", dt=2e-3), arm(method="dina", dt=2e-3, error=1e-3)
    assert np.array_equal(plain.q, told.q) and np.array_equal(plain.t, told.t)
    assert told.counters.steps == plain.counters.steps


def test_vibrations_that_a_method_makes_grow_do_not_end_without_a_word():
    """Newmark's method with beta = 0.2 lets a vibration with w h > 4.47 grow, here to 15 times its size and no more."""
    beam = cantilever((1, 0))
    w = 2.0 * np.pi * gs.eigenfrequencies(beam, np.zeros(1)).undamped[0]
    how = {"q0": [0.01], "t_end": 300 * 4.6 / w, "dt": 4.6 / w, "method": "newmark", "beta": 0.2, "progress": False}
    assert np.abs(gs.simulate(beam, **how).q).max() > 0.1
    with pytest.raises(
        gs.SimulationError, match=r"boom\.y1' differs by .*more than 0\.001.*Hint: a smaller dt"
    ) as told:
        gs.simulate(beam, **how, error=1e-3)
    assert told.value.joint == "boom.y1" and len(told.value.result.t) > 100


@pytest.mark.parametrize("kind", [{"modes": 2, "modes_x": 0}, {"method": "in-cut", "elements": 1, "modes_x": 0}])
def test_steps_too_long_for_a_flexible_link_are_refused_and_short_ones_are_not(kind):
    model = boom_arm(**kind)
    v = np.zeros(model.nv)
    v[:2] = 2.0, 1.0
    how = {"v0": v, "t_end": 0.3, "method": "dina", "progress": False}
    assert gs.simulate(model, **how, dt=1e-3, error=1e-3).counters.statistics["error"] < 1e-3
    with pytest.raises(gs.SimulationError, match="lead elsewhere"):
        gs.simulate(model, **how, dt=0.03, error=1e-3)


def test_turns_are_compared_as_turns():
    model = branched("free")
    v = np.full(model.nv, 0.5)
    run = gs.simulate(model, v0=v, t_end=0.1, method="trapezoid", dt=2e-3, error=1e-3, progress=False)
    assert 0.0 < run.counters.statistics["error"] < 1e-4


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"method": "dopri5", "error": 1e-3}, "fixed steps, got method 'dopri5'.*rtol and atol"),
        ({"method": "dina", "dt": 1e-3, "error": 0.0}, "error must be a positive number"),
        ({"method": "dina", "dt": 1e-3, "error": np.nan}, "error must be a positive number"),
        ({"method": "dina", "dt": 1e-3, "error": "small"}, "error must be a positive number"),
    ],
)
def test_what_makes_no_sense_is_refused(how, message):
    with pytest.raises(gs.GyrostatError, match=message):
        arm(**how)


def test_many_runs_are_refused():
    with pytest.raises(gs.GyrostatError, match="error is for one run, got 2"):
        gs.simulate(gs.robots.two_link(), q0=np.zeros((2, 2)), t_end=0.1, method="dina", dt=1e-3, error=1e-3)
