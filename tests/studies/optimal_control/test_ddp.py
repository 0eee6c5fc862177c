"""Differential dynamic programming: closed forms, the regulator, collocation, bounds, contacts, its feedback."""

from __future__ import annotations

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.studies.optimal_control.ddp_backward import bounded_minimum

Phase, ddp = gs.studies.Phase, gs.studies.ddp


def mass() -> gs.Model:
    body = gs.RigidBody("m", mass=1.0, inertia=(1, 1, 1))
    return gs.assemble("mass", gs.chain("world", gs.Joint("x", "prismatic", axis="x"), body))


def cart_pole() -> gs.Model:
    cart = gs.RigidBody("cart", mass=1.0, inertia=(0.1, 0.1, 0.1))
    rod = gs.RigidBody("rod", mass=0.3, com=(0, 0, -0.5), inertia=(1e-9, 1e-9, 0.0))
    slide, pole = gs.Joint("slide", "prismatic", axis="x"), gs.Joint("pole", "revolute", axis="y", passive=True)
    return gs.assemble("cart_pole", gs.chain("world", slide, cart, pole, rod))


def test_the_block_move_has_the_cost_of_held_controls():
    """12 N^2 / (N^2 - 1) for N intervals of constant force: the least sum of u^2 h with the moves it must make."""
    phase = Phase(mass(), duration=1.0, nodes=21, cost="torque", start={"q": [0.0], "v": [0.0]},
                  end={"q": [1.0], "v": [0.0]}, limits=None)  # fmt: skip
    motion = ddp(phase)
    assert motion.converged and motion.miss < 1e-6 and motion.gap < 1e-12
    assert abs(motion.cost - 12.0 * 400.0 / 399.0) < 1e-5


def test_of_a_linear_robot_the_gains_are_those_of_the_digital_regulator():
    model = mass()
    Q, R, T = np.array([4.0, 1.0]), 0.5, 0.05
    start = {"q": [1.0], "v": [0.0]}
    phase = Phase(model, duration=2.0, nodes=41, cost=lambda s: 4.0 * s.q @ s.q + s.v @ s.v + 0.5 * s.u @ s.u,
                  end_cost=lambda s: 3.0 * s.q @ s.q + 3.0 * s.v @ s.v, start=start, limits=None)  # fmt: skip
    motion = ddp(phase)
    held = gs.studies.lqr(model, [0.0], Q=Q, R=R, duration=2.0, sample_time=T, Q_end=3.0)
    assert motion.converged and len(motion.history) <= 3
    assert np.abs(motion.K - held.K[:-1]).max() < 1e-5 * np.abs(held.K).max()
    x0 = np.array([1.0, 0.0])
    assert abs(motion.cost - x0 @ held.P[0] @ x0) < 1e-5 * motion.cost


def test_bounded_minimum_is_the_best_of_all_active_sets():
    rng = np.random.default_rng(0)
    for _ in range(50):
        A = rng.normal(size=(3, 3))
        H, g = A @ A.T + 0.1 * np.eye(3), 3.0 * rng.normal(size=3)
        low, high = -rng.random(3), rng.random(3)
        x, free = bounded_minimum(H, g, low, high)
        slope = H @ x + g
        assert np.all(x >= low) and np.all(x <= high) and np.abs(slope[free]).max(initial=0.0) < 1e-9
        assert np.all(np.where(x == low, slope >= 0.0, slope <= 1e-9)[~free])


def test_controls_stay_in_their_bounds_and_the_gains_of_those_at_a_bound_vanish():
    phase = Phase(mass(), duration=1.0, nodes=31, cost="torque", start={"q": [0.0], "v": [0.0]},
                  end={"q": [1.0], "v": [0.0]}, limits={"u": 4.6})  # fmt: skip
    motion = ddp(phase)
    stuck = np.abs(np.abs(motion.u[:, 0]) - 4.6) < 1e-9
    assert motion.converged and np.abs(motion.u).max() <= 4.6 and 2 <= stuck.sum() <= 20
    assert np.all(motion.K[stuck] == 0.0) and np.all(np.abs(motion.K[~stuck]).max(axis=(1, 2)) > 0.0)


@pytest.mark.slow
def test_the_swing_up_costs_what_collocation_finds_and_its_feedback_holds():
    model = cart_pole()
    phase = Phase(model, duration=2.0, nodes=101, cost="torque", start={"q": [0.0, 0.0], "v": [0.0, 0.0]},
                  end={"q": [1.0, np.pi], "v": [0.0, 0.0]}, limits={"u": 20.0})  # fmt: skip
    motion = ddp(phase, second=True)
    other = gs.studies.optimal_control([phase])
    assert motion.converged and other.converged and motion.miss < 1e-6
    assert abs(motion.cost / other.cost - 1.0) < 5e-3
    exact = gs.simulate(model, motion.block(), q0=[0.0, 0.0], t_end=2.0, rtol=1e-10, atol=1e-10, progress=False)
    assert np.abs(exact.q[-1] - [1.0, np.pi]).max() < 1e-3
    beside = gs.simulate(model, motion.block(), q0=[0.02, 0.03], t_end=2.0, progress=False)
    without = gs.simulate(model, motion.without_feedback(), q0=[0.02, 0.03], t_end=2.0, progress=False)
    off = [np.abs(run.q[-1] - [1.0, np.pi]).max() for run in (beside, without)]
    assert off[0] < 0.3 * off[1]


@pytest.mark.slow
def test_points_that_do_not_fit_together_are_a_start_too():
    model = gs.robots.two_link()
    start, end = {"q": [0.0, 0.0], "v": [0.0, 0.0]}, {"q": [1.0, 0.5], "v": [0.0, 0.0]}
    phase = Phase(model, duration=1.0, nodes=26, cost="torque", start=start, end=end, limits=None)
    q = np.linspace([0.0, 0.0], [1.0, 0.5], 26)
    motions = [ddp(phase), ddp(phase, q=q, v=np.gradient(q, 0.04, axis=0), second=True)]
    assert all(m.converged and m.gap < 1e-9 for m in motions)
    assert motions[1].history[0, 1] > 1e-3 and abs(motions[0].cost / motions[1].cost - 1.0) < 1e-6


def test_what_it_cannot_do_is_said():
    model = mass()
    usual = {"duration": 1.0, "nodes": 6, "cost": "torque", "start": {"q": [0.0], "v": [0.0]}}
    with pytest.raises(gs.GyrostatError, match="duration of the phase is free"):
        ddp(Phase(model, **(usual | {"duration": (0.5, 1.0)})))
    with pytest.raises(gs.GyrostatError, match="path conditions are not for it"):
        ddp(Phase(model, path=lambda s: s.q, **usual))
    with pytest.raises(gs.GyrostatError, match="must start in a given state"):
        ddp(Phase(model, **(usual | {"start": None})))
    with pytest.raises(gs.GyrostatError, match="start leaves something free"):
        ddp(Phase(model, **(usual | {"start": {"q": [0.0]}})))
    with pytest.raises(gs.GyrostatError, match=r"u has shape \(3,\), expected \(1,\) or \(5, 1\)"):
        ddp(Phase(model, **usual), u=np.zeros(3))
