"""A state that wanders, seen now and then: Kalman's filter, the smoother of Rauch, Tung and Striebel, likelihood.

x_(k+1) = x_k + w_k,  w_k ~ N(0, Q (t_(k+1) - t_k)),     y_k = R_k x_k + noise of unit variance,    x_0 ~ N(0, 1)"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass(frozen=True)
class Walk:
    """Means (k, n) and covariances (k, n, n): ``filtered`` know what was before, ``smoothed`` everything."""

    filtered: Array
    filtered_covariance: Array
    smoothed: Array
    smoothed_covariance: Array
    log_likelihood: float


def walk(times: Array, seen: Sequence[tuple[Array, Array]], Q: Array) -> Walk:
    """From (R_k, y_k) at each time and the diagonal Q (n,) [per unit of time]."""
    n, count = len(Q), len(times)
    m, P = np.zeros(n), np.eye(n)
    means, covariances = np.empty((count, n)), np.empty((count, n, n))
    ahead_m, ahead_P = np.empty((count, n)), np.empty((count, n, n))
    likelihood = 0.0
    for k, (R, y) in enumerate(seen):
        if k:
            P = P + np.diag(Q * (times[k] - times[k - 1]))
        ahead_m[k], ahead_P[k] = m, P
        S = R @ P @ R.T + np.eye(len(R))
        L = np.linalg.cholesky(S)
        nu = np.linalg.solve(L, y - R @ m)
        G = np.linalg.solve(L, R @ P)
        likelihood -= 0.5 * float(nu @ nu) + float(np.log(np.diag(L)).sum())
        m, P = m + G.T @ nu, P - G.T @ G
        P = 0.5 * (P + P.T)
        means[k], covariances[k] = m, P
    smooth, spread = means.copy(), covariances.copy()
    for k in range(count - 2, -1, -1):
        gain = np.linalg.solve(ahead_P[k + 1], covariances[k]).T
        smooth[k] = means[k] + gain @ (smooth[k + 1] - ahead_m[k + 1])
        spread[k] = covariances[k] + gain @ (spread[k + 1] - ahead_P[k + 1]) @ gain.T
    return Walk(means, covariances, smooth, spread, likelihood)
