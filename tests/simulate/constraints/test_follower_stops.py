"""Joints that follow others, through gears and cams, bounce and stop at their own limits."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.constrained.constraint import LOWER, UPPER, constraints
from gyrostat.simulate.methods import METHODS

ACCURATE = {"rtol": 1e-11, "atol": 1e-12}
RATIO, OFFSET = -2.5, 0.02


def pair(leader=None, follower=None, ratio=RATIO, offset=OFFSET):
    """Two masses on vertical rails; the second follows: y = ratio x + offset."""
    rails = [
        gs.chain("world", gs.Joint(name, "prismatic", axis="z", **limits), gs.RigidBody(f"{name}_mass", mass=mass))
        for name, limits, mass in (("lead", leader or {}, 2.0), ("follow", follower or {}, 0.3))
    ]
    gear = gs.Gear("gear", ratio, offset=offset)
    return gs.assemble(
        "pair", *rails, gear, gs.connect("follow.shaft", "gear.motor"), gs.connect("lead.shaft", "gear.joint")
    )


def yoke(**limits):
    """A crank of 0.1 m lifts a valve: z = 0.1 cos(q)."""
    return gs.assemble(
        "yoke",
        gs.chain(
            "world", gs.Joint("crank", "revolute", axis="y"), gs.RigidBody("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
        ),
        gs.chain("world", gs.Joint("lift", "prismatic", axis="z", **limits), gs.RigidBody("valve", mass=2.0)),
        gs.ScotchYoke("slot", 0.1),
        gs.connect("crank.shaft", "slot.driver"),
        gs.connect("lift.shaft", "slot.follower"),
    )


def differential(**limits):
    """z = x + y: a third mass follows two others."""
    rails = [
        gs.chain("world", gs.Joint(name, "prismatic", axis="z", **own), gs.RigidBody(f"{name}_mass", mass=mass))
        for name, own, mass in (("x", {}, 1.0), ("y", {}, 2.0), ("z", limits, 3.0))
    ]
    links = {"joint1": "x.shaft", "joint2": "y.shaft", "motor1": "z.shaft", "motor2": "wheel"}
    return gs.assemble(
        "three",
        *rails,
        gs.Gear("tie", [[1.0, 1.0], [1.0, -1.0]]),
        gs.RotorInertia("wheel", inertia=0.5),
        *(gs.connect(other, f"tie.{port}") for port, other in links.items()),
    )


def of_follower(x):
    return RATIO * x + OFFSET


def rows(model):
    return constraints.of(gs.JointLimits(), model)


def energies(run):
    """Of the yoke: 0.1 kg m^2, and 2 kg that move 0.1 sin(q) per rad."""
    q, v = run.q[:, 0], run.v[:, 0]
    return 0.5 * (0.1 + 2.0 * (0.1 * np.sin(q)) ** 2) * v**2 + 2.0 * 9.81 * 0.1 * np.cos(q)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_gear_follower_stops_where_its_leader_would(restitution):
    behind = pair(leader={"lower": -5.0}, follower={"upper": of_follower(-0.4)})
    ahead = pair(leader={"lower": -0.4})
    settings = {"q0": [1.0], "t_end": 8.0, "t_eval": np.linspace(0.0, 8.0, 101), **ACCURATE}
    run = gs.simulate(behind, events=gs.JointLimits(restitution, rest=1e-3 * abs(RATIO)), **settings)
    same = gs.simulate(ahead, events=gs.JointLimits(restitution, rest=1e-3), **settings)
    assert np.abs(run.q - same.q).max() < 1e-9
    assert np.abs(run.v - same.v).max() < 1e-9
    assert {(e.name, e.kind) for e in run.events} == {("follow", "upper")}
    assert {(e.name, e.kind) for e in same.events} == {("lead", "lower")}
    assert [e.t for e in run.events] == pytest.approx([e.t for e in same.events], abs=1e-9)
    assert run.q[-1, 0] == pytest.approx(-0.4, abs=1e-9)


def test_a_resting_follower_is_released_when_it_is_pulled_away():
    model = pair(follower={"upper": of_follower(-0.4)})
    push = lambda t, q, v: np.array([5.0 * t])  # noqa: E731
    run = gs.simulate(model, push, q0=[0.0], t_end=4.0, events=gs.JointLimits(), rtol=1e-9)
    assert [(e.name, e.kind) for e in run.events] == [("follow", "upper"), ("follow", "release")]
    assert run.q[-1, 0] > -0.4


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0])
def test_a_scotch_yoke_stays_within_the_limits_of_its_follower(restitution):
    model = yoke(lower=-0.05, upper=0.09)
    run = gs.simulate(
        model, q0=[1.2], v0=[8.0], t_end=4.0, events=gs.JointLimits(restitution), max_step=0.02, **ACCURATE
    )
    lift = 0.1 * np.cos(run.q[:, 0])
    assert lift.min() > -0.05 - 1e-9
    assert lift.max() < 0.09 + 1e-9
    assert run.events[0].kind == "lower" and {e.name for e in run.events} == {"lift"}
    if restitution == 0.0:
        assert lift[-1] == pytest.approx(-0.05, abs=1e-9)
        assert run.v[-1, 0] == 0.0
    if restitution == 1.0:
        assert {e.kind for e in run.events} == {"lower", "upper"}
        total = energies(run)
        assert np.abs(total - total[0]).max() < 1e-8


def test_bias_and_jacobian_of_a_cam_follower_are_derivatives():
    stops, q, v, h = rows(yoke(lower=-0.05, upper=0.09)), np.array([0.7]), np.array([1.3]), 1e-6
    assert stops.side.tolist() == [LOWER, UPPER]
    ahead, behind = stops.residual(np.array([q + h * v, q - h * v]))
    assert stops.jacobian(q) @ v == pytest.approx((ahead - behind) / (2.0 * h), abs=1e-9)
    slope = (stops.jacobian(q + h * v) - stops.jacobian(q - h * v)) / (2.0 * h)
    assert stops.bias(q, v) == pytest.approx(slope @ v, abs=1e-9)


@pytest.mark.parametrize("start", [0.0, np.pi])
def test_a_limit_at_the_dead_centre_holds_nothing(start):
    limited, free = yoke(lower=-0.1, upper=0.1), yoke()
    settings = {"q0": [start], "t_end": 2.0, "t_eval": [1.0, 2.0], **ACCURATE}
    push = lambda t, q, v: np.array([0.5])  # noqa: E731
    run, same = gs.simulate(limited, push, events=gs.JointLimits(), **settings), gs.simulate(free, push, **settings)
    assert np.abs(run.q - same.q).max() < 1e-9
    assert not run.events


@pytest.mark.parametrize("model, q0, said", [
    (yoke(lower=-0.05, upper=0.09), 0.1, r"q0 of 'lift' is 0\.0995\d*, beyond its limits -0\.05 to 0\.09"),
    (pair(follower={"upper": 0.5}), -1.0, r"q0 of 'follow' is 2\.52, beyond its limits -inf to 0\.5"),
])  # fmt: skip
def test_a_start_beyond_the_limit_of_a_follower_is_refused(model, q0, said):
    with pytest.raises(gs.StateError, match=said):
        gs.simulate(model, q0=[q0], t_end=1.0, events=gs.JointLimits())


def test_limits_that_the_leader_implies_give_no_rows():
    ends = sorted(of_follower(x) for x in (-0.4, 1.5))
    plain = pair(leader={"lower": -0.4, "upper": 1.5})
    for follower in ({"lower": ends[0], "upper": ends[1]}, {"lower": ends[0] - 1.0, "upper": ends[1] * (1.0 + 1e-12)}):
        model = pair(leader={"lower": -0.4, "upper": 1.5}, follower=follower)
        assert rows(model).names == rows(plain).names == ("lead", "lead")
        runs = [gs.simulate(m, q0=[1.0], t_end=2.0, events=gs.JointLimits(0.5)) for m in (model, plain)]
        assert np.array_equal(runs[0].t, runs[1].t)
        assert np.array_equal(runs[0].q, runs[1].q)
        assert np.array_equal(runs[0].v, runs[1].v)


def test_one_stricter_side_gives_one_row():
    stops = rows(pair(leader={"lower": -0.4, "upper": 1.5}, follower={"lower": -1.0, "upper": 5.0}))
    assert stops.names == ("lead", "lead", "follow")
    assert stops.side.tolist() == [LOWER, UPPER, LOWER]
    assert stops.jacobian.tolist() == [[1.0], [1.0], [RATIO]]
    assert stops.residual(np.zeros((2, 3, 1))).shape == (2, 3, 3)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_follower_of_two_joints_comes_to_rest_while_these_move_on(restitution):
    model = differential(lower=-0.6)
    run = gs.simulate(model, q0=[0.3, 0.1], v0=[1.0, 0.0], t_end=6.0, events=gs.JointLimits(restitution), **ACCURATE)
    z = run.q.sum(axis=1)
    assert {(e.name, e.kind) for e in run.events} == {("z", "lower")}
    assert len(run.events) == 1 if restitution == 0.0 else 5 < len(run.events) < 30
    assert z.min() > -0.6 - 1e-9
    assert z[-1] == pytest.approx(-0.6, abs=1e-8)
    assert np.abs(run.v[-1]).min() > 0.1


def test_followers_that_stop_at_one_place_are_one_stop():
    rails = [
        gs.chain("world", gs.Joint(name, "prismatic", axis="z", **own), gs.RigidBody(f"{name}_mass", mass=1.0))
        for name, own in (("a", {}), ("b", {"lower": -1.0}), ("c", {"lower": -1.0}), ("d", {"lower": -0.5}))
    ]
    gears = [gs.Gear(f"{name}_gear", 1.0) for name in "bcd"]
    links = [link for name in "bcd" for link in (gs.connect(f"{name}.shaft", f"{name}_gear.motor"),
                                                 gs.connect("a.shaft", f"{name}_gear.joint"))]  # fmt: skip
    model = gs.assemble("four", *rails, *gears, *links)
    assert rows(model).names == ("b", "d")
    run = gs.simulate(model, q0=[0.0], t_end=1.0, events=gs.JointLimits())
    assert [(e.name, e.kind) for e in run.events] == [("d", "lower")]
    assert run.q[-1, 0] == -0.5


@pytest.mark.parametrize("method", METHODS)
def test_a_follower_stops_with_every_method(method):
    crank = gs.Joint("crank", "revolute", axis="y"), gs.RigidBody("wheel", mass=1.0, inertia=(0.1, 0.1, 0.1))
    lift = gs.Joint("lift", "prismatic", axis="z", lower=-0.05, upper=0.09), gs.RigidBody("valve", mass=2.0)
    ends = gs.connect("crank.shaft", "yoke.driver"), gs.connect("lift.shaft", "yoke.follower")
    chains = gs.chain("world", *crank), gs.chain("world", *lift)
    model = gs.assemble("engine", *chains, gs.ScotchYoke("yoke", radius=0.1), *ends)
    steps = {"rtol": 1e-8, "atol": 1e-10} if METHODS[method].adaptive else {"dt": 1e-3}
    run = gs.simulate(model, q0=[1.2], t_end=0.8, method=method, events=gs.JointLimits(restitution=0.5), **steps)
    if METHODS[method].treats_contacts:  # an impulse within a step, no event
        turned = run.t[1:-1][np.diff(np.sign(run.v[1:, 0])) != 0][0]
        assert turned == pytest.approx(0.335514, abs=2e-3)
        assert (0.1 * np.cos(run.q[:, 0])).min() > -0.05 - 1e-5
        return
    near = 1e-3 if method == "semi-implicit-euler" else 2e-6
    assert run.events[0].name == "lift" and run.events[0].t == pytest.approx(0.335514, abs=near)
    assert (0.1 * np.cos(run.q[:, 0])).min() > -0.05 - 1e-8
