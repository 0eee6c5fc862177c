"""Joints that follow others by curves, q_f = g(q): cams, scotch yokes and curves of the user, against Lagrange's
equations of a mechanism that is written down by hand, and in every solver."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.algorithms.forward_dynamics import FORWARD, MASS_MATRIX
from gyrostat.simulate.methods import METHODS
from tests.engine.test_export_c import checked, compilers
from tests.support.comparing import REPRESENTATIONS, assert_close
from tests.support.lagrangian_cams import FOLLOWERS, Lagrangian, model, numbers

CASES = [(name, driven) for name in FOLLOWERS for driven in (False, True)]
IDS = [f"{name}{', driven' * driven}" for name, driven in CASES]
STATES = {"inside": (0.7, -0.4), "far": (7.1, 2.3), "before": (-3.1, 0.5)}
V, A = (1.3, -0.8), (0.6, 1.7)
cases = pytest.mark.parametrize(("name", "driven"), CASES, ids=IDS)
places = pytest.mark.parametrize("q", list(STATES.values()), ids=list(STATES))


@cases
@places
def test_inverse_dynamics_is_that_of_lagrange(name, driven, q):
    hand, robot = Lagrangian(FOLLOWERS[name], driven), model(name, driven)
    expected = numbers(hand.torques(q, V, A))
    assert robot.dofs == ("turn", "swing")
    assert_close(gs.rnea(robot, q, V, A), expected, 1e-11)
    for algorithm in gs.InverseDynamics.algorithms:
        for form in REPRESENTATIONS:
            solver = gs.InverseDynamics(robot, algorithm=algorithm, representation=form, mode="interpret")
            assert_close(solver(q, V, A), expected, 1e-11)
    D, C, G, Q, _ = gs.EquationsOfMotion(robot, mode="interpret")(q, V)
    assert_close(D @ A + C @ V + G + Q, expected, 1e-11)


@cases
@places
def test_forward_dynamics_mass_matrix_and_its_inverse_are_those_of_lagrange(name, driven, q):
    hand, robot = Lagrangian(FOLLOWERS[name], driven), model(name, driven)
    M, tau = numbers(hand.mass_matrix(q)), numbers(hand.torques(q, V, A))
    assert_close(gs.crba(robot, q), M, 1e-11)
    assert_close(gs.inverse_mass_matrix(robot, q), np.linalg.inv(M), 1e-10)
    assert_close(gs.aba(robot, q, V, tau), np.array(A), 1e-10)
    for form in REPRESENTATIONS:
        for algorithm in MASS_MATRIX:
            assert_close(gs.MassMatrix(robot, algorithm, form, mode="interpret")(q), M, 1e-11)
        for algorithm in FORWARD:
            assert_close(gs.ForwardDynamics(robot, algorithm, form, mode="interpret")(q, V, tau), np.array(A), 1e-10)


@cases
def test_bias_gravity_and_coriolis_are_those_of_lagrange(name, driven):
    hand, robot, q = Lagrangian(FOLLOWERS[name], driven), model(name, driven), STATES["inside"]
    C, rest = numbers(hand.christoffel(q, V)), (0.0, 0.0)
    assert_close(gs.bias(robot, q, V), numbers(hand.torques(q, V, rest)), 1e-11)
    spring = numbers(hand.gravity(q)) - numbers(Lagrangian(FOLLOWERS[name]).gravity(q))
    assert_close(gs.gravity(robot, q), numbers(hand.gravity(q)) - spring, 1e-11)
    assert_close(gs.coriolis(robot, q, V), C, 1e-10)
    terms = gs.EquationsOfMotion(robot, mode="interpret")(q, V)
    assert_close(terms[1] @ V, C @ V, 1e-10)
    assert_close(terms[1] + terms[1].T, C + C.T, 1e-10)


@cases
def test_energies_are_those_of_lagrange_and_change_by_the_power(name, driven):
    hand, robot, q = Lagrangian(FOLLOWERS[name], driven), model(name, driven), STATES["inside"]
    assert_close(gs.kinetic_energy(robot, q, V), float(hand.kinetic(*q, *V)), 1e-12)
    assert_close(gs.potential_energy(robot, q), float(hand.potential(*q)), 1e-12)
    tau, h = np.array([0.4, -1.1]), 1e-5
    a = gs.aba(robot, q, V, tau)

    def energy(t):
        x, w = np.array(q) + np.array(V) * t + a * t * t / 2.0, np.array(V) + a * t
        return gs.kinetic_energy(robot, x, w) + gs.potential_energy(robot, x)

    power = tau @ V - numbers(hand.damping(q, V)) @ V
    assert abs((energy(h) - energy(-h)) / (2.0 * h) - power) < 1e-7


def difference(plus, minus, step):
    return numbers([(x - y) / (2 * step) for x, y in zip(plus, minus, strict=True)])


@cases
@pytest.mark.parametrize("method", ["closed-form", "forward-mode"])
def test_derivatives_are_those_of_lagrange(name, driven, method):
    import mpmath as mp

    hand, robot, q = Lagrangian(FOLLOWERS[name], driven), model(name, driven), STATES["inside"]
    by_q, by_v = np.zeros((2, 2)), np.zeros((2, 2))
    step = mp.mpf("1e-6")
    for k in range(2):
        ends = [[x + s * step if i == k else mp.mpf(x) for i, x in enumerate(q)] for s in (1, -1)]
        by_q[:, k] = difference(*(hand.torques(end, V, A) for end in ends), step)
        ends = [[x + s * step if i == k else mp.mpf(x) for i, x in enumerate(V)] for s in (1, -1)]
        by_v[:, k] = difference(*(hand.torques(q, end, A) for end in ends), step)
    derivatives = gs.InverseDynamicsDerivatives(robot, method=method, mode="interpret")(q, V, A)
    assert_close(derivatives.dtau_dq, by_q, 1e-9)  # error of the difference: step^2
    assert_close(derivatives.dtau_dv, by_v, 1e-9)
    assert_close(derivatives.dtau_da, numbers(hand.mass_matrix(q)), 1e-11)
    tau = numbers(hand.torques(q, V, A))
    back = gs.ForwardDynamicsDerivatives(robot, method=method, mode="interpret")(q, V, tau)
    inverse = np.linalg.inv(numbers(hand.mass_matrix(q)))
    assert_close(back.da_dq, -inverse @ by_q, 1e-8)
    assert_close(back.da_dv, -inverse @ by_v, 1e-8)
    assert_close(back.da_dtau, inverse, 1e-10)


@cases
def test_compiled_code_in_batches_gives_the_same(name, driven):
    robot, rng = model(name, driven), np.random.default_rng(3)
    q, v, a = rng.uniform(-3.0, 7.0, (17, 2)), rng.normal(size=(17, 2)), rng.normal(size=(17, 2))
    tau = gs.rnea(robot, q, v, a)
    one = gs.InverseDynamics(robot, mode="interpret")
    assert_close(tau, np.array([one(*x) for x in zip(q, v, a, strict=True)]), 1e-13)
    assert_close(gs.aba(robot, q, v, tau), a, 1e-10)
    first = gs.rnea_derivatives(robot, q, v, a).dtau_dq
    assert_close(first[5], gs.InverseDynamicsDerivatives(robot, mode="interpret")(q[5], v[5], a[5]).dtau_dq, 1e-12)


# ---------------------------------------------------------------------------------------------- motion
def by_hand(name, driven, q0, v0, t):
    """The motion from the hand-written equations, by SciPy."""
    from scipy.integrate import solve_ivp

    hand = Lagrangian(FOLLOWERS[name], driven)

    def rate(_, y):
        q, v = y[:2], y[2:]
        M = numbers(hand.mass_matrix(q))
        return [*v, *np.linalg.solve(M, -numbers(hand.torques(q, v, (0.0, 0.0))))]

    return solve_ivp(rate, (0.0, t[-1]), [*q0, *v0], t_eval=t, rtol=1e-10, atol=1e-11, method="DOP853").y.T


@pytest.fixture(scope="module")
def yoke_motion():
    t = np.linspace(0.0, 0.2, 5)
    return t, by_hand("scotch yoke", True, (0.7, -0.4), V, t)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_of_integration_moves_a_scotch_yoke_as_the_hand_written_equations_do(method, yoke_motion):
    t, y = yoke_motion
    robot = model("scotch yoke", True)
    options = {"dt": 2e-4} if "dt" in METHODS[method].options else {}
    run = gs.simulate(robot, q0=(0.7, -0.4), v0=V, t_end=t[-1], method=method, t_eval=t, **options)
    tolerance = {"semi-implicit-euler": 2e-3}.get(method, 2e-5)
    assert_close(run.q, y[:, :2], tolerance)
    assert_close(run.v, y[:, 2:], 10 * tolerance)


@pytest.mark.parametrize("name", ["slider-crank", "periodic cam"])
def test_motion_is_that_of_the_hand_written_equations_and_keeps_its_energy(name):
    t = np.linspace(0.0, 0.2, 5)
    y = by_hand(name, False, (0.7, -0.4), V, t)
    robot = model(name)
    run = gs.simulate(robot, q0=(0.7, -0.4), v0=V, t_end=t[-1], t_eval=t, rtol=1e-11, atol=1e-12)
    assert_close(run.q, y[:, :2], 1e-8)
    long = gs.simulate(robot, q0=(0.7, -0.4), v0=V, t_end=2.0, rtol=1e-11, atol=1e-12)
    energy = long.kinetic_energy + long.potential_energy
    assert np.ptp(energy) < 1e-8 * np.abs(energy).max()


@pytest.mark.parametrize("name", FOLLOWERS)
def test_rollouts_move_followers(name):
    robot = model(name, True)
    q0, v0 = np.tile([0.7, -0.4], (3, 1)), np.tile(V, (3, 1))
    run = gs.rollout(robot, lambda t, q, v: -0.3 * v, q0, v0, dt=1e-3, steps=40)
    plain = gs.simulate(robot, lambda t, q, v: -0.3 * v, q0=q0[0], v0=v0[0], t_end=0.04, rtol=1e-11, atol=1e-12)
    assert_close(run.q[-1], np.tile(plain.q[-1], (3, 1)), 1e-9)


@compilers
@pytest.mark.parametrize("name", FOLLOWERS)
def test_exported_c_moves_followers(name, compiler, tmp_path):
    for k, solver in enumerate((gs.InverseDynamics(model(name, True)), gs.ForwardDynamics(model(name, True)))):
        told = checked(compiler, solver.export_c(tmp_path / str(k), vectors=32))
        assert float(told.split()[-1]) <= 1e-12


@pytest.mark.parametrize("name", FOLLOWERS)
def test_casadi_functions_move_followers(name):
    robot, q, tau = model(name, True), (0.7, -0.4), (0.3, 0.2)
    assert_close(gs.ForwardDynamics(robot).casadi()(q, V, tau).full().ravel(), gs.aba(robot, q, V, tau), 1e-10)
