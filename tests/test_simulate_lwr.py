"""Forward dynamics of the KUKA LWR with independent PD laws [WM15 4.3, (28)-(34), Table 1].

The gains make it stiff: time constants from 2e-5 s to 100 s. Table 1 has, for tolerances 1e-6 and 1e-3, 1924 and 993
evaluations of the right-hand side at best."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs

K = np.array([10.0, 1000, 200, 100, 10, 10, 10])
C = np.array([1000.0, 10000, 1000, 1000, 10, 10, 10])
W = np.pi / 7
START = np.full(7, np.pi / 2)
TIMES = np.linspace(0, 14, 141)
TABLE = {1e-6: 1924, 1e-3: 993}


def law(t, q, v):
    return K * (np.pi / 2 * np.cos(W * t) - q) + C * (-np.pi / 2 * W * np.sin(W * t) - v)


@pytest.fixture(scope="module")
def reference():
    """By Pinocchio's forward dynamics and SciPy's Radau at 1e-9, where Pinocchio is there; else by our own."""
    model = gs.robots.kuka_lwr4()
    try:
        from pinocchio_oracle import Oracle
    except (ImportError, pytest.skip.Exception):
        return gs.simulate(model, law, START, t_end=14.0, method="radau", rtol=1e-11, atol=1e-12, t_eval=TIMES).q
    oracle = Oracle(model)

    def rhs(t, y):
        return np.concatenate([y[7:], oracle.aba(y[:7], y[7:], law(t, y[:7], y[7:]))])

    def slopes(t, y):  # the laws make nearly all of it; Newton's iteration needs no more
        inverse = np.linalg.inv(oracle.crba(y[:7]))
        return np.block([[np.zeros((7, 7)), np.eye(7)], [-inverse * K, -inverse * C]])

    y = np.concatenate([START, np.zeros(7)])
    return solve_ivp(rhs, (0, 14), y, method="Radau", rtol=1e-9, atol=1e-10, jac=slopes, t_eval=TIMES).y[:7].T


@pytest.mark.parametrize("tolerance", TABLE)
def test_bdf_needs_fewer_evaluations_than_the_paper_at_the_error_it_promises(tolerance, reference):
    run = gs.simulate(
        gs.robots.kuka_lwr4(), law, START, t_end=14.0, method="bdf", rtol=tolerance, atol=tolerance, t_eval=TIMES
    )
    assert run.counters.compiled
    assert run.counters.rhs_evaluations < 0.6 * TABLE[tolerance]
    assert np.abs(run.q - reference).max() < 1.5 * tolerance
    assert np.abs(run.energy_residual).max() < 1e3 * tolerance


def test_radau_and_bdf_agree_at_tight_tolerances(reference):
    run = gs.simulate(
        gs.robots.kuka_lwr4(), law, START, t_end=14.0, method="radau", rtol=1e-8, atol=1e-10, t_eval=TIMES
    )
    assert np.abs(run.q - reference).max() < 5e-8
