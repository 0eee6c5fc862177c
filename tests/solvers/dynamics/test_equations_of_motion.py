"""The terms of the equations of motion, apart and together: identities that tie all solvers of the dynamics."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gyrostat as gs
from gyrostat.spatial.base_motion import base_state
from tests.algorithms.recursions.test_sensitivities import (
    MOVING,
    PLANET,
    SEEDS,
    SWINGING,
    batch,
    placed_on,
    single,
    some,
    state,
    two_joints,
)
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, central
from tests.support.random_models import random_wrenches, various_tree

SAME = 1e-10
SOLVED = 1e-8  # M of random trees has condition numbers up to 1e6
DIFFERENCES = 1e-6


def tree(seed, bodies, base="fixed", treat_as="acceleration"):
    """Gyrostats on all kinds of joints, from both sides, with force elements in all kinds of axes."""
    return placed_on(various_tree(seed, bodies, momentum=True, treat_as=treat_as), base)


def interpreted(cls, model, *args, **options):
    return cls(model, *args, mode="interpret", **options)


def along(model, q, v, function):
    """Rate of a function of q while the robot moves with v."""
    return central(lambda h: function(gs.integrate(model, q, h * v)), 0.0)


STANDING = st.sampled_from(["fixed", "free"])
TREATED = st.sampled_from(["acceleration", "field"])


# ------------------------------------------------------------------------------------------------ D, C, G, Q
def assert_terms_make_the_torques(model, seed, mode="interpret"):
    q, v, a = state(model, seed)
    wrenches = random_wrenches(model, np.random.default_rng(seed), 4)
    inverse = interpreted(gs.InverseDynamics, model)
    D, C, G, Q, C_skew = gs.EquationsOfMotion(model, mode=mode)(q, v, wrenches)
    assert_close(D @ a + C @ v + G + Q, inverse(q, v, a, wrenches), SAME)
    assert_close(C_skew @ v, C @ v, SAME)
    assert_close(D, interpreted(gs.MassMatrix, model)(q), SAME)
    assert_close(C_skew, interpreted(gs.Coriolis, model)(q, v), SAME)
    assert_close(G, interpreted(gs.GravityForces, model)(q), SAME)
    zero = np.zeros(model.nv)
    weightless = model.replace({"context.gravity": (0, 0, 0)})
    assert_close(Q, interpreted(gs.InverseDynamics, weightless)(q, zero, zero, wrenches), SAME)
    bias = interpreted(gs.Bias, model)(q, v)
    assert_close(bias, inverse(q, v, zero), SAME)
    assert_close(C @ v + G + gs.EquationsOfMotion(model, mode=mode)(q, v).Q, bias, SAME)


@some(15)
@given(seed=SEEDS, bodies=st.integers(1, 6), base=STANDING, treat_as=TREATED)
def test_the_terms_make_the_torques(seed, bodies, base, treat_as):
    assert_terms_make_the_torques(tree(seed, bodies, base, treat_as), seed)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_the_terms_make_the_torques_in_compiled_code(base):
    assert_terms_make_the_torques(tree(8, 1, base), 8, "compile")


def assert_coriolis(model, seed):
    q, v, _ = state(model, seed)
    terms = interpreted(gs.EquationsOfMotion, model)(q, v)
    mass = interpreted(gs.MassMatrix, model)
    rate = along(model, q, v, mass)
    assert_close(terms.C_skew + terms.C_skew.T, rate, DIFFERENCES)
    for x in (v, np.random.default_rng(seed).normal(size=model.nv)):
        assert abs(x @ (rate - 2.0 * terms.C_skew) @ x) <= DIFFERENCES * max(1.0, np.abs(rate).max()) * (x @ x)
    assert_close(terms.C_skew @ v, terms.C @ v, SAME)


@some(15)
@given(seed=SEEDS, bodies=st.integers(1, 6), base=STANDING)
def test_the_rate_of_the_mass_matrix_is_coriolis_and_its_transpose(seed, bodies, base):
    assert_coriolis(tree(seed, bodies, base), seed)


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("near", ["a", "b"])
@pytest.mark.parametrize("kind", MOVING)
def test_the_terms_on_a_single_joint(kind, near, base):
    model = single(kind, near, base)
    assert_coriolis(model, 1)
    assert_terms_make_the_torques(model, 1)


@some(6)
@given(seed=SEEDS, bodies=st.integers(1, 4))
def test_coriolis_is_made_of_christoffel_s_symbols_where_coordinates_are_numbers(seed, bodies):
    """C_ij = sum of (dM_ij/dq_k + dM_ik/dq_j - dM_jk/dq_i) v_k / 2."""
    kinds = [kind for kind in MOVING if kind not in ("spherical", "free")]
    model = gs.robots.tree(seed, bodies, kinds, reversed_share=0.3)
    q, v, _ = state(model, seed)
    mass = interpreted(gs.MassMatrix, model)
    dM = np.stack([along(model, q, e, mass) for e in np.eye(model.nv)], axis=-1)
    C = 0.5 * (dM @ v + np.einsum("ikj,k->ij", dM, v) - np.einsum("jki,k->ij", dM, v))
    assert_close(interpreted(gs.Coriolis, model)(q, v), C, DIFFERENCES)


def test_the_matrix_of_the_paper_differs_from_that_for_controllers_by_a_skew_one():
    """C v is unique, C is not; both are halves of dD/dt."""
    model = gs.robots.kuka_lwr4()
    q, v, _ = state(model)
    terms = gs.EquationsOfMotion(model)(q, v)
    assert_differs(terms.C, terms.C_skew)
    assert_close(terms.C @ v, terms.C_skew @ v)
    assert_close(terms.C + terms.C.T, terms.C_skew + terms.C_skew.T)


# ------------------------------------------------------------------------------------------------ the LWR of WM15
def turn(axis, angle):
    k = "xyz".index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.eye(3)
    R[i, i] = R[j, j] = np.cos(angle)
    R[i, j], R[j, i] = -np.sin(angle), np.sin(angle)
    return R


def tilde(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0.0, -x[0]], [-x[1], x[0], 0.0]])


def paper_terms(q, v):
    """D, C, G of WM15 (24)-(26) with the matrices (36)-(49), linear part first, for the data of its appendix."""
    n, quarter = 7, np.pi / 2
    crossing = turn("z", quarter) @ turn("y", -quarter)
    C_in = [turn("x", -quarter) @ turn("z", -quarter), crossing, np.eye(3), crossing, np.eye(3), crossing, np.eye(3)]
    C_out = [np.eye(3), crossing, np.eye(3), crossing, np.eye(3), crossing, np.eye(3)]
    s_in = [0.0, 0.1, 0.1, 0.1, 0.0975, 0.0975, 0.0]  # s'_ij: the joint before link j, seen from link i
    s_out = [-0.2105, -0.1, -0.1, -0.0975, -0.0975, 0.0, -0.0309]  # s'_ji: the same joint, seen from link j
    mass = [3.0, 3.0, 3.0, 2.5, 2.5, 1.0, 0.5]
    moments = 3 * [(1.27e-2, 1.27e-2, 5.4e-3)] + 2 * [(1.017e-3, 4.5e-3, 4.5e-3)]
    moments += [(1.44e-3, 1.44e-3, 1.44e-3), (3.66e-4, 3.66e-4, 2.25e-4)]
    g, e_z = np.array([0.0, -9.81, 0.0]), np.array([0.0, 0.0, 1.0])
    H, H_rate = np.zeros((6 * n, n)), np.zeros((6 * n, n))
    B, B_rate = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n))
    M, Omega, F_G = np.zeros((6 * n, 6 * n)), np.zeros((6 * n, 6 * n)), np.zeros(6 * n)
    A, w = np.eye(3), np.zeros(3)
    for j in range(n):
        here = slice(6 * j, 6 * j + 6)
        h = A @ C_in[j] @ e_z  # (7)
        s_ij = A @ np.array([0.0, 0.0, s_in[j]])
        A_next = A @ C_in[j] @ turn("z", q[j]) @ C_out[j].T  # (6), R_z(q_7) at joint 7
        s_ji = A_next @ np.array([0.0, 0.0, s_out[j]])
        r = s_ij - s_ji
        H[here, j] = np.concatenate([-tilde(h) @ s_ji, h])  # (37)
        swung = tilde(w) @ s_ji + tilde(h) @ s_ji * v[j]
        H_rate[here, j] = np.concatenate([-tilde(tilde(w) @ h) @ s_ji - tilde(h) @ swung, tilde(w) @ h])  # (39)
        if j:
            before = slice(6 * j - 6, 6 * j)
            B[here, before] = np.block([[np.eye(3), -tilde(r)], [np.zeros((3, 3)), np.eye(3)]])  # (36)
            moved = tilde(w) @ r - tilde(h) @ s_ji * v[j]
            B_rate[6 * j : 6 * j + 3, 6 * j - 3 : 6 * j] = -tilde(moved)  # (38)
        A, w = A_next, w + h * v[j]  # (48)
        J = A @ np.diag(moments[j]) @ A.T  # (46)
        M[here, here] = np.block([[mass[j] * np.eye(3), np.zeros((3, 3))], [np.zeros((3, 3)), J]])  # (45)
        Omega[6 * j + 3 : 6 * j + 6, 6 * j + 3 : 6 * j + 6] = -tilde(w) @ J  # (47)
        F_G[6 * j : 6 * j + 3] = mass[j] * g  # (49)
    Phi = np.linalg.inv(np.eye(6 * n) - B)  # (42)
    D = H.T @ Phi.T @ M @ Phi @ H  # (24)
    C = H.T @ Phi.T @ (M @ Phi @ (B_rate @ Phi @ H + H_rate) - Omega @ Phi @ H)  # (25)
    return D, C, -H.T @ Phi.T @ F_G  # (26)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_the_terms_of_the_lwr_are_those_of_the_paper(mode):
    solver = gs.EquationsOfMotion(gs.robots.kuka_lwr4(), mode=mode)
    for seed in range(3):
        q, v, _ = state(solver.model, seed)
        D, C, G = paper_terms(q, v)
        found = solver(q, v)
        assert_close(found.D, D, 1e-12)
        assert_close(found.C, C, 1e-12)
        assert_close(found.G, G, 1e-12)
        np.testing.assert_array_equal(found.Q, np.zeros(7))


# ------------------------------------------------------------------------------------------------ reference velocities
@some(15)
@given(seed=SEEDS, bodies=st.integers(1, 6), base=STANDING, treat_as=TREATED)
def test_with_its_own_velocity_as_reference_inverse_dynamics_is_the_usual_one(seed, bodies, base, treat_as):
    model = tree(seed, bodies, base, treat_as)
    q, v, a = state(model, seed)
    v_r, a_r = np.random.default_rng(seed).normal(size=(2, model.nv))
    solver = interpreted(gs.ReferenceDynamics, model)
    assert_close(solver(q, v, v, a), interpreted(gs.InverseDynamics, model)(q, v, a), SAME)
    D, _, G, Q, C = interpreted(gs.EquationsOfMotion, model)(q, v)
    assert_close(solver(q, v, v_r, a_r), D @ a_r + C @ v_r + G + Q, SAME)
    swapped = interpreted(gs.Coriolis, model)(q, v) @ v_r
    assert_close(solver(q, v, v_r, a_r) - solver(q, v, np.zeros(model.nv), a_r), swapped, SAME)


def test_a_reference_velocity_in_compiled_code_and_in_batches():
    model = two_joints()
    q, v, a = batch(model, (2, 3))
    v_r, a_r = np.random.default_rng(9).normal(size=(2, 2, 3, model.nv))
    tau = gs.rnea_reference(model, q, v, v_r, a_r)
    D, _, G, Q, C = gs.EquationsOfMotion(model)(q, v)
    expected = np.einsum("...ij,...j->...i", D, a_r) + np.einsum("...ij,...j->...i", C, v_r) + G + Q
    assert_close(tau, expected)
    assert_close(gs.rnea_reference(model, q, v, v, a), gs.rnea(model, q, v, a))
    with pytest.raises(gs.ShapeError, match=r"rnea_reference: v_r has shape \(6,\), expected \(\.\.\., 5\)"):
        gs.rnea_reference(model, q[0, 0], v[0, 0], q[0, 0], a[0, 0])


# ------------------------------------------------------------------------------------------------ power
def assert_power_balance(model, seed, wrenches=None):
    """d(T + U)/dt = tau . v + the power of wrenches, along the motion that the forces cause."""
    q, v, tau = state(model, seed)
    a = interpreted(gs.ForwardDynamics, model)(q, v, tau, wrenches)
    T, U = interpreted(gs.KineticEnergy, model), interpreted(gs.PotentialEnergy, model)

    def energy(h):
        x = gs.integrate(model, q, h * v)
        return T(x, v + h * a) + U(x)

    power = tau @ v - interpreted(gs.EquationsOfMotion, model)(q, v, wrenches).Q @ v
    assert_close(central(energy, 0.0), power, DIFFERENCES)
    assert_close(T(q, v), 0.5 * v @ interpreted(gs.MassMatrix, model)(q) @ v, SAME)
    assert_close(along(model, q, v, U), interpreted(gs.GravityForces, model)(q) @ v, DIFFERENCES)


@some(15)
@given(seed=SEEDS, bodies=st.integers(1, 6), base=STANDING, treat_as=TREATED)
def test_energy_grows_by_the_power_of_torques_and_wrenches(seed, bodies, base, treat_as):
    model = tree(seed, bodies, base, treat_as)
    assert_power_balance(model, seed, random_wrenches(model, np.random.default_rng(seed), 3))


@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("kind", MOVING)
def test_energy_grows_by_the_power_of_torques_on_a_single_joint(kind, base):
    assert_power_balance(single(kind, "b", base), 4)


def test_energy_around_a_centre_of_attraction_is_kept_by_balls():
    """Balls feel no torque of the field."""
    model = single("spherical", base="free", gravity=PLANET)
    balls = {f"{body}.inertia": (0.3, 0.3, 0.3) for body in ("body", "base")}
    assert_power_balance(model.replace(balls), 4)


def test_the_power_of_a_wrench_is_its_product_with_the_velocity():
    model = two_joints()
    q, v, _ = state(model)
    w = np.array([1.0, -2.0, 3.0, 4.0, 5.0, -6.0])
    Q = gs.EquationsOfMotion(model)(q, v, {"shin": w}).Q
    assert_close(-Q @ v, w @ gs.fk(model, q, v)["shin"].velocity("local"))


# ------------------------------------------------------------------------------------------------ factors
def assert_factors(model, seed, mode="interpret"):
    q, _, _ = state(model, seed)
    M = interpreted(gs.MassMatrix, model)(q)
    L, D = gs.Innovations(model, mode=mode)(q)
    assert_close(L.T @ np.diag(D) @ L, M, SAME)
    np.testing.assert_array_equal(np.diag(L), np.ones(model.nv))
    assert np.all(D > 0)
    np.testing.assert_array_equal(np.triu(L, 1), np.zeros_like(L))  # parents come first in the state
    assert_close(np.sum(np.log(D)), np.linalg.slogdet(M)[1], 1e-9)
    inverse = gs.InverseMassMatrix(model, mode=mode)(q)
    assert_close(inverse @ M, np.eye(model.nv), SOLVED)
    assert_close(inverse, inverse.T, 1e-9)
    half = np.linalg.inv(L)
    assert_close(half @ np.diag(1.0 / D) @ half.T, inverse, SOLVED)


@some(30)
@given(seed=SEEDS, bodies=st.integers(1, 12), base=STANDING)
def test_factors_and_inverse_of_the_mass_matrix(seed, bodies, base):
    assert_factors(tree(seed, bodies, base), seed)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_factors_and_inverse_of_the_mass_matrix_in_compiled_code(base):
    assert_factors(tree(8, 3, base), 8, "compile")


def test_articulated_inertias_about_the_axes_are_what_free_joints_resist_with():
    """1/D of the last joint of a chain is its entry of M^-1."""
    model = gs.robots.chain(4)
    q, _, _ = state(model)
    D = gs.Innovations(model)(q).D
    assert_close(1.0 / D[0], gs.inverse_mass_matrix(model, q)[0, 0])
    assert_close(D[3], gs.crba(model, q)[3, 3])


def test_factors_of_two_arms_on_one_base_keep_them_apart():
    arms = [gs.robots.chain(3), gs.robots.chain(2)]
    entities = [
        e.model_copy(update={"name": f"{side}_{e.name}"})
        for side, arm in zip("lr", arms, strict=True)
        for e in arm.entities
        if e.name != "world"
    ]
    wires = [
        tuple(port if port.startswith("world") else f"{side}_{port}" for port in wire)
        for side, arm in zip("lr", arms, strict=True)
        for wire in arm.connections
    ]
    model = gs.Model("arms", [*(e for e in arms[0].entities if e.name == "world"), *entities], wires)
    q, _, _ = state(model)
    L, D = gs.Innovations(model)(q)
    left = [k for k, name in enumerate(model.dofs) if name.startswith("l_")]
    right = [k for k, name in enumerate(model.dofs) if name.startswith("r_")]
    np.testing.assert_array_equal(L[np.ix_(right, left)], np.zeros((2, 3)))
    alone = gs.Innovations(arms[0])(q[left])
    assert_close(L[np.ix_(left, left)], alone.L, 1e-13)
    assert_close(D[left], alone.D, 1e-13)


# ------------------------------------------------------------------------------------------------ the whole robot
def assert_total_inertia(model, seed, mode="interpret"):
    q, _, _ = state(model, seed)
    motions = interpreted(gs.ForwardKinematics, model)(q)
    m, moment, J = 0.0, np.zeros(3), np.zeros((3, 3))
    for body in (e for e in model.entities if isinstance(e, gs.RigidBody)):
        pose = motions[f"{body.name}.origin"]
        c = pose.p + pose.R @ np.array(body.com)
        m, moment = m + body.mass, moment + body.mass * c
        J += pose.R @ np.array(body.inertia) @ pose.R.T + body.mass * (c @ c * np.eye(3) - np.outer(c, c))
    p = moment / m
    found = gs.TotalInertia(model, mode=mode)(q)
    assert_close(found.m, m, 1e-13)
    assert_close(found.p, p, 1e-12)
    assert_close(found.J, J - m * (p @ p * np.eye(3) - np.outer(p, p)), SAME)


@some(20)
@given(seed=SEEDS, bodies=st.integers(1, 15), base=STANDING)
def test_total_inertia_is_the_sum_over_the_bodies(seed, bodies, base):
    assert_total_inertia(tree(seed, bodies, base), seed)


def test_total_inertia_is_the_sum_over_the_bodies_in_compiled_code():
    assert_total_inertia(tree(8, 4, "free"), 8, "compile")


def test_total_inertia_of_a_free_robot_resists_its_base():
    """With all joints held, M of the base is the inertia of one body, seen from the base."""
    model = tree(9, 4, "free")
    q, _, _ = state(model)
    M = interpreted(gs.MassMatrix, model)(q)[:6, :6]
    total = interpreted(gs.TotalInertia, model)(q)
    R, p = interpreted(gs.ForwardKinematics, model)(q)["world.frame"].R, q[:3]
    c = R.T @ (total.p - p)
    J = R.T @ total.J @ R + total.m * (c @ c * np.eye(3) - np.outer(c, c))
    assert_close(M[:3, :3], J, SAME)
    assert_close(M[3:, 3:], total.m * np.eye(3), SAME)
    assert_close(M[:3, 3:], total.m * tilde(c), SAME)


# ------------------------------------------------------------------------------------------------ some torques only
@some(12)
@given(seed=SEEDS, bodies=st.integers(1, 8), base=STANDING, treat_as=TREATED)
def test_every_torque_by_itself_is_that_of_the_recursion(seed, bodies, base, treat_as):
    model = tree(seed, bodies, base, treat_as)
    q, v, a = state(model, seed)
    wrenches = random_wrenches(model, np.random.default_rng(seed), 4)
    tau = interpreted(gs.InverseDynamics, model)(q, v, a, wrenches)
    representation = REPRESENTATIONS[seed % 3]
    assert_close(interpreted(gs.InverseDynamics, model, representation, "newton-euler")(q, v, a, wrenches), tau, SAME)
    chosen = [int(k) for k in np.random.default_rng(seed).permutation(model.nv)[: 1 + model.nv // 2]]
    only = [model.dofs[k] for k in chosen]
    for algorithm in ("rne", "newton-euler"):
        found = interpreted(gs.InverseDynamics, model, algorithm=algorithm, only=only)(q, v, a, wrenches)
        assert_close(found, tau[chosen], SAME)


@pytest.mark.parametrize("algorithm", ["rne", "newton-euler"])
def test_torques_can_be_asked_for_by_joint_and_by_rate(algorithm):
    model = two_joints()
    q, v, a = batch(model, (2, 3))
    tau = gs.rnea(model, q, v, a)
    for only, rows in ((["ball", "hip.angle2"], [2, 3, 4, 1]), ("ball.wy", [3]), (["hip"], [0, 1])):
        solver = gs.InverseDynamics(model, algorithm=algorithm, only=only)
        assert_close(solver(q, v, a), tau[..., rows])
        assert_close(solver(q[0, 0], v[0, 0], a[0, 0]), tau[0, 0, rows])
        for other in (copy.deepcopy(solver), pickle.loads(pickle.dumps(solver))):
            assert_close(other(q, v, a), tau[..., rows])
    assert gs.InverseDynamics(model, algorithm=algorithm, only=[])(q, v, a).shape == (2, 3, 0)


def test_torques_that_are_none_and_unknown_algorithms_are_refused_in_words():
    model = two_joints()
    with pytest.raises(gs.StateError, match=r"only names 'bal', which is no rate\. Hint: .*'ball"):
        gs.InverseDynamics(model, only=["bal"])
    with pytest.raises(gs.StateError, match=r"only names 'ball.wx' twice\. Hint: name every rate once"):
        gs.InverseDynamics(model, only=["ball.wx", "ball"])
    with pytest.raises(gs.GyrostatError, match=r"there is no algorithm 'abba'\. Hint: did you mean 'aba'"):
        gs.ForwardDynamics(model, "abba")
    with pytest.raises(gs.GyrostatError, match="there is no algorithm 'newton'"):
        gs.InverseDynamics(model, algorithm="newton")
    with pytest.raises(gs.GyrostatError, match="there is no algorithm 'rne'"):
        gs.MassMatrix(model, "rne")


# ------------------------------------------------------------------------------------------------ moving base
@pytest.mark.parametrize("representation", REPRESENTATIONS)
@pytest.mark.parametrize("algorithm", gs.ForwardDynamics.algorithms)
def test_forward_dynamics_on_a_moving_base_undoes_inverse_dynamics(algorithm, representation):
    for seed in range(3):
        model = tree(seed, 4, SWINGING)
        q, v, a = state(model, seed)
        wrenches = random_wrenches(model, np.random.default_rng(seed), 4)
        tau = interpreted(gs.InverseDynamics, model)(q, v, a, wrenches, t=0.37)
        solver = interpreted(gs.ForwardDynamics, model, algorithm, representation)
        assert_close(solver(q, v, tau, wrenches, t=0.37), a, SOLVED)


@pytest.mark.parametrize("algorithm", gs.ForwardDynamics.algorithms)
def test_forward_dynamics_on_a_moving_base_in_compiled_code(algorithm):
    model = single("universal", "b", SWINGING)
    q, v, a = state(model)
    t = np.linspace(0.0, 1.0, 3)
    tau = gs.rnea(model, q, v, a, t=t)
    assert_close(gs.aba(model, q, v, tau, algorithm=algorithm, t=t), np.tile(a, (3, 1)), SOLVED)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_every_torque_by_itself_is_that_of_the_recursion_on_a_moving_base(mode):
    model = single("universal", "b", SWINGING)
    q, v, a = state(model)
    found = gs.InverseDynamics(model, algorithm="newton-euler", mode=mode)(q, v, a, t=0.4)
    assert_close(found, gs.rnea(model, q, v, a, t=0.4), SAME)


@pytest.mark.parametrize("algorithm", gs.MassMatrix.algorithms)
def test_the_mass_matrix_does_not_depend_on_how_the_base_moves(algorithm):
    model = tree(3, 4, SWINGING)
    q, _, _ = state(model)
    found = interpreted(gs.MassMatrix, model, algorithm)(q, t=0.37)
    assert_close(found, interpreted(gs.MassMatrix, placed_on(model, "fixed"))(q), SAME)


def test_bias_on_a_moving_base_is_what_is_needed_without_acceleration():
    model = tree(3, 4, SWINGING)
    q, v, a = state(model)
    bias = interpreted(gs.Bias, model)(q, v, t=0.37)
    M = interpreted(gs.MassMatrix, model)(q, t=0.37)
    assert_close(M @ a + bias, interpreted(gs.InverseDynamics, model)(q, v, a, t=0.37), SAME)


def test_a_base_that_moves_by_itself_is_in_q_alone():
    """The other terms are those of a base that stands still where it is."""
    model, t = tree(3, 4, SWINGING), 0.37
    q, v, _ = state(model)
    R, p, _, _ = base_state(SWINGING, t)
    still = placed_on(model, lambda _: (R, p, np.zeros(6), np.zeros(6)))
    moving, standing = (interpreted(gs.EquationsOfMotion, m)(q, v, t=t) for m in (model, still))
    for name in ("D", "G", "C", "C_skew"):
        assert_close(getattr(moving, name), getattr(standing, name), SAME)
    assert_differs(moving.Q, standing.Q)


def test_on_a_moving_base_its_own_velocity_as_reference_gives_the_usual_torques():
    model = tree(3, 4, SWINGING)
    q, v, a = state(model)
    tau = interpreted(gs.InverseDynamics, model)(q, v, a, t=0.37)
    assert_close(interpreted(gs.ReferenceDynamics, model)(q, v, v, a, t=0.37), tau, SAME)


# ------------------------------------------------------------------------------------------------ nothing moves
NONE = np.zeros(0)


def post():
    body = gs.RigidBody("post", mass=2.0, com=(0.1, 0, 0), inertia=(1, 1, 1), frames={"tip": (0, 0, 1)})
    return gs.assemble("still", gs.chain("world", body))


def empty():
    return gs.assemble("empty", gs.chain("world", gs.Displacement("shift", translation=(1, 0, 0))))


SHAPES = {  # solver -> shapes of what comes out where nothing can move
    "InverseDynamics": [(0,)],
    "ForwardDynamics": [(0,)],
    "MassMatrix": [(0, 0)],
    "InverseMassMatrix": [(0, 0)],
    "Innovations": [(0, 0), (0,)],
    "GravityForces": [(0,)],
    "PotentialEnergy": [()],
    "Coriolis": [(0, 0)],
    "Bias": [(0,)],
    "EquationsOfMotion": [(0, 0), (0, 0), (0,), (0,), (0, 0)],
    "KineticEnergy": [()],
    "InverseDynamicsDerivatives": 3 * [(0, 0)],
    "ForwardDynamicsDerivatives": 3 * [(0, 0)],
    "InverseDynamicsSecondDerivatives": 4 * [(0, 0, 0)],
    "ReferenceDynamics": [(0,)],
}


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("build", [post, empty])
@pytest.mark.parametrize("name", SHAPES)
def test_where_nothing_moves_results_are_empty(name, build, mode):
    cls = getattr(gs, name)
    for algorithm in list(cls.algorithms) or [None]:
        options = {} if algorithm is None else {"algorithm": algorithm}
        solver = cls(build(), mode=mode, **options)
        for lead in ((), (3,)):
            found = solver(*(np.zeros((*lead, 0)) for _ in solver.state))
            shapes = [np.shape(x) for x in (found if isinstance(found, tuple) else [found])]
            assert shapes == [(*lead, *shape) for shape in SHAPES[name]]


@pytest.mark.parametrize("mode", ["compile", "interpret"])
def test_a_post_has_frames_mass_and_no_motion(mode):
    model = post()
    assert gs.Jacobian(model, "post.tip", mode=mode)(NONE).shape == (6, 0)
    assert gs.JacobianRate(model, "post.tip", mode=mode)(NONE, NONE).shape == (6, 0)
    J = gs.ParameterJacobian(model, "post.tip", ["post.tip.translation"], mode=mode)(NONE)
    assert_close(J[3:], np.eye(3), 1e-15)
    assert gs.CentroidalMatrix(model, mode=mode)(NONE).shape == (6, 0)
    np.testing.assert_array_equal(gs.CentroidalMomentum(model, mode=mode)(NONE, NONE), np.zeros(6))
    assert_close(gs.CenterOfMass(model, mode=mode)(NONE, NONE).p, [0.1, 0, 0], 1e-15)
    assert gs.TotalInertia(model, mode=mode)(NONE).m == 2.0
    assert gs.Regressor(model, mode=mode)(NONE, NONE, NONE).Y.shape == (0, 10)
    for parameters in ("post.com", "post.mass"):
        found = gs.ParameterDerivatives(model, parameters, ["post.tip"], mode=mode)(NONE, NONE, NONE)
        assert found.shape == (0, 9 if parameters == "post.com" else 7)
    solver = gs.InverseOperationalInertia(model, ["post.tip"], mode=mode)
    np.testing.assert_array_equal(solver(NONE), np.zeros((6, 6)))
    with pytest.raises(gs.StateError, match="hold 6 components, but the robot can move only 0 of them"):
        solver.inertia(NONE)


@pytest.mark.parametrize("mode", ["compile", "interpret"])
@pytest.mark.parametrize("name", ["TotalInertia", "CenterOfMass", "CentroidalMomentum"])
def test_the_centre_of_nothing_is_refused_in_words(name, mode):
    solver = getattr(gs, name)(empty(), mode=mode)
    with pytest.raises(gs.GyrostatError, match=f"{solver.name}: .*(no mass|not finite)"):
        solver(*(NONE for _ in solver.state))
