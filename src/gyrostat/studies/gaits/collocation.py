"""Collocation of phases with reduced states: cubic states and linear controls as in DIRCOL [von Stryk; H04 5.4.2].

In every interval the states are cubic, given by values and rates at its ends, the controls linear, and the equations
hold at the ends and in the middle:

    y_c = (y_0 + y_1)/2 + h/8 (f_0 - f_1),   u_c = (u_0 + u_1)/2,   y_1 - y_0 = h/6 (f_0 + 4 f(y_c, u_c) + f_1)     (1)

The cost is integrated by the same rule. Derivatives are exact: with F = [f; cost; conditions] at a point and its first
and second derivatives, those of (1) follow by the chain rule over (z_0, z_1) -> z_c. Where the period is free, one more
variable s stretches all intervals, h = s d, and z_c depends on it by dz_c/ds = d/8 (f_0 - f_1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.studies.gaits.directional_function import DirectionalFunction

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Segment:
    """A phase: ``function`` z, t -> (rates (ny,), cost, conditions (r,)); ``duration`` [s]; ``grid`` (intervals + 1,)
    from 0 to 1; bounds of the variables (intervals + 1, m) and of the conditions (intervals + 1, r)."""

    function: DirectionalFunction
    ny: int
    duration: float
    grid: Array
    low: Array
    high: Array
    row_low: Array
    row_high: Array

    @property
    def m(self) -> int:
        return self.function.size

    @property
    def intervals(self) -> int:
        return len(self.grid) - 1

    @cached_property
    def h(self) -> Array:
        """Lengths (intervals, 1) [s]."""
        return self.duration * np.diff(self.grid)[:, None]


@dataclass(frozen=True)
class Link:
    """sign * z[segment_a][-1 or 0][column_a] + shift = z[segment_b][0][column_b]."""

    a: int
    column_a: int
    b: int
    column_b: int
    sign: float = 1.0
    shift: float = 0.0


@dataclass(frozen=True, eq=False)
class Passage:
    """low <= function(states at the end of segment a, states at the start of segment b) <= high."""

    a: int
    b: int
    function: DirectionalFunction
    low: Array
    high: Array


class Collocation:
    """The nonlinear programme of all segments: what Ipopt asks for. ``weights`` of the terms of the cost are inputs of
    the functions; ``scale`` multiplies the cost. ``stretch`` (low, high): bounds of the last variable, by which all
    durations are multiplied; None where they are as given."""

    def __init__(
        self,
        segments: Sequence[Segment],
        links: Sequence[Link],
        weights: Any,
        scale: float = 1.0,
        passages: Sequence[Passage] = (),
        stretch: tuple[float, float] | None = None,
    ):
        self.segments, self.links, self.scale = tuple(segments), tuple(links), scale
        self.passages, self.stretch = tuple(passages), stretch
        self.weights = np.asarray(weights, dtype=float)
        sizes = [(s.intervals + 1) * s.m for s in segments]
        self.starts = np.concatenate([[0], np.cumsum(sizes)]).astype(int)
        self.n = int(self.starts[-1]) + (stretch is not None)
        free = ([], []) if stretch is None else ([stretch[0]], [stretch[1]])
        self.lower = np.concatenate([*(s.low.ravel() for s in segments), free[0]])
        self.upper = np.concatenate([*(s.high.ravel() for s in segments), free[1]])
        self.masks = [np.isfinite(s.row_low) | np.isfinite(s.row_high) for s in segments]
        self._constraints()
        self._pattern()
        self._at: Array | None = None
        self._first: Array | None = None

    def like(self, segments: Sequence[Segment] | None = None, weights: Any = None) -> Collocation:
        """The same with other segments or weights."""
        return Collocation(
            self.segments if segments is None else segments,
            self.links,
            self.weights if weights is None else weights,
            self.scale,
            self.passages,
            self.stretch,
        )

    def stretched(self, x: Array) -> float:
        """By what all durations are multiplied."""
        return 1.0 if self.stretch is None else float(x[-1])

    def at(self, x: Array) -> list[Segment]:
        """The segments with the durations of x."""
        return [replace(s, duration=s.duration * self.stretched(x)) for s in self.segments]

    # ------------------------------------------------------------------ structure
    def _constraints(self) -> None:
        low, high = [], []
        self.places: list[tuple[int, int]] = []  # first defect, first condition of each segment
        at = 0
        for s, mask in zip(self.segments, self.masks, strict=True):
            defects = s.intervals * s.ny
            self.places.append((at, at + defects))
            low += [np.zeros(defects), s.row_low[mask]]
            high += [np.zeros(defects), s.row_high[mask]]
            at += defects + int(mask.sum())
        self.link_place = at
        shifts = np.array([-link.shift for link in self.links])
        self.low = np.concatenate([*low, shifts, *(p.low for p in self.passages)])
        self.high = np.concatenate([*high, shifts, *(p.high for p in self.passages)])
        self.m = len(self.low)

    def _pattern(self) -> None:
        rows, cols, hr, hc = [], [], [], []
        for k, s in enumerate(self.segments):
            m, ny, N, start = s.m, s.ny, s.intervals, self.starts[k]
            d, p = self.places[k]
            i, r, c = np.ogrid[:N, :ny, : 2 * m]
            rows.append(np.broadcast_to(d + i * ny + r, (N, ny, 2 * m)).ravel())
            cols.append(np.broadcast_to(start + i * m + c, (N, ny, 2 * m)).ravel())
            nodes = np.nonzero(self.masks[k])[0]
            rows.append(np.repeat(p + np.arange(len(nodes)), m))
            cols.append((start + nodes[:, None] * m + np.arange(m)).ravel())
            L = np.tril_indices(m)
            node = np.arange(N + 1)[:, None] * m + start
            hr += [
                (node + L[0]).ravel(),
                (np.arange(N)[:, None, None] * m + start + m + np.arange(m)[:, None] + np.zeros((m, m), int)).ravel(),
            ]
            hc += [
                (node + L[1]).ravel(),
                (np.arange(N)[:, None, None] * m + start + np.arange(m) + np.zeros((m, m), int)).ravel(),
            ]
        for k, link in enumerate(self.links):
            rows.append(np.full(2, self.link_place + k))
            cols.append(np.array([self._place(link.a, -1, link.column_a), self._place(link.b, 0, link.column_b)]))
        at = self.link_place + len(self.links)
        for p in self.passages:
            places, rows_of = self._places(p), np.arange(len(p.low))
            rows.append(np.repeat(at + rows_of, len(places)))
            cols.append(np.tile(places, len(p.low)))
            L = np.tril_indices(len(places))
            hr.append(np.maximum(places[L[0]], places[L[1]]))
            hc.append(np.minimum(places[L[0]], places[L[1]]))
            at += len(p.low)
        if self.stretch is not None:
            defects = [d + np.arange(s.intervals * s.ny) for s, (d, _) in zip(self.segments, self.places, strict=True)]
            rows += defects
            cols += [np.full(len(d), self.n - 1) for d in defects]
            hr.append(np.full(self.n, self.n - 1))
            hc.append(np.arange(self.n))
        self.jacobian_pattern = np.concatenate(rows), np.concatenate(cols)
        self.hessian_pattern = np.concatenate(hr), np.concatenate(hc)

    def _place(self, segment: int, node: int, column: int) -> int:
        s = self.segments[segment]
        return int(self.starts[segment] + (node % (s.intervals + 1)) * s.m + column)

    def _places(self, p: Passage) -> Array:
        """Of the variables of a passage."""
        one, two = self.segments[p.a], self.segments[p.b]
        return np.concatenate([self._place(p.a, -1, 0) + np.arange(one.ny), self._place(p.b, 0, 0) + np.arange(two.ny)])

    def split(self, x: Array) -> list[Array]:
        """Points (intervals + 1, m) of each segment."""
        return [
            x[a:b].reshape(-1, s.m) for a, b, s in zip(self.starts[:-1], self.starts[1:], self.segments, strict=True)
        ]

    # ------------------------------------------------------------------ values
    def middle(self, s: Segment, h: Array, z: Array, F: Array) -> Array:
        """z_c (N, m)."""
        f = F[:, : s.ny]
        middle = 0.5 * (z[:-1] + z[1:])
        middle[:, : s.ny] += h / 8.0 * (f[:-1] - f[1:])
        return middle

    def data(self, s: Segment) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Parts of the phase and weights, at nodes and middles."""
        t, tc = s.grid[:, None], (0.5 * (s.grid[1:] + s.grid[:-1]))[:, None]
        return (t, np.tile(self.weights, (len(t), 1))), (tc, np.tile(self.weights, (len(tc), 1)))

    def values(self, x: Array) -> list[tuple[Array, Array, Array, Array]]:
        """z, F at nodes, z_c, F in the middles, of each segment."""
        if self._at is None or not np.array_equal(self._at, x):
            self._values = []
            for s, z in zip(self.segments, self.split(x), strict=True):
                at, between = self.data(s)
                F = s.function.value(z, *at)
                zc = self.middle(s, s.h * self.stretched(x), z, F)
                self._values.append((z, F, zc, s.function.value(zc, *between)))
            self._at = x.copy()
        return self._values

    def cost(self, x: Array) -> float:
        total = 0.0
        for s, (_, F, _, C) in zip(self.segments, self.values(x), strict=True):
            total += float(s.h[:, 0] @ (F[:-1, s.ny] + 4.0 * C[:, s.ny] + F[1:, s.ny])) / 6.0
        return self.scale * self.stretched(x) * total

    def constraints(self, x: Array) -> Array:
        parts = []
        for k, (s, (z, F, _, C)) in enumerate(zip(self.segments, self.values(x), strict=True)):
            y, f, c = z[:, : s.ny], F[:, : s.ny], C[:, : s.ny]
            h = s.h * self.stretched(x)
            parts.append((y[1:] - y[:-1] - h / 6.0 * (f[:-1] + 4.0 * c + f[1:])).ravel())
            parts.append(F[:, s.ny + 1 :][self.masks[k]])
        links = [
            link.sign * x[self._place(link.a, -1, link.column_a)] - x[self._place(link.b, 0, link.column_b)]
            for link in self.links
        ]
        struck = [p.function.value(x[self._places(p)][None])[0] for p in self.passages]
        return np.concatenate([*parts, np.array(links), *struck])

    # ------------------------------------------------------------------ derivatives
    def _slopes(self, x: Array) -> list[tuple[Array, Array, Array, Array]]:
        """J at nodes and middles; Z_0, Z_1 = d z_c / d z_0, d z_1."""
        if self._first is None or not np.array_equal(self._first, x):
            self._kept = []
            for s, (z, _, zc, _) in zip(self.segments, self.values(x), strict=True):
                at, between = self.data(s)
                A, Ac = s.function.jacobian(z, *at), s.function.jacobian(zc, *between)
                h = s.h * self.stretched(x)
                half = np.broadcast_to(0.5 * np.eye(s.m), (s.intervals, s.m, s.m))
                Z0, Z1 = half.copy(), half.copy()
                Z0[:, : s.ny] += h[:, :, None] / 8.0 * A[:-1, : s.ny]
                Z1[:, : s.ny] -= h[:, :, None] / 8.0 * A[1:, : s.ny]
                self._kept.append((A, Ac, Z0, Z1))
            self._first = x.copy()
        return self._kept

    def gradient(self, x: Array) -> Array:
        g = np.zeros(self.n)
        for part, s, (A, Ac, Z0, Z1) in zip(self.split(g), self.segments, self._slopes(x), strict=True):
            w = self.scale * self.stretched(x) * s.h / 6.0
            part[:-1] += w * (A[:-1, s.ny] + 4.0 * np.einsum("kj,kji->ki", Ac[:, s.ny], Z0))
            part[1:] += w * (A[1:, s.ny] + 4.0 * np.einsum("kj,kji->ki", Ac[:, s.ny], Z1))
        if self.stretch is not None:
            g[-1] = self.scale * sum(float(by[:, -1].sum()) for by in self._by_stretch(x))
        return g

    def _by_stretch(self, x: Array) -> list[Array]:
        """Derivatives (intervals, ny + 1) of h/6 (F_0 + 4 F(z_c) + F_1), states and cost, by the stretch."""
        found = []
        for s, (_, F, _, C), (_, Ac, _, _) in zip(self.segments, self.values(x), self._slopes(x), strict=True):
            k, h = s.ny + 1, s.h * self.stretched(x)
            moved = np.einsum("kij,kj->ki", Ac[:, :k, : s.ny], self._middle_by_stretch(s, F))
            found.append(s.h / 6.0 * (F[:-1, :k] + 4.0 * C[:, :k] + F[1:, :k]) + 4.0 * h / 6.0 * moved)
        return found

    def _middle_by_stretch(self, s: Segment, F: Array) -> Array:
        """dz_c/ds (intervals, ny)."""
        return s.h / 8.0 * (F[:-1, : s.ny] - F[1:, : s.ny])

    def jacobian(self, x: Array) -> Array:
        parts = []
        for k, (s, (A, Ac, Z0, Z1)) in enumerate(zip(self.segments, self._slopes(x), strict=True)):
            ny, w = s.ny, self.stretched(x) * s.h[:, :, None] / 6.0
            D = np.empty((s.intervals, ny, 2 * s.m))
            D[:, :, : s.m] = -w * (A[:-1, :ny] + 4.0 * Ac[:, :ny] @ Z0)
            D[:, :, s.m :] = -w * (A[1:, :ny] + 4.0 * Ac[:, :ny] @ Z1)
            i = np.arange(ny)
            D[:, i, i] -= 1.0
            D[:, i, s.m + i] += 1.0
            parts += [D.ravel(), A[:, ny + 1 :][self.masks[k]].ravel()]
        for link in self.links:
            parts.append(np.array([link.sign, -1.0]))
        parts += [p.function.jacobian(x[self._places(p)][None])[0].ravel() for p in self.passages]
        if self.stretch is not None:
            parts += [-by[:, :-1].ravel() for by in self._by_stretch(x)]
        return np.concatenate(parts)

    def hessian(self, x: Array, sigma: float, multipliers: Array) -> Array:
        parts, stretch, last = [], self.stretched(x), np.zeros(self.n)
        for k, (s, (z, F, zc, _C), (A, Ac, Z0, Z1)) in enumerate(
            zip(self.segments, self.values(x), self._slopes(x), strict=True)
        ):
            ny, h = s.ny, s.h * stretch
            w = h / 6.0
            d, p = self.places[k]
            rows = multipliers[p : p + int(self.masks[k].sum())]
            lam = np.zeros((s.intervals, ny + 1))
            lam[:, :ny] = -w * multipliers[d : d + s.intervals * ny].reshape(-1, ny)
            lam[:, ny] = w[:, 0] * sigma * self.scale
            W, Wc = np.zeros((s.intervals + 1, s.function.rows)), np.zeros((s.intervals, s.function.rows))
            W[:, ny + 1 :][self.masks[k]] = rows
            W[:-1, : ny + 1] += lam
            W[1:, : ny + 1] += lam
            Wc[:, : ny + 1] = 4.0 * lam
            mu = np.einsum("kr,kri->ki", Wc, Ac)[:, :ny] * (h / 8.0)  # z_c depends on f_0 and f_1
            W[:-1, :ny] += mu
            W[1:, :ny] -= mu
            at, between = self.data(s)
            H, Hc = s.function.hessian(z, W, *at), s.function.hessian(zc, Wc, *between)
            H[:-1] += Z0.swapaxes(1, 2) @ Hc @ Z0
            H[1:] += Z1.swapaxes(1, 2) @ Hc @ Z1
            cross = Z1.swapaxes(1, 2) @ Hc @ Z0
            L = np.tril_indices(s.m)
            parts += [H[:, L[0], L[1]].ravel(), cross.ravel()]
            if self.stretch is not None:
                e = self._middle_by_stretch(s, F)
                own, middle = np.einsum("kr,krj->kj", Wc, Ac)[:, :ny], np.einsum("kj,kji->ki", e, Hc[:, :ny])
                slope = [np.einsum("kr,kri->ki", lam / stretch, B[:, : ny + 1]) for B in (A[:-1], A[1:])]
                turn = [np.einsum("kj,kji->ki", own * s.h / 8.0, B[:, :ny]) for B in (A[:-1], A[1:])]
                through = 4.0 * np.einsum("kr,kri->ki", lam / stretch, Ac[:, : ny + 1]) + middle
                row = last[self.starts[k] : self.starts[k + 1]].reshape(-1, s.m)
                row[:-1] += slope[0] + turn[0] + np.einsum("kj,kji->ki", through, Z0)
                row[1:] += slope[1] - turn[1] + np.einsum("kj,kji->ki", through, Z1)
                last[-1] += float(np.sum((2.0 / stretch * own + middle[:, :ny]) * e))
        at = self.link_place + len(self.links)
        for p in self.passages:
            size = len(p.low)
            H = p.function.hessian(x[self._places(p)][None], multipliers[at : at + size][None])[0]
            parts.append(H[np.tril_indices(len(H))])
            at += size
        return np.concatenate([*parts, *([last] if self.stretch is not None else [])])

    def violation(self, x: Array) -> float:
        """The largest of all equations and conditions, scaled."""
        g = self.constraints(x)
        return float(np.max(np.maximum(np.maximum(self.low - g, g - self.high), 0.0), initial=0.0))
