"""Zeros of a way from one input to one output: where its response vanishes, the antiresonances of a structure.

They are the s at which

    P(s) = [ A - s   b ]
           [   c     d ]

is singular. P(s) = P(s0) - (s - s0) E, so that 1 / (s - s0) are the eigenvalues of P(s0)^-1 E [A. Emami-Naeini and
P. Van Dooren, Automatica 18 (1982) 415, for what zeros are]; those that are zero belong to no finite s."""

from __future__ import annotations

import numpy as np

Array = np.ndarray
FINITE = 1e-10
"""Eigenvalues below this share of the largest are zero."""
VANISHES = 1e-5
"""What may be left at a zero of the response a hundredth beside it."""
NEAR = 1e-2
CANCELLED = 1e-7
"""Zeros that are this near to a pole belong to motions which the input does not move, or the output does not see."""


def zeros(A: Array, b: Array, c: Array, d: float, size: float) -> Array:
    """Finite zeros [rad/s], slowest first. ``size``: angular frequency up to which they are of interest."""
    n = len(A)
    P, E = np.zeros((n + 1, n + 1), dtype=complex), np.zeros((n + 1, n + 1))
    scale = np.sqrt((np.linalg.norm(b) or 1.0) / (np.linalg.norm(c) or 1.0))
    P[:n, :n], P[:n, n], P[n, :n], P[n, n] = A, b / scale, c * scale, d
    E[:n, :n] = np.eye(n)
    s0 = (0.31 + 0.17j) * max(size, 1e-3)  # off all axes, where no pole or zero of a robot lies
    P[:n, :n] -= s0 * np.eye(n)
    mu = np.linalg.eigvals(np.linalg.solve(P, E))
    mu = mu[np.abs(mu) > FINITE * np.abs(mu).max(initial=0.0)]
    s = s0 + 1.0 / mu
    poles = np.linalg.eigvals(A)
    hidden = np.abs(s[:, None] - poles).min(axis=1, initial=np.inf) <= CANCELLED * np.abs(s)
    s = s[[not x and _vanishes(A, b, c, d, at) for x, at in zip(hidden, s, strict=True)]]
    return s[np.lexsort((np.imag(s), np.abs(s)))]


def _vanishes(A: Array, b: Array, c: Array, d: float, s: complex) -> bool:
    """Whether the response does, against that nearby."""

    def response(at: complex) -> float:
        try:
            return float(abs(c @ np.linalg.solve(at * np.eye(len(A)) - A, b) + d))
        except np.linalg.LinAlgError:
            return np.inf

    beside = min(response(s * (1.0 + NEAR)), response(s * (1.0 - NEAR)))
    return response(s) <= VANISHES * beside
