"""Events of a run are objects: what is watched, and what happens then."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.constraints.transitions import Transitions
from gyrostat.simulate.events.event import Event
from gyrostat.simulate.events.limit_reached import Release, Stop
from gyrostat.simulate.events.stick_slip_event import Slip, Stick
from gyrostat.simulate.events.user_event import UserEvent
from gyrostat.simulate.events.watches import Watches
from gyrostat.simulate.plant.plant import Plant
from tests.support.stick_slip_models import block

G = 9.81


class State:
    """A run that stands still: what an event does to it is written down."""

    def __init__(self, transitions, q, v, t=0.5):
        self.transitions, self.plant = transitions, transitions.plant
        self.t, self.q, self.v, self.p = t, np.array(q, dtype=float), np.array(v, dtype=float), np.zeros(0)
        self.kept, self.told, self.checked = [], [], 0

    def keep(self, q, v):
        self.kept.append((q.tolist(), v.tolist(), self.plant.active.numbers.tolist()))

    def tell(self, name, kind, q, v, v_after):
        self.told.append((name, kind, v_after.tolist()))

    def settle(self, q, v):
        after, changes, _ = self.transitions.settle(self.t, q, v, self.p)
        for name, kind in changes:
            self.tell(name, kind, q, v, after)
        return after

    def expect_no_memory(self):
        self.checked += 1

    def renew(self):
        return None

    def expect_still_inside(self, q, who):
        self.looked_at = who

    def change_model(self, model):
        self.plant.change_model(model)


def falling(**limits):
    """A mass on a vertical rail with a floor."""
    rail = gs.Joint("z", "prismatic", axis="z", lower=0.0, upper=3.0)
    return gs.assemble("ball", gs.chain("world", rail, gs.RigidBody("ball", mass=2.0)))


def test_a_stop_puts_the_joint_on_its_limit_and_turns_its_rate_round():
    transitions = Transitions(Plant(falling()), [gs.JointLimits(restitution=0.5)])
    stop = Stop(transitions, 0)
    run = State(transitions, [-1e-12], [-2.0])
    assert (stop.name, stop.kind, stop.direction, stop.cuts) == ("z", "lower", 1, True)
    assert stop.value(0.0, np.array([-0.3]), run.v, run.p) == pytest.approx(0.3)
    assert stop.values(np.zeros(2), np.array([[0.2], [-0.2]]), np.zeros((2, 1)), np.zeros((2, 0))) == [-0.2, 0.2]
    outcome = stop.happens(run)
    assert outcome.q.tolist() == [0.0] and outcome.v.tolist() == [1.0] and not outcome.end
    assert run.kept == [([0.0], [-2.0], [])] and run.told == [("z", "lower", [1.0])]
    assert run.plant.active.empty


def test_a_joint_without_bounce_rests_and_is_released_when_its_stop_would_have_to_pull():
    lift = [0.0]
    plant = Plant(falling(), lambda t, q, v: lift[0] + 0.0 * q, compiled=False)
    transitions = Transitions(plant, [gs.JointLimits()])
    watches = Watches(transitions, [])
    assert [type(watch.event) for watch in watches.all] == [Stop, Stop]
    run = State(transitions, [0.0], [-2.0])
    assert Stop(transitions, 0).happens(run).v.tolist() == [0.0]
    watches.follow_active()
    release = watches.all[-1].event
    assert isinstance(release, Release) and plant.active.numbers.tolist() == [0]
    assert release.value(0.0, run.q, np.zeros(1), run.p) == pytest.approx(-2.0 * G)  # it pushes
    lift[0] = 25.0
    assert release.value(0.0, run.q, np.zeros(1), run.p) == pytest.approx(25.0 - 2.0 * G)
    run = State(transitions, [0.0], [0.0])
    assert release.happens(run).v.tolist() == [0.0] and run.told == [("z", "release", [0.0])]
    watches.follow_active()
    assert plant.active.empty and len(watches.all) == 2


def test_friction_sticks_where_its_speed_ends_and_slips_where_its_force_is_used_up():
    push = [1.0]
    plant = Plant(block(coulomb=3.0, mass=2.0), lambda t, q, v: push[0] + 0.0 * q, compiled=False)
    transitions = Transitions(plant, [])
    watches = Watches(transitions, [])
    stick, slip = (watch.event for watch in watches.all)
    assert isinstance(stick, Stick) and isinstance(slip, Slip) and slip.fine
    run = State(transitions, [0.0], [1.0])
    run.settle(run.q, run.v)
    assert plant.active.directions.tolist() == [1.0] and slip.value(0.0, run.q, run.v, run.p) == -1.0
    assert stick.value(0.0, run.q, np.array([0.4]), run.p) == -0.4
    run = State(transitions, [0.0], [-1e-13])
    assert stick.happens(run).v.tolist() == [0.0] and run.told == [("rub", "stick", [0.0])]
    assert plant.active.sticking == (0,) and slip.value(0.0, run.q, np.zeros(1), run.p) == pytest.approx(
        1.0 / 3.0 - 1.0
    )
    push[0] = 3.0 + 1e-9
    run = State(transitions, [0.0], [0.0])
    slip.happens(run)
    assert run.told == [("rub", "slip", [0.0])] and plant.active.directions.tolist() == [1.0] and plant.active.empty


def test_an_event_of_the_user_ends_the_run_or_goes_on_from_its_reset():
    transitions = Transitions(Plant(falling()), [])
    run = State(transitions, [1.0], [0.5])
    ends = UserEvent(Event(lambda t, q, v: q[0] - 1.0, terminal=True, name="high")).happens(run)
    assert ends.end == "ended by event 'high' at t = 0.5 s" and run.checked == 1
    higher = UserEvent(Event(lambda t, q, v: q[0] - 1.0, reset=lambda t, q, v: (q + 1.0, -v), name="up")).happens(run)
    assert (higher.q.tolist(), higher.v.tolist(), higher.end) == ([2.0], [-0.5], "")
    assert run.told == [("high", "event", [0.5]), ("up", "event", [-0.5])]


def test_a_reset_that_lifts_a_joint_off_its_stop_lets_it_fall():
    """What rests at a stop is decided anew after a reset: a joint that is lifted does not stay where it is."""
    lift = gs.Event(lambda t, q, v: t - 0.5, reset=lambda t, q, v: (q + 1.0, v), name="lift")
    run = gs.simulate(falling(), q0=[0.0], t_end=0.8, events=[gs.JointLimits(), lift], rtol=1e-10, atol=1e-12)
    assert run.q[-1, 0] == pytest.approx(1.0 - 0.5 * G * 0.3**2, abs=1e-9)
