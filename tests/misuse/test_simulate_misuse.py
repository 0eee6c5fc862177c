"""What people write by mistake, or innocently: it works, or it is refused with a sentence; never a wrong motion."""

import time

import numpy as np
import pytest

import gyrostat as gs

ARM = gs.robots.two_link()


def ball():
    joint = gs.Joint("z", "prismatic", axis="z", lower=0.0)
    return gs.assemble("ball", gs.chain("world", joint, gs.RigidBody("ball", mass=1)))


@pytest.mark.parametrize("compiled", [None, False])
@pytest.mark.parametrize("method", ["rk4", "dopri5", "bdf", "dina"])
def test_a_torque_may_write_into_what_it_gets(method, compiled):
    def careless(t, q, v):
        q -= 0.2
        q *= -3.0
        v[:] = 0.0
        return q

    options = {"q0": [1.0, 1.0], "t_end": 0.5, "method": method, "compiled": compiled}
    options |= {"dt": 1e-3} if method in ("rk4", "dina") else {}
    want = gs.simulate(ARM, lambda t, q, v: -3.0 * (q - 0.2), **options)
    np.testing.assert_allclose(gs.simulate(ARM, careless, **options).q, want.q, atol=1e-12)


def test_an_event_and_a_rollout_may_write_into_what_they_get():
    def careless(t, q, v):
        q -= 0.5
        return q[0]

    run = gs.simulate(ball(), q0=[1.0], t_end=0.4, events=gs.Event(careless), t_eval=[0.4])
    assert run.q[-1, 0] == pytest.approx(1.0 - 0.5 * 9.81 * 0.16, abs=1e-9) and len(run.events) == 1

    def law(t, q, v):
        q -= 0.2
        return -3.0 * q

    start = np.ones((2, 2)), np.zeros((2, 2))
    found = gs.rollout(ARM, law, *start, 1e-3, 100).q
    np.testing.assert_allclose(
        found, gs.rollout(ARM, lambda t, q, v: -3.0 * (q - 0.2), *start, 1e-3, 100).q, atol=1e-12
    )


def changes_in_place(t, q, v):
    v *= -0.5


REFUSED = {
    "bool event": (lambda: gs.Event(lambda t, q, v: q[0] < 0.5), r"returned False, expected a number .*q\[0\] - 0\.5"),
    "reset in place": (lambda: gs.Event(lambda t, q, v: q[0] - 0.5, reset=changes_in_place), "returned nothing"),
    "without end": (
        lambda: gs.Event(lambda t, q, v: q[0], -1, reset=lambda t, q, v: (q, -0.5 * v), name="bounce"),
        "'bounce' comes ever faster",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_events_that_would_have_no_effect_are_refused(what):
    made, message = REFUSED[what]
    with pytest.raises(gs.GyrostatError, match=message) as caught:
        gs.simulate(ball(), q0=[1.0], t_end=3.0, events=made())
    if what == "without end":
        assert caught.value.t == pytest.approx(0.4515236 * 3.0, abs=1e-4) and caught.value.result.q.min() > -1e-6


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"torque": lambda q, v: -v}, r"takes \(q, v\), and is called with \(t, q, v\)"),
        ({"torque": gs.blocks.PID}, r"torque is the class PID. Hint: PID\(\.\.\.\)"),
        ({"torque": lambda t, q, v: np.sign(v) if v[0] > 0 else v, "compiled": True}, "cannot be compiled"),
        ({"method": "rk4", "dt": 0.1, "max_step": 0.01}, "takes steps of dt, max_step is not used"),
        ({"progress": "x"}, "progress must be True, False, None or a function"),
        ({"events": gs.JointLimits, "method": "rk4", "dt": 0.1}, "is no event"),
    ],
)
def test_arguments_are_not_ignored(options, message):
    with pytest.raises(gs.GyrostatError, match=message):
        gs.simulate(ARM, t_end=0.5, **options)


def test_an_event_with_other_arguments_is_refused():
    with pytest.raises(gs.GyrostatError, match=r"takes \(q, v\)"):
        gs.Event(lambda q, v: q[0])


def test_the_run_ends_with_the_last_instant_that_is_asked_for():
    assert gs.simulate(ARM, t_eval=[0.1, 0.3]).settings["t_end"] == 0.3


@pytest.mark.parametrize("method", ["dopri5", "bdf", "radau", "ida", "cvode", "rk4", "newmark", "dina"])
@pytest.mark.parametrize("compiled", [None, False])
def test_efforts_that_are_no_numbers_are_named_with_their_joint(method, compiled):
    def fails(t, q, v):
        return np.array([0.0 * t, np.sqrt(0.3 - t)])

    options = {"dt": 1e-3} if method in ("rk4", "newmark", "dina") else {}
    with np.errstate(all="ignore"), pytest.raises(gs.SimulationError) as caught:
        gs.simulate(ARM, fails, v0=[3.0, 0.0], t_end=1.0, method=method, compiled=compiled, **options)
    assert caught.value.joint == "elbow" and caught.value.t == pytest.approx(0.3, abs=2e-3)
    assert "the function fails returned nan for 'elbow'" in str(caught.value)
    assert np.isfinite(caught.value.result.q).all() and caught.value.result.t[-1] == pytest.approx(0.3, abs=2e-3)


def test_a_reference_that_ends_before_the_run_is_named():
    way = gs.trajectories.spline([0, 1, 2.5, 4], [[0.0], [1], [-1], [2]], ends="natural")
    with pytest.raises(gs.SimulationError, match=r"4") as caught:
        gs.simulate(gs.robots.pendulum(), gs.blocks.pd(5, 1, way), t_end=5.0)
    assert caught.value.t == pytest.approx(4.0, abs=1e-6) and "nonfinite" not in caught.value.cause


def test_noise_is_given_up_in_seconds():
    rng, began = np.random.default_rng(0), time.perf_counter()
    with pytest.raises(gs.RecordError, match=r"it changes 'rng \(random numbers\)'"):
        gs.simulate(ARM, lambda t, q, v: rng.normal(size=2), t_end=0.2)
    with pytest.raises(gs.SimulationError, match="no function of"):
        gs.simulate(ARM, lambda t, q, v: rng.normal(size=2), t_end=0.2, compiled=False)
    assert time.perf_counter() - began < 60.0


def test_a_step_that_is_too_long_is_named_as_such():
    with pytest.raises(gs.SimulationError, match="dt is too long"):
        gs.simulate(ARM, lambda t, q, v: -1e4 * v, v0=[1.0, 1.0], t_end=1.0, method="rk4", dt=0.01)


def test_semi_implicit_euler_bounces_as_often_as_the_others():
    options = {"q0": [1.0], "t_end": 2.0, "events": gs.JointLimits(restitution=0.5)}
    want = gs.simulate(ball(), **options)
    found = gs.simulate(ball(), method="semi-implicit-euler", dt=1e-3, **options)
    assert 5 < len(found.events) <= len(want.events) + 2  # of order 1: it comes to rest a little earlier
    np.testing.assert_allclose([e.t for e in found.events[:5]], [e.t for e in want.events[:5]], atol=2e-2)


def test_steps_of_dina_are_counted_one_by_one():
    run = gs.simulate(ARM, q0=[0.3, 0.2], t_end=0.5, method="dina", dt=1e-3)
    assert run.counters.steps == 500


def test_a_result_is_found_under_the_name_it_was_saved_as(tmp_path):
    run = gs.simulate(ARM, q0=[0.3, 0.2], t_end=0.1)
    run.save(tmp_path / "run")
    np.testing.assert_array_equal(gs.load_result(tmp_path / "run").q, run.q)


def test_a_rollout_says_that_dry_friction_creeps(caplog):
    rubbing = gs.robots.pendulum().with_drive("hinge", coulomb=1.0)
    gs.rollout(rubbing, None, np.zeros((2, 1)), np.zeros((2, 1)), 1e-3, 3)
    assert "give its frictions 'smooth'" in caplog.text
    caplog.clear()
    gs.rollout(
        gs.robots.pendulum().with_drive("hinge", coulomb=1.0, friction={"smooth": 1e-3}), None, np.zeros((2, 1)),
        np.zeros((2, 1)), 1e-3, 3,
    )  # fmt: skip
    assert not caplog.text


# ------------------------------------------------------------------------------------------------ numbers beyond sense
EVERY = ("dopri5", "ode23", "bdf", "radau", "cvode", "ida", "rk4", "semi-implicit-euler", "newmark", "dina")


def stepped(method, dt=1e-3):
    return {"method": method} | ({"dt": dt} if method in ("rk4", "semi-implicit-euler", "newmark", "dina") else {})


def simulated(*given, **options):
    try:
        return gs.simulate(*given, **options)
    except gs.GyrostatError as error:
        if "pip install" in str(error):
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("method", ["dopri5", "bdf", "rk4", "dina"])
def test_a_time_that_doubles_cannot_resolve_is_refused(method):
    with pytest.raises(gs.GyrostatError, match=r"takes 10 s, and doubles are 2 s apart there, .* Hint: shift the time"):
        simulated(ARM, t_start=1e16, t_end=1e16 + 10.0, **stepped(method))
    with pytest.raises(gs.GyrostatError, match=r"takes 0\.0001 s, and doubles are 1e-07 s apart"):
        simulated(ARM, t_start=1e9, t_end=1e9 + 1e-4, **stepped(method))


def test_a_step_that_doubles_cannot_resolve_is_refused():
    with pytest.raises(gs.GyrostatError, match=r"dt = 1e-06 s is too short for t = 1e\+09 s.* 1e-05 s at least"):
        simulated(ARM, t_start=1e9 - 1.0, t_end=1e9, method="rk4", dt=1e-6)


@pytest.mark.parametrize("method", EVERY)
def test_an_event_that_is_zero_but_for_rounding_at_the_end_happens_there(method):
    cart = gs.assemble("cart", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("b", mass=1)))
    for direction, ends in ((0, True), (1, True), (-1, False)):
        event = gs.Event(lambda t, q, v: q[0], direction=direction, terminal=True, name="there")
        run = simulated(cart, None, [-1.0], [2.0], t_end=0.5, events=event, **stepped(method, 1e-2))
        assert (run.status, len(run.events), run.t[-1]) == (("event", 1, 0.5) if ends else ("finished", 0, 0.5))
    short = gs.Event(lambda t, q, v: q[0] - 1e-9, terminal=True)
    assert simulated(cart, None, [-1.0], [2.0], t_end=0.5, events=short, **stepped(method, 1e-2)).status == "finished"


@pytest.mark.parametrize("method", EVERY)
def test_efforts_beyond_all_bounds_are_named(method):
    with np.errstate(all="ignore"), pytest.raises(gs.SimulationError) as caught:
        simulated(gs.robots.pendulum(), np.array([1e300]), t_end=1.0, **stepped(method))
    assert "efforts up to 1e+300 give it an acceleration of 3e+300, which no step can follow" in str(caught.value)
    assert caught.value.t == 0.0 and caught.value.joint == "hinge"


@pytest.mark.parametrize("method", EVERY)
def test_a_motion_that_starts_fast_does_not_grow(method):
    run = simulated(gs.robots.pendulum(), None, [0.0], [1e8], t_end=1e-6, **stepped(method, 1e-9))
    assert run.status == "finished" and run.q[-1] == pytest.approx(100.0, abs=1e-6)


def test_a_result_whose_time_runs_backwards_is_refused(tmp_path):
    run = gs.simulate(ARM, q0=[0.3, 0.2], t_end=0.1)
    object.__setattr__(run, "t", run.t[::-1].copy())
    run.save(tmp_path / "run")
    with pytest.raises(gs.LoadError, match=r"array 't' must not descend, got 0\.1 s, then"):
        gs.load_result(tmp_path / "run")
