"""Linear-quadratic regulators: against SciPy, closed forms, each other, and in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import solve_continuous_are, solve_discrete_are

import gyrostat as gs

Q4, R1 = np.diag([1.0, 10.0, 0.1, 0.1]), 0.1


def cart_pole() -> gs.Model:
    cart = gs.RigidBody("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rod = gs.RigidBody("rod", mass=0.3, com=(0, 0, 0.5), inertia=(1e-3, 1e-3, 0.0))
    slide, pole = gs.Joint("slide", "prismatic", axis="x"), gs.Joint("pole", "revolute", axis="y", passive=True)
    return gs.assemble("cart_pole", gs.chain("world", slide, cart, pole, rod))


def mass() -> gs.Model:
    return gs.assemble(
        "mass", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), gs.RigidBody("m", mass=1.0, inertia=(1, 1, 1)))
    )


def test_the_regulator_of_a_double_integrator_has_its_closed_form():
    found = gs.studies.lqr(mass(), [0.0], Q=[4.0, 0.0], R=1.0)
    assert np.allclose(found.K[0], [[2.0, 2.0]], atol=1e-12)  # sqrt(q), sqrt(2 sqrt(q))
    assert np.allclose(found.P[0], [[4.0, 2.0], [2.0, 2.0]], atol=1e-12)
    assert np.allclose(np.poly(found.poles), [1.0, 2.0, 2.0])


def test_gains_are_those_of_scipy_analogue_and_digital():
    model = cart_pole()
    found = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1)
    A, B = gs.linearise(model, [0.0, 0.0])
    B = B[:, :1]
    P = solve_continuous_are(A, B, Q4, [[R1]])
    assert np.allclose(found.P[0], P, rtol=1e-9) and np.allclose(found.K[0], B.T @ P / R1, rtol=1e-9)
    assert found.inputs == ("slide",) and found.poles.real.max() < 0.0

    T = 0.02
    digital = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1, sample_time=T, weights="sum")
    from scipy.linalg import expm

    E = expm(T * np.block([[A, B], [np.zeros((1, 5))]]))
    Ad, Bd = E[:4, :4], E[:4, 4:]
    assert np.allclose(digital.P[0], solve_discrete_are(Ad, Bd, Q4, [[R1]]), rtol=1e-9)
    assert np.abs(digital.poles).max() < 1.0


def test_the_sampled_cost_is_the_integral():
    """x^T P x of the digital regulator against the cost of its motion, integrated."""
    model, T = mass(), 0.3
    found = gs.studies.lqr(model, [0.0], Q=[1.0, 0.5], R=0.2, sample_time=T)
    x, total, n = np.array([1.0, -0.4]), 0.0, 200
    for _ in range(80):
        u = float(-(found.K[0] @ x)[0])
        t = (np.arange(n) + 0.5) * T / n
        path = np.stack([x[0] + x[1] * t + 0.5 * u * t**2, x[1] + u * t])
        total += T / n * float((path[0] ** 2 + 0.5 * path[1] ** 2 + 0.2 * u**2).sum())
        x = np.array([x[0] + x[1] * T + 0.5 * u * T**2, x[1] + u * T])
    x0 = np.array([1.0, -0.4])
    assert abs(x0 @ found.P[0] @ x0 - total) < 1e-5 * total


def test_a_long_horizon_is_an_infinite_one_by_another_algorithm():
    model = cart_pole()
    ever = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1)
    long = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1, duration=20.0)
    assert np.abs(long.P[0] - ever.P[0]).max() < 1e-9 and np.abs(long.K[0] - ever.K[0]).max() < 1e-8
    digital = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1, sample_time=0.02)
    steps = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1, duration=20.0, sample_time=0.02)
    assert np.abs(steps.P[0] - digital.P[0]).max() < 1e-8


def test_a_finite_horizon_solves_the_riccati_equation_along_a_motion():
    """Central differences of P(t) against its equation; A and B change along the motion."""
    arm = gs.robots.two_link()
    move = gs.trajectories.quintic([0.0, 0.5], [1.0, -0.5], 1.0)
    found = gs.studies.lqr(arm, move, Q=[10.0, 10.0, 1.0, 1.0], R=0.01, Q_end=5.0, t=np.linspace(0.0, 1.0, 201))
    k, h = 100, 0.005
    rate = (found.P[k + 1] - found.P[k - 1]) / (2 * h)
    A, B = gs.linearise(arm, found.q[k], found.v[k], found.u[k])
    P, Q = found.P[k], np.diag([10.0, 10.0, 1.0, 1.0])
    right = -(A.T @ P + P @ A - P @ B @ B.T @ P / 0.01 + Q)
    assert np.abs(rate - right).max() < 2e-3 * np.abs(A.T @ P).max()
    assert np.allclose(found.P[-1], 5.0 * np.eye(4)) and np.allclose(
        found.u, gs.rnea(arm, *np.moveaxis(move.derivatives(found.t, 2), -2, 0))
    )


def test_fourth_order_of_the_gains_along_a_motion():
    arm = gs.robots.two_link()
    move = gs.trajectories.quintic([0.0, 0.5], [1.0, -0.5], 1.0)

    def P(n):
        return gs.studies.lqr(arm, move, Q=1.0, R=0.1, t=np.linspace(0.0, 1.0, n + 1)).P[0]

    fine = P(128)
    errors = [np.abs(P(n) - fine).max() for n in (8, 16)]
    assert 10.0 < errors[0] / errors[1] < 25.0


def test_the_blocks_hold_the_pole_up_in_a_run_and_in_a_rollout():
    model = cart_pole()
    for options in ({}, {"sample_time": 0.02}):
        block = gs.studies.lqr(model, [0.0, 0.0], Q=Q4, R=R1, **options).block(limit=30.0)
        run = gs.simulate(model, block, q0=[0.3, 0.3], t_end=6.0, progress=False)
        many = gs.rollout(model, block, [0.3, 0.3], dt=1e-3, steps=6000, every=None)
        assert run.counters.compiled and np.abs(run.q[-1]).max() < 0.01
        assert np.abs(run.q[-1] - many.q[-1]).max() < 1e-6


def test_a_block_along_a_motion_follows_it_from_beside():
    arm = gs.robots.two_link()
    move = gs.trajectories.quintic([0.0, 0.5], [1.0, -0.5], 1.0)
    found = gs.studies.lqr(arm, move, Q=[100.0, 100.0, 1.0, 1.0], R=1e-3, Q_end=10.0, t=np.linspace(0.0, 1.0, 41))
    run = gs.simulate(arm, found.block(), q0=[0.05, 0.45], t_end=1.0, progress=False)
    assert run.counters.compiled and np.abs(run.q[-1] - move(1.0)).max() < 5e-3


def test_quaternions_are_regulated_on_the_tangent():
    ball = gs.RigidBody("body", mass=1.0, inertia=(0.1, 0.2, 0.3))
    model = gs.assemble("top", gs.chain("world", gs.Joint("s", "spherical"), ball), gravity=(0, 0, 0))
    found = gs.studies.lqr(model, gs.neutral(model), Q=1.0, R=1.0, inputs=["s.wx", "s.wy", "s.wz"] if False else None)
    q0 = gs.integrate(model, gs.neutral(model), [1.0, -0.8, 1.5])
    run = gs.simulate(model, found.block(), q0=q0, t_end=15.0, progress=False)
    assert np.abs(gs.difference(model, gs.neutral(model), run.q[-1])).max() < 2e-2


def test_a_robot_that_stands_on_its_feet_is_regulated_in_what_they_leave_free():
    human = gs.robots.humanoid()
    q0 = gs.neutral(human)
    q0[7:] = [0, 0, -0.4, 0.8, -0.4, 0] * 2
    q0[2] -= gs.fk(human, q0)["left_foot.sole"].p[2]
    feet = ["left_foot.sole", "right_foot.sole"]
    found = gs.studies.lqr(human, q0, Q=[100.0] * 18 + [1.0] * 18, R=1e-3, contacts=feet)
    assert len(found.poles) == 12 and found.poles.real.max() < -1.0
    tau = found.T.T @ found.u[0]
    assert np.abs(gs.ContactDynamics(human, feet)(q0, np.zeros(18), tau).a).max() < 1e-9
    x = np.zeros(36)
    x[:18] = gs.contact_velocities(human, q0, np.eye(18)[3] * 0.01, feet)
    assert np.abs(found.K[0] @ x).max() > 0.1


def test_what_a_regulator_cannot_do_is_said():
    model = cart_pole()
    with pytest.raises(gs.GyrostatError, match="no actuated joint 'pole'"):
        gs.studies.lqr(model, [0, 0], Q=1.0, R=1.0, inputs=["pole"])
    with pytest.raises(gs.GyrostatError, match="cannot give the effort"):
        gs.studies.lqr(model, [0, 0.3], Q=1.0, R=1.0)
    with pytest.raises(gs.GyrostatError, match="R has the eigenvalue"):
        gs.studies.lqr(model, [0, 0], Q=1.0, R=0.0)
    with pytest.raises(gs.GyrostatError, match=r"Q has shape \(3,\), expected a number, \(4,\) or \(4, 4\)"):
        gs.studies.lqr(model, [0, 0], Q=[1, 2, 3], R=1.0)
    with pytest.raises(gs.GyrostatError, match="whole number of samples"):
        gs.studies.lqr(model, [0, 0], Q=1.0, R=1.0, duration=1.0, sample_time=0.3)
    two = gs.assemble(
        "two",
        *(
            gs.chain(
                "world",
                gs.Joint(n, "prismatic", axis="x", passive=n == "b"),
                gs.RigidBody(f"m{n}", mass=1.0, inertia=(1, 1, 1)),
            )
            for n in "ab"
        ),
    )
    with pytest.raises(gs.GyrostatError, match=r"no input reaches a motion with the pole .* most of it '[dv] b'"):
        gs.studies.lqr(two, [0, 0], Q=1.0, R=1.0)


def test_a_regulator_is_data():
    found = gs.studies.lqr(cart_pole(), [0.0, 0.0], Q=Q4, R=R1, duration=1.0, intervals=4)
    again = type(found).from_dict(found.to_dict())
    assert np.array_equal(again.K, found.K) and again.inputs == found.inputs and again.model == found.model


def test_elastic_joints_are_driven_at_their_rotors():
    model = gs.robots.two_link()
    model = model.with_drive("elbow", rotor_inertia=1e-4, gear_ratio=100.0, stiffness=5e3, damping=2.0)
    found = gs.studies.lqr(model, gs.neutral(model), Q=1.0, R=1.0)
    assert found.inputs == ("shoulder", "elbow_drive.rotor")
    A, B = gs.linearise(model, gs.neutral(model))
    B = B[:, [0, 2]]
    assert np.allclose(found.K[0], B.T @ solve_continuous_are(A, B, np.eye(6), np.eye(2)), rtol=1e-8)
    with pytest.raises(gs.GyrostatError, match="springs deflected by what they bear"):
        gs.studies.lqr(model, [0.3, 0.5, 0.5], Q=1.0, R=1.0)
