"""Achievable motion against brute force, its promises, and its report."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.engine.llvm.loop import Loop
from gyrostat.studies.achievable import cycle_loop
from tests.support.achievable_models import Drive, Machine, limited, machine, programme, reference

DT = 0.01
KEEP = ("accelerations", "torques")


def agrees(m, solver, found, path, wrenches=None, tolerance=1e-9, guess=False):
    """Every cycle is what brute force makes of the same state; ``guess``: brute force need not look for the set."""
    v_p = np.diff(path, axis=0) / solver.dt
    for k in range(len(found.a)):
        given = None if wrenches is None else {port: np.broadcast_to(w, (len(found.a), 6))[k]
                                               for port, w in wrenches.items()}  # fmt: skip
        asked = v_p[k + 1] + solver.catch_up * (path[k + 1] - found.q[k] - found.v[k] * solver.dt)
        guesses = [found.cut[k]] if guess else None
        v, a, u, cut, slowed, stopped = reference(m, solver, found.q[k], found.v[k], asked, given, guesses)
        size = 1.0 + np.abs(a).max()
        assert np.abs(a - found.a[k]).max() < tolerance * size, k
        assert np.abs(v - found.v[k + 1]).max() < tolerance * size * solver.dt + 1e-12, k
        assert np.abs(u - found.u[k]).max() < tolerance * (1.0 + np.abs(u).max()), k
        assert list(cut) == found.cut[k].tolist(), k
        assert slowed.tolist() == found.slowed[k].tolist(), k
        assert stopped.tolist() == found.stopped[k].tolist(), k
        assert np.allclose(found.q[k + 1], found.q[k] + found.v[k] * solver.dt, rtol=0, atol=1e-13)


def case(seed, keep="accelerations", joints=None, steps=40, **options):
    m = machine(seed, joints, passive=options.pop("passive", True))
    path = programme(seed, m.model.nv, steps, DT)
    m = limited(seed, m, path, DT, motion=options.pop("motion", True), share=options.pop("share", (0.3, 1.1)))
    return m, gs.AchievableMotion(m.model, DT, keep, passive=m.passive, **options), path


def within(m, solver, found):
    """Torques are within their limits, and where something is cut it is at its limit."""
    drives, w = [m.drives[name] for name in solver.actuators], found.v[:-1] @ solver.motor_map.T
    for i, drive in enumerate(drives):
        low, high = np.array([drive.bounds(x) for x in w[:, i]]).T
        slack = 1e-12 * (1.0 + high)
        assert np.all(found.u[:, i] <= high + slack)
        assert np.all(found.u[:, i] >= low - slack)
        at = np.where(found.cut[:, i] > 0, high, np.where(found.cut[:, i] < 0, low, found.u[:, i]))
        assert np.allclose(found.u[:, i], at, rtol=1e-12, atol=1e-12)
    return np.any(found.cut != 0, axis=1)


# ------------------------------------------------------------------ against brute force
@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("seed", [0, 1, 3])
def test_random_machines_do_what_brute_force_does(seed, keep):
    m, solver, path = case(seed, keep)
    found = solver(path)
    agrees(m, solver, found, path)
    assert within(m, solver, found).any()


@pytest.mark.slow
@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("seed", range(4, 40))
def test_many_random_machines_do_what_brute_force_does(seed, keep):
    m, solver, path = case(seed, keep)
    found = solver(path)
    agrees(m, solver, found, path)
    within(m, solver, found)


@pytest.mark.parametrize("keep", KEEP)
def test_wrenches_constant_and_cycle_by_cycle(keep):
    m, solver, path = case(3, keep, steps=20)
    rng = np.random.default_rng(0)
    wrenches = {"body0": rng.normal(size=6) * 5, "body2.tip": rng.normal(size=(19, 6)) * 5}
    found = solver(path, wrenches=wrenches)
    agrees(m, solver, found, path, wrenches)
    assert not np.allclose(found.a, solver(path).a)
    # the forces that really occur are those of inverse dynamics with these wrenches
    want = gs.InverseDynamics(m.model).port_forces(found.q[:-2], found.v[:-1], found.a, wrenches)
    got = found.forces(["joint1.a", "body0"])
    assert set(got) == {"joint1.a", "body0.origin"}
    assert np.allclose(got["joint1.a"], want["joint1.a"], rtol=1e-12)
    tau = gs.InverseDynamics(m.model)(found.q[:-2], found.v[:-1], found.a, wrenches)
    assert np.allclose(tau, found.u @ solver.motor_map, atol=1e-8 * np.abs(tau).max())


def cascade(n=12):
    """A carriage with n - 1 slides on it, and limits such that cutting one torque drives the next one over its limit:
    each limit is put between what a torque was before and what it is after the cut. When the carriage falls behind,
    slides that push against it must push more; when one cannot, the carriage falls behind more."""
    joints = [gs.Joint(f"joint{k}", "prismatic", axis="x") for k in range(n)]
    masses = [1.0, *(40.0 * 0.7**k for k in range(n - 1))]
    bodies = [gs.RigidBody(f"body{k}", mass=m, inertia=(1, 1, 1)) for k, m in enumerate(masses)]
    parts = [gs.chain("body0" if k else "world", j, b) for k, (j, b) in enumerate(zip(joints, bodies, strict=True))]
    model = gs.assemble("cascade", *parts)
    H, bias = gs.ActuatorDynamics(model, mode="interpret")(np.zeros(n), np.zeros(n))
    a = np.array([300.0, *np.full(n - 1, -301.0)])
    u = needed = H @ a + bias
    most, limit = np.abs(needed), np.zeros(n)
    for k in range(n):
        limit[k] = 0.5 * (most[k] + abs(u[k])) if k else 0.9 * most[k]
        assert abs(u[k]) > limit[k] * (1 + 1e-9)
        most = np.maximum(most, np.abs(u))
        held, x = slice(0, k + 1), np.zeros(n)
        x[held] = np.linalg.solve(H[held, held], (np.sign(needed) * limit - needed)[held])
        u = needed + H @ x
    model = model.replace({f"joint{k}.effort_limit": float(x) for k, x in enumerate(limit)})
    drives = {f"joint{k}": Drive(np.eye(n)[k], float(x)) for k, x in enumerate(limit)}
    return Machine(model, drives), np.stack([0 * a, 0 * a, a * DT**2])


def test_more_rounds_than_the_machine_code_has(monkeypatch):
    m, path = cascade()
    solver, apart = gs.AchievableMotion(m.model, DT), []
    once = cycle_loop.CycleLoop._apart
    monkeypatch.setattr(cycle_loop.CycleLoop, "_apart", lambda *x: apart.append(x) or once(*x))
    found = solver(path)
    agrees(m, solver, found, path, guess=True)
    assert np.all(found.cut[0] != 0)
    assert len(apart) == 1
    assert len(solver._cycles.loops) == 3


def test_every_code_path_gives_the_same_motion(monkeypatch):
    """Short code, longer code, cycles one by one, and all interpreted."""
    m, solver, path = case(1, steps=60, motion=False)  # no joint comes to rest, where Coulomb friction is ambiguous
    found = solver(path)
    assert len(solver._cycles.loops) > 1
    for levels in ((8,), (0, 1), (0,)):
        monkeypatch.setattr(cycle_loop, "LEVELS", levels)
        other = gs.AchievableMotion(m.model, DT, passive=m.passive)(path)
        for key in ("q", "v", "a", "u", "cut", "slowed", "stopped"):
            assert np.allclose(getattr(other, key), getattr(found, key), rtol=1e-9, atol=1e-9), (levels, key)
    plain = gs.AchievableMotion(m.model, DT, passive=m.passive, mode="interpret")(path)
    for key in ("q", "v", "a", "u", "cut", "slowed", "stopped"):
        assert np.allclose(getattr(plain, key), getattr(found, key), rtol=1e-9, atol=1e-9), key


@pytest.mark.parametrize("keep", KEEP)
def test_step_by_step_is_the_whole_programme(keep):
    _, solver, path = case(1, keep, catch_up=20.0)
    rng = np.random.default_rng(1)
    wrenches = {"body1": rng.normal(size=(39, 6))}
    found = solver(path, wrenches=wrenches)
    q, v = path[0], (path[1] - path[0]) / DT
    for k in range(39):
        step = solver.step(q, v, path[k + 1], path[k + 2], {"body1": wrenches["body1"][k]})
        for key, got in step._asdict().items():
            want = getattr(found, key)[k + (key in "qv")]
            assert np.allclose(got, want, rtol=1e-12, atol=1e-12), (k, key)
        q, v = step.q, step.v


# ------------------------------------------------------------------ promises
@pytest.mark.parametrize("keep", KEEP)
@pytest.mark.parametrize("seed", range(2))
def test_without_limits_met_it_returns_the_programme(seed, keep):
    _, solver, path = case(seed, keep, passive=False, share=(3.0, 4.0), motion=False, steps=300)
    found = solver(path)
    assert np.abs(found.q - path).max() < 1e-12
    assert np.abs(found.v - np.diff(path, axis=0) / DT).max() < 1e-12
    assert not found.limited.any()
    assert found.report() == []
    assert str(found) == "300 cycles, 3 s: the programme is achievable"


@pytest.mark.parametrize("start", [0.1, 0.3, 1.1])
def test_limits_that_are_touched_but_not_passed_are_not_told(start):
    """A trapezoid at exactly the greatest speed, up to exactly the position limit: one digit beyond both."""
    v = np.concatenate([np.linspace(0, 2.0, 21), np.full(80, 2.0), np.linspace(2.0, 0, 21), np.zeros(20)])
    path = np.concatenate([[start], start + np.cumsum(v) * 0.005])[:, None]
    arm = gs.robots.pendulum()
    (name,) = arm.dofs
    upper, speed = (float(np.nextafter(x, -np.inf)) for x in (path[-1, 0], 2.0))
    arm = arm.replace({f"{name}.velocity_limit": speed, f"{name}.upper": upper, f"{name}.lower": start})
    found = gs.AchievableMotion(arm, 0.005)(path)
    assert np.abs(found.q - path).max() < 1e-12
    assert not found.limited.any()


def balance(keep, dt):
    """Work of the actuators minus losses minus change of energy, relative to the work that was done in all."""
    arm = gs.robots.two_link()
    names = arm.dofs
    for name, N in zip(names, (50.0, -30.0), strict=True):
        arm = arm.with_drive(name, rotor_inertia=2e-4, gear_ratio=N, viscous=0.4, torque_limit=0.2)
    t = np.arange(round(1.5 / dt) + 1) * dt
    path = np.stack([0.8 * np.sin(2.5 * t) ** 2, 0.9 * np.sin(3.0 * t)], axis=1)
    found = gs.AchievableMotion(arm, dt, keep)(path)
    assert 0.05 < found.limited.mean() < 0.95
    v = found.v[:-1]
    work = np.sum(found.u * (v @ found.motor_map.T)) * dt
    loss = np.sum(0.4 * v**2) * dt
    kinetic, potential = gs.KineticEnergy(arm), gs.PotentialEnergy(arm)
    first, last = (kinetic(found.q[k], found.v[k]) + potential(found.q[k]) for k in (0, len(found.v) - 1))
    return (work - loss - (last - first)) / (np.sum(np.abs(found.u * (v @ found.motor_map.T))) * dt)


@pytest.mark.parametrize("keep", KEEP)
def test_the_energy_balance_closes_with_the_first_power_of_dt(keep):
    """Torque and velocity are constant in a cycle, v_next = v + a dt: the energy of a mass m grows by m a v dt, which
    is the work, and by m a^2 dt^2 / 2. What is missing is of second order in each cycle, of first order in all."""
    errors = np.abs([balance(keep, dt) for dt in (4e-3, 2e-3, 1e-3, 5e-4)])
    order = np.log2(errors[:-1] / errors[1:])
    assert errors[-1] < 5e-3
    assert np.all(np.abs(order - 1.0) < 0.06), order


def test_the_report_names_joint_limit_and_time():
    t = np.arange(401) * 0.005
    path = np.stack([1.2 * np.sin(3.0 * t), 0.2 * np.sin(3.0 * t)], axis=1)
    arm = gs.robots.two_link()
    a, b = arm.dofs
    need = np.abs(gs.ActuatorDynamics(arm).torques(path, 3.6 * path, 0 * path)).max()
    arm = arm.replace({f"{a}.effort_limit": float(1e3 * need), f"{b}.velocity_limit": 0.3})
    found = gs.AchievableMotion(arm, 0.005)(path)
    episodes = found.report()
    assert {(e.who, e.limit) for e in episodes} == {(b, "velocity")}
    first = episodes[0]
    # programmed speed 0.6 cos(3 t) sinks to 0.3 at t = pi/9; the first cycle itself is given
    assert first.start == pytest.approx(0.005)
    assert first.end == pytest.approx(np.pi / 9, abs=0.006)
    fast = np.flatnonzero(np.abs(np.diff(path[:, 1]) / 0.005) > 0.3 * (1 + 1e-9))
    held = [k for e in episodes for k in range(round(e.start / 0.005), round(e.end / 0.005))]
    assert held == [k for k in fast if k]
    assert np.abs(found.v[held, 1]) == pytest.approx(0.3)
    assert f"{b}: velocity limit from 0.005 s to" in str(found)
    assert f"{len(held)} of them" in str(found)
    assert first.deviation == pytest.approx(np.abs(found.deviation[:, 1]).max())


def test_a_torque_limit_is_told_with_its_motor_and_the_time():
    arm = gs.robots.pendulum(mass=1.0, length=1.0)
    (joint,) = arm.dofs
    arm = arm.with_drive(joint, rotor_inertia=1e-4, gear_ratio=-20.0, torque_limit=0.15)
    t = np.arange(301) * 0.005
    found = gs.AchievableMotion(arm, 0.005)(0.25 * (1.0 - np.cos(6.0 * t))[:, None])
    assert np.abs(found.u).max() == 0.15
    (start, stop) = found.report()[0].start, found.report()[0].end
    cycles = slice(round(start / 0.005), round(stop / 0.005))
    assert found.report()[0].who == joint
    assert found.report()[0].limit == "torque"
    assert np.all(found.cut[cycles] == found.cut[cycles][0])
    assert np.all(np.abs(found.u[cycles]) == 0.15)
    assert found.cut[cycles.start - 1 : cycles.start].sum() == 0
    assert found.report()[0].deviation > 0.0


def test_a_joint_catches_up():
    m, behind, path = case(5, passive=False, motion=False, share=(0.8, 0.95), steps=100)
    path = np.concatenate([path, np.repeat(path[-1:], 200, axis=0)])
    strong = m.model
    behind = gs.AchievableMotion(strong, DT)(path)
    back = gs.AchievableMotion(strong, DT, catch_up=8.0)(path)
    if np.abs(behind.deviation[-1]).max() < 1e-6:
        pytest.fail("nothing fell behind: take another seed")
    assert np.abs(back.deviation[-1]).max() < 1e-3 * np.abs(back.deviation).max()


# ------------------------------------------------------------------ limits of the motion
def test_motors_that_share_joints_are_slowed_down_together():
    """The faster motor is at its limit, joint rates keep their ratio: none is pushed out of its position limits."""
    wrist = pair(limits=(20.0, 60.0)).replace({"roll.upper": 0.0, "roll.lower": 0.0})
    path = np.stack([np.zeros(60), np.linspace(0, 3.0, 60)], axis=1)
    found = gs.AchievableMotion(wrist, 0.01)(path, v0=[0, 0])
    assert np.abs(found.q[:, 0]).max() == 0.0
    w = found.v[2:] @ found.motor_map.T
    assert np.abs(w[:, 0]).max() == pytest.approx(20.0)
    assert found.slowed[:, 1].any()


def pair(limits=(20.0, 60.0)):
    """A differential: two motors, pitch and roll."""
    a = gs.RigidBody("a", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.01, 0.01))
    b = gs.RigidBody("b", mass=1.0, com=(0.1, 0, 0), inertia=(0.01, 0.02, 0.02))
    parts = gs.chain("world", gs.Joint("roll", "revolute", axis="x"), a, gs.Joint("pitch", "revolute", axis="y"), b)
    gear = gs.Gear("gear", [[10.0, 10.0], [10.0, -10.0]])
    motors = [gs.Motor(f"m{k + 1}", speed_limit=limit) for k, limit in enumerate(limits)]
    links = [gs.connect("roll.shaft", "gear.joint1"), gs.connect("pitch.shaft", "gear.joint2")]
    links += [gs.connect(f"gear.motor{k}", f"m{k}.shaft") for k in (1, 2)]
    return gs.assemble("pair", parts, gear, *motors, *links)


def test_a_joint_outside_its_limits_comes_back_no_faster_than_it_may():
    arm = gs.robots.pendulum()
    (name,) = arm.dofs
    arm = arm.replace({f"{name}.upper": 0.5, f"{name}.lower": -0.5, f"{name}.velocity_limit": 1.0})
    found = gs.AchievableMotion(arm, 0.01)(np.full((200, 1), 1.0))
    assert np.abs(found.v).max() <= 1.0
    assert found.q[-1, 0] == pytest.approx(0.5)


def test_limits_of_a_follower_hold_for_what_it_follows():
    fingers = [gs.RigidBody(f"tip{k}", mass=0.1, com=(0.05, 0, 0), inertia=(1e-4, 1e-4, 1e-4)) for k in (1, 2)]
    joints = [gs.Joint("one", "revolute", axis="z"),
              gs.Joint("two", "revolute", axis="z", lower=-1.0, upper=0.4, velocity_limit=3.0)]  # fmt: skip
    parts = [gs.chain("world", j, b) for j, b in zip(joints, fingers, strict=True)]
    gear = gs.Gear("mimic", ratio=-2.0, offset=0.1)
    hand = gs.assemble(
        "hand", *parts, gear, gs.connect("two.shaft", "mimic.motor"), gs.connect("one.shaft", "mimic.joint")
    )
    limits = gs.AchievableMotion(hand, 0.01).limits
    assert (limits.lower[0], limits.upper[0]) == pytest.approx((-0.15, 0.55))
    assert limits.speed[0] == 1.5
    found = gs.AchievableMotion(hand, 0.01)(np.linspace(0, 2.0, 200)[:, None])
    assert found.q.max() == pytest.approx(0.55)
    narrow = hand.replace({"one.lower": 0.6, "one.upper": 1.0})
    with pytest.raises(gs.StateError, match=r"limits of 'one' and of what follows it leave no room: 0.6 to 0.55"):
        gs.AchievableMotion(narrow, 0.01)(np.zeros((4, 1)))


# ------------------------------------------------------------------ slower
@pytest.mark.parametrize("seed", [1, 3])
def test_slowed_down_the_programme_is_possible_and_just_below_it_is_not(seed):
    m, _, path = case(seed, passive=False, share=(1.1, 1.3), steps=80)
    stiff = m.model.replace({p: None for p in limits_of_position(m.model)})
    weak = gs.AchievableMotion(stiff, DT / 3.0)  # three times as fast as what it can do
    s = weak.slow_down(path)
    assert 1.0 < s < 20.0
    slow, fast = (gs.AchievableMotion(stiff, DT / 3.0 * x)(path) for x in (s * (1 + 1e-8), s * (1 - 1e-4)))
    assert not slow.limited.any()
    assert np.abs(slow.q - path).max() < 1e-12
    assert fast.limited.any() or beyond(fast, stiff)
    assert gs.AchievableMotion(stiff, DT * s).slow_down(path) == 1.0


def beyond(found, model):
    """The velocity of the first cycle is given, so nothing limits it: it alone may be too fast."""
    solver = gs.AchievableMotion(model, DT)
    w = np.abs(found.motor_map @ found.v[0])
    return np.any(w > [a.speed_limit for a in solver._actuators]) or np.any(np.abs(found.v[0]) > solver.limits.speed)


def limits_of_position(model):
    return [f"{j}.{key}" for j in model.dofs for key in ("lower", "upper") if model[f"{j}.{key}"] is not None]


def test_the_smallest_factor_is_found_where_a_greater_one_would_not_do():
    """A mass that is thrown up: slowly, its weight alone is too much; the programme holds it with its own inertia.
    u = m (g + a / s^2), a = -4 m/s^2 throughout: needs s^2 <= 4 / (g - F/m)."""
    lift = gs.assemble("lift", gs.chain("world", gs.Joint("z", "prismatic", axis="z", effort_limit=8.0),
                                        gs.RigidBody("mass", mass=1.0, inertia=(1, 1, 1))))  # fmt: skip
    t = np.arange(50) * 0.01
    path = (3.0 * t - 2.0 * t**2)[:, None]
    solver = gs.AchievableMotion(lift, 0.01)
    assert solver.slow_down(path) == 1.0
    with pytest.raises(gs.StateError, match=r"even 50 times slower the torque of 'z' exceeds its limit.*weight"):
        gs.AchievableMotion(lift.replace({"z.effort_limit": 5.0}), 0.01).slow_down(path, most=50)


def test_slow_down_refuses_what_no_speed_can_help():
    arm = gs.robots.two_link()
    a, b = arm.dofs
    path = np.stack([np.linspace(0, 1, 30)] * 2, axis=1)
    with pytest.raises(gs.StateError, match=f"'{b}' leaves its position limits by 0.5"):
        gs.AchievableMotion(arm.replace({f"{b}.upper": 0.5}), 0.01).slow_down(path)
    with pytest.raises(gs.StateError, match=f"'{b}' is passive"):
        gs.AchievableMotion(arm, 0.01, passive=[b]).slow_down(path)
    with pytest.raises(gs.GyrostatError, match="most must be"):
        gs.AchievableMotion(arm, 0.01).slow_down(path, most=0.5)
    with pytest.raises(gs.StateError, match=f"the torque of '{a}'"):
        gs.AchievableMotion(arm.replace({f"{a}.effort_limit": 1e-3}), 0.01).slow_down(path, most=10)


def test_speed_limits_alone_slow_down_by_their_ratio():
    arm = gs.robots.pendulum()
    (name,) = arm.dofs
    path = np.linspace(0, 1, 51)[:, None]  # 2 rad/s
    assert gs.AchievableMotion(arm.replace({f"{name}.velocity_limit": 0.5}), 0.01).slow_down(path) == pytest.approx(4.0)
    last = np.concatenate([np.zeros(20), [0.03]])[:, None]  # 3 rad/s in the last cycle alone
    assert gs.AchievableMotion(arm.replace({f"{name}.velocity_limit": 1.5}), 0.01).slow_down(last) == pytest.approx(2.0)


# ------------------------------------------------------------------ mistakes
@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"dt": 0.0}, "dt must be a positive time"),
        ({"dt": float("nan")}, "dt must be a positive time"),
        ({"dt": "0.01"}, "dt must be a positive time"),
        ({"keep": "torque"}, "keep must be one of accelerations, torques, got 'torque'"),
        ({"catch_up": 101.0}, "catch_up must be from 0 to 1/dt"),
        ({"passive": ["elbo"]}, "there is no rate 'elbo'"),
    ],
)
def test_wrong_options_are_told(options, words):
    with pytest.raises(gs.GyrostatError, match=words):
        gs.AchievableMotion(gs.robots.two_link(), **({"dt": 0.01} | options))


def test_wrong_programmes_are_told():
    solver = gs.AchievableMotion(gs.robots.two_link(), 0.01)
    good = np.zeros((5, 2))
    with pytest.raises(gs.ShapeError, match=r"the programme has shape \(5, 3\), expected \(3 or more, 2\)"):
        solver(np.zeros((5, 3)))
    with pytest.raises(gs.ShapeError, match=r"shape \(2, 2\)"):
        solver(np.zeros((2, 2)))
    bad = good.copy()
    bad[3, 1] = np.nan
    with pytest.raises(gs.NonFiniteError, match=r"is nan in row 3"):
        solver(bad)
    with pytest.raises(gs.ShapeError, match=r"v0 has shape \(3,\)"):
        solver(good, v0=np.zeros(3))
    with pytest.raises(gs.ShapeError, match=r"a wrench has shape \(2, 6\), expected \(6,\) or \(3, 6\)"):
        solver(good, wrenches={"world": np.zeros((2, 6))})
    with pytest.raises(gs.ShapeError, match=r"a wrench has shape \(1, 6\), expected \(6,\)"):
        solver.step(*np.zeros((4, 2)), wrenches={"world": np.zeros((1, 6))})
    with pytest.raises(gs.ShapeError, match=r"q_after has shape \(3,\)"):
        solver.step(np.zeros(2), np.zeros(2), np.zeros(2), np.zeros(3))
    with pytest.raises(gs.NonFiniteError, match=r"at t = 0 s \(cycle 0\) a is not finite"):
        solver(good, v0=[1e200, 1e200])


@pytest.mark.parametrize("bad", [np.zeros((4, 2), complex), "x", None, [["a", "b"]] * 4, np.zeros((4, 2), object)])
def test_programmes_are_real_numbers(bad):
    with pytest.raises(gs.ShapeError, match="the programme must hold real numbers"):
        gs.AchievableMotion(gs.robots.two_link(), 0.01)(bad)


def test_results_do_not_change_with_the_array_of_the_programme():
    path = np.stack([np.linspace(0, 1, 30) ** 2] * 2, axis=1)
    found = gs.AchievableMotion(gs.robots.two_link(), 0.01)(path)
    path[:] = 7.0
    assert np.abs(found.deviation).max() < 1e-12


@pytest.mark.parametrize(
    "field",
    [
        gs.CentralGravity(mu=100.0, centre=(0, 0, -5)),
        gs.GravityField(field=lambda p: np.array([0.1 * p[0], 0, -9.81])),
        gs.GravityField(field=lambda p: np.array([0, 0, -9.81 * math.exp(float(p[2]) / 100)])),  # cannot be recorded
        gs.UniformGravity(g=(0, 0, -9.81), treat_as="field"),
    ],
    ids=["central", "function", "plain Python", "uniform"],
)
def test_gravity_of_every_kind(field):
    arm = gs.robots.two_link()
    arm = gs.Model("arm", arm.entities, arm.connections, gs.Context(gravity=field)).replace(
        {"shoulder.effort_limit": 20}
    )
    found = gs.AchievableMotion(arm, 0.01)(np.stack([np.linspace(0, 1, 30) ** 2] * 2, axis=1))
    tau = gs.InverseDynamics(arm)(found.q[:-2], found.v[:-1], found.a)
    assert np.allclose(found.u, tau, atol=1e-12)
    assert found.limited.any()


def test_models_that_it_cannot_serve_are_refused():
    fixed = gs.assemble("block", gs.chain("world", gs.RigidBody("body", mass=1, inertia=(1, 1, 1))))
    with pytest.raises(gs.StateError, match="nothing in 'block' moves"):
        gs.AchievableMotion(fixed, 0.01)
    with pytest.raises(gs.StateError, match="every coordinate must have its own rate"):
        gs.AchievableMotion(gs.robots.quadruped(), 0.01)
    with pytest.raises(gs.StateError, match=r"sits behind a spring.*ElasticInverseDynamics"):
        gs.AchievableMotion(gs.robots.elastic_arm(), 0.01)


@pytest.mark.slow
@pytest.mark.parametrize("share", [None, 0.8])
def test_a_cycle_costs_at_most_fifteen_plain_inverse_dynamics(share):
    """LWR with seven drives, 14,000 cycles; processor time, the best of several, in turns."""
    plain, dt, k = gs.robots.kuka_lwr4(), 0.001, np.arange(7)
    path = 0.5 * np.sin((0.8 + 0.3 * k) * np.arange(14001)[:, None] * dt + k)
    v = np.diff(path, axis=0) / dt
    a = np.diff(v, axis=0) / dt

    def driven(limits):
        model = plain
        for joint, limit in zip(plain.dofs, limits, strict=True):
            model = model.with_drive(joint, rotor_inertia=1e-4, gear_ratio=100.0, torque_limit=float(limit))
        return model

    needed = np.abs(gs.ActuatorDynamics(driven([1e9] * 7)).torques(path[:-2], v[:-1], a)).max(axis=0)
    motion = gs.AchievableMotion(driven([1e9] * 7 if share is None else share * needed), dt)
    loop = Loop(gs.InverseDynamics(plain).main_kernel().program, {})
    arrays = loop.arrays({"q": path[:-2], "v": v[:-1], "a": a}, {}, {})

    def best(call):
        times = []
        for _ in range(10):
            start = time.process_time()
            call()
            times.append(time.process_time() - start)
        return min(times)

    assert motion(path).limited.any() == (share is not None)
    turns = [(best(lambda: motion(path)), best(lambda: loop.advance(arrays, 0, 13999))) for _ in range(5)]
    whole, kernel = (min(x) for x in zip(*turns, strict=True))
    assert whole / 13999 <= 15 * kernel / 13999


def test_a_programme_that_runs_away_is_told():
    """Explicit cycles: 0.01 s is longer than 2 inertia / damping."""
    wheel = gs.chain("world", gs.Joint("j", "revolute", axis="z"), gs.RigidBody("b", mass=1.0, inertia=(0.2,) * 3))
    model = gs.assemble("wheel", wheel).with_drive("j", gear_ratio=10, viscous=50.0, torque_limit=0.05)
    with pytest.raises(gs.StateError, match=r"'j' runs away from t = .* s on"):
        gs.AchievableMotion(model, 0.01)(np.sin(np.linspace(0, 5, 500))[:, None])
