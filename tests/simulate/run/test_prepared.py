"""A run that was prepared for one call serves the next one, and is never taken for another."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.configuration.model_cache import cached_on
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.run import prepared, progress, task

ARRAYS = ("t", "q", "v", "a", "tau", "p", "work")
Q, OTHER = np.array([0.4, -0.3]), np.array([-1.1, 0.7])
STEPS = {name: {"rtol": 1e-7} if method.adaptive else {"dt": 2e-3} for name, method in METHODS.items()}
COMPILED = sorted(name for name, method in METHODS.items() if method.compiled and not method.treats_contacts)
GAIN = 3.0


def law(t, q, v):
    return 4.0 * (np.sin(t) - q) - 0.5 * v


def with_gain(t, q, v, kp):
    return -kp * q - 0.3 * v


def spring(kp):
    return lambda t, q, v: -kp * q


def arm():
    return gs.robots.two_link()


def expect_same(one, other):
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.status, one.method, one.settings) == (other.status, other.method, other.settings)
    ours, theirs = one.counters, other.counters
    for name in ("steps", "rejected", "rhs_evaluations", "residual_evaluations", "output_evaluations", "compiled"):
        assert getattr(ours, name) == getattr(theirs, name), name


def known(model, torque=law, **options):
    """A model with a prepared run."""
    for _ in range(3):
        gs.simulate(model, torque, **{"q0": Q, "t_end": 0.05} | options)
    return model


@pytest.fixture
def nothing_prepared(monkeypatch):
    """From here on nobody prepares a run."""

    def refuse():
        monkeypatch.setattr(task.Task, "plant", None)

    return refuse


# ------------------------------------------------------------------------------------------------ it serves
@pytest.mark.parametrize("method", COMPILED)
def test_runs_in_the_memory_of_another_have_the_bits_that_they_have_alone(method, nothing_prepared):
    model, how = arm(), {"method": method, **STEPS[method]}
    asked = [
        {"q0": Q, "t_end": 0.1},
        {"q0": OTHER, "v0": [2.0, -1.0], "t_end": 0.31},
        {"q0": OTHER, "t_start": 1.5, "t_end": 1.6},
        {"q0": Q, "t_end": 0.1},
    ]
    alone = [gs.simulate(arm(), law, **x, **how) for x in asked]
    known(model, **how)
    nothing_prepared()
    for x, want in zip(asked, alone, strict=True):
        expect_same(gs.simulate(model, law, **x, **how), want)


def test_without_efforts_and_with_other_gains_nothing_is_prepared_again(nothing_prepared):
    fresh = [gs.simulate(arm(), with_gain, Q, t_end=0.2, parameters={"kp": kp}) for kp in (2.0, 9.0)]
    model = known(arm(), with_gain, parameters={"kp": 1.0})
    weight = known(arm(), None)
    nothing_prepared()
    for kp, want in zip((2.0, 9.0), fresh, strict=True):
        expect_same(gs.simulate(model, with_gain, Q, t_end=0.2, parameters={"kp": kp}), want)
    assert gs.simulate(weight, None, OTHER, t_end=0.1).status == "finished"


def test_samples_at_the_same_instants_are_taken_in_the_same_memory(nothing_prepared):
    instants, others = np.linspace(0.0, 0.3, 7), np.linspace(0.01, 0.3, 7)
    want = [gs.simulate(arm(), law, q, t_eval=t) for q in (Q, OTHER) for t in (instants, others)]
    model = known(known(arm(), t_eval=instants, t_end=0.3), t_eval=others, t_end=0.3)
    nothing_prepared()
    found = [gs.simulate(model, law, q, t_eval=t) for q in (Q, OTHER) for t in (instants, others)]
    for one, other in zip(found, want, strict=True):
        expect_same(one, other)
    with pytest.raises(TypeError):
        gs.simulate(model, law, Q, t_eval=instants[1:])


def test_a_new_function_of_the_same_code_and_numbers_is_the_same_law(nothing_prepared):
    model, want = known(arm(), spring(2.0)), gs.simulate(arm(), spring(2.0), Q, t_end=0.1)
    nothing_prepared()
    expect_same(gs.simulate(model, spring(2.0), Q, t_end=0.1), want)
    with pytest.raises(TypeError):
        gs.simulate(model, spring(3.0), Q, t_end=0.1)  # would have to be prepared


def test_a_result_stays_what_it_was_when_the_memory_serves_again():
    model = known(arm())
    first = gs.simulate(model, law, Q, t_end=0.3)
    before = {name: getattr(first, name).copy() for name in ARRAYS}
    gs.simulate(model, law, OTHER, t_end=0.5)
    for name, x in before.items():
        assert np.array_equal(getattr(first, name), x), name


def test_a_model_keeps_no_rows_of_its_last_run():
    model = arm()
    for _ in range(4):
        gs.simulate(model, law, Q, t_end=3.0, method="rk4", dt=1e-3)
    (kept,) = cached_on(model)[prepared.KEPT]
    assert kept.run.recorder.blocks == kept.run.recorder.spans == [] and len(kept.run.recorder.harvest.rows) <= 1024


def test_a_model_keeps_few_runs_and_none_that_was_asked_for_once():
    model = arm()
    for kp in range(10):
        gs.simulate(model, spring(1.0 + kp), Q, t_end=0.02)
    assert not cached_on(model).get(prepared.KEPT)
    for kp in range(10):
        known(model, spring(1.0 + kp))
    assert len(cached_on(model)[prepared.KEPT]) == prepared.MOST


def test_laws_in_turn_are_each_prepared_once(nothing_prepared):
    model = arm()
    laws = [spring(kp) for kp in (1.0, 2.0, 3.0)]
    want = [gs.simulate(arm(), f, Q, t_end=0.1) for f in laws]
    for f in 3 * laws:
        gs.simulate(model, f, Q, t_end=0.05)
    nothing_prepared()
    for f, x in 2 * list(zip(laws, want, strict=True)):
        expect_same(gs.simulate(model, f, Q, t_end=0.1), x)


# ------------------------------------------------------------------------------------------------ it notices
def end(model, torque, **options):
    return gs.simulate(model, torque, **{"q0": Q, "t_end": 0.3, "rtol": 1e-9} | options).q[-1]


def expect_felt(torque, change, **options):
    """A change of what a law reads, after some runs with the law as it was."""
    model = arm()
    first = [end(model, torque, **options) for _ in range(5)][-1]
    change()
    second = end(model, torque, **options)
    assert np.abs(first - second).max() > 1e-3
    assert second == pytest.approx(end(model, torque, **options | {"compiled": False}), abs=1e-7)


def test_an_array_in_a_closure_that_was_changed_in_place_is_felt():
    gains = np.array([4.0, 3.0])
    expect_felt(lambda t, q, v: -gains * q, lambda: gains.__setitem__(0, 40.0))


def test_a_number_in_a_closure_that_was_bound_anew_is_felt():
    gain = 4.0

    def change():
        nonlocal gain
        gain = 40.0

    expect_felt(lambda t, q, v: -gain * q, change)


def test_a_global_a_default_and_a_helper_that_were_changed_are_felt(monkeypatch):
    expect_felt(lambda t, q, v: -GAIN * q, lambda: monkeypatch.setitem(globals(), "GAIN", 30.0))

    def with_default(t, q, v, *, kp=3.0):
        return -kp * q

    def change_default():
        with_default.__kwdefaults__ = {"kp": 30.0}

    expect_felt(with_default, change_default)

    def helper(q):
        return -3.0 * q

    def other(q):
        return -30.0 * q

    def change_helper():
        helper.__code__ = other.__code__

    expect_felt(lambda t, q, v: helper(q), change_helper)


def test_a_function_whose_code_was_replaced_is_another_law():
    def one(t, q, v):
        return -3.0 * q

    def two(t, q, v):
        return -30.0 * q

    expect_felt(one, lambda: setattr(one, "__code__", two.__code__))


def test_a_law_that_reaches_an_object_of_the_user_is_tried_anew():
    class Box:
        gain = 3.0

    box = Box()
    expect_felt(lambda t, q, v: -box.gain * q, lambda: setattr(box, "gain", 30.0))


CHANGES = [
    {"rtol": 1e-4},
    {"atol": 1e-4, "rtol": 1e-4},
    {"max_step": 1e-3},
    {"method": "rk4", "dt": 1e-3},
    {"method": "dop853"},
    {"t_eval": [0.1, 0.2]},
    {"compiled": False},
    {"wrenches": {"lower.tip": [0.0, 0.0, 0.0, 3.0, 0.0, 1.0]}},
    {"parameters": {"lower.mass": 5.0}},
    {"events": [gs.Event(lambda t, q, v: t - 0.15, terminal=True)]},
    {"sensitivities": ["q0"]},
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda x: ", ".join(x))
def test_other_settings_are_other_runs_and_leave_nothing_behind(change):
    model, plain = arm(), {"q0": Q, "t_end": 0.3}
    known(model, **plain)
    expect_same(gs.simulate(model, law, **plain | change), gs.simulate(arm(), law, **plain | change))
    expect_same(gs.simulate(model, law, **plain), gs.simulate(arm(), law, **plain))


def test_refusals_are_the_same_with_a_prepared_run():
    model = known(arm(), rtol=1.0)
    for wrong in ({"rtol": True}, {"rtol": "1e-6"}, {"rtol": -1.0}, {"dt": 0.1}, {"method": "euler"}, {"stiff": 1}):
        with pytest.raises(gs.GyrostatError):
            gs.simulate(model, law, Q, t_end=0.1, **{"rtol": 1.0} | wrong)
    with pytest.raises(gs.GyrostatError):
        gs.simulate(model, law, [np.nan, 0.0], t_end=0.1, rtol=1.0)


def test_gains_of_other_shapes_are_another_law():
    model = known(arm(), with_gain, parameters={"kp": 2.0})
    for kp in (np.array([2.0, 5.0]), 3.0, np.array([1.0])):
        one, other = (gs.simulate(m, with_gain, Q, t_end=0.2, parameters={"kp": kp}) for m in (model, arm()))
        expect_same(one, other)


# ------------------------------------------------------------------------------------------------ runs that end early
def test_after_a_run_that_was_stopped_or_failed_the_next_one_is_sound(monkeypatch):
    model = known(arm())
    want = gs.simulate(arm(), law, Q, t_end=0.5)

    def stop(t, h, share):
        raise KeyboardInterrupt

    monkeypatch.setattr(progress, "EVERY", 0.0)
    slow = {"method": "rk4", "dt": 1e-4, "t_end": 2.0}
    known(model, **slow | {"t_end": 1e-3})
    assert gs.simulate(model, law, Q, progress=stop, **slow).status == "interrupted"
    expect_same(gs.simulate(model, law, Q, t_end=0.5), want)

    def explosive(t, q, v):
        return 1e3 * q * q * q + 1e3 * v

    known(model, explosive, q0=0.0 * Q)
    for _ in range(2):
        with pytest.raises(gs.SimulationError):
            gs.simulate(model, explosive, Q, t_end=50.0)
    expect_same(gs.simulate(model, law, Q, t_end=0.5), want)


def test_runs_inside_a_run_and_beside_it_do_not_share_memory(monkeypatch):
    monkeypatch.setattr(progress, "EVERY", 0.0)
    model, inner = known(arm()), []
    want, small = gs.simulate(arm(), law, Q, t_end=0.5), gs.simulate(arm(), law, OTHER, t_end=0.2)

    def look(t, h, share):
        inner.append(gs.simulate(model, law, OTHER, t_end=0.2))

    fine = {"method": "rk4", "dt": 1e-4, "t_end": 0.5}
    outer = gs.simulate(model, law, Q, progress=look, **fine)
    assert inner
    expect_same(inner[0], small)
    expect_same(outer, gs.simulate(arm(), law, Q, **fine))
    start = threading.Barrier(4)

    def one(k):
        start.wait()
        return [gs.simulate(model, law, (Q, OTHER)[k % 2], t_end=(0.5, 0.2)[k % 2]) for _ in range(20)]

    with ThreadPoolExecutor(4) as pool:
        for k, runs in enumerate(pool.map(one, range(4))):
            for run in runs:
                expect_same(run, (want, small)[k % 2])
