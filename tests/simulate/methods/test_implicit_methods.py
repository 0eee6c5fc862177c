"""Newmark, generalised-alpha and the method of AS 2.1: orders, energy, stiff springs, what a factorisation serves."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.robots.elastic_arm import STAGES
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.run.simulate import simulate

RATIOS = np.array([stage.ratio for stage in STAGES])
ALL = ("newmark", "trapezoid", "generalised-alpha", "dina")


def push(t, q, v):
    return np.array([np.sin(3.0 * t) - 0.1 * v[0], -2.0 * q[1]])


def ends(model, torque, q, v, t_end, method, steps, **options):
    return [simulate(model, torque, q, v, t_end=t_end, method=method, dt=t_end / n, **options) for n in steps]


def fitted(steps, errors):
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


@pytest.mark.parametrize(
    ("method", "options"),
    [("newmark", {}), ("trapezoid", {})] + [("generalised-alpha", {"rho_inf": rho}) for rho in (1.0, 0.8, 0.3)],
)
def test_fitted_order_is_two(method, options):
    model, q, v, steps = gs.robots.two_link(), [0.3, -0.7], [1.0, 0.5], (100, 200, 400)
    want = simulate(model, push, q, v, t_end=0.5, rtol=1e-11, atol=1e-12)
    for key in ("q", "v"):
        runs = ends(model, push, q, v, 0.5, method, steps, **options)
        errors = [np.abs(getattr(run, key)[-1] - getattr(want, key)[-1]).max() for run in runs]
        assert fitted(steps, errors) == pytest.approx(2.0, abs=0.3)
        assert errors[-1] < 5e-3


@pytest.mark.parametrize("options", [{}, {"matrix": "springs", "rho_inf": 0.7}, {"iterations": 3}])
def test_fitted_order_of_dina_is_two(options):
    """Over a wide range: how far the kept matrix is off differs from step size to step size, and the error with it.
    Short steps come in long series, on whose way the mass matrix must not leave its limits unseen."""
    model, q, v, steps = gs.robots.two_link(), [0.3, -0.7], [1.0, 0.5], (50, 100, 200, 400, 800, 1600, 3200)
    want = simulate(model, push, q, v, t_end=0.5, rtol=1e-11, atol=1e-12)
    runs = ends(model, push, q, v, 0.5, "dina", steps, **options)
    for key in ("q", "v"):
        errors = np.array([np.abs(getattr(run, key)[-1] - getattr(want, key)[-1]).max() for run in runs])
        assert fitted(steps, errors) == pytest.approx(2.0, abs=0.3)
        assert np.all(errors * np.array(steps) ** 2 < (30.0 if key == "q" else 600.0))


def spinning():
    body = gs.RigidBody("body", mass=1.0, com=(0.1, 0.0, 0.05), inertia=np.diag([0.02, 0.03, 0.045]))
    return gs.assemble(
        "spinning", gs.Joint("ball", "spherical"), body, gs.connect("world.frame", "ball.a"),
        gs.connect("ball.b", "body.origin"),
    )  # fmt: skip


@pytest.mark.parametrize("method", ["newmark", "generalised-alpha", "dina"])
def test_fitted_order_is_two_with_quaternions(method):
    model, steps = spinning(), (100, 200, 400)
    q, v = gs.neutral(model), np.array([1.0, -2.0, 3.0])
    want = simulate(model, None, q, v, t_end=0.5, rtol=1e-11, atol=1e-12)
    runs = ends(model, None, q, v, 0.5, method, steps)
    errors = [np.abs(gs.difference(model, want.q[-1], run.q[-1])).max() for run in runs]
    assert fitted(steps, errors) == pytest.approx(2.0, abs=0.3)
    assert all(abs(np.linalg.norm(run.q[-1]) - 1.0) < 1e-14 for run in runs)


class Lag:
    """An actuator with a time constant of 1 ms: a stiff state of its own."""

    states = (0.0,)

    def output(self, t, x, p, m):
        return {"tau": p}

    def derivative(self, t, x, p, m):
        return (-5.0 * x["q"] - 0.2 * x["v"] - p) / 1e-3


@pytest.mark.parametrize("method", ALL)
def test_stiff_states_of_a_block_are_solved_along(method):
    model = gs.robots.pendulum()
    want = simulate(model, Lag(), [1.0], t_end=0.5, rtol=1e-10, atol=1e-12)
    coarse, fine = ends(model, Lag(), [1.0], None, 0.5, method, (50, 200))  # dt = 10 and 2.5 time constants
    assert abs(fine.q[-1] - want.q[-1]).max() < 2e-3
    assert abs(coarse.q[-1] - want.q[-1]).max() < 3e-2
    assert abs(fine.p[-1] - want.p[-1]).max() < 0.05


def springy():
    """A slider of 1 kg on a spring of 100 N/m: 10 rad/s."""
    return gs.assemble(
        "springy", gs.RigidBody("block", mass=1.0, inertia=np.eye(3)), gs.Joint("rail", "prismatic", axis="x"),
        gs.connect("world.frame", "rail.a"), gs.connect("rail.b", "block.origin"),
    )  # fmt: skip


def spring(t, q, v):
    return -100.0 * q


def energy(run):
    return 0.5 * run.v[:, 0] ** 2 + 50.0 * run.q[:, 0] ** 2


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 1.0])
def test_fast_vibrations_shrink_by_rho_in_every_step_and_slow_ones_stay(rho):
    options = {"method": "generalised-alpha", "rho_inf": rho}
    size = np.sqrt(energy(simulate(springy(), spring, [1.0], t_end=4000.0, dt=100.0, **options)))
    assert (size[40] / size[30]) ** 0.1 == pytest.approx(rho, abs=0.03)
    slow = energy(simulate(springy(), spring, [1.0], t_end=4.0, dt=0.002, **options))
    assert -1e-9 < 1.0 - slow[-1] / slow[0] < 1e-3
    if rho == 1.0:
        assert np.ptp(slow) < 1e-9 * slow[0]


def test_the_trapezoidal_rule_keeps_the_energy_of_a_linear_vibration():
    found = energy(simulate(springy(), spring, [1.0], t_end=100.0, dt=0.05, method="newmark"))
    assert np.ptp(found) < 1e-9 * found[0]


@pytest.mark.parametrize("phase", [0.1, 0.5, 2.0, 30.0, 1000.0])
def test_one_newton_step_with_a_kept_matrix_never_feeds_a_vibration(phase):
    """Per step of phase w h it loses about 0.13 (w h)^4 of its energy, with three Newton steps a fortieth of that."""
    dt = phase / 10.0
    for iterations in (1, 3):
        run = simulate(springy(), spring, [1.0], t_end=500 * dt, dt=dt, method="dina", every=1, iterations=iterations)
        found = energy(run)
        assert run.counters.statistics["factorisations"] < 5
        assert np.all(found <= found[0] * (1.0 + 1e-9))
        lost = 1.0 - (found[-1] / found[0]) ** (1.0 / 500)
        assert lost < 0.15 * phase**4 / (1.0 if iterations == 1 else 40.0)


# ------------------------------------------------------------------------------------------------ the elastic arm
def elastic(factor):
    """The arm with springs ``factor`` times as stiff, its motors led along a smooth way; and its start, at rest."""
    model = gs.robots.elastic_arm()
    paths = [path for path in model.paths() if path.endswith("stiffness")]
    model = model.replace({path: factor * model[path] for path in paths})
    q = np.array([0.3, 0.5, -0.4, 0.9, 0.2, -0.6, 0.1])
    weight = gs.gravity(gs.robots.elastic_arm(drives=False), q)
    theta = RATIOS * (q + weight / np.array([model[path] for path in paths]))
    stiff, damp = 3000.0 / RATIOS**2, np.array([150.0, 150.0, 100.0, 100.0, 30.0, 10.0, 3.0]) / RATIOS**2
    way = RATIOS * np.array([0.5, 0.4, 0.5, 0.4, 0.5, 0.4, 0.5])

    def drive(t, q, v):
        ahead = theta + way * np.sin(np.pi * t) ** 2 - q[7:]
        return np.concatenate([np.zeros(7), stiff * ahead - damp * v[7:] + weight / RATIOS])

    return model, drive, np.concatenate([q, theta])


def test_one_factorisation_serves_a_hundred_steps_of_a_stiff_elastic_arm():
    model, drive, q = elastic(1.0)
    times = np.linspace(0.0, 0.5, 6)
    want = simulate(model, drive, q, t_end=0.5, t_eval=times, rtol=1e-8, atol=1e-11)
    got = simulate(model, drive, q, t_end=0.5, t_eval=times, method="dina", dt=2e-4)
    told = got.counters.statistics
    assert np.abs(got.q[:, :7] - want.q[:, :7]).max() < 1e-6
    assert told["steps"] == 2500 and told["newton_fallbacks"] == 0
    assert told["steps_per_factorisation"] >= 200  # 278; 147 if S is made where the arm is, 104 at where it was
    assert told["longest_service"] >= 200


def test_stiffer_springs_need_no_shorter_steps():
    for factor in (1.0, 100.0):
        model, drive, q = elastic(factor)
        times = np.linspace(0.0, 0.4, 5)
        want = simulate(model, drive, q, t_end=0.4, t_eval=times, method="radau", rtol=1e-7, atol=1e-9)
        for dt, allowed in ((2e-3, 6e-5), (5e-4, 4e-6)):
            got = simulate(model, drive, q, t_end=0.4, t_eval=times, method="dina", dt=dt)
            assert np.abs(got.q[:, :7] - want.q[:, :7]).max() < allowed


@pytest.mark.slow
@pytest.mark.parametrize("factor", [30.0, 100.0])
def test_no_step_makes_undamped_springs_vibrate(factor):
    """The error is 5 to 7 s^-2 dt^2 rad for every step, whichever vibration it meets."""
    (model, drive, q), times = elastic(factor), np.linspace(0.0, 1.0, 11)
    want = simulate(model, drive, q, t_end=1.0, t_eval=times, method="radau", rtol=1e-7, atol=1e-9)
    for dt in (3e-3, 2e-3, 1.5e-3, 1.2e-3, 1e-3, 8e-4, 7e-4, 6e-4, 5e-4, 4e-4, 3e-4):
        got = simulate(model, drive, q, t_end=1.0, t_eval=times, method="dina", dt=dt)
        assert np.abs(got.q - want.q)[:, :7].max() < 7.0 * dt**2


@pytest.mark.slow
@pytest.mark.parametrize(("factor", "times_faster"), [(1.0, 2.0), (100.0, 15.0)])
def test_dina_is_faster_than_dopri5_at_equal_error_and_more_so_with_stiff_springs(factor, times_faster):
    model, drive, q = elastic(factor)
    times = np.linspace(0.0, 1.0, 21)
    want = simulate(model, drive, q, t_end=1.0, t_eval=times, rtol=1e-9, atol=1e-12)

    best: dict[str, float] = {}
    for _ in range(8):  # in turn: other processes disturb both
        for name, options in (("dina", {"dt": 1.15e-3}), ("dopri5", {"rtol": 1e-5, "atol": 1e-8})):
            run = simulate(model, drive, q, t_end=1.0, t_eval=times, method=name, **options)
            best[name] = min(best.get(name, np.inf), run.counters.wall_time)
            assert 1e-6 < np.abs(run.q - want.q)[:, :7].max() < 1e-5
    assert best["dopri5"] > times_faster * best["dina"]


# ------------------------------------------------------------------------------------------------ other ways in
def test_machine_code_and_python_take_the_same_steps():
    model = gs.robots.two_link()
    runs = [
        simulate(model, push, [0.3, -0.7], [1.0, 0.5], t_end=0.3, dt=0.002, method="dina", compiled=compiled)
        for compiled in (None, False)
    ]
    assert runs[0].counters.compiled and not runs[1].counters.compiled
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-12


@pytest.mark.parametrize("every", [1, 7, 10])
def test_groups_of_steps_change_nothing_between(every):
    model, times = gs.robots.two_link(), np.linspace(0.0, 0.3, 41)
    options = {"t_end": 0.3, "dt": 0.002, "method": "dina", "t_eval": times}
    want = simulate(model, push, [0.3, -0.7], [1.0, 0.5], every=1, **options)
    got = simulate(model, push, [0.3, -0.7], [1.0, 0.5], every=every, **options)
    assert np.abs(got.q - want.q).max() < 1e-12 and np.abs(got.work - want.work).max() < 1e-12


def test_a_run_may_end_between_two_steps():
    model = gs.robots.pendulum()
    for method in ALL:
        run = simulate(model, None, [1.0], t_end=0.1234, dt=0.01, method=method)
        assert run.t[-1] == 0.1234
        assert abs(run.q[-1, 0] - simulate(model, None, [1.0], t_end=0.1234, rtol=1e-10).q[-1, 0]) < 1e-3


def test_the_diagonal_alone_serves_coordinates_that_are_not_coupled():
    run = simulate(springy(), spring, [1.0], t_end=1.0, dt=0.002, method="dina", matrix="diagonal")
    assert abs(run.q[-1, 0] - np.cos(10.0)) < 2e-3 and run.counters.statistics["newton_fallbacks"] == 0


@pytest.mark.parametrize("q0", [[0.4, 0.4], [0.3, -0.7], [1.0, 1.0]])
def test_steps_that_the_diagonal_cannot_do_are_done_by_newton(q0):
    want = simulate(gs.robots.two_link(), None, q0, t_end=0.3, rtol=1e-9)
    run = simulate(gs.robots.two_link(), None, q0, t_end=0.3, dt=0.001, method="dina", matrix="diagonal")
    assert np.abs(run.q[-1] - want.q[-1]).max() < 2e-5 and run.counters.statistics["newton_fallbacks"] > 0


@pytest.mark.parametrize(("size", "width", "dt"), [(3e3, 2e-3, 1e-4), (3e4, 1e-3, 2e-4)])
def test_damping_that_comes_and_goes_within_a_series_is_seen(size, width, dt):
    """The matrix that is kept knows nothing of the pulse; the mass matrix does not change."""
    model, q, v = gs.robots.two_link(), [0.5, -0.3], [1.0, -2.0]
    damp = size * np.diag(gs.crba(model, q))

    def brake(t, q, v):
        return -damp * np.exp(-(((t - 0.2) / width) ** 2)) * v

    want = simulate(model, brake, q, v, t_end=0.5, method="radau", rtol=1e-9, atol=1e-11, max_step=1e-3)
    found = simulate(model, brake, q, v, t_end=0.5, method="dina", dt=dt)
    assert (
        np.abs(found.q[-1] - want.q[-1]).max() < 1e-3
    )  # radians, where a matrix that is not looked at gave 0.06 and 66


def test_what_a_torque_raises_comes_at_its_time():
    def raises(t, q, v):
        if t > 0.3:
            raise ValueError("worn out")
        return -v

    with pytest.raises(gs.SimulationError, match="worn out") as caught:
        simulate(gs.robots.two_link(), raises, [1.0, 1.0], t_end=1.0, dt=1e-3, method="dina", compiled=False)
    assert caught.value.t == pytest.approx(0.3, abs=2e-3) and caught.value.result.t[-1] == caught.value.t


MISTAKES = {
    "rho": ("generalised-alpha", {"rho_inf": 1.5}, r"rho_inf must be from 0 to 1, got 1\.5"),
    "beta": ("newmark", {"beta": 0.0}, r"beta must be in \(0, 1\]"),
    "matrix": ("dina", {"matrix": "exakt"}, r"there is no matrix 'exakt'. Hint: .*exact"),
    "iterations": ("dina", {"iterations": 2}, "iterations must be 1, 3 or 5, got 2"),
    "every": ("dina", {"every": 0}, "every must be a whole number from 1 on"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_options_that_make_no_sense_are_refused(what):
    method, options, message = MISTAKES[what]
    with pytest.raises(gs.GyrostatError, match=message):
        simulate(gs.robots.pendulum(), None, [1.0], t_end=0.1, dt=0.01, method=method, **options)


def test_all_are_among_the_methods():
    assert set(ALL) <= set(METHODS)
    assert all(METHODS[name].order == 2 and not METHODS[name].adaptive for name in ALL)
