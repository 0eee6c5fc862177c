"""Collocation at the points of Radau IIA, the last of which is the end of the interval: polynomials of degree s for the
states, order 2 s - 1, stiffly accurate [Hairer, Wanner IV.5]. Controls are free at each point.

    x_j = x_0 + h sum_i A_ji f_i,    cost = h sum_i A_si l_i"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from gyrostat.studies.optimal_control.flow import Flow, Linearised
from gyrostat.studies.optimal_control.grid import Grid
from gyrostat.studies.optimal_control.rule_data import Curvatures, Derivatives

Array = np.ndarray


def radau_points(s: int) -> Array:
    """c (s,) with c_s = 1: zeros of P_s - P_(s-1), shifted Legendre polynomials."""
    P = np.polynomial.legendre.Legendre.basis
    return np.sort(0.5 * (1.0 + (P(s) - P(s - 1)).roots().real))


def collocation_matrix(c: Array) -> Array:
    """A_ji = integral from 0 to c_j of the Lagrange polynomial l_i."""
    V = np.vander(c, increasing=True)
    k = np.arange(1, len(c) + 1)
    return (c[:, None] ** k / k) @ np.linalg.inv(V)


@dataclass(frozen=True)
class Radau:
    """The rule on a grid of one phase."""

    flow: Flow
    grid: Grid
    stages: int = 3

    @cached_property
    def A(self) -> Array:
        return collocation_matrix(radau_points(self.stages))

    @property
    def points(self) -> int:
        return 1 + self.stages * len(self.grid.shares)

    @cached_property
    def fractions(self) -> Array:
        """Where points are in the phase (points,)."""
        inside = self.grid.edges[:-1, None] + self.grid.shares[:, None] * radau_points(self.stages)
        return np.append(0.0, inside.ravel())

    @cached_property
    def columns(self) -> Array:
        """Points (N, s + 1) of each interval."""
        return self.stages * np.arange(len(self.grid.shares))[:, None] + np.arange(self.stages + 1)

    def _rows(self, z: Array, e: Array, h: Array) -> Array:
        n2, at = 2 * self.flow.n, self.columns
        D = -h[:, None, None] * np.einsum("ji,kie->kje", self.A, e[at[:, 1:]])
        D[:, :, :n2] += z[at[:, 1:], :n2] - z[at[:, :1], :n2]
        return D

    def value(self, z: Array, e: Array, h: Array) -> Array:
        """D (N, s, ne)."""
        return self._rows(z, e, h)

    def derivatives(self, x: Linearised, h: Array, dh: Array) -> Derivatives:
        """D and its derivatives; ``dh`` (N, r)."""
        n2, nw, s = 2 * self.flow.n, self.flow.space.nw, self.stages
        at, ne = self.columns[:, 1:], x.e.shape[1]
        B = x.B[at]
        J = np.zeros((len(h), s, ne, s + 1, nw))
        J[:, :, :, 1:] = -h[:, None, None, None, None] * np.einsum("ji,kiew->kjeiw", self.A, B[..., :nw])
        d, j = np.arange(n2), np.arange(s)
        J[:, j[:, None], d, j[:, None] + 1, d] += 1.0
        J[:, :, d, 0, d] -= 1.0
        Jt = -h[:, None, None, None] * np.einsum("ji,kiew->kjew", self.A, B[..., nw:])
        Jt -= np.einsum("ji,kie->kje", self.A, x.e[at])[..., None] * dh[:, None, None]
        return Derivatives(self._rows(x.z, x.e, h), J, Jt, None)

    def places(self, B: Array) -> tuple[Array, Array]:
        """Where J (s, ne, s + 1, nw) and Jt (s, ne, r) may be non-zero, from where B (ne, nz) may be."""
        n2, nw, s = 2 * self.flow.n, self.flow.space.nw, self.stages
        J = np.zeros((s, len(B), s + 1, nw), dtype=bool)
        J[:, :, 1:] = B[:, None, :nw]
        d, j = np.arange(n2), np.arange(s)
        J[:, d, 0, d] = True
        J[j[:, None], d, j[:, None] + 1, d] = True
        return J, np.ones((s, len(B), B.shape[1] - nw), dtype=bool)

    def curvatures(self, x: Linearised, d: Derivatives, weights: Array, h: Array, dh: Array) -> Curvatures:
        """Second derivatives of weights . D; weights (N, s, ne)."""
        nw, at, r = self.flow.space.nw, self.columns, dh.shape[1]
        own = -np.einsum("ji,kje->kie", self.A, weights)  # weights of h e_i
        on = np.zeros(x.e.shape)
        on[at[:, 1:].ravel()] = (h[:, None, None] * own).reshape(-1, x.e.shape[1])
        free, free_free = np.zeros((len(h), self.stages + 1, r, nw)), np.zeros((r, r))
        if r:
            slope = np.einsum("kiew,kie->kiw", x.B[at[:, 1:]], own)
            free[:, 1:] = dh[:, None, :, None] * slope[:, :, None, :nw]
            both = (dh[:, :, None] * slope[:, :, nw:].sum(axis=1)[:, None]).sum(axis=0)
            free_free = both + both.T
        return Curvatures(None, None, free, free_free, on)
