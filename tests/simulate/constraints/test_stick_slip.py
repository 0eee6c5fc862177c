"""Dry friction sticks and slips as events: one block, against closed forms and by all methods."""

import importlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.algorithms.constrained.active_set import ActiveRows, constraint_forces
from gyrostat.algorithms.constrained.force_reserve import force_reserve
from gyrostat.simulate.constraints.dry_friction import DryFriction
from tests.support.examples import few
from tests.support.stick_slip_models import ACCURATE, G, block, times, told

M, K, F = 2.0, 50.0, 1.5  # a block on a spring, with friction
W = np.sqrt(K / M)
METHODS = [
    ("dopri5", {"rtol": 1e-9}, 1e-8),
    ("ode23", {"rtol": 1e-7}, 1e-6),
    ("rk4", {"dt": 2e-3}, 1e-9),
    ("semi-implicit-euler", {"dt": 2e-3}, 1e-2),
    ("bdf", {"rtol": 1e-8}, 1e-6),
    ("radau", {"rtol": 1e-8}, 1e-7),
    ("newmark", {"dt": 2e-3}, 1e-4),
    ("trapezoid", {"dt": 2e-3}, 1e-4),
    ("generalised-alpha", {"dt": 2e-3}, 1e-4),
    ("dina", {"dt": 2e-3}, 2e-4),
]


# ------------------------------------------------------------------------------------------------ one block
@pytest.mark.parametrize("angle", [0.3, 0.35])
def test_a_block_stays_on_a_slope_that_is_not_steep_enough(angle):
    weight = G * np.sin(angle)
    limit = G * np.sin(0.36)
    run = gs.simulate(block(axis=(np.cos(angle), 0, -np.sin(angle)), coulomb=limit), t_end=10.0)
    assert np.all(run.q == 0.0) and np.all(run.v == 0.0) and np.all(run.a == 0.0)
    assert not run.events and run.counters.steps < 20 and np.all(run.tau == 0.0)
    model = run.model  # what the equations of motion lack is the friction
    np.testing.assert_allclose(run.tau[-1] - gs.rnea(model, run.q[-1], run.v[-1], run.a[-1]), weight)


def test_a_block_slides_down_a_steep_slope_and_a_push_up_ends_at_rest_or_turns():
    steep, flat = np.arcsin(0.5), np.arcsin(0.2)
    for angle, kind in ((steep, "slip"), (flat, "stick")):
        weight, limit = G * np.sin(angle), 0.3 * G
        model = block(axis=(np.cos(angle), 0, -np.sin(angle)), coulomb=limit)
        run = gs.simulate(model, v0=[-1.0], t_end=2.0)
        stop = 1.0 / (weight + limit)
        assert told(run) == [(kind, "rub")] and run.events[0].t == pytest.approx(stop, abs=1e-9)
        top = -0.5 * stop
        want = top + 0.5 * (weight - limit) * (2.0 - stop) ** 2 if kind == "slip" else top
        assert run.q[-1, 0] == pytest.approx(want, abs=1e-9)
    down = gs.simulate(block(axis=(np.cos(steep), 0, -np.sin(steep)), coulomb=0.3 * G), t_end=1.0)
    assert down.q[-1, 0] == pytest.approx(0.1 * G, abs=1e-9) and not down.events


def test_an_oscillation_loses_4_f_over_k_a_cycle_and_stops_in_the_dead_band():
    run = gs.simulate(block(mass=M, spring=K, coulomb=F), q0=[0.5], t_end=8.0, **ACCURATE)
    turns = 0.5 - 2.0 * F / K * np.arange(1, 9)
    turns *= (-1.0) ** np.arange(1, 9)
    assert told(run) == [("slip", "rub")] * 7 + [("stick", "rub")]
    np.testing.assert_allclose([e.t for e in run.events], np.arange(1, 9) * np.pi / W, atol=1e-9)
    np.testing.assert_allclose([e.q[0] for e in run.events], turns, atol=1e-9)
    assert run.q[-1, 0] == pytest.approx(0.02, abs=1e-9) and abs(run.q[-1, 0]) < F / K
    assert run.v[-1, 0] == 0.0 and run.a[-1, 0] == 0.0
    path = 0.5 + 2.0 * np.abs(turns[:-1]).sum() + abs(turns[-1])
    np.testing.assert_allclose(run.energy_residual[-1], -F * path, rtol=1e-10)  # lost is the work of friction
    assert run.counters.rejected < 20


def test_the_balance_of_energy_is_that_of_friction_at_every_sample():
    model = block(mass=M, spring=K, coulomb=F)
    run = gs.simulate(model, lambda t, q, v: 4.0 * np.sin(2.0 * t) + 0.0 * q, t_end=4.0, **ACCURATE)
    assert len(times(run, "stick")) and len(times(run, "slip")) and np.ptp(run.work) > 0.1
    path = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(run.q[:, 0])))])  # all turning points are samples
    np.testing.assert_allclose(run.energy_residual, -F * path, atol=1e-9)


@pytest.mark.parametrize(("method", "options", "near"), METHODS)
def test_all_methods_agree(method, options, near):
    run = gs.simulate(block(mass=M, spring=K, coulomb=F), q0=[0.2], t_end=2.5, method=method, **options)
    assert told(run) == [("slip", "rub")] * 2 + [("stick", "rub")]  # 0.2, -0.14, 0.08, -0.02
    assert run.events[-1].t == pytest.approx(3 * np.pi / W, abs=near)
    assert run.q[-1, 0] == pytest.approx(-0.02, abs=near)
    at_rest = run.t > run.events[-1].t + 1e-12
    assert at_rest.any() and np.all(run.v[at_rest] == 0.0) and np.ptp(run.q[at_rest]) < 1e-15


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_the_methods_of_sundials_agree(method):
    pytest.importorskip("sksundae")
    run = gs.simulate(block(mass=M, spring=K, coulomb=F), q0=[0.2], t_end=2.5, method=method, rtol=1e-8)
    assert told(run) == [("slip", "rub")] * 2 + [("stick", "rub")]
    assert run.events[-1].t == pytest.approx(3 * np.pi / W, abs=1e-6) and run.q[-1, 0] == pytest.approx(-0.02, abs=1e-6)


def test_directions_have_their_own_sizes():
    model = block(coulomb=(3.0, 1.0))
    forward = gs.simulate(model, v0=[2.0], t_end=2.0)
    backward = gs.simulate(model, v0=[-2.0], t_end=3.0)
    assert forward.events[0].t == pytest.approx(2.0 / 3.0, abs=1e-9)
    assert backward.events[0].t == pytest.approx(2.0, abs=1e-9)
    pull = gs.simulate(model, lambda t, q, v: 4.0 * np.sin(t) + 0.0 * q, t_end=6.0, rtol=1e-9)
    assert pull.events[0].t == pytest.approx(np.arcsin(0.75), abs=1e-9)
    push = gs.simulate(model, lambda t, q, v: -4.0 * np.sin(t) + 0.0 * q, t_end=1.0, rtol=1e-9)
    assert push.events[0].t == pytest.approx(np.arcsin(0.25), abs=1e-9)


def ramp(stribeck, v=0.2, k=100.0, static=5.0, coulomb=3.0):
    """A mass of 1 kg that is pulled through a spring whose end moves with v."""
    model = block(coulomb=coulomb, static=static, stribeck=stribeck)
    return gs.simulate(model, lambda t, q, v_: k * (v * t - q), t_end=2.2, rtol=1e-9, atol=1e-11)


def test_a_mass_that_is_pulled_by_a_spring_sticks_and_slips_with_the_known_period():
    """Sticking: the spring winds from 2 coulomb - static to static. Slipping from rest against coulomb alone, with
    s = static - coulomb and w^2 = k/m: x' = v (1 - cos w t) + s w/k sin w t, zero again at
    w t = 2 pi - 2 atan(s w/(k v))."""
    v, k, static, coulomb = 0.2, 100.0, 5.0, 3.0
    w, s = np.sqrt(k), static - coulomb
    slip = (2 * np.pi - 2 * np.arctan(s * w / (k * v))) / w
    period = slip + 2 * s / (k * v)
    found = []
    for stribeck in (2e-3, 1e-3, 5e-4):
        run = ramp(stribeck)
        assert [e.kind for e in run.events[:6]] == ["slip", "stick", "slip", "stick", "slip", "stick"]
        assert run.events[0].t == pytest.approx(static / k / v, abs=1e-9)
        found.append(times(run, "slip")[2] - times(run, "slip")[1])
    errors = np.array(found) - period  # it takes time until the static part is gone
    assert errors[0] > errors[1] > errors[2] > 0.0 and errors[2] < 5e-3


def test_a_spring_that_pulls_against_coulomb_alone_never_sticks_again():
    run = gs.simulate(block(coulomb=3.0), lambda t, q, v: 100.0 * (0.2 * t - q), t_end=1.2, **ACCURATE)
    assert run.events[0].t == pytest.approx(0.15, abs=1e-9)
    t = run.t[run.t > 0.15] - 0.15
    np.testing.assert_allclose(run.v[run.t > 0.15, 0], 0.2 * (1.0 - np.cos(10.0 * t)), atol=1e-8)


def test_nothing_is_compiled_again_at_an_event(monkeypatch):
    kernel_code = importlib.import_module("gyrostat.engine.drivers.kernel_code")
    model, made, load = block(mass=M, spring=K, coulomb=F), [], kernel_code.load
    gs.simulate(model, q0=[0.5], t_end=0.1)
    monkeypatch.setattr(kernel_code, "load", lambda *a: made.append(a) or load(*a))
    run = gs.simulate(model, q0=[0.5], t_end=6.0)
    assert len(run.events) == 8 and not made and run.counters.compiled


def test_smooth_friction_has_no_events():
    run = gs.simulate(block(coulomb=1.0, smooth=0.01), v0=[1.0], t_end=0.5)
    assert not run.events and DryFriction.of(run.model) is None


@pytest.mark.parametrize("method", ["dopri5", "radau"])
def test_an_effort_that_changes_much_faster_than_a_body_at_rest_is_not_passed_over(method):
    """0.1 t sin(50 t) N: its peaks reach 1 N one by one, the first one for 4 ms; all stands still until then."""
    run = gs.simulate(
        block(coulomb=1.0), lambda t, q, v: 0.1 * t * np.sin(50.0 * t) + 0.0 * q, t_end=10.2, method=method
    )
    first = run.events[0].t
    assert 0.1 * first * abs(np.sin(50.0 * first)) == pytest.approx(1.0, abs=1e-9)
    earlier = np.linspace(0.0, first - 1e-9, 200_001)
    assert np.max(0.1 * earlier * np.abs(np.sin(50.0 * earlier))) < 1.0
    assert [e.kind for e in run.events[:4]] == ["slip", "stick", "slip", "stick"]


def test_an_effort_that_just_passes_the_limit_is_seen():
    run = gs.simulate(block(coulomb=1.0), lambda t, q, v: (1.0 + 1e-6) * np.sin(t) + 0.0 * q, t_end=3.0)
    assert told(run) == [("slip", "rub"), ("stick", "rub")]
    assert run.events[0].t == pytest.approx(np.arcsin(1.0 / (1.0 + 1e-6)), abs=1e-9)


# ------------------------------------------------------------------------------------------------ what is at rest
@settings(max_examples=few(60), deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5))
def test_the_balance_is_the_only_one_that_holds_all_conditions(seed, k):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(k, k + 1))
    A, b = root @ root.T, 3.0 * rng.normal(size=k)
    low, high = -rng.uniform(0.0, 2.0, k), rng.uniform(0.0, 2.0, k)
    low[0] = -np.inf if seed % 2 else low[0]
    f = constraint_forces(A, b, low, high)
    g = A @ f + b
    assert np.all(f >= low - 1e-9) and np.all(f <= high + 1e-9)
    inside = (f > low + 1e-9) & (f < high - 1e-9)
    near = 1e-8 * (1.0 + np.abs(b).max())
    assert np.all(np.abs(g[inside]) < near)
    assert np.all(g[f <= low + 1e-9] > -near) and np.all(g[f >= high - 1e-9] < near)


def test_the_reserve_of_efforts_that_cancel_is_the_best_one():
    active = ActiveRows(np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]))
    ones = np.ones(3)
    f, way = np.array([0.9, 0.0, 0.9]), np.array([1.0, 1.0, -1.0])
    value, gives = force_reserve(active, f, -ones, ones)
    tried = np.abs(f + np.linspace(-2, 2, 40001)[:, None] * way).max(axis=1)
    assert value == pytest.approx(tried.min() - 1.0, abs=1e-4) and len(gives) == 2


def test_the_slope_of_stribecks_curve_is_its_derivative():
    model = block(coulomb=(3.0, 2.0), static=(5.0, 4.0), stribeck=0.1)
    dry, h = DryFriction.of(model), 1e-6
    for s in (-1.0, 1.0):
        for v in (-0.13, 0.02, 0.07):
            ahead, behind = (dry.efforts(np.array([v + x]), np.array([s]))[0] for x in (h, -h))
            assert dry.slopes(np.array([v]), np.array([s]))[0, 0] == pytest.approx((ahead - behind) / (2 * h), rel=1e-6)
        assert dry.efforts(np.array([0.5 * s]), np.array([s]))[0] == pytest.approx(-s * (3.0 if s > 0 else 2.0))
