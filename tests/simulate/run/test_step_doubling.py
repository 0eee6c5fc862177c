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
def test_the_estimate_is_the_error(method):
    want = arm(method="dop853", rtol=1e-12, atol=1e-13).q[-1]
    run = arm(method=method, dt=2e-3, error=0.1)
    told, error = run.counters.statistics["error"], np.abs(run.q[-1] - want).max()
    assert 0.5 * error < told < 3.0 * max(error, 1e-12)


def test_order_four_is_known():
    run = arm(method="dina", scheme="simpson", dt=5e-3, rtol=1e-9, error=1e-3)
    want = arm(method="dop853", rtol=1e-12, atol=1e-13, t_eval=run.t).q
    assert 0.5 < run.counters.statistics["error"] / np.abs(run.q - want).max() < 2.0


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
    with pytest.raises(gs.SimulationError, match=r"boom\.y1' is about .*more than 0\.001.*Hint: a smaller dt") as told:
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
