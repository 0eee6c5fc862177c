"""``bdf``, ``radau``, those of SciPy and of SUNDIALS: rotations, tolerances, stiffness, events, what goes wrong."""

import sys
from itertools import count, pairwise

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.constrained.constraint import UPPER, ConstraintRows
from gyrostat.algorithms.constrained.constraint_set import ConstraintSet
from gyrostat.simulate.methods import METHODS
from gyrostat.simulate.methods.sundials import quiet
from gyrostat.simulate.plant import vector_system
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.residual_system import ResidualSystem
from gyrostat.simulate.plant.vector_system import VectorSystem

pytest.importorskip("scipy", reason="scipy-bdf and scipy-radau need scipy")
pytest.importorskip("sksundae", reason="cvode and ida need scikit-sundae")

ALL = ("bdf", "radau", "scipy-bdf", "scipy-radau", "cvode", "ida")
OTHERS = ALL[2:]
G = 9.81
# torque-free body, I = (1, 2, 3), w0 = (0.01, 1, 0.01), by Jacobi's functions: angular velocity in the body at t
OMEGA = {
    5: (-0.064829616986886026, 0.99794645185066601, 0.038309612539006191),
    10: (-0.87457343789109365, 0.48499618734104845, 0.50500122054791334),
    20: (-0.0058138369621877092, -1.0000330991021133, 0.0088279990224833323),
}


def body(kind="spherical", gravity=(0, 0, 0), **options):
    options = {"mass": 2.0, "inertia": (1, 2, 3)} | options
    link = gs.RigidBody("body", **options)
    return gs.assemble("body", gs.chain("world", gs.Joint("joint", kind), link), gravity=gravity)


def tree():
    """A free body that carries a spherical pendulum and a hinged rod."""
    hub = gs.RigidBody("hub", mass=2.0, inertia=(0.2, 0.3, 0.4), frames={"left": (0.3, 0, 0), "right": (-0.2, 0.1, 0)})
    bob = gs.RigidBody("bob", mass=0.5, com=(0, 0.1, -0.4), inertia=(0.02, 0.03, 0.01))
    rod = gs.RigidBody("rod", mass=0.3, com=(0, 0, -0.2), inertia=(0.01, 0.01, 0.002))
    return gs.assemble(
        "tree",
        gs.chain("world", gs.Joint("base", "free"), hub),
        gs.chain("hub.left", gs.Joint("ball", "spherical"), bob),
        gs.chain("hub.right", gs.Joint("hinge", "revolute", axis="x", lower=-0.5, upper=0.5), rod),
    )


def quaternions(model, q):
    return q[..., model.layout.quaternions]


def turned(model, q, want):
    """Largest rotation or shift between configurations."""
    return np.abs(gs.difference(model, want, q)).max()


# ------------------------------------------------------------------------------------------------ closed forms
@pytest.mark.parametrize("kind", ["spherical", "free"])
@pytest.mark.parametrize("method", ALL)
def test_a_torque_free_body_turns_as_jacobis_functions(method, kind):
    model, v0 = body(kind), np.zeros(3 if kind == "spherical" else 6)
    v0[:3] = (0.01, 1, 0.01)
    run = gs.simulate(model, v0=v0, t_end=20.0, method=method, rtol=1e-9, atol=1e-10, t_eval=list(OMEGA))
    for w, (t, want) in zip(run.v[:, :3], OMEGA.items(), strict=True):
        np.testing.assert_allclose(w, want, rtol=0, atol=1e-8, err_msg=f"t = {t}")
    R = run.frames()["body.origin"].R
    momentum = np.einsum("tij,j,tj->ti", R, (1, 2, 3), run.v[:, :3])
    np.testing.assert_allclose(momentum, np.tile((0.01, 2, 0.03), (3, 1)), atol=3e-8)
    np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-8)
    np.testing.assert_allclose(np.linalg.norm(quaternions(model, run.q), axis=-1), 1.0, atol=1e-15)
    assert run.counters.jacobian_evaluations > 0


TILT, AXIAL, LENGTH = 0.6, 40.0, 0.15


def precession(t):
    """Steady precession of a heavy top: q and v at t. A cos(tilt) W^2 - C w W + m g l = 0, w the axial spin."""
    A, C, weight = 0.02 + 1.5 * LENGTH**2, 0.03, 1.5 * G * LENGTH
    W = (C * AXIAL - np.sqrt((C * AXIAL) ** 2 - 4 * A * np.cos(TILT) * weight)) / (2 * A * np.cos(TILT))
    spin = AXIAL - W * np.cos(TILT)
    a, b, c = W * t / 2, TILT / 2, spin * t / 2  # R = Rz(W t) Rx(tilt) Rz(spin t)
    q = np.array(
        [np.cos(a - c) * np.sin(b), np.sin(a - c) * np.sin(b), np.sin(a + c) * np.cos(b), np.cos(a + c) * np.cos(b)]
    )
    across = W * np.sin(TILT)
    return q, np.array([across * np.sin(spin * t), across * np.cos(spin * t), AXIAL])


@pytest.mark.parametrize("method", ALL)
def test_a_heavy_top_precesses_steadily(method):
    """Spinning at 40 rad/s for 1 s, more than 6 turns."""
    top = body(mass=1.5, com=(0, 0, LENGTH), inertia=(0.02, 0.02, 0.03), gravity=(0, 0, -G))
    q0, v0 = precession(0.0)
    for tolerance in (1e-4, 1e-6):
        run = gs.simulate(top, q0=q0, v0=v0, t_end=1.0, method=method, rtol=tolerance, atol=tolerance, t_eval=[1.0])
        q, v = precession(1.0)
        assert turned(top, run.q[0], q) < 12.0 * tolerance
        assert np.abs(run.v[0] - v).max() / AXIAL < 2.0 * tolerance
        assert run.frames()["body.origin"].R[0, 2, 2] == pytest.approx(np.cos(TILT), abs=5.0 * tolerance)


# ------------------------------------------------------------------------------------------------ tolerances
@pytest.fixture(scope="module")
def tumbling():
    model, v0 = body(), np.array([1.0, 2.0, -0.7])
    return model, v0, gs.simulate(model, v0=v0, t_end=3.0, rtol=1e-12, atol=1e-13, t_eval=[3.0])


@pytest.mark.parametrize("method", ALL)
def test_errors_go_with_the_tolerance(method, tumbling):
    model, v0, want = tumbling
    tolerances, errors = 10.0 ** -np.arange(3.0, 9.0), []
    for tolerance in tolerances:
        run = gs.simulate(model, v0=v0, t_end=3.0, method=method, rtol=tolerance, atol=tolerance, t_eval=[3.0])
        errors.append(max(turned(model, run.q[0], want.q[0]), np.abs(run.v - want.v).max()))
    slope = np.polyfit(np.log(tolerances), np.log(errors), 1)[0]
    assert 0.8 < slope < 1.4, (slope, errors)
    assert np.all(np.array(errors) < 15.0 * tolerances), errors / tolerances


@pytest.mark.parametrize("method", ALL)
def test_the_dense_output_is_as_good_as_the_steps_and_of_unit_length(method, tumbling):
    model, v0, _ = tumbling
    times = np.linspace(0.0, 3.0, 301)
    want = gs.simulate(model, v0=v0, t_end=3.0, rtol=1e-11, atol=1e-12, t_eval=times)
    run = gs.simulate(model, v0=v0, t_end=3.0, method=method, rtol=1e-7, atol=1e-7, t_eval=times)
    assert run.counters.steps < 250
    assert turned(model, run.q, want.q) < 1.5e-6
    assert np.abs(run.v - want.v).max() < 1.5e-6
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), 1.0, atol=1e-15)
    assert np.sum(run.q[:-1] * run.q[1:], axis=1).min() > 0.9  # one sign all along


@pytest.mark.parametrize("method", ALL)
def test_dense_outputs_stay_when_the_method_has_gone_on(method, tumbling):
    model, v0, _ = tumbling
    made = METHODS[method](Plant(model), 1e-6, 1e-8)
    made.start(0.0, gs.neutral(model), v0, np.zeros(0))
    steps = [made.step(1.0) for _ in range(12)]
    for before, after in pairwise(steps):
        assert after.t0 == before.t1 < after.t1
        for step, t in ((before, before.t1), (after, after.t0)):
            q, v, _ = step.dense(t)
            np.testing.assert_allclose(q, before.q1, atol=1e-13)
            np.testing.assert_allclose(v, before.v1, atol=1e-13)
    assert steps[3].dense(np.linspace(steps[3].t0, steps[3].t1, 5))[0].shape == (5, 4)


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_the_dense_output_is_the_polynomial_of_the_library(method, tumbling):
    model, v0, _ = tumbling
    made = METHODS[method](Plant(model), 1e-2, 1e-2)
    made.start(0.0, gs.neutral(model), v0, np.zeros(0))
    for _ in range(25):
        step = made.step(3.0)
        t = step.t0 + 0.37 * (step.t1 - step.t0)
        y = made._solver.step(t, "normal", None).y
        np.testing.assert_allclose(step.dense(t)[1], y[4:], rtol=0, atol=1e-13)
        np.testing.assert_allclose(step.dense(t)[0], y[:4] / np.linalg.norm(y[:4]), rtol=0, atol=1e-13)


@pytest.mark.parametrize("method", ALL)
def test_limits_are_reached_exactly_and_left_again(method, tumbling):
    model, v0, want = tumbling
    made = METHODS[method](Plant(model), 1e-6, 1e-6)
    made.start(0.0, gs.neutral(model), v0, np.zeros(0))
    for limit in (0.1, 0.7, 0.7 + 1e-7, 3.0):
        step = made.step(limit)
        while step.t1 < limit:
            step = made.step(limit)
        assert step.t1 == limit
    assert turned(model, step.q1, want.q[0]) < 2e-5
    assert made.statistics.get("restarts", 0) == 0


@pytest.mark.parametrize("method", ALL)
def test_rotations_are_held_to_the_tolerance_where_nothing_else_changes(method):
    model = body()
    for tolerance in (1e-4, 1e-6):
        run = gs.simulate(
            model, v0=[0, 0, 10.0], t_end=2.0, method=method, rtol=tolerance, atol=tolerance, t_eval=[2.0]
        )
        assert turned(model, run.q[0], np.array([0, 0, np.sin(10.0), np.cos(10.0)])) < 25.0 * tolerance
        np.testing.assert_allclose(run.v, [[0, 0, 10.0]], atol=1e-13)


@pytest.mark.parametrize("method", ALL)
def test_no_step_is_longer_than_max_step(method, tumbling):
    model, v0, _ = tumbling
    run = gs.simulate(model, v0=v0, t_end=1.0, method=method, rtol=1e-4, max_step=0.01)
    assert np.diff(run.t).max() <= 0.01 * (1 + 1e-9)
    assert run.t[-1] == 1.0


# ------------------------------------------------------------------------------------------------ Jacobians
class Servo:
    """Efforts with two states of their own, of everything."""

    states = (0.3, -0.2)

    def output(self, t, x, p, m):
        q, v = x["q"], x["v"]
        return {"tau": np.array([p[0] * q[k] - p[1] * v[k] * v[k] + np.sin(t) * q[k + 1] for k in range(len(v))])}

    def derivative(self, t, x, p, m):
        return np.array([x["q"][3] * x["v"][0] - p[0], x["q"][4] * p[1]])


@pytest.mark.parametrize("held", [(), (9,)])
@pytest.mark.parametrize("compiled", [None, False])
def test_jacobians_are_exact_at_quaternions_of_any_length(compiled, held):
    plant = Plant(tree(), Servo(), compiled)
    names, rows = ("held",) * len(held), np.eye(10)[list(held)]
    fixed = ConstraintRows(names, lambda q: q[..., : len(held)], rows, [UPPER] * len(held))
    plant.constrain(ConstraintSet((fixed,), 10), plant.model)
    plant.active = plant.active.with_rows(np.ones(len(held), dtype=bool))
    assert bool(plant.why_not_compiled) == (compiled is False)
    system, rng = ResidualSystem(plant), np.random.default_rng(5)
    y = np.concatenate([gs.random_configuration(plant.model, 3), rng.normal(size=12)])
    y[system.quaternion] *= np.array([[1.3], [0.8]])
    dy, c = rng.normal(size=system.size), 3.7

    def differences(function, z, h=1e-5):
        units = h * np.eye(len(z))
        return np.stack([(function(z + e) - function(z - e)) / (2 * h) for e in units], axis=1)

    slopes = differences(lambda z: system.residual(0.3, z, dy), y)
    slopes += c * differences(lambda z: system.residual(0.3, y, z), dy)
    np.testing.assert_allclose(system.residual_jacobian(0.3, y, dy, c), slopes, atol=2e-8)
    if not held:  # what a stop's effort changes by the configuration is left out there
        np.testing.assert_allclose(system.jacobian(0.3, y), differences(lambda z: system.rates(0.3, z), y), atol=1e-7)
    rates = system.rates(0.3, y)
    np.testing.assert_allclose(system.residual(0.3, y, rates), 0.0, atol=1e-12)


def test_large_models_are_not_recorded_and_give_the_same(monkeypatch):
    plant = Plant(tree(), lambda t, q, v: -0.1 * v + q[:10])
    system = VectorSystem(plant)
    y = np.concatenate([1.1 * gs.random_configuration(plant.model, 3), np.linspace(-1, 1, 10)])
    monkeypatch.setattr(vector_system, "MANY", 1)
    large = VectorSystem(plant)
    np.testing.assert_allclose(large.rates(0.1, y), system.rates(0.1, y), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(large.jacobian(0.1, y), system.jacobian(0.1, y), rtol=1e-12, atol=1e-13)


def test_lengths_of_quaternions_have_no_meaning():
    plant = Plant(tree(), lambda t, q, v: -0.1 * v + q[:10])
    system = ResidualSystem(plant)
    y = np.concatenate([gs.random_configuration(plant.model, 3), np.linspace(-1, 1, 10)])
    scale = np.ones(system.size)
    scale[system.quaternion] = [[1.7], [0.4]]
    np.testing.assert_allclose(system.rates(0.0, scale * y), scale * system.rates(0.0, y), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(system.state(scale * y)[0], y[:12], atol=1e-15)
    assert not system.strayed(y)
    assert system.strayed(scale * y)


@pytest.mark.parametrize("method", OTHERS)
def test_a_quaternion_that_strays_from_unit_length_is_made_one_again(method, monkeypatch, tumbling):
    model, v0, want = tumbling
    made = METHODS[method](Plant(model), 1e-3, 1e-3)
    made.start(0.0, 0.9 * gs.neutral(model), v0, np.zeros(0))
    monkeypatch.setattr(VectorSystem, "strayed", lambda self, y: np.linalg.norm(y[:4]) < 0.95)
    step = made.step(1.0)
    assert made._begin[0] == step.t1
    np.testing.assert_array_equal(made._begin[1], [*step.q1, *step.v1])
    assert abs(np.linalg.norm(step.q1) - 1.0) < 1e-15
    assert abs(np.linalg.norm(made.step(1.0).q1) - 1.0) < 1e-15
    looks = count(1)
    monkeypatch.setattr(VectorSystem, "strayed", lambda self, y: next(looks) in (6, 9))
    run = gs.simulate(model, v0=v0, t_end=3.0, method=method, rtol=1e-6, atol=1e-6, t_eval=[3.0])
    assert run.counters.statistics["restarts"] == 2
    assert turned(model, run.q[0], want.q[0]) < 2e-5
    assert abs(np.linalg.norm(run.q[0]) - 1.0) < 1e-15


# ------------------------------------------------------------------------------------------------ cost
def evaluations(run):
    return run.counters.rhs_evaluations + run.counters.residual_evaluations


@pytest.mark.parametrize("method", ALL)
def test_a_fast_spin_costs_little_more_with_a_ball_than_with_a_hinge(method):
    """50 rad/s for 1 s in gravity, 8 turns, about an axis that a hinge may have too. No step is lost by turning."""
    link = {"mass": 2.0, "com": (0.3, 0, 0), "inertia": (1, 2, 3)}
    hinge = gs.assemble(
        "hinge",
        gs.chain("world", gs.Joint("joint", "revolute", axis="z"), gs.RigidBody("body", **link)),
        gravity=(0, -G, 0),
    )
    ball = body(gravity=(0, -G, 0), **link)
    settings = {"t_end": 1.0, "method": method, "rtol": 1e-6, "atol": 1e-6, "t_eval": [1.0]}
    plain, round_ = gs.simulate(hinge, v0=[50.0], **settings), gs.simulate(ball, v0=[0, 0, 50.0], **settings)
    assert evaluations(round_) < 3.0 * evaluations(plain)
    angle = plain.q[0, 0]
    assert angle > 45.0
    assert turned(ball, round_.q[0], np.array([0, 0, np.sin(angle / 2), np.cos(angle / 2)])) < 1e-4
    np.testing.assert_allclose(np.linalg.norm(round_.q[0]), 1.0, atol=1e-15)
    assert round_.counters.statistics.get("restarts", 0) == 0


def bushing(t, q, v):
    """A stiff ball: 2e5 N m/rad, 200 N m s/rad, and a moving target."""
    return -2e5 * 2.0 * q[:3] * q[3] - 200.0 * v + 40.0 * np.array([np.sin(t), np.cos(2.0 * t), 1.0])


@pytest.fixture(scope="module")
def bushed():
    model = body(com=(0.1, 0, -0.2), inertia=(0.02, 0.03, 0.04), gravity=(0, 0, -G))
    times = np.linspace(0.05, 1.0, 20)
    return model, times, gs.simulate(model, bushing, t_end=1.0, rtol=1e-7, atol=1e-11, t_eval=times)


@pytest.mark.parametrize("method", ALL)
def test_a_stiff_bushing_is_followed_with_long_steps(method, bushed):
    model, times, want = bushed
    run = gs.simulate(model, bushing, t_end=1.0, method=method, rtol=1e-6, atol=1e-9, t_eval=times)
    assert run.counters.compiled
    assert evaluations(run) < 0.2 * evaluations(want)
    assert turned(model, run.q, want.q) < 1e-8
    assert turned(model, want.q, np.tile(gs.neutral(model), (20, 1))) > 1e-4


K = np.array([10.0, 1000, 200, 100, 10, 10, 10])
C = np.array([1000.0, 10000, 1000, 1000, 10, 10, 10])
MOST = {("cvode", 1e-6): 2250, ("cvode", 1e-3): 480, ("ida", 1e-6): 720, ("ida", 1e-3): 230}


def independent(t, q, v):
    """WM15 (28)-(34): time constants from 2e-5 s to 100 s."""
    w = np.pi / 7
    return K * (np.pi / 2 * np.cos(w * t) - q) + C * (-np.pi / 2 * w * np.sin(w * t) - v)


@pytest.fixture(scope="module")
def lwr():
    return gs.simulate(gs.robots.kuka_lwr4(), independent, **WAY, method="radau", rtol=1e-9, atol=1e-9).q


WAY = {"q0": np.full(7, np.pi / 2), "t_end": 14.0, "t_eval": np.linspace(1, 14, 14)}


@pytest.mark.parametrize(("method", "tolerance"), MOST)
def test_the_stiff_benchmark_costs_what_the_documents_say(method, tolerance, lwr):
    run = gs.simulate(gs.robots.kuka_lwr4(), independent, **WAY, method=method, rtol=tolerance, atol=tolerance)
    assert 0.8 * MOST[method, tolerance] < evaluations(run) < MOST[method, tolerance]
    assert np.abs(run.q - lwr).max() < 1.5 * tolerance
    assert run.counters.rejected < 0.1 * run.counters.steps


def test_ida_needs_forward_dynamics_at_the_start_only():
    model = gs.robots.two_link()
    run = gs.simulate(model, lambda t, q, v: -3.0 * v, [0.3, 0.7], t_end=1.0, method="ida")
    assert run.counters.rhs_evaluations == 1
    assert run.counters.residual_evaluations > run.counters.steps
    assert run.counters.statistics["restarts"] == 0


@pytest.mark.parametrize("method", ["bdf", "radau", "scipy-bdf", "scipy-radau", "cvode"])
def test_evaluations_are_counted_as_they_are_made(method):
    calls = []

    def torque(t, q, v):
        calls.append(t)
        return -2.0 * v

    run = gs.simulate(body(), torque, v0=[1.0, 2.0, 3.0], t_end=0.5, method=method, compiled=False, t_eval=[0.5])
    # the energy balance, and twelve differences and an effort for each Jacobian, come on top
    others = 4 * run.counters.steps + 13 * (run.counters.jacobian_evaluations + 1) + run.counters.output_evaluations
    assert evaluations(run) <= len(calls) <= evaluations(run) + others + 20
    assert run.counters.rejected >= 0


def test_adams_formulas_follow_a_smooth_motion_at_a_tight_tolerance(tumbling):
    model, v0, want = tumbling
    settings = {"v0": v0, "t_end": 3.0, "method": "cvode", "rtol": 1e-10, "atol": 1e-11, "t_eval": [1.3, 3.0]}
    adams, bdf = gs.simulate(model, formula="adams", **settings), gs.simulate(model, **settings)
    assert turned(model, adams.q[-1], want.q[0]) < 1e-8
    assert adams.counters.steps < 0.6 * bdf.counters.steps
    assert turned(model, adams.q[0], bdf.q[0]) < 1e-8


# ------------------------------------------------------------------------------------------------ events, blocks
@pytest.mark.parametrize("method", ALL)
def test_events_of_a_turning_body_are_where_they_belong(method):
    """It falls, turning, and is thrown up again."""
    model = body("free", gravity=(0, 0, -G))

    def up(t, q, v):
        return q, np.concatenate([v[:3], gs.fk(model, q)["body.origin"].R.T @ [0, 0, 2.0]])

    ground = gs.Event(lambda t, q, v: q[2], direction=-1, reset=up, name="ground")
    run = gs.simulate(
        model,
        q0=[0, 0, 1, 0, 0, 0, 1],
        v0=[3.0, 4.0, 5.0, 0, 0, 0],
        t_end=1.2,
        events=ground,
        method=method,
        rtol=1e-8,
        atol=1e-9,
    )
    fall = np.sqrt(2 / G)
    wanted = [fall + k * 4.0 / G for k in range(2)]
    np.testing.assert_allclose([e.t for e in run.events], wanted, atol=3e-7)
    np.testing.assert_allclose(np.linalg.norm(run.q[:, 3:], axis=1), 1.0, atol=1e-14)
    assert run.t[-1] == 1.2


class Sampled:
    """Damping that is set every 10 ms."""

    sample_time, memory = 0.01, (0.0, 0.0, 0.0)

    def __init__(self):
        self.instants = []

    def output(self, t, x, p, m):
        return {"tau": m}

    def update(self, t, x, p, m):
        self.instants.append(t)
        return -2.0 * np.asarray(x["v"])


@pytest.mark.parametrize("method", ALL)
def test_digital_blocks_are_sampled_exactly(method):
    model, block = body(), Sampled()
    want = gs.simulate(model, Sampled(), v0=[1.0, 2.0, 3.0], t_end=0.205, rtol=1e-11, atol=1e-12, t_eval=[0.205])
    run = gs.simulate(
        model, block, v0=[1.0, 2.0, 3.0], t_end=0.205, method=method, rtol=1e-8, atol=1e-9, t_eval=[0.205]
    )
    assert block.instants == [k * 0.01 for k in range(21)]
    assert turned(model, run.q[0], want.q[0]) < 1e-7
    np.testing.assert_allclose(run.v, want.v, atol=1e-6)


def swing(t, q, v):
    return 3.0 * np.sin(4.0 * t) * np.eye(10)[9] - 0.1 * v


@pytest.mark.parametrize("restitution", [0.0, 0.6])
@pytest.mark.parametrize("method", ALL)
def test_joint_limits_hold_beside_quaternions(method, restitution):
    model, q0 = tree(), gs.neutral(tree())
    settings = {"t_end": 1.0, "events": gs.JointLimits(restitution), "t_eval": [0.4, 1.0]}
    want = gs.simulate(model, swing, q0, rtol=1e-11, atol=1e-12, **settings)
    run = gs.simulate(model, swing, q0, method=method, rtol=1e-8, atol=1e-9, **settings)
    assert [(e.name, e.kind) for e in run.events] == [(e.name, e.kind) for e in want.events]
    assert len(want.events) > 1
    np.testing.assert_allclose([e.t for e in run.events], [e.t for e in want.events], atol=1e-6)
    assert turned(model, run.q, want.q) < 5e-6
    np.testing.assert_allclose(run.v, want.v, atol=2e-5)


@pytest.mark.parametrize("method", ALL)
def test_another_model_may_take_over(method):
    model = gs.robots.pendulum()
    heavy = model.replace({"rod.mass": 3.0})
    load = gs.Event(lambda t, q, v: t - 0.3, reset=lambda t, q, v: (heavy, q, v), name="load")
    push = lambda t, q, v: [2.0]  # noqa: E731
    settings = {"q0": [1.0], "t_end": 1.0, "events": load, "t_eval": [1.0]}
    want = gs.simulate(model, push, rtol=1e-11, **settings).q
    unchanged = gs.simulate(model, push, q0=[1.0], t_end=1.0, t_eval=[1.0]).q
    found = gs.simulate(model, push, method=method, rtol=1e-8, atol=1e-9, **settings).q
    assert abs(want - unchanged).max() > 1e-2
    np.testing.assert_allclose(found, want, atol=1e-6)


def test_every_stiff_method_has_own_states_and_energy_in_balance():
    model = body(com=(0.1, 0, -0.2), gravity=(0, 0, -G))

    class Lag:
        states = (0.0, 0.0, 0.0)

        def output(self, t, x, p, m):
            return {"tau": p}

        def derivative(self, t, x, p, m):
            return 20.0 * (-3.0 * np.asarray(x["v"]) - p)

    want = gs.simulate(model, Lag(), v0=[1.0, 2.0, 3.0], t_end=1.0, rtol=1e-11, atol=1e-12, t_eval=[1.0])
    for method in ALL:
        run = gs.simulate(
            model, Lag(), v0=[1.0, 2.0, 3.0], t_end=1.0, method=method, rtol=1e-8, atol=1e-9, t_eval=[1.0]
        )
        assert turned(model, run.q[0], want.q[0]) < 1e-7
        np.testing.assert_allclose(run.p, want.p, atol=1e-6)
        assert abs(run.energy_residual[-1]) < 1e-5


# ------------------------------------------------------------------------------------------------ what goes wrong
@pytest.mark.parametrize("method", ALL)
def test_what_a_torque_raises_comes_out_as_it_is(method):
    class MyError(Exception):
        pass

    def torque(t, q, v):
        if t > 0.2:
            raise MyError("no more")
        return -v

    with pytest.raises(gs.SimulationError, match=r"MyError: no more") as told:
        gs.simulate(body(), torque, v0=[1.0, 2.0, 3.0], t_end=1.0, method=method, compiled=False)
    assert isinstance(told.value.__cause__, MyError)
    assert 0.0 < told.value.result.t[-1] <= 0.2


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_an_interruption_keeps_what_was_computed(method):
    def torque(t, q, v):
        if t > 0.2:
            raise KeyboardInterrupt
        return -v

    run = gs.simulate(body(), torque, v0=[1.0, 2.0, 3.0], t_end=1.0, method=method, compiled=False)
    assert run.status == "interrupted"
    assert 0.0 < run.t[-1] <= 0.2


@pytest.mark.parametrize("compiled", [None, False])
@pytest.mark.parametrize("method", ALL)
def test_efforts_that_end_are_told_with_their_time(method, compiled, capfd):
    def torque(t, q, v):
        return np.sqrt(0.5 - t) * np.ones(3)

    with np.errstate(invalid="ignore"), pytest.raises(gs.SimulationError) as told:
        gs.simulate(body(), torque, v0=[0.1, 0.2, 0.3], t_end=1.0, method=method, compiled=compiled)
    assert told.value.t == pytest.approx(0.5, abs=1e-6)
    assert "nan" in str(told.value) or "finite" in str(told.value)
    assert np.isfinite(told.value.result.q).all()
    assert np.isfinite(told.value.result.a).all()
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", ALL)
def test_motions_that_grow_without_bound_end_in_a_sentence(method, capfd):
    with pytest.raises(gs.SimulationError, match=r"stopped at t = 0\.08.*Hint"):
        gs.simulate(gs.robots.pendulum(), lambda t, q, v: v**3 + 10.0, t_end=10.0, method=method)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_what_sundials_says_is_part_of_the_message_and_not_printed(method, capsys):
    """Noise from some evaluation on: ten tries are not enough to get rid of it."""
    rng, calls = np.random.default_rng(0), count()

    def torque(t, q, v):
        return 1e12 * rng.normal(size=1) if next(calls) > 400 else -v

    with pytest.raises(gs.SimulationError, match=r": At t = \d.* failed repeatedly.*Hint"):
        gs.simulate(gs.robots.pendulum(), torque, q0=[1.0], t_end=1.0, method=method, compiled=False)
    assert capsys.readouterr().out == ""
    assert sys.stdout is not quiet


@pytest.mark.parametrize("method", ["cvode", "ida"])
def test_what_a_torque_prints_is_printed(method, capsys):
    def torque(t, q, v):
        print("here")
        return -v

    gs.simulate(gs.robots.pendulum(), torque, q0=[1.0], t_end=0.1, method=method, compiled=False)
    assert capsys.readouterr().out.count("here\n") > 5


@pytest.mark.parametrize(
    ("method", "package"), [("cvode", "scikit-sundae"), ("ida", "scikit-sundae"), ("scipy-bdf", "scipy")]
)
def test_a_missing_package_is_told_in_one_sentence(method, package, monkeypatch):
    for name in ("sksundae", "sksundae.cvode", "sksundae.ida", "scipy"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(gs.GyrostatError, match=rf"method '{method}' needs {package}\. Hint: pip install {package}$"):
        gs.simulate(gs.robots.pendulum(), t_end=1.0, method=method)


def test_options_that_do_not_fit_are_named():
    model = gs.robots.pendulum()
    with pytest.raises(gs.GyrostatError, match=r"cvode: formula must be 'bdf' or 'adams', got 'euler'\. Hint"):
        gs.simulate(model, t_end=1.0, method="cvode", formula="euler")
    with pytest.raises(gs.GyrostatError, match=r"method 'ida' has no option 'formula'"):
        gs.simulate(model, t_end=1.0, method="ida", formula="adams")
    with pytest.raises(gs.GyrostatError, match=r"method 'cvode' chooses its steps itself, dt is not used"):
        gs.simulate(model, t_end=1.0, method="cvode", dt=0.1)
