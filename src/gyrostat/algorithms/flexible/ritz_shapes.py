"""Shapes of a uniform beam of length 1, clamped at 0, and their integrals: pure numbers, whatever the beam is made of.

Ritz polynomials, x^2 times Legendre polynomials for bending and x times them for torsion and stretch, combined to the
natural modes that they contain: orthonormal in mass, int f_i f_j = delta_ij, with the stiffness int f_i'' f_j'' =
lambda_i delta_ij (f_i' f_j' for torsion and stretch). Polynomials can bend at a loaded tip, clamped-free modes cannot:
with the tip load of De Luca and Siciliano eight of these are off by 1e-1 in f3, eight polynomials by 3e-8.

Positions along the axis are sums over Legendre polynomials pi_k, int pi_k pi_l = delta_kl: :data:`AXIAL` or more."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.polynomial import Legendre
from numpy.polynomial.legendre import leggauss

from gyrostat.spatial.algebra import Array

AXIAL = 2
"""Functions along the axis at least: constant and linear ones take all of the stiffening by uniform and by centrifugal
fields. With one the spin-up of Kane's beam lags by 0.533 instead of 0.576 m, 3 and 4 differ from 2 by 3e-5."""


@dataclass(frozen=True)
class Station:
    """Shapes at one place: values (n,), slopes (n,), and int_0^x f_i' f_j' (n, n)."""

    f: Array
    slope: Array
    shortening: Array


@dataclass(frozen=True)
class Shapes:
    """n shapes of one family with k axial functions: ``mass`` int f f and ``stiffness`` (n, n), ``P`` (k, n) int pi_k
    f, ``G`` (k, n, n) int pi_k int_0^x f' f'; ``at(x)``, 0 <= x <= 1."""

    mass: Array
    stiffness: Array
    P: Array
    G: Array
    at: Callable[[float], Station]

    @property
    def n(self) -> int:
        return len(self.mass)


def _polynomials(n: int, order: int) -> list[Legendre]:
    power = Legendre.fromroots([0.0] * order, domain=[0, 1])
    return [power / power(1.0) * Legendre.basis(k, domain=[0, 1]) for k in range(n)]


def axial_functions(k: int) -> list[Legendre]:
    """Orthonormal Legendre polynomials on 0 ... 1."""
    return [np.sqrt(2 * i + 1) * Legendre.basis(i, domain=[0, 1]) for i in range(k)]


def natural_modes(M: Array, K: Array) -> tuple[Array, Array]:
    """Eigenvalues (n,) and modes (n, n) of K V = M V lambda, V^T M V = 1; both symmetric."""
    L = np.linalg.inv(np.linalg.cholesky(M))
    values, V = np.linalg.eigh(L @ K @ L.T)
    return values, L.T @ V


def _values(functions: list[Legendre], x: Any, derivative: int = 0) -> Array:
    return np.array([(p.deriv(derivative) if derivative else p)(x) for p in functions])


@lru_cache
def ritz_shapes(n: int, order: int, axial: int) -> Shapes:
    """The first n Ritz modes; ``order`` 2 for bending, 1 for torsion and stretch; with ``axial`` functions pi_k."""
    points = leggauss(2 * n + axial + 4)
    x, w = (points[0] + 1.0) / 2.0, points[1] / 2.0
    base = _polynomials(n, order)
    if not n:
        none, nowhere = np.zeros((0, 0)), Station(np.zeros(0), np.zeros(0), np.zeros((0, 0)))
        return Shapes(none, none, np.zeros((axial, 0)), np.zeros((axial, 0, 0)), lambda _: nowhere)
    f, bent = _values(base, x), _values(base, x, order)
    stiffness, V = natural_modes((f * w) @ f.T, (bent * w) @ bent.T)
    slope = V.T @ _values(base, x, 1)
    pi = axial_functions(axial)
    H = [p.integ(lbnd=0) for p in pi]
    G = np.array([(slope * (w * (h(1.0) - h(x)))) @ slope.T for h in H])

    @lru_cache
    def at(place: float) -> Station:
        inside = _values(base, place * x, 1)
        shortening = V.T @ ((inside * (w * place)) @ inside.T) @ V
        return Station(V.T @ _values(base, place), V.T @ _values(base, place, 1), shortening)

    return Shapes(np.eye(n), np.diag(stiffness), (_values(pi, x) * w) @ f.T @ V, G, at)


@lru_cache
def overlap(n: int, m: int) -> Array:
    """int f_i g_j (n, m) of n and m bending shapes: those of another number are others."""
    if n == m or not n or not m:
        return np.eye(n, m)
    points = leggauss(n + m + 4)
    x, w = (points[0] + 1.0) / 2.0, points[1] / 2.0
    one, two = (np.array([ritz_shapes(k, 2, AXIAL).at(p).f for p in x]) for k in (n, m))
    return (one.T * w) @ two
