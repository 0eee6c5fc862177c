"""Height fields: a grid of heights as triangles, its facets, and the edges along which it is convex.

``heights`` (rows, columns) [m] over the frame's plane z = 0: columns along x, rows along y, the first of each at minus
half the length. Each cell is cut along the diagonal from (x0, y0) to (x1, y1), as MuJoCo does: facet 0 has the corner
(x1, y0), facet 1 the corner (x0, y1); facet k of cell (r, c) has the number 2 (r (columns - 1) + c) + k. Below the
facets it is solid down to the base z = -depth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray
MOST = 2**20
"""Samples of a height field, at most."""
STRAIGHT = 1e-9
"""Sine of the angle up to which two facets are one plane."""


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges along which a surface is convex, and its border: ``ends`` (k, 2) vertices, ``sides`` (k, 2, 3): a point of
    the surface on either side [m]; beyond the border, one below the edge."""

    ends: Array
    sides: Array


@dataclass(frozen=True, eq=False)
class HeightField:
    """``size``: lengths along x and y, and depth of the base [m]."""

    size: tuple[float, ...]
    heights: Array

    @cached_property
    def steps(self) -> tuple[float, float]:
        """Lengths (dx, dy) of a cell [m]."""
        rows, columns = self.heights.shape
        return self.size[0] / (columns - 1), self.size[1] / (rows - 1)

    @cached_property
    def vertices(self) -> Array:
        """(rows * columns, 3) [m], row by row."""
        rows, columns = self.heights.shape
        x, y = (length * np.linspace(-0.5, 0.5, n) for length, n in zip(self.size, (columns, rows), strict=False))
        grid = np.meshgrid(x, y)
        return np.stack([grid[0].ravel(), grid[1].ravel(), self.heights.ravel()], axis=1)

    @cached_property
    def facets(self) -> Array:
        """Vertices (n, 3) of each facet, counterclockwise from above."""
        rows, columns = self.heights.shape
        at = np.arange(rows * columns).reshape(rows, columns)
        a, b, c, d = (x.ravel() for x in (at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]))
        return np.stack([np.stack([a, b, d], 1), np.stack([a, d, c], 1)], axis=1).reshape(-1, 3)

    @cached_property
    def normals(self) -> Array:
        """(n, 3) of the facets, upward. Slopes are differences of heights, so that all facets of a plane have the same
        numbers if its heights do."""
        dx, dy = self.steps
        z = self.heights
        slopes = np.empty((*(k - 1 for k in z.shape), 2, 2))
        slopes[..., 0, 0], slopes[..., 0, 1] = (z[:-1, 1:] - z[:-1, :-1]) / dx, (z[1:, 1:] - z[:-1, 1:]) / dy
        slopes[..., 1, 0], slopes[..., 1, 1] = (z[1:, 1:] - z[1:, :-1]) / dx, (z[1:, :-1] - z[:-1, :-1]) / dy
        flat = slopes.reshape(-1, 2)
        n = np.concatenate([-flat, np.ones((len(flat), 1))], axis=1)
        return n / np.sqrt((n * n).sum(axis=1))[:, None]

    @cached_property
    def reach(self) -> float:
        """Distance from the frame's origin to the farthest point [m]."""
        return float(np.sqrt((self.vertices**2).sum(axis=1).max()))

    def under(self, x: Array) -> Array:
        """Numbers (k,) of the facets below or above points (k, 3); -1 beside the field."""
        rows, columns = self.heights.shape
        u = x[:, 0] / self.steps[0] + 0.5 * (columns - 1)
        v = x[:, 1] / self.steps[1] + 0.5 * (rows - 1)
        c, r = (np.clip(np.floor(w), 0, n - 2).astype(int) for w, n in ((u, columns), (v, rows)))
        upper = v - r > u - c
        outside = (u < 0) | (u > columns - 1) | (v < 0) | (v > rows - 1)
        return np.where(outside, -1, 2 * (r * (columns - 1) + c) + upper)

    def cells(self, low: Array, high: Array) -> Array:
        """Numbers of the facets of all cells that meet a rectangle (x, y)."""
        rows, columns = self.heights.shape
        first, last = [], []
        for k, n in ((0, columns), (1, rows)):
            middle = 0.5 * (n - 1)
            first.append(max(0, int(np.floor(max(low[k] / self.steps[k] + middle, -1.0)))))
            last.append(min(n - 2, int(np.floor(min(high[k] / self.steps[k] + middle, n)))))
        c, r = (np.arange(i, j + 1) for i, j in zip(first, last, strict=True))
        cells = (r[:, None] * (columns - 1) + c[None, :]).ravel()
        return (2 * cells[:, None] + np.arange(2)).ravel()

    def ring(self, vertex: int) -> Array:
        """Neighbours (k, 3) of a vertex [m] along edges of facets; of one at the border also a point below it."""
        rows, columns = self.heights.shape
        r, c = divmod(vertex, columns)
        steps = ((0, 1), (0, -1), (1, 0), (-1, 0), (1, 1), (-1, -1))
        beside = [(r + i) * columns + c + j for i, j in steps if 0 <= r + i < rows and 0 <= c + j < columns]
        points = self.vertices[beside]
        return points if len(beside) == 6 else np.concatenate([points, [self._below(self.vertices[vertex])]])

    def _below(self, x: Array) -> Array:
        return x - np.array([0.0, 0.0, min(self.steps)])

    @cached_property
    def convex_edges(self) -> Edges:
        """All of them, in the order of their first vertex."""
        rows, columns = self.heights.shape
        at, v = np.arange(rows * columns).reshape(rows, columns), self.vertices
        a, b, c, d = at[:-1, :-1], at[:-1, 1:], at[1:, :-1], at[1:, 1:]
        inner = [  # two ends, and the third corners of both facets
            (a, d, b, c),
            (b[:, :-1], d[:, :-1], a[:, :-1], at[1:, 2:]),
            (c[:-1], d[:-1], a[:-1], at[2:, 1:]),
        ]
        ends = np.concatenate([np.stack([x.ravel(), y.ravel()], 1) for x, y, _, _ in inner])
        sides = np.concatenate([np.stack([v[x.ravel()], v[y.ravel()]], 1) for _, _, x, y in inner])
        p, q = v[ends[:, 0]], v[ends[:, 1]]
        n = np.cross(q - p, sides[:, 0] - p)
        n *= np.sign(n[:, 2:])
        over = ((sides[:, 1] - p) * n).sum(axis=1)
        lengths = np.sqrt((n * n).sum(axis=1) * ((sides[:, 1] - p) ** 2).sum(axis=1))
        convex = over < -STRAIGHT * lengths
        outer = (a[0], b[0], d[0]), (c[-1], d[-1], a[-1]), (a[:, 0], c[:, 0], d[:, 0]), (b[:, -1], d[:, -1], a[:, -1])
        border = np.concatenate([np.stack(three, axis=1) for three in outer])
        below = np.array([self._below(x) for x in v[border[:, 0]]])
        ends = np.concatenate([ends[convex], border[:, :2]])
        sides = np.concatenate([sides[convex], np.stack([v[border[:, 2]], below], axis=1)])
        order = np.argsort(ends.min(axis=1), kind="stable")
        return Edges(ends[order], sides[order])

    def edges_near(self, centre: Array, distance: float) -> Array:
        """Numbers of the convex edges within a distance of a point (3,)."""
        edges, v = self.convex_edges, self.vertices
        first = edges.ends.min(axis=1)
        columns, dy = self.heights.shape[1], self.steps[1]
        low = np.floor((centre[1] - distance) / dy + 0.5 * (len(self.heights) - 1)) - 1
        high = np.ceil((centre[1] + distance) / dy + 0.5 * (len(self.heights) - 1)) + 1
        rows = np.clip([low, high], -1, len(self.heights)) * columns
        some = np.arange(*np.searchsorted(first, rows))
        p, q = v[edges.ends[some, 0]], v[edges.ends[some, 1]]
        d = q - p
        s = np.clip(((centre - p) * d).sum(axis=1) / (d * d).sum(axis=1), 0.0, 1.0)
        away = p + s[:, None] * d - centre
        return some[(away * away).sum(axis=1) <= distance * distance]

    def closed_surface(self) -> tuple[Array, Array]:
        """Vertices (n, 3) [m] and triangles (m, 3) of the solid: facets, sides and base; counterclockwise from
        outside."""
        rows, columns = self.heights.shape
        top, count = self.vertices, rows * columns
        base = top * np.array([1.0, 1.0, 0.0]) - np.array([0.0, 0.0, self.size[2]])
        at = np.arange(count).reshape(rows, columns)
        around = np.concatenate([at[0], at[1:, -1], at[-1, -2::-1], at[-2:0:-1, 0]])
        after = np.roll(around, -1)
        walls = np.concatenate([
            np.stack([around, around + count, after + count], 1), np.stack([around, after + count, after], 1)
        ])  # fmt: skip
        return np.concatenate([top, base]), np.concatenate([self.facets, walls, self.facets[:, ::-1] + count])
