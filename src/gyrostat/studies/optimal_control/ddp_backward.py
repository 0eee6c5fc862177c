"""The backward pass of differential dynamic programming, with bounds on controls.

    Q_x = l_x + A^T V',  Q_u = l_u + B^T V',  V' = V_x + V_xx gap of the next point,
    Q_xx = l_xx + A^T V_xx A (+ V' . d^2 f), ...,     du = k + K dx,     V_x = Q_x + K^T (Q_uu k + Q_u) + Q_ux^T k, ...

k minimises the quadratic model within the bounds [Tassa, Mansard, Todorov 2014]; controls at a bound have no feedback.
Gaps between the steps and the next points enter as in [Mastalli and others 2020]."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from gyrostat.studies.optimal_control.ddp_steps import StepSlopes

Array = np.ndarray


class Policy(NamedTuple):
    """``k`` (N, m), ``K`` (N, m, nx); ``V_x`` (N + 1, nx); ``slope``: the largest gradient by free controls."""

    k: Array
    K: Array
    V_x: Array
    slope: float


class IndefiniteError(Exception):
    """Q_uu has no positive definite part here: more regularisation."""


def backward(
    s: StepSlopes,
    gaps: Array,
    end: tuple[Array, Array],
    bounds: tuple[Array, Array],
    regularisation: float,
    bend: Callable[[int, Array], Array] | None,
) -> Policy:
    """Of N intervals; ``gaps`` (N, nx) of the points after each; ``bounds``: of du (N, m); ``bend``: second derivatives
    of the weighted step."""
    N, nx, m = s.B.shape
    V_x, V_xx = end
    k, K, costates, slope = np.zeros((N, m)), np.zeros((N, m, nx)), np.zeros((N + 1, nx)), 0.0
    costates[N] = V_x
    for i in range(N - 1, -1, -1):
        A, B = s.A[i], s.B[i]
        ahead = V_x + V_xx @ gaps[i]
        Q = s.hessian[i] if bend is None else s.hessian[i] + bend(i, ahead)
        Q_x, Q_u = s.gradient[i, :nx] + A.T @ ahead, s.gradient[i, nx:] + B.T @ ahead
        Q_xx, Q_ux = Q[:nx, :nx] + A.T @ V_xx @ A, Q[nx:, :nx] + B.T @ V_xx @ A
        Q_uu = Q[nx:, nx:] + B.T @ V_xx @ B
        firm = Q_uu + regularisation * np.eye(m)
        k[i], free = bounded_minimum(firm, Q_u, bounds[0][i], bounds[1][i])
        if free.any():
            K[i][free] = -np.linalg.solve(firm[np.ix_(free, free)], Q_ux[free])
            slope = max(slope, float(np.abs(Q_u[free]).max()))
        V_x = Q_x + K[i].T @ (Q_uu @ k[i] + Q_u) + Q_ux.T @ k[i]
        V_xx = Q_xx + K[i].T @ Q_uu @ K[i] + K[i].T @ Q_ux + Q_ux.T @ K[i]
        V_xx = 0.5 * (V_xx + V_xx.T)
        costates[i] = V_x
    return Policy(k, K, costates, slope)


def bounded_minimum(H: Array, g: Array, low: Array, high: Array, iterations: int = 50) -> tuple[Array, Array]:
    """x (m,) of least 1/2 x.H x + g.x within low <= x <= high, and which entries are free; projected Newton."""
    x = np.clip(np.zeros(len(g)), low, high)
    for _ in range(iterations):
        slope = H @ x + g
        stuck = ((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0))
        free = ~stuck
        if not free.any() or np.abs(slope[free]).max() < 1e-12 * (1.0 + np.abs(g).max()):
            break
        try:
            factor = np.linalg.cholesky(H[np.ix_(free, free)])
        except np.linalg.LinAlgError:
            raise IndefiniteError from None
        step = np.zeros(len(g))
        step[free] = -np.linalg.solve(factor.T, np.linalg.solve(factor, slope[free]))
        value, size, there = 0.5 * x @ H @ x + g @ x, 1.0, x
        while size > 1e-12:
            there = np.clip(x + size * step, low, high)
            if 0.5 * there @ H @ there + g @ there <= value + 0.1 * slope @ (there - x):
                break
            size *= 0.5
        if np.abs(there - x).max() <= 1e-15 * (1.0 + np.abs(x).max()):
            break
        x = there
    slope = H @ x + g
    return x, ~(((x <= low) & (slope > 0.0)) | ((x >= high) & (slope < 0.0)))
