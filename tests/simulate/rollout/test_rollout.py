"""Rollouts: the same numbers as plain steps in NumPy, for any number of robots and threads, on the manifold."""

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.rollout import loop as loops
from gyrostat.simulate.rollout.control_law import Law
from tests.support.comparing import assert_close
from tests.support.solver_zoo import branched

SWINGING = gs.HarmonicMotion(amplitude=(0.1, 0.2, 0.3), frequency=2.0, axis=(0.6, 0.0, 0.8), angle=0.3, rate=1.5)


def rk4(model, f, q, v, dt, steps):
    """The classical method for numbers, from ``gs.aba``; f(t, q, v) gives the accelerations."""
    for k in range(steps):
        t = k * dt
        a1 = f(t, q, v)
        v2 = v + dt / 2 * a1
        a2 = f(t + dt / 2, q + dt / 2 * v, v2)
        v3 = v + dt / 2 * a2
        a3 = f(t + dt / 2, q + dt / 2 * v2, v3)
        v4 = v + dt * a3
        a4 = f(t + dt, q + dt * v3, v4)
        q = q + dt / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return q, v


def semi_implicit(model, f, q, v, dt, steps):
    for k in range(steps):
        v = v + dt * f(k * dt, q, v)
        q = gs.integrate(model, q, v, dt)
    return q, v


def states(model, n, seed=0):
    rng = np.random.default_rng(seed)
    return gs.random_configuration(model, rng, (n,)), rng.normal(size=(n, model.nv))


def swing(t, q, v):
    """A controller that uses everything."""
    return np.array([-3.0 * q[0] - 0.3 * v[0] + np.sin(2.0 * t), 0.5 * np.cos(q[1]) - 0.2 * v[1] * abs(v[1])])


@pytest.mark.parametrize(("method", "reference"), [("rk4", rk4), ("semi-implicit", semi_implicit)])
@pytest.mark.parametrize("robots", [1, 3, 4, 9])
def test_a_rollout_equals_steps_in_numpy(method, reference, robots):
    model = gs.robots.two_link()
    q, v = states(model, robots)
    got = gs.rollout(model, swing, q, v, 0.01, 50, method, every=25)
    assert got.q.shape == got.v.shape == got.tau.shape == (3, robots, 2)
    np.testing.assert_allclose(got.t, [0.0, 0.25, 0.5], rtol=1e-15)
    assert_close(got.q[0], q, 0.0)
    for k in range(robots):
        want = reference(model, lambda t, q, v: gs.aba(model, q, v, swing(t, q, v)), q[k], v[k], 0.01, 50)
        assert_close(got.q[-1, k], want[0], 1e-12)
        assert_close(got.v[-1, k], want[1], 1e-12)
        assert_close(got.tau[-1, k], swing(0.5, want[0], want[1]), 1e-11)


def test_number_of_robots_threads_and_rows_change_no_bit(monkeypatch):
    model = gs.robots.two_link()
    q, v = states(model, 11)
    want = gs.rollout(model, swing, q, v, 0.01, 60)
    for threads in (2, 5):
        got = gs.rollout(model, swing, q, v, 0.01, 60, threads=threads)
        assert np.array_equal(got.q, want.q) and np.array_equal(got.v, want.v)
    rows = gs.rollout(model, swing, q, v, 0.01, 60, every=20)
    assert np.array_equal(rows.q, want.q[::20])
    last = gs.rollout(model, swing, q, v, 0.01, 60, every=None)
    assert last.q.shape == (1, 11, 2) and np.array_equal(last.q[0], want.q[-1]) and last.t.tolist() == [0.6]
    one = gs.rollout(model, swing, q[7], v[7], 0.01, 60)
    assert one.q.shape == (61, 2) and np.array_equal(one.q, want.q[:, 7]) and one.diverged == -1
    monkeypatch.setattr(loops, "BUDGET", 1)  # one step in every call of machine code
    for every in (1, 20, None):
        cut = gs.rollout(model, swing, q, v, 0.01, 60, every=every)
        assert np.array_equal(cut.q, want.q[:: every or 60][-len(cut.q) :])


def test_no_steps_give_the_start():
    model = gs.robots.two_link()
    q, v = states(model, 3)
    assert np.array_equal(gs.rollout(model, None, q, v, 0.01, 0).q, q[None])
    assert gs.rollout(model, None, q[:0], v[:0], 0.01, 5).q.shape == (6, 0, 2)


def floating():
    """A free box with a spherical and a revolute joint."""
    box = gs.RigidBody("box", mass=2.0, com=(0.1, 0.0, -0.05), inertia=np.diag([0.02, 0.03, 0.04]))
    arm = gs.RigidBody("arm", mass=1.0, com=(0.0, 0.1, 0.2), inertia=np.diag([0.01, 0.02, 0.015]))
    tip = gs.RigidBody("tip", mass=0.5, com=(0.2, 0.0, 0.0), inertia=np.diag([0.001, 0.004, 0.003]))
    return gs.assemble(
        "floating",
        *(gs.Joint("free", "free"), gs.Joint("ball", "spherical"), gs.Joint("hinge", "revolute", axis="y")),
        *(box, arm, tip),
        *(gs.connect("world.frame", "free.a"), gs.connect("free.b", "box.origin"), gs.connect("box.origin", "ball.a")),
        *(gs.connect("ball.b", "arm.origin"), gs.connect("arm.origin", "hinge.a")),
        gs.connect("hinge.b", "tip.origin"),
    )


def fitted_order(model, method, q, v, steps, end=0.4):
    reference = gs.rollout(model, None, q, v, end / 6400, 6400, "rk4", every=None)
    errors = []
    for n in steps:
        got = gs.rollout(model, None, q, v, end / n, n, method, every=None)
        errors.append(np.abs(gs.difference(model, reference.q[0], got.q[0])).max() + np.abs(got.v - reference.v).max())
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0]


def test_fitted_orders_with_quaternions_and_without():
    for model in (floating(), gs.robots.two_link()):
        q, v = states(model, 4, 3)
        assert fitted_order(model, "rk4", q, v, [50, 100, 200, 400]) == pytest.approx(4.0, abs=0.25)
        assert fitted_order(model, "semi-implicit", q, v, [200, 400, 800]) == pytest.approx(1.0, abs=0.15)


def test_quaternions_keep_their_length_and_energy_stays():
    model = floating()
    q, v = states(model, 5, 1)
    got = gs.rollout(model, None, q, v, 1e-3, 2000, every=500)
    for at in (slice(3, 7), slice(7, 11)):
        assert_close(np.linalg.norm(got.q[..., at], axis=-1), np.ones((5, 5)), 4e-16 * 4)
    energy = gs.kinetic_energy(model, got.q, got.v) + gs.potential_energy(model, got.q)
    assert_close(energy, np.broadcast_to(energy[0], energy.shape), 1e-7)


def test_semi_implicit_moves_along_integrate_on_the_manifold():
    model = floating()
    q, v = states(model, 3, 2)
    tau = 0.01 * np.arange(model.nv)
    got = gs.rollout(model, tau, q, v, 0.005, 40, "semi-implicit", every=None)
    for k in range(3):
        want = semi_implicit(model, lambda t, q, v: gs.aba(model, q, v, tau), q[k], v[k], 0.005, 40)
        assert_close(np.abs(got.q[0, k]), np.abs(want[0]), 1e-12)
        assert_close(got.v[0, k], want[1], 1e-12)


@pytest.mark.parametrize("model", [floating(), gs.robots.two_link(), branched("free")], ids=lambda model: model.name)
def test_rollouts_and_simulate_take_the_same_steps(model):
    q, v = (x[0] for x in states(model, 1, 4))

    def law(t, q, v):
        return 0.1 * np.sin(3.0 * t) - 0.2 * v

    for method in ("rk4", "semi-implicit-euler"):
        one = gs.rollout(model, law, q, v, 1e-3, 1000, method)
        other = gs.simulate(model, law, q, v, t_end=1.0, method=method, dt=1e-3)
        assert_close(one.q, other.q, 1e-12)
        assert_close(one.v, other.v, 1e-11)


def test_a_step_that_turns_too_far_is_no_step():
    model = floating()
    q, v = states(model, 3)
    v[1, :3] = 5000.0
    got = gs.rollout(model, None, q, v, 1e-3, 5, nonfinite="return")
    assert got.diverged.tolist() == [-1, 0, -1] and np.isnan(got.q[1:, 1]).all()
    assert np.array_equal(got.q[:, 0], gs.rollout(model, None, q[0], v[0], 1e-3, 5).q)


def test_other_gains_of_the_same_function_compile_nothing(monkeypatch):
    model, q = gs.robots.two_link(), np.array([0.3, -0.7])

    def spring(k):
        return lambda t, q, v: -k * q - 0.1 * v

    gs.rollout(model, spring(3.0), q, None, 0.01, 10)
    wanted = gs.rollout(model, lambda t, q, v: -(2.0 + 5.0) * q - 0.1 * v, q, None, 0.01, 10).q

    def refuse(*_, **__):
        raise AssertionError("this was compiled, or looked at, before")

    monkeypatch.setattr("gyrostat.engine.drivers.kernel_code.emit", refuse)
    monkeypatch.setattr(Law, "expect_same_on_numbers", refuse)
    assert_close(gs.rollout(model, spring(7.0), q, None, 0.01, 10).q, wanted, 1e-14)


def test_a_free_body_falls_and_a_slider_is_pushed_exactly():
    model = gs.assemble(
        "slider", gs.RigidBody("block", mass=2.0, inertia=np.eye(3)), gs.Joint("rail", "prismatic", axis="z"),
        gs.connect("world.frame", "rail.a"), gs.connect("rail.b", "block.origin"), gravity=(0.0, 0.0, -9.81),
    )  # fmt: skip
    for robots in (1, 5):
        got = gs.rollout(model, lambda t, q, v: np.array([4.0]), np.zeros((robots, 1)), None, 0.125, 8)
        assert_close(got.q[:, -1, 0], 0.5 * (2.0 - 9.81) * got.t**2, 1e-13)


def test_a_base_that_swings_takes_the_time_of_each_stage():
    arm = gs.robots.two_link()
    context = gs.Context(gravity=arm.context.gravity, base=SWINGING)
    model = gs.Model(name="swinging", entities=arm.entities, connections=arm.connections, context=context)
    q, v = states(model, 2)
    got = gs.rollout(model, None, q, v, 0.01, 40, every=None)
    for k in range(2):
        want = rk4(model, lambda t, q, v: gs.aba(model, q, v, np.zeros(2), t=t), q[k], v[k], 0.01, 40)
        assert_close(got.q[0, k], want[0], 1e-12)


# ------------------------------------------------------------------------------------------------ parameters
def test_properties_differ_from_robot_to_robot():
    model = gs.robots.two_link()
    path = next(path for path in model.paths() if path.endswith(".mass"))
    masses = np.array([0.5, 1.0, 2.0, 4.0, 8.0])
    gravity = np.array([[0.0, 0.0, -g] for g in (9.81, 1.62, 3.7, 0.0, 25.0)])
    q, v = np.array([0.3, -0.7]), np.array([1.0, 0.5])
    got = gs.rollout(model, None, q, v, 0.01, 50, parameters={path: masses, "context.gravity": gravity}, every=None)
    assert got.q.shape == (1, 5, 2)
    for k in range(5):
        gravity_k = gs.UniformGravity(g=tuple(gravity[k]))
        changed = model.replace({path: float(masses[k]), "context.gravity": gravity_k})
        assert_close(got.q[0, k], gs.rollout(changed, None, q, v, 0.01, 50, every=None).q[0], 1e-12)


def test_gains_of_a_controller_differ_from_robot_to_robot():
    model = gs.robots.two_link()

    def pd(t, q, v, kp, kd):
        return -kp * q - kd * v

    kp, kd = np.array([[10.0, 5.0], [20.0, 7.0], [1.0, 0.0]]), np.array([1.0, 2.0, 0.5])
    q = np.array([0.3, -0.7])
    got = gs.rollout(model, pd, q, None, 0.01, 50, parameters={"kp": kp, "kd": kd}, every=10)
    for k in range(3):
        alone = gs.rollout(model, lambda t, q, v, k=k: -kp[k] * q - kd[k] * v, q, None, 0.01, 50, every=10)
        assert_close(got.q[:, k], alone.q, 1e-13)
        assert_close(got.tau[:, k], alone.tau, 1e-12)


def test_constant_efforts_by_array_robot_and_name():
    model = gs.robots.two_link()
    q = np.array([0.3, -0.7])
    both = gs.rollout(model, np.array([[1.0, 2.0], [3.0, -1.0]]), q, None, 0.01, 20, every=None)
    one = gs.rollout(model, dict(zip(model.dofs, (3.0, -1.0), strict=True)), q, None, 0.01, 20, every=None)
    assert np.array_equal(both.q[0, 1], one.q[0]) and both.tau[0].tolist() == [[1.0, 2.0], [3.0, -1.0]]


def test_a_controller_that_reads_changed_numbers_is_recorded_anew():
    model, gain = gs.robots.pendulum(), {"k": 1.0}

    def spring(t, q, v):
        return -gain["k"] * q

    first = gs.rollout(model, spring, [1.0], None, 0.01, 50, every=None).q
    gain["k"] = 30.0
    second = gs.rollout(model, spring, [1.0], None, 0.01, 50, every=None).q
    assert_close(second, gs.rollout(model, lambda t, q, v: -30.0 * q, [1.0], None, 0.01, 50, every=None).q, 1e-15)
    assert abs(first - second).max() > 0.1


# ------------------------------------------------------------------------------------------------ blocks
class Lag:
    """tau follows -20 q with a time constant of 0.1 s: one state for each joint."""

    states = (0.0, 0.0)

    def output(self, t, x, p, m):
        return {"tau": p - 0.5 * x["v"]}

    def derivative(self, t, x, p, m):
        return (-20.0 * x["q"] - p) / 0.1


class Held:
    """A digital controller: samples every 0.05 s and holds."""

    memory = (0.0, 0.0)
    sample_time = 0.05

    def output(self, t, x, p, m):
        return {"tau": m}

    def update(self, t, x, p, m):
        return -2.0 * x["q"] - 0.02 * x["v"] + 0.1 * m


def test_states_of_a_block_are_integrated_along():
    model = gs.robots.two_link()
    q, v = states(model, 3)
    got = gs.rollout(model, Lag(), q, v, 0.01, 50, every=None)
    assert got.p.shape == (1, 3, 2)

    for k in range(3):
        q1, v1, p1 = q[k], v[k], np.zeros(2)
        for _ in range(50):
            ks = []
            for c in (0.0, 0.5, 0.5, 1.0):
                last = ks[-1] if ks else (np.zeros(2),) * 3
                x, y, p = q1 + c * 0.01 * last[0], v1 + c * 0.01 * last[1], p1 + c * 0.01 * last[2]
                ks.append((y, gs.aba(model, x, y, p - 0.5 * y), (-20.0 * x - p) / 0.1))
            q1, v1, p1 = (
                s + 0.01 / 6 * (ks[0][i] + 2 * ks[1][i] + 2 * ks[2][i] + ks[3][i]) for i, s in enumerate((q1, v1, p1))
            )
        assert_close(got.q[0, k], q1, 1e-12)
        assert_close(got.p[0, k], p1, 1e-11)
        assert_close(got.tau[0, k], p1 - 0.5 * v1, 1e-11)


@pytest.mark.parametrize("method", ["rk4", "semi-implicit"])
def test_a_digital_block_holds_between_samples(method):
    model = gs.robots.two_link()
    q, v = states(model, 2)
    got = gs.rollout(model, Held(), q, v, 0.01, 40, method, every=None)
    reference = rk4 if method == "rk4" else semi_implicit
    for k in range(2):
        q1, v1, m = q[k], v[k], np.zeros(2)
        for _ in range(8):
            m = -2.0 * q1 - 0.02 * v1 + 0.1 * m
            q1, v1 = reference(model, lambda t, q, v, m=m: gs.aba(model, q, v, m), q1, v1, 0.01, 5)
        assert_close(got.q[0, k], q1, 1e-12)
        assert_close(got.v[0, k], v1, 1e-12)


def test_a_sample_time_must_fit_the_step():
    with pytest.raises(gs.StateError, match=r"sample time 0\.05 s of the block Held is no multiple of dt = 0\.03 s"):
        gs.rollout(gs.robots.two_link(), Held(), [0.0, 0.0], None, 0.03, 3)
