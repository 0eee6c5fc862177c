"""Linear equations in drivers, against NumPy."""

import numpy as np
import pytest

from gyrostat.engine.drivers.driver import driver
from gyrostat.engine.drivers.elimination import Elimination
from gyrostat.engine.drivers.linear_algebra import (
    definite,
    gauss_jordan,
    lu,
    multiplied,
    regular,
    solve,
    tree_lu,
    tree_solve,
)

SIZES = (1, 2, 3, 5, 9, 14, 38)


def place(x):
    return x.__array_interface__["data"][0]


def called(function, *given):
    return driver(function).call(*(place(x) if isinstance(x, np.ndarray) else x for x in given))


def tree_pattern(parents):
    """(n, n) bool: rows and columns that are on one branch."""
    full = np.eye(len(parents), dtype=bool)
    for k, parent in enumerate(parents):
        while parent >= 0:
            full[k, parent] = full[parent, k] = True
            parent = parents[parent]
    return full


@pytest.mark.parametrize("n", SIZES)
def test_a_factorisation_with_pivots_solves(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(n, n)), rng.normal(size=n)
    if n > 1:
        A[0, 0] = 0.0
    F, x, pivots = A.copy(), b.copy(), np.zeros(n, dtype=np.int64)
    assert called(lu, n, F, pivots) == 0
    called(solve, n, F, pivots, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-12 * np.linalg.cond(A))


@pytest.mark.parametrize("entry", [0.0, np.nan, np.inf])
def test_a_singular_matrix_and_one_that_is_not_finite_are_told(entry):
    A = np.eye(3)
    A[1, 1] = entry
    assert called(lu, 3, A.copy(), np.zeros(3, dtype=np.int64)) == 1
    order = Elimination.of(np.ones((3, 3), dtype=bool))
    assert called(tree_lu, 3, A.copy(), order.first, order.runs) == 1
    wide = np.zeros((3, 4))
    wide[:, :3] = A
    assert called(definite, 3, 4, wide.copy()) == 0 and called(regular, 3, 3, A.copy()) == 0
    assert called(gauss_jordan, 3, 4, wide, np.zeros(3, dtype=np.int64), np.zeros(3)) == 1


@pytest.mark.parametrize("seed", range(6))
def test_a_factorisation_along_a_tree_solves_and_fills_nothing(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 25))
    full = tree_pattern([-1, *(int(rng.integers(0, k)) for k in range(1, n))])
    A, b = np.where(full, rng.normal(size=(n, n)), 0.0) + n * np.eye(n), rng.normal(size=n)
    order = Elimination.of(full)
    F, x = A.copy(), b.copy()
    assert called(tree_lu, n, F, order.first, order.runs) == 0
    assert np.all(F[~full] == 0.0)
    called(tree_solve, n, F, order.first, order.runs, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)
    assert order.operations <= order.dense


def test_a_pattern_that_is_no_tree_fills_up_as_far_as_it_must():
    full = np.eye(6, dtype=bool)
    full[5, [0, 3]] = full[[0, 3], 5] = full[4, 1] = True
    order, rng = Elimination.of(full), np.random.default_rng(1)
    A, b = np.where(full, rng.normal(size=(6, 6)), 0.0) + 6.0 * np.eye(6), rng.normal(size=6)
    F, x = A.copy(), b.copy()
    assert called(tree_lu, 6, F, order.first, order.runs) == 0 and order.operations < order.dense
    called(tree_solve, 6, F, order.first, order.runs, x)
    np.testing.assert_allclose(A @ x, b, atol=1e-12)


def test_a_small_entry_on_the_diagonal_asks_for_pivots():
    order = Elimination.of(np.ones((2, 2), dtype=bool))
    A = np.array([[1.0, 1.0], [1.0, 1e-12]])
    assert called(tree_lu, 2, A, order.first, order.runs) == 1


@pytest.mark.parametrize("n", SIZES)
def test_definite_matrices_are_told_from_others(n):
    rng = np.random.default_rng(n)
    B = rng.normal(size=(n, n))
    A = B @ B.T + 1e-3 * np.eye(n)
    least = np.linalg.eigvalsh(A).min()
    for shift, want in ((0.9, 1), (1.1, 0)):
        M = A - shift * least * np.eye(n)
        rows = np.full((n, (n + 3) // 4 * 4), np.nan)  # what stands beside the matrix counts for nothing
        rows[:, :n] = np.triu(M)
        assert called(definite, n, rows.shape[1], rows) == want
        assert called(regular, n, n, M.copy()) == want


@pytest.mark.parametrize("n", SIZES)
def test_an_inverse_by_gauss_and_jordan_with_pivots(n):
    rng = np.random.default_rng(n)
    A, rows = rng.normal(size=(n, n)), np.zeros((n, (n + 3) // 4 * 4))
    if n > 1:
        A[0, 0] = 0.0
    rows[:, :n] = A
    assert called(gauss_jordan, n, rows.shape[1], rows, np.zeros(n, dtype=np.int64), np.zeros(n)) == 0
    np.testing.assert_allclose(rows[:, :n] @ A, np.eye(n), atol=1e-13 * np.linalg.cond(A) ** 1.2)
    assert not rows[:, n:].any()


@pytest.mark.parametrize("n", SIZES)
def test_products_with_columns_that_have_a_stride(n):
    rng, stride = np.random.default_rng(n), (n + 3) // 4 * 4
    S, r, x = rng.normal(size=(n, n)), rng.normal(size=n), np.empty(stride)
    columns = np.zeros((n, stride))
    columns[:, :n] = S.T
    called(multiplied, n, stride, columns, r, x)
    np.testing.assert_allclose(x[:n], S @ r, atol=1e-12)
    assert np.all(x[n:] == 0.0)
