"""Forward dynamics of the KUKA LWR with independent PD laws [WM15 4.3, (28)-(34), Table 1].

The gains make it stiff: time constants from 2e-5 s to 100 s. Table 1 has, for tolerances 1e-6 and 1e-3, 1924 and 993
evaluations of the right-hand side at best. References are those of other programs, to 1e-10 rad."""

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from demos import lwr_reference as typed
from demos.lwr_problem import DIFFERENCES, TABLE, TIMES, run, stiff_methods

BEST = dict(zip((1e-6, 1e-3), TABLE["Scilab BDF"], strict=True))
METHODS = [*stiff_methods(), "scipy-bdf", "scipy-radau"]
TYPED = np.isin(np.round(TIMES, 9), typed.T)


def by_pinocchio(*settings):
    pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    from tests.support.lwr_pinocchio import solved

    return solved(*settings)


@cache
def computed(method, rtol, atol):
    """A run of gyrostat, sampled at TIMES, if its method has what it needs."""
    try:
        return run(method, rtol, atol)
    except gs.GyrostatError as error:
        if "pip install" in str(error):
            pytest.skip(str(error))
        raise


@pytest.fixture(scope="module")
def reference():
    return by_pinocchio("Radau", 1e-12, 1e-13)


def largest(found, expected):
    return np.abs(found - expected).max()


# ---------------------------------------------------------------------------------------------- the reference itself
def test_the_typed_reference_is_that_of_pinocchio_and_scipy(reference):
    assert np.count_nonzero(TYPED) == 14
    assert largest(reference[0][TYPED], typed.Q) < 5e-12


@pytest.mark.parametrize("method", ["BDF", "LSODA"])
def test_the_reference_does_not_depend_on_the_method(method, reference):
    q, v, _ = by_pinocchio(method, 1e-12, 1e-14)
    assert largest(q, reference[0]) < 1e-10
    assert largest(v, reference[1]) < 1e-10


@pytest.mark.slow
def test_an_explicit_method_of_order_8_gives_the_same_reference(reference):
    q, v, _ = by_pinocchio("DOP853", 1e-12, 1e-13)
    assert largest(q, reference[0]) < 1e-12
    assert largest(v, reference[1]) < 2e-10  # at the edge of its stability


# ---------------------------------------------------------------------------------------------- accuracy
@pytest.mark.parametrize("atol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", METHODS)
def test_errors_at_1e_minus_6_are_below_5e_minus_6_in_all_joints(method, atol):
    found = computed(method, 1e-6, atol)
    assert found.counters.compiled
    assert np.all(np.abs(found.q[TYPED] - typed.Q).max(axis=0) < 5e-6)


@pytest.mark.parametrize("atol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", METHODS)
def test_the_same_at_all_141_instants(method, atol, reference):
    assert np.all(np.abs(computed(method, 1e-6, atol).q - reference[0]).max(axis=0) < 5e-6)


@pytest.mark.parametrize("atol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", METHODS)
def test_rates_and_accelerations_at_1e_minus_6(method, atol, reference):
    """a = M^-1 (tau - ...), and the gains of the rates are up to 5e4 times the inertia: a shows errors of v so much."""
    found = computed(method, 1e-6, atol)
    slack = 1.2 if method == "cvode" else 1.0  # SUNDIALS' errors, 5.3e-6 and 0.015, vary with the last bits
    assert largest(found.v, reference[1]) < 5e-6 * slack
    assert largest(found.a, reference[2]) < DIFFERENCES[2] * slack
    assert np.abs(found.energy_residual).max() < 1e-3


@pytest.mark.parametrize("tolerance", [1e-3, 1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("method", ["bdf", "radau", "scipy-bdf", "scipy-radau"])
def test_the_error_stays_below_the_tolerance(method, tolerance, reference):
    assert largest(computed(method, tolerance, tolerance).q, reference[0]) < tolerance


@pytest.mark.parametrize("method", METHODS)
def test_tight_tolerances_reach_1e_minus_9(method):
    assert largest(computed(method, 1e-10, 1e-10).q[TYPED], typed.Q) < 1e-9


# ---------------------------------------------------------------------------------------------- cost
@pytest.mark.parametrize("tolerance", BEST)
@pytest.mark.parametrize("method", ["bdf", "radau", "scipy-bdf", "ida"])
def test_fewer_evaluations_than_the_paper_at_the_error_that_is_promised(method, tolerance, reference):
    found = computed(method, tolerance, tolerance)
    counted = found.counters
    assert counted.compiled
    assert counted.rhs_evaluations + counted.residual_evaluations < 0.6 * BEST[tolerance]
    assert largest(found.q, reference[0]) < tolerance
    assert np.abs(found.energy_residual).max() < 1e3 * tolerance


def test_explicit_methods_are_held_back_by_stability():
    """0.1 s by dopri5 costs more than 14 s by bdf: its steps cannot be longer than 3.3 times 2e-5 s."""
    found = run("dopri5", 1e-6, 1e-6, t_end=0.1, t_eval=[0.1])
    assert 6000 < found.counters.rhs_evaluations < 12000
    assert 0.1 / found.counters.steps < 1e-4


@pytest.mark.slow
def test_dopri5_needs_more_than_a_million_evaluations(reference):
    found = run("dopri5", 1e-6, 1e-6)
    assert 1e6 < found.counters.rhs_evaluations < 2e6
    assert largest(found.q, reference[0]) < 1e-9
