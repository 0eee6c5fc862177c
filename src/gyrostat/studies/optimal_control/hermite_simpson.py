"""Direct collocation with cubic states and linear controls [von Stryk, DIRCOL; Hargraves, Paris 1987], compressed:

    x_m = (x_0 + x_1) / 2 + h/8 (f_0 - f_1),    u_m = (u_0 + u_1) / 2,
    d = (x_1 - x_0) - h/6 (f_0 + 4 f_m + f_1) = 0,    cost = h/6 (l_0 + 4 l_m + l_1).

With e = (f, l), the last row of D = (x_1 - x_0, 0) - h/6 (e_0 + 4 e_m + e_1) is the negative cost of the interval.
Points of the grid are those between intervals. h = c . theta + h_0 is linear in the free numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gyrostat.studies.optimal_control.flow import Flow, Linearised
from gyrostat.studies.optimal_control.grid import Grid
from gyrostat.studies.optimal_control.rule_data import Curvatures, Derivatives

Array = np.ndarray


class Middles(NamedTuple):
    """Points in the middle of intervals: z (N, nz), with their derivatives D0, D1 (N, nz, nw) by the points beside
    them and Dt (N, nz, r) by the free numbers."""

    x: Linearised
    D0: Array
    D1: Array
    Dt: Array


@dataclass(frozen=True)
class HermiteSimpson:
    """The rule on a grid of one phase."""

    flow: Flow
    grid: Grid
    stages = 1

    @property
    def columns(self) -> Array:
        """Points (N, 2) of each interval."""
        k = np.arange(len(self.grid.shares))
        return np.stack([k, k + 1], axis=1)

    @property
    def points(self) -> int:
        return len(self.grid.edges)

    @property
    def fractions(self) -> Array:
        """Where points are in the phase (points,)."""
        return self.grid.edges

    def middle(self, z: Array, e: Array, h: Array) -> Array:
        """z_m (N, nz)."""
        n2, nw = 2 * self.flow.n, self.flow.space.nw
        zm = np.empty((len(h), z.shape[1]))
        zm[:, :nw] = 0.5 * (z[:-1, :nw] + z[1:, :nw])
        zm[:, :n2] += h[:, None] / 8.0 * (e[:-1, :n2] - e[1:, :n2])
        zm[:, nw:] = z[:-1, nw:]
        return zm

    def value(self, z: Array, e: Array, h: Array) -> Array:
        """D (N, 1, ne)."""
        zm = self.middle(z, e, h)
        em = self.flow.value(zm, *self.grid.data(self.grid.middles, zm))[0]
        return self._rows(z, e, em, h)[:, None]

    def _rows(self, z: Array, e: Array, em: Array, h: Array) -> Array:
        n2 = 2 * self.flow.n
        D = -h[:, None] / 6.0 * (e[:-1] + 4.0 * em + e[1:])
        D[:, :n2] += z[1:, :n2] - z[:-1, :n2]
        return D

    def derivatives(self, x: Linearised, h: Array, dh: Array) -> Derivatives:
        """D and its derivatives; ``dh`` (N, r)."""
        n2, nw = 2 * self.flow.n, self.flow.space.nw
        z, r, h1 = x.z, dh.shape[1], h[:, None, None]
        A0, A1 = x.B[:-1], x.B[1:]
        N = len(h)
        D0, D1, Dt = np.zeros((N, nw + r, nw)), np.zeros((N, nw + r, nw)), np.zeros((N, nw + r, r))
        k = np.arange(nw)
        D0[:, k, k] = D1[:, k, k] = 0.5
        D0[:, :n2] += h1 / 8.0 * A0[:, :n2, :nw]
        D1[:, :n2] -= h1 / 8.0 * A1[:, :n2, :nw]
        if r:
            Dt[:, :n2] = h1 / 8.0 * (A0 - A1)[:, :n2, nw:] + (x.e[:-1] - x.e[1:])[:, :n2, None] * dh[:, None] / 8.0
            Dt[:, nw + np.arange(r), np.arange(r)] = 1.0
        zm = self.middle(z, x.e, h)
        m = self.flow.slopes(zm, *self.grid.data(self.grid.middles, zm))
        J0 = -h1 / 6.0 * (A0[:, :, :nw] + 4.0 * (m.B @ D0))
        J1 = -h1 / 6.0 * (A1[:, :, :nw] + 4.0 * (m.B @ D1))
        d = np.arange(n2)
        J0[:, d, d] -= 1.0
        J1[:, d, d] += 1.0
        Jt = np.zeros((N, m.e.shape[1], r))
        if r:
            total = x.e[:-1] + 4.0 * m.e + x.e[1:]
            Jt = -h1 / 6.0 * (A0[:, :, nw:] + A1[:, :, nw:] + 4.0 * (m.B @ Dt)) - total[:, :, None] * dh[:, None] / 6.0
        J = np.stack([J0, J1], axis=2)[:, None]
        return Derivatives(self._rows(z, x.e, m.e, h)[:, None], J, Jt[:, None], Middles(m, D0, D1, Dt))

    def places(self, B: Array) -> tuple[Array, Array]:
        """Where J (1, ne, 2, nw) and Jt (1, ne, r) may be non-zero, from where B (ne, nz) may be."""
        n2, nw = 2 * self.flow.n, self.flow.space.nw
        D = np.eye(B.shape[1], nw, dtype=bool)
        D[:n2] |= B[:n2, :nw]
        J = B[:, :nw] | (B.astype(int) @ D.astype(int) > 0)
        J[np.arange(n2), np.arange(n2)] = True
        Jt = np.ones((len(B), B.shape[1] - nw), dtype=bool)
        return np.stack([J, J], axis=1)[None], Jt[None]

    def curvatures(self, x: Linearised, d: Derivatives, weights: Array, h: Array, dh: Array) -> Curvatures:
        """Second derivatives of weights . D; weights (N, 1, ne)."""
        n2, nw = 2 * self.flow.n, self.flow.space.nw
        m, D0, D1, Dt = d.memory
        weights = weights[:, 0]
        N, r, h1 = len(h), dh.shape[1], h[:, None]
        g = np.einsum("kij,ki->kj", m.B, weights)  # gradient of weights . e_m by z_m
        through = np.zeros_like(weights)
        through[:, :n2] = g[:, :n2] * (-4.0 / 6.0) * h1 * h1 / 8.0
        on = np.zeros((N + 1, weights.shape[1]))
        on[:-1] += -h1 / 6.0 * weights + through
        on[1:] += -h1 / 6.0 * weights - through
        H = self.flow.curvature(m, -4.0 / 6.0 * h1 * weights)
        H0, H1 = H @ D0, H @ D1
        K00, K11 = D0.swapaxes(1, 2) @ H0, D1.swapaxes(1, 2) @ H1
        K10 = D1.swapaxes(1, 2) @ H0
        Kt0, Kt1, Ktt = np.zeros((N, r, nw)), np.zeros((N, r, nw)), np.zeros((r, r))
        if r:
            Kt0, Kt1 = Dt.swapaxes(1, 2) @ H0, Dt.swapaxes(1, 2) @ H1
            Ktt = (Dt.swapaxes(1, 2) @ H @ Dt).sum(axis=0)
            A0, A1 = x.B[:-1], x.B[1:]
            # d^2 x_m by h and a point, seen by g
            left = np.einsum("kij,ki->kj", A0[:, :n2], g[:, :n2]) / 8.0
            right = -np.einsum("kij,ki->kj", A1[:, :n2], g[:, :n2]) / 8.0
            c = (-4.0 / 6.0 * h1)[:, :, None]
            Kt0 += c * dh[:, :, None] * left[:, None, :nw]
            Kt1 += c * dh[:, :, None] * right[:, None, :nw]
            both = (c * dh[:, :, None] * (left + right)[:, None, nw:]).sum(axis=0)
            # of -h phi: -dh (x) dphi, twice
            phi0 = (np.einsum("kij,ki->kj", A0[:, :, :nw], weights) + 4.0 * np.einsum("kj,kji->ki", g, D0)) / 6.0
            phi1 = (np.einsum("kij,ki->kj", A1[:, :, :nw], weights) + 4.0 * np.einsum("kj,kji->ki", g, D1)) / 6.0
            phit = np.einsum("kij,ki->kj", (A0 + A1)[:, :, nw:], weights) + 4.0 * np.einsum("kj,kji->ki", g, Dt)
            Kt0 -= dh[:, :, None] * phi0[:, None]
            Kt1 -= dh[:, :, None] * phi1[:, None]
            both -= (dh[:, :, None] * phit[:, None] / 6.0).sum(axis=0)
            Ktt = Ktt + both + both.T
        return Curvatures(np.stack([K00, K11], axis=1), K10, np.stack([Kt0, Kt1], axis=1), Ktt, on)
