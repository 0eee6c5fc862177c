"""``bdf`` and ``radau`` in machine code: next to SciPy's and SUNDIALS', orders, cuts, callbacks, samples, stops."""

from functools import cache

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.methods import compiled as compiled_method
from gyrostat.simulate.methods.bdf import coefficients as bdf_coefficients
from gyrostat.simulate.methods.drivers import bdf_memory, radau_memory
from gyrostat.simulate.methods.radau import coefficients as radau_coefficients
from gyrostat.simulate.plant.plant import Plant
from tests.simulate.methods.test_stiff_methods import body, bushing, tree, turned

pytest.importorskip("scipy", reason="scipy-bdf and scipy-radau need scipy")

OURS = ("bdf", "radau")
THEIRS = {"bdf": ("scipy-bdf", "cvode"), "radau": ("scipy-radau", "cvode")}
NONE = np.zeros(0)


class Drives:
    """Efforts that follow p with a lag of 1 ms, of a state that p drives and that drives p."""

    def __init__(self, n):
        self.n, self.states = n, (0.0,) * n

    def output(self, t, x, p, m):
        return {"tau": p - 0.2 * x["v"]}

    def derivative(self, t, x, p, m):
        return 1e3 * (2.0 * np.sin(3.0 * t) - 1.5 * x["v"] - p)


def rubbing():
    """Two links with dry friction that is smooth over 1 mrad/s."""
    model = gs.robots.two_link()
    for joint in ("shoulder", "elbow"):
        model = model.with_drive(joint, coulomb=0.5, viscous=0.1, friction={"smooth": 1e-3})
    return model


def pd(t, q, v):
    return -400.0 * (q - np.array([0.4, -0.3])) - 30.0 * v


def damping(t, q, v):
    return -0.3 * v + 0.1 * np.cos(5.0 * t)


@cache
def zoo():
    """Model, law, start, end [s]."""
    rng = np.random.default_rng(1)
    ball = body(com=(0.1, 0, -0.2), inertia=(0.02, 0.03, 0.04), gravity=(0, 0, -9.81))
    return {
        "plain": (gs.robots.two_link(), damping, [0.3, 0.7], [0.5, -1.0], 1.0),
        "stiff": (gs.robots.two_link(), pd, [0.3, 0.7], [0.5, -1.0], 1.0),
        "tree": (tree(), damping, gs.random_configuration(tree(), 3), rng.normal(size=10), 1.0),
        "bushing": (ball, bushing, None, None, 0.3),
        "drives": (gs.robots.two_link(), Drives(2), [0.3, 0.7], None, 0.5),
        "drives of a tree": (tree(), Drives(10), None, rng.normal(size=10), 0.3),
        "friction": (rubbing(), lambda t, q, v: np.array([8.0, 3.0]) * np.sin(4.0 * t), [0.1, 0.2], None, 0.8),
    }


ZOO = ("plain", "stiff", "tree", "bushing", "drives", "drives of a tree", "friction")


def simulated(name, **options):
    model, law, q, v, t_end = zoo()[name]
    return gs.simulate(model, law, q, v, t_end, **options)


@cache
def reference(name, t_eval):
    return simulated(name, method="scipy-radau", rtol=1e-10, atol=1e-12, t_eval=list(t_eval))


def far(model, run, want):
    return max(turned(model, run.q, want.q), np.abs(run.v - want.v).max(), np.abs(run.p - want.p).max(initial=0.0))


# ------------------------------------------------------------------------------------------------ other programs
@pytest.mark.by_default(3)
@pytest.mark.parametrize("tolerance", [1e-4, 1e-6, 1e-8])
@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("method", OURS)
def test_errors_are_not_larger_than_those_of_other_programs(method, name, tolerance):
    model, t_end = zoo()[name][0], zoo()[name][4]
    times = tuple(np.linspace(0.1, 1.0, 7) * t_end)
    want, settings = reference(name, times), {"rtol": tolerance, "atol": 1e-2 * tolerance, "t_eval": list(times)}
    mine = far(model, simulated(name, method=method, **settings), want)
    theirs = []
    for other in THEIRS[method]:
        try:
            theirs.append(far(model, simulated(name, method=other, **settings), want))
        except gs.GyrostatError as error:
            assert "pip install" in str(error)
    assert mine < max(2.0 * max(theirs), 3.0 * tolerance), (mine, theirs)
    assert mine < 30.0 * tolerance * (1.0 + np.abs(want.v).max())


@pytest.mark.parametrize("name", ZOO)
@pytest.mark.parametrize("method", OURS)
def test_the_work_of_the_efforts_is_in_balance(method, name):
    run = simulated(name, method=method, rtol=1e-8, atol=1e-10)
    size = 1.0 + np.abs(run.work).max() + np.abs(run.kinetic_energy).max()
    if name != "friction":  # what it takes is no work of the efforts
        assert np.abs(run.energy_residual).max() < 3e-6 * size


@pytest.mark.parametrize("method", OURS)
def test_accelerations_and_efforts_belong_to_the_states(method):
    model, law, q, v, t_end = zoo()["tree"]
    run = gs.simulate(model, law, q, v, t_end, method=method)
    for k in range(0, len(run.t), 7):
        np.testing.assert_allclose(gs.rnea(model, run.q[k], run.v[k], run.a[k]), run.tau[k], atol=1e-10)
        np.testing.assert_allclose(law(run.t[k], run.q[k], run.v[k]), run.tau[k], atol=1e-13)


# ------------------------------------------------------------------------------------------------ orders
def test_the_formulas_of_radau_are_those_of_collocation():
    table = radau_coefficients()
    c, B, A = table[:3], table[3:12].reshape(3, 3), table[12:21].reshape(3, 3)
    for k in range(1, 4):  # exact for polynomials
        np.testing.assert_allclose(A @ c ** (k - 1), c**k / k, rtol=1e-14)
    for k in range(1, 6):  # of order 5 at the end
        assert A[2] @ c ** (k - 1) == pytest.approx(1.0 / k, rel=1e-14)
    mu, pair = table[21], complex(*table[22:24])
    left, right = table[24:33].reshape(3, 3), table[33:42].reshape(3, 3)
    np.testing.assert_allclose(B @ right[0], mu * right[0], rtol=1e-12)
    np.testing.assert_allclose((left[1] + 1j * left[2]) @ B, pair * (left[1] + 1j * left[2]), rtol=1e-12)
    unit = np.outer(right[0], left[0]) + 2.0 * np.outer(right[1] + 1j * right[2], left[1] + 1j * left[2]).real
    np.testing.assert_allclose(unit, np.eye(3), atol=1e-13)


def test_the_polynomials_of_differences_interpolate():
    basis = bdf_coefficients()[32:].reshape(6, 6)
    for i in range(6):
        for j in range(6):  # values of y at t1 - j h whose difference of order i is one, lower ones zero
            s = 1.0 - j
            expected = np.prod([(s - 1.0 + m) / (m + 1.0) for m in range(i)])
            assert np.polyval(basis[i, ::-1], s) == pytest.approx(expected, abs=1e-12)
    moulton = bdf_coefficients()[24:30]
    np.testing.assert_allclose(moulton, [1, -1 / 2, -1 / 12, -1 / 24, -19 / 720, -3 / 160], rtol=1e-12)


@pytest.mark.parametrize("kind", ["plain", "tree"])
def test_radau_has_order_5(kind):
    model, law, q, v, _ = zoo()[kind]
    want = gs.simulate(model, law, q, v, 0.5, rtol=1e-12, atol=1e-13, t_eval=[0.5])
    errors = []
    for h in (0.025, 0.0125):
        method = METHODS["radau"](Plant(model, law), 1e6, 1e6, h)
        method.ctl[radau_memory.H], method.ctl[radau_memory.NEWTON_TOLERANCE] = h, 1e-17
        method.start(0.0, np.array(q), np.array(v), NONE)
        step = method.step(0.5)
        while step.t1 < 0.5:
            step = method.step(0.5)
        errors.append(max(turned(model, step.q1, want.q[0]), np.abs(step.v1 - want.v[0]).max()))
        assert method.words[radau_memory.ACCEPTED] == round(0.5 / h)
        assert method.rejected == 0
    assert 4.8 < np.log2(errors[0] / errors[1]) < 5.2, errors


@pytest.mark.parametrize(("method", "least"), [("bdf", 3.5), ("radau", 3.0)])
def test_errors_fall_with_the_steps_as_the_order_says(method, least):
    """Of radau the estimate that chooses the steps, and Newton's tolerance with it, have order 3."""
    model, law, q, v, t_end = zoo()["tree"]
    want = gs.simulate(model, law, q, v, t_end, rtol=1e-12, atol=1e-13, t_eval=[t_end])
    steps, errors = [], []
    for rtol in (1e-5, 1e-6, 1e-7, 1e-8):
        run = gs.simulate(model, law, q, v, t_end, method=method, rtol=rtol, atol=1e-2 * rtol, t_eval=[t_end])
        steps.append(run.counters.steps)
        errors.append(far(model, run, want))
    assert -np.polyfit(np.log(steps), np.log(errors), 1)[0] > least, (steps, errors)


# ------------------------------------------------------------------------------------------------ rotations
@pytest.mark.parametrize(("method", "allowed"), [("bdf", 1e-5), ("radau", 1e-7)])
def test_a_free_body_spins_fast_for_50_s_as_the_closed_form_says(method, allowed):
    """A symmetric body: the axis of symmetry precesses at a constant rate about the angular momentum [Euler]. SciPy's
    BDF and CVODE end 4e-6 and 3e-6 m away."""
    model, v0 = body("free", inertia=(1.0, 1.0, 1.5)), np.array([0.6, 0.0, 8.0, 0.3, -0.2, 0.1])
    run = gs.simulate(model, v0=v0, t_end=50.0, method=method, rtol=1e-9, atol=1e-10, t_eval=[25.0, 50.0])
    rate = 0.5 * v0[2]  # (C - A) / A times the spin
    for t, v, q in zip(run.t, run.v, run.q, strict=True):
        np.testing.assert_allclose(v[:3], [0.6 * np.cos(rate * t), 0.6 * np.sin(rate * t), 8.0], atol=1e-2 * allowed)
        np.testing.assert_allclose(q[:3], t * v0[3:], rtol=0, atol=allowed)
        L = np.array([0.6, 0.0, 12.0])  # R = exp(t L / A) exp(-rate t e_z)
        angle, axis = np.linalg.norm(L) * t, L / np.linalg.norm(L)
        a = np.append(np.sin(angle / 2) * axis, np.cos(angle / 2))
        s, c = np.sin(rate * t / 2), np.cos(rate * t / 2)
        b = np.array([0.0, 0.0, -s, c])
        want = np.append(a[3] * b[:3] + b[3] * a[:3] + np.cross(a[:3], b[:3]), a[3] * b[3] - a[:3] @ b[:3])
        assert 1.0 - abs(want @ q[3:]) < 1e-11
    assert abs(np.linalg.norm(run.q[-1, 3:]) - 1.0) < 1e-15


@pytest.mark.parametrize("method", OURS)
def test_lengths_of_quaternions_that_stray_are_made_one_without_a_restart(method):
    model, v0 = body(), np.array([1.0, 2.0, -0.7])
    want = gs.simulate(model, v0=v0, t_end=3.0, rtol=1e-12, atol=1e-13, t_eval=[3.0])
    made = METHODS[method](Plant(model), 1e-6, 1e-6)
    made.start(0.0, 0.5 * gs.neutral(model), v0, NONE)  # half the length of a rotation
    step = made.step(3.0)
    while step.t1 < 3.0:
        step = made.step(3.0)
    assert turned(model, step.q1, want.q[0]) < 2e-5
    memory = {"bdf": bdf_memory, "radau": radau_memory}[method]
    assert made.words[memory.RESTRETCHED] == 1
    raw = made.table[0, :4] if method == "bdf" else made.y[:4]
    assert np.linalg.norm(raw) == pytest.approx(1.0, abs=1e-2)


# ------------------------------------------------------------------------------------------------ cuts
@pytest.mark.parametrize("name", ["stiff", "drives of a tree"])
@pytest.mark.parametrize("method", OURS)
def test_same_bits_however_the_run_is_cut(method, name, monkeypatch):
    t_end = zoo()[name][4]
    whole = simulated(name, method=method)
    times = np.linspace(0.0, t_end, 57)
    for budget in (256, 1, 7):
        monkeypatch.setattr(compiled_method, "FIRST_BUDGET", budget)
        monkeypatch.setattr(compiled_method, "budget_after", lambda before, seconds: before)
        sampled = simulated(name, method=method, t_eval=times)
        again = simulated(name, method=method)
        np.testing.assert_array_equal(again.q, whole.q)
        np.testing.assert_array_equal(again.work, whole.work)
        np.testing.assert_array_equal(sampled.q[-1], whole.q[-1])
        np.testing.assert_array_equal(sampled.v[-1], whole.v[-1])
        np.testing.assert_array_equal(sampled.a[-1], whole.a[-1])
        assert sampled.counters.residual_evaluations == whole.counters.residual_evaluations
    looked_at = simulated(name, method=method, events=gs.Event(lambda t, q, v: 2.0 + 0.0 * q[0]))
    np.testing.assert_array_equal(looked_at.q, whole.q)


@pytest.mark.parametrize("name", ["plain", "tree", "drives"])
@pytest.mark.parametrize("method", OURS)
def test_a_law_in_python_gives_what_its_machine_code_gives(method, name):
    model, t_end = zoo()[name][0], zoo()[name][4]
    fast = simulated(name, method=method, t_eval=[0.3 * t_end, t_end])
    slow = simulated(name, method=method, t_eval=[0.3 * t_end, t_end], compiled=False)
    assert fast.counters.compiled
    assert not slow.counters.compiled
    assert far(model, slow, fast) < 1e-8


# ------------------------------------------------------------------------------------------------ what happens
@pytest.mark.parametrize("method", OURS)
def test_events_are_located_to_a_nanosecond(method):
    """Where the pendulum passes, by quadrature of its first integral."""
    model = gs.robots.pendulum()
    event = gs.Event(lambda t, q, v: q[0], name="down")
    settings = {"q0": [1.0], "t_end": 4.0, "events": event}
    want = gs.simulate(model, rtol=1e-13, atol=1e-14, max_step=0.01, **settings)
    run = gs.simulate(model, method=method, rtol=1e-11, atol=1e-12, **settings)
    assert len(run.events) == len(want.events) > 3
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in want.events], rtol=0, atol=1e-9)


@pytest.mark.parametrize("method", OURS)
def test_what_stands_against_a_stop_stays_there(method):
    model = gs.robots.two_link()
    model = model.replace({"elbow.lower": -0.2, "elbow.upper": 0.5})

    def push(t, q, v):
        return np.array([4.0 * np.sin(3.0 * t), 20.0 * np.sin(6.0 * t)])

    settings = {"q0": [0.1, 0.2], "t_end": 1.0, "events": gs.JointLimits(0.0), "t_eval": np.linspace(0.1, 1.0, 10)}
    want = gs.simulate(model, push, rtol=1e-11, atol=1e-12, **settings)
    run = gs.simulate(model, push, method=method, rtol=1e-8, atol=1e-9, **settings)
    assert [(e.name, e.kind) for e in run.events] == [(e.name, e.kind) for e in want.events]
    assert len(want.events) >= 3
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in want.events], atol=1e-6)
    np.testing.assert_allclose(run.q, want.q, atol=2e-6)


@pytest.mark.parametrize("method", OURS)
def test_a_forward_dynamics_of_yours_is_used(method):
    model = gs.robots.two_link()

    def damped(q, v, tau):
        return np.linalg.solve(gs.crba(model, q), tau - 2.0 * v - gs.rnea(model, q, v, np.zeros(2)))

    block = gs.BlockSolver(model, damped, like=gs.ForwardDynamics, check=False)
    settings = {"q0": [0.3, 0.0], "t_end": 0.5, "method": method, "rtol": 1e-8, "t_eval": [0.2, 0.5]}
    mine = gs.simulate(model, forward_dynamics=block, **settings)
    other = gs.simulate(model, lambda t, q, v: -2.0 * v, **settings)
    assert np.abs(gs.simulate(model, **settings).q - other.q).max() > 1e-3
    np.testing.assert_allclose(mine.q, other.q, atol=1e-6)


# ------------------------------------------------------------------------------------------------ samples
@pytest.mark.parametrize("method", OURS)
def test_samples_at_1_khz_cost_one_step_each(method):
    model = gs.robots.two_link()
    law = gs.blocks.pd([50.0, 30.0], [5.0, 3.0], reference=[0.5, -0.3], sample_time=1e-3)
    settings = {"q0": [0.3, 0.7], "t_end": 0.3, "t_eval": [0.1, 0.3]}
    want = gs.simulate(model, law, rtol=1e-11, atol=1e-12, **settings)
    run = gs.simulate(model, law, method=method, **settings)
    assert run.counters.steps < 1.2 * 300
    np.testing.assert_allclose(run.q, want.q, atol=1e-7)
    np.testing.assert_allclose(run.v, want.v, atol=1e-6)


@pytest.mark.parametrize("method", OURS)
def test_a_stiff_drive_between_samples_is_followed(method):
    """A lag of 0.1 ms behind a sample every 5 ms."""
    model = gs.robots.two_link()

    class Held:
        sample_time, memory, states = 5e-3, (0.0, 0.0), (0.0, 0.0)

        def output(self, t, x, p, m):
            return {"tau": p}

        def derivative(self, t, x, p, m):
            return 1e4 * (np.asarray(m) - p)

        def update(self, t, x, p, m):
            return -20.0 * (np.asarray(x["q"]) - 0.2) - 4.0 * np.asarray(x["v"])

    settings = {"q0": [0.3, 0.7], "t_end": 0.1, "t_eval": [0.05, 0.1]}
    want = gs.simulate(model, Held(), rtol=1e-10, atol=1e-12, **settings)
    run = gs.simulate(model, Held(), method=method, **settings)
    np.testing.assert_allclose(run.q, want.q, atol=1e-7)
    np.testing.assert_allclose(run.p, want.p, atol=1e-4)
