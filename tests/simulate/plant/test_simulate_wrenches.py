"""External wrenches in runs and rollouts: every kind with every method against closed forms; cut forces at ports
against Newton's law, at rest, in friction that sticks and at a stop."""

import functools

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import gyrostat as gs
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.wrench_source import generalised_forces, setting
from gyrostat.solvers.machinery.wrench import Application

G, M, L = 9.81, 1.0, 1.0
PENDULUM = gs.robots.pendulum()  # q'' = 3 / (m l^2) (tau - m g l / 2 sin q); its tip is at (-l sin q, 0, -l cos q)
ARM = gs.robots.two_link()
START = {"q0": [0.4], "v0": [0.3]}
METHODS = {
    "dopri5": {"rtol": 1e-9, "atol": 1e-11}, "ode23": {"rtol": 1e-8, "atol": 1e-10}, "bdf": {"rtol": 1e-8},
    "radau": {"rtol": 1e-9}, "cvode": {"rtol": 1e-9}, "ida": {"rtol": 1e-9}, "rk4": {"dt": 2e-3},
    "semi-implicit-euler": {"dt": 2e-4}, "newmark": {"dt": 1e-3}, "trapezoid": {"dt": 1e-3},
    "generalised-alpha": {"dt": 1e-3}, "dina": {"dt": 1e-3},
}  # fmt: skip
CLOSE = {"semi-implicit-euler": 3e-4, "generalised-alpha": 1e-5, "newmark": 1e-5, "trapezoid": 1e-5, "dina": 1e-5}


def held(t, q, v):
    return [0.0, 0.0, 0.0, 2.0 * np.floor(t / 0.05 + 1e-9), 0.0, 0.0]


class Lag(gs.blocks.Block):
    """A force along x that grows to 3 N with a time constant of 0.1 s: p' = 10 (3 - p)."""

    inputs, outputs, states = ("q",), ("wrench",), (0.0,)

    def output(self, t, x, p, m):
        return {"wrench": np.array([0.0, 0.0, 0.0, p[0], 0.0, 0.0])}

    def derivative(self, t, x, p, m):
        return 10.0 * (3.0 - p)


def turn(q, f_x, f_z):
    """Moment about the hinge of a force at the tip, in world axes."""
    return -L * np.cos(q) * f_x + L * np.sin(q) * f_z


KINDS = {  # what is given, and its moment about the hinge, of t, q, v
    "array": ([0.0, 0.5, 0.0, 2.0, 0.0, 0.0], lambda t, q, v: 0.5 - 2.0 * L),
    "frame": (gs.Wrench([0.0, 0.0, 0.0, 2.0, 0.0, 1.0], "aligned"), lambda t, q, v: turn(q, 2.0, 1.0)),
    "world": (gs.Wrench([0.0, 1.5, 0.0, 2.0, 0.0, 1.0], "world"), lambda t, q, v: 1.5),
    "function": (
        gs.Wrench(lambda t, q, v: np.array([0.0, 0.0, 0.0, 3.0 * np.sin(20.0 * t) - v[0], 0.0, q[0]]), "aligned"),
        lambda t, q, v: turn(q, 3.0 * np.sin(20.0 * t) - v, q),
    ),
    "block": (Lag(), lambda t, q, v: -3.0 * (1.0 - np.exp(-10.0 * t)) * L),
    "sampled": (gs.blocks.sampled(held, 0.05), lambda t, q, v: -2.0 * np.floor(t / 0.05 + 1e-9) * L),
}


END, HELD = 0.1, 0.05


@functools.cache
def reference(kind):
    """By an independent program, from step to step of what is held."""
    moment, y = KINDS[kind][1], [START["q0"][0], START["v0"][0]]
    for lo, hi in ((0.0, HELD), (HELD, END)):

        def rhs(t, y, lo=lo, hi=hi):
            t = min(max(t, lo), hi - 1e-12)
            return [y[1], 3.0 / (M * L**2) * (moment(t, *y) - M * G * L / 2.0 * np.sin(y[0]))]

        y = solve_ivp(rhs, (lo, hi), y, method="DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    return y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_wrench_with_every_method(method, kind):
    given, moment = KINDS[kind]
    run = gs.simulate(PENDULUM, None, **START, t_end=END, method=method, wrenches={"rod.tip": given}, **METHODS[method])
    q, v = reference(kind)
    close = CLOSE.get(method, 1e-6)
    assert abs(run.q[-1, 0] - q) < close and abs(run.v[-1, 0] - v) < 20 * close
    assert run.counters.compiled and not run.tau.any()
    assert np.abs(run.energy_residual).max() < 30 * close
    power = [moment(t, *x) * x[1] for t, x in zip(run.t, np.column_stack([run.q, run.v]), strict=True)]
    if kind != "sampled":  # there the last sample before a jump has the old force
        np.testing.assert_allclose(run.power, power, atol=30 * close)


@pytest.mark.parametrize("method", ["rk4", "radau", "dina"])
def test_a_function_in_python_gives_the_same(method):
    def pushing(t, q, v):
        return [0.0, 0.0, 0.0, 1.0 if t > 0.1 else 0.0, 0.0, 0.0]

    options = dict(t_end=0.2, method=method, wrenches={"rod.tip": pushing}, **METHODS[method])
    with pytest.warns(gs.PerformanceWarning, match="the wrench pushing at 'rod.tip' runs in Python"):
        run = gs.simulate(PENDULUM, None, **START, **options)
    options["wrenches"] = {"rod.tip": lambda t, q, v: [0, 0, 0, np.where(t > 0.1, 1.0, 0.0), 0, 0]}
    want = gs.simulate(PENDULUM, None, **START, **options)
    assert want.counters.compiled and not run.counters.compiled
    assert abs(run.q[-1, 0] - want.q[-1, 0]) < 1e-5


def test_rows_at_the_instants_that_are_kept_are_joined_by_lines():
    t = np.linspace(0.0, 0.2, 21)
    rows = np.zeros((21, 6))
    rows[:, 3] = 10.0 * t
    run = gs.simulate(PENDULUM, None, **START, t_eval=t, wrenches={"rod.tip": rows}, rtol=1e-9)
    want = gs.simulate(
        PENDULUM, None, **START, t_eval=t, wrenches={"rod.tip": lambda t, q, v: [0, 0, 0, 10.0 * t, 0, 0]}, rtol=1e-9
    )
    np.testing.assert_allclose(run.q, want.q, atol=1e-8)
    np.testing.assert_allclose(run.wrenches["rod.tip"].value, rows, atol=1e-12)


# ------------------------------------------------------------------------------------------------ J^T w
def mixed():
    """A floating body with an arm."""
    joints = [gs.Joint("base", "free"), gs.Joint("arm", "revolute", axis="y")]
    bodies = [gs.RigidBody(f"body{k}", mass=1.0 + k, com=(0.1, 0, 0.2), inertia=(0.3, 0.4, 0.5),
                           frames={"side": (0.3, 0.1, -0.2)}) for k in range(2)]  # fmt: skip
    return gs.assemble("mixed", gs.chain("world", *(x for pair in zip(joints, bodies, strict=True) for x in pair)))


@pytest.mark.parametrize("model", [ARM, mixed(), gs.robots.arm6()], ids=lambda m: m.name)
def test_the_generalised_forces_are_those_of_inverse_dynamics(model):
    net, rng, solver = gs.network(model), np.random.default_rng(4), gs.InverseDynamics(model, mode="interpret")
    q, w, rest = gs.random_configuration(model, 1), rng.normal(size=6), np.zeros(model.nv)
    free = solver(q, rest, rest)
    for port in list(net.located)[::3]:
        for frame in ("local", "aligned", "world", list(net.located)[4]):
            found = generalised_forces(net, setting(model, 0.0), q, [Application(port, frame)], w)
            np.testing.assert_allclose(found, free - solver(q, rest, rest, {port: gs.Wrench(w, frame)}), atol=1e-11)


WORLD = gs.Wrench(lambda t, q, v: np.array([q[1], v[1], t, q[0] * v[0], 1.0, v[1]]), "world")


@pytest.mark.parametrize(("model", "inner", "outer"), [(ARM, "upper", "lower.tip"), (mixed(), "body0", "body1.side")])
def test_wrenches_in_python_and_in_machine_code_are_those_of_forward_dynamics(model, inner, outer):
    rng = np.random.default_rng(5)
    wrenches = {outer: WORLD, inner: gs.Wrench([1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "aligned")}
    plants = [Plant(model, None, compiled, wrenches) for compiled in (None, False)]
    t, q, v, p = 0.3, gs.random_configuration(model, 2), rng.normal(size=model.nv), np.zeros(0)
    values = wrenches | {outer: gs.Wrench(WORLD.value(t, q, v), "world")}
    for plant in plants:
        want = gs.aba(model, q, v, np.zeros(model.nv), values)
        np.testing.assert_allclose(plant.acceleration(t, q, v, p)[0], want, atol=1e-11)
        np.testing.assert_allclose(plant.residual(t, q, v, want, p), 0.0, atol=1e-11)
    if model is ARM:  # exact ones, and differences
        assert not plants[0].why_not_compiled and plants[1].why_not_compiled
        for one, two in zip(*(plant.derivatives.of_source(t, q, v, p) for plant in plants), strict=True):
            np.testing.assert_allclose(one, two, atol=1e-7)


def test_a_moving_base_carries_the_frame_of_a_wrench_along():
    base = gs.HarmonicMotion(amplitude=(0.1, 0, 0), frequency=1.5)
    runs = []
    for motion in (base, lambda t: base_by_hand(t)):
        model = PENDULUM.replace({"context.base": motion})
        wrench = gs.Wrench([0.0, 0.0, 0.0, 1.0, 0.0, 0.5], "world")
        runs.append(gs.simulate(model, None, **START, t_end=0.3, rtol=1e-9, wrenches={"rod.tip": wrench}))
    assert runs[0].q[-1, 0] == pytest.approx(runs[1].q[-1, 0], abs=1e-8)


def base_by_hand(t):
    w = 2.0 * np.pi * 1.5
    x, v, a = 0.1 * np.sin(w * t), 0.1 * w * np.cos(w * t), -0.1 * w * w * np.sin(w * t)
    return np.eye(3), np.array([x, 0, 0]), np.array([0, 0, 0, v, 0, 0]), np.array([0, 0, 0, a, 0, 0])


# ------------------------------------------------------------------------------------------------ cut forces
def by_newton(run, forces):
    """Force at the hinge in the axes of the rod, from m a = f_hinge + m g + f; world forces (T, 3) at the tip."""
    q, v, a = run.q[:, 0], run.v[:, 0], run.a[:, 0]
    s, c, zero = np.sin(q), np.cos(q), np.zeros_like(q)
    acceleration = L / 2 * np.stack([-c * a + s * v**2, zero, s * a + c * v**2], axis=1)
    f = M * acceleration + [0, 0, M * G] - forces
    return np.stack([c * f[:, 0] - s * f[:, 2], zero, s * f[:, 0] + c * f[:, 2]], axis=1)


def test_the_cut_force_of_a_pendulum_is_newtons():
    force = gs.Wrench(lambda t, q, v: np.array([0.0, 0.0, 0.0, 3.0 * np.sin(20.0 * t), 0.0, 1.0]), "aligned")
    run = gs.simulate(PENDULUM, [0.7], **START, t_end=0.5, wrenches={"rod.tip": force})
    given = np.stack([3.0 * np.sin(20.0 * run.t), 0.0 * run.t, 0.0 * run.t + 1.0], axis=1)
    found = run.port_forces()
    assert set(found) == set(gs.network(PENDULUM).located) and found["hinge"].shape == (len(run.t), 6)
    np.testing.assert_allclose(found["hinge"][:, 3:], by_newton(run, given), atol=1e-10)
    np.testing.assert_allclose(found["hinge"][:, :3], np.outer(np.ones(len(run.t)), [0.0, 0.7, 0.0]), atol=1e-10)
    np.testing.assert_allclose(run.port_forces("hinge.b")["hinge.b"], found["hinge"], atol=0)
    with pytest.raises(gs.FrameError, match="was not asked for"):
        run.port_forces(["hinge.b"])["rod.tip"]


@pytest.mark.parametrize("method", ["dopri5", "radau", "newmark", "dina"])
def test_friction_that_sticks_is_in_the_cut_force(method):
    model, options, wrench = stuck(), {"method": method, **METHODS[method]}, {"rod.tip": [0, 0, 0, 1.0, 0, 0]}
    run = gs.simulate(model, None, [0.5], t_end=0.2, wrenches=wrench, **options)
    assert not run.v.any()  # at rest: friction holds weight and wrench
    moment = M * G * L / 2 * np.sin(0.5) + L
    np.testing.assert_allclose(run.port_forces("hinge")["hinge"][:, 1], moment, atol=1e-9)
    slipping = gs.simulate(model, None, [0.5], [1.0], t_end=0.02, **options)
    torque = slipping.port_forces("hinge")["hinge"][:, 1]  # it slides in the positive direction
    np.testing.assert_allclose(torque, -5.0, atol=1e-4 if method == "dina" else 1e-8)  # that leaves a small residual


def stuck():
    joint = gs.Joint("hinge", "revolute", axis="y")
    (rod,) = [e for e in PENDULUM.entities if e.name == "rod"]
    rub = gs.Friction("rub", coulomb=5.0)
    return gs.assemble("stuck", gs.chain("world", joint, rod), rub, gs.connect("hinge.shaft", "rub.shaft"))


def test_a_stop_is_in_the_cut_force():
    joint = gs.Joint("hinge", "revolute", axis="y", lower=-0.2, upper=0.6)
    (rod,) = [e for e in PENDULUM.entities if e.name == "rod"]
    model = gs.assemble("stopped", gs.chain("world", joint, rod))
    run = gs.simulate(model, [9.0], [0.55], t_end=1.0, events=gs.JointLimits(), t_eval=[0.0, 0.8, 1.0])
    assert run.q[-1, 0] == pytest.approx(0.6) and not run.v[1:].any()
    weight = M * G * L / 2 * np.sin(0.6)
    np.testing.assert_allclose(run.port_forces()["hinge"][1:, 1], weight, atol=1e-9)  # 9 N m less that of the stop
    np.testing.assert_allclose(run.port_forces()["hinge"][1:, 3:], by_newton(run, np.zeros((3, 3)))[1:], atol=1e-9)


def test_a_model_that_changes_on_the_way_has_its_own_cut_forces():
    heavy = PENDULUM.replace({"rod.mass": 2.0})
    event = gs.Event(lambda t, q, v: t - 0.1, reset=lambda t, q, v: (heavy, q, v))
    run = gs.simulate(
        PENDULUM, None, [0.0], t_end=0.2, events=event, wrenches={"rod.tip": [0.0, 1e-9, 0.0, 0.0, 0.0, 0.0]}
    )
    f = run.port_forces("hinge")["hinge"][:, 5]
    assert f[0] == pytest.approx(G) and f[-1] == pytest.approx(2.0 * G)


# ------------------------------------------------------------------------------------------------ files, mistakes
def test_wrenches_are_stored_with_a_result(tmp_path):
    given = {"lower.tip": gs.Wrench([0, 0, 0, 1.0, 0, 2.0], "world"), "upper": [0, 0.1, 0, 0, 0, 0]}
    run = gs.simulate(ARM, None, [0.1, 0.2], t_end=0.1, wrenches=given)
    again = gs.load_result(run.save(tmp_path / "run"))
    assert again.wrenches.keys() == run.wrenches.keys() == {"lower.tip", "upper.origin"}
    assert again.wrenches["lower.tip"].expressed_in == "world"
    np.testing.assert_array_equal(again.wrenches["lower.tip"].value, run.wrenches["lower.tip"].value)
    np.testing.assert_array_equal(again.power, run.power)
    for port, f in run.port_forces().items():
        np.testing.assert_array_equal(again.port_forces()[port], f)
    np.testing.assert_allclose(gs.rnea(ARM, run.q, run.v, run.a, run.wrenches), run.tau, atol=1e-10)


MISTAKES = {
    "port": ({"lower.tp": np.zeros(6)}, r"no frame or port 'lower.tp'.*lower.tip"),
    "shape": ({"lower.tip": np.zeros(3)}, r"wrench at 'lower.tip' has shape \(3,\)"),
    "rows": ({"lower.tip": np.zeros((4, 6))}, r"has shape \(4, 6\), expected \(6,\), or a row for each of t_eval"),
    "nan": ({"lower.tip": np.full(6, np.nan)}, "is not finite"),
    "no mapping": ([1.0, 2.0], "wrenches must map ports to wrenches"),
    "twice": ({"upper": np.zeros(6), "upper.origin": np.zeros(6)}, "port 'upper.origin' is named twice"),
    "returned": ({"lower.tip": lambda t, q, v: q}, r"the wrench <lambda> at 'lower.tip' returned .*expected \(6,\)"),
    "arguments": ({"lower.tip": lambda t: t}, r"takes \(t\)"),
    "frame": ({"lower.tip": gs.Wrench(np.zeros(6), "nowhere")}, "no frame or port 'nowhere'"),
    "array": (np.ones(6), "wrenches must map ports to wrenches, got ndarray"),
    "class": ({"lower.tip": dict}, r"wrench at 'lower.tip' is the class dict. Hint: dict\(...\)"),
    "example": ({"lower.tip": lambda t, q: q}, r"the wrench <lambda> at 'lower.tip' takes \(t, q\).*Hint: .*\[0, 0, 0"),
    "memory": ({"lower.tip": lambda t, q, v, seen=[]: seen.append(t) or np.zeros(6)}, "keeps what it was given"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_told(what):
    given, message = MISTAKES[what]
    with pytest.raises(gs.GyrostatError, match=message):
        gs.simulate(ARM, None, [0.1, 0.2], t_end=0.01, wrenches=given)
    if what == "rows":
        message = r"numbers of robots do not go together"
    if what != "twice":
        with pytest.raises(gs.GyrostatError, match=message):
            gs.rollout(ARM, None, np.zeros((2, 2)), steps=3, wrenches=given)


@pytest.mark.parametrize("method", ["dopri5", "radau", "newmark"])
def test_a_wrench_that_is_no_number_is_refused_where_it_does_no_work(method):
    """A torque about an axis that no joint turns about moves nothing, but would be in port_forces."""
    given = {"lower.tip": lambda t, q, v: [np.sqrt(0.05 - t), 0.0, 0.0, 0.0, 0.0, 0.0]}
    options = {} if method != "newmark" else {"dt": 1e-2}
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(
            gs.SimulationError, match=r"the wrench <lambda> at 'lower.tip' is \[ ?nan.*expected finite numbers"
        ) as told,
    ):
        gs.simulate(ARM, None, [0.1, 0.2], t_end=0.1, wrenches=given, method=method, **options)
    assert np.isfinite(told.value.result.wrenches["lower.tip"].value).all()


def test_ports_are_named_by_texts():
    run = gs.simulate(ARM, None, [0.1, 0.2], t_end=0.01)
    for ports in (3, [3]):
        with pytest.raises(gs.FrameError, match="frames and ports are named by texts, got 3"):
            run.port_forces(ports)


# ------------------------------------------------------------------------------------------------ rollouts
@pytest.mark.parametrize("kind", [k for k in KINDS if k != "sampled"])
@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_rollouts_take_every_kind(kind, method):
    given, _ = KINDS[kind]
    run = gs.rollout(PENDULUM, [0.2], START["q0"], START["v0"], 1e-3, 100, method, wrenches={"rod.tip": given})
    want = gs.simulate(
        PENDULUM, [0.2], **START, t_end=0.1, t_eval=[0.05, 0.1], method=method, dt=1e-3, wrenches={"rod.tip": given}
    )
    np.testing.assert_allclose(run.q[[50, 100]], want.q, atol=1e-9)
    np.testing.assert_allclose(run.tau, 0.2)


def test_every_robot_has_its_own_wrench():
    rng = np.random.default_rng(0)
    W = rng.normal(size=(5, 6))
    given = {"lower.tip": gs.Wrench(W, "world"), "upper.tip": lambda t, q, v: [0, 0, 0, t, q[0], v[1]]}

    def law(t, q, v):
        return -2.0 * q

    run = gs.rollout(ARM, law, [0.1, 0.3], steps=50, wrenches=given)
    for k in range(5):
        alone = gs.rollout(ARM, law, [0.1, 0.3], steps=50, wrenches=given | {"lower.tip": gs.Wrench(W[k], "world")})
        np.testing.assert_allclose(run.q[:, k], alone.q, atol=1e-14)
    assert np.ptp(run.q[-1], axis=0).min() > 1e-5


def test_rollouts_with_digital_blocks_and_wrenches_of_one_sample_time():
    law = gs.blocks.series(gs.blocks.Gain(-3.0, source="q"), gs.blocks.hold(0.01, 2, target="tau"))
    force = gs.blocks.series(
        gs.blocks.function(lambda t, q: [0.0, 0.0, 0.0, q[0], 0.0, 1.0], "q"), gs.blocks.hold(0.01, 6)
    )
    run = gs.rollout(ARM, law, [0.3, -0.2], steps=40, dt=1e-3, wrenches={"lower.tip": force})
    want = gs.simulate(
        ARM, law, [0.3, -0.2], t_end=0.04, t_eval=[0.02, 0.04], method="rk4", dt=1e-3, wrenches={"lower.tip": force}
    )
    np.testing.assert_allclose(run.q[[20, 40]], want.q, atol=1e-10)
    other = gs.blocks.series(gs.blocks.function(lambda t, q: [q[0], 0, 0, 0, 0, 0], "q"), gs.blocks.hold(0.02, 6))
    with pytest.raises(gs.StateError, match="different sample times"):
        gs.rollout(ARM, law, [0.3, -0.2], steps=40, wrenches={"lower.tip": other})
    two = gs.simulate(ARM, law, [0.3, -0.2], t_end=0.04, wrenches={"lower.tip": other})
    assert two.status == "finished"


def test_a_law_that_was_run_without_wrenches_is_not_taken_for_one_with_them():
    def law(t, q, v):
        return -0.5 * v

    pushed = {"lower.tip": [0, 0, 0, 9, 0, 0]}
    runs = [gs.simulate(ARM, law, [0.1, 0.2], t_end=0.1, wrenches=w) for w in (None, None, pushed)]
    assert np.array_equal(runs[0].q[-1], runs[1].q[-1])
    assert np.abs(runs[2].q[-1] - runs[1].q[-1]).max() > 1e-3
