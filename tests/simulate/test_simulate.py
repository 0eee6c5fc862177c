"""``gs.simulate`` against closed forms, other programs' histories, and what users type wrong."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.simulate.run import progress, runaway

G = 9.81

# analytic_values.json: period over that of small swings, by amplitude [deg]; period of a pendulum of 1 m from 90 deg
RATIOS = {30: 1.01740879759595601, 90: 1.18034059901609623, 150: 1.76220372950375603}
A01_PERIOD = 2.3678419475762374493
# torque-free body, I = (1, 2, 3), w0 = (0.01, 1, 0.01): angular velocity in the body at t
OMEGA = {
    1: (0.0011483291950021864, 1.0000493394528391, 0.0081918386202385272),
    5: (-0.064829616986886026, 0.99794645185066601, 0.038309612539006191),
    10: (-0.87457343789109365, 0.48499618734104845, 0.50500122054791334),
    20: (-0.0058138369621877092, -1.0000330991021133, 0.0088279990224833323),
}


def point_pendulum():
    """A point of 1 kg at 1 m, about y."""
    bob = gs.RigidBody("bob", mass=1.0, com=(0, 0, -1))
    return gs.assemble("point_pendulum", gs.chain("world", gs.Joint("hinge", "revolute", axis="y"), bob))


def free_body(inertia=(1, 2, 3)):
    body = gs.RigidBody("body", mass=2.0, inertia=inertia)
    return gs.assemble("body", gs.chain("world", gs.Joint("free", "free"), body), gravity=(0, 0, 0))


@pytest.mark.parametrize("amplitude", RATIOS)
def test_a_pendulum_has_the_period_of_the_elliptic_integral(amplitude):
    turning = gs.Event(lambda t, q, v: v[0], direction=-1, name="top")
    run = gs.simulate(
        point_pendulum(), q0=[np.deg2rad(amplitude)], t_end=4.0, events=turning, rtol=1e-12, atol=1e-13, t_eval=[4.0]
    )
    period = 2 * np.pi / np.sqrt(G) * RATIOS[amplitude]
    assert run.events[0].t == pytest.approx(period, abs=1e-9)
    if amplitude == 90:
        assert run.events[0].t == pytest.approx(A01_PERIOD, abs=1e-9)


@pytest.mark.parametrize("kind", ["free", "spherical"])
def test_a_torque_free_body_turns_as_jacobis_functions(kind):
    body = gs.RigidBody("body", mass=2.0, inertia=(1, 2, 3))
    model = gs.assemble("body", gs.chain("world", gs.Joint("joint", kind), body), gravity=(0, 0, 0))
    v0 = np.zeros(model.nv)
    v0[:3] = (0.01, 1, 0.01)
    run = gs.simulate(model, v0=v0, t_end=20.0, rtol=1e-12, atol=1e-13, t_eval=list(OMEGA))
    for w, (t, want) in zip(run.v[:, :3], OMEGA.items(), strict=True):
        np.testing.assert_allclose(w, want, rtol=0, atol=1e-9, err_msg=f"t = {t}")
    R = run.frames()["body.origin"].R  # angular momentum stays where it is in the world
    np.testing.assert_allclose(
        np.einsum("tij,j,tj->ti", R, (1, 2, 3), run.v[:, :3]), np.tile((0.01, 2, 0.03), (4, 1)), atol=1e-9
    )
    np.testing.assert_allclose(np.linalg.norm(run.q[:, -4:], axis=1), 1.0, atol=1e-15)


def test_a_turning_body_keeps_its_centre_on_a_parabola():
    model = free_body().replace({"context.gravity": (0, 0, -G)})
    q0, v0 = [1, 2, 3, 0, 0, 0, 1], [0.3, 2.0, -0.5, 1.0, 0.0, 4.0]
    run = gs.simulate(model, q0=q0, v0=v0, t_end=2.0, rtol=1e-11, atol=1e-12, t_eval=np.linspace(0, 2, 21))
    t = run.t[:, None]
    np.testing.assert_allclose(run.q[:, :3], [1, 2, 3] + t * [1, 0, 4] - 0.5 * G * t**2 * [0, 0, 1], atol=1e-9)


# ------------------------------------------------------------------------------------------------ torques
def driven(torque, **options):
    return gs.simulate(gs.robots.two_link(), torque, [0.3, -0.4], t_end=0.5, rtol=1e-9, t_eval=[0.5], **options)


def test_torques_of_all_kinds_give_the_same_motion():
    model = gs.robots.two_link()
    first, second = model.dofs
    want = driven([1.0, -0.5]).q
    for torque in ({first: 1.0, second: -0.5}, lambda t, q, v: [1.0, -0.5], lambda t, q, v: {first: 1.0, second: -0.5}):
        np.testing.assert_allclose(driven(torque).q, want, rtol=1e-12)
    np.testing.assert_allclose(driven({first: 1.0}).q, driven([1.0, 0.0]).q, rtol=1e-12)
    np.testing.assert_allclose(driven(None).q, driven([0.0, 0.0]).q, rtol=1e-12)


def test_a_compiled_torque_gives_what_the_called_one_gives():
    def damped(t, q, v):
        return np.sin(3.0 * t) - 0.4 * v - 2.0 * q

    one, two = driven(damped), driven(damped, compiled=False)
    assert one.counters.compiled and not two.counters.compiled
    assert one.counters.rhs_evaluations == two.counters.rhs_evaluations
    np.testing.assert_allclose(one.q, two.q, rtol=0, atol=1e-12)
    np.testing.assert_allclose(one.tau, two.tau, rtol=0, atol=1e-11)


def test_a_torque_that_counts_is_called_where_that_is_asked_for():
    class Counting:
        calls = 0

        def __call__(self, t, q, v):
            self.calls += 1
            return 1e-3 * self.calls + 0.0 * q

    counting = Counting()
    run = gs.simulate(gs.robots.two_link(), counting, t_end=0.1, method="rk4", dt=0.01, compiled=False)
    assert not run.counters.compiled
    assert counting.calls >= run.counters.rhs_evaluations


class Held:
    """A digital PD law: the effort that it holds is its memory, its integral of q a state."""

    states, memory, sample_time = (0.0,), (0.0,), 0.01

    def __init__(self):
        self.instants = []

    def output(self, t, x, p, m):
        return {"tau": m}

    def derivative(self, t, x, p, m):
        return x["q"]

    def update(self, t, x, p, m):
        self.instants.append(t)
        return -20.0 * x["q"] - 3.0 * x["v"]


def test_sampling_instants_are_hit_exactly_whatever_the_steps():
    runs = {}
    for method, options in {"dopri5": {"rtol": 1e-10}, "ode23": {"rtol": 1e-9}, "rk4": {"dt": 0.003}}.items():
        block = Held()
        runs[method] = gs.simulate(
            gs.robots.pendulum(), block, [1.0], t_end=0.5, method=method, t_eval=[0.255, 0.5], **options
        )
        assert block.instants == [k * 0.01 for k in range(50)]
    for run in runs.values():
        np.testing.assert_allclose(run.q, runs["dopri5"].q, atol=2e-8)
        np.testing.assert_allclose(run.p, runs["dopri5"].p, atol=2e-8)
    assert runs["dopri5"].counters.compiled


@pytest.mark.parametrize("late", [0.0, 1e-17, -1e-17, 1e-13, -1e-13])
def test_an_event_at_a_sampling_instant_takes_no_sample_away(late):
    event = gs.Event(lambda t, q, v: t - (0.03 + late), 1, reset=lambda t, q, v: (q, v + 1e-9))
    block = Held()
    run = gs.simulate(gs.robots.pendulum(), block, [1.0], t_end=0.05, events=event, t_eval=[0.03, 0.05])
    assert len(run.events) == 1 and len(run.t) == 2
    assert block.instants == [k * 0.01 for k in range(5)]


def test_a_block_with_states_is_a_pi_controller():
    class Integral:
        states = (0.0,)

        def output(self, t, x, p, m):
            return {"tau": -4.0 * p - 6.0 * x["q"] - 3.0 * x["v"]}

        def derivative(self, t, x, p, m):
            return x["q"] - 0.2

    for method in ("dopri5", "bdf"):
        run = gs.simulate(gs.robots.pendulum(), Integral(), [0.0], t_end=30.0, method=method, rtol=1e-7)
        assert run.q[-1, 0] == pytest.approx(0.2, abs=1e-5)
        assert run.p[-1, 0] == pytest.approx(-(6 * 0.2 + G / 2 * np.sin(0.2)) / 4, abs=1e-4)


# ------------------------------------------------------------------------------------------------ energy, cost
def test_the_energy_balance_closes():
    run = gs.simulate(
        gs.robots.two_link(), lambda t, q, v: np.sin(5 * t) - 0.1 * v, [1.0, 0.5], t_end=2.0, rtol=1e-10, atol=1e-12
    )
    assert np.abs(run.energy - run.energy[0]).max() > 1.0
    assert np.abs(run.energy_residual).max() < 1e-8
    np.testing.assert_allclose(run.power, np.sum(run.tau * run.v, axis=1))
    stiff = gs.simulate(
        gs.robots.two_link(), lambda t, q, v: np.sin(5 * t) - 0.1 * v, [1.0, 0.5], t_end=1.0, method="radau", rtol=1e-7
    )
    assert np.abs(stiff.energy_residual).max() < 1e-4


def test_friction_is_what_the_balance_lacks():
    model = gs.robots.pendulum().with_drive("hinge", rotor_inertia=1e-4, gear_ratio=50, viscous=0.3)
    run = gs.simulate(model, q0=[1.0], t_end=2.0, rtol=1e-10)
    lost = -np.concatenate([[0], np.cumsum(np.diff(run.t) * 0.15 * (run.v[1:, 0] ** 2 + run.v[:-1, 0] ** 2))])
    np.testing.assert_allclose(run.energy_residual, lost, atol=2e-3)


def test_evaluations_are_counted_honestly():
    calls = []

    def torque(t, q, v):
        calls.append(t)
        return [0.0]

    run = gs.simulate(gs.robots.pendulum(), torque, [1.0], t_end=2.0, compiled=False, t_eval=[1.0, 2.0])
    c = run.counters
    assert c.rhs_evaluations + c.output_evaluations == len(calls)
    assert c.rhs_evaluations == 2 + 6 * (c.steps + c.rejected)
    assert c.simulated_time == 2.0
    assert c.real_time_factor == pytest.approx(2.0 / c.wall_time)


def test_a_base_that_moves_with_time_is_felt():
    w = 2 * np.pi * 1.5

    def motion(t):
        x, v, a = 0.1 * np.sin(w * t), 0.1 * w * np.cos(w * t), -0.1 * w * w * np.sin(w * t)
        return np.eye(3), np.array([x, 0, 0]), np.array([0, 0, 0, v, 0, 0]), np.array([0, 0, 0, a, 0, 0])

    def rhs(t, y):  # q'' = -3/2 g sin q + 3/2 x'' cos q
        return [y[1], 1.5 * (-G * np.sin(y[0]) - 0.1 * w * w * np.sin(w * t) * np.cos(y[0]))]

    want = solve_ivp(rhs, (0, 1), [0.2, 0.0], method="DOP853", rtol=1e-12, atol=1e-13).y[0, -1]
    harmonic = gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=1.5)
    for base in (harmonic, motion):
        model = gs.robots.pendulum().replace({"context.base": base})
        run = gs.simulate(model, q0=[0.2], t_end=1.0, rtol=1e-10, atol=1e-11)
        assert run.counters.compiled == (base is harmonic)
        assert run.q[-1, 0] == pytest.approx(want, abs=1e-8)
        assert np.isfinite(run.energy_residual).all()


# ------------------------------------------------------------------------------------------------ failure
def test_a_motion_that_grows_without_bound_stops_with_time_joint_and_cause():
    with pytest.raises(gs.SimulationError, match=r"stopped at t = 0\.\d+ s of 10 s, joint 'hinge'.*Hint: ") as caught:
        gs.simulate(gs.robots.pendulum(), lambda t, q, v: v**3 + 10.0, t_end=10.0)
    error = caught.value
    assert error.joint == "hinge"
    assert error.result.status == "failed"
    assert 0.08 < error.t < 0.09 and error.result.t[-1] == error.t
    for name in ("t", "q", "v", "a", "tau", "work"):
        assert np.isfinite(getattr(error.result, name)).all()


@pytest.mark.parametrize("method", ["rk4", "semi-implicit-euler"])
def test_fixed_steps_stop_before_a_number_is_infinite(method):
    with pytest.raises(gs.SimulationError, match=r"not finite|grows without bound") as caught:
        gs.simulate(gs.robots.pendulum(), lambda t, q, v: v**3 + 10.0, t_end=10.0, method=method, dt=0.01)
    assert np.isfinite(caught.value.result.v).all()
    assert len(caught.value.result.t) > 3


def test_a_digital_law_that_is_unstable_is_stopped_early():
    law = Held()
    law.update = lambda t, x, p, m: -3000.0 * x["v"]
    with pytest.raises(gs.SimulationError, match=r"joint 'hinge'.*grows without bound.*gains too high") as caught:
        gs.simulate(gs.robots.pendulum(), law, [1.0], t_end=5.0)
    assert caught.value.t < 0.2


def test_a_crawl_that_would_never_end_is_given_up(monkeypatch):
    monkeypatch.setattr(runaway, "CRAWL", 200)
    with pytest.raises(gs.SimulationError, match=r"\d+ steps have come .* the whole run would take \de\+\d+ steps"):
        gs.simulate(gs.robots.pendulum(), lambda t, q, v: -1e7 * v + 1e3, [1.0], t_end=1e3, rtol=1e-3)


def test_an_exception_in_a_torque_keeps_what_was_computed():
    def torque(t, q, v):
        if t > 0.5:
            raise ZeroDivisionError("the motor is off")
        return [0.0]

    with pytest.raises(gs.SimulationError, match="ZeroDivisionError: the motor is off") as caught:
        gs.simulate(gs.robots.pendulum(), torque, [1.0], t_end=1.0, compiled=False)
    assert 0.3 < caught.value.result.t[-1] <= 0.5
    assert isinstance(caught.value.__cause__, ZeroDivisionError)


def test_a_torque_that_is_no_number_is_named():
    with pytest.raises(gs.SimulationError, match="returned nan for 'hinge'"):
        gs.simulate(
            gs.robots.pendulum(), lambda t, q, v: [np.nan if t > 0.5 else 0.0], [1.0], t_end=1.0, compiled=False
        )


def test_an_interrupt_returns_what_was_computed(caplog):
    def torque(t, q, v):
        if t > 0.5:
            raise KeyboardInterrupt
        return [0.0]

    run = gs.simulate(gs.robots.pendulum(), torque, [1.0], t_end=1.0, compiled=False)
    assert run.status == "interrupted"
    assert 0.3 < run.t[-1] <= 0.5
    assert "interrupted at t" in caplog.text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, r"t_end must be a number above 0, got nothing\. Hint: t_end=2"),
        ({"t_end": -1.0}, "t_end must be a number above 0"),
        ({"t_end": np.inf}, "t_end must be"),
        ({"t_end": 1.0, "method": "dopri"}, r"there is no method 'dopri'\. Hint: did you mean 'dopri5'"),
        ({"t_end": 1.0, "method": "rk4"}, r"'rk4' takes fixed steps\. Hint: give dt"),
        ({"t_end": 1.0, "dt": 0.1}, "chooses its steps itself"),
        ({"t_end": 1.0, "rtol": 0.0}, "rtol must be a number above 0"),
        ({"t_end": 1.0, "rtol": 1e-20}, "below what doubles can say"),
        ({"t_end": 1.0, "q0": [1.0, 2.0]}, r"q has shape \(2,\)"),
        ({"t_end": 1.0, "q0": [[[1.0], [2.0]]]}, "one axis of runs"),
        ({"t_end": 1.0, "v0": [np.nan]}, "v of 'hinge' is nan"),
        ({"t_end": 1.0, "torque": [1.0, 2.0]}, "torque has shape"),
        ({"t_end": 1.0, "torque": {"elbow": 1.0}}, "names 'elbow', which is no joint"),
        ({"t_end": 1.0, "torque": lambda t, q, v: [1.0, 2.0]}, r"returned shape \(2,\), expected \(1,\)"),
        ({"t_end": 1.0, "torque": lambda t, q, v: {"elbow": 1.0}}, "names 'elbow'"),
        ({"t_end": 1.0, "t_eval": [0.0, 2.0]}, "t_eval goes from 0 to 2 s, the run from 0 to 1 s"),
        ({"t_end": 1.0, "t_eval": [0.5, 0.5]}, "ascending"),
        ({"t_end": 1.0, "events": 3}, "events must be a list"),
        ({"t_end": 1.0, "events": ["limits"]}, "is no event"),
        ({"t_end": 1.0, "stiffness": 1.0}, "'dopri5' has no option 'stiffness'"),
    ],
)
def test_what_does_not_fit_is_told(options, words):
    with pytest.raises(gs.GyrostatError, match=words):
        gs.simulate(gs.robots.pendulum(), **options)


def test_models_that_cannot_move_or_have_loops_are_refused():
    with pytest.raises(gs.GyrostatError, match="nothing in 'still' can move"):
        gs.simulate(gs.assemble("still", gs.chain("world", gs.RigidBody("b", mass=1.0))), t_end=1.0)


def test_progress_is_told_to_a_function():
    told = []

    def slow(t, q, v):
        import time

        time.sleep(0.002)
        return [0.0]

    gs.simulate(
        gs.robots.pendulum(), slow, [1.0], t_end=1.0, compiled=False, progress=lambda t, h, share: told.append(share)
    )
    assert told and 0.0 < told[0] <= 1.0


def test_lines_are_printed_only_when_asked_for(capsys, monkeypatch):
    monkeypatch.setattr(progress, "LINES", 0.0)
    gs.simulate(gs.robots.pendulum(), q0=[1.0], t_end=0.5)
    assert capsys.readouterr().err == ""
    gs.simulate(gs.robots.pendulum(), q0=[1.0], t_end=0.5, progress=True)
    assert "of 0.5 s, step 0." in capsys.readouterr().err


def test_a_bar_is_drawn_on_a_terminal(monkeypatch):
    import io

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setattr(progress, "EVERY", 0.0)
    gs.simulate(gs.robots.pendulum(), q0=[1.0], t_end=0.5, progress=True)
    assert "of 0.5 s" in screen.getvalue()
