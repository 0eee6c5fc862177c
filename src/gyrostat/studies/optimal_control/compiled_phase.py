"""Hermite-Simpson intervals wholly in machine code, where nothing is free but the points: blocks of Jacobian and
Hessian come out in the order in which the solver takes them. The same equations as in ``hermite_simpson``."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple, cast

import numpy as np

from gyrostat.engine.tracing.record import record
from gyrostat.studies.optimal_control.batch_call import LONG, batch_call
from gyrostat.studies.optimal_control.compiled_dynamics import CompiledDynamics
from gyrostat.studies.optimal_control.flow import Flow
from gyrostat.studies.optimal_control.hermite_simpson import HermiteSimpson
from gyrostat.studies.optimal_control.phase_equations import PhaseEquations
from gyrostat.studies.optimal_control.point_dynamics import Slopes

Array = np.ndarray


class PointSlopes(NamedTuple):
    """Points z with what conditions ask for (``at``), e and the gradient (k, nw) of the rate of the cost."""

    z: Array
    at: Slopes
    e: Array
    gradient: Array


class CompiledSlopes(NamedTuple):
    x: PointSlopes
    middle: PointSlopes
    entries: Array
    cost: tuple[Array, Array]
    conditions: list[tuple[Array, Array]]
    ends: list[tuple[Array, Array]]


def servable(flow: Flow, rule: Any) -> bool:
    """Whether :class:`CompiledPhase` serves."""
    compiled = isinstance(flow.dynamics, CompiledDynamics) and isinstance(rule, HermiteSimpson)
    return compiled and flow.space.free.size == 0 and not flow.running.needs_y and not flow.running.smooth.large


class CompiledPhase(PhaseEquations):
    """As :class:`PhaseEquations`."""

    @property
    def programs(self) -> IntervalPrograms:
        kept = self.flow.dynamics.__dict__.setdefault("_intervals", {})
        key = self.places[0].tobytes()
        if key not in kept:
            kept[key] = IntervalPrograms(self)
        return kept[key]

    @property
    def _dynamics(self) -> CompiledDynamics:
        return cast(CompiledDynamics, self.flow.dynamics)  # see servable

    def _points(self, z: Array, data: tuple[Array, Array]) -> PointSlopes:
        flow, n = self.flow, self.flow.n
        at = flow.dynamics.slopes(z)
        zy, running = np.concatenate([z, at.y], axis=1), flow.running.smooth
        outputs = running.value(zy, *data)
        gradient = np.zeros((len(z), self.nw))
        rows, cols = running.first_pattern
        own = rows == n
        gradient[:, cols[own]] = running.first(zy, *data)[:, own]
        return PointSlopes(z, at, np.concatenate([outputs[:, :n], at.y, outputs[:, n:]], axis=1), gradient)

    def slopes(self, z: Array, theta: Array) -> Any:
        grid, rule = self.rule.grid, self.rule
        h = grid.steps(theta)[0]
        x = self._points(z, self.data)
        m = self._points(rule.middle(z, x.e, h), self._middle_data)
        Y, g = x.at.Y, x.gradient
        entries, c0, c1 = self.programs.jacobian(Y[:-1], Y[1:], m.at.Y, g[:-1], g[1:], m.gradient, h[:, None])
        return CompiledSlopes(x, m, entries, (c0, c1), self._of(self.conditions, x), self._of(self.costs, x))

    @cached_property
    def _middle_data(self) -> tuple[Array, Array]:
        return self.rule.grid.data(self.rule.grid.middles, None)

    def _of(self, functions: list[Any], x: Any) -> list[tuple[Array, Array]]:
        found = []
        for c in functions:
            function = c.recorded.function if hasattr(c, "recorded") else c.function
            found.append(function.slopes(x.z[c.at], _part(x.at, c.at), *self.data_at(c.at)))
        return found

    def gradient(self, s: Any, out: Array, theta_at: Array) -> None:
        own = out[self.first : self.first + self.size].reshape(-1, self.nw)
        own[:-1] += s.cost[0]
        own[1:] += s.cost[1]
        for cost, (G, _) in zip(self.costs, s.ends, strict=True):
            np.add.at(own, cost.at, G[:, 0])

    def jacobian(self, s: Any) -> Array:
        parts = [s.entries.ravel()]
        if not self.conditions:
            return parts[0]
        for c, (G, _) in zip(self.conditions, s.conditions, strict=True):
            parts.append(G[:, c.recorded.function.places].ravel())
        return np.concatenate(parts)

    def hessian(self, s: Any, sigma: float, rows: Array, theta: Array) -> Array:
        n, n2, nw = self.flow.n, self.n2, self.nw
        h = self.rule.grid.steps(theta)[0][:, None]
        x, m = s.x, s.middle
        lam = rows[: self.defects].reshape(-1, n2)
        lq, lv = lam[:, :n], lam[:, n:]
        # gradient of lambda . f_m - sigma l_m by x_m
        g = np.concatenate([np.zeros_like(lq), lq], axis=1) + (lv[:, None] @ m.at.Y)[:, 0, :n2]
        g -= sigma * m.gradient[:, :n2]
        through = -h * h / 12.0 * g[:, n:]  # what x_m weighs a with; its part along q' = v is linear
        on_a = np.zeros((len(x.z), n))
        on_a[:-1] += -h / 6.0 * lv + through
        on_a[1:] += -h / 6.0 * lv - through
        steps = np.zeros(len(x.z))
        steps[:-1] += h[:, 0]
        steps[1:] += h[:, 0]
        out = np.empty(len(x.z) * (nw * (nw + 1) // 2) + len(h) * nw * nw)
        packed, K10 = out[: -len(h) * nw * nw].reshape(len(x.z), -1), out[-len(h) * nw * nw :]
        if self.conditions or self.costs:
            packed[...] = 0.0
            on_a += self._bend_conditions(s, sigma, rows, packed)
            packed += self._curvature(x, sigma * steps / 6.0, on_a, self.data)
        else:
            packed[...] = self._curvature(x, sigma * steps / 6.0, on_a, self.data)
        H = self._curvature(m, sigma * h[:, 0] * (4.0 / 6.0), -4.0 / 6.0 * h * lv, self._middle_data)
        K00, K11, found = self.programs.congruent(x.at.Y[:-1], x.at.Y[1:], H, h)
        packed[:-1] += K00
        packed[1:] += K11
        K10[:] = found.ravel()
        return out

    def _curvature(self, x: PointSlopes, weight: Array, on_a: Array, data: tuple[Array, Array]) -> Array:
        """Packed lower triangles of second derivatives of weight times the rate of the cost, and of on_a . a."""
        n, running = self.flow.n, self.flow.running.smooth
        w = np.zeros((len(x.z), n + 1))
        w[:, n] = weight
        more = running.second(np.concatenate([x.z, x.at.y], axis=1), w, *data)
        return self._dynamics.packed_curvature(x.z, x.at, on_a, *data, bent=self._bent, more=more)

    @cached_property
    def _bent(self) -> Any:
        i, j = self.flow.running.smooth.second_pattern
        kept = self.flow.__dict__.setdefault("_bent", {})
        if "bent" not in kept:
            kept["bent"] = self._dynamics.bending(i * (i + 1) // 2 + j)
        return kept["bent"]

    def _bend_conditions(self, s: Any, sigma: float, rows: Array, packed: Array) -> Array:
        """Add second derivatives of conditions to ``packed``; returns what they weigh accelerations with."""
        more, at = np.zeros_like(s.x.at.y), self.defects
        i, j = np.tril_indices(self.nw)
        todo = []
        for c, (_, by_y) in zip(self.conditions, s.conditions, strict=True):
            w = rows[at : at + c.rows * len(c.at)].reshape(len(c.at), c.rows)
            at += w.size
            todo.append((c.recorded.function, c.at, w, by_y))
        for c, (_, by_y) in zip(self.costs, s.ends, strict=True):
            todo.append((c.function, c.at, np.full((len(c.at), 1), sigma), by_y))
        for f, places, w, by_y in todo:
            H = f.curvature(s.x.z[places], _part(s.x.at, places), w, *self.data_at(places))
            np.add.at(packed, places, H[:, i, j])
            np.add.at(more, places, np.einsum("kij,ki->kj", by_y, w))
        return more


def _part(at: Slopes, places: Array) -> Slopes:
    return Slopes(at.y[places], at.Y[places], at.K[places])


class IntervalPrograms:
    """Programs of an interval, the same on every grid."""

    def __init__(self, phase: PhaseEquations):
        self.n, self.nw, self.places = phase.flow.n, phase.nw, phase.places[0]
        self.name = f"{phase.space.model.name}_interval"

    def _rates(self, Y: Array) -> Array:
        """A = d(v, a)/dz (2n, nw)."""
        top = np.zeros((self.n, self.nw))
        top[:, self.n : 2 * self.n] = np.eye(self.n)
        return np.concatenate([top, Y])

    def _middles(self, A0: Array, A1: Array, h: Any) -> tuple[Array, Array]:
        """Derivatives (nw, nw) of the point in the middle by those beside it."""
        found = []
        for A, sign in ((A0, 1.0), (A1, -1.0)):
            D: Any = np.array(0.5 * np.eye(self.nw), dtype=object)
            D[: 2 * self.n] = D[: 2 * self.n] + A * (h * (sign / 8.0))
            found.append(D)
        return found[0], found[1]

    @cached_property
    def jacobian(self) -> Any:
        n, nw, n2 = self.n, self.nw, 2 * self.n

        def function(Y0: Array, Y1: Array, Ym: Array, g0: Array, g1: Array, gm: Array, h: Array) -> dict[str, Any]:
            A0, A1, Am = (self._rates(Y) for Y in (Y0, Y1, Ym))
            D0, D1 = self._middles(A0, A1, h[0])
            J: Any = np.empty((n2, 2, nw), dtype=object)
            unit = np.eye(n2, nw)
            J[:, 0] = (A0 + (Am @ D0) * 4.0) * (h[0] * (-1.0 / 6.0)) - unit
            J[:, 1] = (A1 + (Am @ D1) * 4.0) * (h[0] * (-1.0 / 6.0)) + unit
            c0, c1 = (g0 + (gm @ D0) * 4.0) * (h[0] / 6.0), (g1 + (gm @ D1) * 4.0) * (h[0] / 6.0)
            return {"J": J[self.places[0]], "c0": c0, "c1": c1}

        shapes = {f"Y{k}": (n, nw) for k in "01m"} | {f"g{k}": (nw,) for k in "01m"} | {"h": (1,)}
        return batch_call(record(function, shapes, f"{self.name}_J"), f"{self.name}_J", LONG)

    @cached_property
    def congruent(self) -> Any:
        n, nw = self.n, self.nw
        i, j = np.tril_indices(nw)

        def function(Y0: Array, Y1: Array, H: Array, h: Array) -> dict[str, Any]:
            D0, D1 = self._middles(self._rates(Y0), self._rates(Y1), h[0])
            full: Any = np.empty((nw, nw), dtype=object)
            full[i, j] = H
            full[j, i] = H
            H0, H1 = full @ D0, full @ D1
            K10 = D1.T @ H0
            return {"K00": (D0.T @ H0)[i, j], "K11": (D1.T @ H1)[i, j], "K10": K10}

        shapes = {"Y0": (n, nw), "Y1": (n, nw), "H": (len(i),), "h": (1,)}
        return batch_call(record(function, shapes, f"{self.name}_H"), f"{self.name}_H", LONG)
