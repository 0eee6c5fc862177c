"""Equations of one phase on its grid, as rows of a nonlinear program with exact first and second derivatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from gyrostat.studies.optimal_control.flow import Flow, Linearised
from gyrostat.studies.optimal_control.point_functions import RecordedConditions
from gyrostat.studies.optimal_control.rule_data import Derivatives

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PlacedConditions:
    """Conditions at some points of the phase; ``at`` (k,)."""

    recorded: RecordedConditions
    at: Array
    what: str

    @property
    def rows(self) -> int:
        return self.recorded.function.rows


@dataclass(frozen=True, eq=False)
class PlacedCost:
    """A cost that is added at one point."""

    function: Any
    at: Array


class PhaseSlopes(NamedTuple):
    """Values and first derivatives at one z."""

    x: Linearised
    d: Derivatives
    conditions: list[tuple[Array, Array]]
    ends: list[tuple[Array, Array]]


class PhaseEquations:
    """``z`` (points, nz) -> rows: defects (N s 2nv), then conditions; costs apart.

    ``rule``: collocation; ``first``: number of the first variable; ``theta`` numbers of the free ones."""

    def __init__(self, flow: Flow, rule: Any, conditions: list[PlacedConditions], costs: list[PlacedCost], first: int):
        self.flow, self.rule, self.conditions, self.costs, self.first = flow, rule, conditions, costs, first
        self.space = flow.space
        self.n2, self.nw, self.nz = 2 * flow.n, flow.space.nw, flow.space.nz
        self.size = rule.points * self.nw
        self.defects = len(rule.grid.shares) * rule.stages * self.n2
        self.rows = self.defects + sum(c.rows * len(c.at) for c in conditions)

    # ------------------------------------------------------------------ values
    def z(self, x: Array, theta: Array) -> Array:
        """Points (P, nz) from all variables x."""
        own = x[self.first : self.first + self.size].reshape(-1, self.nw)
        return np.concatenate([own, np.broadcast_to(theta, (len(own), len(theta)))], axis=1)

    @cached_property
    def data(self) -> tuple[Array, Array]:
        return self.rule.grid.data(self.rule.fractions, None)

    def data_at(self, at: Array) -> tuple[Array, Array]:
        return self.data[0][at], self.data[1][at]

    def values(self, z: Array, theta: Array) -> tuple[float, Array]:
        """Cost and rows."""
        h, _ = self.rule.grid.steps(theta)
        e, y = self.flow.value(z, *self.data)
        D = self.rule.value(z, e, h)
        rows = [D[..., : self.n2].ravel()]
        for c in self.conditions:
            rows.append(c.recorded.function.value(z[c.at], y[c.at], *self.data_at(c.at)).ravel())
        cost = -float(D[:, -1, -1].sum())
        for c in self.costs:
            cost += float(c.function.value(z[c.at], y[c.at], *self.data_at(c.at)).sum())
        return cost, np.concatenate(rows)

    # ------------------------------------------------------------------ first derivatives
    def slopes(self, z: Array, theta: Array) -> PhaseSlopes:
        x = self.flow.slopes(z, *self.data)
        d = self.rule.derivatives(x, *self.rule.grid.steps(theta))
        return PhaseSlopes(x, d, self._of(self.conditions, x), self._of(self.costs, x))

    def _of(self, functions: list[Any], x: Linearised) -> list[tuple[Array, Array]]:
        found = []
        for c in functions:
            function = c.recorded.function if isinstance(c, PlacedConditions) else c.function
            found.append(function.slopes(x.z[c.at], part(x, c.at).at, *self.data_at(c.at)))
        return found

    def gradient(self, s: PhaseSlopes, out: Array, theta_at: Array) -> None:
        """Add the gradient of the cost to ``out``."""
        J, Jt = s.d.J[:, -1, -1], s.d.Jt[:, -1, -1]
        own = out[self.first : self.first + self.size].reshape(-1, self.nw)
        for c in range(J.shape[1]):
            np.subtract.at(own, self.rule.columns[:, c], J[:, c])
        out[theta_at] -= Jt.sum(axis=0)
        for cost, (G, _) in zip(self.costs, s.ends, strict=True):
            np.add.at(own, cost.at, G[:, 0, : self.nw])
            out[theta_at] += G[:, 0, self.nw :].sum(axis=0)

    @cached_property
    def places(self) -> tuple[Array, Array]:
        """Where derivatives of the rule may be non-zero."""
        n, running = self.flow.n, self.flow.running.places
        B = np.ones((self.flow.ne, self.nz), dtype=bool)
        B[:n], B[2 * n :] = running[:n], running[n:]
        J, Jt = self.rule.places(B)
        return J[:, : self.n2], Jt[:, : self.n2]

    def jacobian_pattern(self, row: int, theta_at: Array) -> tuple[Array, Array]:
        """Rows and columns of the entries of :meth:`jacobian`; ``row``: number of the first row."""
        J, Jt = self.places
        s, n2, c, nw = J.shape
        N = len(self.rule.grid.shares)
        own = row + np.arange(N * s * n2).reshape(N, s, n2)
        points = self.first + nw * self.rule.columns[..., None] + np.arange(nw)  # (N, c, nw)
        shape = (N, s, n2, c, nw)
        rows = [np.broadcast_to(own[..., None, None], shape)[:, J].ravel()]
        cols = [np.broadcast_to(points[:, None, None], shape)[:, J].ravel()]
        r = len(theta_at)
        rows.append(np.broadcast_to(own[..., None], (N, s, n2, r))[:, Jt].ravel())
        cols.append(np.broadcast_to(theta_at, (N, s, n2, r))[:, Jt].ravel())
        row += self.defects
        for c_ in self.conditions:
            P = c_.recorded.function.places
            k, m = len(c_.at), len(P)
            mine = row + np.arange(k * m).reshape(k, m)
            at = np.concatenate(
                [self.first + nw * c_.at[:, None] + np.arange(nw), np.broadcast_to(theta_at, (k, r))], axis=1
            )
            rows.append(np.broadcast_to(mine[..., None], (k, m, self.nz))[:, P].ravel())
            cols.append(np.broadcast_to(at[:, None], (k, m, self.nz))[:, P].ravel())
            row += k * m
        return np.concatenate(rows), np.concatenate(cols)

    def jacobian(self, s: PhaseSlopes) -> Array:
        """Entries in the order of :meth:`jacobian_pattern`."""
        J, Jt = self.places
        parts = [s.d.J[:, :, : self.n2][:, J].ravel(), s.d.Jt[:, :, : self.n2][:, Jt].ravel()]
        for c, (G, _) in zip(self.conditions, s.conditions, strict=True):
            parts.append(G[:, c.recorded.function.places].ravel())
        return np.concatenate(parts)

    # ------------------------------------------------------------------ second derivatives
    def hessian_pattern(self, theta_at: Array) -> tuple[Array, Array]:
        """Rows and columns of :meth:`hessian`, in the lower triangle."""
        P, nw, r = self.rule.points, self.nw, len(theta_at)
        i, j = np.tril_indices(nw)
        base = self.first + nw * np.arange(P)[:, None]
        rows, cols = [(base + i).ravel()], [(base + j).ravel()]
        if self.crossing:
            first, last = (self.first + nw * self.rule.columns[:, k] for k in (0, -1))
            i, j = (x.ravel() for x in np.mgrid[:nw, :nw])
            rows.append((last[:, None] + i).ravel())
            cols.append((first[:, None] + j).ravel())
        k = (base + np.arange(nw)).ravel()
        rows.append(np.repeat(theta_at, P * nw))
        cols.append(np.tile(k, r))
        i, j = np.tril_indices(r)
        return np.concatenate([*rows, theta_at[i]]), np.concatenate([*cols, theta_at[j]])

    @property
    def crossing(self) -> bool:
        """Whether second derivatives couple neighbours."""
        return self.rule.stages == 1

    def hessian(self, s: PhaseSlopes, sigma: float, rows: Array, theta: Array) -> Array:
        """Entries of the second derivatives of sigma cost + rows . equations."""
        x, nw, nz = s.x, self.nw, self.nz
        h, dh = self.rule.grid.steps(theta)
        weights = np.zeros(s.d.D.shape)
        weights[..., : self.n2] = rows[: self.defects].reshape(*weights.shape[:2], self.n2)
        weights[:, -1, -1] = -sigma
        K = self.rule.curvatures(x, s.d, weights, h, dh)
        H, more = np.zeros((len(x.z), nz, nz)), np.zeros(x.at.y.shape)
        at = self.defects
        for c, (_, by_y) in zip(self.conditions, s.conditions, strict=True):
            w = rows[at : at + c.rows * len(c.at)].reshape(len(c.at), c.rows)
            self._bend(c.recorded.function, c.at, x, w, by_y, H, more)
            at += w.size
        for c, (_, by_y) in zip(self.costs, s.ends, strict=True):
            self._bend(c.function, c.at, x, np.full((len(c.at), 1), sigma), by_y, H, more)
        H += self.flow.curvature(x, K.weights, more)
        own, cross = H[:, :nw, :nw], []
        free = H[:, nw:, :nw].copy()
        for c in range(self.rule.columns.shape[1]):
            if K.own is not None:
                np.add.at(own, self.rule.columns[:, c], K.own[:, c])
            np.add.at(free, self.rule.columns[:, c], K.free[:, c])
        if K.cross is not None:
            cross = [K.cross.ravel()]
        i, j = np.tril_indices(nw)
        p, q = np.tril_indices(nz - nw)
        free_free = H[:, nw:, nw:].sum(axis=0) + K.free_free
        return np.concatenate([own[:, i, j].ravel(), *cross, free.swapaxes(0, 1).ravel(), free_free[p, q]])

    def _bend(self, f: Any, at: Array, x: Linearised, w: Array, by_y: Array, H: Array, more: Array) -> None:
        np.add.at(H, at, f.curvature(x.z[at], part(x, at).at, w, *self.data_at(at)))
        np.add.at(more, at, np.einsum("kij,ki->kj", by_y, w))


def part(x: Linearised, at: Array) -> Linearised:
    """Some of the points."""
    slopes = type(x.at)(x.at.y[at], x.at.Y[at], x.at.K[at])
    return Linearised(x.z[at], tuple(d[at] for d in x.data), x.e[at], x.B[at], slopes, x.by_y[at])
