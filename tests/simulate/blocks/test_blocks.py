"""Analogue blocks against closed forms: filters, transfer functions, tables, limits, drives, references."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import interpolate, signal

import gyrostat as gs
from gyrostat import blocks as bl
from tests.support.blocks_loop import answer, run

NOTHING = np.zeros(0)


def static(block, u):
    """y of a block without states."""
    u = np.atleast_1d(np.asarray(u, dtype=float))
    (y,) = block.output(0.0, {block.inputs[0]: u}, NOTHING, NOTHING).values()
    return y


# ------------------------------------------------------------------------------------------------ linear systems
LINEAR = {
    "first order": (bl.first_order(0.2, 3.0), ([3.0], [0.2, 1.0])),
    "second order": (bl.second_order(7.0, 0.3, 2.0), ([98.0], [1.0, 4.2, 49.0])),
    "lead": (bl.lead_lag(0.3, 0.1, 2.0), ([0.6, 2.0], [0.1, 1.0])),
    "filtered derivative": (bl.filtered_derivative(0.05), ([1.0, 0.0], [0.05, 1.0])),
    "third order": (bl.transfer_function([1.0, 2.0], [2.0, 3.0, 8.0, 4.0]), ([1.0, 2.0], [2.0, 3.0, 8.0, 4.0])),
    "equal degrees": (bl.transfer_function([2.0, 1.0, 5.0], [1.0, 1.0, 3.0]), ([2.0, 1.0, 5.0], [1.0, 1.0, 3.0])),
    "gain": (bl.transfer_function([4.0], [2.0]), ([4.0], [2.0])),
}


@pytest.mark.parametrize(("block", "polynomials"), LINEAR.values(), ids=LINEAR.keys())
def test_step_answers_are_those_of_the_transfer_function(block, polynomials):
    found = answer(block, lambda t: 1.0, 2.0, 2e-3)
    if len(block.states):
        _, expected = signal.step(signal.TransferFunction(*polynomials), T=found.t)
    else:
        expected = np.full(len(found.t), polynomials[0][0] / polynomials[1][0])
    assert np.abs(found.out["y"][:, 0] - expected).max() < 1e-8 * max(1.0, np.abs(expected).max())


def test_a_state_space_with_several_inputs_follows_scipy():
    rng = np.random.default_rng(3)
    A = rng.normal(size=(4, 4)) - 3.0 * np.eye(4)
    B, C, D, x0 = rng.normal(size=(4, 2)), rng.normal(size=(3, 4)), rng.normal(size=(3, 2)), rng.normal(size=4)
    block = bl.state_space(A, B, C, D, initial=x0)
    assert block == eval_repr(block)
    found = answer(block, lambda t: [1.0, -2.0], 1.0, 1e-3)
    _, expected, _ = signal.lsim((A, B, C, D), np.tile([1.0, -2.0], (len(found.t), 1)), found.t, x0)
    assert np.abs(found.out["y"] - expected).max() < 1e-10


def eval_repr(block):
    """A block is data: its repr makes an equal one."""
    return eval(repr(block), {"inf": math.inf, **vars(bl)})  # our own text


def test_systems_of_scipy_and_python_control_are_accepted():
    tf = signal.TransferFunction([1.0], [0.5, 1.0])
    assert bl.transfer_function(tf) == bl.first_order(0.5)
    assert bl.state_space(tf) == bl.first_order(0.5)
    ss = signal.StateSpace([[-2.0]], [[1.0]], [[2.0]], [[0.0]], dt=0.1)
    assert bl.state_space(ss) == bl.state_space([[-2.0]], [[1.0]], [[2.0]], [[0.0]], sample_time=0.1)


class Lookalike:
    """Attributes as python-control's TransferFunction has them."""

    num, den, dt = [[np.array([1.0])]], [[np.array([0.5, 1.0])]], 0


def test_nested_coefficients_are_unwrapped_and_missing_sample_times_refused():
    assert bl.transfer_function(Lookalike()) == bl.first_order(0.5)
    unclear = Lookalike()
    unclear.dt = True
    with pytest.raises(gs.SpecError, match="digital but has no sample time"):
        bl.transfer_function(unclear)


def test_python_control_itself_if_it_is_installed():
    control = pytest.importorskip("control", reason="python-control is not installed")
    assert bl.transfer_function(control.tf([1.0], [0.5, 1.0])) == bl.first_order(0.5)
    system = control.ss([[0.0, 1.0], [-4.0, -1.0]], [[0.0], [1.0]], [[4.0, 0.0]], [[0.0]])
    found = answer(bl.state_space(system), lambda t: 1.0, 2.0, 2e-3)
    assert np.abs(found.out["y"][:, 0] - control.step_response(system, found.t).outputs).max() < 1e-9


def test_filters_side_by_side_are_independent():
    both = answer(bl.first_order([0.1, 0.4], [1.0, 2.0]), lambda t: [1.0, 3.0], 0.5, 1e-3)
    expected = [1.0 - math.exp(-5.0), 6.0 * (1.0 - math.exp(-1.25))]
    assert np.allclose(both.out["y"][-1], expected, atol=1e-10)


# ------------------------------------------------------------------------------------------------ without states
def test_saturation_dead_zone_gain_and_quantiser():
    u = [-3.0, -1.0, -0.25, 0.0, 0.25, 0.75, 3.0]
    assert static(bl.Saturation(2.0), u).tolist() == [-2.0, -1.0, -0.25, 0.0, 0.25, 0.75, 2.0]
    assert static(bl.Saturation((-1.0, np.inf)), u).tolist() == [-1.0, -1.0, -0.25, 0.0, 0.25, 0.75, 3.0]
    assert static(bl.DeadZone(0.5), u).tolist() == [-2.5, -0.5, 0.0, 0.0, 0.0, 0.25, 2.5]
    assert static(bl.Gain(-2.0), u).tolist() == [6.0, 2.0, 0.5, 0.0, -0.5, -1.5, -6.0]
    assert static(bl.Quantiser(0.5), u).tolist() == [-3.0, -1.0, 0.0, 0.0, 0.5, 1.0, 3.0]


def test_a_quantiser_has_steps_of_one_quantum_and_errors_of_half_of_it():
    u = np.linspace(-1.0, 1.0, 4001)
    q = 2.0 * math.pi / 512
    y = static(bl.Quantiser(q), u)
    steps = np.unique(np.diff(y).round(12))
    assert np.allclose(steps, [0.0, q], atol=1e-11)
    assert np.abs(y - u).max() <= q / 2 * (1.0 + 1e-12)


@pytest.mark.parametrize("form", ["linear", "cubic"])
@pytest.mark.parametrize("outside", ["hold", "linear"])
def test_tables_are_those_of_scipy(form, outside):
    x, y = np.array([-1.0, 0.0, 0.4, 2.0, 3.5]), np.array([2.0, -1.0, 0.5, 0.7, -3.0])
    table = bl.Table(x, y, form, outside)
    if form == "linear":
        f = interpolate.make_interp_spline(x, y, 1)
    else:
        f = interpolate.CubicSpline(x, y, bc_type="natural")
    inside = np.linspace(-1.0, 3.5, 301)
    assert np.abs(static(table, inside) - f(inside)).max() < 1e-13
    ends = f([-1.0, 3.5], nu=1) if outside == "linear" else [0.0, 0.0]
    assert np.allclose(static(table, [-2.0, 4.0]), [2.0 - ends[0], -3.0 + 0.5 * ends[1]], atol=1e-13)


def test_signals_get_other_names():
    block = bl.renamed(bl.Gain(3.0), {"u": "q"}, {"y": "tau"})
    assert (block.inputs, block.outputs) == (("q",), ("tau",))
    assert block.output(0.0, {"q": np.array([2.0]), "u": np.array([9.0])}, NOTHING, NOTHING)["tau"].tolist() == [6.0]


def test_parallel_adds_and_series_hands_on():
    both = bl.parallel(bl.Gain(3.0), bl.Gain([1.0, -1.0]), target="w")
    assert both.output(0.0, {"u": np.array([2.0, 5.0])}, NOTHING, NOTHING)["w"].tolist() == [8.0, 10.0]
    row = bl.series(bl.Gain(3.0, source="q"), bl.Saturation(4.0), bl.Gain(-1.0, target="tau"))
    assert row.output(0.0, {"q": np.array([1.0, 2.0])}, NOTHING, NOTHING)["tau"].tolist() == [-3.0, -4.0]


def test_sums_and_differences_by_name():
    x = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 5.0]), "c": np.array([0.5, 0.5])}
    assert bl.difference("a", "b").output(0.0, x, NOTHING, NOTHING)["e"].tolist() == [-2.0, -3.0]
    total = bl.sum_of("a", "b", "c", signs=[1, 2, -1], target="s")
    assert total.output(0.0, x, NOTHING, NOTHING)["s"].tolist() == [6.5, 11.5]


def test_an_analogue_rate_limit_rises_with_its_limit_and_settles():
    found = answer(bl.RateLimit((-1.0, 2.0), time_constant=1e-3), lambda t: 1.0 if t < 1.0 else 0.0, 3.0, 2e-3)
    y = np.interp([0.25, 0.9, 1.5, 2.9], found.t, found.out["y"][:, 0])
    assert np.allclose(y, [0.5, 1.0, 0.5, 0.0], atol=2e-3)


# ------------------------------------------------------------------------------------------------ PID
def wound_up(anti_windup, **options):
    """An integrator plant y' = u, asked for a step that needs more than the limit allows for a second."""
    law = bl.PID(2.0, 4.0, limit=1.0, anti_windup=anti_windup, **options)
    return run(law, lambda t, y: {"e": 1.0 - y}, 8.0, 1e-2, lambda t, y, out: out["u"], [-2.0])


def test_the_pid_law_without_limits_is_linear():
    law = bl.PID(2.0, 4.0)
    found = run(law, lambda t, y: {"e": 1.0 - y}, 3.0, 1e-3, lambda t, y, out: out["u"], [0.0])
    _, expected = signal.step(signal.TransferFunction([2.0, 4.0], [1.0, 2.0, 4.0]), T=found.t)
    assert np.abs(found.y[:, 0] - expected).max() < 1e-10


def test_anti_windup_takes_the_overshoot_away():
    over = {how: wound_up(how).y.max() - 1.0 for how in ("none", "clamping", "back-calculation")}
    assert over["none"] > 1.0
    assert over["clamping"] < 0.4
    assert over["back-calculation"] < 0.4


def test_back_calculation_settles_at_the_value_of_theory():
    """With a constant error e and saturation, z' = ki e + (u - w)/T_t is at rest at w = u + ki e T_t, and z approaches
    that value as exp(-t / T_t)."""
    law = bl.PID(2.0, 4.0, limit=1.0, tracking_time=0.25)
    found = run(law, lambda t, y: {"e": np.array([3.0])}, 1.5, 1e-3)
    rest = 1.0 + 4.0 * 3.0 * 0.25 - 2.0 * 3.0  # z = w - kp e
    z = rest + (0.0 - rest) * np.exp(-found.t / 0.25)
    assert np.abs(found.p[:, 0] - z).max() < 1e-9
    assert np.all(found.out["u"] == 1.0)


def test_clamping_stops_the_integral_only_when_it_would_go_further():
    law = bl.PID(2.0, 4.0, limit=1.0, anti_windup="clamping")

    def rate(e, z):
        return float(law.derivative(0.0, {"e": np.array([e])}, np.array([z]), NOTHING)[0])

    assert rate(0.1, 0.0) == pytest.approx(0.4)  # inside
    assert rate(3.0, 0.0) == 0.0  # above, and upwards
    assert rate(-0.1, 5.0) == pytest.approx(-0.4)  # above, but downwards
    assert rate(-3.0, 0.0) == 0.0


def test_the_usual_tracking_times():
    assert bl.PID(2.0, 4.0, limit=1.0).tracking_time == (0.5,)
    assert bl.PID(2.0, 4.0, 1.0, limit=1.0).tracking_time == (0.5,)
    assert bl.PID(2.0, 4.0, 4.0, limit=1.0).tracking_time == (1.0,)


def test_gains_for_each_entry_and_a_feedforward():
    law = bl.PID([1.0, 2.0], [0.5, 0.0], [0.1, 0.2], limit=[5.0, 1.0], feedforward="f")
    x = {"e": np.array([1.0, 1.0]), "e_rate": np.array([2.0, -1.0]), "f": np.array([0.3, -4.0])}
    z = np.array([0.25, 0.0])
    assert np.allclose(law.output(0.0, x, z, NOTHING)["u"], [1.75, -1.0])
    assert np.allclose(law.derivative(0.0, x, z, NOTHING), [0.5, 0.0])


# ------------------------------------------------------------------------------------------------ drives
def test_the_current_of_a_motor_rises_with_its_electrical_time_constant():
    motor = bl.MotorCurrent(2e-3, 0.5, 0.1, gear_ratio=50.0)
    found = run(motor, lambda t, y: {"u": np.array([12.0]), "v": np.array([1.2])}, 0.02, 1e-5)
    rest = (12.0 - 0.1 * 50.0 * 1.2) / 0.5
    assert np.abs(found.out["i"][:, 0] - rest * (1.0 - np.exp(-found.t * 0.5 / 2e-3))).max() < 1e-9
    assert np.allclose(found.out["tau"], 5.0 * found.out["i"])


# ------------------------------------------------------------------------------------------------ references, prints
def test_a_reference_gives_position_velocity_and_acceleration():
    motion = gs.trajectories.quintic([0.0, 1.0], [1.0, -1.0], 2.0)
    found = bl.Reference(motion).output(0.7, {}, NOTHING, NOTHING)
    assert np.array_equal([found["q_ref"], found["v_ref"], found["a_ref"]], motion.derivatives(0.7, 2))
    point = bl.Reference([0.3, 0.4], 1).output(9.0, {}, NOTHING, NOTHING)
    assert point["q_ref"].tolist() == [0.3, 0.4]
    assert point["v_ref"].tolist() == [0.0, 0.0]


def test_blocks_are_frozen_data_that_can_be_printed_and_compared():
    law = bl.pd([10.0, 20.0], 1.0, sample_time=0.001, delay=1)
    assert law == bl.pd([10.0, 20.0], 1.0, sample_time=0.001, delay=1)
    assert law != bl.pd([10.0, 20.0], 2.0, sample_time=0.001, delay=1)
    assert eval_repr(law) == law
    with pytest.raises(AttributeError):
        law.parts[0].name = "other"
    assert str(law).splitlines()[0] == "diagram: q_ref, q, v_ref, v -> tau, every 0.001 s"
    assert "PID: e, e_rate -> tau_now, every 0.001 s" in str(law)
