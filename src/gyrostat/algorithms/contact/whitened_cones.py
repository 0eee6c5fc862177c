"""Contacts of one robot as whitened rows, straight-line code for lanes: projected sweeps, a Newton step, the residual.

With A = L^T D L the matrix of a step and J_i the rows of its contacts and stops, x_i = D^-1/2 L^-T J_i^T keeps the
zeros of the tree, G = X X^T, and the sum w = X^T P (nv,) carries everything that impulses P do:

    u = b + X w,     P_n >= low, u_n >= 0, (P_n - low) u_n = 0;     P_t = disc(P_t - u_t / g, mu P_n),

disc the nearest point of the disc of radius mu P_n: the cone of Coulomb, exact [Moreau 1988; Alart and Curnier 1991].
A contact has a normal row and none, one (planar robots) or two tangents; a stop a normal row alone. Plain NumPy
arithmetic that can be recorded; lists and dicts hold recorded scalars, and what is zero by structure is not there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import maximum, minimum, where

SOFT = 1e-7
"""By which a Newton step gives way, unless told otherwise: redundant rows never make it singular."""
TINY = 1e-300
IMMOBILE, SINGULAR = 1e-14, 1e-10
"""G of a row that nothing moves, and part of that of the tangents below which a normal is a dead centre."""


@dataclass(frozen=True)
class Cone:
    """Rows of one contact (a stop: no tangents)."""

    normal: int
    tangents: tuple[int, ...] = ()


@dataclass(frozen=True)
class WhitenedCones:
    """``X``: entries of each row by rate; ``b`` (rows,): speeds without impulses [m/s, rad/s]; ``n``: rates; ``mu`` and
    ``low`` (cones,): friction, and the least normal impulse."""

    cones: Sequence[Cone]
    X: Sequence[Mapping[int, Any]]
    b: Sequence[Any]
    n: int
    mu: Sequence[Any]
    low: Sequence[Any]

    def normals(self, b: Sequence[Any]) -> WhitenedCones:
        """The normal rows alone, with other speeds b (cones,)."""
        rows = [self.X[cone.normal] for cone in self.cones]
        count, zeros = len(rows), [0.0] * len(rows)
        return WhitenedCones([Cone(k) for k in range(count)], rows, b, self.n, zeros, zeros)

    def diagonal(self) -> list[Any]:
        """Of G, one number for the tangents of a contact: no less than the largest eigenvalue of their block."""
        G = [maximum(sum((x * x for x in row.values()), 0.0), IMMOBILE) for row in self.X]
        for cone in self.cones:
            if len(cone.tangents) == 2:
                i, j = cone.tangents
                cross = sum((x * self.X[j][k] for k, x in self.X[i].items() if k in self.X[j]), 0.0)
                half = (G[i] - G[j]) * 0.5
                G[i] = G[j] = (G[i] + G[j]) * 0.5 + np.sqrt(half * half + cross * cross)
        return G

    def without_dead_centres(self, G: Sequence[Any], apart: float) -> WhitenedCones:
        """The same, but contacts whose normal moves nothing, or next to nothing of what the tangents move, are said to
        separate with the speed ``apart``."""
        b = list(self.b)
        for cone in self.cones:
            i = cone.normal
            least = sum((G[j] * SINGULAR for j in cone.tangents), 2.0 * IMMOBILE)
            b[i] = where(G[i] > least, b[i], apart)
        return replace(self, b=b)

    def total(self, P: Sequence[Any]) -> list[Any]:
        """w = X^T P."""
        w: list[Any] = [0.0] * self.n
        for row, p in zip(self.X, P, strict=True):
            for k, x in row.items():
                w[k] = w[k] + x * p
        return w

    def speed(self, i: int, w: Sequence[Any]) -> Any:
        """u_i."""
        return sum((x * w[k] for k, x in self.X[i].items()), self.b[i])

    # ------------------------------------------------------------------ sweeps
    def sweep(self, P: list[Any], w: list[Any], inverse: Sequence[Any]) -> None:
        """One projected sweep over all contacts, in place; ``inverse``: of the diagonal."""
        for cone, mu, low in zip(self.cones, self.mu, self.low, strict=True):
            i = cone.normal
            self._set(i, maximum(P[i] - self.speed(i, w) * inverse[i], low), P, w)
            if cone.tangents:
                aims = [P[j] - self.speed(j, w) * inverse[j] for j in cone.tangents]
                for j, new in zip(cone.tangents, disc(aims, mu * P[i]), strict=True):
                    self._set(j, new, P, w)

    def _set(self, i: int, new: Any, P: list[Any], w: list[Any]) -> None:
        change = new - P[i]
        P[i] = new
        for k, x in self.X[i].items():
            w[k] = w[k] + x * change

    def residual(self, P: Sequence[Any], w: Sequence[Any], G: Sequence[Any], inverse: Sequence[Any]) -> Any:
        """Largest violation of the laws as a speed [m/s, rad/s]: G_i times the change that a projection would make."""
        worst: Any = 0.0
        for cone, mu, low in zip(self.cones, self.mu, self.low, strict=True):
            i = cone.normal
            off = P[i] - maximum(P[i] - self.speed(i, w) * inverse[i], low)
            worst = maximum(worst, abs(off * G[i]))
            if cone.tangents:
                aims = [P[j] - self.speed(j, w) * inverse[j] for j in cone.tangents]
                for j, p in zip(cone.tangents, disc(aims, mu * P[i]), strict=True):
                    worst = maximum(worst, abs((P[j] - p) * G[j]))
        return worst

    # ------------------------------------------------------------------ Newton
    def newton(
        self, P: Sequence[Any], w: Sequence[Any], inverse: Sequence[Any], soft: Any = SOFT
    ) -> tuple[list[Any], list[Any]]:
        """Impulses (rows,) and w (nv,) after a Newton step on the laws, who touches, sticks and slides as P and w say;
        ``soft``: part of the diagonal of G by which it gives way.

        Every contact gives P = c - S u in its own axes; (1 + X^T S X) w = X^T (c - S b) is a system of nv equations.
        A contact that slides with z = P_t - u_t / g, direction d and e across it, s = mu P_n / |z|, has
        P_t = mu P_n d - s / (g (1 - s)) e (e u_t), which is the derivative of the disc at a solution."""
        A: list[dict[int, Any]] = [{k: 1.0} for k in range(self.n)]
        rhs: list[Any] = [0.0] * self.n
        plans = [self._plan(k, P, w, inverse, soft) for k in range(len(self.cones))]
        for plan in plans:
            for left, right, b, stiff, c in plan.terms:
                given = c - stiff * b
                for k, l in left.items():
                    rhs[k] = rhs[k] + l * given
                    scaled = l * stiff
                    for j, x in right.items():
                        A[k][j] = A[k].get(j, 0.0) + scaled * x
        w_new = eliminated(A, rhs)
        P_new: list[Any] = [0.0] * len(self.X)
        for plan in plans:
            plan.impulses(w_new, P_new)
        return P_new, w_new

    def _plan(self, k: int, P: Sequence[Any], w: Sequence[Any], inverse: Sequence[Any], soft: Any) -> _Plan:
        cone, mu, low, X = self.cones[k], self.mu[k], self.low[k], self.X
        i = cone.normal
        z = P[i] - self.speed(i, w) * inverse[i]
        touches = where(z > low, 1.0, 0.0)
        stiff, c = touches * inverse[i] * (1.0 / soft), where(z > low, P[i], low)
        left: dict[int, Any] = {k: x * 1.0 for k, x in X[i].items()}
        terms: list[_Term] = []
        along: list[Any] = []
        if cone.tangents:
            limit = mu * maximum(z, low)
            aims = [P[j] - self.speed(j, w) * inverse[j] for j in cone.tangents]
            g = inverse[cone.tangents[0]]
            size = np.sqrt(sum((x * x for x in aims), TINY))
            slides = where(size > limit, 1.0, 0.0)
            sticks = where(limit > 0.0, 1.0 - slides, 0.0)
            d = [x / size for x in aims]
            along = [slides * mu * x for x in d]
            for j, y in zip(cone.tangents, along, strict=True):
                for k, x in X[j].items():
                    left[k] = left.get(k, 0.0) + y * x
            stuck = sticks * g * (1.0 / soft)
            if len(cone.tangents) == 1:
                (j,) = cone.tangents
                terms.append((X[j], X[j], self.b[j], stuck, sticks * P[j]))
            else:
                one, two = cone.tangents
                s = minimum(limit / size, 1.0)
                across = slides * (s * g / (1.0 - s + soft))
                x_d, b_d = _mixed(X[one], X[two], d[0], d[1]), self.b[one] * d[0] + self.b[two] * d[1]
                x_e, b_e = _mixed(X[one], X[two], -d[1], d[0]), self.b[two] * d[0] - self.b[one] * d[1]
                terms.append((x_d, x_d, b_d, stuck, sticks * (P[one] * d[0] + P[two] * d[1])))
                terms.append((x_e, x_e, b_e, stuck + across, sticks * (P[two] * d[0] - P[one] * d[1])))
                return _Plan(cone, mu, low, (left, X[i], self.b[i], stiff, c), tuple(terms), along, d)
        return _Plan(cone, mu, low, (left, X[i], self.b[i], stiff, c), tuple(terms), along, [1.0])


_Term = tuple[Mapping[int, Any], Mapping[int, Any], Any, Any, Any]
"""left, right, b, S, c: the impulse c - S (b + right w) acts along ``left``."""


@dataclass(frozen=True)
class _Plan:
    """Terms of one contact in a Newton step; ``along``: tangential impulse of a sliding contact for each normal one."""

    cone: Cone
    mu: Any
    low: Any
    normal: _Term
    tangential: tuple[_Term, ...]
    along: Sequence[Any]
    d: Sequence[Any]

    @property
    def terms(self) -> tuple[_Term, ...]:
        return self.normal, *self.tangential

    def impulses(self, w: Sequence[Any], P: list[Any]) -> None:
        """P of this contact, inside its cone."""
        parts = [c - stiff * sum((x * w[k] for k, x in right.items()), b) for _, right, b, stiff, c in self.terms]
        normal = maximum(parts[0], self.low)
        P[self.cone.normal] = normal
        if not self.cone.tangents:
            return
        if len(parts) == 2:
            tangential = [parts[1]]
        else:
            tangential = [parts[1] * self.d[0] - parts[2] * self.d[1], parts[1] * self.d[1] + parts[2] * self.d[0]]
        aims = [x + y * normal for x, y in zip(tangential, self.along, strict=True)]
        for j, p in zip(self.cone.tangents, disc(aims, self.mu * normal), strict=True):
            P[j] = p


def disc(z: Sequence[Any], radius: Any) -> list[Any]:
    """The nearest point of a disc (one number: of an interval) around zero."""
    if len(z) == 1:
        return [maximum(minimum(z[0], radius), -radius)]
    size = np.sqrt(sum((x * x for x in z), TINY))
    scale = minimum(radius / size, 1.0)
    return [x * scale for x in z]


def _mixed(x: Mapping[int, Any], y: Mapping[int, Any], a: Any, b: Any) -> dict[int, Any]:
    return {k: x.get(k, 0.0) * a + y.get(k, 0.0) * b for k in sorted({*x, *y})}


def eliminated(A: list[dict[int, Any]], b: list[Any]) -> list[Any]:
    """The solution of A x = b, rows as dicts, without pivots, from the last unknown to the first: tips of a tree go
    first, so that little fills up. A and b are used up."""
    n = len(b)
    for k in reversed(range(n)):
        pivot = 1.0 / A[k][k]
        for r in range(k):
            if k in A[r]:
                f = A[r].pop(k) * pivot
                b[r] = b[r] - f * b[k]
                for j, x in A[k].items():
                    if j < k:
                        A[r][j] = A[r].get(j, 0.0) - f * x
    x: list[Any] = []
    for k in range(n):
        x.append((b[k] - sum((a * x[j] for j, a in A[k].items() if j < k), 0.0)) / A[k][k])
    return x
