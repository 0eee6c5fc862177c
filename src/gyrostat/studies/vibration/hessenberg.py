"""C (s - A)^-1 B at many s: one orthogonal reduction of A to Hessenberg form, then elimination with one row below the
diagonal, for all s at once [A. J. Laub, Efficient multivariable frequency response computations, IEEE Trans. Automatic
Control 26 (1981) 407]. Unlike sums over modes it does not mind poles that coincide, as those of rigid motion do."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
TOGETHER = 2_000_000
"""Numbers that are held at once."""
SINGULAR = 1e-14
"""Pivots below this share of the size of s - A: a pole lies there."""


def balanced(A: Array) -> Array:
    """d (n,), powers of two: A with rows divided and columns multiplied by d has rows and columns of equal norms."""
    d = np.ones(len(A))
    size = np.abs(A - np.diag(np.diag(A)))
    for _ in range(100):
        before = d.copy()
        for k in range(len(A)):
            row, column = float(size[k] @ d) / d[k], float(size[:, k] @ (1.0 / d)) * d[k]
            if row > 0.0 and column > 0.0:
                d[k] *= 2.0 ** np.round(0.5 * np.log2(row / column))
        if np.array_equal(before, d):
            break
    return d


def reduced(A: Array) -> tuple[Array, Array]:
    """H, Q with A = Q H Q^T, H zero below its first subdiagonal, by reflections."""
    H, Q = A.copy(), np.eye(len(A))
    for k in range(len(A) - 2):
        u = H[k + 1 :, k].copy()
        size = np.linalg.norm(u)
        if size == 0.0:
            continue
        u[0] += np.copysign(size, u[0])
        u /= np.linalg.norm(u)
        H[k + 1 :] -= 2.0 * np.outer(u, u @ H[k + 1 :])
        H[:, k + 1 :] -= 2.0 * np.outer(H[:, k + 1 :] @ u, u)
        Q[:, k + 1 :] -= 2.0 * np.outer(Q[:, k + 1 :] @ u, u)
    return np.triu(H, -1), Q


def resolvent(A: Array, B: Array, C: Array, s: Array) -> tuple[Array, Array]:
    """C (s - A)^-1 B (len(s), rows of C, columns of B), complex; and bool (len(s),): where s is a pole, within
    rounding, and nothing is told."""
    n = len(A)
    d = balanced(A)
    H, Q = reduced(A / d[:, None] * d)
    B, C = Q.T @ (B / d[:, None]), (C * d) @ Q
    answers, poles = np.zeros((len(s), len(C), B.shape[1]), dtype=complex), np.zeros(len(s), dtype=bool)
    step = max(1, TOGETHER // max(1, n * n))
    for k in range(0, len(s), step):
        x, poles[k : k + step] = _solved(H, B, s[k : k + step])
        answers[k : k + step] = C @ x
    return answers, poles


def _solved(H: Array, B: Array, s: Array) -> tuple[Array, Array]:
    """x (len(s), n, m) with (s - H) x = B; rows are exchanged with the next one where that has the larger pivot."""
    n = len(H)
    R = s[:, None, None] * np.eye(n) - H
    x = np.broadcast_to(B.astype(complex), (len(s), *B.shape)).copy()
    size = SINGULAR * (np.abs(s) + np.abs(H).sum(axis=1).max(initial=0.0))
    poles = np.zeros(len(s), dtype=bool)
    for k in range(n - 1):
        swap = np.abs(R[:, k + 1, k]) > np.abs(R[:, k, k])
        for X in (R[:, :, k:], x):
            X[swap, k], X[swap, k + 1] = X[swap, k + 1], X[swap, k]
        poles |= np.abs(R[:, k, k]) <= size
        factor = R[:, k + 1, k] / np.where(poles, 1.0, R[:, k, k])
        R[:, k + 1, k:] -= factor[:, None] * R[:, k, k:]
        x[:, k + 1] -= factor[:, None] * x[:, k]
    poles |= np.abs(R[:, n - 1, n - 1]) <= size if n else poles
    for k in reversed(range(n)):
        x[:, k] -= np.einsum("fj,fjm->fm", R[:, k, k + 1 :], x[:, k + 1 :])
        x[:, k] /= np.where(poles, 1.0, R[:, k, k])[:, None]
    return x, poles
