"""Rotations: exponential and logarithm undo each other, Jacobians are derivatives, and the arithmetic that is recorded
agrees with that on arrays; near no turn, near half a turn, and everywhere between."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gyrostat.geometry.rotation import about_axis, from_quaternion, quaternion_of
from gyrostat.spatial import so3, so3_recorded
from gyrostat.spatial.algebra import skew
from tests.support.comparing import assert_close
from tests.support.examples import few

ANGLES = (0.0, 1e-300, 1e-160, 1e-12, 1e-4, 0.01, 0.2499999, 0.25, 0.2500001, 1.0, 3.0, np.pi - 1e-9, np.pi)
H = 1e-6

directions = st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda x: np.linalg.norm(x) > 1e-3)
angles = st.one_of(st.floats(0.0, np.pi), st.floats(0.0, 1e-6), st.floats(np.pi - 1e-6, np.pi), st.sampled_from(ANGLES))


def vector(direction, angle):
    return np.array(direction) / np.linalg.norm(direction) * angle


def some(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape)


# ------------------------------------------------------------------------------------------------ exp and log
@settings(max_examples=few(200), deadline=None)
@given(directions, angles)
def test_the_logarithm_undoes_the_exponential(direction, angle):
    x = vector(direction, angle)
    for back in (so3.log(so3.exp(x)), so3.quaternion_log(so3.quaternion_exp(x))):
        if angle > np.pi - 1e-7:  # either direction is as short
            back = back * np.sign(back @ x)
        assert_close(back, x, 2e-15 * max(1.0, angle))


@settings(max_examples=few(100), deadline=None)
@given(directions, st.floats(0.0, 6.0))
def test_the_exponential_turns_about_the_axis_by_the_angle(direction, angle):
    x = vector(direction, angle)
    R = about_axis(vector(direction, 1.0), angle)
    assert_close(so3.exp(x), R, 1e-14)
    assert_close(from_quaternion(so3.quaternion_exp(x)), R, 1e-14)
    u = np.array([0.3, -1.2, 0.7])
    assert_close(so3_recorded.rotated(x, u), R @ u, 1e-14)


def test_tiny_turns_keep_their_digits():
    for size in (1e-8, 1e-100, 1e-300):
        x = np.array([3.0, -4.0, 12.0]) / 13.0 * size
        np.testing.assert_allclose(so3.quaternion_log(so3.quaternion_exp(x)), x, rtol=1e-15)
        here = so3.normalised(np.array([0.1, 0.2, -0.3, 0.9]))
        there = so3.product(here, so3.quaternion_exp(x))
        if size == 1e-8:
            np.testing.assert_allclose(so3.turn_between(here, there), x, rtol=1e-7)


def test_half_turns_have_logarithms_and_quaternions():
    for axis in (*np.eye(3), np.array([0.6, 0.8, 0.0]), np.array([-0.6, 0.0, 0.8])):
        R = about_axis(axis, np.pi)
        x = so3.log(R)
        assert np.linalg.norm(x) == pytest.approx(np.pi, rel=1e-15)
        assert_close(so3.exp(x), R, 1e-15)
        assert_close(from_quaternion(quaternion_of(R)), R, 1e-15)


def test_quaternions_of_matrices_have_any_leading_shape_and_no_negative_real_part():
    q = so3.normalised(some(0, 5, 7, 4))
    back = quaternion_of(so3.matrix(q))
    assert back.shape == q.shape
    assert (back[..., 3] >= 0.0).all()
    assert_close(back, np.where(q[..., 3:] < 0.0, -q, q), 1e-14)


# ------------------------------------------------------------------------------------------------ Jacobians
@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.01, 0.24, 0.26, 1.0, 3.0, np.pi, 5.0])
def test_jacobians_are_those_of_the_exponential(angle):
    """R^T dR = (Jr dx)~ and dR R^T = (Jl dx)~, by differences."""
    x, dx = vector((0.3, -0.5, 0.8), angle), np.array([0.4, 0.9, -0.2])
    R, dR = so3.exp(x), (so3.exp(x + H * dx) - so3.exp(x - H * dx)) / (2.0 * H)
    assert_close(skew(so3.right_jacobian(x, dx)), R.T @ dR, 1e-9)
    assert_close(skew(so3.left_jacobian(x, dx)), dR @ R.T, 1e-9)


@settings(max_examples=few(100), deadline=None)
@given(directions, st.one_of(st.floats(0.0, 6.0), st.sampled_from(ANGLES)))
def test_inverse_jacobians_undo_the_jacobians(direction, angle):
    x, u = vector(direction, angle), np.array([0.4, 0.9, -0.2])
    assert_close(so3.left_jacobian_inverse(x, so3.left_jacobian(x, u)), u, 1e-13 / (2.0 * np.pi - angle))
    assert_close(so3.right_jacobian_inverse(x, so3.right_jacobian(x, u)), u, 1e-13 / (2.0 * np.pi - angle))
    assert_close(so3.right_jacobian_inverse_matrix(x) @ u, so3.right_jacobian_inverse(x, u), 1e-13)


def test_the_left_jacobian_is_the_exponential_times_the_right_one():
    x, u = some(1, 20, 3), some(2, 20, 3)
    assert_close(so3.left_jacobian(x, u), np.einsum("bij,bj->bi", so3.exp(x), so3.right_jacobian(x, u)), 1e-14)


@pytest.mark.parametrize("angle", ANGLES)
def test_what_is_recorded_agrees_with_what_is_computed_on_arrays(angle):
    x, u = vector((0.3, -0.5, 0.8), angle), np.array([0.4, 0.9, -0.2])
    q = so3.normalised(np.array([0.1, 0.2, -0.3, 0.9]))
    assert_close(so3_recorded.rotated(x, u), so3.exp(x) @ u, 5e-15)
    assert_close(so3_recorded.left_jacobian(x, u), so3.left_jacobian(x, u), 1e-15)
    assert_close(so3_recorded.right_jacobian_inverse(x, u), so3.right_jacobian_inverse(x, u), 2e-15)
    assert_close(so3_recorded.turned(q, x), so3.normalised(so3.product(q, so3.quaternion_exp(x))), 1e-15)
    assert_close(so3_recorded.rate_matrix(q), so3.rate_matrix(q), 0.0)
    assert_close(so3_recorded.quaternion_rate(q, u), so3.rate_matrix(q) @ u, 1e-15)
    assert_close(so3_recorded.spin_matrix(u) @ q, so3.rate_matrix(q) @ u, 1e-15)
    if angle < np.pi - 1e-6:
        assert_close(so3_recorded.smooth_log(so3.exp(x)), x, 1e-8 if angle > 3.1 else 1e-14)


# ------------------------------------------------------------------------------------------------ quaternions
def test_products_of_quaternions_are_products_of_matrices():
    p, q = so3.normalised(some(3, 10, 4)), so3.normalised(some(4, 10, 4))
    assert_close(so3.matrix(so3.product(p, q)), so3.matrix(p) @ so3.matrix(q), 1e-14)
    assert_close(so3.product(p, so3.conjugate(p)), np.tile([0, 0, 0, 1.0], (10, 1)), 1e-15)
    x = some(5, 10, 3)
    assert_close(so3.rotate(p, x), np.einsum("bij,bj->bi", so3.matrix(p), x), 0.0)


def test_the_turn_between_quaternions_is_the_shortest():
    p, q = so3.normalised(some(6, 50, 4)), so3.normalised(some(7, 50, 4))
    x = so3.turn_between(p, q)
    assert (np.linalg.norm(x, axis=-1) <= np.pi + 1e-15).all()
    assert_close(so3.matrix(p) @ so3.exp(x), so3.matrix(q), 1e-14)


def test_the_rate_of_a_quaternion_is_that_of_a_turning_frame():
    q, w = so3.normalised(some(8, 4)), np.array([0.4, 0.9, -0.2])
    ends = [so3.product(q, so3.quaternion_exp(s * H * w)) for s in (1, -1)]
    assert_close(so3.rate_matrix(q) @ w, (ends[0] - ends[1]) / (2.0 * H), 1e-9)
