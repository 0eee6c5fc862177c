"""Events are located to 1e-9 s, in both directions; joint limits bounce, stop and release."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.events.roots import root

G = 9.81
FALL = np.sqrt(2.0 / G)
"""From 1 m to the ground."""


def ball(**limits):
    body = gs.RigidBody("body", mass=1.0)
    return gs.assemble("ball", gs.chain("world", gs.Joint("z", "prismatic", axis="z", **limits), body))


def times(run, kind=None):
    return [e.t for e in run.events if kind in (None, e.kind)]


@pytest.mark.parametrize(
    ("f", "a", "b", "want"),
    [
        (lambda t: np.cos(t) - t, 0.0, 1.0, 0.7390851332151607),
        (lambda t: t**3 - 2.0, 0.0, 5.0, 2.0 ** (1 / 3)),
        (lambda t: 1e-9 * (t - 3.3), 0.0, 10.0, 3.3),
        (lambda t: -1.0 if t < 1.234567 else 1.0, 0.0, 7.0, 1.234567),
        (lambda t: 5.0 - np.exp(20.0 * t), -3.0, 4.0, np.log(5.0) / 20.0),
    ],
)
def test_roots_are_found_on_the_far_side(f, a, b, want):
    found = root(f, a, b, f(a), f(b))
    assert found == pytest.approx(want, abs=2e-12)
    assert f(found) * f(b) >= 0.0


# ------------------------------------------------------------------------------------------------ user events
@pytest.mark.parametrize(("direction", "count"), [(0, 4), (1, 2), (-1, 2)])
def test_crossings_are_found_in_the_wanted_direction(direction, count):
    w = np.sqrt(1.5 * G)  # a small swing
    event = gs.Event(lambda t, q, v: q[0], direction, name="bottom")
    run = gs.simulate(gs.robots.pendulum(), q0=[1e-6], t_end=4 * np.pi / w, events=event, rtol=1e-10, atol=1e-18)
    want = (np.arange(4) + 0.5) * np.pi / w
    want = {0: want, 1: want[1::2], -1: want[::2]}[direction]
    assert len(run.events) == count
    np.testing.assert_allclose(times(run), want, atol=1e-9)
    assert {e.name for e in run.events} == {"bottom"}


def test_several_events_in_one_step_are_all_found_in_order():
    events = [gs.Event(lambda t, q, v, s=s: t - s, name=str(s)) for s in (0.7, 0.2, 0.45)]
    run = gs.simulate(ball(), q0=[0.0], t_end=1.0, events=events)
    assert [e.name for e in run.events] == ["0.2", "0.45", "0.7"]
    np.testing.assert_allclose(times(run), [0.2, 0.45, 0.7], atol=1e-11)


@pytest.mark.parametrize("method", ["dopri5", "ode23", "rk4", "radau", "bdf", "semi-implicit-euler"])
def test_a_terminal_event_ends_the_run_where_it_happens(method):
    event = gs.Event(lambda t, q, v: q[0], -1, terminal=True, name="ground")
    options = {"dt": 1e-3} if method in ("rk4", "semi-implicit-euler") else {"rtol": 1e-9}
    run = gs.simulate(ball(), q0=[1.0], t_end=5.0, events=event, method=method, **options)
    assert run.status == "event" and "ended by event 'ground'" in run.message
    near = 1e-3 if method == "semi-implicit-euler" else 1e-7 if method == "bdf" else 1e-9
    assert run.t[-1] == pytest.approx(FALL, abs=near)
    assert abs(run.q[-1, 0]) < 1e-9


@pytest.mark.parametrize("t_eval", [None, np.linspace(0, 2.5, 26)])
def test_a_reset_goes_on_from_another_state(t_eval):
    bounce = gs.Event(lambda t, q, v: q[0], -1, reset=lambda t, q, v: (q, -0.8 * v), name="bounce")
    run = gs.simulate(ball(), q0=[1.0], t_end=2.5, events=bounce, rtol=1e-10, atol=1e-12, t_eval=t_eval)
    want = FALL + 2 * FALL * np.concatenate([[0], np.cumsum(0.8 ** np.arange(1, 6))])
    np.testing.assert_allclose(times(run), want[want < 2.5], atol=1e-9)
    np.testing.assert_allclose([e.v_after[0] / e.v[0] for e in run.events], -0.8)
    if t_eval is None:  # before and after
        assert np.sum(np.diff(run.t) == 0.0) == len(run.events)
    else:
        np.testing.assert_array_equal(run.t, t_eval)
    assert run.q.min() > -1e-10


def test_a_bounce_shorter_than_a_step_is_not_missed():
    bounce = gs.Event(lambda t, q, v: q[0], -1, reset=lambda t, q, v: (q, -0.1 * v))
    stop = gs.Event(lambda t, q, v: t - (FALL * 1.221), 1, terminal=True)
    run = gs.simulate(ball(), q0=[1.0], t_end=2.0, events=[bounce, stop], rtol=1e-6)
    np.testing.assert_allclose(times(run)[:3], FALL * np.array([1.0, 1.2, 1.22]), atol=1e-7)


def test_a_payload_can_be_taken_up():
    model = gs.robots.pendulum()
    heavy = model.replace({"rod.mass": 3.0, "rod.inertia": (0.5, 0.5, 0.0)})
    take = gs.Event(lambda t, q, v: t - 0.5, 1, reset=lambda t, q, v: (heavy, q, v * 0.5), name="take")
    run = gs.simulate(model, q0=[1.0], t_end=1.0, events=take, rtol=1e-10, atol=1e-12)
    k = int(np.searchsorted(run.t, 0.5, side="right"))
    later = gs.simulate(heavy, q0=run.q[k - 1], v0=run.v[k - 1], t_end=0.5, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(run.q[-1], later.q[-1], atol=1e-8)
    inner = run.energy[k - 1 :]
    assert np.abs(inner - inner[0]).max() < 1e-8


def test_mistakes_in_events_are_told():
    with pytest.raises(gs.GyrostatError, match="direction must be -1, 0 or 1, got 2"):
        gs.Event(lambda t, q, v: 0.0, 2)
    with pytest.raises(gs.GyrostatError, match=r"returned .*expected one finite number"):
        gs.simulate(ball(), t_end=1.0, events=gs.Event(lambda t, q, v: np.array([1.0, 2.0])))
    wrong = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: q)
    with pytest.raises(gs.SimulationError, match=r"expected \(q, v\), a model or \(model, q, v\)"):
        gs.simulate(ball(), t_end=1.0, events=wrong)
    forever = gs.Event(lambda t, q, v: t - 0.5 + v[0] * 0, 1, reset=lambda t, q, v: (q, v))
    assert len(gs.simulate(ball(), t_end=1.0, events=forever).events) == 1
    with pytest.raises(gs.GyrostatError, match=r"restitution must be from 0 to 1, got 1\.2"):
        gs.JointLimits(restitution=1.2)


# ------------------------------------------------------------------------------------------------ joint limits
def test_a_ball_bounces_on_its_limit_until_it_rests():
    run = gs.simulate(ball(lower=0.0), q0=[1.0], t_end=3.0, events=gs.JointLimits(0.5), rtol=1e-10, atol=1e-12)
    want = FALL + 2 * FALL * np.concatenate([[0], np.cumsum(0.5 ** np.arange(1, 13))])
    np.testing.assert_allclose(times(run)[:10], want[:10], atol=1e-9)
    assert run.events[-1].t < 3 * FALL  # the end of infinitely many bounces
    assert run.q[-1, 0] == 0.0 and run.v[-1, 0] == 0.0 and run.a[-1, 0] == 0.0
    assert run.q.min() >= 0.0


def test_restitution_one_keeps_the_energy():
    run = gs.simulate(ball(lower=0.0), q0=[1.0], t_end=5.0, events=gs.JointLimits(1.0), rtol=1e-11, atol=1e-12)
    assert len(run.events) == 6
    assert np.abs(run.energy - G).max() < 1e-8


def test_a_pendulum_rests_at_its_stop_and_leaves_it():
    model = gs.robots.pendulum().replace({"hinge.upper": 0.5, "hinge.lower": -0.3})
    run = gs.simulate(
        model, lambda t, q, v: 10.0 * np.sin(2.0 * t) + 0.0 * q, t_end=4.0, events=gs.JointLimits(), rtol=1e-9
    )
    assert [e.kind for e in run.events] == ["upper", "release", "lower", "release", "upper"]
    hold = lambda q: np.arcsin(G / 2 * np.sin(q) / 10.0)  # noqa: E731  # where the motor's effort meets the weight's
    assert times(run, "release")[0] == pytest.approx((np.pi - hold(0.5)) / 2, abs=1e-9)
    assert times(run, "release")[1] == pytest.approx((2 * np.pi + hold(-0.3)) / 2, abs=1e-9)
    assert run.q.min() == -0.3 and run.q.max() == 0.5
    at_rest = (run.t > 0.5) & (run.t < 1.4)
    assert at_rest.any() and np.all(run.q[at_rest] == 0.5) and np.all(run.a[at_rest] == 0.0)


def test_an_impact_is_an_impulse_at_the_joint_that_is_hit():
    model = gs.robots.two_link()
    second = model.dofs[1]
    limited = model.replace({f"{second}.upper": 0.4})
    run = gs.simulate(
        limited, q0=[0.3, 0.0], v0=[0.5, 2.0], t_end=0.4, events=gs.JointLimits({second: 0.6}), rtol=1e-10
    )
    hit = next(e for e in run.events if e.kind == "upper")
    assert hit.name == second
    assert hit.v_after[1] == pytest.approx(-0.6 * hit.v[1], abs=1e-12)
    impulse = gs.crba(model, hit.q) @ (hit.v_after - hit.v)
    assert abs(impulse[0]) < 1e-12 < abs(impulse[1])
    assert abs(hit.v_after[0] - hit.v[0]) > 1e-3


def test_joints_at_stops_do_not_move_when_others_do():
    model = gs.robots.two_link()
    second = model.dofs[1]
    limited = model.replace({f"{second}.lower": 0.0, f"{second}.upper": 0.0})
    run = gs.simulate(limited, q0=[1.0, 0.0], t_end=1.0, events=gs.JointLimits(), rtol=1e-9)
    np.testing.assert_array_equal(run.q[:, 1], 0.0)
    assert np.abs(run.energy - run.energy[0]).max() < 1e-6  # as one stiff body


def test_a_start_beyond_a_limit_and_names_without_limits_are_refused():
    with pytest.raises(gs.StateError, match="q0 of 'z' is -1, beyond its limits 0 to inf"):
        gs.simulate(ball(lower=0.0), q0=[-1.0], t_end=1.0, events=gs.JointLimits())
    with pytest.raises(gs.StateError, match="'x' is no joint with limits"):
        gs.simulate(ball(lower=0.0), t_end=1.0, events=gs.JointLimits({"x": 0.5}))


def test_limits_are_left_alone_unless_asked_for():
    assert gs.simulate(ball(lower=0.0), q0=[1.0], t_end=1.0).q.min() < -3.0


def test_the_first_impact_is_that_of_an_event_driven_program():
    """Siconos, BouncingBallED: impact at 0.4515236409857308 s, from -4.429446918070019 to 3.986502226263017 m/s."""
    run = gs.simulate(ball(lower=0.0), q0=[1.0], t_end=0.6, events=gs.JointLimits(0.9), rtol=1e-10, atol=1e-12)
    (hit,) = run.events
    assert hit.t == pytest.approx(0.4515236409857308, abs=1e-12)
    assert hit.v[0] == pytest.approx(-4.429446918070019, abs=1e-11)
    assert hit.v_after[0] == pytest.approx(3.986502226263017, abs=1e-11)


# ---------------------------------------------------------------------------------------------- at one instant


def pushed(name, size, function=lambda t, q, v: t - 0.5, **options):
    return gs.Event(function, reset=lambda t, q, v: (q, v + size), name=name, **options)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("method", [{"method": "dopri5"}, {"method": "rk4", "dt": 0.01}])
def test_events_of_one_instant_all_happen_in_the_order_given(method, compiled):
    model = gs.assemble("cart", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("b", mass=1.0)))
    third = pushed("third", 4.0, lambda t, q, v: q[0] - 0.5)  # v = 1: there at the same instant, but for rounding
    other = gs.Event(lambda t, q, v: 2.0 * t - 1.0, name="noted")
    events = [pushed("first", 1.0), pushed("second", 2.0), other, third]
    result = gs.simulate(
        model, q0=[0.0], v0=[1.0], t_end=1.0, events=events, compiled=compiled, progress=False, **method
    )
    assert sorted(e.name for e in result.events) == ["first", "noted", "second", "third"]
    assert all(abs(e.t - 0.5) < 1e-11 for e in result.events)
    named = {e.name: e for e in result.events}
    np.testing.assert_allclose([named["first"].v_after[0] - 1.0, result.v[-1, 0]], [1.0, 8.0], rtol=1e-9)
    np.testing.assert_allclose(result.q[-1], [0.5 + 0.5 * 8.0], rtol=1e-9)


def test_an_event_that_ends_the_run_comes_behind_a_reset_of_its_instant():
    model = gs.robots.two_link()
    stop = gs.Event(lambda t, q, v: t - 0.5, terminal=True, name="stop")
    for events, pushes in (([pushed("push", 1.0), stop], 1), ([stop, pushed("push", 1.0)], 0)):
        result = gs.simulate(model, t_end=1.0, events=events, progress=False)
        assert result.status == "event" and result.t[-1] == pytest.approx(0.5, abs=1e-11)
        assert [e.name for e in result.events].count("push") == pushes


def test_an_event_at_the_instant_of_a_stop_is_not_lost():
    rail = gs.Joint("z", "prismatic", axis="z", lower=0.0)
    model = gs.assemble("ball", gs.chain("world", rail, gs.RigidBody("ball", mass=2.0)))
    seen = gs.Event(lambda t, q, v: q[0], direction=-1, name="floor")
    limits = gs.JointLimits(restitution=0.5)
    result = gs.simulate(model, q0=[1.0], t_end=0.6, events=[seen, limits], progress=False)
    assert [e.name for e in result.events].count("floor") == 1


def test_a_change_of_structure_beside_another_event_is_refused():
    model = gs.robots.two_link()
    change = gs.Event(lambda t, q, v: t - 0.5, reset=lambda t, q, v: model.lock(model.dofs[0], q[0]), name="hold")
    with pytest.raises(gs.GyrostatError, match="'hold' changes the structure at the instant of event 'push'"):
        gs.simulate(model, t_end=1.0, events=[change, pushed("push", 1.0)], progress=False)


@pytest.mark.parametrize("method", ["dopri5", "rk4", "bdf"])
@pytest.mark.parametrize("turned", [False, True])
def test_two_resets_that_rounding_tells_apart_happen_once_each_in_the_order_given(method, turned):
    cart = gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("cart", mass=1.0))
    clock = gs.Event(lambda t, q, v: t - 0.5, reset=lambda t, q, v: (q, v * 2.0))
    place = gs.Event(lambda t, q, v: q[0] - 0.5, reset=lambda t, q, v: (q, v + 1.0))
    events, options = [place, clock] if turned else [clock, place], {"dt": 0.03} if method == "rk4" else {}
    run = gs.simulate(gs.assemble("cart", cart), q0=[0.0], v0=[1.0], t_end=1.0, events=events, method=method, **options)
    assert len(run.events) == 2
    assert run.v[-1, 0] == pytest.approx(4.0 if turned else 3.0)
