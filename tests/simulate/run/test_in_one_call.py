"""A known run in one call of machine code has the bits of the long way, and is never taken for another."""

import copy
import dataclasses
import pickle
import sys
import types
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.configuration.model_cache import cached_on
from gyrostat.simulate.run import prepared, task
from tests.simulate.run.test_prepared import ARRAYS, COMPILED, OTHER, STEPS, Q, arm, expect_felt, expect_same, law


def box():
    body = gs.RigidBody("body", mass=2.0, inertia=(0.1, 0.2, 0.25))
    return gs.assemble("box", gs.chain("world", body), base="free")


@pytest.fixture
def the_long_way(monkeypatch):
    """From here on a call that is not one call of machine code is an error."""

    def refuse():
        monkeypatch.setattr(task.Task, "state", None)

    return refuse


REPEATED = [
    {"q0": Q, "t_end": 0.1},
    {"q0": OTHER, "v0": np.array([2.0, -1.0]), "t_end": 0.31},
    {"q0": OTHER, "t_start": 1.5, "t_end": 1.6},
    {"q0": Q, "t_end": 0.1},
]


@pytest.mark.parametrize("method", COMPILED)
def test_the_third_call_in_the_same_words_is_one_call_with_the_same_bits(method, the_long_way):
    alone = [gs.simulate(arm(), law, **x, method=method, **STEPS[method]) for x in REPEATED]
    model = arm()
    for x in 4 * REPEATED[:1]:
        gs.simulate(model, law, **x, method=method, **STEPS[method])
    the_long_way()
    for x, want in zip(REPEATED, alone, strict=True):
        found = gs.simulate(model, law, **x, method=method, **STEPS[method])
        expect_same(found, want)
        assert found.counters.statistics == want.counters.statistics
        assert found.wall.shape == found.t.shape and found.wall[0] == 0.0
        assert found.counters.wall_time == found.wall[-1] > 0.0
        assert found.counters.simulated_time == want.counters.simulated_time
        assert (found.events, found.message, found.wrenches, found.sensitivities) == ((), "", {}, {})
        assert found.model is model and found.phases == ((0, model),)


def test_a_free_body_and_no_efforts_are_repeated_too(the_long_way):
    q, v = gs.neutral(box()), np.array([0.5, 1.0, -0.7, 3.0, 0.2, 2.0])
    want, model = gs.simulate(box(), None, q, v, 0.5), box()
    for _ in range(3):
        gs.simulate(model, None, q, v, 0.5)
    the_long_way()
    expect_same(gs.simulate(model, None, q, v, 0.5), want)


def repeating(torque=law, **options):
    """A model whose next call in the same words is one call."""
    model = arm()
    for _ in range(4):
        gs.simulate(model, torque, Q, t_end=0.1, **options)
    (kept,) = cached_on(model)[prepared.KEPT]
    assert kept.in_one_call is not None
    return model


def test_a_result_is_whole_whoever_looks_at_it_first():
    model, want = repeating(), gs.simulate(arm(), law, Q, t_end=0.1)
    for name in (*ARRAYS, "counters", "wall"):
        one = gs.simulate(model, law, Q, t_end=0.1)
        getattr(one, name)
        expect_same(one, want)
    expect_same(pickle.loads(pickle.dumps(gs.simulate(model, law, Q, t_end=0.1))), want)
    expect_same(copy.copy(gs.simulate(model, law, Q, t_end=0.1)), want)
    expect_same(dataclasses.replace(gs.simulate(model, law, Q, t_end=0.1)), want)
    assert "finished" in repr(gs.simulate(model, law, Q, t_end=0.1))
    with pytest.raises(AttributeError):
        _ = gs.simulate(model, law, Q, t_end=0.1).torque


@pytest.mark.parametrize("method", ["dopri5", "bdf"])
def test_results_that_nobody_has_looked_at_stay_what_they_were(method):
    model = repeating(method=method)
    starts = [Q * (1.0 + 0.1 * k) for k in range(6)]
    later = [gs.simulate(model, law, q, t_end=0.3, method=method) for q in starts]
    for q, found in zip(starts, later, strict=True):
        expect_same(found, gs.simulate(arm(), law, q, t_end=0.3, method=method))


def test_results_of_one_memory_may_be_looked_at_by_many_threads():
    model = repeating(method="bdf")
    runs = [gs.simulate(model, law, q, t_end=0.3, method="bdf") for q in 20 * (Q, OTHER)]
    want = [gs.simulate(arm(), law, q, t_end=0.3, method="bdf") for q in (Q, OTHER)]
    with ThreadPoolExecutor(4) as pool:
        for k, a in enumerate(pool.map(lambda run: run.a, 2 * runs)):
            assert np.array_equal(a, want[k % 2].a)


def test_a_start_given_by_an_array_that_changes_afterwards_is_the_start_that_was_given():
    model, start = repeating(), Q.copy()
    found = gs.simulate(model, law, start, t_end=0.1)
    start[:] = 7.0
    assert np.array_equal(found.q[0], Q)


BAD_STARTS = [
    {"q0": np.array([np.nan, 0.0])},
    {"q0": Q, "v0": np.array([0.0, np.inf])},
    {"q0": np.zeros(3)},
    {"q0": Q, "v0": np.zeros(3)},
    {"q0": Q, "t_end": -1.0},
    {"q0": Q, "t_end": np.nan},
    {"q0": Q, "t_end": np.inf},
    {"q0": Q, "t_start": 1e12, "t_end": 1e12 + 1e-3},
    {"q0": Q, "t_end": 1e-318},
    {"q0": Q, "threads": 0},
    {"q0": Q, "runs": -1},
    {"q0": Q, "progress": 3},
    {"q0": Q, "stiff": True},
]


@pytest.mark.parametrize("wrong", BAD_STARTS, ids=str)
def test_what_is_refused_is_refused_in_the_same_words_when_it_is_repeated(wrong):
    model = repeating()
    with pytest.raises(gs.GyrostatError) as fresh:
        gs.simulate(arm(), law, **{"t_end": 0.1} | wrong)
    for _ in range(2):
        with pytest.raises(gs.GyrostatError) as found:
            gs.simulate(model, law, **{"t_end": 0.1} | wrong)
        assert str(found.value) == str(fresh.value)
    expect_same(gs.simulate(model, law, Q, t_end=0.1), gs.simulate(arm(), law, Q, t_end=0.1))


def test_quaternions_that_are_not_of_unit_length_are_refused_when_it_is_repeated():
    model = box()
    q = gs.neutral(model)
    for _ in range(4):
        gs.simulate(model, None, q, t_end=0.1)
    assert cached_on(model)[prepared.KEPT][0].in_one_call is not None
    q[3:7] *= 1.01
    with pytest.raises(gs.GyrostatError, match=r"length 1\.01"):
        gs.simulate(model, None, q, t_end=0.1)


def test_runs_that_become_long_or_fail_go_the_long_way_and_say_why():
    model = repeating()
    long = {"t_end": 300.0}
    expect_same(gs.simulate(model, law, Q, **long), gs.simulate(arm(), law, Q, **long))
    expect_same(gs.simulate(model, law, Q, **long), gs.simulate(arm(), law, Q, **long))
    expect_same(gs.simulate(model, law, Q, t_end=0.1), gs.simulate(arm(), law, Q, t_end=0.1))

    def explosive(t, q, v):
        return 1e3 * q * q * q + 1e3 * v

    model = arm()
    for _ in range(4):
        gs.simulate(model, explosive, 0.0 * Q, t_end=1e-3)
    with pytest.raises(gs.SimulationError) as fresh:
        gs.simulate(arm(), explosive, Q, t_end=50.0)
    with pytest.raises(gs.SimulationError) as found:
        gs.simulate(model, explosive, Q, t_end=50.0)
    assert str(found.value) == str(fresh.value)
    expect_same(found.value.result, fresh.value.result)
    one, other = (gs.simulate(m, explosive, 0.0 * Q, t_end=1e-3) for m in (model, arm()))
    expect_same(one, other)


def test_ctrl_c_during_the_one_call_keeps_what_was_computed(monkeypatch):
    model, want = repeating(), gs.simulate(arm(), law, Q, t_end=0.1)
    (kept,) = cached_on(model)[prepared.KEPT]
    method, real = type(kept.run.method), type(kept.run.method).run

    def stopped(self, *given):
        real(self, *given)
        raise KeyboardInterrupt

    monkeypatch.setattr(method, "run", stopped)
    found = gs.simulate(model, law, Q, t_end=0.1)
    monkeypatch.setattr(method, "run", real)
    assert found.status == "interrupted" and found.message == "interrupted at t = 0.1 s of 0.1 s"
    assert np.array_equal(found.q, want.q)
    expect_same(gs.simulate(model, law, Q, t_end=0.1), want)


def test_what_a_repeated_law_reads_of_others_is_watched(monkeypatch):
    module = types.ModuleType("gains_of_a_user")
    module.KP = np.array([3.0, 3.0])
    monkeypatch.setitem(sys.modules, module.__name__, module)
    pair = (np.array([3.0, 3.0]), 1.0)

    def helper(q):
        return -pair[0] * q

    def default(t, q, v, k=pair[0].copy()):  # noqa: B008  # it is the subject
        return -k * q

    changes = [
        (lambda t, q, v: -module.KP * q, lambda: module.KP.__setitem__(0, 30.0)),
        (lambda t, q, v: -module.KP * q, lambda: setattr(module, "KP", np.array([1.0, 30.0]))),
        (lambda t, q, v: helper(q), lambda: pair[0].__setitem__(1, 30.0)),
        (default, lambda: default.__defaults__[0].__setitem__(0, 30.0)),
        (default, lambda: setattr(default, "__defaults__", (np.array([5.0, 50.0]),))),
        (lambda t, q, v: -3.0 * abs(q), lambda: monkeypatch.setitem(globals(), "abs", np.negative)),
    ]
    for torque, change in changes:
        expect_felt(torque, change)


def test_words_that_could_change_are_not_taken_for_the_same():
    model, events = arm(), []
    for _ in range(4):
        gs.simulate(model, law, Q, t_end=0.3, events=events)
    events.append(gs.Event(lambda t, q, v: t - 0.15, terminal=True))
    assert gs.simulate(model, law, Q, t_end=0.3, events=events).status == "event"
