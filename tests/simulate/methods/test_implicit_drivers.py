"""Implicit steps in machine code: however a run is cut it has the same bits; Python laws, stiff friction, quaternions,
states of blocks."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods import compiled
from tests.support.solver_zoo import branched

METHODS = ("newmark", "trapezoid", "generalised-alpha", "dina")


class Lag:
    """A drive with a state of its own, 20 ms late."""

    states = (0.0, 0.0)

    def output(self, t, x, p, m):
        return {"tau": p}

    def derivative(self, t, x, p, m):
        return (np.array([np.sin(3.0 * t), 0.5]) - 2.0 * x["q"] - 0.3 * x["v"] - p) / 0.02


def push(t, q, v):
    return np.array([np.sin(3.0 * t) - 0.1 * v[0], -2.0 * q[1]])


def drag(t, q, v):
    return -0.3 * v


def grows(t, q, v):
    return v**3 + 10.0


def floating():
    model = branched("free")
    rng = np.random.default_rng(3)
    return model, drag, gs.neutral(model), rng.normal(size=model.nv)


MOTIONS = {
    "law": lambda: (gs.robots.two_link(), push, [0.3, -0.7], [1.0, 0.5]),
    "states": lambda: (gs.robots.two_link(), Lag(), [0.3, -0.7], [1.0, 0.5]),
    "sampled": lambda: (
        gs.robots.two_link(),
        gs.blocks.pd(20.0, 2.0, reference=[0.5, 0.2], sample_time=7e-3),
        [0.3, -0.7],
        None,
    ),
    "floating": floating,
}


def simulated(motion, method, dt=2e-3, t_end=0.2, **options):
    model, law, q, v = motion
    return gs.simulate(model, law, q, v, t_end=t_end, method=method, dt=dt, progress=False, **options)


def fitted(steps, errors):
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


# ------------------------------------------------------------------------------------------------ how a run is cut
@pytest.mark.parametrize("motion", MOTIONS)
@pytest.mark.parametrize("method", METHODS)
def test_a_run_has_the_same_bits_however_it_is_cut(method, motion, monkeypatch):
    every = {"every": 1} if method == "dina" else {}
    given = MOTIONS[motion]()
    whole = simulated(given, method, **every)
    monkeypatch.setattr(compiled, "budget_after", lambda budget, seconds: 1 + budget % 3)
    monkeypatch.setattr(compiled, "FIRST_BUDGET", 1)
    cut = simulated(given, method, **every)
    between = np.unique(np.concatenate([whole.t, np.linspace(0.0, 0.2, 37)]))
    asked = simulated(given, method, t_eval=between)
    same = np.isin(between, whole.t)
    for name in ("q", "v", "p", "tau", "work"):
        assert np.array_equal(getattr(whole, name), getattr(cut, name)), name
        assert np.array_equal(getattr(whole, name), getattr(asked, name)[same]), name
    assert whole.counters.steps == cut.counters.steps == asked.counters.steps
    assert whole.counters.statistics == cut.counters.statistics == asked.counters.statistics


@pytest.mark.parametrize("method", METHODS)
def test_an_event_that_only_watches_changes_no_bit(method):
    given = MOTIONS["law"]()
    every = {"every": 1} if method == "dina" else {}
    want = simulated(given, method, **every)
    event = gs.Event(lambda t, q, v: q[0] - 0.31, terminal=False)
    got = simulated(given, method, events=[event], **every)
    assert len(got.events) > 0 and np.array_equal(want.q[-1], got.q[-1])


# ------------------------------------------------------------------------------------------------ laws in Python
@pytest.mark.parametrize("motion", ["law", "states", "floating"])
@pytest.mark.parametrize("method", METHODS)
def test_a_law_that_is_called_gives_the_numbers_of_one_that_is_compiled(method, motion):
    given = MOTIONS[motion]()
    runs = [simulated(given, method, rtol=1e-12, compiled=compiled) for compiled in (None, False)]
    assert runs[0].counters.compiled and not runs[1].counters.compiled
    for name in ("q", "v", "p"):
        np.testing.assert_allclose(getattr(runs[0], name), getattr(runs[1], name), rtol=0, atol=1e-12)


@pytest.mark.parametrize("method", METHODS)
def test_rows_are_kept_step_by_step_and_by_dina_after_ten(method):
    run = simulated(MOTIONS["law"](), method)
    assert run.counters.steps == 100 and len(run.t) == (11 if method == "dina" else 101)
    np.testing.assert_allclose(np.diff(run.t), 2e-2 if method == "dina" else 2e-3)


# ------------------------------------------------------------------------------------------------ order
@pytest.mark.parametrize("motion", ["states", "floating"])
@pytest.mark.parametrize("method", METHODS)
def test_the_order_is_two_with_quaternions_and_with_states_of_blocks(method, motion):
    given, steps = MOTIONS[motion](), (50, 100, 200, 400)
    model, law, q, v = given
    want = gs.simulate(model, law, q, v, t_end=0.2, rtol=1e-11, atol=1e-12, progress=False)
    errors = []
    for n in steps:
        run = simulated(given, method, dt=0.2 / n)
        errors.append(np.abs(gs.difference(model, want.q[-1], run.q[-1])).max())
        assert np.abs(run.p[-1] - want.p[-1]).max(initial=0.0) < 2.0 / n**2 * 100.0
    assert fitted(steps, errors) == pytest.approx(2.0, abs=0.3)


# ------------------------------------------------------------------------------------------------ stiff friction
def rubbing(model, sizes, smooth):
    for name, size in zip(model.dofs, sizes, strict=True):
        model = model.with_drive(name, coulomb=size, viscous=0.1, friction={"smooth": smooth}, motor=False)
    return model


GOAL, KP, KD = (
    np.linspace(0.2, 1.0, 7),
    np.array([300, 300, 200, 200, 60, 40, 10.0]),
    np.array([30, 30, 20, 20, 6, 4, 1.0]),
)
RUBBING = {
    "two_link": lambda s: (rubbing(gs.robots.two_link(), (2.0, 0.5), s), None, [0.3, -0.7], [1.0, 0.5]),
    "lwr": lambda s: (
        rubbing(gs.robots.kuka_lwr4(), (5.0, 5.0, 4.0, 4.0, 2.0, 1.0, 0.5), s),
        lambda t, q, v: KP * (GOAL - q) - KD * v, np.zeros(7), np.zeros(7),
    ),
}  # fmt: skip


@pytest.mark.parametrize("robot", RUBBING)
@pytest.mark.parametrize("smooth", [1e-3, 1e-4, 1e-5])
def test_friction_that_changes_its_sign_within_a_fraction_of_a_step_converges(robot, smooth):
    given, times = RUBBING[robot](smooth), np.linspace(0.0, 1.0, 6)
    model, law, q, v = given
    want = gs.simulate(model, law, q, v, t_end=1.0, t_eval=times, method="radau", rtol=1e-7, atol=1e-9, progress=False)
    for method in METHODS:
        run = simulated(given, method, dt=1e-3, t_end=1.0, t_eval=times)
        assert run.status == "finished" and np.abs(run.q - want.q).max() < 5e-4  # rad; 2e-4 of it by the step
        assert run.counters.statistics["halved"] < 20


@pytest.mark.parametrize("method", METHODS)
def test_a_motion_that_grows_beyond_all_bounds_is_not_led_to_another_solution_of_its_step(method):
    """A damped Newton finds a root of v1 = v0 + h v1^3 on the other side: not that of the motion, that ends at 6 ms."""
    with pytest.raises(gs.SimulationError, match=r"does not fulfil the equations|grows without bound") as stop:
        simulated((gs.robots.two_link(), grows, [0.3, 0.2], [1.0, 0.0]), method, dt=1e-3, t_end=1.0)
    assert stop.value.t < 0.02


# ------------------------------------------------------------------------------------------------ every robot
def machines():
    return {
        "pendulum": gs.robots.pendulum(), "elastic": gs.robots.elastic_arm(), "branched": branched(),
        "free base": branched("free"), "lwr": gs.robots.kuka_lwr4(), "chain": gs.robots.chain(6),
    }  # fmt: skip


@pytest.mark.parametrize("robot", machines())
@pytest.mark.parametrize("method", METHODS)
def test_every_robot_moves_as_by_dopri5(method, robot):
    model = machines()[robot]
    v = np.linspace(-0.5, 0.5, model.nv)
    want = gs.simulate(model, drag, gs.neutral(model), v, t_end=0.05, rtol=1e-10, atol=1e-12, progress=False)
    run = simulated((model, drag, gs.neutral(model), v), method, dt=1e-4, t_end=0.05)
    far = np.abs(gs.difference(model, want.q[-1], run.q[-1])) / (
        1.0 + np.abs(gs.difference(model, want.q[0], want.q[-1]))
    )
    assert far.max() < 2e-5


@pytest.mark.parametrize("method", METHODS)
def test_an_arm_swings_against_its_stops_and_rests_there(method):
    stops = gs.JointLimits(restitution=0.3)
    model, sides = gs.robots.two_link(), {"lower": -0.4, "upper": 0.55}
    model = model.replace({f"{name}.{side}": x for name in model.dofs for side, x in sides.items()})
    runs = [
        gs.simulate(model, drag, [0.5, 0.5], [3.0, -4.0], 1.0, name, events=[stops], progress=False, **options)
        for name, options in (("dopri5", {"rtol": 1e-9}), (method, {"dt": 5e-4}))
    ]
    assert len(runs[0].events) == len(runs[1].events) > 2
    np.testing.assert_allclose(runs[1].q[-1], runs[0].q[-1], atol=2e-4)
