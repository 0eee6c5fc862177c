"""The semidefinite fit against another method for the same optimum; pseudo-inertias against bodies made of points."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from gyrostat.errors import GyrostatError
from gyrostat.studies.identification.base_estimate import base_estimate, structure
from gyrostat.studies.identification.consistent_fit import consistent_fit
from gyrostat.studies.identification.fold_selection import time_blocks
from gyrostat.studies.identification.pseudo_inertia import least_eigenvalues, mass_properties, pseudo_inertia


def of_points(rng, count):
    """pi (10,) of point masses, and their pseudo-inertia as a sum."""
    m, r = rng.uniform(0.1, 1.0, count), rng.normal(size=(count, 3))
    J = sum(mass * (x @ x * np.eye(3) - np.outer(x, x)) for mass, x in zip(m, r, strict=True))
    pi = np.array([m.sum(), *(m @ r), J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])
    x = np.column_stack([r, np.ones(count)])
    return pi, (x * m[:, None]).T @ x


def test_the_pseudo_inertia_is_the_sum_over_points():
    rng = np.random.default_rng(0)
    for count in (1, 3, 8):
        pi, P = of_points(rng, count)
        np.testing.assert_allclose(pseudo_inertia(pi), P, atol=1e-12)
        assert least_eigenvalues(pi)[0] > -1e-12
    m, c, J = mass_properties(pi)
    assert m > 0.0 and np.linalg.eigvalsh(J)[0] > 0.0 and c.shape == (3,)


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_is_the_optimum_that_cholesky_factors_find(seed):
    """min 1/2 x^T H x - g^T x over P(x) >= e by x = P^-1(L L^T + e), a smooth problem without constraints."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(40, 10))
    H, g = A.T @ A, A.T @ rng.normal(size=40)  # its own optimum is no body
    least = np.array([[1e-3, 1e-3, 1e-3, 1e-2]])
    x = consistent_fit(H, g, 1, least, np.zeros((0, 10)), np.zeros(0), "test")
    assert np.linalg.eigvalsh(pseudo_inertia(x) - np.diag(least[0]))[0] > -1e-7

    def cost(l):
        L = np.zeros((4, 4))
        L[np.tril_indices(4)] = l
        y = of_matrix(L @ L.T + np.diag(least[0]))
        return 0.5 * y @ H @ y - g @ y

    best = min(minimize(cost, 0.3 * rng.normal(size=10), method="BFGS").fun for _ in range(4))
    assert 0.5 * x @ H @ x - g @ x == pytest.approx(best, rel=1e-5, abs=1e-6)


def of_matrix(P):
    """pi of a pseudo-inertia."""
    J = np.trace(P[:3, :3]) * np.eye(3) - P[:3, :3]
    return np.array([P[3, 3], *P[:3, 3], J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2]])


def test_lower_bounds_hold_and_the_optimum_inside_is_left_alone():
    rng = np.random.default_rng(1)
    pi, _ = of_points(rng, 8)
    A = np.hstack([rng.normal(size=(60, 11))])
    truth = np.r_[pi, -0.5]
    H, g, C = A.T @ A, A.T @ (A @ truth), np.eye(11)[10:]
    least = np.full((1, 4), 1e-6)
    np.testing.assert_allclose(consistent_fit(H, g, 1, least, C, np.array([-1.0]), "test"), truth, rtol=1e-4, atol=1e-5)
    assert consistent_fit(H, g, 1, least, C, np.array([0.2]), "test")[10] == pytest.approx(0.2, abs=1e-6)
    with pytest.raises(GyrostatError, match="no physically consistent parameters"):
        consistent_fit(H, g, 1, least, np.vstack([C, -C]), np.array([1.0, 1.0]), "test")


def test_deviations_know_the_colour_of_the_noise():
    """300 fits of two parameters under noise that is correlated over 20 samples."""
    rng, T = np.random.default_rng(0), 800
    t = np.arange(T) * 0.02
    A = np.stack([np.sin(0.5 * t), np.cos(0.3 * t)], axis=1)[:, None, :]
    columns, B = structure(A.reshape(T, 2))
    told, claimed = [], []
    for _ in range(300):
        e = np.convolve(rng.normal(size=T + 19), np.ones(20) / 20.0, "valid")
        b = A @ [1.0, -2.0] + e[:, None]
        found = base_estimate(A, b, np.eye(1), columns, B, ("x", "y"), (slice(0, T),))
        told.append(found.values)
        claimed.append(found.sigma)
    ratio = np.std(told, axis=0) / np.mean(claimed, axis=0)
    assert np.all((ratio > 0.75) & (ratio < 1.3))


def test_dependent_columns_are_expressed_by_those_that_stay():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(50, 3)) @ np.array(
        [[1.0, 0.0, 2.0, 0.0, 0.0], [0.0, 1.0, -1.0, 0.0, 3.0], [0.0, 0.0, 0.0, 0.0, 1.0]]
    )
    columns, B = structure(A)
    assert columns.tolist() == [0, 1, 4]
    np.testing.assert_allclose(A, A[:, columns] @ B, atol=1e-12)
    assert np.all(B[:, 3] == 0.0)


def test_blocks_cover_every_sample_once():
    blocks = time_blocks([100, 50, 30], 6)
    assert [k for b in blocks for k in range(180)[b]] == list(range(180))
