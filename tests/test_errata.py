"""The list of errata names tests that exist, and what it says of the robot of WM15 holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from comparing import assert_close, assert_differs

import gyrostat as gs
from gyrostat.spatial.algebra import skew, tilde

ROOT = Path(__file__).parents[1]
LWR = gs.robots.kuka_lwr4()


def test_every_test_that_the_errata_name_exists():
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs" / "theory" / "errata.md").read_text("utf-8")))
    written = {name for path in Path(__file__).parent.glob("test_*.py")
               for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)}  # fmt: skip
    assert len(named) > 15
    assert named <= written, f"named but not there: {sorted(named - written)}"


def relative(q):
    """Axes of the last link in those of the one before."""
    frames = gs.ForwardKinematics(LWR, ["link6", "link7"], mode="interpret")(q)
    return frames["link6"].R.T @ frames["link7"].R


def test_joint_7_of_the_lwr_turns_with_its_own_coordinate():
    q = np.linspace(-0.6, 0.6, 7)
    sixth, seventh = 0.3 * np.eye(7)[5:]
    assert_close(relative(q + sixth), relative(q), 1e-15)
    assert_differs(relative(q + seventh), relative(q))
    moved = gs.ForwardKinematics(LWR, ["link6", "link7"], mode="interpret")(q, np.eye(7)[6])
    assert_close(moved["link6"].V, np.zeros(6), 1e-15)
    assert_close(np.linalg.norm(moved["link7"].V[:3]), 1.0, 1e-15)  # what H says, and R_z(q_6) would deny


def static_torques(g):
    """Upright, turned about the first axis."""
    model, rest = LWR.replace({"context.gravity": tuple(g)}), np.zeros(7)
    return gs.InverseDynamics(model, mode="interpret")(0.5 * np.eye(7)[0], rest, rest)


def test_only_gravity_along_the_first_axis_lets_the_lwr_stand_without_torque():
    first_axis = gs.ForwardKinematics(LWR, "q1.b", mode="interpret")(np.zeros(7))["q1"].R[:, 2]
    assert_close(first_axis, [0.0, 1.0, 0.0], 1e-15)
    assert_close(static_torques((0, -9.81, 0)), np.zeros(7), 1e-13)
    for g in ((0, 0, -9.81), (-9.81, 0, 0)):
        assert np.abs(static_torques(g)).max() > 1.0


def test_symmetry_in_time_does_not_tell_the_gravity_of_the_lwr():
    def motion(t):
        """WM15 (28) and its derivatives, for all joints."""
        w = np.pi / 7
        return (np.full(7, np.pi / 2 * f) for f in (np.cos(w * t), -w * np.sin(w * t), -w * w * np.cos(w * t)))

    for g in ((0, -9.81, 0), (0, 0, -9.81), (3.0, 1.0, -5.0)):
        solver = gs.InverseDynamics(LWR.replace({"context.gravity": g}), mode="interpret")
        assert_close(solver(*motion(3.0)), solver(*motion(11.0)), 1e-12)
        assert_differs(solver(*motion(3.0)), solver(*motion(4.0)))


# ---------------------------------------------------------------------------------------------- H04 (3.5)-(3.57)


def cocross(x):
    """X~(x) of H04 3.2.2.2."""
    return np.block([[skew(x[:3]), skew(x[3:])], [skew(x[3:]), np.zeros((3, 3))]])


def blocks(matrices):
    matrices = list(matrices)
    found = np.zeros((6 * len(matrices), 6 * len(matrices)))
    for k, block in enumerate(matrices):
        found[6 * k : 6 * k + 6, 6 * k : 6 * k + 6] = block
    return found


@pytest.fixture(scope="module")
def lwr():
    """A state of the LWR with its stacked operators in absolute representation, M-check and the rates of H."""
    model = gs.robots.kuka_lwr4()
    q, v, a = np.random.default_rng(1).uniform(-1, 1, (3, 7))
    ops = gs.operators(model, q, v, representation="absolute")
    M, V = ops.M, ops.V_tilde
    M_rate = -V.T @ M - M @ V
    A = ops.circle_acceleration(a)
    H_rate = V @ ops.H
    return {
        "model": model, "state": (q, v, a), "ops": ops, "n": 7,
        "check": 0.5 * (M_rate - blocks(cocross(x) for x in (M @ ops.V).reshape(-1, 6))),
        "printed check": 0.5 * (M_rate - blocks(cocross(x) for x in (M @ A).reshape(-1, 6))),
        "H'": H_rate, "H''": blocks(tilde(x) for x in A.reshape(-1, 6)) @ ops.H + V @ H_rate,
        "V_g": blocks(tilde(x) for x in ops.A_gravity.reshape(-1, 6)),
        "f": blocks(cocross(x) for x in ops.forces(a).reshape(-1, 6)),
        "exact": gs.rnea_derivatives(model, q, v, a),
    }  # fmt: skip


def test_3_51_holds_with_the_momentum_in_3_57(lwr):
    ops, H, Phi, M = lwr["ops"], lwr["ops"].H, lwr["ops"].Phi, lwr["ops"].M
    inner = -lwr["f"] @ H + M @ lwr["V_g"] @ Phi @ H + M @ Phi @ lwr["H''"]
    found = {key: H.T @ Phi.T @ (inner + 2 * lwr[key] @ Phi @ lwr["H'"]) for key in ("check", "printed check")}
    assert_close(found["check"], lwr["exact"].dtau_dq, 1e-13)
    assert np.abs(found["printed check"] - lwr["exact"].dtau_dq).max() > 0.01
    assert len(ops.ports) > 7


def test_3_52_needs_twice_the_rate_of_h(lwr):
    H, Phi, M = lwr["ops"].H, lwr["ops"].Phi, lwr["ops"].M
    once, twice = (H.T @ Phi.T @ (2 * lwr["check"] @ Phi @ H + k * M @ Phi @ lwr["H'"]) for k in (1, 2))
    assert_close(twice, lwr["exact"].dtau_dv, 1e-13)
    assert np.abs(once - lwr["exact"].dtau_dv).max() > 0.1


def test_3_5_and_3_6_need_the_same_sign_in_both_factors(lwr):
    ops, n, q = lwr["ops"], lwr["n"], lwr["state"][0]
    one, P, H = np.eye(len(ops.V)), ops.M, ops.H
    for _ in ops.ports:  # (3.7)-(3.11): right after as many steps as the tree is deep
        d = np.diag(H.T @ P @ H)
        inverse = np.diag([1.0 / x if x > 1e-12 else 0.0 for x in d])
        G = inverse @ H.T @ P
        E_psi = (one - H @ G) @ ops.E_phi
        P = E_psi.T @ P @ E_psi + ops.M
    K, Psi, D = G @ ops.E_phi, np.linalg.inv(one - E_psi), np.diag(d)
    M = gs.crba(lwr["model"], q)
    plus, minus = np.eye(n) + K @ ops.Phi @ H, np.eye(n) - K @ ops.Phi @ H
    assert_close(plus.T @ D @ plus, M, 1e-12)
    assert np.abs(minus.T @ D @ plus - M).max() > 0.1  # as printed
    inner = np.eye(n) - K @ Psi @ H
    assert_close(inner @ inverse @ inner.T, np.linalg.inv(M), 1e-11)
    factors = gs.Innovations(lwr["model"])(q)
    assert_close(factors.L, plus, 1e-11)
    assert_close(factors.D, d, 1e-12)
