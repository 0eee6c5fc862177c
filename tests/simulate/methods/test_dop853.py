"""Dormand and Prince's method of order 8: its numbers, conditions of order, dense output, events."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods.dop853 import DormandPrince8
from gyrostat.simulate.plant.plant import Plant
from tests.simulate.methods.test_simulate_methods import begun

TABLE = DormandPrince8.table
B = TABLE.a[-1]


def test_the_numbers_are_those_of_hairers_program():
    theirs = pytest.importorskip("scipy.integrate._ivp.dop853_coefficients")
    rows = [*TABLE.a[:-1], B, *TABLE.extra]
    for k, row in enumerate(rows, start=1):
        assert np.array_equal(theirs.A[k, : len(row)] if k != 12 else theirs.B, row)
    assert np.array_equal(theirs.C, TABLE.c)
    assert np.array_equal(theirs.E5, TABLE.error) and np.array_equal(theirs.E3, TABLE.second)
    assert np.array_equal(theirs.D, np.array(TABLE.d))


def test_conditions_of_order():
    """Quadrature to order 8; rows sum to nodes; both estimates are differences of methods."""
    for k in range(8):
        assert B @ TABLE.c[:12] ** k == pytest.approx(1.0 / (k + 1), abs=1e-15)
    for row, c in zip([*TABLE.a, *TABLE.extra], TABLE.c[1:], strict=True):
        assert row.sum() == pytest.approx(c, abs=2e-15)
    for weights, order in ((TABLE.error, 5), (TABLE.second, 3)):
        found = [weights @ TABLE.c[:13] ** k for k in range(order)]
        np.testing.assert_allclose(found, 0.0, atol=1e-14)
        assert abs(weights @ TABLE.c[:13] ** order) > 1e-4


def test_dense_output_is_a_quadrature_of_order_seven_at_every_fraction():
    P = TABLE.polynomials
    assert P.shape == (16, 7)
    for s in (0.2, 0.5, 0.9, 1.0):
        weights = P @ s ** np.arange(1, 8)
        for k in range(7):
            assert weights @ TABLE.c**k == pytest.approx(s ** (k + 1) / (k + 1), abs=1e-12)
    np.testing.assert_allclose(P.sum(axis=1)[:12], B, atol=1e-12)


def test_the_dense_output_is_that_of_the_nested_form():
    K = np.random.default_rng(1).normal(size=16)
    rise, first, last = B @ K[:12], K[0], K[12]
    parts = [rise, first - rise, 2.0 * rise - first - last, *(d @ K for d in TABLE.d)]
    for s in (0.1, 0.6):
        total = 0.0
        for k in range(6, -1, -1):
            total = (total + parts[k]) * (s if k % 2 == 0 else 1.0 - s)
        assert TABLE.polynomials.T @ K @ s ** np.arange(1, 8) == pytest.approx(total, abs=1e-12)


def test_a_step_is_that_of_scipys_method_of_the_same_name():
    """One step of the same length from the same start, and what lies between."""
    integrate = pytest.importorskip("scipy.integrate")
    model, h, q0, v0 = gs.robots.two_link(), 0.1, np.array([1.0, 0.5]), np.array([0.3, -2.0])

    def rhs(t, y):
        return np.concatenate([y[2:], gs.aba(model, y[:2], y[2:], np.zeros(2))])

    theirs = integrate.DOP853(rhs, 0.0, np.concatenate([q0, v0]), h, rtol=1e3, atol=1e3, first_step=h)
    theirs.step()
    ours = begun(Plant(model), "dop853", (q0, v0), h, always=True).advance(h).step
    np.testing.assert_allclose(np.concatenate([ours.q1, ours.v1]), theirs.y, rtol=0, atol=1e-13)
    for s in (0.25, 0.6, 0.9):
        q, v, _ = ours.dense(s * h)
        np.testing.assert_allclose(np.concatenate([q, v]), theirs.dense_output()(s * h), rtol=0, atol=1e-12)


def test_fewer_evaluations_than_dopri5_at_small_tolerances():
    model, tight = gs.robots.two_link(), {"rtol": 1e-12, "atol": 1e-12, "t_end": 2.0}
    runs = [gs.simulate(model, q0=[1.0, 0.5], method=m, **tight) for m in ("dop853", "dopri5")]
    assert runs[0].counters.rhs_evaluations < 0.4 * runs[1].counters.rhs_evaluations
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-9)


def test_events_are_found_on_its_dense_output():
    ground = gs.Event(lambda t, q, v: q[0], direction=-1, terminal=True, name="down")
    model = gs.robots.pendulum()
    ends = [
        gs.simulate(model, q0=[1.0], t_end=2.0, events=ground, method=method, rtol=rtol, atol=1e-13).t[-1]
        for method, rtol in (("dop853", 1e-9), ("dopri5", 1e-12))
    ]
    assert ends[0] == pytest.approx(ends[1], abs=1e-9)


def test_further_stages_are_evaluated_only_where_something_between_is_asked_for():
    times = np.linspace(0.0, 1.0, 102)[1:-1]
    whole, bare, dense = (
        gs.simulate(gs.robots.pendulum(), q0=[1.0], t_end=1.0, method="dop853", t_eval=instants)
        for instants in (None, [1.0], times)
    )
    with_samples = len(set(np.searchsorted(whole.t, times)))
    assert 0 < with_samples <= whole.counters.steps
    assert whole.counters.rhs_evaluations == bare.counters.rhs_evaluations
    assert dense.counters.rhs_evaluations == bare.counters.rhs_evaluations + 3 * with_samples
