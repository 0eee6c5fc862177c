"""Collocation of second-order equations at Gauss points: the numbers of one interval, on [0, 1].

On an interval of length h with x = (t - t_i) / h the unknown z is a polynomial of degree m + 1, told by its value and
rate at the left end and by h^2 z'' at the m Gauss points: with l_k the Lagrange polynomials of these,

    z = z_i + x w_i + sum_k A2_k(x) alpha_k,   h z' = w_i + sum_k A1_k(x) alpha_k,   w_i = h z'_i,
    A1_k(x) = int_0^x l_k,    A2_k(x) = int_0^x (x - s) l_k(s) ds.

Values and rates are continuous. At nodes the order is 2 m for differential equations [de Boor, Swartz, SIAM J. Numer.
Anal. 10 (1973) 582-606]; equations without derivatives are interpolated at the points, stably, with one condition at
either end: errors of their second derivatives are O(h^m)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.polynomial import Polynomial

Array = np.ndarray


@dataclass(frozen=True)
class GaussPoints:
    """``c`` (m,) the points; ``A1``, ``A2`` (m, m) at them; ``b1``, ``b2`` (m,) at the end of the interval."""

    c: Array
    A1: Array
    A2: Array
    b1: Array
    b2: Array
    bases: tuple[Polynomial, ...]

    def at(self, x: Array) -> tuple[Array, Array, Array]:
        """l_k, A1_k, A2_k (N, m) at the fractions x (N,) of an interval."""
        once = [p.integ() for p in self.bases]
        families = self.bases, once, [p.integ() for p in once]
        l, A1, A2 = (np.stack([p(x) for p in family], axis=-1) for family in families)
        return l, A1, A2


@cache
def gauss_points(m: int) -> GaussPoints:
    """The scheme of m points."""
    c = 0.5 + 0.5 * np.polynomial.legendre.leggauss(m)[0]
    bases = []
    for k in range(m):
        others = np.delete(c, k)
        bases.append(Polynomial.fromroots(others) / np.prod(c[k] - others))
    empty = np.zeros(0)
    scheme = GaussPoints(c, empty, empty, empty, empty, tuple(bases))
    _, A1, A2 = scheme.at(c)
    _, b1, b2 = scheme.at(np.ones(1))
    return GaussPoints(c, A1, A2, b1[0], b2[0], tuple(bases))
