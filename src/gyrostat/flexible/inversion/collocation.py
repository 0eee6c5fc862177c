"""0 = F(t, z, z', z'') over a time, with conditions at both ends: Newton's method on Gauss points.

In each interval the points are eliminated (dense systems, all intervals at once); what is left couples neighbouring
nodes, and is solved as one sparse system. Parameters c may enter F: with columns of them, and conditions beyond those
that determine z, the least c is found that meets them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from gyrostat.errors import StateError
from gyrostat.flexible.inversion.gauss_points import GaussPoints

Array = np.ndarray
ROUNDS = 25
ROUNDING = 1e-6
"""Relative steps below this that no longer shrink are rounding."""
FAR = 1e8
"""Relative steps beyond which Newton's method is lost."""
NEGLIGIBLE = 1e-10
"""Singular values below this share of the largest are motions that parameters do not reach."""


class Local(NamedTuple):
    """F (N, n) and its slopes dF/dz, dz', dz'' (N, n, n), dF/dc (N, n, k)."""

    F: Array
    Fz: Array
    Fv: Array
    Fa: Array
    Fc: Array


Equations = Callable[[Array, Array, Array, Array, Array], Local]
"""Of t (N,), z, z', z'' (N, n) and the parameters c (k,)."""


class Ends(NamedTuple):
    """Rows R (k, 2n) and states x (2n,) = (z, z') with R (x_end - x) = 0, where a motion begins and ends;
    ``further`` ones at the end parameters must meet."""

    begin: Array
    end: Array
    x_begin: Array
    x_end: Array
    further: Array


@dataclass(frozen=True)
class Solution:
    """Nodes t (N + 1,), values z and rates (N + 1, n) there, z'' (N, m, n) at the points, parameters c (k,)."""

    scheme: GaussPoints
    t: Array
    z: Array
    dz: Array
    ddz: Array
    c: Array
    left: float
    """What is left of the conditions for the parameters, as a part of what it was."""

    def at(self, t: Array) -> tuple[Array, Array, Array]:
        """z, z', z'' (M, n) at the instants t (M,)."""
        i = np.clip(np.searchsorted(self.t, t, side="right") - 1, 0, len(self.t) - 2)
        h = np.diff(self.t)[i]
        x = (t - self.t[i]) / h
        l, A1, A2 = self.scheme.at(x)
        a = self.ddz[i]
        z = self.z[i] + self.dz[i] * (x * h)[:, None] + np.einsum("tk,tkn->tn", A2, a) * (h**2)[:, None]
        dz = self.dz[i] + np.einsum("tk,tkn->tn", A1, a) * h[:, None]
        return z, dz, np.einsum("tk,tkn->tn", l, a)


class Grid:
    """Nodes t (N + 1,) and the points between them, for n unknowns; a node is x = (z, z')."""

    def __init__(self, scheme: GaussPoints, t: Array, n: int):
        self.scheme, self.t, self.n = scheme, t, n
        self.h = np.diff(t)
        self.points = (t[:-1, None] + self.h[:, None] * scheme.c).ravel()

    def motions(self, x: Array, alpha: Array) -> tuple[Array, Array, Array]:
        """z, z', z'' (N m, n) at the points, from nodes x (N + 1, 2, n) and alpha = h^2 z'' (N, m, n)."""
        s, h, n = self.scheme, self.h[:, None, None], self.n
        z = x[:-1, None, 0] + s.c[:, None] * h * x[:-1, None, 1] + np.einsum("jk,ikn->ijn", s.A2, alpha)
        dz = x[:-1, None, 1] + np.einsum("jk,ikn->ijn", s.A1, alpha) / h
        return z.reshape(-1, n), dz.reshape(-1, n), (alpha / h**2).reshape(-1, n)

    def condensed(self, local: Local) -> tuple[Array, Array, Array]:
        """The step of alpha, a_0 + A_x dx + A_c dc with the step dx of the left node and dc of the parameters: a_0 (N,
        m, n), A_x (N, m, n, 2n), A_c (N, m, n, k)."""
        s, n, m, N = self.scheme, self.n, len(self.scheme.c), len(self.h)
        h = self.h[:, None, None, None]
        F, Fz, Fv, Fa, Fc = (y.reshape(N, m, *y.shape[1:]) for y in local)
        Fa = Fa / h**2
        scale = np.maximum(np.abs(np.concatenate([Fz, Fv / h, Fa], axis=3)).max(axis=3, keepdims=True), 1e-300)
        F, Fz, Fv, Fa, Fc = (y / scale for y in (F[..., None], Fz, Fv, Fa, Fc))
        J = np.einsum("jk,ijab->ijakb", s.A2, Fz) + np.einsum("jk,ijab->ijakb", s.A1, Fv / h)
        points = np.arange(m)
        J[:, points, :, points] += Fa.transpose(1, 0, 2, 3)
        right = np.concatenate([F, Fz, s.c[:, None, None] * h * Fz + Fv, Fc], axis=3).reshape(N, m * n, -1)
        step = -np.linalg.solve(J.reshape(N, m * n, m * n), right).reshape(N, m, n, -1)
        return step[..., 0], step[..., 1 : 1 + 2 * n], step[..., 1 + 2 * n :]

    def added(self, alpha: Array) -> Array:
        """What alpha (N, m, n, ...) adds to the node at the right, (N, 2, n, ...)."""
        s, h = self.scheme, self.h.reshape(-1, *[1] * (alpha.ndim - 2))
        return np.stack([np.einsum("k,ik...->i...", s.b2, alpha), np.einsum("k,ik...->i...", s.b1, alpha) / h], axis=1)

    def transfer(self, A_x: Array) -> Array:
        """T (N, 2n, 2n) of dx_{i+1} = T dx_i."""
        n = self.n
        T = self.added(A_x).reshape(-1, 2 * n, 2 * n) + np.eye(2 * n)
        T[:, :n, n:] += self.h[:, None, None] * np.eye(n)
        return T

    def gaps(self, x: Array, alpha: Array) -> Array:
        """Where the motion of an interval ends, less the next node (N, 2 n)."""
        there = x[:-1] + self.added(alpha)
        there[:, 0] += self.h[:, None] * x[:-1, 1]
        return (there - x[1:]).reshape(len(self.h), -1)


def solve(grid: Grid, equations: Equations, ends: Ends, z0: Array, c0: Array, tolerance: float) -> Solution:
    """The solution next to the values z0 (N + 1, n) at the nodes and c0 (k,)."""
    rate = np.gradient(z0, grid.t, axis=0)
    x = np.stack([z0, rate], axis=1)
    alpha = np.repeat((np.diff(rate, axis=0) * grid.h[:, None])[:, None], len(grid.scheme.c), axis=1)
    c, change = c0.copy(), np.inf
    for _ in range(ROUNDS):
        dx, dalpha, dc, left = _newton_step(grid, equations, ends, x, alpha, c)
        x, alpha, c = x + dx, alpha + dalpha, c + dc
        last, size = change, np.abs(x[:, 0]).max(axis=0)
        change = float((np.abs(dx[:, 0]).max(axis=0) / np.maximum(size, 1e-9 * max(size.max(), 1e-300))).max())
        if not np.isfinite(change) or change > FAR:
            break
        if change < tolerance or (change < ROUNDING and change > 0.3 * last):
            return Solution(grid.scheme, grid.t, x[:, 0], x[:, 1], alpha / (grid.h**2)[:, None, None], c, left)
    raise StateError(
        f"flexible.inverse_dynamics: no motion of what is not driven was found (last change {change:.1e}). Hint: a "
        "slower or smoother motion; friction with a jump and backlash behind springs have no inverse"
    )


def _newton_step(
    grid: Grid, equations: Equations, ends: Ends, x: Array, alpha: Array, c: Array
) -> tuple[Array, Array, Array, float]:
    """Steps of nodes, of alpha and of c, and what remains of the further conditions."""
    n, N, k = grid.n, len(grid.h), len(c)
    a_0, A_x, A_c = grid.condensed(equations(grid.points, *grid.motions(x, alpha), c))
    begin, end = x[0].ravel() - ends.x_begin, x[-1].ravel() - ends.x_end
    gaps = np.concatenate([grid.gaps(x, alpha + a_0)[..., None], grid.added(A_c).reshape(N, 2 * n, k)], axis=2)
    none = np.zeros((2 * n, k))
    first = np.concatenate([(ends.begin @ begin)[:, None], none[: len(ends.begin)]], axis=1)
    last = np.concatenate([(ends.end @ end)[:, None], none[: len(ends.end)]], axis=1)
    steps = solved_chain(grid.transfer(A_x), ends, -np.concatenate([first, gaps.reshape(-1, 1 + k), last]))
    steps = steps.reshape(N + 1, 2, n, 1 + k)
    dc, left = np.zeros(k), 0.0
    if k:
        reached = ends.further @ steps[-1].reshape(2 * n, 1 + k)
        now = reached[:, 0] + ends.further @ end
        dc = np.linalg.lstsq(reached[:, 1:], reached[:, 1:] @ c - now, rcond=NEGLIGIBLE)[0] - c
        left = float(np.abs(now + reached[:, 1:] @ dc).max())
    dx = steps[..., 0] + steps[..., 1:] @ dc
    dalpha = a_0 + np.einsum("ijab,ib->ija", A_x, dx[:-1].reshape(N, 2 * n)) + A_c @ dc
    return dx, dalpha, dc, left


def solved_chain(T: Array, ends: Ends, right: Array) -> Array:
    """(N + 1) * 2n rows of steps: ends.begin dx_0, then T_i dx_i - dx_{i+1}, then ends.end dx_N equal to ``right``."""
    from scipy.sparse import csc_array
    from scipy.sparse.linalg import splu

    N, d, _ = T.shape
    b = len(ends.begin)
    rows = [np.arange(b)[:, None] + np.zeros(d, int)]
    columns = [np.arange(d) + np.zeros((b, 1), int)]
    at = d * np.arange(N)[:, None, None] + np.zeros((1, d, d), int)
    i, j = np.arange(d)[:, None], np.arange(d)
    rows += [b + at + i, b + (d * np.arange(N)[:, None] + j), b + d * N + np.arange(d - b)[:, None] + np.zeros(d, int)]
    columns += [at + j, d + (d * np.arange(N)[:, None] + j), d * N + j + np.zeros((d - b, 1), int)]
    values = [ends.begin, T, -np.ones((N, d)), ends.end]
    entries = (np.concatenate([y.ravel() for y in z]) for z in (values, rows, columns))
    value, row, column = entries
    size = d * (N + 1)
    return splu(csc_array((value, (row, column)), shape=(size, size))).solve(right)
