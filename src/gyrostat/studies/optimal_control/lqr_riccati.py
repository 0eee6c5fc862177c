"""Riccati equations: of an infinite horizon by SciPy, of a finite one by exponentials of Hamiltonian matrices.

    min  x(T)^T P_T x(T) + int x^T Q x + 2 x^T N u + u^T R u dt,     x' = A x + B u
    u = -K x,   K = R^-1 (B^T P + N^T),     -P' = A^T P + P A - K^T R K + Q                                (1)

With A~ = A - B R^-1 N^T and Q~ = Q - N R^-1 N^T, P = Y X^-1 where (X, Y)' = H (X, Y),

    H = [A~, -B R^-1 B^T; -Q~, -A~^T],                                                                     (2)

so that one step backwards by h is a fractional linear map with exp(-h H): exact where the matrices are constant; where
they change, Magnus' exponent of two Gauss points makes it one of fourth order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gyrostat.errors import GyrostatError

Array = np.ndarray
HIDDEN = 1e-9
"""Part of the norm of [s - A, B] below which its smallest singular value counts as zero."""


class Linear(NamedTuple):
    """x' = A x + B u, or x_(k+1) = A x_k + B u_k, with the weights Q, R and N (n, m) of the cost."""

    A: Array
    B: Array
    Q: Array
    R: Array
    N: Array


def sampled(system: Linear, T: float) -> Linear:
    """Of an analogue system the digital one whose u is held for T [s], with the same cost, exactly [Van Loan 1978]."""
    from scipy.linalg import expm

    A, B, Q, R, N = system
    n, m = B.shape
    M = np.zeros((n + m, n + m))
    M[:n, :n], M[:n, n:] = A, B
    W = np.block([[Q, N], [N.T, R]])
    k = n + m
    E = expm(T * np.block([[-M.T, W], [np.zeros((k, k)), M]]))
    moved = E[k:, k:]
    cost = moved.T @ E[:k, k:]
    cost = 0.5 * (cost + cost.T)
    return Linear(moved[:n, :n], moved[:n, n:], cost[:n, :n], cost[n:, n:], cost[:n, n:])


def infinite(system: Linear, digital: bool, names: Sequence[str], who: str) -> tuple[Array, Array]:
    """P (n, n) and K (m, n) of the infinite horizon; refused where no gain can hold the system, naming what drifts."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    A, B, Q, R, N = system
    expect_stabilisable(A, B, digital, names, who)
    solve = solve_discrete_are if digital else solve_continuous_are
    try:
        P = solve(A, B, Q, R, s=N)
    except (np.linalg.LinAlgError, ValueError):
        raise GyrostatError(
            f"{who}: the Riccati equation has no solution that settles: something that neither decays nor is weighted "
            "in Q is left. Hint: weight every displacement, at least a little"
        ) from None
    return P, gain(system, P, digital)


def gain(system: Linear, P: Array, digital: bool) -> Array:
    """K (m, n) for P, in a digital system that of the next sample."""
    A, B, _, R, N = system
    if digital:
        return np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A + N.T)
    return np.linalg.solve(R, B.T @ P + N.T)


def step_back(system: Linear, P: Array) -> tuple[Array, Array]:
    """P and K one sample earlier, of a digital system."""
    K = gain(system, P, True)
    A, B, Q, R, N = system
    closed = A - B @ K
    before = Q - N @ K - K.T @ N.T + K.T @ R @ K + closed.T @ P @ closed
    return 0.5 * (before + before.T), K


def flow_back(first: Linear, second: Linear, h: float, P: Array) -> Array:
    """P (1) earlier by h [s], for the systems at the two Gauss points of the interval; equal ones: exact."""
    from scipy.linalg import expm

    n = len(P)
    H1, H2 = hamiltonian(first), hamiltonian(second)
    exponent = -0.5 * h * (H1 + H2) - np.sqrt(3.0) / 12.0 * h * h * (H2 @ H1 - H1 @ H2)
    parts = max(1, int(np.ceil(np.abs(np.linalg.eigvals(exponent).real).max() / 5.0)))  # exp stays within exp(5)
    E = expm(exponent / parts)
    for _ in range(parts):
        X, Y = E[:n, :n] + E[:n, n:] @ P, E[n:, :n] + E[n:, n:] @ P
        P = np.linalg.solve(X.T, Y.T).T
        P = 0.5 * (P + P.T)
    return P


def hamiltonian(system: Linear) -> Array:
    """H (2 n, 2 n) of (2)."""
    A, B, Q, R, N = system
    inverse = np.linalg.solve(R, np.concatenate([B.T, N.T], axis=1))
    by_B, by_N = inverse[:, : len(A)], inverse[:, len(A) :]
    closed = A - B @ by_N
    return np.block([[closed, -B @ by_B], [-(Q - N @ by_N), -closed.T]])


def expect_stabilisable(A: Array, B: Array, digital: bool, names: Sequence[str], who: str) -> None:
    """Refuse a system with a motion that does not decay and that no input reaches [Popov, Belevitch, Hautus]."""
    for s in np.linalg.eigvals(A):
        decays = abs(s) < 1.0 - HIDDEN if digital else s.real < -HIDDEN
        if decays:
            continue
        pencil = np.concatenate([s * np.eye(len(A)) - A, B], axis=1)
        left, values, _ = np.linalg.svd(pencil)
        if values[-1] > HIDDEN * values[0]:
            continue
        worst = names[int(np.argmax(np.abs(left[:, -1])))]
        raise GyrostatError(
            f"{who}: no input reaches a motion with the pole {complex(s):.4g}, most of it '{worst}', and it does not "
            "decay. Hint: more inputs=, or a model in which it is held"
        )
