"""One step of a motion with its derivatives, for all intervals at once: classical Runge-Kutta with u held.

    k_i = e(x_i, u),   x_2 = x + h/2 k_1,   x_3 = x + h/2 k_2,   x_4 = x + h k_3,
    x+ = x + h/6 (k_1 + 2 k_2 + 2 k_3 + k_4),      the cost likewise.

Derivatives of the step follow from those of e at the four points; with weights a_i of e there, which come from those of
the step backwards, second derivatives are sum of Z_i^T d^2 (a_i . e) Z_i, Z_i = d z_i / d (x, u)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from gyrostat.studies.optimal_control.flow import Flow, Linearised
from gyrostat.studies.optimal_control.free_numbers import FreeNumbers
from gyrostat.studies.optimal_control.phase import Phase, running_cost
from gyrostat.studies.optimal_control.phase_space import PhaseSpace
from gyrostat.studies.optimal_control.point import Point
from gyrostat.studies.optimal_control.point_dynamics import Slopes
from gyrostat.studies.optimal_control.point_functions import PointFunction

Array = np.ndarray
NODES = (0.0, 0.5, 0.5, 1.0)
SHARES = (1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0)


class StepSlopes(NamedTuple):
    """Of N intervals: A (N, nx, nx), B (N, nx, m), gradient (N, nx + m) of the cost, its second derivatives (N, nx + m,
    nx + m) without those of the steps; and what second derivatives of steps need."""

    A: Array
    B: Array
    gradient: Array
    hessian: Array
    points: list[Linearised]
    Z: list[Array]


class Steps:
    """A phase in equal intervals."""

    def __init__(self, phase: Phase):
        self.phase = phase
        self.space = PhaseSpace(phase, 0, FreeNumbers.read([phase], {}))
        self.flow = Flow(self.space, running_cost(phase))
        self.n, self.m, self.nx = self.space.n, self.space.m, 2 * self.space.n
        self.count = phase.nodes - 1
        self.h = float(phase.duration) / self.count
        self._end = None if phase.end_cost is None else PointFunction(self.space, self._end_outputs, "end_cost")

    def _end_outputs(self, z: Array, y: Array, clock: Array, spent: Array) -> Array:
        assert self.phase.end_cost is not None
        value = self.phase.end_cost(Point(self.space, self.space.split(z, clock, spent), y))
        return np.asarray(value, dtype=object).reshape(1)

    def _data(self, k: Array, node: float) -> tuple[Array, Array]:
        s = (k + node) / self.count
        return np.stack([s * self.count * self.h, s], axis=1), np.zeros((len(k), 0))

    def values(self, k: Array, x: Array, u: Array) -> tuple[Array, Array]:
        """x+ (N, nx) and cost (N,) of intervals number k (N,)."""
        total, at = np.zeros((len(k), self.nx + 1)), x
        for i in range(4):
            e, _ = self.flow.value(np.concatenate([at, u], axis=1), *self._data(k, NODES[i]))
            total = total + SHARES[i] * e
            if i < 3:
                at = x + self.h * NODES[i + 1] * e[:, : self.nx]
        step = self.h * total
        return x + step[:, : self.nx], step[:, self.nx]

    def slopes(self, x: Array, u: Array) -> StepSlopes:
        """Of all intervals."""
        N, nx, m, h = self.count, self.nx, self.m, self.h
        k = np.arange(N)
        unit = np.broadcast_to(np.eye(nx + m), (N, nx + m, nx + m))
        Z, at, points, Zs = unit, x, [], []
        total = np.zeros((N, nx + 1, nx + m))
        H = np.zeros((N, nx + m, nx + m))
        own = np.zeros((N, nx + 1))
        for i in range(4):
            p = self.flow.slopes(np.concatenate([at, u], axis=1), *self._data(k, NODES[i]))
            K = p.B @ Z
            total += SHARES[i] * K
            own[:, nx] = h * SHARES[i]
            H += Z.swapaxes(1, 2) @ self.flow.curvature(p, own) @ Z
            points.append(p)
            Zs.append(Z)
            if i < 3:
                at = x + h * NODES[i + 1] * p.e[:, :nx]
                Z = unit.copy()
                Z[:, :nx] += h * NODES[i + 1] * K[:, :nx]
        F = h * total
        return StepSlopes(
            F[:, :nx, :nx] + np.eye(nx), F[:, :nx, nx:], F[:, nx], 0.5 * (H + H.swapaxes(1, 2)), points, Zs
        )

    def bend(self, s: StepSlopes, k: int, weights: Array) -> Array:
        """Second derivatives (nx + m, nx + m) of weights (nx,) . x+ of interval k."""
        nx, h = self.nx, self.h
        total = np.zeros((nx + self.m, nx + self.m))
        later = np.zeros(nx)  # how the sum depends on the point x_i that comes next
        for i in (3, 2, 1, 0):
            a = np.zeros((1, nx + 1))
            a[0, :nx] = h * SHARES[i] * weights + (h * NODES[i + 1] * later if i < 3 else 0.0)
            p = s.points[i]
            one = _row(p, k)
            Z = s.Z[i][k]
            total += Z.T @ self.flow.curvature(one, a)[0] @ Z
            later = a[0, :nx] @ p.B[k, :nx, :nx]
        return 0.5 * (total + total.T)

    # ------------------------------------------------------------------ the end
    def end(self, x: Array) -> tuple[float, Array, Array]:
        """End cost, its gradient (nx,) and second derivatives (nx, nx) at x (nx,)."""
        if self._end is None:
            return 0.0, np.zeros(self.nx), np.zeros((self.nx, self.nx))
        z = np.concatenate([x, np.zeros(self.m)])[None]
        data = self._data(np.array([self.count - 1]), 1.0)
        at = self.flow.dynamics.slopes(z, *data)
        J, _ = self._end.slopes(z, at, *data)
        H = self._end.curvature(z, at, np.ones((1, 1)), *data)
        return float(self._end.value(z, at.y, *data)[0, 0]), J[0, 0, : self.nx], H[0, : self.nx, : self.nx]


def _row(x: Linearised, k: int) -> Linearised:
    """One point of many."""
    at = Slopes(*(part[k : k + 1] for part in x.at))
    return Linearised(
        x.z[k : k + 1], tuple(d[k : k + 1] for d in x.data), x.e[k : k + 1], x.B[k : k + 1], at, x.by_y[k : k + 1]
    )
