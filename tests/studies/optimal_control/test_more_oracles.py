"""Closed forms of linear-quadratic problems, characteristics of motors, closed loops, and a transcription in CasADi."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are

import gyrostat as gs
from tests.studies.optimal_control.problems import block, cart_pole

Phase = gs.studies.Phase


def test_a_linear_quadratic_problem_costs_what_riccati_says():
    """min of the integral of u^2 + v^2 + q^2 for q'' = u, over a time after which everything is at rest."""
    A, B = np.array([[0.0, 1.0], [0.0, 0.0]]), np.array([[0.0], [1.0]])
    P = solve_continuous_are(A, B, np.eye(2), np.eye(1))
    x0 = np.array([1.0, -0.4])
    phase = Phase(block(), duration=20.0, nodes=81, cost=lambda s: s.u @ s.u + s.v @ s.v + s.q @ s.q,
                  start={"q": x0[:1], "v": x0[1:]})  # fmt: skip
    motion = gs.studies.optimal_control(phase, refine=2, grid_tolerance=1e-6)
    assert motion.cost == pytest.approx(x0 @ P @ x0, rel=1e-5)
    assert abs(motion.cost - x0 @ P @ x0) < motion.cost_error + 1e-8
    first = motion.phases[0]
    middle = first.at_fractions(np.array([0.5 * first.edges[1]]))[0, :2]
    np.testing.assert_allclose(first.multipliers[0, 0], -2.0 * P @ middle, rtol=2e-2)  # rows have -x_0, costs rise


@pytest.mark.slow
def test_a_motor_gives_less_the_faster_it_turns():
    drive = gs.Motor("m", torque_speed=((0.0, 2.0), (4.0, 0.0)))
    model = gs.assemble(
        "driven", gs.chain("world", gs.Joint("x", "revolute", axis="z"), gs.RigidBody("b", mass=1, inertia=(1, 1, 1))),
        drive, gs.connect("x.shaft", "m.shaft"),
    )  # fmt: skip
    ends = {"start": {"q": 0, "v": 0}, "end": {"q": 6.0, "v": 0}}
    motion = gs.studies.optimal_control(Phase(model, duration=(1.0, 9.0), nodes=31, cost="time", **ends))
    assert motion.converged
    room = 2.0 * np.maximum(1.0 - np.abs(motion.v[:, 0]) / 4.0, 0.0)
    assert np.all(np.abs(motion.u[:, 0]) < room + 1e-6)
    assert motion.u[0, 0] == pytest.approx(2.0, abs=1e-4)


@pytest.mark.slow
def test_the_swing_up_is_that_of_a_transcription_in_casadi():
    """Hermite-Simpson written out with the equations of the cart-pole in CasADi, nothing of gyrostat in it."""
    ca = pytest.importorskip("casadi")
    m1, m2, length, N, T = 2.0, 0.5, 0.5, 24, 2.0
    x, u = ca.SX.sym("x", 4), ca.SX.sym("u")
    s, c, w = ca.sin(x[1]), ca.cos(x[1]), x[3]
    M = ca.vertcat(ca.horzcat(m1 + m2, -m2 * length * c), ca.horzcat(-m2 * length * c, m2 * length**2))
    right = ca.vertcat(u - m2 * length * s * w**2, -m2 * 9.81 * length * s)
    f = ca.Function("f", [x, u], [ca.vertcat(x[2:], ca.solve(M, right))])
    X, U, h = ca.MX.sym("X", 4, N + 1), ca.MX.sym("U", N + 1), T / N
    rows, cost = [X[:, 0], X[:, N] - ca.DM([0.8, -np.pi, 0, 0])], 0
    for k in range(N):
        f0, f1 = f(X[:, k], U[k]), f(X[:, k + 1], U[k + 1])
        um = (U[k] + U[k + 1]) / 2
        fm = f((X[:, k] + X[:, k + 1]) / 2 + h / 8 * (f0 - f1), um)
        rows.append(X[:, k + 1] - X[:, k] - h / 6 * (f0 + 4 * fm + f1))
        cost += h / 6 * (U[k] ** 2 + 4 * um**2 + U[k + 1] ** 2)
    nlp = {"x": ca.veccat(X, U), "f": cost, "g": ca.veccat(*rows)}
    solver = ca.nlpsol("s", "ipopt", nlp, {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"})
    line = np.concatenate(
        [np.linspace([0, 0, 0.4, -np.pi / 2], [0.8, -np.pi, 0.4, -np.pi / 2], N + 1).ravel(), np.zeros(N + 1)]
    )
    theirs = float(solver(x0=line, lbg=0, ubg=0)["f"])
    ends = {"start": {"q": [0, 0], "v": 0}, "end": {"q": [0.8, -np.pi], "v": 0}}
    ours = gs.studies.optimal_control(Phase(cart_pole(), duration=T, nodes=N + 1, cost="torque", limits=None, **ends))
    assert ours.cost == pytest.approx(theirs, rel=1e-8)


def test_a_ball_turns_as_the_shortest_rotation_says():
    """A homogeneous ball about a skew axis, as a double integrator: 12 I^2 angle^2 / T^3."""
    inertia, angle, axis = 0.7, 1.3, np.array([2.0, -1.0, 2.0]) / 3.0
    parts = gs.Joint("ball", "spherical"), gs.RigidBody("b", mass=1.0, inertia=(inertia,) * 3)
    model = gs.assemble("ball", gs.chain("world", *parts))

    def turned(x: np.ndarray) -> np.ndarray:
        return gs.integrate(model, gs.neutral(model), x)

    start, end = turned(0.4 * axis), turned((0.4 + angle) * axis)
    phase = Phase(model, duration=1.5, nodes=15, cost="torque", start={"q": start, "v": 0}, end={"q": end, "v": 0})
    motion = gs.studies.optimal_control(phase)
    assert motion.converged and motion.phases[0].controls == model.dofs
    assert motion.cost == pytest.approx(12.0 * inertia**2 * angle**2 / 1.5**3, rel=1e-6)
    np.testing.assert_allclose(motion.q[-1], end, atol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(motion.q, axis=1), 1.0, atol=1e-12)
    assert np.abs(motion.replay()[0]).max() < 1e-6


@pytest.mark.slow
def test_loops_as_constraints_cost_what_they_do_in_minimal_coordinates():
    minimal = gs.robots.four_bars(1)
    constrained = minimal.replace({"context.loops": "constraints"})

    def solved(model: gs.Model) -> gs.studies.OptimalMotion:
        k, rest = model.dofs.index("A0"), gs.neutral(model)
        begin = float(rest[k])
        phase = Phase(
            model, duration=1.0, nodes=11, limits=None, controls=("A0",), cost=lambda s: s.tau[k] ** 2,
            start=lambda s: [s.q[k] - begin, s.v[k]], end=lambda s: [s.q[k] - begin - 0.4, s.v[k]],
        )  # fmt: skip
        return gs.studies.optimal_control(phase, guess=lambda t: rest)

    one, other = solved(minimal), solved(constrained)
    assert one.converged and other.converged
    assert other.cost == pytest.approx(one.cost, rel=1e-9)
    np.testing.assert_allclose(other.u, one.u, atol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("damping", [0.0, 2.0])
def test_an_elastic_joint_is_driven_at_its_rotor(damping):
    link = gs.chain("world", gs.Joint("x", "revolute", axis="z"), gs.RigidBody("b", mass=1, inertia=(1, 1, 1)))
    model = gs.assemble("soft", link).with_drive(
        "x", gear_ratio=50.0, rotor_inertia=1e-4, stiffness=400.0, damping=damping
    )
    rotor = model.dofs[1]
    ends = {"start": {"q": 0, "v": 0}, "end": {"q": {"x": 0.5}, "v": 0}}
    motion = gs.studies.optimal_control(Phase(model, duration=1.0, nodes=41, cost="torque", limits=None, **ends))
    assert motion.converged and motion.phases[0].controls == (rotor,)
    assert motion.q[-1, 0] == pytest.approx(0.5)
