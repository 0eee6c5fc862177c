"""Compiled explicit methods: the same bits however a run is cut, and whether functions run in Python or not."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods import compiled

METHODS = {
    "dopri5": {},
    "dop853": {},
    "ode23": {"rtol": 1e-4},
    "rk4": {"dt": 2e-3},
    "semi-implicit-euler": {"dt": 2e-3},
    "variational": {"dt": 2e-3},
}
GOAL = np.array([0.3, -0.4])


def law(t, q, v):
    return 20.0 * (GOAL - q) - 2.0 * v + np.sin(t)


def motion(method, **options):
    model = gs.robots.two_link()
    return gs.simulate(
        model, options.pop("torque", law), [1.0, 0.5], t_end=0.5, method=method, **METHODS[method], **options
    )


@pytest.mark.parametrize("method", METHODS)
def test_the_same_bits_whatever_is_taken_on_the_way(method):
    whole = motion(method)
    some = motion(method, t_eval=np.linspace(0.0, 0.5, 7))
    never = motion(method, events=gs.Event(lambda t, q, v: q[0] - 100.0))
    for other in (some, never):
        assert np.array_equal(whole.q[-1], other.q[-1]) and np.array_equal(whole.v[-1], other.v[-1])
    assert np.array_equal(whole.q, never.q)


@pytest.mark.parametrize("method", METHODS)
def test_the_same_bits_whatever_the_budget_of_a_call(method, monkeypatch):
    whole = motion(method)
    monkeypatch.setattr(compiled, "budget_after", lambda budget, seconds: 3)
    cut = motion(method)
    assert np.array_equal(whole.q, cut.q) and np.array_equal(whole.work, cut.work)


@pytest.mark.parametrize("method", METHODS)
def test_python_functions_give_what_compiled_ones_give(method):
    there, here = motion(method), motion(method, compiled=False)
    np.testing.assert_allclose(here.q[-1], there.q[-1], rtol=0, atol=1e-7)


@pytest.mark.parametrize("method", METHODS)
def test_the_last_sample_is_the_end_of_the_last_step(method):
    whole, sampled = motion(method), motion(method, t_eval=[0.25, 0.5])
    for name in ("q", "v", "a", "tau", "work"):
        assert np.array_equal(getattr(whole, name)[-1], getattr(sampled, name)[-1])


@pytest.mark.parametrize("method", [name for name in METHODS if name != "semi-implicit-euler"])
def test_energy_balances(method):
    assert np.abs(motion(method).energy_residual).max() < 1e-3


def test_the_balance_of_semi_implicit_euler_is_of_first_order():
    model = gs.robots.two_link()
    runs = [gs.simulate(model, law, [1.0, 0.5], t_end=0.5, method="semi-implicit-euler", dt=dt) for dt in (1e-3, 5e-4)]
    one, two = (np.abs(run.energy_residual).max() for run in runs)
    assert one / two == pytest.approx(2.0, rel=0.1)
