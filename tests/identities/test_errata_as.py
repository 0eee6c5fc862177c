"""Errata of AS: the frozen matrix (7)-(9), finite-element links (11)-(18), in-cut joints and Table 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

from tests.support.comparing import assert_close, assert_differs

# ---------------------------------------------------------------------------------------------- (3)-(9)
rng = np.random.default_rng(4)
N, CLOSED, STEP = 4, 2, 0.05
A = (lambda X: X @ X.T + 4.0 * np.eye(N))(rng.normal(size=(N, N)))
STIFFNESS, FRICTION = np.diag(rng.uniform(50.0, 100.0, N)), np.diag(rng.uniform(5.0, 9.0, N))
C = rng.normal(size=(CLOSED, N))
K1, K2 = 3.0, 5.0


def H_q(q, v, a, force):
    """(3a): A q'' + B - Q - C^T lambda, with springs and friction in Q and B = 0."""
    return A @ a - (-STIFFNESS @ q - FRICTION @ v) - C.T @ force


def H_c(q, v, a):
    """(3b) for the constraint f = C q."""
    return C @ a + K1 * C @ v + K2 * C @ q


def stepped(a, start):
    """(5): q, q' at the end of a step from ``start`` = q, q', q''."""
    q, v, before = start
    return q + STEP * v + STEP**2 / 4.0 * (before + a), v + STEP / 2.0 * (before + a)


def residual(unknown, start):
    """H of (4) at the end of a step, as a function of q'' and lambda there."""
    a, force = unknown[:N], unknown[N:]
    q, v = stepped(a, start)
    return np.concatenate([H_q(q, v, a, force), H_c(q, v, a)])


def jacobian(function, x):
    """By central differences, exact for functions of second degree."""
    return np.column_stack([(function(x + e) - function(x - e)) / 2.0 for e in np.eye(len(x))])


def test_equation_7_of_as_needs_half_the_step_before_the_rate():
    start = rng.normal(size=(3, N))
    exact = jacobian(lambda a: residual(np.concatenate([a, np.zeros(CLOSED)]), start)[:N], np.zeros(N))
    assert_close(A + STEP / 2.0 * FRICTION + STEP**2 / 4.0 * STIFFNESS, exact, 1e-12)
    assert_differs(A + STEP * FRICTION + STEP**2 / 4.0 * STIFFNESS, exact, 0.01)  # as printed


def test_equation_8b_of_as_means_the_rate_of_h_q():
    q, v, a, force = *rng.normal(size=(3, N)), rng.normal(size=CLOSED)
    of_Q = jacobian(lambda v: -STIFFNESS @ q - FRICTION @ v, v)
    assert_close(jacobian(lambda v: H_q(q, v, a, force), v), -of_Q, 1e-12)
    printed = jacobian(lambda v: H_c(q, v, a), v)
    assert printed.shape == (CLOSED, N) != of_Q.shape
    assert_close(printed, K1 * C, 1e-12)  # nothing of Q is in it


def test_equation_9_of_as_has_the_other_sign_of_lambda_than_3a():
    start, guess = rng.normal(size=(3, N)), np.zeros(N + CLOSED)
    frozen = A + STEP / 2.0 * FRICTION + STEP**2 / 4.0 * STIFFNESS
    below = (1.0 + K1 * STEP / 2.0 + K2 * STEP**2 / 4.0) * C  # the rows of H_c; C alone as printed, for h -> 0
    zero = np.zeros((CLOSED, CLOSED))
    H = residual(guess, start)
    right = guess - np.linalg.solve(np.block([[frozen, -C.T], [below, zero]]), H)
    printed = guess - np.linalg.solve(np.block([[frozen, C.T], [below, zero]]), H)
    assert np.abs(residual(right, start)).max() < 1e-11  # linear: one iteration of (6) is exact
    assert np.abs(residual(printed, start)).max() > 1.0
    assert_close(printed[:N], right[:N], 1e-10)  # the accelerations are the same,
    assert_close(printed[N:], -right[N:], 1e-10)  # the forces have the other sign
    for matrix in (frozen, C @ np.linalg.inv(frozen) @ C.T):
        assert_close(matrix, matrix.T, 1e-13)
        assert np.linalg.eigvalsh(matrix).min() > 0.0


# ---------------------------------------------------------------------------------------------- beams
def cantilever(elements):
    """Consistent mass and stiffness of Hermite elements, w and w' of each node; length, E I, mass per length are 1."""
    n, l = 2 * elements + 2, 1.0 / elements
    M, K = np.zeros((n, n)), np.zeros((n, n))
    m = l / 420.0 * np.array([[156, 22 * l, 54, -13 * l], [22 * l, 4 * l**2, 13 * l, -3 * l**2],
                              [54, 13 * l, 156, -22 * l], [-13 * l, -3 * l**2, -22 * l, 4 * l**2]])  # fmt: skip
    k = 1.0 / l**3 * np.array([[12, 6 * l, -12, 6 * l], [6 * l, 4 * l**2, -6 * l, 2 * l**2],
                               [-12, -6 * l, 12, -6 * l], [6 * l, 2 * l**2, -6 * l, 4 * l**2]])  # fmt: skip
    for e in range(elements):
        at = slice(2 * e, 2 * e + 4)
        M[at, at] += m
        K[at, at] += k
    return M[2:, 2:], K[2:, 2:]


def in_cut(superelements, a):
    """Mass and stiffness of a console of rigid parts a, b, a in each superelement; joint angles are coordinates.

    The part of the beam behind joint k turns about it: w(x) = sum of q_k max(0, x - x_k).
    """
    l = 1.0 / superelements
    x = np.array([k * l + d for k in range(superelements) for d in (a * l, l - a * l)])
    M = np.array([[(1 - far) ** 3 / 3 + (far - near) * (1 - far) ** 2 / 2 for near, far in
                   ((min(i, j), max(i, j)) for j in x)] for i in x])  # fmt: skip
    return M, np.eye(2 * superelements) * 2.0 / l  # c = 2 E I / l


EXACT = [brentq(lambda x: np.cos(x) * np.cosh(x) + 1.0, low, low + 2.0) ** 2 for low in (1.0, 4.0, 7.0)]


def errors(M, K):
    """Of the first three eigenfrequencies [%], as far as there are so many."""
    found = np.sqrt(eigh(K, M, eigvals_only=True))
    return [100.0 * (w / exact - 1.0) for w, exact in zip(found, EXACT, strict=False)]


def test_in_cut_joints_need_a_half_minus_one_over_the_root_of_twelve():
    def tip(a, force, moment):
        """Deflection and slope of the tip of a console of length 1 with two joints."""
        at, c = np.array([a, 1.0 - a]), 2.0
        angles = (force * (1.0 - at) + moment) / c
        return np.array([angles @ (1.0 - at), angles.sum()])

    for force, moment in ((1.0, 0.0), (0.0, 1.0), (0.7, -0.4)):
        exact = np.array([force / 3.0 + moment / 2.0, force / 2.0 + moment])  # F l^3 / 3 E I, ...
        assert_close(tip(0.5 - 1.0 / np.sqrt(12.0), force, moment), exact, 1e-15)
        if force:
            assert_differs(tip(1.0 - 1.0 / np.sqrt(12.0), force, moment), exact, 0.01)  # as printed
            assert_differs(tip(0.221, force, moment), exact, 1e-3)  # "a=221l" of Table 1, read as .221 l
    assert round(0.5 - 1.0 / np.sqrt(12.0), 4) == 0.2113


TABLE_1 = """
2   1.01  6.08 .475   62.6 40.8 57.9
4   .018  1.45 .048   2.77 5.21 .848   16.4 7.49 80.4
6   .002  .641 .010   .222 2.25 .328   4.18 3.58 16.3
8   .0005 .359 .003   .44  1.26 .117   .597 2.03 1.45
10  .0001 .230 .002   .013 .801 .050   .161 1.30 1.17
"""
"""DOF; errors [%] of omega_1, omega_2, omega_3, each by A, B, FEM, as printed."""
REFUTED = {(8, 2, "A"): 0.0443, (4, 3, "FEM"): 21.8, (6, 3, "FEM"): 1.25, (8, 3, "FEM"): 0.774, (10, 3, "FEM"): 0.359}
"""(DOF, frequency, column) -> what is computed instead [%]."""


@pytest.mark.parametrize("row", TABLE_1.split("\n")[1:-1])
def test_table_1_of_as_comes_out_but_for_five_entries(row):
    dof, *printed = row.split()
    m, a = int(dof) // 2, 0.5 - 1.0 / np.sqrt(12.0)
    models = {"A": in_cut(m, a), "B": in_cut(m, 0.25), "FEM": cantilever(m)}
    found = {column: np.abs(errors(*matrices)) for column, matrices in models.items()}
    for k, text in enumerate(printed):
        frequency, column = k // 3 + 1, ("A", "B", "FEM")[k % 3]
        got, last_digit = found[column][frequency - 1], 10.0 ** -len(text.partition(".")[2])
        instead = REFUTED.get((int(dof), frequency, column))
        if instead is None:
            assert abs(got - float(text)) < last_digit, (dof, frequency, column)
        else:
            assert got == pytest.approx(instead, rel=5e-3)
            assert abs(got - float(text)) > 0.3 * got


def test_in_cut_frequencies_of_table_1_are_too_low_but_for_two():
    found = {
        (2 * m, k + 1): e for m in range(1, 6) for k, e in enumerate(errors(*in_cut(m, 0.5 - 1.0 / np.sqrt(12.0))))
    }
    assert [key for key, error in found.items() if error > 0.0] == [(2, 2), (4, 3)]


# ---------------------------------------------------------------------------------------------- (11)-(18)
def test_equation_11_of_as_means_displacements_and_not_their_rates():
    M, K = cantilever(8)
    n = len(M)
    meant = np.linalg.eigvals(np.block([[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(M, K), np.zeros((n, n))]]))
    assert min(meant.imag, key=lambda w: abs(w - EXACT[0])) == pytest.approx(EXACT[0], rel=1e-5)
    printed = np.linalg.eigvals(-np.linalg.solve(M, K))  # rates of M u'' + C u' = 0: they die out, nothing swings
    assert np.abs(printed.imag).max() < 1e-6 * np.abs(printed).max()
    load = np.eye(n)[-2]
    assert np.linalg.solve(K, load)[-2] == pytest.approx(1.0 / 3.0)  # at rest, C u = R is the deflection F l^3 / 3 E I


def reduction(elements, kept):
    """M, K, G = M^-1 K with the kept displacements first, eigenvalues, modes, and how many are kept."""
    M, K = cantilever(elements)
    order = [*kept, *(k for k in range(len(M)) if k not in kept)]
    M, K = M[np.ix_(order, order)], K[np.ix_(order, order)]
    values, modes = eigh(K, M)
    return M, K, np.linalg.solve(M, K), values, modes, len(kept)


def riccati(L, G, m):
    """The left side of (17), relative to G."""
    return (L @ G[:m, :m] - G[m:, m:] @ L - L @ G[:m, m:] @ L + G[m:, :m]) / np.abs(G).max()


def test_equation_12_of_as_needs_the_omitted_rows_of_the_modes():
    *_, G, values, modes, m = reduction(4, [2, 3, 6, 7])  # eight displacements, four are kept: the shapes fit
    right = -modes[m:, :m] @ np.linalg.inv(modes[:m, :m])
    printed = -modes[:m, m:] @ np.linalg.inv(modes[:m, :m])
    assert np.abs(riccati(right, G, m)).max() < 1e-13
    assert np.abs(riccati(printed, G, m)).max() > 0.01
    X11, X22 = G[:m, :m] - G[:m, m:] @ right, G[m:, m:] + right @ G[:m, m:]  # (13)
    assert np.sort(np.linalg.eigvals(X11).real) == pytest.approx(values[:m], rel=1e-9)
    assert np.sort(np.linalg.eigvals(X22).real) == pytest.approx(values[m:], rel=1e-9)


def test_the_reduced_mass_matrix_16_of_as_is_not_symmetric():
    M, K, _, values, modes, m = reduction(6, [4, 5, 10, 11])  # middle and tip
    L, Gamma = -modes[m:, :m] @ np.linalg.inv(modes[:m, :m]), -K[:m, m:] @ np.linalg.inv(K[m:, m:])
    reduced = M[:m, :m] - M[:m, m:] @ L + Gamma @ (M[m:, :m] - M[m:, m:] @ L)  # (16)
    stiffness = K[:m, :m] + Gamma @ K[m:, :m]
    found = np.sort(np.linalg.eigvals(np.linalg.solve(reduced, stiffness)).real)
    assert found == pytest.approx(values[:m], rel=1e-9)  # the frequencies are kept nevertheless
    assert np.abs(reduced - reduced.T).max() / np.abs(reduced).max() == pytest.approx(0.335, abs=1e-3)
    assert_close(stiffness, stiffness.T, 1e-9)


def test_the_plain_iteration_of_17_diverges():
    *_, G, _, modes, m = reduction(6, [4, 5, 10, 11])
    exact = -modes[m:, :m] @ np.linalg.inv(modes[:m, :m])
    assert np.abs(riccati(exact, G, m)).max() < 1e-14
    L, off = np.linalg.solve(G[m:, m:], G[m:, :m]), []
    for _ in range(4):
        L = np.linalg.solve(G[m:, m:], L @ G[:m, :m] - L @ G[:m, m:] @ L + G[m:, :m])
        off.append(np.abs(L - exact).max())
    assert off[0] > 1.0 and off[-1] > 1e6
