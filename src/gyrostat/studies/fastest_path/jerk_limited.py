"""Fastest motions along a path whose jerk is limited too: sequential linear programmes in time.

On N equal intervals of the time tau = t/T the jerk of s is constant; s, s', s'' at the grid follow linearly, so that
only the rows are nonlinear, in (s, s', s'', s''', T). Each pass takes them as tangents near the last motion and asks
clarabel for the shortest T; the result is then slowed down, by T alone, until all limits hold. A pass that gains
nothing is taken again with a smaller step, so that every motion that is kept is within its limits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import StateError
from gyrostat.studies.fastest_path.paths import WHO, Path
from gyrostat.studies.fastest_path.profile import Profile
from gyrostat.studies.fastest_path.rows import Rows
from gyrostat.studies.fastest_path.stage_points import Points

Array = np.ndarray
PASSES, ENOUGH, SETTLED, SMALLEST = 80, 3e-5, 1e-6, 1e-3
"""Passes at most; relative gain of the duration that counts as one; one that the
tangents promise; the smallest step, in parts of the motion."""
NEAR = 0.7
"""Rows that are farther from their limits than this, in parts of them, are left out of a programme."""
MARGIN = 2e-5
"""In parts of the limits: for what lies between the points of the check."""
BESIDE = 1e-9
"""How far from a turning point friction is looked at, in parts of the path: its sign is then sure."""


@dataclass(frozen=True, eq=False)
class Limits:
    """All rows along the path: those of :class:`Rows`, and jerks within ``low``, ``high`` (nv,); ``turns`` (k,): s at
    which joints turn round, where friction may jump."""

    path: Path
    rows: Rows
    sizes: Array
    low: Array
    high: Array
    turns: Array

    def excess(self, s: Array, v: Array, a: Array, j: Array, least: float) -> Array:
        """(P, rows): by how much limits are exceeded, in parts of them; negative where there is room."""
        q, q1, q2, q3 = self.path.derivatives(s, 3)
        x = v * v
        below, above = self.rows.excess(Points(q, q1, q2), x, a, least)
        jerk = q1 * j[:, None] + 3.0 * q2 * (v * a)[:, None] + q3 * (v * x)[:, None]
        size = np.minimum(np.abs(self.low), np.abs(self.high))
        size = np.where(np.isfinite(size) & (size > 0.0), size, 1.0)
        parts = (below / self.sizes, above / self.sizes, (self.low - jerk) / size, (jerk - self.high) / size)
        return np.concatenate([*parts, -v[:, None] / max(float(np.abs(v).max()), 1e-300)], axis=1)


class JerkLimited:
    """The programme on ``count`` intervals, from ``path.start`` to its end, at rest at both."""

    def __init__(self, limits: Limits, count: int, start: float, end: float):
        self.limits, self.N, self.start, self.end = limits, count, start, end
        h = 1.0 / count
        self.h = h
        self.step = np.array([[1.0, h, h * h / 2.0], [0.0, 1.0, h], [0.0, 0.0, 1.0]])
        self.push = np.array([h**3 / 6.0, h * h / 2.0, h])
        self.coarse = np.array([1e-9, 0.5, 1.0 - 1e-9])
        self.fine = (np.arange(20) + 0.5) / 20

    # ------------------------------------------------------------------ motions
    def integrated(self, j: Array) -> Array:
        """(N + 1, 3) from the jerks (N,), corrected by the least change that ends at rest at the end; j is changed."""
        ends = np.empty((self.N, 3))
        left = 1.0 - self.h * (np.arange(self.N) + 1.0)
        ends[:, 2], ends[:, 1] = self.h, self.h * left + self.h**2 / 2.0
        ends[:, 0] = self.h * left**2 / 2.0 + self.h**2 / 2.0 * left + self.h**3 / 6.0
        wanted = np.array([self.end - self.start, 0.0, 0.0])
        j += np.linalg.lstsq(ends.T, wanted - ends.T @ j, rcond=None)[0]
        z = np.zeros((self.N + 1, 3))
        z[0, 0] = self.start
        for k in range(self.N):
            z[k + 1] = self.step @ z[k] + self.push * j[k]
        return z

    def first(self, profile: Profile) -> Array:
        """Jerks of the motion without their limits, with the speed averaged twice over a tenth of the time."""
        K = 40 * self.N
        v = profile.series((np.arange(K) + 0.5) / K * profile.duration, 1)[1]
        width = K // 10
        for _ in range(2):
            v = np.convolve(v, np.ones(width) / width)
        x = np.linspace(0.0, 1.0, self.N + 1)
        a = np.gradient(np.interp(x, np.linspace(0.0, 1.0, len(v)), v), x)
        a *= (self.end - self.start) / v.mean()
        a[0] = a[-1] = 0.0
        return np.diff(a) / self.h

    def at(self, z: Array, j: Array, parts: Array) -> tuple[Array, ...]:
        """s and its three derivatives by tau (N, parts)."""
        w = parts * self.h
        s, v, a = (z[:-1, k, None] for k in range(3))
        b = j[:, None]
        places = s + w * (v + w * (a / 2.0 + w * b / 6.0))
        return np.clip(places, self.start, self.end), v + w * (a + w * b / 2.0), a + w * b, b + 0.0 * w

    def at_breaks(self, z: Array, j: Array) -> list[Array]:
        """:meth:`at` (P,) on both sides of breaks of the path, where its third derivative, and the jerk, may jump, and
        of places where joints turn round."""
        path = self.limits.path
        inner = (
            path.breaks[(path.breaks > self.start) & (path.breaks < self.end)] if path.smoothness < 3 else np.zeros(0)
        )
        turns = self.limits.turns
        aside = np.repeat([0.0, BESIDE * (self.end - self.start)], [len(inner), len(turns)])
        inner = np.concatenate([inner, turns])
        k = np.clip(np.searchsorted(z[:, 0], inner, side="right") - 1, 0, self.N - 1)
        left, right = np.zeros(len(k)), np.full(len(k), self.h)
        for _ in range(50 if len(k) else 0):
            w = 0.5 * (left + right)
            behind = z[k, 0] + w * (z[k, 1] + w * (z[k, 2] / 2.0 + w * j[k] / 6.0)) < inner
            left, right = np.where(behind, w, left), np.where(behind, right, w)
        v, a = z[k, 1] + left * (z[k, 2] + left * j[k] / 2.0), z[k, 2] + left * j[k]
        sides = np.concatenate([np.nextafter(inner, -np.inf) - aside, inner + aside])
        return [sides, np.tile(v, 2), np.tile(a, 2), np.tile(j[k], 2)]

    def worst(self, z: Array, j: Array, T: float, parts: Array) -> float:
        """The greatest excess (of ``parts`` of every interval, its ends, breaks of the path, and turning points)."""
        inside = (x.ravel() for x in self.at(z, j, np.concatenate([[0.0], parts, [1.0]])))
        s, v, a, b = (np.concatenate(pair) for pair in zip(inside, self.at_breaks(z, j), strict=True))
        least = 1e-16 * float(np.max(v) / T) ** 2
        if np.min(v) < -1e-9 * np.max(v):
            return np.inf
        return float(self.limits.excess(s, np.maximum(v, 0.0) / T, a / T**2, b / T**3, least)[:, :-1].max())

    def slowed(self, z: Array, j: Array, T: float, parts: Array, longest: float, margin: float) -> float:
        """The shortest T at which all limits hold, to 1e-9; infinite if it is not below ``longest``."""
        low, high = 0.2 * T, T
        while self.worst(z, j, high, parts) > -margin:
            low, high = high, 1.02 * high if high < 1.2 * T else 1.5 * high
            if low > longest:
                return np.inf
        while high - low > 1e-9 * high:
            middle = 0.5 * (low + high)
            low, high = (low, middle) if self.worst(z, j, middle, parts) <= -margin else (middle, high)
        return high

    # ------------------------------------------------------------------ one programme
    def tangents(self, z: Array, j: Array, T: float) -> tuple[Array, ...]:
        """Rows g + G (s, v, a, j, T) <= 0 that are near: interval, its part, g, G (rows, 5), by tau."""
        s, v, a, b = (x.ravel() for x in self.at(z, j, self.coarse))
        real = (s, np.maximum(v, 0.0) / T, a / T**2, b / T**3)
        least = 1e-16 * float(real[1].max()) ** 2
        g = self.limits.excess(*real, least)
        slopes = []
        for k in range(4):
            size = 1e-6 * (self.end - self.start if k == 0 else float(np.abs(real[k]).max()))
            size = -size if k == 0 else size
            one = [x + size * (i == k) for i, x in enumerate(real)]
            if k == 0:
                one[0] = np.where(one[0] < self.start, real[0] - size, one[0])
            run = (one[k] - real[k])[:, None]
            with np.errstate(invalid="ignore"):
                slopes.append((self.limits.excess(one[0], one[1], one[2], one[3], least) - g) / run)
        # rows that are not smooth there have no tangent; limits are those of the whole motion anyway
        point, row = np.nonzero(np.isfinite(g) & (g > -NEAR))
        G = np.stack([d[point, row] for d in slopes], axis=1)
        G /= T ** np.arange(4)
        by_time = -(G[:, 1] * v[point] + 2.0 * G[:, 2] * a[point] + 3.0 * G[:, 3] * b[point]) / T
        n = len(self.coarse)
        return point // n, self.coarse[point % n], g[point, row], np.column_stack([G, by_time])

    def solved(self, z: Array, j: Array, T: float, step: float) -> tuple[Array, float] | None:
        """Jerks and T of the linear programme within ``step``; None if clarabel finds none."""
        clarabel, sparse = _libraries()
        N, n = self.N, 4 * self.N + 4  # changes of z (N + 1, 3), of j (N,), of T
        at_z, at_j = np.arange(3 * (N + 1)).reshape(N + 1, 3), 3 * (N + 1) + np.arange(N)
        k, part, g, G = self.tangents(z, j, T)
        w = part * self.h
        columns = np.column_stack([at_z[k], at_j[k], np.full(len(k), n - 1)])
        one = G[:, 0], G[:, 0] * w + G[:, 1], G[:, 0] * w**2 / 2.0 + G[:, 1] * w + G[:, 2]
        values = np.column_stack([*one, G[:, 0] * w**3 / 6.0 + G[:, 1] * w**2 / 2.0 + G[:, 2] * w + G[:, 3], G[:, 4]])
        rows = np.repeat(np.arange(len(k)), 5)
        near = sparse.csc_matrix((values.ravel(), (rows, columns.ravel())), shape=(len(k), n))
        sizes = np.concatenate([np.tile(np.abs(z).max(axis=0), N + 1), np.full(N, 2.0 * np.abs(j).max()), [T]])
        ways = sparse.lil_matrix((3 * N + 6, n))
        for i in range(N):
            ways[3 * i : 3 * i + 3, 3 * i : 3 * i + 3] = self.step
            ways[3 * i : 3 * i + 3, at_j[i]] = self.push[:, None]
            ways[[3 * i, 3 * i + 1, 3 * i + 2], at_z[i + 1]] = -1.0
        ways[np.arange(3 * N, 3 * N + 6), np.concatenate([at_z[0], at_z[N]])] = 1.0
        scale = sparse.diags(sizes)
        eye = sparse.eye(n)
        A = sparse.vstack([ways @ scale, near @ scale, eye, -eye]).tocsc()
        b = np.concatenate([np.zeros(3 * N + 6), np.maximum(-g, 0.0), np.full(2 * n, step)])
        cost = np.zeros(n)
        cost[-1] = 1.0
        settings = clarabel.DefaultSettings()
        settings.verbose = False
        cones = [clarabel.ZeroConeT(3 * N + 6), clarabel.NonnegativeConeT(len(b) - 3 * N - 6)]
        found = clarabel.DefaultSolver(sparse.csc_matrix((n, n)), cost, A, b, cones, settings).solve()
        if "Solved" not in str(found.status):
            return None
        x = np.array(found.x) * sizes
        return j + x[at_j], T + float(x[-1])

    # ------------------------------------------------------------------ all
    def run(self, profile: Profile, told: Callable[[int, str], object]) -> tuple[float, Array, int, float]:
        """T, states (N + 1, 3), passes, and the greatest excess at 20 points of every interval."""
        j = self.first(profile)
        z = self.integrated(j)
        T = self.slowed(z, j, profile.duration, self.coarse, 1e4 * profile.duration, 0.0)
        if not np.isfinite(T):
            raise StateError(
                f"{WHO}: no motion within the limits of the jerk was found, however slow. Hint: wider jerk_limits, or "
                "torque limits that hold the robot at rest everywhere on the path"
            )
        step, quiet, k = 0.1, 0, 0
        for k in range(1, PASSES + 1):
            found = self.solved(z, j, T, step)
            better, promised, way, new = np.inf, T, z, j
            if found is not None:
                new = found[0].copy()
                way = self.integrated(new)
                better = self.slowed(way, new, found[1], self.coarse, T, 0.0)
            if better < T:
                quiet = quiet + 1 if T - better < ENOUGH * T else 0
                z, j, T, step = way, new, better, min(1.5 * step, 0.3)
            else:
                step *= 0.4
            told(k, f"{T:.6g} s")
            if step < SMALLEST or quiet >= 3 or (found is not None and abs(promised - found[1]) < SETTLED * T):
                break
        margin, over = MARGIN, np.inf
        for _ in range(10):
            T = self.slowed(z, j, T, self.fine, 10.0 * T, margin)
            over = self.worst(z, j, T, (np.arange(100) + 0.5) / 100)
            if over <= -0.1 * MARGIN:
                return T, z, k, over
            margin += 1.5 * (over + MARGIN)
        raise StateError(
            f"{WHO}: limits are still exceeded between the points, by {over:.2g} of them. Hint: more intervals, or a "
            "smoother path"
        )


def _libraries() -> tuple[Any, Any]:
    try:
        import clarabel
        from scipy import sparse

        return clarabel, sparse
    except ImportError as error:
        raise StateError(
            f"{WHO}: jerk_limits need clarabel and SciPy. Hint: pip install 'gyrostat[studies]'"
        ) from error
