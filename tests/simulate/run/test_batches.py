"""Batches of runs: each as it is alone, in the same bits, whatever their number and that of the threads."""

import warnings

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.errors import NonFiniteError, PerformanceWarning, ShapeError, StateError
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.run import batch, progress

ARM = gs.robots.two_link()
PENDULUM = gs.robots.pendulum()
RNG = np.random.default_rng(3)
Q = RNG.uniform(-1.0, 1.0, (5, 2))
KP = RNG.uniform(5.0, 20.0, 5)
ARRAYS = ("t", "q", "v", "a", "tau", "p", "work")
OWN_STEPS = {name: {"rtol": 1e-6} for name, method in METHODS.items() if method.adaptive}
STEPS = OWN_STEPS | {name: {"dt": 2e-3} for name, method in METHODS.items() if not method.adaptive}


def law(t, q, v, kp):
    return kp * (np.sin(t) - q) - 2.0 * v


def stiff(t, q, v):
    """A law that cannot be recorded."""
    return np.array([1.0 if float(q[0]) > 0.0 else -1.0, 0.0]) - v


def limited():
    link = gs.RigidBody("link", mass=1.0, com=(0, 0, -0.5), inertia=(0.1, 0.1, 0.1))
    hinge = gs.Joint("hinge", "revolute", axis="y", lower=-1.0, upper=1.0)
    return gs.assemble("limited", gs.chain("world", hinge, link))


def expect_same(one, other):
    for name in ARRAYS:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.status, one.message, one.method) == (other.status, other.message, other.method)
    assert [(e.t, e.name, e.kind) for e in one.events] == [(e.t, e.name, e.kind) for e in other.events]
    assert one.counters.steps == other.counters.steps
    assert one.counters.rhs_evaluations == other.counters.rhs_evaluations


# ---------------------------------------------------------------------------------------------- the same bits
@pytest.mark.parametrize("method", sorted(METHODS))
def test_every_run_of_a_batch_has_the_bits_that_it_has_alone(method):
    options = {"t_end": 0.1, "method": method, **STEPS[method]}
    try:
        runs = gs.simulate(ARM, law, Q, parameters={"kp": KP}, **options)
    except gs.GyrostatError as error:
        if "Hint: pip install" in str(error):
            pytest.skip("its library is not here")
        raise
    assert len(runs) == 5 and runs.status.tolist() == ["finished"] * 5
    for k, run in enumerate(runs):
        expect_same(run, gs.simulate(ARM, law, Q[k], parameters={"kp": KP[k]}, **options))


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 0.3, 7)])
def test_neither_threads_nor_the_number_of_runs_change_a_bit(t_eval):
    given = {"t_end": 0.3, "t_eval": t_eval}
    one, two = (gs.simulate(ARM, law, Q, parameters={"kp": KP}, threads=n, **given) for n in (1, 3))
    few = gs.simulate(ARM, law, Q[2:4], parameters={"kp": KP[2:4]}, **given)
    for a, b in zip(one, two, strict=True):
        expect_same(a, b)
    for a, b in zip(one[2:4], few, strict=True):
        expect_same(a, b)


CASES = {
    "an event": {"events": gs.Event(lambda t, q, v: q[0] - 0.3, terminal=True, name="there")},
    "a reset": {"events": gs.Event(lambda t, q, v: q[0], reset=lambda t, q, v: (q, 0.5 * v))},
    "a digital block": {"torque": gs.blocks.pid(20, 4, 2, [0.3, 0.1], sample_time=0.01)},
    "a block": {"torque": gs.blocks.pid(20, 4, 2, [0.3, 0.1])},
    "a wrench": {"wrenches": {"lower.tip": [0.0, 0.0, 0.0, 3.0, 0.0, 0.0]}},
    "Python": {"torque": stiff, "compiled": False},
}


@pytest.mark.parametrize("case", CASES)
def test_events_blocks_and_wrenches_are_those_of_each_run(case):
    options = {"t_end": 0.5, "method": "dopri5", **CASES[case]}
    runs = gs.simulate(ARM, q0=Q, v0=[0.5, 0.0], threads=2, **options)
    for k, run in enumerate(runs):
        expect_same(run, gs.simulate(ARM, q0=Q[k], v0=[0.5, 0.0], **options))


def test_stops_act_in_each_run_as_they_do_alone():
    options = {"t_end": 1.5, "events": gs.JointLimits(restitution=0.5)}
    v0 = np.array([[0.5], [3.0], [5.0]])
    runs = gs.simulate(limited(), v0=v0, threads=2, **options)
    assert [len(run.events) > 0 for run in runs] == [False, False, True]
    for k, run in enumerate(runs):
        expect_same(run, gs.simulate(limited(), v0=v0[k], **options))


def test_a_free_body_with_quaternions_turns_as_it_does_alone():
    link = gs.RigidBody("body", mass=2.0, inertia=(1, 2, 3))
    body = gs.assemble("body", gs.chain("world", gs.Joint("free", "free"), link))
    v0 = RNG.normal(size=(3, 6))
    runs = gs.simulate(body, v0=v0, t_end=0.5, t_eval=[0.1, 0.5], threads=2)
    assert runs.q.shape == (3, 2, 7)
    for k, run in enumerate(runs):
        expect_same(run, gs.simulate(body, v0=v0[k], t_end=0.5, t_eval=[0.1, 0.5]))


# ---------------------------------------------------------------------------------------------- what is given
def test_physical_properties_differ_from_run_to_run():
    mass = np.array([0.5, 1.0, 2.0])
    runs = gs.simulate(ARM, None, [0.4, 0.2], parameters={"lower.mass": mass}, t_end=0.2)
    for run, m in zip(runs, mass, strict=True):
        expect_same(run, gs.simulate(ARM, None, [0.4, 0.2], parameters={"lower.mass": m}, t_end=0.2))
        assert run.model["lower.mass"] == m


def test_properties_that_constraints_read_differ_too():
    mass = np.array([0.5, 2.0])
    options = {"events": gs.JointLimits(), "t_end": 0.2}
    runs = gs.simulate(ARM, None, [0.4, 0.2], parameters={"lower.mass": mass}, **options)
    for run, m in zip(runs, mass, strict=True):
        expect_same(run, gs.simulate(ARM, None, [0.4, 0.2], parameters={"lower.mass": m}, **options))


def test_sensitivities_are_those_of_each_run():
    options = {"t_eval": [0.1, 0.2], "sensitivities": ["kp", "lower.mass"]}
    mass = np.linspace(0.8, 1.2, 5)
    runs = gs.simulate(ARM, law, Q, parameters={"kp": KP, "lower.mass": mass}, threads=2, **options)
    for k, run in enumerate(runs):
        alone = gs.simulate(ARM, law, Q[k], parameters={"kp": KP[k], "lower.mass": mass[k]}, **options)
        expect_same(run, alone)
        for name in options["sensitivities"]:
            assert np.array_equal(run.sensitivities[name].q, alone.sensitivities[name].q)


def test_gains_alone_need_the_number_of_runs():
    runs = gs.simulate(ARM, law, [0.1, 0.2], parameters={"kp": KP}, runs=5, t_end=0.1)
    expect_same(runs[3], gs.simulate(ARM, law, [0.1, 0.2], parameters={"kp": KP[3]}, t_end=0.1))
    vector = gs.simulate(ARM, law, [0.1, 0.2], parameters={"kp": [10.0, 20.0]}, t_end=0.1)  # one run, a gain each
    assert isinstance(vector, gs.Result)
    shared = gs.simulate(ARM, law, Q, parameters={"kp": [[10.0, 20.0]]}, t_end=0.1)
    expect_same(shared[1], gs.simulate(ARM, law, Q[1], parameters={"kp": [10.0, 20.0]}, t_end=0.1))


def test_a_state_that_is_given_once_serves_all():
    runs = gs.simulate(ARM, q0=[0.1, 0.2], v0=Q, t_end=0.1)
    expect_same(runs[4], gs.simulate(ARM, q0=[0.1, 0.2], v0=Q[4], t_end=0.1))
    assert len(gs.simulate(ARM, q0=Q[:1], t_end=0.1)) == 1


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"q0": Q, "v0": np.zeros((3, 2))}, ShapeError, r"do not go together: q0 \(5,\), v0 \(3,\)"),
        ({"q0": Q, "parameters": {"lower.mass": [1.0, 2.0]}}, ShapeError, "do not go together.*lower.mass"),
        ({"q0": Q[None]}, ShapeError, "one axis of runs"),
        ({"q0": Q[:0]}, ShapeError, "one axis of runs"),
        ({"q0": Q, "parameters": {"lower.mas": 1.0}}, StateError, "lower.mass"),
        ({"q0": Q, "parameters": {"lower.mass": [1.0, 2.0, np.nan, 1.0, 1.0]}}, NonFiniteError, "lower.mass"),
        ({"runs": 0}, StateError, "runs must be a whole number from 1 on, got 0"),
        ({"q0": Q, "threads": 0}, ShapeError, "threads must be a whole number"),
    ],
)
def test_runs_that_do_not_go_together_are_told(options, error, words):
    with pytest.raises(error, match=words):
        gs.simulate(ARM, t_end=0.1, **options)


def test_python_is_told_of_once():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        gs.simulate(ARM, stiff, Q, t_end=0.01)
    assert [w.category for w in caught] == [PerformanceWarning]


# ---------------------------------------------------------------------------------------------- what comes out
def test_arrays_are_stacked_where_the_samples_are_the_same():
    runs = gs.simulate(ARM, law, Q, parameters={"kp": KP}, t_eval=np.linspace(0.0, 0.2, 5))
    assert runs.t.shape == (5,) and runs.q.shape == runs.v.shape == runs.a.shape == runs.tau.shape == (5, 5, 2)
    assert runs.p.shape == (5, 5, 0) and runs.work.shape == (5, 5)
    assert np.array_equal(runs.q[3], runs[3].q) and np.array_equal(runs[1:3].tau[1], runs[2].tau)
    fixed = gs.simulate(ARM, law, Q, parameters={"kp": KP}, t_end=0.01, method="rk4", dt=1e-3)
    assert fixed.q.shape == (5, 11, 2)


def test_arrays_of_other_samples_are_refused_with_a_sentence():
    runs = gs.simulate(ARM, law, Q, parameters={"kp": KP}, t_end=1.0)
    with pytest.raises(StateError, match=r"samples of their own, from \d+ to \d+ of them.*Hint: t_eval"):
        _ = runs.q


def test_a_batch_is_a_sequence():
    runs = gs.simulate(ARM, q0=Q, t_end=0.01)
    assert isinstance(runs, gs.Results) and isinstance(runs[-1], gs.Result)
    assert [run is runs[k] for k, run in enumerate(runs)] == [True] * 5
    assert len(runs[1:4]) == 3 and runs[[4, 0]][0] is runs[4] and len(runs[runs.status == "failed"]) == 0
    assert repr(runs).startswith(f"<Results of '{ARM.name}': 5 runs, 5 finished; dopri5,")
    with pytest.raises(IndexError, match="there is no run 5, expected 0 to 4"):
        _ = runs[5]
    with pytest.raises(AttributeError):
        runs.model = None


def test_a_table_of_all_runs_has_the_number_of_the_run():
    pytest.importorskip("pandas")
    table = gs.simulate(ARM, q0=Q, t_eval=[0.0, 0.1]).to_pandas()
    assert table.index.names == ["run", "t"] and len(table) == 10
    assert table.loc[(3, 0.0), ("q", ARM.coordinates[1])] == Q[3, 1]


# ---------------------------------------------------------------------------------------------- what goes wrong
def growing(t, q, v, k):
    return k * v


@pytest.mark.parametrize("threads", [1, 2])
def test_a_run_that_cannot_go_on_keeps_its_message_and_the_others_finish(threads):
    k = np.array([-1.0, 60.0, -2.0, 80.0])
    given = {"t_eval": np.linspace(0.0, 1.0, 11), "v0": [1.0], "threads": threads}
    runs = gs.simulate(PENDULUM, growing, parameters={"k": k}, runs=4, **given)
    assert runs.status.tolist() == ["finished", "failed", "finished", "failed"] and runs.failed.tolist() == [1, 3]
    assert "grows without bound" in runs.message[1] and ".result of this error" not in runs.message[1]
    count = len(runs[1].t)
    assert 0 < count < 11 and np.isfinite(runs.q[1, :count]).all() and np.isnan(runs.q[1, count:]).all()
    with pytest.raises(gs.SimulationError) as error:
        gs.simulate(PENDULUM, growing, parameters={"k": k[1]}, v0=[1.0], t_eval=given["t_eval"])
    assert np.array_equal(error.value.result.q, runs[1].q)
    expect_same(runs[2], gs.simulate(PENDULUM, growing, parameters={"k": k[2]}, v0=[1.0], t_eval=given["t_eval"]))


def test_a_start_beyond_a_limit_fails_alone_and_raises_if_all_are_there():
    runs = gs.simulate(limited(), q0=[[0.2], [1.5]], t_end=0.1, events=gs.JointLimits())
    assert runs.status.tolist() == ["finished", "failed"] and "hinge" in runs.message[1]
    assert runs[1].t.shape == (0,) and runs[1].q.shape == (0, 1)
    with pytest.raises(StateError, match="hinge"):
        gs.simulate(limited(), q0=[[1.2], [1.5]], t_end=0.1, events=gs.JointLimits())


def test_a_function_that_fails_at_one_start_fails_that_run():
    def picky(t, q, v, k):
        if float(k) == 1.0:
            raise ValueError("not with one")
        return -k * v

    runs = gs.simulate(ARM, picky, Q[:3], parameters={"k": np.arange(3.0)}, t_end=0.02, compiled=False)
    assert runs.status.tolist() == ["finished", "failed", "finished"] and "ValueError: not with one" in runs.message[1]
    with pytest.raises(ValueError, match="not with one"):
        gs.simulate(ARM, picky, Q[:3], parameters={"k": np.ones(3)}, t_end=0.02, compiled=False)


@pytest.mark.parametrize("threads", [1, 2])
def test_ctrl_c_returns_what_was_computed(threads):
    def stop(finished, count, share):
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(progress, "EVERY", -1.0)
        patch.setattr(batch, "LOOK", 0.0)
        q0, options = np.tile(Q, (40, 1)), {"t_end": 0.5, "threads": threads, "progress": stop}
        runs = gs.simulate(ARM, law, q0, parameters={"kp": 9.0}, **options)
    assert len(runs) == 200 and runs.status[0] == "finished" and runs.status[-1] == "interrupted"
    assert runs.message[-1] == "interrupted before it began" and len(runs[-1].t) == 0


def test_ctrl_c_within_a_run_ends_it_and_those_behind_it():
    def slow(t, q, v, k):
        if float(k) == 2.0 and t > 0.05:
            raise KeyboardInterrupt
        return -k * v

    runs = gs.simulate(ARM, slow, Q, parameters={"k": np.arange(5.0)}, t_end=0.1, compiled=False)
    assert runs.status.tolist() == ["finished", "finished", "interrupted", "interrupted", "interrupted"]
    assert 0.0 < runs[2].t[-1] <= 0.1 and len(runs[3].t) == 0


# ---------------------------------------------------------------------------------------------- what it cost
def test_a_python_law_is_called_once_for_each_stage_and_nothing_else():
    run = gs.simulate(ARM, stiff, Q[0], t_end=0.2, compiled=False, t_eval=[0.2])
    counted = run.counters
    assert list(counted.python) == ["law"]
    calls, seconds = counted.python["law"]
    assert calls == counted.rhs_evaluations + counted.output_evaluations and 0.0 < seconds < counted.wall_time
    assert f"machine code called 'law' {calls} times" in counted.in_python


def test_machine_code_alone_calls_nothing_in_python(tmp_path):
    run = gs.simulate(ARM, law, Q[0], parameters={"kp": 3.0}, t_end=0.1)
    assert run.counters.python == {} and run.counters.in_python == ""
    called = gs.simulate(ARM, stiff, Q[0], t_end=0.1, compiled=False)
    assert gs.load_result(called.save(tmp_path / "run")).counters.python == called.counters.python


def test_a_first_run_without_a_sound_model_fails_alone():
    runs = gs.simulate(gs.robots.two_link(), q0=[0.1, 0.2], t_end=0.05, parameters={"upper.mass": [-1.0, 1.0, 2.0]})
    assert [run.status for run in runs] == ["failed", "finished", "finished"] and "mass" in runs[0].message
    with pytest.raises(gs.SpecError):
        gs.simulate(gs.robots.two_link(), q0=[0.1, 0.2], t_end=0.05, parameters={"upper.mass": [-1.0, -2.0]})


def test_samples_and_events_in_python_are_counted():
    law = gs.blocks.sampled(lambda t, q, v: -q if q[0] > 0.0 else -2.0 * q, 0.01)
    event = gs.Event(lambda t, q, v: q[0] - 5.0, name="far")
    run = gs.simulate(gs.robots.two_link(), law, [0.1, 0.2], t_end=0.5, events=event)
    assert run.counters.python["samples"][0] == 50 and run.counters.python["event 'far'"][0] > 0
    assert "'samples' 50 times" in run.counters.in_python and "event 'far'" in run.counters.in_python
