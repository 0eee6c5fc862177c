"""The fastest motion along a path: passes of reachability, and no violation between the points that were looked at.

Rows are taken at points of every interval; between those torques leave their chords. How far is seen at the points in
the middle, with the whole model, and taken off the limits as a margin; passes end when nothing exceeds there."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.drivers.driver import driver
from gyrostat.errors import StateError
from gyrostat.studies.fastest_path.paths import WHO, Path
from gyrostat.studies.fastest_path.profile import Profile
from gyrostat.studies.fastest_path.quick_places import QuickPlaces
from gyrostat.studies.fastest_path.rows import Block, Rows
from gyrostat.studies.fastest_path.stage_points import Points, points_of
from gyrostat.studies.fastest_path.stages import PLACES, backwards, forwards

Array = np.ndarray
PASSES = 40
ENOUGH = 1.3
"""Margins are this much more than what was seen."""
ROUNDING = 1e-7
"""Relative margin besides: for rounding, and for what is left between points of the check."""
SETTLED = 2e-5
"""Relative change of the duration at which tangents count as settled; limits are those of the whole model anyway."""
UNBOUNDED = 1e14
QUICK = 240
"""Points on each side of a place where friction changes quickly."""
FEW = 16
"""The same where friction is in proportion to the speed."""


@dataclass(frozen=True, eq=False)
class Reached:
    """``L``, ``K`` (N + 1,): least and greatest x from which the end can be reached; ``active`` (N,): the row that
    bounds u, or -1 where the way to the end does; ``margin`` (N, R); ``passes`` so many; ``excess``: what was left at
    the points in the middle, in parts of the limits."""

    profile: Profile
    L: Array
    K: Array
    active: Array
    passes: int
    excess: float


class Stages:
    """A path on a grid: points, rows and the loops over them. ``first``: the stage at which motions begin."""

    def __init__(
        self, path: Path, rows: Rows, grid: Array, points: int, check: int,
        ends: tuple[float, float], stops: Array, turns: Array,
    ):  # fmt: skip
        self.path, self.rows, self.grid, self.M = path, rows, grid, points
        N = len(grid) - 1
        self.N, self.steps = N, np.ascontiguousarray(2.0 * np.diff(grid))
        at = grid[:-1, None] + np.diff(grid)[:, None] * (np.arange(points + 1) / points)
        at[:, -1] = np.nextafter(grid[1:], -np.inf)  # what jumps there is taken from the left
        offsets = 2.0 * (at - grid[:-1, None])  # of places that are not moved: what bounds x alone must not bound u
        if rows.torques.dry:  # as dry friction does, where a joint turns round
            inward = 1e-7 * np.diff(grid)
            moving = np.ones(N + 1)
            moving[[0, -1, *stops]] = 0.0  # at rest friction follows the root of the distance
            at[:, 0], at[:, -1] = grid[:-1] + inward * moving[:-1], at[:, -1] - inward * moving[1:]
        self.at, self.offsets = at, np.ascontiguousarray(offsets)
        self.points = points_of(path, at.ravel())
        middle = grid[:-1, None] + np.diff(grid)[:, None] * ((np.arange(points) + 0.5) / points)
        self.middle, self.middle_offsets = middle, 2.0 * (middle - grid[:-1, None])
        self.between = points_of(path, middle.ravel())
        parts = ((np.arange(check * points) + 0.5) / (check * points)) if check else np.zeros(0)
        fine = grid[:-1, None] + np.diff(grid)[:, None] * parts
        self.fine, self.fine_offsets = fine, 2.0 * (fine - grid[:-1, None])
        self.parts = np.array_split(np.arange(N), max(1, fine.size // 50_000))
        self.checked: Points | None = None
        self.rests, self.turns = np.unique([0, *stops, N]), turns
        quick = rows.torques.steep or rows.torques.varying
        self.quick = self.quick_places(QUICK if quick else FEW) if rows.curved else None
        self.scale = float(grid[-1] - grid[0])
        self.floor, self.cap = np.zeros(N + 1), np.full(N + 1, UNBOUNDED * self.scale**2)
        for k in stops:
            self.cap[k] = 0.0
        self.ends = ends  # speeds along the path
        self.block, self.A = rows.first(self.points)
        self.sizes = self._sizes()
        speed = np.abs(self.points.q1).max(axis=1)
        self.still = speed[[0, -1]] <= 1e-9 * speed.max()  # q' = 0: at rest there, whatever s' is

    def quick_places(self, count: int) -> QuickPlaces:
        """Beside rests and turning points, ``count`` points on each side."""
        return QuickPlaces(self.path, self.grid, self.rests, self.turns, self.rows.torques.dry, count)

    # ------------------------------------------------------------------ one pass
    def swept(self, block: Block, margin: tuple[Array, ...] | None, start: float) -> tuple[Any, ...]:
        """x, u, active, L, K, or (stage, what) that cannot be passed."""
        N, M, R = self.N, self.M, len(self.rows.names)
        low, high = block.low, block.high
        if margin is not None:
            low = (low.reshape(N, M + 1, R) + margin[0][:, None]).reshape(-1, R)
            high = (high.reshape(N, M + 1, R) - margin[1][:, None]).reshape(-1, R)
        arrays = block.A, block.B, low, high
        arrays = tuple(np.ascontiguousarray(x) for x in arrays)
        rows, found = np.empty(3 * (M + 1) * R + 8), np.empty(PLACES)
        L, K, x = np.zeros(N + 1), np.zeros(N + 1), np.zeros(N + 1)
        u, active = np.zeros(N), np.zeros(N)
        L[N] = K[N] = self.ends[1] ** 2
        if self.still[1]:
            L[N], K[N] = 0.0, self.cap[N]
        places = [a.ctypes.data for a in (*arrays, self.offsets, self.steps)]
        tail = [a.ctypes.data for a in (rows, found, L, K)]
        sides = [a.ctypes.data for a in (self.floor, self.cap)]
        stage = driver(backwards).call(0, N, M + 1, R, *places, *sides, *tail)
        if stage >= 0:
            return stage, "room", arrays
        if self.still[0]:
            start = self._free_start(arrays, L, K)
        if start > K[0] * (1.0 + 1e-9) + 1e-300 or start < L[0] * (1.0 - 1e-9):
            return 0, "start", (L[0], K[0])
        x[0] = min(max(start, L[0]), K[0])
        more = [a.ctypes.data for a in (x, u, active)]
        stage = driver(forwards).call(0, N, M + 1, R, *places, *tail, *more)
        if stage >= 0:
            return stage, "room", arrays
        if x.max() >= 0.25 * UNBOUNDED * self.scale**2:
            return int(np.argmax(x)), "unbounded", arrays
        return x, u, active.astype(int), L, K

    def _free_start(self, arrays: Any, L: Array, K: Array) -> float:
        """The x at the start, where q' = 0 and the robot rests whatever x is, from which x_1 becomes the greatest: a
        concave function of x_0, searched by thirds."""
        P, step = self.M + 1, float(self.steps[0])
        a, b, low, high = (x[:P].ravel() for x in arrays)
        alpha = a + np.repeat(self.offsets[0], len(self.rows.names)) * b
        use = np.abs(alpha) > 1e-14 * np.abs(b)
        one = 1.0 / alpha[use]
        top = np.maximum(low[use] * one, high[use] * one)
        slope = -b[use] * one

        def ahead(x: float) -> float:
            return min(x + step * float(np.min(top + slope * x, initial=np.inf)), float(K[1]))

        left, right = float(L[0]), float(K[0])
        for _ in range(200):
            one_third, two_thirds = left + (right - left) / 3.0, right - (right - left) / 3.0
            if ahead(one_third) < ahead(two_thirds):
                left = one_third
            else:
                right = two_thirds
        return right

    # ------------------------------------------------------------------ all passes
    def run(self, told: Callable[[int, str], object] = lambda k, text: None) -> Reached:
        """Passes until nothing exceeds its limits in the middle between points; or an error that says where."""
        N, M, R = self.N, self.M, len(self.rows.names)
        start = self.ends[0] ** 2
        found = self.swept(self.block, None, start)
        block = self.block
        size = self.sizes
        below, above = (np.full((N, R), ROUNDING) * size for _ in range(2))
        asked = np.zeros((N, R)), np.zeros((N, R))  # margins that the check has asked for stay
        curved, least, before = self.rows.curved, 1e-18 * self.scale**2, None
        duration = worst = np.inf
        for k in range(1, PASSES + 1):
            if len(found) == 3:
                found, block = self._slower(found, block, before, (below, above, *asked))
            x, u, active, L, K = found
            xs, xm = (np.maximum(x[:-1, None] + d * u[:, None], 0.0) for d in (self.offsets, self.middle_offsets))
            us, um = np.repeat(u, M + 1), np.repeat(u, M)
            moved = np.inf if before is None else _moved(x, before)
            least = max(least, 1e-16 * float(x.max()))
            low_m, high_m = self.rows.excess(self.between, xm.ravel(), um, least)
            worst = max(float((low_m / size).max()), float((high_m / size).max()))
            with np.errstate(divide="ignore"):
                lasts = float(np.sum(self.steps / (np.sqrt(x[1:]) + np.sqrt(x[:-1]))))
            told(k, f"{lasts:.6g} s")
            if abs(lasts - duration) < SETTLED * lasts:
                moved = 0.0
            duration = lasts
            if worst <= 0.0 and (not curved or (k > 1 and moved < 1e-4) or k > 8):
                over = self._checked(x, u, xs, us, least)
                if over.max() <= 0.0:
                    profile = Profile(self.grid, x, u)
                    if not np.isfinite(profile.duration):
                        self._refuse(int(np.argmax(~np.isfinite(profile.durations))), "rests", None)
                    worst = max(worst, float((over / size).max()))
                    return Reached(profile, L, K, np.where(active == (M + 1) * R, -1, active), k, worst)
                for least_margin, margin in zip(asked, (below, above), strict=True):
                    np.copyto(least_margin, margin + 1.5 * over, where=over > 0.0)
            low_p, high_p = self._chords(block, xs, us, least, curved)
            low_p, high_p = low_p.reshape(N, M + 1, R), high_p.reshape(N, M + 1, R)
            grow = ENOUGH if curved else ENOUGH * (1.0 + 0.1 * k)
            for margin, least_margin, y, ym in ((below, asked[0], low_p, low_m), (above, asked[1], high_p, high_m)):
                chord = 0.5 * (y[:, 1:] + y[:, :-1])
                with np.errstate(invalid="ignore"):  # one side of a row may be infinite
                    bulge = np.nan_to_num(ym.reshape(N, M, R) - chord, nan=0.0, posinf=0.0, neginf=0.0).max(axis=1)
                seen = np.maximum(bulge, 0.0) * grow + ROUNDING * size
                over = np.maximum(y.max(axis=1), ym.reshape(N, M, R).max(axis=1))
                settled = moved < 1e-3 or k > 20 if curved else k > 3
                wanted = np.where(over > 0.0, margin + 1.5 * over, 0.0) if settled else 0.0
                near = over > -4.0 * seen if k > 1 else np.ones_like(seen, dtype=bool)
                kept = margin if k > (6 if curved else 2) else 0.0
                margin[:] = np.where(near, np.maximum(np.maximum(kept, seen), wanted), margin)
                np.maximum(margin, least_margin, out=margin)
            mixed = x
            if curved:
                mixed = x if before is None or k < 4 else 0.5 * (x + before)
                slopes = np.diff(mixed) / self.steps
                xs, us = np.maximum(mixed[:-1, None] + self.offsets * slopes[:, None], 0.0), np.repeat(slopes, M + 1)
                block = self.rows.tangent(self.points, self.A, xs.ravel(), us, least)
            before = mixed
            found = self.swept(block, (below, above), start)
        raise StateError(
            f"{WHO}: after {PASSES} passes limits are still exceeded between grid points, by {worst:.2g} of them. "
            "Hint: a finer grid=..., or a smoother path"
        )

    def _sizes(self) -> Array:
        """(R,): what a row's limits are measured by."""
        t = self.rows.torques
        torque = np.abs(t.at_rest).min(axis=1)
        torque = np.where((torque > 0.0) & (torque < 1e29), torque, 1.0)
        sizes = np.concatenate([torque, torque[t.varying], torque[t.varying]])
        rest = len(self.rows.names) - len(sizes)
        ones = np.ones(rest)
        if len(self.rows.accelerated):
            low, high = self.rows.acceleration
            first = 1 if self.rows.speeds else 0
            ones[first : first + len(low)] = np.minimum(np.abs(low), np.abs(high))
        return np.concatenate([sizes, np.where(np.isfinite(ones) & (ones > 0.0), ones, 1.0)])

    def _chords(self, block: Block, xs: Array, us: Array, least: float, curved: bool) -> tuple[Array, Array]:
        if curved:
            return self.rows.excess(self.points, xs.ravel(), us, least)
        value = block.A * us[:, None] + block.B * xs.reshape(-1, 1)
        return block.low - value, value - block.high

    def _checked(self, x: Array, u: Array, xs: Array, us: Array, least: float) -> Array:
        """(N, R): the greatest excess of each row at the points, where it is a tangent, at those of the
        check, and beside places where friction changes quickly."""
        N, R = self.N, len(self.rows.names)
        worst = np.full((N, R), -np.inf)
        if self.rows.curved:
            sides = self.rows.excess(self.points, xs.ravel(), us, least)
            worst = np.maximum(*sides).reshape(N, -1, R).max(axis=1)
        if self.quick is not None:
            worst = np.maximum(worst, self.quick.worst(self.rows, x, u))
        F = self.fine.shape[1]
        for k, part in enumerate(self.parts if F else ()):
            xf = np.maximum(x[part, None] + self.fine_offsets[part] * u[part, None], 0.0).ravel()
            points = self._fine_points(k)
            sides = self.rows.excess(points, xf, np.repeat(u[part], F), least)
            over = np.maximum(*sides)
            most = over.max(axis=0)  # for each row of its own only where something is exceeded
            here = np.maximum(worst[part], over.reshape(len(part), F, R).max(axis=1) if most.max() > 0.0 else most)
            worst[part] = here
        return worst

    def _fine_points(self, k: int) -> Points:
        """Of a part of the intervals; the only part is kept for the next check."""
        if len(self.parts) > 1:
            return points_of(self.path, self.fine[self.parts[k]].ravel())
        if self.checked is None:
            self.checked = points_of(self.path, self.fine.ravel())
        return self.checked

    def _slower(self, found: Any, block: Block, before: Array | None, margin: tuple[Array, ...]) -> tuple[Any, Block]:
        """Tangents at a motion that is too fast may leave no room where there is some: they are taken at slower
        ones."""
        if self.rows.curved and before is not None:
            x = before
            for _ in range(6):
                x = 0.25 * x
                xs = np.maximum(x[:-1, None] + (x[1:] - x[:-1])[:, None] * self.offsets / self.steps[:, None], 0.0)
                us = np.repeat(np.diff(x) / self.steps, self.M + 1)
                least = 1e-16 * float(x.max()) + 1e-300
                block = self.rows.tangent(self.points, self.A, xs.ravel(), us, least)
                for side in margin:  # they were seen at a faster motion
                    side[:] = np.maximum(0.25 * side, ROUNDING * self.sizes)
                found = self.swept(block, margin, self.ends[0] ** 2)
                if len(found) == 5:
                    return found, block
        self._refuse(*found)
        raise AssertionError

    def _refuse(self, stage: int, what: str, detail: Any) -> None:
        s = float(self.grid[stage])
        if what == "start":
            low, high = (np.sqrt(max(float(d), 0.0)) for d in detail)
            raise StateError(
                f"{WHO}: the path cannot be followed from s = {s:g} at the speed s' = {self.ends[0]:g}: from there the "
                f"end is reached with s' between {low:.6g} and {high:.6g}. Hint: another start_speed, or wider limits"
            )
        if what == "rests":
            raise StateError(
                f"{WHO}: the limits leave no motion at all from s = {s:g} on: s' stays 0 there. Hint: limits above zero"
            )
        if what == "unbounded":
            raise StateError(
                f"{WHO}: nothing bounds the speed at s = {s:g}. Hint: give velocity_limits, or limits for the other "
                "joints"
            )
        raise StateError(f"{WHO}: {self._conflict(stage, *detail)}")

    def _conflict(self, stage: int, A: Array, B: Array, low: Array, high: Array) -> str:
        """Which rows leave no room in a stage, in words."""
        R = len(self.rows.names)
        rows = slice(stage * (self.M + 1), (stage + 1) * (self.M + 1))
        a, b, lo, hi = (x[rows].reshape(-1) for x in (A, B, low, high))
        where = f"at s = {self.grid[stage]:.6g} (interval {stage} of {self.N})"
        hint = "Hint: wider limits, a lighter load, or another path"
        with np.errstate(divide="ignore", invalid="ignore"):
            still = np.abs(a) <= 1e-12 * (np.abs(b) + 1e-300)
            short = still & ((lo > 0.0) | (hi < 0.0))
            up = np.where(a > 0.0, hi / a, lo / a)
            down = np.where(a > 0.0, lo / a, hi / a)
        up[still], down[still] = np.inf, -np.inf
        static = np.maximum(np.where(b == 0.0, -np.inf, lo), np.where(b == 0.0, -np.inf, -hi))
        if not np.any(short) and static.max() > 0.0:
            k = int(np.argmax(static))
            return (
                f"{where} the {self.rows.names[k % R]} is not enough to stand still: {static[k]:.4g} more is needed, "
                f"and no speed helps against that. {hint}"
            )
        if np.any(short):
            k = int(np.argmax(short))
            over = max(float(lo[k]), float(-hi[k]))
            return f"{where} the {self.rows.names[k % R]} is exceeded at standstill by {over:.4g}. {hint}"
        k, j = int(np.argmin(up)), int(np.argmax(down))
        first, second = self.rows.names[k % R], self.rows.names[j % R]
        if up[k] < down[j]:
            both = f"the {first} and the {second} contradict each other"
            return f"{where} {both if first != second else f'the {first} contradicts itself'}, at any speed. {hint}"
        return (
            f"{where} no speed lets the robot go on to the end: the {first} and the {second} leave no acceleration "
            f"that leads on. {hint}"
        )


def _moved(x: Array, before: Array) -> float:
    return float(np.abs(np.sqrt(x) - np.sqrt(before)).max() / max(float(np.sqrt(x.max())), 1e-300))
