"""The bounded motion of what no motor drives, for outputs that move from rest to rest.

Vibrations start from rest; what would grow (unstable zeros) is bounded from the end, so that motors begin to act before
the outputs move [Devasia, Chen, Paden 1996; Bruels, Bastos, Seifried, J. Comput. Nonlinear Dyn. 9 (2014) 011014]. One
boundary-value problem over the whole time is solved for both, on intervals that are halved until torques settle."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gyrostat.errors import StateError
from gyrostat.flexible.inversion.boundary_subspaces import causal_and_growing, slow_causal
from gyrostat.flexible.inversion.collocation import Ends, Grid, Local, Solution, solve
from gyrostat.flexible.inversion.gauss_points import gauss_points
from gyrostat.flexible.inversion.undriven_equations import WHO, UndrivenEquations
from gyrostat.flexible.inversion.zero_dynamics import rest_of

Array = np.ndarray
Outputs = Callable[[Array, Array], Array]
Columns = Callable[[Array], Array]
POINTS = 6
FIRST = 48
"""Intervals of the first try, at least."""
SETTLED = 1e-6
NEWTON, LOOSE = 1e-9, 3e-6
"""Relative steps that end Newton's method; the second where parameters are sought, some of which hardly matter."""
SHAPING = 384
TAIL = 12
"""Intervals behind the end: springs are told there that the motion is at rest; what is wrong in that fades backwards by
40 with each."""


@dataclass(frozen=True)
class Problem:
    """``y(t, c)`` (N, 3, p): outputs with two derivatives; ``columns(t)`` (N, 3, p, k) their derivatives by the
    parameters c (k,) (zero of them where nothing is shaped); ``rests`` (2, nv) before and behind; ``seams`` [s]:
    instants in which derivatives jump; ``until`` [s]: the time that is asked for, at most the last of them."""

    equations: UndrivenEquations
    y: Outputs
    columns: Columns
    size: int
    rests: Array
    seams: Array
    until: float


@dataclass(frozen=True)
class Inverted:
    """A solution with the problem it solves; ``error``: the change of torques, as a part of the largest, by the last
    halving of intervals."""

    problem: Problem
    solution: Solution
    error: float

    def motion(self, t: Array) -> tuple[Array, Array, Array, Array]:
        """q, v, a, tau (N, nv) at the instants t (N,) inside."""
        p = self.problem
        state = p.equations.states(p.y(t, self.solution.c), *self.solution.at(t))
        return *state, p.equations.torques(*state)


def inverted(problem: Problem, rtol: float, most: int) -> Inverted:
    """Intervals are halved until the torques at 200 instants agree to ``rtol`` of the largest; ``most`` intervals.

    Springs differentiate rounding, more of it on shorter intervals: where torques part again after they have agreed to
    SETTLED, the solution before is taken."""
    t = problem.seams[0] + (problem.until - problem.seams[0]) * (np.arange(200) + 0.4142) / 200  # beside seams
    count, last, change, failed = FIRST, None, np.inf, None
    guess: Guess = _quasi_static
    best: Inverted | None = None
    while count <= most:
        try:
            now = Inverted(problem, _solved(problem, count, guess), change)
        except StateError as error:  # intervals may be too long
            failed, last, guess, count = error, None, _quasi_static, 2 * count
            continue
        tau, failed, before = now.motion(t)[3], None, change
        if last is not None:
            change = float(np.abs(tau - last).max() / max(np.abs(tau).max(), 1e-300))
            if best is not None and change > before and before < SETTLED:
                return best
            best = replace(now, error=change)
            if change < rtol:
                return best
        last, count, guess = tau, 2 * count, _Again(now.solution)
    if failed is not None:
        raise failed
    if best is not None and best.error < SETTLED:
        return best
    raise StateError(
        f"{WHO}: torques still change by {change:.1e} of the largest with {count // 2} intervals, {rtol:g} is "
        "asked for. Hint: a motion with more continuous derivatives (springs differentiate it four times and more), no "
        "friction with a jump behind springs, a greater rtol, or more intervals"
    )


Guess = Callable[[Problem, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class _Again:
    """A solution on other intervals as a first guess."""

    solution: Solution

    def __call__(self, problem: Problem, t: Array) -> tuple[Array, Array]:
        return self.solution.at(t)[0], self.solution.c


def _quasi_static(problem: Problem, t: Array) -> tuple[Array, Array]:
    """Deflections (N, n) that the outputs and, where these are coordinates, their motion cause at each instant."""
    e = problem.equations
    share = np.clip((t - t[0]) / (t[-1] - t[0]), 0.0, 1.0)[:, None]
    c = np.zeros(problem.size)
    y, z = problem.y(t, c), (problem.rests[0] + share * (problem.rests[1] - problem.rests[0]))[:, e.free]
    still = np.zeros_like(z)
    for _ in range(8):
        state = e.states(y, z, still, still)
        F, Fz = e.residual(y, *state), e.slopes(*state)[0][:, :, e.free]
        scale = np.maximum(np.abs(Fz).max(axis=2, keepdims=True), 1e-300)
        step = np.linalg.solve(Fz / scale, F[..., None] / scale)[..., 0]
        z = z - step * np.minimum(1.0, 0.3 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-300))
        if np.abs(step).max() < 1e-8:
            break
    return z, c


def shaped(problem: Problem) -> Array:
    """The parameters c (k,): found on a grid of fixed size, since errors in c are a slightly other motion only."""
    try:
        return _solved(problem, SHAPING, _quasi_static, LOOSE).c
    except StateError:  # intervals may be too long
        return _solved(problem, 2 * SHAPING, _quasi_static, LOOSE).c


def _solved(problem: Problem, count: int, guess: Guess, tolerance: float = NEWTON) -> Solution:
    e, scheme = problem.equations, gauss_points(POINTS)
    grid = Grid(scheme, nodes(problem.seams, count), len(e.free))

    def equations(t: Array, z: Array, dz: Array, ddz: Array, c: Array) -> Local:
        y = problem.y(t, c)
        state = e.states(y, z, dz, ddz)
        slopes = e.slopes(*state)
        Fz, Fv, Fa = (x[:, :, e.free] for x in slopes)
        return Local(e.residual(y, *state), Fz, Fv, Fa, _by_parameters(problem, t, slopes))

    z0, c0 = guess(problem, grid.t)
    return solve(grid, equations, _ends(problem, grid), z0, c0, tolerance)


def _by_parameters(problem: Problem, t: Array, slopes: tuple[Array, Array, Array]) -> Array:
    """dF/dc (N, n, k)."""
    e = problem.equations
    if not problem.size:
        return np.zeros((len(t), len(e.free), 0))
    Y = problem.columns(t)
    if e.outputs is None:
        return sum(x[:, :, e.known] @ Y[:, k] for k, x in enumerate(slopes))  # type: ignore[return-value]
    p = Y.shape[2]
    return np.concatenate([np.zeros((len(t), len(e.free) - p, problem.size)), -Y[:, 0]], axis=1)


def _ends(problem: Problem, grid: Grid) -> Ends:
    """Conditions at both ends, from the motion about the rests there."""
    e, n = problem.equations, grid.n
    still = np.zeros((1, e.model.nv))
    parts = []
    for q, h in zip(problem.rests, (grid.h[0], grid.h[-1]), strict=True):
        one = Grid(grid.scheme, np.array([0.0, h]), n)
        slopes = e.slopes(q[None], still, still)
        Fz, Fv, Fa = (np.repeat(x[:, :, e.free], len(grid.scheme.c), axis=0) for x in slopes)
        nothing = np.zeros((len(grid.scheme.c), n))
        _, A_x, _ = one.condensed(Local(nothing, Fz, Fv, Fa, np.zeros((*nothing.shape, 0))))
        unit = np.concatenate([np.ones(n), np.full(n, 1.0 / h)])  # rates times h, so that all parts are of one kind
        T = one.transfer(A_x)[0] * unit / unit[:, None]
        slow = slow_causal(T, round(problem.until / h)) if problem.size else np.zeros((0, 2 * n))
        parts.append([rows / unit for rows in (*causal_and_growing(T, max(len(grid.h), FIRST)), slow)])
    (causal, growing, _), (_, growing_then, slow) = parts
    if len(causal) + len(growing_then) != 2 * n:
        raise StateError(
            f"{WHO}: {len(growing)} motions grow about the rest before, {len(growing_then)} about that behind: no "
            "bounded one joins the two. Hint: prescribe other outputs, or a shorter way"
        )
    x = [np.concatenate([q[e.free], np.zeros(n)]) for q in problem.rests]
    return Ends(causal, growing_then, x[0], x[1], slow)


def nodes(seams: Array, count: int) -> Array:
    """About ``count`` intervals (N + 1,), every seam among the nodes, and TAIL more behind."""
    lengths = np.diff(seams)
    each = np.maximum(1, np.round(count * lengths / lengths.sum()).astype(int))
    inside = [np.linspace(a, b, k + 1)[:-1] for a, b, k in zip(seams[:-1], seams[1:], each, strict=True)]
    tail = seams[-1] + (seams[-1] - inside[-1][-1]) * np.arange(TAIL + 1)
    return np.concatenate([*inside, tail])


def rest_along(equations: UndrivenEquations, first: Array, last: Array, q: Array, steps: int = 8) -> Array:
    """The rest at the end of a way whose outputs go straight from first to last (p,)."""
    for share in np.arange(1, steps + 1) / steps:
        q = rest_of(equations, first + share * (last - first), q)
    return q


def no_columns(t: Array) -> Array:
    """Where nothing is shaped."""
    return np.zeros((len(t), 3, 0, 0))
