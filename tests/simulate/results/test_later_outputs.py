"""Accelerations and efforts of bdf, which its steps do not need: found when somebody asks, and the same as ever."""

import copy
import dataclasses
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gyrostat as gs

Q, V = [0.3, -0.7], [0.5, -0.2]


def pd(kp):
    return lambda t, q, v: kp * (0.4 * np.sin(t) - q) - 0.3 * v


def ran(law=None, **how):
    return gs.simulate(gs.robots.two_link(), pd(3.0) if law is None else law, Q, V, t_end=0.5, method="bdf", **how)


def left(run):
    """Whether nobody has asked yet."""
    return "a" not in vars(run) and "tau" not in vars(run)


def exact(run, kp=3.0):
    tau = np.array([pd(kp)(t, q, v) for t, q, v in zip(run.t, run.q, run.v, strict=True)])
    return np.asarray(gs.aba(run.model, run.q, run.v, tau)), tau


def test_they_are_those_of_forward_dynamics_and_of_the_law():
    run = ran()
    assert left(run) and run.counters.output_evaluations == 1  # of the start, which is looked at before the run
    a, tau = exact(run)
    np.testing.assert_allclose(run.a, a, atol=1e-10)
    np.testing.assert_allclose(run.tau, tau, atol=1e-13)
    assert run.a is run.a and not left(run)


def test_they_belong_to_the_gains_of_their_run_whatever_runs_later():
    model, gains = gs.robots.two_link(), (3.0, 7.0, 11.0)
    runs = [gs.simulate(model, pd(kp), Q, V, t_end=0.5, method="bdf") for kp in gains]
    for kp, run in zip(gains, runs, strict=True):
        assert left(run)
        np.testing.assert_allclose(run.tau, exact(run, kp)[1], atol=1e-13)

    def law(t, q, v, kp):
        return kp * (0.4 * np.sin(t) - q) - 0.3 * v

    runs = [gs.simulate(model, law, Q, V, t_end=0.5, method="bdf", parameters={"kp": kp}) for kp in gains]
    batch = gs.simulate(model, law, Q, V, t_end=0.5, method="bdf", parameters={"kp": np.array(gains)}, runs=3)
    for kp, run, one in zip(gains, runs, batch, strict=True):
        np.testing.assert_allclose(run.tau, exact(run, kp)[1], atol=1e-13)
        assert np.array_equal(one.tau, run.tau) and np.array_equal(one.a, run.a)


def test_each_run_of_many_with_one_law_has_its_own():
    model, law = gs.robots.two_link(), pd(3.0)
    runs = [gs.simulate(model, law, [0.3 + 0.1 * k, -0.7], V, t_end=0.3 + 0.1 * k, method="bdf") for k in range(6)]
    for run in runs:
        assert left(run)
        a, tau = exact(run)
        np.testing.assert_allclose(run.a, a, atol=1e-9)
        np.testing.assert_allclose(run.tau, tau, atol=1e-13)


def test_properties_among_the_parameters_are_those_of_the_run():
    model = gs.robots.two_link()
    path = next(p for p in model.paths() if p.endswith("mass"))
    runs = [
        gs.simulate(model, pd(3.0), Q, V, t_end=0.3, method="bdf", parameters={path: m * model[path]})
        for m in (1.0, 2.0)
    ]
    for run in runs:
        np.testing.assert_allclose(run.a, exact(run)[0], atol=1e-9)


def test_they_have_the_same_bits_as_samples_at_the_same_instants():
    run = ran()
    sampled = ran(t_eval=run.t[[0, -1]])
    assert np.array_equal(sampled.a, run.a[[0, -1]]) and np.array_equal(sampled.tau, run.tau[[0, -1]])


@pytest.mark.parametrize(
    "how",
    [
        {"events": [gs.Event(lambda t, q, v: q[0])]},
        {"compiled": False},
        {"law": gs.blocks.pd(3.0, 0.3, reference=np.array([0.1, 0.2]), sample_time=0.01)},
    ],
)
def test_what_may_change_on_the_way_is_not_left(how):
    run = ran(**how)
    assert not left(run)
    np.testing.assert_allclose(np.asarray(gs.aba(run.model, run.q, run.v, run.tau)), run.a, atol=1e-9)


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, dataclasses.replace, lambda run: pickle.loads(pickle.dumps(run))]
)
def test_copies_have_them(copied):
    run = ran()
    assert left(run)
    twin = copied(run)
    np.testing.assert_array_equal(twin.a, run.a)
    np.testing.assert_array_equal(twin.tau, run.tau)


def test_saved_results_and_tables_have_them(tmp_path):
    run = ran()
    again = gs.load_result(run.save(tmp_path / "run.npz"))
    assert np.array_equal(again.a, run.a) and np.array_equal(again.tau, run.tau)


def test_threads_may_ask_at_the_same_time():
    runs = [ran() for _ in range(8)]
    with ThreadPoolExecutor(8) as pool:
        for run in runs:
            found = list(pool.map(lambda _, run=run: run.tau, range(8)))
            assert all(np.array_equal(x, found[0]) for x in found)


def test_a_name_that_a_result_does_not_have_is_told():
    with pytest.raises(AttributeError, match="no attribute 'torque'"):
        _ = ran().torque
