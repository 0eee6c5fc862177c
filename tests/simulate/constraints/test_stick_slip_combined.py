"""Dry friction of several joints, with stops, events, digital laws, springs and free bodies."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.constraints.dry_friction import DryFriction
from tests.support.stick_slip_models import ACCURATE, arm, block, times, told


# ------------------------------------------------------------------------------------------------ several at once
@pytest.mark.parametrize(("sizes", "moves"), [((100, 100), ()), ((2, 100), (0,)), ((100, 1), (1,)), ((2, 0.5), (0, 1))])
def test_joints_stick_and_slip_together(sizes, moves):
    run = gs.simulate(arm(*sizes), q0=[0.5, 0.3], t_end=3.0, rtol=1e-8)
    assert {j for j in (0, 1) if np.ptp(run.q[:, j])} == set(moves)
    np.testing.assert_array_equal(run.v[-1], 0.0)
    weight = gs.gravity(gs.robots.two_link(), run.q[-1])
    assert np.all(np.abs(weight) <= sizes)
    assert run.counters.steps < 400


def test_exact_friction_is_the_limit_of_steep_smooth_friction():
    exact = gs.simulate(arm(), q0=[0.5, 0.3], t_end=1.2, **ACCURATE).q[-1]
    widths = np.array([4e-3, 2e-3, 1e-3])
    off = [
        np.linalg.norm(gs.simulate(arm(smooth=x), q0=[0.5, 0.3], t_end=1.2, method="radau", rtol=1e-7).q[-1] - exact)
        for x in widths
    ]
    assert np.polyfit(np.log(widths), np.log(off), 1)[0] == pytest.approx(1.0, abs=0.1)


def obeys_coulomb(run, model, near):
    """Friction of every sample, from the equations of motion: within limits, and full against what moves."""
    dry = DryFriction.of(model)
    assert all(len(np.flatnonzero(group.row)) == 1 for group in dry.groups)
    for q, v, a, tau in zip(run.q, run.v, run.a, run.tau, strict=True):
        f = gs.rnea(dry.smooth, q, v, a) - tau
        for group in dry.groups:
            (k,) = np.flatnonzero(group.row)
            effort, (low, high) = f[k] / group.row[k], group.limits
            assert low - near <= effort <= high + near
            w = group.row[k] * v[k]
            if abs(w) > 1e-9:
                assert effort == pytest.approx(low if w > 0.0 else high, abs=near)


def test_a_robot_of_six_joints_obeys_coulomb_everywhere():
    model = gs.robots.puma560()

    def law(t, q, v):
        return np.array([40.0, 60.0, 20.0, 3.0, 2.0, 1.5]) * np.sin(np.array([3.0, 2.5, 4.0, 7.0, 6.0, 9.0]) * t)

    run = gs.simulate(model, law, t_end=1.5, rtol=1e-8)
    names = {e.name for e in run.events}
    assert len(names) == 6 and {e.kind for e in run.events} == {"stick", "slip"} and len(run.events) > 20
    assert run.counters.steps < 1500
    obeys_coulomb(run, model, 1e-8)


@pytest.mark.parametrize("second", [1.0, -1.0])
def test_two_blocks_that_do_all_at_the_same_time_are_told_both(second):
    rails = [
        gs.chain("world", gs.Joint(f"x{k}", "prismatic", axis="x"), gs.RigidBody(f"b{k}", mass=1.0)) for k in (1, 2)
    ]
    rubs = [gs.Friction(f"f{k}", coulomb=1.0) for k in (1, 2)]
    model = gs.assemble("two", *rails, *rubs, *(gs.connect(f"x{k}.shaft", f"f{k}") for k in (1, 2)))
    run = gs.simulate(model, lambda t, q, v: 1.5 * np.sin(3.0 * t) * np.array([1.0, second]), t_end=5.0)
    first, other = ([(e.kind, e.t) for e in run.events if e.name == name] for name in ("f1", "f2"))
    assert {kind for kind, _ in first} == {"stick", "slip"} and [x for x, _ in first] == [x for x, _ in other]
    np.testing.assert_allclose([t for _, t in first], [t for _, t in other], atol=1e-10)
    np.testing.assert_allclose(run.q[:, 1], second * run.q[:, 0], atol=1e-10)


def test_rows_in_a_gearbox_and_at_the_joint_are_one_friction():
    """On the motor's side, behind a gear of -100, as at the joint."""
    plain = gs.robots.two_link()
    elbow = plain.dofs[1]
    drive = {"rotor_inertia": 1e-4, "gear_ratio": -100.0}
    motor = plain.with_drive(elbow, coulomb=(0.01, 0.008), friction_at="motor", **drive)
    joint = plain.with_drive(elbow, coulomb=(0.8, 1.0), **drive)  # turns the other way
    law = lambda t, q, v: np.array([0.0 * t, 3.0 * np.sin(4.0 * t)])  # noqa: E731
    runs = [gs.simulate(x, law, q0=[0.8, 0.3], t_end=2.0, rtol=1e-9) for x in (motor, joint)]
    assert [e.kind for e in runs[0].events] == [e.kind for e in runs[1].events] and len(runs[0].events) > 2
    np.testing.assert_allclose(runs[0].q[-1], runs[1].q[-1], atol=1e-11)
    np.testing.assert_allclose([e.t for e in runs[0].events], [e.t for e in runs[1].events], atol=1e-11)


def test_two_frictions_on_one_shaft_are_told_both():
    slide = gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("block", mass=1.0))
    rotor = [gs.Gear("gear", -10.0), gs.RotorInertia("rotor", inertia=0.01), gs.Friction("behind", coulomb=(0.1, 0.2))]
    wires = gs.connect("x.shaft", "gear.joint", "own"), gs.connect("rotor", "gear.motor", "behind")
    model = gs.assemble("both", slide, *rotor, gs.Friction("own", coulomb=(1.0, 0.4)), *wires)
    run = gs.simulate(model, lambda t, q, v: 4.0 * t + 0.0 * q, t_end=1.0, rtol=1e-9)  # 1 + 10 * 0.2 forwards
    assert sorted(told(run)) == [("slip", "behind"), ("slip", "own")]
    np.testing.assert_allclose(times(run, "slip"), 0.75, atol=1e-9)
    assert run.a[-1, 0] == pytest.approx((4.0 - 3.0) / 2.0, abs=1e-9)


def test_frictions_that_hold_each_other_give_way_at_their_common_limit():
    """A differential: friction at both motors and at both joints, four of them on two rates. Roll gives way at the sum
    of its own friction and that of both motors, pitch likewise."""
    for pitch, roll in ((1.0, 0.0), (0.0, 1.0)):
        run = gs.simulate(wrist(), lambda t, q, v, p=pitch, r=roll: np.array([p * t, r * t]), t_end=0.5, rtol=1e-9)
        own = 0.05 * pitch + 0.02 * roll
        assert times(run, "slip") == pytest.approx([own + 2 * 40 * 0.002] * 3, abs=1e-9)
        assert {e.name for e in run.events} == {"left_rub", "right_rub", "pitch_rub" if pitch else "roll_rub"}
        assert np.ptp(run.q[:, 1 if pitch else 0]) < 1e-20


def wrist(smooth=None):
    """Without gravity."""
    sizes = {"left": 0.002, "right": 0.002, "pitch": 0.05, "roll": 0.02}
    rubs = [
        gs.Friction(f"{name}_rub", coulomb=size, smooth=smooth and smooth * (40 if size < 0.01 else 1))
        for name, size in sizes.items()
    ]
    links = gs.chain(
        "world",
        gs.Joint("pitch", "revolute", axis="y"),
        gs.RigidBody("cross", mass=0.2, inertia=(1e-3, 1e-3, 1e-3)),
        gs.Joint("roll", "revolute", axis="x"),
        gs.RigidBody("hand", mass=0.3, inertia=(1e-3, 2e-3, 2e-3)),
    )
    return gs.assemble(
        "wrist",
        links,
        *(gs.RotorInertia(name, inertia=1e-5) for name in ("left", "right")),
        gs.Gear("bevel", [[40, 40], [40, -40]]),
        *rubs,
        gs.connect("pitch.shaft", "bevel.joint1", "pitch_rub"),
        gs.connect("roll.shaft", "bevel.joint2", "roll_rub"),
        gs.connect("left", "bevel.motor1", "left_rub"),
        gs.connect("right", "bevel.motor2", "right_rub"),
        gravity=(0, 0, 0),
    )


def test_a_differential_with_four_frictions_moves_as_with_smooth_ones():
    law = lambda t, q, v: np.array([0.4 * np.sin(6 * t), 0.3 * np.cos(9 * t)])  # noqa: E731
    exact = gs.simulate(wrist(), law, t_end=1.5, rtol=1e-9)
    smooth = gs.simulate(wrist(1e-4), law, t_end=1.5, method="radau", rtol=1e-7)
    assert {e.kind for e in exact.events} == {"stick", "slip"} and len(exact.events) > 6
    np.testing.assert_allclose(exact.q[-1], smooth.q[-1], atol=5e-4)


# ------------------------------------------------------------------------------------------------ with everything else
def elastic():
    """A rotor with friction behind a spring."""
    return gs.robots.pendulum().with_drive(
        "hinge", rotor_inertia=1e-4, gear_ratio=100.0, stiffness=500.0, damping=1.0, coulomb=0.02, friction_at="motor"
    )


@pytest.mark.parametrize(
    ("method", "options"), [("dopri5", {}), ("radau", {}), ("newmark", {"dt": 1e-3}), ("dina", {"dt": 1e-3})]
)
def test_a_rotor_behind_a_spring_sticks_until_the_spring_breaks_it_loose(method, options):
    """The motor's torque rises by 1 N m/s: the rotor holds the weight of nothing, and gives way at 0.02 N m."""
    model = elastic()
    run = gs.simulate(model, lambda t, q, v: np.array([0.0 * t, t]), t_end=0.06, method=method, **options)
    assert run.events[0].kind == "slip" and run.events[0].name == "hinge_drive.friction"
    assert run.events[0].t == pytest.approx(0.02, abs=1e-9)
    before = run.t < 0.02
    assert np.all(run.v[before] == 0.0) and run.v[-1, 1] > 0.1


def test_a_load_swings_on_its_spring_while_the_rotor_sticks():
    model = elastic().replace({"hinge_drive.friction.coulomb": 10.0})
    run = gs.simulate(model, q0=[0.01, 0.0], t_end=1.0, rtol=1e-9)
    fixed = gs.simulate(gs.robots.pendulum(), lambda t, q, v: -500.0 * q - 1.0 * v, q0=[0.01], t_end=1.0, rtol=1e-9)
    assert np.ptp(run.q[:, 1]) == 0.0
    assert run.q[-1, 0] == pytest.approx(fixed.q[-1, 0], abs=1e-8)


PUSHED = [("slip", "rub"), ("upper", "x"), ("release", "x"), ("stick", "rub"), ("slip", "rub"), ("lower", "x")]


@pytest.mark.parametrize(
    ("method", "options"),
    [("dopri5", {"rtol": 1e-9}), ("bdf", {}), ("rk4", {"dt": 5e-3}), ("newmark", {"dt": 5e-3}), ("dina", {"dt": 5e-3})],
)
def test_a_joint_at_a_stop_sticks_there_before_it_leaves(method, options):
    """The stop lets go when the force does, friction when the force is 1 N the other way."""
    model = block(coulomb=1.0, joint={"lower": -0.1, "upper": 0.1})
    run = gs.simulate(
        model,
        lambda t, q, v: 3.0 * np.sin(2.0 * t) + 0.0 * q,
        t_end=2.5,
        events=gs.JointLimits(),
        method=method,
        **options,
    )
    assert told(run) == PUSHED
    lag = 0.5 * np.arcsin(1.0 / 3.0)
    for k, want in ((0, lag), (2, np.pi / 2), (3, np.pi / 2), (4, np.pi / 2 + lag)):
        assert run.events[k].t == pytest.approx(want, abs=1e-9)
    there = (run.t > 0.7) & (run.t < np.pi / 2 + lag)
    np.testing.assert_allclose(run.q[there], 0.1, atol=1e-16, rtol=0)
    assert np.abs(run.q).max() <= 0.1


def test_a_bounce_against_friction_turns_and_comes_back():
    model = block(coulomb=1.0, joint={"upper": 0.0})
    run = gs.simulate(model, [2.0], q0=[-0.5], t_end=3.0, events=gs.JointLimits(0.5), **ACCURATE)
    hit = times(run, "upper")
    assert hit[0] == pytest.approx(1.0, abs=1e-9)  # at 1 m/s
    assert times(run, "slip")[0] == pytest.approx(1.0 + 0.5 / 3.0, abs=1e-9)  # turns after 3 m/s^2
    assert hit[1] == pytest.approx(1.0 + 0.5 / 3.0 + np.sqrt(0.25 / 3.0), abs=1e-9)
    assert run.q[-1, 0] == 0.0 and run.v[-1, 0] == 0.0


def test_an_impact_shakes_loose_what_sticks():
    """Friction of a finite size resists no impulse."""
    model = arm(0.0, 3.0).replace({"shoulder.upper": 0.3})
    run = gs.simulate(model, q0=[0.0, 0.2], v0=[4.0, 0.0], t_end=0.3, events=gs.JointLimits(0.6), rtol=1e-9)
    hit = next(e for e in run.events if e.kind == "upper")
    slip = next(e for e in run.events if e.kind == "slip")
    assert slip.t == hit.t and slip.name == "elbow_drive.friction" and hit.v[1] == 0.0
    impulse = gs.crba(model, hit.q) @ (hit.v_after - hit.v)
    assert abs(impulse[1]) < 1e-12 < abs(impulse[0])


def test_a_kick_makes_it_slip_and_it_stops_again():
    kick = gs.Event(lambda t, q, v: t - 0.3, reset=lambda t, q, v: (q, v + 1.0), name="kick")
    run = gs.simulate(block(coulomb=2.0), t_end=2.0, events=kick)
    assert told(run) == [("event", "kick"), ("slip", "rub"), ("stick", "rub")]
    assert run.events[-1].t == pytest.approx(0.8, abs=1e-9) and run.q[-1, 0] == pytest.approx(0.25, abs=1e-9)


@pytest.mark.parametrize(("before", "after", "want"), [(1.0, 0.2, 0.15), (1.0, 0.0, 0.25), (0.0, 1.0, 0.045)])
def test_friction_may_change_at_an_event(before, after, want):
    new = block(coulomb=after)
    oil = gs.Event(lambda t, q, v: t - 0.3, reset=lambda t, q, v: (new, q, v), name="oil")
    run = gs.simulate(block(coulomb=before), [0.5], t_end=1.3, events=oil)
    assert run.q[-1, 0] == pytest.approx(want, abs=1e-9)
    assert run.model["rub.coulomb"] == before and run.phases[1][1]["rub.coulomb"] == after


class Stairs:
    """A digital law: twice the time of the last sample, 0.1 s apart; with a state of its own."""

    memory, states, sample_time = 1, 1, 0.1

    def output(self, t, x, p, m):
        return {"tau": m * 1.0}

    def derivative(self, t, x, p, m):
        return -p + m

    def update(self, t, x, p, m):
        return np.array([2.0 * round(t, 9)])


@pytest.mark.parametrize(("method", "options"), [("dopri5", {}), ("radau", {}), ("newmark", {"dt": 1e-2})])
def test_a_digital_law_breaks_it_loose_at_a_sample(method, options):
    run = gs.simulate(block(coulomb=1.05), Stairs(), t_end=1.0, method=method, **options)
    assert told(run) == [("slip", "rub")] and run.events[0].t == pytest.approx(0.6, abs=1e-12)
    steps = np.array([1.2, 1.4, 1.6, 1.8]) - 1.05
    assert run.v[-1, 0] == pytest.approx(0.1 * steps.sum(), abs=1e-9)


def test_a_python_law_that_jumps_is_seen():
    run = gs.simulate(block(coulomb=1.0), lambda t, q, v: [2.0 if t > 0.5 else 0.0], t_end=1.0, compiled=False)
    assert run.events[0].t == pytest.approx(0.5, abs=1e-9) and not run.counters.compiled
    assert run.v[-1, 0] == pytest.approx(0.5, abs=1e-8)


@pytest.mark.parametrize(("method", "options"), [("dopri5", {"rtol": 1e-9}), ("generalised-alpha", {"dt": 2e-2})])
def test_a_wheel_on_a_free_body_comes_to_rest_against_it(method, options):
    hub, rim = (gs.RigidBody(name, mass=1.0, inertia=(0.4, 0.4, size)) for name, size in (("hub", 0.8), ("rim", 0.2)))
    model = gs.assemble(
        "satellite",
        gs.chain("world", gs.Joint("base", "free"), hub, gs.Joint("wheel", "revolute", axis="z"), rim),
        gs.Friction("rub", coulomb=0.04),
        gs.connect("wheel.shaft", "rub"),
        gravity=(0, 0, 0),
    )
    run = gs.simulate(model, v0=[0, 0, 0, 0, 0, 0, 1.0], t_end=6.0, method=method, **options)
    assert told(run) == [("stick", "rub")] and run.events[0].t == pytest.approx(0.16 / 0.04, abs=1e-9)
    assert run.v[-1, 2] == pytest.approx(0.2, abs=1e-9) and run.v[-1, 6] == 0.0
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:7], axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize(("method", "options"), [("dopri5", {"rtol": 1e-9}), ("radau", {}), ("newmark", {"dt": 2e-3})])
def test_a_block_on_a_shaken_table_slides_when_the_table_is_too_fast(method, options):
    """The table moves as 0.1 sin(2 pi t): the block of 1 kg gives way where 0.1 (2 pi)^2 sin(2 pi t) = 0.5."""
    model = gs.assemble(
        "shaken",
        gs.chain("world", gs.Joint("x", "prismatic", axis="x", upper=0.01), gs.RigidBody("block", mass=1.0)),
        gs.Friction("rub", coulomb=0.5),
        gs.connect("x.shaft", "rub"),
        base=gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=1.0),
    )
    run = gs.simulate(model, t_end=0.6, events=gs.JointLimits(), method=method, **options)
    w = 2.0 * np.pi
    assert told(run)[:2] == [("slip", "rub"), ("upper", "x")]
    assert run.events[0].t == pytest.approx(np.arcsin(0.5 / 0.1 / w**2) / w, abs=1e-8)
    assert run.q.max() == 0.01
