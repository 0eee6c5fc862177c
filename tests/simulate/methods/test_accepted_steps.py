"""Steps of implicit methods are accepted by their residual, or halved, or the run says why it stops: never wrong with
the status "finished"."""

import numpy as np
import pytest

import gyrostat as gs
from demos import lwr_reference as typed
from demos.lwr_problem import DURATION, START, law
from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.words import ptr
from gyrostat.simulate.kernels import environment
from gyrostat.simulate.methods.drivers import fixed_clock as clock
from gyrostat.simulate.methods.drivers import implicit_memory as at
from gyrostat.simulate.methods.drivers.fixed_clock import counted_to, length_to, next_end
from gyrostat.simulate.methods.drivers.implicit_equations import fulfilled, measured
from gyrostat.simulate.plant.machine import address
from tests.support.stiff_models import stiff_model

SOLVED = ("newmark", "trapezoid", "generalised-alpha")
IMPLICIT = (*SOLVED, "dina")
FIXED = (*IMPLICIT, "rk4", "semi-implicit-euler")
ADAPTIVE = ("dopri5", "ode23", "bdf", "radau", "cvode", "ida")


def simulated(*given, **options):
    """A run, if its method has what it needs."""
    try:
        return gs.simulate(*given, progress=False, **options)
    except gs.GyrostatError as error:
        if "pip install" in str(error):
            pytest.skip(str(error))
        raise


# ------------------------------------------------------------------------------------------------ WM15's arm
def lwr_error(method, dt, **options):
    run = simulated(gs.robots.kuka_lwr4(), law, START, t_end=DURATION, method=method, dt=dt, t_eval=typed.T, **options)
    assert run.status == "finished" and run.t[-1] == DURATION
    return np.abs(run.q - typed.Q).max(), run.counters.statistics


@pytest.mark.parametrize("options", [{}, {"matrix": "springs"}, {"matrix": "diagonal"}, {"rho_inf": 0.6}], ids=str)
def test_dina_is_right_about_an_arm_with_strong_damping(options):
    error, told = lwr_error("dina", 5e-3, **options)
    assert error < (2e-5 if "rho_inf" in options else 2e-6)  # rad; all of it is Newmark's, whose order is two
    assert told["newton_fallbacks"] == told["halved"] == 0
    assert told["steps_per_factorisation"] > (10 if "matrix" in options else 50)


@pytest.mark.parametrize("method", SOLVED)
def test_so_are_the_methods_that_it_comes_from(method):
    assert lwr_error(method, 2e-2)[0] < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("dt", [1e-2, 2e-3, 1e-3, 5e-4, 2e-4])
def test_the_error_of_dina_on_that_arm_is_that_of_newmark_at_every_step(dt):
    error = lwr_error("dina", dt)[0]
    assert error < 0.06 * dt**2  # 5.1e-6 rad at 10 ms, as by newmark
    if dt == 1e-2:
        assert error == pytest.approx(lwr_error("newmark", dt)[0], rel=1e-3)


# ------------------------------------------------------------------------------------------------ a gap
def cart():
    """1 kg on a rail, in a gap of 1 m between flanks of 1000 N/m and 5 N s/m."""
    return gs.assemble(
        "cart", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("block", mass=1.0)),
        gs.Backlash("flank", gap=1.0, stiffness=1000.0, damping=5.0, ground=True), gs.connect("x.shaft", "flank.a"),
    )  # fmt: skip


@pytest.mark.parametrize("t_eval", [None, np.linspace(0.0, 1.0, 11)], ids=["steps", "instants"])
@pytest.mark.parametrize("method", [*FIXED, *ADAPTIVE])
def test_a_mass_meets_a_flank_exactly_at_the_end_of_a_step(method, t_eval):
    """At 0.5 s, with 1 m/s: the force jumps by 5 N, and the step that ends there has no solution."""
    w, z = np.sqrt(1000.0 - 2.5**2), 2.5
    leaves = (np.pi - np.arctan2(2.0 * w * z, w**2 - z**2)) / w  # flanks do not pull: k x + d v = 0
    speed = np.exp(-z * leaves) * (np.cos(w * leaves) - z / w * np.sin(w * leaves))
    depth = np.exp(-z * leaves) * np.sin(w * leaves) / w
    options = {"dt": 1e-3} if method in FIXED else {"rtol": 1e-8, "max_step": 2e-3}
    run = simulated(cart(), None, [0.0], [1.0], t_end=1.0, method=method, t_eval=t_eval, **options)
    assert run.status == "finished"
    assert run.v[-1, 0] == pytest.approx(speed, abs=5e-3)
    assert run.q[-1, 0] == pytest.approx(0.5 + depth + speed * (0.5 - leaves), abs=3e-3)
    if method == "dina":
        assert (
            10 < run.counters.statistics["halved"] < 30 and run.counters.rejected == run.counters.statistics["halved"]
        )
    if t_eval is None and method in FIXED:
        assert np.diff(run.t).max() < (1.1e-2 if method == "dina" else 1.1e-3)


def clocked(ctl: ptr, found: ptr) -> int:
    """End and length of the next step."""
    found[0] = next_end(ctl)
    found[1] = length_to(ctl, found[0])
    return 0


def test_the_clock_of_fixed_steps_moves_with_accepted_ones_only():
    ctl, found = np.zeros(clock.NUMBERS), np.zeros(2)
    ctl[clock.T] = ctl[clock.ORIGIN] = 2.0
    ctl[clock.DT] = 0.1

    def following(limit):
        ctl[clock.LIMIT] = limit
        driver(clocked).call(address(ctl), address(found))
        return found[0]

    def reached(t):
        driver(counted_to).call(address(ctl), t)
        ctl[clock.T] = t

    assert following(9.0) == following(9.0) == 2.1
    reached(2.05)  # half of it
    assert following(9.0) == 2.1 and found[1] == 2.1 - 2.05
    reached(2.1)
    assert following(2.15) == 2.15 and following(9.0) == 2.0 + 2 * 0.1
    reached(2.0 + 7 * 0.1)
    assert following(9.0) == 2.0 + 8 * 0.1 and found[1] == 0.1


def test_a_long_time_on_the_clock_changes_no_step():
    """At 1.7e9 s, the time of computers, doubles are 2e-7 s apart."""
    want = simulated(gs.robots.pendulum(), None, [1.0], t_end=1.0, method="dina", dt=1e-3)
    late = simulated(gs.robots.pendulum(), None, [1.0], t_start=1.7e9, t_end=1.7e9 + 1.0, method="dina", dt=1e-3)
    assert late.counters.steps == want.counters.steps == 1000
    assert np.abs(late.q[-1] - want.q[-1]).max() < 1e-6


# ------------------------------------------------------------------------------------------------ what has no solution
@pytest.mark.parametrize("method", IMPLICIT)
def test_a_step_that_has_no_solution_at_any_length_stops_the_run_with_a_reason(method):
    def rubs(t, q, v):
        return -4.0 * np.sign(v)  # at rest it jumps to either side: gs.Friction would stick

    with pytest.raises(
        gs.SimulationError, match=r"does not fulfil the equations of motion .* nor with steps of"
    ) as stop:
        simulated(gs.robots.pendulum(), rubs, [1.0], [1.0], t_end=2.0, method=method, dt=1e-2)
    assert 0.0 < stop.value.t < 1.0 and "gs.Friction" in str(stop.value)
    assert stop.value.result.counters.statistics["halved"] >= 30 and np.abs(stop.value.result.v[-1]) < 1e-6


def judged(M, A, h, r, q, a, tau, share):
    """Whether machine code accepts the residual r of a step of h."""
    n = len(q)
    env, box = np.zeros(environment.WORDS_OF_A_PLANT, dtype=np.int64), np.zeros(at.WORDS, dtype=np.int64)
    env[environment.NQ] = env[environment.NV] = n
    x, y = np.zeros((2, 5 * n))
    y[:n], y[2 * n : 3 * n], y[4 * n :] = q, a, tau
    blocks = np.concatenate([np.zeros(2 * n * n), M.ravel(), np.zeros(2 * n * n)])
    arrays = {at.BLOCKS: blocks, at.WHOLE: A.copy(), at.RESIDUAL: np.array(r), at.MASS_SIZE: np.zeros(n * 4)}
    arrays |= {at.REACH: np.zeros(n), at.REACH_P: np.zeros(1), at.SPARE: np.zeros(2 * n), at.FLOW: np.zeros(4)}
    box[at.STRIDE] = 4
    for word, array in arrays.items():
        box[word] = address(array)
    driver(measured).call(address(env), address(box))
    return driver(fulfilled).call(address(env), address(box), h, share, address(x), address(y)) == 1


def test_the_residual_is_judged_by_the_forces_in_the_step():
    M, A = np.array([[2.0, 0.5], [0.5, 1.0]]), np.array([[3.0, 0.5], [0.5, 1.0]])
    q, a, tau = np.zeros(2), np.array([1.0, -4.0]), np.array([10.0, 0.0])
    allowed = np.array([24e-6, 4.5e-6])  # tau twice, and |M| |a|
    assert judged(M, A, 1e-2, 0.999 * allowed, q, a, tau, 1e-6)
    for k in range(2):
        assert not judged(M, A, 1e-2, np.where(np.arange(2) == k, 1.001, 0.999) * allowed, q, a, tau, 1e-6)
    assert not judged(M, A, 1e-2, [1e-10, 0.0], q, 0 * a, 0 * tau, 1e-6)
    assert judged(M, A, 1e-2, [7e-11, 0.0], q, 0 * a, 0 * tau, 1e-6)  # rounding of q: 2e-15 (A - M) 4 / h^2


def test_every_step_of_dina_fulfils_the_equations_of_motion():
    model, drive, q = stiff_model(8)
    run = simulated(model, drive, q, t_end=0.4, method="dina", dt=2e-3, every=1)
    left = gs.rnea(model, run.q, run.v, run.a) - run.tau
    forces = np.abs(run.tau) + np.einsum("kij,kj->ki", np.abs(gs.crba(model, run.q)), np.abs(run.a))
    assert np.max(np.abs(left[1:]) / forces[1:]) < 1e-6 * 2.01  # the force of rnea counts as well
    loose = simulated(model, drive, q, t_end=0.4, method="dina", dt=2e-3, every=1, rtol=1e-3)
    assert loose.counters.residual_evaluations < 0.9 * run.counters.residual_evaluations


# ------------------------------------------------------------------------------------------------ any stiff model
def agrees_or_stops(seed, method="dina", dt=5e-3):
    """The reason of a stop; or "", and the motion is that of radau within 1e-4, relative to one plus its size. Up to
    1e-3 if all but 5e-6 of it is the error of Newmark's formulas for that step."""
    model, drive, q = stiff_model(seed)
    times = np.linspace(0.0, 4.0, 9)
    given = {"t_end": 4.0, "t_eval": times}
    want = simulated(model, drive, q, method="radau", rtol=1e-7, atol=1e-8, **given)
    try:
        run = simulated(model, drive, q, method=method, dt=dt, **given)
    except gs.SimulationError as stop:
        assert stop.cause and stop.t < 4.0
        return stop.cause
    assert run.status == "finished"
    size = 1.0 + np.abs(q) + np.ptp(want.q, axis=0)
    far = np.max(np.abs(run.q - want.q) / size)
    if 1e-4 <= far < 1e-3:
        newmark = simulated(model, drive, q, method="newmark", dt=dt, **given)
        far = np.max(np.abs(run.q - newmark.q) / size)
        assert far < 5e-6, f"seed {seed}: {far:.1e} from newmark"
    assert far < 1e-4, f"seed {seed}: {far:.1e}"
    return ""


@pytest.mark.parametrize("seed", [2, 8])
def test_a_stiff_damped_geared_model_agrees_with_radau_or_stops_with_a_reason(seed):
    assert agrees_or_stops(seed) == ""


@pytest.mark.slow
def test_many_stiff_damped_geared_models_agree_with_radau_or_stop_with_a_reason():
    stopped = [seed for seed in range(60) if agrees_or_stops(seed)]
    assert len(stopped) < 6


@pytest.mark.slow
@pytest.mark.parametrize("method", ["newmark", "generalised-alpha"])
def test_so_do_the_methods_that_it_comes_from(method):
    assert sum(bool(agrees_or_stops(seed, method)) for seed in range(8)) < 2


# ------------------------------------------------------------------------------------------------ AS (6) itself
@pytest.mark.parametrize(("scheme", "order"), [("printed", 1.0), ("predicted", 2.0), ("checked", 2.0)])
def test_the_printed_scheme_is_of_order_one_and_with_a_prediction_of_order_two(scheme, order):
    model, steps = gs.robots.pendulum(), (100, 200, 400)
    want = simulated(model, None, [1.0], t_end=1.0, rtol=1e-11, atol=1e-12).q[-1]
    runs = [simulated(model, None, [1.0], t_end=1.0, dt=1.0 / n, method="dina", scheme=scheme) for n in steps]
    errors = [np.abs(run.q[-1] - want).max() for run in runs]
    assert -np.polyfit(np.log(steps), np.log(errors), 1)[0] == pytest.approx(order, abs=0.1)
    told = [run.counters.statistics for run in runs]
    assert all(("largest_residual" in x) == (scheme != "checked") for x in told)
    if scheme == "printed":
        assert told[-1]["largest_residual"] > 0.1 and told[-1]["factorisations"] == 4


def test_what_the_printed_scheme_does_to_an_arm_with_strong_damping():
    with pytest.raises(gs.SimulationError, match="grows without bound"):
        lwr_error("dina", 5e-3, scheme="printed")
    error, told = lwr_error("dina", 5e-3, scheme="predicted")
    assert error > 100.0 * lwr_error("dina", 5e-3)[0] and told["largest_residual"] > 0.5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "as6"}, r"there is no scheme 'as6'. Hint: .*checked"),
        ({"scheme": "printed", "iterations": 3}, r"scheme 'printed' is AS \(6\) with \(7\) alone"),
        ({"scheme": "predicted", "rho_inf": 0.6}, "rho_inf and matrix are not used"),
    ],
)
def test_options_of_the_scheme_that_make_no_sense_are_refused(options, message):
    with pytest.raises(gs.GyrostatError, match=message):
        simulated(gs.robots.pendulum(), None, [1.0], t_end=0.1, dt=0.01, method="dina", **options)


@pytest.mark.parametrize("method", IMPLICIT)
def test_a_check_that_accepts_everything_is_refused_and_one_that_accepts_nothing_is_not_needed(method):
    given = {"t_end": 0.1, "dt": 0.01, "method": method}
    with pytest.raises(gs.GyrostatError, match=r"relative to its forces, got 1, expected 0\.01 at most"):
        simulated(gs.robots.pendulum(), None, [1.0], rtol=1.0, **given)
    assert simulated(gs.robots.pendulum(), None, [1.0], rtol=1e-300, **given).counters.statistics["halved"] == 0
