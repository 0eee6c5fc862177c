"""Spatial algebra, rotations, inertias, the motion of every kind of joint, prescribed motion, and representations."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import gyrostat as gs
from gyrostat.geometry import rotation
from gyrostat.spatial import algebra
from gyrostat.spatial.base_motion import base_state
from gyrostat.spatial.inertia import SpatialInertia, steiner
from gyrostat.spatial.joints import MOTIONS, JointMotion
from gyrostat.spatial.representation import Pose, representation
from tests.support.comparing import REPRESENTATIONS, assert_close, assert_differs, rate
from tests.support.examples import few
from tests.support.trajectories import joint_state

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
quick = settings(max_examples=few(25), deadline=None)


def random_rotation(rng):
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


def random_unit(rng):
    x = rng.normal(size=3)
    return x / np.linalg.norm(x)


def motion_matrix(R_ab, p_ab):
    """phi_{b,a} (2.22), by its definition."""
    return np.block([[R_ab.T, np.zeros((3, 3))], [-R_ab.T @ algebra.skew(p_ab), R_ab.T]])


# ------------------------------------------------------------------------------------------------ algebra
@quick
@given(seeds)
def test_cross_products_are_matrices_with_the_printed_entries(rng):
    p, q, X, Y, F = rng.normal(size=3), rng.normal(size=3), *rng.normal(size=(3, 6))
    assert_close(algebra.cross(p, q), np.cross(p, q), 1e-14)
    assert np.array_equal(algebra.skew(p), [[0, -p[2], p[1]], [p[2], 0, -p[0]], [-p[1], p[0], 0]])  # (2.12)
    assert_close(algebra.skew(p) @ q, np.cross(p, q), 1e-14)
    expected = np.block([[algebra.skew(X[:3]), np.zeros((3, 3))], [algebra.skew(X[3:]), algebra.skew(X[:3])]])
    assert np.array_equal(algebra.tilde(X), expected)  # (2.14)
    assert_close(algebra.cross_motion(X, Y), algebra.tilde(X) @ Y, 1e-14)  # (2.13)
    assert_close(algebra.cross_force(X, F), -algebra.tilde(X).T @ F, 1e-14)


@quick
@given(seeds)
def test_the_tilde_identities_of_appendix_b_hold(rng):
    p, q, a, b = rng.normal(size=(4, 3))
    X, Y, A, B = rng.normal(size=(4, 6))
    skew, tilde, one = algebra.skew, algebra.tilde, np.eye(3)
    assert_close(skew(p) @ p, np.zeros(3), 1e-14)  # (B.4)
    assert np.array_equal(skew(p).T, -skew(p))  # (B.5)
    assert_close(skew(p) @ q, -skew(q) @ p, 1e-14)  # (B.6)
    assert_close(skew(a + b) @ q, skew(a) @ q + skew(b) @ q, 1e-14)  # (B.7)
    assert_close(skew(skew(p) @ q), skew(p) @ skew(q) - skew(q) @ skew(p), 1e-13)  # (B.8)
    assert_close(skew(p) @ skew(q), np.outer(q, p) - p @ q * one, 1e-13)  # (B.9)
    assert_close(tilde(X) @ X, np.zeros(6), 1e-14)  # (B.11)
    assert_close(tilde(X) @ Y, -tilde(Y) @ X, 1e-14)  # (B.12)
    assert_close(tilde(A + B), tilde(A) + tilde(B), 1e-14)  # (B.13)
    assert_close(tilde(tilde(X) @ Y), tilde(X) @ tilde(Y) - tilde(Y) @ tilde(X), 1e-13)  # (B.14)
    a, b = X[:3], X[3:]
    factor = np.block([[-(a @ a) * one, 0 * one], [-2 * (b @ a) * one, -(a @ a) * one]])
    assert_close(tilde(X) @ tilde(X) @ tilde(X), tilde(X) @ factor, 1e-12)  # (B.15)
    c, d = X[:3], X[3:]
    co_cross = np.block([[skew(c), skew(d)], [skew(d), np.zeros((3, 3))]])
    assert_close(co_cross @ Y, tilde(Y).T @ X, 1e-13)  # (B.16)


@quick
@given(seeds)
def test_motions_and_forces_go_there_and_back_and_keep_their_power(rng):
    R, p, V, F = random_rotation(rng), rng.normal(size=3), *rng.normal(size=(2, 6))
    X_ba = motion_matrix(R, p)
    assert_close(algebra.motion_to_child(R, p, V), X_ba @ V, 1e-14)
    assert_close(algebra.motion_to_parent(R, p, V), np.linalg.inv(X_ba) @ V, 1e-13)
    assert_close(algebra.force_to_parent(R, p, F), X_ba.T @ F, 1e-14)
    assert_close(algebra.force_to_child(R, p, F), np.linalg.inv(X_ba).T @ F, 1e-13)
    assert_close(algebra.motion_to_child(R, p, V) @ F, V @ algebra.force_to_parent(R, p, F), 1e-13)


@quick
@given(seeds)
def test_placements_compose_and_invert_like_homogeneous_matrices(rng):
    places = [(random_rotation(rng), rng.normal(size=3)) for _ in range(2)]

    def homogeneous(R, p):
        return np.block([[R, p[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]])

    one, two = (homogeneous(*place) for place in places)
    assert_close(homogeneous(*algebra.compose(*places[0], *places[1])), one @ two, 1e-14)
    assert_close(homogeneous(*algebra.inverse(*places[0])), np.linalg.inv(one), 1e-14)


def test_columns_transforms_each_column_and_leaves_an_empty_matrix_alone():
    S = np.arange(12.0).reshape(6, 2)
    assert np.array_equal(algebra.columns(lambda s: 2.0 * s, S), 2.0 * S)
    assert algebra.columns(lambda s: 2.0 * s, np.zeros((6, 0))).shape == (6, 0)


@pytest.mark.parametrize(
    ("value", "error", "pattern"),
    [
        ([1.0, 2.0], gs.ShapeError, r"x has shape \(2,\), expected \(3,\)"),
        (None, gs.ShapeError, r"x has shape \(\), expected \(3,\)"),
        ([1.0, [2.0], 3.0], gs.ShapeError, "x is not a rectangular array"),
        (["a", "b", "c"], gs.ShapeError, "x must hold real numbers"),
        ([None, None, None], gs.ShapeError, "x must hold real numbers"),
        ([1j, 0, 0], gs.ShapeError, "x must hold real numbers"),
        ([True, False, True], gs.ShapeError, "x must hold real numbers"),
        ([np.inf, 0.0, 0.0], gs.NonFiniteError, "x is not finite"),
    ],
)
def test_what_a_function_of_the_user_returns_is_looked_at(value, error, pattern):
    with pytest.raises(error, match=pattern):
        algebra.returned(value, (3,), "x")


# ------------------------------------------------------------------------------------------------ rotations
@quick
@given(seeds, st.floats(-10, 10))
def test_a_turn_about_an_axis_is_that_of_scipy_and_of_the_exponential(rng, angle):
    u = random_unit(rng)
    expected = Rotation.from_rotvec(u * angle).as_matrix()
    assert_close(rotation.about_axis(u, angle), expected, 1e-14)  # (B.1)
    assert_close(rotation.about_axis(u, angle), expm(algebra.skew(u) * angle), 1e-12)  # (B.2)
    for k, letter in enumerate("xyz"):
        expected = Rotation.from_euler(letter, angle).as_matrix()
        assert_close(rotation.about_coordinate(k, angle), expected, 1e-14)
        assert_close(rotation.about_axis(np.eye(3)[k], angle), expected, 1e-14)


@quick
@given(seeds, st.floats(0.9, 1.1))
def test_a_quaternion_is_that_of_scipy_whatever_its_length(rng, scale):
    q = rng.normal(size=4)
    q = q / np.linalg.norm(q)
    R = rotation.from_quaternion(q * scale)
    assert_close(R, Rotation.from_quat(q).as_matrix(), 1e-14)
    assert_close(R @ R.T, np.eye(3), 1e-14)


def test_the_quaternion_has_its_scalar_part_last():
    assert np.array_equal(rotation.from_quaternion(np.array([0.0, 0.0, 0.0, 1.0])), np.eye(3))
    assert_close(
        rotation.from_quaternion(np.array([0, 0, 1, 1]) / np.sqrt(2)), Rotation.from_euler("z", 90, True).as_matrix()
    )


EULER = [a + b + c for a in "xyz" for b in "xyz" for c in "xyz" if a != b and b != c]


@pytest.mark.parametrize("axes", EULER + [axes.upper() for axes in EULER])
def test_euler_angles_are_those_of_scipy_about_fixed_and_moving_axes(axes):
    angles = np.array([0.4, -1.1, 2.3])
    assert_close(rotation.from_euler(angles, axes), Rotation.from_euler(axes, angles).as_matrix(), 1e-14)


def test_roll_pitch_yaw_turns_about_fixed_axes_in_the_order_x_y_z():
    turn = [rotation.about_coordinate(k, angle) for k, angle in enumerate((0.1, 0.2, 0.3))]
    form = gs.rpy(0.1, 0.2, 0.3)
    assert_close(rotation.from_euler(np.array(form.euler), form.axes), turn[2] @ turn[1] @ turn[0], 1e-15)


@pytest.mark.parametrize("convention", ["standard", "modified"])
def test_denavit_hartenberg_parameters_are_four_elementary_matrices(convention):
    def turn(axis, angle):
        T = np.eye(4)
        T[:3, :3] = Rotation.from_euler(axis, angle).as_matrix()
        return T

    def shift(x, z):
        T = np.eye(4)
        T[:3, 3] = x, 0.0, z
        return T

    a, alpha, d, theta = 0.3, 0.7, -0.4, 1.9
    about_z, about_x = turn("z", theta) @ shift(0, d), turn("x", alpha)
    expected = about_z @ shift(a, 0) @ about_x if convention == "standard" else about_x @ shift(a, 0) @ about_z
    R, p = rotation.denavit_hartenberg(a, alpha, d, theta, convention)
    assert_close(R, expected[:3, :3], 1e-15)
    assert_close(p, expected[:3, 3], 1e-15)


# ------------------------------------------------------------------------------------------------ inertia
def random_inertia(rng):
    """Of a cloud of points, with the points."""
    masses, points = rng.uniform(0.1, 1.0, 8), rng.normal(size=(8, 3))
    com = masses @ points / masses.sum()
    J_c = sum(m * steiner(r - com) for m, r in zip(masses, points, strict=True))
    return SpatialInertia.at_centre(masses.sum(), com, J_c), masses, points


def of_points(masses, points):
    """sum phi^T diag(0, m) phi."""
    total = np.zeros((6, 6))
    for m, r in zip(masses, points, strict=True):
        phi = motion_matrix(np.eye(3), r)
        total += m * phi[3:].T @ phi[3:]
    return total


@quick
@given(seeds)
def test_inertia_of_a_body_is_the_sum_over_its_points(rng):
    M, masses, points = random_inertia(rng)
    assert_close(M.matrix(), of_points(masses, points), 1e-13)
    V = rng.normal(size=6)
    assert_close(M @ V, M.matrix() @ V, 1e-13)
    assert_close(steiner(V[:3]), -algebra.skew(V[:3]) @ algebra.skew(V[:3]), 1e-14)


@quick
@given(seeds)
def test_inertia_moved_to_another_frame_is_the_congruence_of_matrices(rng):
    M_b, masses, points = random_inertia(rng)
    R, p = random_rotation(rng), rng.normal(size=3)
    phi = motion_matrix(R, p)  # phi_{b,a}
    M_a = M_b.moved(R, p)
    assert_close(M_a.matrix(), phi.T @ M_b.matrix() @ phi, 1e-13)
    assert_close(M_a.matrix(), of_points(masses, points @ R.T + p), 1e-13)
    assert_close(M_a.moved(*algebra.inverse(R, p)).matrix(), M_b.matrix(), 1e-12)


# ------------------------------------------------------------------------------------------------ joints
AXIS, SECOND = np.array([0.48, -0.6, 0.64]), np.array([0.8, 0.0, -0.6])
PROPS = {"axis": AXIS, "second_axis": SECOND, "pitch": 0.17}
IN_PLANE = np.cross(AXIS, SECOND) / np.linalg.norm(np.cross(AXIS, SECOND))
JOINTS = [(kind, PROPS) for kind in MOTIONS if kind != "planar"] + [("planar", PROPS | {"second_axis": IN_PLANE})]
ALIGNED = {"axis": -np.eye(3)[1], "second_axis": np.eye(3)[2], "pitch": 0.17}
JOINTS += [(kind, ALIGNED | {"axis_aligned": (1, -1.0), "second_axis_aligned": (2, 1.0)})
           for kind in ("revolute", "helical", "cylindrical", "universal", "planar")]  # fmt: skip
every_joint = pytest.mark.parametrize(
    ("kind", "props"), [pytest.param(*j, id=j[0] + " aligned" * ("axis_aligned" in j[1])) for j in JOINTS]
)
T = 0.6


def motion(kind, props, t, back=False) -> JointMotion:
    found = MOTIONS[kind](props, *joint_state(kind, t))
    return found.reversed() if back else found


def vee(X):
    return np.array([X[2, 1] - X[1, 2], X[0, 2] - X[2, 0], X[1, 0] - X[0, 1]]) / 2.0


def test_every_kind_of_joint_is_here():
    assert {kind for kind, _ in JOINTS} == set(gs.JOINT_KINDS) == set(MOTIONS)


@every_joint
def test_a_joint_turns_by_an_orthonormal_right_handed_matrix(kind, props):
    for t in (-1.0, 0.0, 0.3, 2.0):
        R = motion(kind, props, t).R
        assert_close(R @ R.T, np.eye(3), 1e-14)
        assert np.linalg.det(R) > 0.0


@every_joint
@pytest.mark.parametrize("back", [False, True], ids=["forth", "back"])
def test_the_velocity_of_a_joint_is_the_rate_of_its_placement(kind, props, back):
    m, (_, v) = motion(kind, props, T, back), joint_state(kind, T)
    assert m.S.shape == (6, len(v)) == (6, len(gs.JOINT_KINDS[kind].v))
    R_rate = rate(lambda t: motion(kind, props, t, back).R, T)
    p_rate = rate(lambda t: motion(kind, props, t, back).p, T)
    assert_close(m.R.T @ R_rate, -(m.R.T @ R_rate).T, 1e-13)
    assert_close(m.S @ v, np.concatenate([vee(m.R.T @ R_rate), m.R.T @ p_rate]), 1e-13)


@every_joint
@pytest.mark.parametrize("back", [False, True], ids=["forth", "back"])
def test_the_acceleration_of_a_joint_is_the_rate_of_its_velocity(kind, props, back):
    m, a = motion(kind, props, T, back), rate(lambda t: joint_state(kind, t)[1], T)
    found = rate(lambda t: motion(kind, props, t, back).S @ joint_state(kind, t)[1], T)
    assert_close(m.S @ a + m.c, found, 1e-12)


def test_only_joints_whose_axes_move_have_a_bias():
    with_bias = {kind for kind, props in JOINTS if np.abs(motion(kind, props, T).c).max() > 1e-12}
    assert with_bias == {"universal", "planar"}


@every_joint
def test_a_joint_met_from_its_far_side_is_the_inverse_motion(kind, props):
    m, back = motion(kind, props, T), motion(kind, props, T, back=True)
    R, p = algebra.compose(m.R, m.p, back.R, back.p)
    assert_close(R, np.eye(3), 1e-14)
    assert_close(p, np.zeros(3), 1e-14)
    twice = back.reversed()
    for one, two in ((twice.R, m.R), (twice.p, m.p), (twice.S, m.S), (twice.c, m.c)):
        assert_close(one, two, 1e-13)


@every_joint
def test_columns_of_the_subspace_are_independent(kind, props):
    S = motion(kind, props, T).S
    assert np.linalg.matrix_rank(S) == S.shape[1]


@pytest.mark.parametrize("kind", ["revolute", "helical", "cylindrical", "universal", "planar"])
def test_a_joint_along_a_coordinate_axis_is_the_general_one(kind):
    special = dict(JOINTS[[k for k, j in enumerate(JOINTS) if j[0] == kind][-1]][1])
    general = {key: value for key, value in special.items() if not key.endswith("aligned")}
    for name in ("R", "p", "S", "c"):
        assert_close(getattr(motion(kind, special, T), name), getattr(motion(kind, general, T), name), 1e-14)


def placement(kind, q, **properties):
    body = gs.RigidBody("body", mass=1.0, inertia=(1, 1, 1))
    model = gs.assemble("one", gs.chain("world", gs.Joint("joint", kind, **properties), body))
    frame = gs.fk(model, q)["body"]
    return frame.R, frame.p


def test_coordinates_mean_what_the_documentation_of_joint_says():
    turn = rotation.about_coordinate
    for kind, q, properties, R, p in [
        ("revolute", [0.3], {"axis": "z"}, turn(2, 0.3), (0, 0, 0)),
        ("continuous", [9.3], {"axis": "-x"}, turn(0, -9.3), (0, 0, 0)),
        ("prismatic", [0.3], {"axis": "y"}, np.eye(3), (0, 0.3, 0)),
        ("helical", [0.3], {"axis": "x", "pitch": 0.5}, turn(0, 0.3), (0.15, 0, 0)),
        ("cylindrical", [0.3, 0.7], {"axis": "z"}, turn(2, 0.3), (0, 0, 0.7)),
        ("universal", [0.3, 0.7], {"axis": "x", "second_axis": "y"}, turn(0, 0.3) @ turn(1, 0.7), (0, 0, 0)),
        ("planar", [0.3, 0.7, 0.2], {"axis": "z"}, turn(2, 0.2), (0.3, 0.7, 0)),
        ("planar", [0.3, 0.7, 0.2], {"axis": "x"}, turn(0, 0.2), (0, 0.3, 0.7)),
        ("planar", [0.3, 0.7, 0.2], {"axis": "y"}, turn(1, 0.2), (0.7, 0, 0.3)),
        ("planar", [0.3, 0.7, 0.2], {"axis": "z", "second_axis": "y"}, turn(2, 0.2), (-0.7, 0.3, 0)),
        ("spherical", [0, 0, 0.6, 0.8], {}, turn(2, 2 * np.arcsin(0.6)), (0, 0, 0)),
        ("free", [1, 2, 3, 0.6, 0, 0, 0.8], {}, turn(0, 2 * np.arcsin(0.6)), (1, 2, 3)),
    ]:
        found = placement(kind, q, **properties)
        assert_close(found[0], R, 1e-15)
        assert_close(found[1], np.array(p, dtype=float), 1e-15)


# ------------------------------------------------------------------------------------------------ prescribed motion
HARMONIC = gs.HarmonicMotion(
    offset=(1.0, 2.0, 3.0), velocity=(0.1, -0.2, 0.3), amplitude=(0.5, 0.4, -0.3), frequency=0.3, phase=0.2,
    axis=(0.6, 0.0, 0.8), angle=0.4, rate=-0.7, swing=0.6, swing_frequency=0.25, swing_phase=1.1,
)  # fmt: skip


def test_harmonic_motion_follows_its_law_and_its_rates_are_derivatives():
    R, p, V, A = base_state(HARMONIC, T)
    angle = 0.4 - 0.7 * T + 0.6 * np.sin(2 * np.pi * 0.25 * T + 1.1)
    assert_close(R, Rotation.from_rotvec(np.array([0.6, 0.0, 0.8]) * angle).as_matrix(), 1e-14)
    wave = np.sin(2 * np.pi * 0.3 * T + 0.2)
    assert_close(p, np.array([1 + 0.1 * T + 0.5 * wave, 2 - 0.2 * T + 0.4 * wave, 3 + 0.3 * T - 0.3 * wave]), 1e-14)
    R_rate, p_rate = (rate(lambda t, k=k: base_state(HARMONIC, t)[k], T) for k in (0, 1))
    assert_close(V, np.concatenate([vee(R.T @ R_rate), R.T @ p_rate]), 1e-13)
    assert_close(A, rate(lambda t: base_state(HARMONIC, t)[2], T), 1e-12)


def test_an_axis_of_harmonic_motion_that_is_nearly_of_unit_length_is_made_so():
    nearly = HARMONIC.model_copy(update={"axis": (0.6 * (1 + 5e-7), 0.0, 0.8 * (1 + 5e-7))})
    for one, two in zip(base_state(nearly, T), base_state(HARMONIC, T), strict=True):
        assert_close(one, two, 1e-15)


# ------------------------------------------------------------------------------------------------ representations
@pytest.mark.parametrize("name", REPRESENTATIONS)
@quick
@given(rng=seeds)
def test_what_a_representation_does_to_motions_and_forces_can_be_undone(name, rng):
    rep, pose = representation(name), Pose(random_rotation(rng), rng.normal(size=3))
    V, F = rng.normal(size=(2, 6))
    assert_close(rep.motion_local(pose, rep.motion(pose, V)), V, 1e-13)
    assert_close(rep.motion(pose, rep.motion_local(pose, V)), V, 1e-13)
    assert_close(rep.force_local(pose, rep.force(pose, F)), F, 1e-13)
    assert_close(rep.force(pose, rep.force_local(pose, F)), F, 1e-13)
    assert_close(rep.motion(pose, V) @ rep.force(pose, F), V @ F, 1e-13)  # power is power
    assert_close(rep.dot(V, rep.circle(V, F)), F, 1e-14)
    assert_close(rep.circle(V, rep.dot(V, F)), F, 1e-14)


@pytest.mark.parametrize("name", REPRESENTATIONS)
@quick
@given(rng=seeds)
def test_a_shift_is_a_change_of_frame_and_its_force_is_the_transpose(name, rng):
    rep, pose = representation(name), Pose(random_rotation(rng), rng.normal(size=3))
    R, p = random_rotation(rng), rng.normal(size=3)
    far, shift = pose.then(R, p), rep.shift(pose, R, p)
    V, F = rng.normal(size=(2, 6))
    expected = rep.motion(far, algebra.motion_to_child(R, p, V))
    assert_close(shift.motion(rep.motion(pose, V)), expected, 1e-13)
    phi = np.stack([shift.motion(e) for e in np.eye(6)], axis=1)
    assert_close(shift.force(F), phi.T @ F, 1e-13)


@pytest.mark.parametrize("name", REPRESENTATIONS)
@quick
@given(rng=seeds)
def test_inertia_in_a_representation_gives_the_same_energy_and_momentum(name, rng):
    rep, pose = representation(name), Pose(random_rotation(rng), rng.normal(size=3))
    M, *_ = random_inertia(rng)
    V = rng.normal(size=6)
    there = rep.inertia(pose, M)
    assert_close(there @ rep.motion(pose, V), rep.force(pose, M @ V), 1e-13)
    assert_close(there.matrix(), there.matrix().T, 1e-13)


def test_representations_differ_in_reference_point_and_axes():
    pose, V = Pose(rotation.about_coordinate(2, 0.4), np.array([1.0, 2.0, 3.0])), np.arange(1.0, 7.0)
    body, inertial, absolute = (representation(name).motion(pose, V) for name in REPRESENTATIONS)
    assert np.array_equal(body, V)
    assert_close(inertial, np.concatenate([pose.R @ V[:3], pose.R @ V[3:]]), 1e-15)
    assert_close(absolute[3:], inertial[3:] - np.cross(inertial[:3], pose.p), 1e-14)
    assert_differs(inertial, absolute)


def test_an_unknown_representation_is_answered_with_the_known_ones():
    with pytest.raises(
        gs.ShapeError, match=r"one of body, inertial, absolute, got 'inertal'. Hint: did you mean 'inertial'"
    ):
        representation("inertal")
