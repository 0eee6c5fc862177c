"""The robots that come with gyrostat: their data, and their forces against closed forms and other computations."""

import inspect
import json
import logging
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.robots.puma560 import NOMINAL
from tests.support.examples import few
from tests.support.random_models import random_state, spatial_ports
from tests.support.reference_data import reference

# ------------------------------------------------------------------------------------------------ KUKA LWR 4+ [WM15]
# Appendix of WM15, typed once more; R_z(q_7) in joint 7, where it prints R_z(q_6); gravity, which it does not print,
# such that the arm stands.
MASS = (3.0, 3.0, 3.0, 2.5, 2.5, 1.0, 0.5)
INERTIA = (
    (1.27e-2, 1.27e-2, 5.4e-3),
    (1.27e-2, 1.27e-2, 5.4e-3),
    (1.27e-2, 1.27e-2, 5.4e-3),
    (1.017e-3, 4.5e-3, 4.5e-3),
    (1.017e-3, 4.5e-3, 4.5e-3),
    (1.44e-3, 1.44e-3, 1.44e-3),
    (3.66e-4, 3.66e-4, 2.25e-4),
)
GRAVITY = np.array([0.0, -9.81, 0.0])
S_IJ = (0.0, 0.1, 0.1, 0.1, 0.0975, 0.0975, 0.0)  # z of s'_01, s'_12, ..., s'_67
S_JI = (-0.2105, -0.1, -0.1, -0.0975, -0.0975, 0.0, -0.0309)  # z of s'_10, s'_21, ..., s'_76


def Rx(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]])


def Ry(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]])


def Rz(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]])


ONE = np.eye(3)
BEND = Rz(np.pi / 2) @ Ry(-np.pi / 2)
C_IJ = (Rx(-np.pi / 2) @ Rz(-np.pi / 2), BEND, ONE, BEND, ONE, BEND, ONE)  # C_01, C_12, ..., C_67
C_JI = (ONE, BEND, ONE, BEND, ONE, BEND, ONE)  # C_10, C_21, ..., C_76


def tilde(x):
    return np.array([[0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


def wm15_matrices(q, dq):
    """B, H, M, Omega, rates and F_G of WM15 (2)-(7), (36)-(49): linear part first, centroidal frames, global axes.

    In (38) the vector in the upper right block stands for its matrix.
    """
    n, zero, z = 7, np.zeros((3, 3)), np.array([0.0, 0.0, 1.0])
    B, dB, M, Omega = (np.zeros((6 * n, 6 * n)) for _ in range(4))
    H, dH, F_G = np.zeros((6 * n, n)), np.zeros((6 * n, n)), np.zeros(6 * n)
    A_i, w_i = np.eye(3), np.zeros(3)
    for j in range(n):
        at = slice(6 * j, 6 * j + 6)
        A_j = A_i @ C_IJ[j] @ Rz(q[j]) @ C_JI[j].T  # (6)
        s_ij, s_ji = A_i @ (S_IJ[j] * z), A_j @ (S_JI[j] * z)  # (4), (5)
        r_ij = s_ij - s_ji  # (3)
        h = A_i @ C_IJ[j] @ z  # (7)
        H[at, j] = np.concatenate([-tilde(h) @ s_ji, h])  # (37)
        turned = tilde(w_i) @ s_ji + tilde(h) @ s_ji * dq[j]
        dH[at, j] = np.concatenate([-tilde(tilde(w_i) @ h) @ s_ji - tilde(h) @ turned, tilde(w_i) @ h])  # (39)
        if j > 0:
            before = slice(6 * j - 6, 6 * j)
            B[at, before] = np.block([[ONE, -tilde(r_ij)], [zero, ONE]])  # (36)
            rate = tilde(w_i) @ r_ij - tilde(h) @ s_ji * dq[j]
            dB[at, before] = np.block([[zero, -tilde(rate)], [zero, zero]])  # (38)
        w_j = w_i + h * dq[j]  # (48)
        J_j = A_j @ np.diag(INERTIA[j]) @ A_j.T  # (46)
        M[at, at] = np.block([[MASS[j] * ONE, zero], [zero, J_j]])  # (45)
        Omega[at, at] = np.block([[zero, zero], [zero, -tilde(w_j) @ J_j]])  # (47)
        F_G[at] = np.concatenate([MASS[j] * GRAVITY, np.zeros(3)])  # (49)
        A_i, w_i = A_j, w_j
    return B, H, M, Omega, dB, dH, F_G


def wm15_torques(q, dq, ddq):
    """T of (23), by (24)-(26)."""
    B, H, M, Omega, dB, dH, F_G = wm15_matrices(q, dq)
    Phi = np.linalg.inv(np.eye(42) - B)  # (42)
    D = H.T @ Phi.T @ M @ Phi @ H  # (24)
    C = H.T @ Phi.T @ (M @ Phi @ (dB @ Phi @ H + dH) - Omega @ Phi @ H)  # (25)
    G = H.T @ Phi.T @ -F_G  # (26)
    return D @ ddq + C @ dq + G


def experiment(t):
    """q, dq of WM15 (28), (29), and ddq, of all seven joints."""
    w, every = np.pi / 7, np.ones(7)
    return (
        np.pi / 2 * np.cos(w * t) * every,
        -(np.pi**2) / 14 * np.sin(w * t) * every,
        -np.pi / 2 * w**2 * np.cos(w * t) * every,
    )


def test_the_lwr_has_the_data_of_the_paper():
    lwr = gs.robots.kuka_lwr4()
    assert lwr.dofs == tuple(f"q{j}" for j in range(1, 8))
    assert lwr.context.gravity.g == tuple(GRAVITY)
    assert lwr.context.base == "fixed"
    np.testing.assert_allclose(lwr["base.rotation"].matrix, C_IJ[0], atol=1e-15)
    assert lwr["base.translation"] == (0.0, 0.0, S_IJ[0])
    for j in range(7):
        body = lwr[f"link{j + 1}"]
        assert body.mass == MASS[j]
        assert body.inertia == tuple(map(tuple, np.diag(INERTIA[j]).tolist()))
        assert body.com == (0.0, 0.0, 0.0)  # the body frame is the centroidal frame
        assert lwr[f"q{j + 1}.axis"] == (0.0, 0.0, 1.0)
        joint = {frame.name: frame for frame in body.frames}
        assert joint["joint"].translation == (0.0, 0.0, S_JI[j])
        np.testing.assert_allclose(joint["joint"].rotation.matrix, C_JI[j], atol=1e-15)
        if j < 6:
            assert joint["next"].translation == (0.0, 0.0, S_IJ[j + 1])
            np.testing.assert_allclose(joint["next"].rotation.matrix, C_IJ[j + 1], atol=1e-15)


def test_the_lwr_stands_upright_at_zero():
    """Centres of mass above each other along y, at the heights that the lengths of the appendix add up to."""
    motions = gs.fk(gs.robots.kuka_lwr4(), np.zeros(7))
    heights = [0.2105, 0.4105, 0.6105, 0.808, 1.003, 1.1005, 1.1314]
    for j, height in enumerate(heights):
        np.testing.assert_allclose(motions[f"link{j + 1}.origin"].p, (0, height, 0), atol=1e-15)
    np.testing.assert_allclose(motions["link7.flange"].p, (0, 1.1623, 0), atol=1e-15)


def test_torques_of_the_lwr_equal_the_formulas_of_the_paper():
    lwr = gs.robots.kuka_lwr4()
    times = np.linspace(0, 14, 113)
    q, dq, ddq = (np.array(x) for x in zip(*map(experiment, times), strict=True))
    want = np.array([wm15_torques(*state) for state in zip(q, dq, ddq, strict=True)])
    assert np.abs(want).max() > 10.0
    np.testing.assert_allclose(gs.rnea(lwr, q, dq, ddq), want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(10))
def test_torques_of_the_lwr_equal_the_formulas_of_the_paper_in_any_state(seed):
    rng = np.random.default_rng(seed)
    state = rng.uniform(-np.pi, np.pi, 7), rng.normal(size=7), rng.normal(size=7)
    np.testing.assert_allclose(gs.rnea(gs.robots.kuka_lwr4(), *state), wm15_torques(*state), rtol=0, atol=1e-9)


def test_torques_of_the_lwr_equal_those_of_pinocchio():
    pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    from tests.support.pinocchio_oracle import Oracle

    lwr = gs.robots.kuka_lwr4()
    oracle = Oracle(lwr)
    for t in np.linspace(0, 14, 57):
        np.testing.assert_allclose(gs.rnea(lwr, *experiment(t)), oracle.rnea(*experiment(t)), rtol=0, atol=1e-9)


@pytest.mark.parametrize("representation", ["body", "inertial", "absolute"])
def test_torques_of_the_lwr_are_symmetric_about_seven_seconds(representation):
    """As WM15 says of its figure 5: the motion runs backwards after 7 s, and torques are even in the velocity."""
    lwr = gs.robots.kuka_lwr4()
    for s in np.linspace(0, 7, 29):
        early, late = (gs.rnea(lwr, *experiment(t), representation=representation) for t in (7 - s, 7 + s))
        np.testing.assert_allclose(early, late, rtol=0, atol=1e-12)
    assert np.ptp([gs.rnea(lwr, *experiment(t))[0] for t in (0, 3.5, 7)]) > 0.1  # and not because they are constant


# ------------------------------------------------------------------------------------------------ pendulum, chains
@pytest.mark.parametrize(("mass", "length"), [(1.0, 1.0), (2.5, 0.4)])
def test_the_pendulum_has_its_closed_form(mass, length):
    model = gs.robots.pendulum(mass, length)
    for q, v, a in np.random.default_rng(1).normal(size=(20, 3)):
        want = mass * length**2 / 3 * a + mass * 9.81 * length / 2 * np.sin(q)
        assert gs.rnea(model, [q], [v], [a]) == pytest.approx([want], rel=1e-13, abs=1e-13)
        # hanging along -z, it turns about y: towards -x
        np.testing.assert_allclose(
            gs.fk(model, [q])["rod.tip"].p, [-length * np.sin(q), 0, -length * np.cos(q)], atol=1e-15
        )


def test_a_chain_of_two_links_in_a_plane_has_its_closed_form():
    """Lagrange's equations of a double pendulum that stands upright."""
    m, l, g = 1.3, 0.4, 9.81
    model = gs.robots.chain(2, axes=("y",), length=l, mass=m)
    J, r = m * (3 * (l / 10) ** 2 + l**2) / 12, l / 2
    for q1, q2, v1, v2, a1, a2 in np.random.default_rng(2).normal(size=(20, 6)):
        c, s = np.cos(q2), np.sin(q2)
        M12, M22 = J + m * (r * r + l * r * c), J + m * r * r
        M11 = 2 * J + m * (2 * r * r + l * l + 2 * l * r * c)
        G2 = -m * g * r * np.sin(q1 + q2)
        G1 = -m * g * (r + l) * np.sin(q1) + G2
        tau1 = M11 * a1 + M12 * a2 - m * l * r * s * (2 * v1 * v2 + v2 * v2) + G1
        tau2 = M12 * a1 + M22 * a2 + m * l * r * s * v1 * v1 + G2
        np.testing.assert_allclose(gs.rnea(model, [q1, q2], [v1, v2], [a1, a2]), [tau1, tau2], rtol=0, atol=1e-13)


@pytest.mark.parametrize("n", [1, 2, 7, 60])
def test_a_chain_has_as_many_links_as_asked_for(n):
    model = gs.robots.chain(n, axes=("x", "y", "z"), length=0.25, mass=2.0)
    gs.check(model)
    assert model.dofs == tuple(f"joint{k}" for k in range(1, n + 1))
    assert [model[f"joint{k + 1}.axis"] for k in range(n)] == [tuple(np.eye(3)[k % 3].tolist()) for k in range(n)]
    assert sum(model[f"link{k + 1}.mass"] for k in range(n)) == 2.0 * n
    np.testing.assert_allclose(gs.fk(model, np.zeros(n))[f"link{n}.tip"].p, (0, 0, 0.25 * n), rtol=1e-14)


def test_an_upright_chain_carries_its_weight_without_torque():
    model = gs.robots.chain(5)
    q, zero = np.zeros(5), np.zeros(5)
    np.testing.assert_allclose(gs.rnea(model, q, zero, zero), zero, atol=1e-14)
    cut = gs.InverseDynamics(model).port_forces(q, zero, zero, ports=["joint1.b", "joint4.b"])
    np.testing.assert_allclose(cut["joint1.b"], (0, 0, 0, 0, 0, 5 * 9.81), rtol=1e-14)
    np.testing.assert_allclose(cut["joint4.b"], (0, 0, 0, 0, 0, 2 * 9.81), rtol=1e-14)


@pytest.mark.parametrize("n", [0, -3])
def test_a_chain_without_links_is_refused(n):
    with pytest.raises(gs.SpecError, match=rf"needs at least one link, got n = {n}"):
        gs.robots.chain(n)


# ------------------------------------------------------------------------------------------------ trainer [KV]
A_1, D_2 = 2.0, 1.2


def moved(model, seed):
    rng = np.random.default_rng(seed)
    return rng.uniform(-np.pi, np.pi, model.nv), rng.normal(size=model.nv), rng.normal(size=model.nv)


def test_the_trainer_has_the_axes_of_the_paper():
    """p*_1 = a_1 (c_1, s_1, 0), p*_2 = (0, 0, d_2), p*_3 = 0; axes vertical, vertical, then pitch and roll."""
    trainer = gs.robots.spatial_disorientation_trainer()
    gs.check(trainer)
    assert trainer.dofs == ("q1", "q2", "q3", "q4")
    assert [trainer[f"q{j}.axis"] for j in range(1, 5)] == [(0, 0, 1), (0, 0, 1), (0, 1, 0), (1, 0, 0)]
    for seed in range(5):
        q, _, _ = moved(trainer, seed)
        motions = gs.fk(trainer, q)
        p = [motions[f"q{j}.a"].p for j in range(1, 5)]
        np.testing.assert_allclose(p[1] - p[0], A_1 * np.array([np.cos(q[0]), np.sin(q[0]), 0]), atol=1e-14)
        np.testing.assert_allclose(p[2] - p[1], (0, 0, D_2), atol=1e-14)
        np.testing.assert_allclose(p[3] - p[2], np.zeros(3), atol=1e-14)
        np.testing.assert_allclose(motions["q2.a"].R[:, 2], (0, 0, 1), atol=1e-14)
        np.testing.assert_allclose(motions["gondola"].R, Rz(q[0] + q[1]) @ Ry(q[2]) @ Rx(q[3]), atol=1e-14)


def test_the_trainer_at_rest_carries_its_weight_and_holds_the_gondola():
    """Potential energy m g z of the gondola, whose centre of mass is at z = d_2 - r cos(q3) cos(q4)."""
    trainer, zero, m, r, g = gs.robots.spatial_disorientation_trainer(), np.zeros(4), 350.0, 0.05, 9.81
    for seed in range(5):
        q, _, _ = moved(trainer, seed)
        want = m * g * r * np.array([0, 0, np.sin(q[2]) * np.cos(q[3]), np.cos(q[2]) * np.sin(q[3])])
        np.testing.assert_allclose(gs.rnea(trainer, q, zero, zero), want, rtol=0, atol=1e-10)
        cut = gs.InverseDynamics(trainer).port_forces(q, zero, zero, ports=["q1.b"])["q1.b"]
        np.testing.assert_allclose(cut[3:], (0, 0, (900 + 400 + 200 + m) * g), rtol=1e-13, atol=1e-10)


def test_the_inertia_of_the_trainer_about_its_arm_is_that_of_its_parts():
    trainer, zero = gs.robots.spatial_disorientation_trainer(), np.zeros(4)
    arm = 900 * (3.0**2 + 0.8**2) / 12 + 900 * 0.5**2
    outer = 400 * (1.0**2 + 2.6**2) / 12 + 200 * 1.1**2 + 350 * (3 * 0.7**2 + 1.6**2) / 12
    M11 = gs.rnea(trainer, zero, zero, [1, 0, 0, 0])[0]
    assert pytest.approx(arm + outer + (400 + 200 + 350) * A_1**2, rel=1e-14) == M11


# ------------------------------------------------------------------------------------------------ manipulator [G13]
def g13_torques(model, q, dq, ddq):
    """tau of G13 (5) by the recursion (6), frame by frame: {j} is {j-1} turned and shifted by modified
    Denavit-Hartenberg parameters; in (5) the mass is m_i. The load is one more piece of link 5."""
    z, g = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.0, -9.81])
    R_j, P_j, w, dw, dv = np.eye(3), np.zeros(3), np.zeros(3), np.zeros(3), np.zeros(3)
    axes, places, pieces = [], [], []
    for j in range(5):
        shift = model[f"shift{j + 1}"]
        P = Rx(shift.alpha) @ [0, 0, shift.d] + [shift.a, 0, 0]
        R = (Rx(shift.alpha) @ Rz(q[j])).T
        dv = R @ (np.cross(dw, P) + np.cross(w, np.cross(w, P)) + dv)  # (6)
        dw = R @ dw + np.cross(R @ w, z * dq[j]) + z * ddq[j]
        w = R @ w + z * dq[j]
        P_j, R_j = P_j + R_j @ P, R_j @ R.T
        axes.append(R_j @ z)
        places.append(P_j)
        bodies = [(model[f"link{j + 1}"], np.zeros(3))] + ([(model["load"], np.array([0, 0, -0.5]))] if j == 4 else [])
        for body, at in bodies:
            I, P_C = np.array(body.inertia), at + body.com
            dv_C = np.cross(dw, P_C) + np.cross(w, np.cross(w, P_C)) + dv
            force = body.mass * (R_j @ dv_C - g)
            moment = R_j @ (I @ dw + np.cross(w, I @ w))  # (4)
            pieces.append((j, P_j + R_j @ P_C, force, moment))
    return [
        axes[j] @ sum(moment + np.cross(at - places[j], force) for i, at, force, moment in pieces if i >= j)
        for j in range(5)
    ]


def test_the_manipulator_has_the_axes_of_the_paper():
    arm = gs.robots.hydraulic_manipulator()
    gs.check(arm)
    assert arm.dofs == ("q1", "q2", "q3", "q4", "q5")
    assert {arm[f"q{j}.axis"] for j in range(1, 6)} == {(0, 0, 1)}
    assert arm["load.mass"] * 9.81 == pytest.approx(3200, rel=1e-15)
    np.testing.assert_allclose(gs.fk(arm, np.zeros(5))["link5.tool"].p, (3.5, 0, 0.4), atol=1e-15)
    for seed in range(5):
        q, _, _ = moved(arm, seed)
        q[3] = -q[1] - q[2]  # the load stays horizontal
        motions = gs.fk(arm, q)
        axis = [motions[f"q{j}.a"].R[:, 2] for j in range(1, 6)]
        np.testing.assert_allclose(axis[0], (0, 0, 1), atol=1e-14)
        np.testing.assert_allclose(axis[4], (0, 0, 1), atol=1e-14)
        assert abs(axis[1][2]) < 1e-14
        np.testing.assert_allclose([axis[2], axis[3]], [axis[1], axis[1]], atol=1e-14)
    lifted = gs.fk(arm, [0, 0.1, 0, 0, 0])["link5.tool"].p
    assert lifted[2] > 0.7  # positive angles lift


@pytest.mark.parametrize("seed", range(5))
def test_torques_of_the_manipulator_equal_the_formulas_of_the_paper(seed):
    for load in (0.0, 3200.0):
        arm = gs.robots.hydraulic_manipulator(load)
        want = g13_torques(arm, *moved(arm, seed))
        assert np.abs(want).max() > 100.0
        np.testing.assert_allclose(gs.rnea(arm, *moved(arm, seed)), want, rtol=0, atol=1e-9)


def test_torques_of_trainer_and_manipulator_equal_those_of_pinocchio():
    pytest.importorskip("pinocchio", reason="Pinocchio comes with the extra 'oracles'")
    from tests.support.pinocchio_oracle import Oracle

    for model in (gs.robots.spatial_disorientation_trainer(), gs.robots.hydraulic_manipulator()):
        oracle = Oracle(model)
        for seed in range(10):
            state = moved(model, seed)
            np.testing.assert_allclose(gs.rnea(model, *state), oracle.rnea(*state), rtol=0, atol=1e-9)


def test_the_load_of_the_manipulator_has_weight_and_inertia():
    zero, unit = np.zeros(5), np.eye(5)
    loaded, bare = gs.robots.hydraulic_manipulator(), gs.robots.hydraulic_manipulator(0)
    gs.check(bare)
    levers = np.array([0, 3.25, 1.65, 0.25, 0])  # of the tool about axes 2 to 4, stretched along x
    more = gs.rnea(loaded, zero, zero, zero) - gs.rnea(bare, zero, zero, zero)
    np.testing.assert_allclose(more, 3200 * levers, rtol=0, atol=1e-10)
    for model, weight in ((loaded, 660 * 9.81 + 3200), (bare, 660 * 9.81)):
        cut = gs.InverseDynamics(model).port_forces(zero, zero, zero, ports=["q1.b"])["q1.b"]
        np.testing.assert_allclose(cut[3:], (0, 0, weight), rtol=1e-14, atol=1e-10)
    m = 3200 / 9.81
    about_z = m * 3.5**2 + m * (m / 7850) ** (2 / 3) / 6
    swing = gs.rnea(loaded, zero, zero, unit[0])[0] - gs.rnea(bare, zero, zero, unit[0])[0]
    assert pytest.approx(about_z, rel=1e-12) == swing
    assert gs.robots.hydraulic_manipulator(np.int64(100))["load.mass"] == pytest.approx(100 / 9.81)


@pytest.mark.parametrize("load", [-1.0, np.nan, np.inf, "heavy", None])
def test_a_load_that_is_no_weight_is_refused(load):
    with pytest.raises(gs.SpecError, match=r"hydraulic_manipulator: load must be a weight of 0 N or more, got"):
        gs.robots.hydraulic_manipulator(load)


# ------------------------------------------------------------------------------------------------ random trees
def bodies_of(model):
    return [entity for entity in model.entities if isinstance(entity, gs.RigidBody)]


def joints_of(model):
    return [entity for entity in model.entities if isinstance(entity, gs.Joint)]


@settings(max_examples=few(40), deadline=None)
@given(seed=st.integers(0, 2**32 - 1), bodies=st.integers(1, 15), share=st.floats(0, 1), branching=st.floats(0, 1))
def test_a_random_tree_is_the_same_for_the_same_seed_and_physical(seed, bodies, share, branching):
    options = {"branching": branching, "reversed_share": share, "momentum": True, "base": "free"}
    model = gs.robots.tree(seed, bodies, **options)
    assert model == gs.robots.tree(seed, bodies, **options)
    assert model != gs.robots.tree(seed + 1, bodies, **options)
    gs.check(model)
    assert len(bodies_of(model)) - 1 == len(joints_of(model)) == bodies  # one is the hull of the free base
    assert joints_of(model)[0].kind != "fixed"
    for body in bodies_of(model):
        J = np.array(body.inertia)
        second_moments = np.linalg.eigvalsh(np.trace(J) / 2 * np.eye(3) - J)  # integral of r r^T dm
        assert body.mass > 0
        assert second_moments[0] > 0
        assert any(body.momentum)


def test_random_trees_have_every_kind_of_joint_unless_told_otherwise():
    kinds = [joint.kind for seed in range(20) for joint in joints_of(gs.robots.tree(seed, 20))]
    assert set(kinds) == set(gs.JOINT_KINDS)
    assert min(kinds.count(kind) for kind in gs.JOINT_KINDS) > 20
    chosen = gs.robots.tree(1, 30, kinds=["prismatic", "universal"])
    assert {joint.kind for joint in joints_of(chosen)} == {"prismatic", "universal"}


def test_no_part_of_a_random_tree_or_every_part_is_met_from_the_far_side():
    for share, near in [
        (0.0, {"joint": "a", "shift": "a", "body": "origin"}),
        (1.0, {"joint": "b", "shift": "b", "body": "tip"}),
    ]:
        model = gs.robots.tree(4, 12, reversed_share=share)
        entered = [connection[1].partition(".") for connection in model.connections]
        assert all(port == near[name.rstrip("0123456789")] for name, _, port in entered)


def test_branching_makes_chains_and_bushes():
    def depth(branching):
        model = gs.robots.tree(3, 30, branching=branching)
        parent = model.wiring.tree.parent
        joint, count = "joint29", 0
        while parent[joint] != joint:
            joint, count = parent[joint], count + joint.startswith("joint")
        return count

    assert depth(0.0) == 30
    assert depth(1.0) < 20


def test_an_unknown_kind_of_joint_is_answered_with_the_similar_one():
    with pytest.raises(gs.SpecError, match=r"there is no joint kind 'revolut'.*did you mean 'revolute'\?"):
        gs.robots.tree(0, kinds=["revolut"])


def test_the_gravity_and_base_of_a_random_tree_can_be_chosen():
    model = gs.robots.tree(0, 3, gravity=(0, 0, -1.62), base="free")
    assert model.context.gravity.g == (0.0, 0.0, -1.62)
    assert model.coordinates[:7] == tuple(f"world.{part}" for part in ("x", "y", "z", "qx", "qy", "qz", "qw"))
    q, v, a = random_state(model, np.random.default_rng(0))
    assert gs.rnea(model, q, v, a).shape == (model.nv,)
    assert set(gs.fk(model, q)) == set(spatial_ports(model))


# ------------------------------------------------------------------------------------------------ Puma 560
# As published with the Robotics Toolbox for Python (parameters of Corke and Armstrong-Helouvry 1994), at its pose qn.
ONES, ZEROS, STEPS = np.ones(6), np.zeros(6), np.array([1.0, 2.0, 3.0, 1.0, 2.0, 3.0])
PUMA_PUBLISHED = {
    "gravload_qn": [0, 31.6399, 6.0351, 0, 0.0283, 0],
    "rne_qn_qd0_qdd1": [3.35311, 36.0025, 7.42596, 0.190043, 0.203441, 0.194133],
    "rne_qn_qd1_qdd0": [29.1421, 56.5044, 16.3528, 1.26448, 1.12392, 0.519648],
    "rne_qn_qd1_qdd1": [32.4952, 60.867, 17.7436, 1.45452, 1.29911, 0.713781],
    "rne_qn_qd1_qdd1_nogravity": [32.4952, 29.2271, 11.7085, 1.45452, 1.27086, 0.713781],
    "rne_qn_static_fext_123123": [0.642756, 29.0866, 4.70321, 2.82843, -1.97175, 3],
    "itorque_qn_qdd123123": [3.15, 9.4805, 3.6189, 0.1901, 0.3519, 0.5823],
    "accel_qn": [-7.4102, -9.8432, -10.9694, -4.4314, -0.9881, 21.0228],
}
LEGS = ("front_left", "front_right", "rear_left", "rear_right")
PUMA_MOVING = {"qd": [0.1, 0.2, 0.8, 0.2, 0.5, 1.0], "tau": [1.0, 3.2, 1.8, 0.1, 0.7, 4.6]}


@pytest.fixture(params=[False, True], ids=["possible links", "published links"])
def puma(request):
    logging.getLogger("gyrostat").setLevel(logging.ERROR if request.param else logging.WARNING)
    yield gs.robots.puma560(published=request.param)
    logging.getLogger("gyrostat").setLevel(logging.NOTSET)


def puma_results(model):
    """What the published numbers are results of. The wrench is what the tool exerts: its opposite acts on the robot."""
    q, floating = np.array(NOMINAL), model.replace({"context.gravity": (0, 0, 0)})
    return {
        "gravload_qn": gs.gravity(model, q),
        "rne_qn_qd0_qdd1": gs.rnea(model, q, ZEROS, ONES),
        "rne_qn_qd1_qdd0": gs.rnea(model, q, ONES, ZEROS),
        "rne_qn_qd1_qdd1": gs.rnea(model, q, ONES, ONES),
        "rne_qn_qd1_qdd1_nogravity": gs.rnea(floating, q, ONES, ONES),
        "rne_qn_static_fext_123123": gs.rnea(model, q, ZEROS, ZEROS, wrenches={"link6": gs.Wrench(-STEPS, "local")}),
        "inertia_qn": gs.crba(model, q),
        "coriolis_qn_qd123123": gs.coriolis(model, q, STEPS),
        "itorque_qn_qdd123123": gs.crba(model, q) @ STEPS,
        "accel_qn": gs.aba(model, q, PUMA_MOVING["qd"], PUMA_MOVING["tau"]),
    }


def half_a_digit(printed):
    """Half a unit in the last printed place; at least four decimals are printed, without zeros at the end."""
    decimals = max(4, -int(Decimal(str(printed)).normalize().as_tuple().exponent))
    return 0.5 * 10.0**-decimals + 1e-9


def assert_as_printed(found, printed):
    for x, y in zip(np.ravel(found), np.ravel(printed), strict=True):
        assert abs(x - float(y)) <= half_a_digit(y), (x, y)


def test_the_puma_has_its_published_numbers(puma):
    found = puma_results(puma)
    for name, printed in PUMA_PUBLISHED.items():
        assert_as_printed(found[name], printed)


def test_the_puma_has_all_numbers_of_the_reference_data(puma):
    published = json.loads(reference("puma560_corke.json").read_text("utf-8"))["published_tests"]
    found = puma_results(puma)
    assert set(found) == set(published)
    for name, printed in published.items():
        assert_as_printed(found[name], printed["qdd"] if name == "accel_qn" else printed)


def test_the_puma_equals_that_of_the_robotics_toolbox_in_any_state(puma):
    """One random state, computed with roboticstoolbox-python 1.4.4: inverse dynamics, first row of the inertia."""
    q = (
        0.5478467492858172,
        -0.9208531449445188,
        -1.8361059042552212,
        -1.9338894578858836,
        1.2530809568010897,
        1.6510223091108869,
    )
    v = (
        1.3040000451301372,
        0.9470809631292422,
        -0.7037352358069926,
        -1.2654214710460525,
        -0.6232744625373522,
        0.0413259793472436,
    )
    a = (
        -2.3250307746388343,
        -0.21879166393254573,
        -1.2459109472530652,
        -0.7322673547034516,
        -0.5442589828573099,
        -0.31630015636915454,
    )
    tau = (
        26.696560837830262,
        43.257102316262646,
        -7.666831637571302,
        -1.9373405787579068,
        -1.3765202248241237,
        0.2512061735551974,
    )
    first = (
        3.1299799448496657,
        0.663223072679846,
        0.12884185138659318,
        -0.0009325177971212591,
        0.00036696886402245386,
        -1.6646724393393248e-05,
    )
    np.testing.assert_allclose(gs.rnea(puma, q, v, a), tau, rtol=1e-12)
    np.testing.assert_allclose(gs.crba(puma, q)[0], first, rtol=1e-11, atol=1e-13)


def test_the_links_of_the_puma_that_are_no_bodies_are_replaced_without_a_trace(caplog):
    with caplog.at_level(logging.WARNING, "gyrostat"):
        published = gs.robots.puma560(published=True)
    assert "link1" in caplog.text and "link3" in caplog.text and "triangle" in caplog.text
    model, rng = gs.robots.puma560(), np.random.default_rng(0)
    for _ in range(5):
        q, v, a = random_state(model, rng)
        np.testing.assert_allclose(gs.rnea(model, q, v, a), gs.rnea(published, q, v, a), rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(gs.crba(model, q), gs.crba(published, q), rtol=1e-12, atol=1e-13)
    assert model["link2.inertia"] != published["link2.inertia"]


def test_friction_of_the_puma_goes_by_the_direction_of_the_joints():
    model = gs.robots.puma560()
    slow, q = 1e-9, np.array(NOMINAL)
    there = gs.rnea(model, q, slow * ONES, ZEROS) - gs.gravity(model, q)
    back = gs.rnea(model, q, -slow * ONES, ZEROS) - gs.gravity(model, q)
    assert there[0] == pytest.approx(62.6111 * 0.395) and back[0] == pytest.approx(-62.6111 * 0.435)
    assert there[1] == pytest.approx(107.815 * 0.126) and back[1] == pytest.approx(-107.815 * 0.071)


def test_the_tool_of_the_puma_is_where_the_toolbox_has_it():
    place = gs.fk(gs.robots.puma560(), NOMINAL)["link6"]
    assert place.p == pytest.approx([0.5963, -0.15005, 0.67183 - 0.01435], abs=5e-5)


# ------------------------------------------------------------------------------------------------ our own
@pytest.mark.parametrize(("masses", "lengths"), [((2.0, 1.0), (0.5, 0.4)), ((1.0, 3.0), (1.0, 0.7))])
def test_the_arm_of_two_links_has_its_closed_form(masses, lengths):
    (m1, m2), (l1, l2), g = masses, lengths, 9.81
    model = gs.robots.two_link(masses, lengths)
    rng = np.random.default_rng(3)
    for _ in range(4):
        (q1, q2), (v1, v2), a = rng.normal(size=(3, 2))
        c2, s2, h = np.cos(q2), np.sin(q2), m2 * l1 * l2 / 2
        M = np.array([[(m1 / 3 + m2) * l1**2 + 2 * h * c2, h * c2], [h * c2, 0.0]]) + m2 * l2**2 / 3
        C = h * s2 * np.array([-2 * v1 * v2 - v2**2, v1**2])
        far = m2 * l2 / 2 * np.sin(q1 + q2)
        G = g * np.array([(m1 / 2 + m2) * l1 * np.sin(q1) + far, far])
        np.testing.assert_allclose(gs.rnea(model, [q1, q2], [v1, v2], a), M @ a + C + G, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(gs.crba(model, [q1, q2]), M, rtol=1e-12)


def test_the_six_axis_arm_stands_upright_and_its_drives_count():
    arm, bare = gs.robots.arm6(), gs.robots.arm6(drives=False)
    assert arm.dofs == bare.dofs == tuple(f"q{k}" for k in range(1, 7))
    assert gs.fk(arm, ZEROS)["link6.flange"].p == pytest.approx([0, 0, 1.48])
    np.testing.assert_allclose(gs.gravity(arm, ZEROS), 0.0, atol=1e-10)
    added = gs.crba(arm, ZEROS) - gs.crba(bare, ZEROS)
    ratios, rotors = [121, -121, 101, 81, -81, 51], [2.5e-4, 2.5e-4, 1.2e-4, 3e-5, 3e-5, 1.5e-5]
    assert added[0, 0] == pytest.approx(ratios[0] ** 2 * rotors[0])  # the base does not move: nothing else
    assert np.diag(added) == pytest.approx([n * n * i for n, i in zip(ratios, rotors, strict=True)], rel=0.05)
    rng = np.random.default_rng(1)
    q, v, a = random_state(arm, rng)
    np.testing.assert_allclose(gs.aba(arm, q, v, gs.rnea(arm, q, v, a)), a, rtol=1e-8, atol=1e-8)
    assert arm["q3.upper"] == pytest.approx(np.radians(150)) and arm["q2.gear.ratio"] == -121


def test_the_quadruped_stands_on_four_feet():
    model = gs.robots.quadruped()
    assert (model.nq, model.nv, len(model.dofs)) == (19, 18, 18)
    q = gs.neutral(model)
    place = gs.fk(model, q)
    feet = np.array([place[f"{leg}_lower.foot"].p for leg in LEGS])
    assert feet[:, 2] == pytest.approx([-0.41] * 4)
    assert feet[:, :2].tolist() == pytest.approx(np.array([[0.2, 0.15], [0.2, -0.15], [-0.2, 0.15], [-0.2, -0.15]]))
    weight = 9.81 * (7.0 + 4 * (0.6 + 0.9 + 0.15 + 0.06))
    tau = gs.rnea(model, q, np.zeros(18), np.zeros(18))
    assert tau[5] == pytest.approx(weight)
    hip = 9.81 * (0.6 * 0.035 + (0.9 + 0.21) * 0.07)  # legs hang beside the axes of their hips
    wanted = {f"{leg}_hip": hip if leg.endswith("left") else -hip for leg in LEGS}
    assert tau[6:] == pytest.approx([wanted.get(name, 0.0) for name in model.dofs[6:]], abs=1e-9)
    push = gs.Wrench((0, 0, 0, 0, 0, weight / 4), "aligned")
    held = gs.rnea(model, q, np.zeros(18), np.zeros(18), wrenches={f"{leg}_lower.foot": push for leg in LEGS})
    assert held[:6] == pytest.approx(np.zeros(6), abs=1e-9)
    left, right = held[model.dofs.index("front_left_hip")], held[model.dofs.index("front_right_hip")]
    assert left == pytest.approx(-right) and left != 0.0


def test_every_robot_of_the_catalogue_is_sound_and_says_where_its_figures_are_from():
    known = gs.robots.catalogue()
    wanted = {"pendulum", "two_link", "arm6", "kuka_lwr4", "puma560", "quadruped", "humanoid", "aibo"} | {
        "hydraulic_manipulator"
    }
    assert wanted <= set(known) and "tree" not in known and "chain" not in known
    for name, make in known.items():
        model = make()
        gs.check(model)
        assert model.nv > 0
        said = f"{inspect.getdoc(make)} {inspect.getdoc(inspect.getmodule(make))}"
        assert any(word in said for word in ("ours", "1994", "2007", "KV", "G13", "WM15", "H04", "uniform rod")), name


@pytest.mark.parametrize("name", ["two_link", "arm6", "quadruped", "humanoid", "aibo"])
def test_our_own_robots_have_shapes(name):
    bodies = [e for e in getattr(gs.robots, name)().wiring.entities.values() if isinstance(e, gs.RigidBody)]
    assert sum(bool(body.shapes) for body in bodies) >= len(bodies) - 1


def test_robots_are_stored_in_yaml(tmp_path):
    for name in ("puma560", "arm6", "quadruped", "two_link", "humanoid", "aibo"):
        model = getattr(gs.robots, name)()
        gs.save(model, tmp_path / f"{name}.yaml")
        assert gs.load(tmp_path / f"{name}.yaml") == model
