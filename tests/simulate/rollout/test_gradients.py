"""Gradients of rollouts are those of the numerical solution: against central differences for every kind of joint,
drive, law and parameter; the same bits for any threads, robots and checkpoints; mistakes are told."""

from dataclasses import dataclass

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.simulate.rollout import gradient as gradients
from tests.simulate.rollout.test_rollout import Held, Lag, floating
from tests.support.cam_models import branched as cams
from tests.support.comparing import assert_close
from tests.support.drive_models import driven_tree
from tests.support.foreign_kinds import CASES as KINDS
from tests.support.foreign_kinds import arm as foreign_arm
from tests.support.random_models import random_state
from tests.support.solver_zoo import branched, elastic

METHODS = ("rk4", "semi-implicit")
ARM = gs.robots.two_link()
MASS = next(path for path in ARM.paths() if path.endswith(".mass"))


@dataclass
class Case:
    """A rollout with random weights, as a function of one of its arguments."""

    model: gs.Model
    law: object
    given: dict
    options: dict

    def run(self, **changed):
        x = self.given | changed
        parameters = {name: value for name, value in x.items() if name not in ("q0", "v0", "tau")}
        return gs.rollout(self.model, x.get("tau", self.law), x["q0"], x["v0"], parameters=parameters, **self.options)

    def weights(self):
        run, rng = self.run(), np.random.default_rng(7)
        return rng.normal(size=run.q.shape), rng.normal(size=run.v.shape)

    def expect_exact(self, tolerance=1e-9, h=1e-3):
        """Every derivative, along one random direction, against differences of fourth order."""
        w_q, w_v = self.weights()
        gradient, rng = self.run().vjp((w_q, w_v)), np.random.default_rng(8)
        assert set(gradient) == set(self.given)

        def moved(name, by):
            return gs.integrate(self.model, self.given[name], by) if name == "q0" else self.given[name] + by

        def total(name, by):
            run = self.run(**{name: moved(name, by)})
            return np.sum(w_q * run.q) + np.sum(w_v * run.v)

        for name, derivative in gradient.items():
            x = np.asarray(self.given[name])
            assert derivative.shape == ((*x.shape[:-1], self.model.nv) if name == "q0" else x.shape)
            size = 1.0 if name in ("q0", "v0", "tau") else 0.1 * np.abs(x).max()
            d = size * rng.normal(size=derivative.shape)
            one, two = ((total(name, k * h * d) - total(name, -k * h * d)) / (2.0 * k * h) for k in (1.0, 2.0))
            want, got = (4.0 * one - two) / 3.0, np.sum(derivative * d)
            assert abs(got - want) <= tolerance * (1.0 + np.sum(np.abs(derivative * d))), (name, got, want)


def case(model, law=None, seed=0, robots=(), method="rk4", every=4, steps=12, dt=5e-3, **given):
    rng = np.random.default_rng(seed)
    states = [random_state(model, rng) for _ in range(max(1, int(np.prod(robots, dtype=int))))]
    q, v = (np.array([x[k] for x in states]).reshape(*robots, -1) for k in (0, 1))
    options = {"method": method, "every": every, "steps": steps, "dt": dt}
    return Case(model, law, {"q0": q, "v0": v, **given}, options)


# ------------------------------------------------------------------------------------------------ models
@pytest.mark.by_default(5)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", gs.JOINT_KINDS)
def test_every_kind_of_joint(kind, method):
    model = gs.robots.tree(3, 3, kinds=[kind])
    if model.nv:
        case(model, method=method, tau=0.3 * np.arange(model.nv)).expect_exact()


@pytest.mark.parametrize("method", METHODS)
def test_a_free_base_with_gains_and_masses(method):
    model = floating()

    def law(t, q, v, kd, push):
        return -kd * np.tanh(v) + np.sin(t) * push

    rng, mass = np.random.default_rng(1), next(path for path in model.paths() if path == "arm.mass")
    given = {"kd": rng.uniform(0.1, 0.3, (3, model.nv)), "push": rng.normal(size=3), mass: rng.uniform(1.0, 2.0, 3)}
    case(model, law, robots=(3,), method=method, **given).expect_exact()


@pytest.mark.by_default(4)
@pytest.mark.parametrize(
    "model", [branched(), branched("free"), elastic(), cams(), *(driven_tree(k, 4, True, 1).model for k in (1, 2, 5))],
    ids=lambda model: model.name,
)  # fmt: skip
def test_drives_springs_couplings_and_cams(model):
    masses = [path for path in model.paths() if path.endswith(".mass") and np.all(np.asarray(model[path]) > 0.01)]
    given = {masses[-1]: np.array([1.0, 1.3]) * model[masses[-1]]} if masses else {}
    case(model, None, 4, (2,), dt=1e-4, tau=np.full((2, model.nv), 0.1), **given).expect_exact(3e-9)


@pytest.mark.parametrize("name", KINDS)
def test_components_of_users(name):
    """They have the two rows that define a component, and none in the recursion of articulated bodies."""
    model = foreign_arm(KINDS[name].mine(False))
    case(model, None, 4, tau=np.full(model.nv, 0.1)).expect_exact()


def test_the_stiffness_of_a_spring():
    model = elastic()
    path = next(path for path in model.paths() if path.endswith("stiffness"))
    case(model, None, 2, (3,), dt=1e-4, tau=np.full(model.nv, 0.1), **{path: np.array([9e3, 1e4, 2e4])}).expect_exact()


def test_gravity_and_a_base_that_swings():
    swinging = gs.HarmonicMotion(amplitude=(0.1, 0.2, 0.3), frequency=2.0, axis=(0.6, 0.0, 0.8), angle=0.3, rate=1.5)
    context = gs.Context(gravity=ARM.context.gravity, base=swinging)
    model = gs.Model(name="swinging", entities=ARM.entities, connections=ARM.connections, context=context)
    case(model, tau=np.array([0.1, 0.2])).expect_exact()
    gravity = np.array([[0.0, 0.0, -9.81], [1.0, 2.0, -3.0]])
    case(ARM, tau=np.array([0.1, 0.2]), **{"context.gravity": gravity}).expect_exact()


# ------------------------------------------------------------------------------------------------ laws
def pd(t, q, v, kp, kd):
    return kp * (0.4 * np.sin(3.0 * t) - q) - kd * v


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("every", [1, 3, None])
def test_gains_of_each_robot_scalar_and_vector(method, every):
    kp, kd = np.array([[10.0, 5.0], [20.0, 7.0], [1.0, 0.5]]), np.array([1.0, 2.0, 0.5])
    case(ARM, pd, 0, (3,), method, every, kp=kp, kd=kd).expect_exact()
    shared = case(ARM, pd, 0, (), method, every, kp=kp, kd=kd)  # all robots begin in one state: the sum over them
    shared.expect_exact()
    assert shared.run().vjp(shared.weights())["q0"].shape == (2,)


def test_the_end_of_many_robots_is_that_of_each_alone():
    kp, kd = np.linspace(5.0, 50.0, 22).reshape(11, 2), np.linspace(0.5, 2.0, 11)
    many = case(ARM, pd, 0, (11,), kp=kp, kd=kd, steps=40)
    w_q, w_v = many.weights()
    got = many.run().vjp((w_q, w_v))
    for k in (0, 7, 10):
        alone = many.run(**{name: x[k] if name in ("q0", "v0") else x[k : k + 1] for name, x in many.given.items()})
        one = alone.vjp((w_q[:, [k]], w_v[:, [k]]))
        assert np.array_equal(one["kp"][0], got["kp"][k]) and np.array_equal(one["kd"][0], got["kd"][k])
        assert np.array_equal(one["q0"], got["q0"][k]) and np.array_equal(one["v0"], got["v0"][k])


@pytest.mark.parametrize("method", METHODS)
def test_states_of_blocks_and_memory_of_digital_ones(method):
    case(ARM, Lag(), 0, (2,), method, dt=0.01).expect_exact()
    case(ARM, Held(), 0, (2,), method, dt=0.01, **{MASS: np.array([1.0, 1.5])}).expect_exact()


def test_wrenches_act_with_live_properties():
    arm = case(ARM, None, 0, (2,), tau=np.zeros(2), **{MASS: np.array([1.0, 2.0])})
    port = next(path for path in ("lower.tip", "upper.tip") if path.split(".")[0] in {e.name for e in ARM.entities})
    arm.options["wrenches"] = {port: lambda t, q, v: np.array([0.0, 0.0, 0.1, -v[0], 0.5, 1.0])}
    arm.expect_exact()


# ------------------------------------------------------------------------------------------------ how it is computed
@pytest.mark.parametrize("model", [ARM, floating()], ids=lambda model: model.name)
@pytest.mark.parametrize("method", METHODS)
def test_checkpoints_and_threads_change_no_bit(model, method, monkeypatch):
    law = Held() if model is ARM else lambda t, q, v: -0.1 * v
    steps = case(model, law, 0, (11,), method, every=10, steps=50, dt=0.01)
    weights = steps.weights()
    want = steps.run().vjp(weights)
    threaded = steps.run()
    steps.options["threads"] = 3
    for largest in (gradients.LARGEST, 1, 30_000):
        monkeypatch.setattr(gradients, "LARGEST", largest)
        for run in (steps.run(), threaded):
            got = run.vjp(weights)
            assert all(np.array_equal(got[name], want[name]) for name in want)


def test_weights_may_be_of_some_rows_of_one_kind_or_of_the_start():
    run = case(ARM, None, 0, (2,), tau=np.zeros(2)).run()
    w_q, w_v = np.zeros_like(run.q), np.zeros_like(run.v)
    w_q[0], w_v[0] = 2.0, 3.0
    start = run.vjp((w_q, w_v))
    assert np.array_equal(start["q0"], np.full((2, 2), 2.0)) and np.array_equal(start["v0"], np.full((2, 2), 3.0))
    w_q[:] = w_v[:] = 0.0
    w_q[2], w_v[1] = 1.0, 1.0
    both, one, other = run.vjp((w_q, w_v)), run.vjp({"q": w_q}), run.vjp((None, w_v))
    for name in both:
        assert_close(one[name] + other[name], both[name], 1e-13)
    assert not any(np.any(x) for x in run.vjp((None, None)).values())


def test_no_steps_and_no_robots_have_gradients_too():
    run = gs.rollout(ARM, None, np.zeros((3, 2)), steps=0)
    assert np.array_equal(run.vjp((np.ones((1, 3, 2)), None))["q0"], np.ones((3, 2)))
    none = gs.rollout(ARM, None, np.zeros((0, 2)), steps=4)
    assert none.vjp((none.q, none.v))["q0"].shape == (0, 2)


def test_the_rollout_and_its_arrays_are_not_changed():
    run = case(ARM, pd, kp=np.array([3.0]), kd=np.array([0.1])).run()
    q, v = run.q.copy(), run.v.copy()
    first = run.vjp((np.ones_like(q), None))
    run.q[:] = np.nan  # a user may use the memory of the result for something else
    assert np.array_equal(run.vjp((np.ones_like(q), None))["kp"], first["kp"])
    assert np.array_equal(run.v, v)


# ------------------------------------------------------------------------------------------------ mistakes
MISTAKES = {
    "kind": (3.0, r"weights are a float, expected a pair \(w_q, w_v\) or a mapping"),
    "one": (np.zeros((4, 2)), "weights are a ndarray, expected a pair"),
    "name": ({"tau": 0.0}, "there are no weights of 'tau'"),
    "shape": ((np.zeros(2), None), r"weights of q have shape \(2,\), expected \(4, 2\) like run\.q"),
    "finite": ((None, np.full((4, 2), np.nan)), "weights of v are not finite everywhere"),
}


@pytest.mark.parametrize("what", MISTAKES)
def test_mistakes_are_told(what):
    weights, message = MISTAKES[what]
    with pytest.raises(gs.GyrostatError, match=message):
        case(ARM, tau=np.zeros(2)).run().vjp(weights)


def test_a_robot_that_diverged_has_no_derivatives():
    v = np.array([[0.0], [5.0]])
    run = gs.rollout(
        gs.robots.pendulum(), lambda t, q, v: 1e3 * v**3, np.zeros((2, 1)), v, steps=100, nonfinite="return"
    )
    with pytest.raises(gs.StateError, match=r"robot 1 diverged in step \d+, it has no derivatives"):
        run.vjp((np.ones_like(run.q), None))


def test_a_law_without_a_derivative_is_told():
    run = gs.rollout(gs.robots.pendulum(), lambda t, q, v: np.sqrt(q), [0.0], steps=1, dt=1e-3)
    with pytest.raises(gs.NonFiniteError, match=r"derivatives of robot 0 are not finite in a step from 0 on"):
        run.vjp((np.ones_like(run.q), None))
