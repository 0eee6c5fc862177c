"""Linear equations with complex numbers in drivers, next to NumPy."""

import numpy as np
import pytest

from gyrostat.engine.drivers.complex_linear_algebra import complex_gauss_jordan, complex_lu, complex_solve
from gyrostat.engine.drivers.driver import driver


def address(x):
    return x.__array_interface__["data"][0]


def solved(A, b):
    """Status of the factorisation, and the solution."""
    n = len(b)
    A, b, pivots = A.astype(complex).copy(), b.astype(complex).copy(), np.zeros(n, dtype=np.int64)
    status = driver(complex_lu).call(n, address(A), address(pivots))
    if status == 0:
        driver(complex_solve).call(n, address(A), address(pivots), address(b))
    return status, b


@pytest.mark.parametrize("n", [1, 2, 5, 9, 38])
def test_solutions_are_those_of_numpy(n):
    rng = np.random.default_rng(n)
    for scale in (1.0, 1e150, 1e-150):
        A = scale * (rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))
        x = rng.normal(size=n) + 1j * rng.normal(size=n)
        status, found = solved(A, A @ x)
        assert status == 0
        np.testing.assert_allclose(found, x, rtol=0, atol=1e-11 * n * np.linalg.cond(A / scale))


def test_rows_change_places_where_a_pivot_is_zero():
    A = np.array([[0.0, 1.0j, 0.0], [2.0, 0.0, 1.0], [0.0, 0.0, -1.0j]])
    x = np.array([1.0 + 1.0j, -2.0, 3.0j])
    status, found = solved(A, A @ x)
    assert status == 0
    np.testing.assert_allclose(found, x, atol=1e-15)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_what_cannot_be_factorised_is_told(bad):
    assert solved(bad * np.ones((3, 3)), np.ones(3))[0] == 1


def inverse(A):
    """Status, and the inverse; rows of real parts, then imaginary parts, with zeros behind both."""
    n, stride = len(A), (len(A) + 3) // 4 * 4
    rows = np.zeros((n, 2, stride))
    rows[:, 0, :n], rows[:, 1, :n] = A.real, A.imag
    pivots, factors = np.zeros(n, dtype=np.int64), np.zeros(2 * n)
    status = driver(complex_gauss_jordan).call(n, stride, address(rows), address(pivots), address(factors))
    assert status == 1 or not rows[:, :, n:].any()
    return status, rows[:, 0, :n] + 1j * rows[:, 1, :n]


@pytest.mark.parametrize("n", [1, 2, 4, 9, 38])
def test_inverses_are_those_of_numpy(n):
    rng = np.random.default_rng(n)
    for scale in (1.0, 1e150, 1e-150):
        A = scale * (rng.normal(size=(n, n)) + 1j * rng.normal(size=(n, n)))
        A[0, 0] = 0.0 if n > 1 else A[0, 0]
        status, found = inverse(A)
        assert status == 0
        np.testing.assert_allclose(found @ A, np.eye(n), rtol=0, atol=1e-14 * n * np.linalg.cond(A / scale))


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf])
def test_what_has_no_inverse_is_told(bad):
    assert inverse(np.full((3, 3), bad, dtype=complex))[0] == 1
