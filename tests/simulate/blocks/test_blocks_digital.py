"""Digital blocks are difference equations: exact at samples, held between, whatever the solver's step."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import signal

import gyrostat as gs
from gyrostat import blocks as bl
from tests.support.blocks_loop import answer, run

T = 0.01
NOTHING = np.zeros(0)


def wave(t):
    return math.sin(7.0 * t) + 0.3 * t


@pytest.mark.parametrize("samples", [0, 1, 3])
def test_a_delay_of_k_samples_gives_what_was_read_k_samples_ago_and_holds_it(samples):
    found = answer(bl.Delay(T, samples), wave, 0.2, T / 4)
    k = np.floor(found.t / T + 1e-9).astype(int) - samples
    expected = [wave(i * T) if i >= 0 else 0.0 for i in k]
    assert np.array_equal(found.out["y"][:, 0], expected)


def test_the_first_values_of_a_delay_are_its_initial_ones():
    found = answer(bl.Delay(T, 2, initial=[5.0, 6.0]), lambda t: [1.0, 2.0], 3 * T, T)
    assert found.out["y"].tolist() == [[5.0, 6.0], [5.0, 6.0], [1.0, 2.0], [1.0, 2.0]]


def test_a_digital_transfer_function_is_its_difference_equation():
    numerator, denominator = [0.2, 0.1, -0.05], [1.0, -1.3, 0.5]
    found = answer(bl.transfer_function(numerator, denominator, sample_time=T), wave, 0.5, T)
    u = np.array([wave(k * T) for k in range(51)])
    expected = signal.lfilter(numerator, denominator, u)
    assert np.abs(found.out["y"][:, 0] - expected).max() < 1e-14


@pytest.mark.parametrize("method", ["zoh", "tustin"])
def test_linear_systems_made_digital_are_those_of_scipy(method):
    analogue = bl.transfer_function([1.0, 3.0], [1.0, 2.0, 20.0, 5.0])
    digital = bl.discretise(analogue, 0.05, method)
    ours = [digital.output(0.0, {}, NOTHING, m)["y"][0] for m in _memories(digital, 60)]
    name = {"zoh": "zoh", "tustin": "bilinear"}[method]
    A, B, C, D, _ = signal.cont2discrete(analogue.matrices, 0.05, name)
    _, expected, _ = signal.dlsim((A, B, C, D, 0.05), np.ones(60))
    assert np.abs(np.array(ours) - expected[:, 0]).max() < 1e-14


def _memories(block, count):
    m = np.array(block.memory)
    for k in range(count):
        m = block.update(k * block.sample_time, {"u": np.ones(1)}, NOTHING, m)
        yield m


def test_a_held_input_gives_the_analogue_answer_at_samples():
    analogue = bl.second_order(20.0, 0.2)
    exact = answer(bl.discretise(analogue, T), wave, 0.3, T)
    chain = answer(bl.series(bl.hold(T), analogue), wave, 0.3, T / 40)
    at_samples = chain.out["y"][::40, 0]
    assert np.abs(exact.out["y"][:, 0] - at_samples).max() < 1e-7


def test_a_digital_pid_is_its_difference_equation_exactly():
    law = bl.PID(3.0, 20.0, 0.2, limit=(-0.8, 1.0), tracking_time=0.05, sample_time=T)
    found = run(law, lambda t, y: {"e": np.array([wave(t)]), "e_rate": np.array([math.cos(t)])}, 0.5, T)
    z, expected = 0.0, []
    for k in range(51):
        e = wave(k * T)
        w = 3.0 * e + z + 0.2 * math.cos(k * T)
        u = min(max(w, -0.8), 1.0)
        z = z + T * (20.0 * e - (w - u) / 0.05)
        expected.append(u)
    assert np.allclose(found.out["u"][:, 0], expected, rtol=0.0, atol=1e-15)


def test_a_digital_rate_limit_is_exact():
    found = answer(bl.RateLimit((-1.0, 2.0), sample_time=T), lambda t: 0.1 if t < 0.1 else 0.0, 0.3, T)
    y = found.out["y"][:, 0]
    assert np.allclose(y[:7], [0.02, 0.04, 0.06, 0.08, 0.1, 0.1, 0.1], atol=1e-15)
    assert np.allclose(np.diff(y)[10:18], -0.01, atol=1e-15)
    assert y[-1] == 0.0


# ------------------------------------------------------------------------------------------------ beside analogue ones
def servo(dt):
    """A mass under a digital PID law with delay and a quantised encoder: between samples Runge-Kutta steps are exact,
    however long they are."""
    law = bl.pid(40.0, 5.0, 8.0, [1.0], limit=30.0, sample_time=T, delay=2, position="q_seen")
    whole = bl.diagram(bl.Quantiser(1e-3, source="q", target="q_seen"), law)
    plant = lambda t, y, out: np.array([y[1], out["tau"][0]])  # noqa: E731
    return run(whole, lambda t, y: {"q": y[:1], "v": y[1:]}, 0.8, dt, plant, [0.0, 0.0])


def test_the_result_does_not_depend_on_the_step_of_the_solver():
    runs = {dt: servo(dt) for dt in (T, T / 3, 0.0071)}
    samples = (np.arange(81) * T).round(9)
    at_samples = [np.hstack([r.y, r.m])[np.isin(r.t.round(9), samples)] for r in runs.values()]
    assert at_samples[0].shape[0] == 81
    assert np.abs(at_samples[0][-1, 0] - 1.0) < 0.2  # it does move
    for other in at_samples[1:]:
        assert np.abs(at_samples[0] - other).max() < 1e-11


def test_an_analogue_lag_behind_a_digital_law_converges_with_the_step():
    whole = bl.series(bl.Gain(-3.0, source="q"), bl.Delay(T, 1), bl.first_order(0.02, target="tau"))
    ends = []
    for dt in (T, T / 2, T / 4):
        found = run(whole, lambda t, y: {"q": y}, 0.3, dt, lambda t, y, out: out["tau"], [1.0])
        ends.append(found.y[-1, 0])
    assert (ends[0] - ends[1]) / (ends[1] - ends[2]) == pytest.approx(16.0, rel=0.3)  # order four, samples hit exactly


def test_a_delay_makes_a_loop_less_damped_as_it_does_in_the_z_plane():
    """y' = u with u_k = -K y_(k-d): the poles are those of z^(d+1) - z^d + K T."""
    K, d = 20.0, 2
    loop = bl.series(bl.Gain(-K, source="y"), bl.Delay(T, d), bl.Gain(1.0, target="u"))
    found = run(loop, lambda t, y: {"y": y}, 0.5, T, lambda t, y, out: out["u"], [1.0])
    y = [1.0]
    for k in range(50):
        y.append(y[-1] + T * (-K * y[k - d] if k >= d else 0.0))
    assert np.allclose(found.y[:, 0], y, atol=1e-12)


def test_blocks_of_several_rates_are_sampled_at_their_own_instants():
    both = bl.diagram(
        bl.hold(0.02, source="u", target="slow"),
        bl.hold(0.03, source="u", target="slower"),
        bl.sum_of("slow", "slower"),
    )
    assert both.sample_time == 0.01
    found = answer(both, wave, 0.4, 0.01)
    expected = [wave(k // 2 * 0.02) + wave(k // 3 * 0.03) for k in range(41)]
    assert np.allclose(found.out["y"][:, 0], expected, rtol=0.0, atol=1e-14)


def test_a_digital_loop_closes_through_a_delay():
    """An accumulator y_k = u_k + y_(k-1) by a sum and a delay of one sample."""
    loop = bl.diagram(bl.sum_of("u", "before", target="y"), bl.Delay(T, 1, source="y", target="before"), gives="y")
    found = answer(loop, lambda t: 1.0, 5 * T, T)
    assert found.out["y"][:, 0].tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_sampled_blocks_in_a_row_answer_within_one_sample():
    row = bl.series(bl.hold(T), bl.transfer_function([1.0, -1.0], [1.0, 0.0], sample_time=T), bl.hold(T))
    found = answer(row, lambda t: t * t, 0.1, T)
    expected = [(k * T) ** 2 - ((k - 1) * T) ** 2 * (k > 0) for k in range(11)]
    assert np.allclose(found.out["y"][:, 0], expected, atol=1e-15)


@pytest.mark.parametrize("times", [(0.01, 0.01 * math.sqrt(2.0)), (1.0, 1e-7)])
def test_sample_times_without_a_common_period_are_refused(times):
    with pytest.raises(gs.SpecError, match=r"sample times .* have no common period.*Hint: choose whole multiples"):
        bl.series(*(bl.hold(t) for t in times))


def test_thirds_of_a_second_have_a_common_period():
    assert bl.series(bl.hold(1 / 3), bl.hold(1 / 6)).sample_time == 1 / 6


# ------------------------------------------------------------------------------------------------ histories
def history():
    t = np.linspace(0.0, 0.5, 51)
    return t, np.stack([np.sin(13.0 * t), np.sign(np.cos(9.0 * t))], axis=1)


@pytest.mark.parametrize("form", ["linear", "hold"])
def test_samples_give_their_values_and_what_lies_between(form):
    t, y = history()
    found = run(bl.Samples(t, y, form, target="y"), lambda t, y: {}, 0.6, T / 4)
    at = np.minimum(found.t, 0.5)
    index = np.floor(at / T + 1e-9).astype(int)
    for k in range(2):
        want = np.interp(at, t, y[:, k]) if form == "linear" else y[index, k]
        assert np.abs(found.out["y"][:, k] - want).max() < 1e-12


def test_samples_that_begin_late_keep_their_first_value():
    block = bl.Samples([0.2, 0.3], [[1.0], [2.0]])
    for t, want in ((0.0, 1.0), (0.1, 1.0), (0.2, 1.0), (0.3, 2.0), (5.0, 2.0)):
        m = block.update(t, {}, NOTHING, np.array(block.memory))
        assert block.output(t, {}, NOTHING, m)["tau"] == pytest.approx([want])


@pytest.mark.parametrize("method", ["dopri5", "bdf", "dina"])
def test_efforts_at_the_kept_instants_drive_a_run(method):
    model, (t, tau) = gs.robots.two_link(), history()
    options = {"dt": 1e-4} if method == "dina" else {"rtol": 1e-9, "atol": 1e-11}
    found = gs.simulate(model, tau, [0.1, 0.2], t_end=0.5, t_eval=t, method=method, **options)
    want, v = [np.array([0.1, 0.2])], np.zeros(2)
    for k in range(len(t) - 1):  # from corner to corner

        def between(s, q, v, k=k):
            return tau[k] + (tau[k + 1] - tau[k]) * (s - t[k]) / T

        part = {"t_start": t[k], "t_end": t[k + 1], "rtol": 1e-11, "atol": 1e-12, "compiled": False}
        run = gs.simulate(model, between, want[-1], v, **part)
        want, v = [*want, run.q[-1]], run.v[-1]
    assert found.counters.compiled and np.abs(found.tau - tau).max() < 1e-12
    assert np.abs(found.q - want).max() < (5e-6 if method == "dina" else 5e-9)


@pytest.mark.parametrize(
    ("t", "y", "message"),
    [
        ([0.0, 0.1, 0.3], np.zeros((3, 2)), "whole multiples of one interval"),
        ([0.05, 0.15], np.zeros((2, 2)), "whole multiples of one interval"),
        ([0.0, 0.0], np.zeros((2, 2)), "whole multiples of one interval"),
        ([0.0, 0.1], np.zeros((3, 2)), r"expected \(T,\) and \(T, n\)"),
        ([0.0, 0.1], [[0.0], [np.nan]], "finite"),
    ],
)
def test_samples_that_make_no_sense_are_refused(t, y, message):
    with pytest.raises(gs.GyrostatError, match=message):
        bl.Samples(t, y)
