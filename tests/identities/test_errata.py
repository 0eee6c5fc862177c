"""The list of errata names tests that exist, and what it says of the robot of WM15 holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import gyrostat as gs
from gyrostat.spatial.algebra import skew, tilde
from tests.support.comparing import assert_close, assert_differs

ROOT = Path(__file__).parents[2]
LWR = gs.robots.kuka_lwr4()


PAGE = (ROOT / "docs" / "theory" / "errata.md").read_text("utf-8")
ROWS = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| where")]


def written(pattern):
    """Names of the tests in files of the suite."""
    return {name for path in Path(__file__).parents[2].rglob(pattern)
            for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)}  # fmt: skip


def test_every_test_that_the_errata_name_exists():
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    assert len(named) > 40
    assert named <= written("test_*.py"), f"named but not there: {sorted(named - written('test_*.py'))}"


def test_every_row_of_the_errata_names_its_test():
    assert len(ROWS) > 40
    for row in ROWS:
        where, _, holds, shown = (cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1])
        assert where and holds, row
        assert re.search(r"`test_\w+`", shown), f"no test is named: {row}"


def test_every_test_of_errata_is_named_in_a_row():
    of_this_page = {name for name in written("test_errata*.py") if "errata" not in name}
    assert of_this_page <= set(re.findall(r"`(test_\w+)`", PAGE))


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
        "exact": gs.rnea_derivatives(model, q, v, a), "articulated": articulated(ops), "u": ops.rnea(a),
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


def articulated(ops):
    """P, D, G, tau-bar, E_psi, K, Psi of (3.7)-(3.13) by repetition: right after as many steps as the tree is deep."""
    one, P, H = np.eye(len(ops.V)), ops.M, ops.H
    for _ in ops.ports:
        d = np.diag(H.T @ P @ H)
        G = np.diag([1.0 / x if x > 1e-12 else 0.0 for x in d]) @ H.T @ P
        tau_bar = one - H @ G
        E_psi = tau_bar @ ops.E_phi
        P = E_psi.T @ P @ E_psi + ops.M
    return P, np.diag(d), G, tau_bar, E_psi, G @ ops.E_phi, np.linalg.inv(one - E_psi)


def forward(lwr, bias, sign=1.0):
    """(1 - K Psi H) D^-1 {u - H^T Psi^T [K^T u + sign bias]}."""
    ops, n, u = lwr["ops"], lwr["n"], lwr["u"]
    _, D, _, _, _, K, Psi = lwr["articulated"]
    inner = np.eye(n) - K @ Psi @ ops.H
    return inner @ np.linalg.solve(D, u - ops.H.T @ Psi.T @ (K.T @ u + sign * bias))


def test_3_5_and_3_6_need_the_same_sign_in_both_factors(lwr):
    ops, n, q, H = lwr["ops"], lwr["n"], lwr["state"][0], lwr["ops"].H
    _, D, _, _, _, K, Psi = lwr["articulated"]
    M = gs.crba(lwr["model"], q)
    plus, minus = np.eye(n) + K @ ops.Phi @ H, np.eye(n) - K @ ops.Phi @ H
    assert_close(plus.T @ D @ plus, M, 1e-12)
    assert np.abs(minus.T @ D @ plus - M).max() > 0.1  # as printed
    inner = np.eye(n) - K @ Psi @ H
    assert_close(inner @ np.linalg.inv(D) @ inner.T, np.linalg.inv(M), 1e-11)
    factors = gs.Innovations(lwr["model"])(q)
    assert_close(factors.L, plus, 1e-11)
    assert_close(factors.D, np.diag(D), 1e-12)


def test_3_14_needs_the_other_sign_of_gravity(lwr):
    ops, a = lwr["ops"], lwr["state"][2]
    velocity = -ops.M @ ops.Phi @ ops.Delta_tilde @ ops.V - ops.V_tilde.T @ ops.M @ ops.V
    weight = ops.M @ ops.A_gravity
    assert_close(forward(lwr, velocity + weight), a, 1e-11)
    assert np.abs(forward(lwr, velocity - weight) - a).max() > 50.0  # as printed, rad/s^2


def test_the_sweeps_of_3_1_3_need_two_signs_and_delta_without_tilde(lwr):
    ops, a = lwr["ops"], lwr["state"][2]
    assert_close(ops.Phi @ ops.Delta, ops.V, 1e-13)  # (i) (a); Phi Delta~, as printed, is no vector
    assert (ops.Phi @ ops.Delta_tilde).ndim == 2

    def b(sign):
        return ops.M @ (sign * ops.Phi @ ops.Delta_tilde @ ops.V + ops.A_gravity) - ops.V_tilde.T @ ops.M @ ops.V

    assert_close(forward(lwr, b(-1.0)), a, 1e-11)  # a := -Phi Delta~ V, c := Psi^T (K^T u + b)
    for bias, sign in ((1.0, -1.0), (-1.0, -1.0), (1.0, 1.0)):  # as printed; with one of the two signs mended
        assert np.abs(forward(lwr, b(bias), sign) - a).max() > 0.1


def test_table_3_11_needs_three_transpositions(lwr):
    ops, n, (_, _, a) = lwr["ops"], lwr["n"], lwr["state"]
    P, D, G, tau_bar, E_psi, K, Psi = lwr["articulated"]
    u = lwr["u"]
    b = ops.M @ (ops.A_gravity - ops.Phi @ ops.Delta_tilde @ ops.V) - ops.V_tilde.T @ ops.M @ ops.V

    def bias_force(joint):
        """c_1 = phi^T (tau-bar^T c_2 + G^T f_3), and b of the bodies, from the tips to the base."""
        c = b
        for _ in ops.ports:
            c = ops.E_phi.T @ (joint @ c + G.T @ u) + b
        return c

    def acceleration(c):
        d, e = np.linalg.solve(D, u - ops.H.T @ c), np.zeros(len(b))
        for _ in ops.ports:
            e = E_psi @ e + ops.H @ d
        return d - G @ ops.E_phi @ e

    assert_close(acceleration(bias_force(tau_bar.T)), a, 1e-11)
    assert np.abs(acceleration(bias_force(tau_bar)) - a).max() > 1.0  # as printed
    for printed in (lambda: np.linalg.solve(D, ops.H @ P), lambda: G @ u, lambda: G.T @ ops.E_phi @ b):
        with pytest.raises(ValueError, match=r"mismatch|matmul"):  # G = D^-1 H P, G f_3, G^T phi e: no such products
            printed()
    assert_close(np.linalg.inv(D) @ ops.H.T @ P, G, 1e-9)
    assert (K.shape, Psi.shape, n) == ((7, len(b)), (len(b), len(b)), 7)


# ---------------------------------------------------------------------------------------------- loops and contact
def test_the_sign_of_b_in_3_58_holds_for_a_rotation_by_plus_q_alone():
    rng = np.random.default_rng(2)
    for x, y, q in zip(rng.normal(size=(20, 3)), rng.normal(size=(20, 3)), rng.uniform(-3, 3, 20), strict=True):
        A, B = -2.0 * (x[0] * y[0] + x[1] * y[1]), 2.0 * (x[1] * y[0] - x[0] * y[1])
        for sign in (1.0, -1.0):  # ^K R_I = R_z(q); R_z(-q) if q is the angle of K against I
            c, s = np.cos(q), sign * np.sin(q)
            r = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]]) @ x - y
            C = x @ x + y @ y - 2.0 * x[2] * y[2] - r @ r
            assert abs(A * np.cos(q) + sign * B * np.sin(q) + C) < 1e-13
            assert abs(A * np.cos(q) - sign * B * np.sin(q) + C) > 1e-6  # the other sign


def test_the_closure_of_a_prismatic_joint_is_quadratic():
    rng = np.random.default_rng(3)
    x, y, n = rng.normal(size=(3, 3))
    n /= np.linalg.norm(n)
    for q in (-0.7, 0.4):
        r = np.linalg.norm(x - q * n - y)
        assert abs(q**2 - 2.0 * q * (n @ (x - y)) + (x - y) @ (x - y) - r**2) < 1e-14


def tip(q, v=None, a=None):
    """Motion of the last link's frame, in its own axes."""
    return gs.ForwardKinematics(LWR, "link7", mode="interpret")(q, *(x for x in (v, a) if x is not None))["link7"]


def contact():
    """A state of the LWR; the Jacobian of its tip's point (3, 7), M and Lambda."""
    q, v = np.random.default_rng(5).uniform(-1, 1, (2, 7))
    J, M = gs.jacobian(LWR, q, "link7", "local")[3:], gs.crba(LWR, q)  # Q = [0 1]
    return q, v, J, M, np.linalg.inv(J @ np.linalg.solve(M, J.T))


def test_a_contact_that_slides_needs_the_rate_of_q():
    """Q is constant in the axes of the body; the normal of the ground is not."""
    q, v, a = np.random.default_rng(6).uniform(-1, 1, (3, 7))
    normal, h = np.array([0.0, 1.0, 0.0]), 1e-4

    def height(t):
        return normal @ tip(q + v * t + a * t * t / 2.0).p

    exact = (height(h) - 2.0 * height(0.0) + height(-h)) / h**2
    now = tip(q, v, a)
    n = now.R.T @ normal  # the row of Q at this instant
    with_rate = n @ now.A[3:] - np.cross(now.V[:3], n) @ now.V[3:]  # Q V' + Q' V
    assert with_rate == pytest.approx(exact, abs=1e-6)
    assert abs(n @ now.A[3:] - exact) > 1e-2


def test_an_inelastic_impact_needs_minus_lambda_q_v():
    _, v, J, M, Lambda = contact()
    left = {sign: J @ (v + np.linalg.solve(M, J.T @ (sign * Lambda @ J @ v))) for sign in (-1.0, 1.0)}
    assert np.abs(left[-1.0]).max() < 1e-14
    assert np.abs(left[1.0]).max() > 0.1  # as printed: the contact's velocity is doubled
    after = v - np.linalg.solve(M, J.T @ (Lambda @ J @ v))
    assert after @ M @ after < v @ M @ v


def test_dependent_rates_of_a_leg_in_contact_need_a_minus():
    _, v, J, _, _ = contact()
    D, I = [0, 1, 3], [2, 4, 5, 6]  # three joints depend on the others
    for sign, holds in ((-1.0, True), (1.0, False)):
        dependent = sign * np.linalg.solve(J[:, D], J[:, I] @ v[I])
        assert (np.abs(J[:, D] @ dependent + J[:, I] @ v[I]).max() < 1e-12) == holds


# ---------------------------------------------------------------------------------------------- WM15, G13, KV
def test_equation_25_of_wm15_is_right_and_22_is_not():
    from tests.robots.test_robots import wm15_matrices

    q, v = np.random.default_rng(7).uniform(-1, 1, (2, 7))
    B, H, M, Omega, dB, dH, _ = wm15_matrices(q, v)
    Phi = np.linalg.inv(np.eye(42) - B)
    solver, rest = gs.InverseDynamics(LWR, mode="interpret"), np.zeros(7)
    velocity_forces = solver(q, v, rest) - solver(q, rest, rest)
    right = H.T @ Phi.T @ (M @ Phi @ (dB @ Phi @ H + dH) - Omega @ Phi @ H)  # (25)
    printed = H.T @ Phi.T @ M @ Phi @ (dB @ Phi @ H + dH - Omega @ Phi @ H)  # (22)
    assert_close(right @ v, velocity_forces, 1e-12)
    assert np.abs(printed @ v - velocity_forces).max() > 1e-3


def test_the_sizes_of_h_in_wm15_are_6n_by_n():
    from tests.robots.test_robots import wm15_matrices

    _, H, _, _, _, dH, _ = wm15_matrices(*np.ones((2, 7)))
    assert H.shape == dH.shape == (42, 7)  # 6n x 6 in step 1 of section 3


def test_the_spring_of_g13_14_restores_with_the_other_sign():
    M = gs.crba(gs.robots.hydraulic_manipulator(), np.full(5, 0.3))
    k, d = np.diag(np.full(5, 4e5)), np.diag(np.full(5, 2e4))
    zero, one = np.zeros((5, 5)), np.eye(5)
    for sign, stable in ((-1.0, True), (1.0, False)):  # tau = sign k (theta - theta_0) - d theta'
        poles = np.linalg.eigvals(np.block([[zero, one], [np.linalg.solve(M, sign * k), -np.linalg.solve(M, d)]]))
        assert (poles.real.max() < 0.0) == stable


def test_g_of_kv_6_is_the_component_of_the_field_along_z():
    lift = gs.assemble("lift", gs.chain("world", gs.Joint("z", "prismatic", axis="z"), gs.RigidBody("cage", mass=2.0)))
    for a in (0.0, 1.5):
        needed = gs.rnea(lift, [0.0], [0.0], [a])[0]  # field (0, 0, -9.81)
        assert 2.0 * (a - (-9.81)) == pytest.approx(needed)
        assert abs(2.0 * (a - 9.81) - needed) > 1.0  # (6) with g = +9.81, z upwards


def test_the_sums_of_kv_40_go_to_the_last_link():
    """E_2k: the force through joint 2 for a unit acceleration of joint k, four axes at rest, no gravity."""
    model = gs.robots.chain(4).replace({"context.gravity": (0.0, 0.0, 0.0)})
    q, rest = np.array([0.3, -0.5, 0.7, 0.2]), np.zeros(4)
    ops = gs.operators(model, q, rest, representation="inertial")
    at = 6 * ops.ports.index("link2.origin")
    for unit in np.eye(4)[:2]:  # E_21, E_22
        motions = gs.ForwardKinematics(model, mode="interpret")(q, rest, unit)
        e = []  # m_j b_jk, in the axes of the world
        for j in range(1, 5):
            link = motions[f"link{j}"]
            r = link.R @ np.array(model[f"link{j}.com"])
            e.append(model[f"link{j}.mass"] * (link.R @ link.A[3:] + np.cross(link.R @ link.A[:3], r)))
        force = ops.forces(unit)[at + 3 : at + 6]
        assert_close(e[1] + e[2] + e[3], force, 1e-13)  # (25)
        assert_differs(e[1] + e[2], force, 0.01)  # (40)
