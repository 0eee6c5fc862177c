"""Functions along a beam of length 1 that is clamped at 0: polynomials, and those of finite elements.

Polynomials are x^2 times Legendre polynomials for bending and x times them for torsion and stretch. They can bend at a
loaded tip; clamped-free modes cannot: with the tip load of De Luca and Siciliano eight of these are off by 1e-1 in f3,
eight polynomials by 3e-8. Elements of equal length have Hermite's cubics for bending (deflection and slope at each
node), linear functions for torsion and stretch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.polynomial import Legendre, Polynomial
from numpy.polynomial.legendre import leggauss

from gyrostat.spatial.algebra import Array


@dataclass(frozen=True)
class TrialFunctions:
    """n functions on 0 ... 1: ``evaluate(x (m,), d) -> (n, m)``, their d-th derivatives; polynomials of at most
    ``degree`` between ``breaks``."""

    n: int
    degree: int
    breaks: tuple[float, ...]
    evaluate: Callable[[Array, int], Array]

    def __call__(self, x: Array, derivative: int = 0) -> Array:
        return self.evaluate(x, derivative) if self.n else np.zeros((0, len(x)))

    def combined(self, V: Array) -> TrialFunctions:
        """Sums of them: columns of V (n, m) are the new ones."""
        return TrialFunctions(V.shape[1], self.degree, self.breaks, lambda x, d: V.T @ self(x, d))

    def derivative(self) -> TrialFunctions:
        """Their slopes, as functions."""
        return TrialFunctions(self.n, self.degree, self.breaks, lambda x, d: self(x, d + 1))


def polynomials(n: int, order: int) -> TrialFunctions:
    """x^order times the first n Legendre polynomials."""
    power = Legendre.fromroots([0.0] * order, domain=[0, 1])
    base = [power / power(1.0) * Legendre.basis(k, domain=[0, 1]) for k in range(n)]

    def evaluate(x: Array, d: int) -> Array:
        return np.array([(p.deriv(d) if d else p)(x) for p in base])

    return TrialFunctions(n, n + order - 1, (0.0, 1.0), evaluate)


def _of_elements(elements: int, local: list[Polynomial], scale: list[float], per_node: int) -> TrialFunctions:
    """Local functions of one element on 0 ... 1, first those of its left node; what stands at x = 0 is clamped."""
    n = per_node * elements

    def evaluate(x: Array, d: int) -> Array:
        values = np.zeros((n + per_node, len(x)))
        element = np.clip((x * elements).astype(int), 0, elements - 1)
        inside = x * elements - element
        for k, (p, size) in enumerate(zip(local, scale, strict=True)):
            at = (p.deriv(d) if d else p)(inside) * size * float(elements) ** d
            values[per_node * element + k, np.arange(len(x))] += at
        return values[per_node:]

    return TrialFunctions(n, len(local) - 1, tuple(np.linspace(0.0, 1.0, elements + 1)), evaluate)


def hermite_elements(elements: int) -> TrialFunctions:
    """Deflection and slope at the nodes x = 1/elements, ..., 1: two functions for each."""
    h = 1.0 / elements
    local = [Polynomial([1, 0, -3, 2]), Polynomial([0, 1, -2, 1]), Polynomial([0, 0, 3, -2]), Polynomial([0, 0, -1, 1])]
    return _of_elements(elements, local, [1.0, h, 1.0, h], 2)


def linear_elements(elements: int) -> TrialFunctions:
    """Values at the nodes x = 1/elements, ..., 1."""
    return _of_elements(elements, [Polynomial([1, -1]), Polynomial([0, 1])], [1.0, 1.0], 1)


def quadrature(breaks: tuple[float, ...], degree: int, start: float = 0.0, end: float = 1.0) -> tuple[Array, Array]:
    """Points and weights on start ... end, exact for polynomials of this degree between breaks."""
    inner = [start, *(b for b in breaks if start < b < end), end]
    x, w = leggauss(degree // 2 + 1)
    parts = [((a + b) / 2 + (b - a) / 2 * x, (b - a) / 2 * w) for a, b in pairwise(inner)]
    return np.concatenate([p for p, _ in parts]), np.concatenate([w for _, w in parts])


def natural_modes(M: Array, K: Array) -> tuple[Array, Array]:
    """Eigenvalues (n,), rising, and modes (n, n) of K V = M V lambda, V^T M V = 1."""
    L = np.linalg.inv(np.linalg.cholesky(M)) if len(M) else M
    values, V = np.linalg.eigh(L @ K @ L.T)
    return values, L.T @ V


def reduced_modes(M: Array, K: Array, n: int, loads: Array) -> Array:
    """n columns: the lowest natural modes and, last, the shapes under static ``loads`` (n_all, m) as far as n goes, so
    that a loaded tip is bent rightly; combined to the natural modes that they contain, each positive along the first
    load."""
    _, V = natural_modes(M, K)
    if n < len(M):
        statics = np.linalg.solve(K, loads)[:, :n]
        kept = V[:, : n - statics.shape[1]]
        statics = statics - kept @ (kept.T @ (M @ statics))
        V = np.concatenate([kept, statics / np.sqrt(np.abs(np.diag(statics.T @ M @ statics)))], axis=1)
    V = V @ natural_modes(V.T @ M @ V, V.T @ K @ V)[1]
    return V * np.where(loads[:, 0] @ V < 0.0, -1.0, 1.0)
