"""Damped least squares (Levenberg-Marquardt) on the configuration manifold, with limits, many problems at once.

Minimises 1/2 |W r(q)|^2. A step solves, with J = W E over the coordinates that are free to move,

    dv = -V (S^2 + lambda s^2 1)^-1 S U^T W r,    J = U S V^T, s the largest singular value,

and leads to integrate(q, dv), put back inside the limits. A coordinate at a limit is free only if the cost falls
inwards. lambda falls at least tenfold, and to the cost, after a success and grows fourfold after a failure, so that the
end is Newton's (quadratic) where a solution exists, also near singularities, and a point where the projected gradient
vanishes where none does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import integrate
from gyrostat.solvers.kinematics.inverse.pose_error import PoseError
from gyrostat.spec.model import Model

Array = np.ndarray

LONGEST = 1.0  # [rad, m] largest change of a coordinate in one step
LAMBDA = 1e-3, 1e-24, 1e12  # first, least, and where a problem is stuck
CLOSE, UNDAMPED = 1e-3, 60  # residual [rad, m] below which undamped steps are tried, and how many
FLAT = 1e-7
"""Stationary: the residual is perpendicular to all free columns of J to this sine; the cost is least to its square."""


@dataclass
class Problems:
    """B problems: targets, weights of the rows, limits (nq,), rates that are held."""

    error: PoseError
    R_t: Array  # (B, 3, 3)
    p_t: Array  # (B, 3)
    weights: Array  # (m,)
    low: Array
    high: Array
    held: Array  # (nv,) bool
    tolerance: float
    t: Any = None

    def residual(self, q: Array, which: Array) -> Array:
        """W r (b, m) of some of the problems."""
        return self.error.residual(q, self.R_t[which], self.p_t[which], self._time(which)) * self.weights

    def derivative(self, q: Array, which: Array) -> Array:
        """W E (b, m, nv)."""
        return self.error.derivative(q, self.R_t[which], self._time(which)) * self.weights[:, None]

    def solved(self, r: Array) -> Array:
        """Whether every row is within the tolerance (b,)."""
        return np.all(np.abs(r) <= self.tolerance * self.weights, axis=1)

    def _time(self, which: Array) -> Any:
        return None if self.t is None else np.broadcast_to(self.t, len(self.R_t))[which]


@dataclass
class Minima:
    """Where the problems ended: q (B, nq), W r (B, m), iterations (B,), whether nothing better is near (B,)."""

    q: Array
    r: Array
    iterations: Array
    stationary: Array


def minimise(model: Model, problems: Problems, q: Array, iterations: int) -> Minima:
    """From q (B, nq), inside the limits, to a minimum each."""
    count = len(q)
    minima = Minima(q.copy(), np.empty(0), np.zeros(count, dtype=int), np.zeros(count, dtype=bool))
    everyone = np.arange(count)
    minima.r = problems.residual(q, everyone)
    damping = np.full(count, LAMBDA[0])
    floor = 2e-15 * (1.0 + np.linalg.norm(problems.p_t, axis=1))
    active = everyone[np.abs(minima.r).max(axis=1, initial=0.0) > floor]
    J = problems.derivative(q[active], active) if len(active) else np.empty(0)
    for _ in range(iterations):
        if not len(active):
            break
        minima.iterations[active] += 1
        here, r = minima.q[active], minima.r[active]
        step, flat = _step(model, problems, here, r, J, damping[active])
        there = inside(model, integrate(model, here, step), problems.low, problems.high)
        r_there = problems.residual(there, active)
        cost, new = np.sum(r * r, axis=1), np.sum(r_there * r_there, axis=1)
        better = new < cost
        winners = active[better]
        minima.q[winners], minima.r[winners] = there[better], r_there[better]
        less = np.minimum(damping[active] * 0.1, new)
        damping[active] = np.clip(np.where(better, less, damping[active] * 4.0), LAMBDA[1], None)
        done = problems.solved(minima.r[active])
        # a solution is polished until rounding stops it
        ended = done & (~better | (new > 0.25 * cost) | (np.abs(r_there).max(axis=1) <= floor[active]))
        stuck = ~done & (flat | (damping[active] > LAMBDA[2]))
        minima.stationary[active[stuck]] = True
        going = ~ended & ~stuck
        J, better = J[going], better[going]
        active = active[going]
        if better.any():
            J[better] = problems.derivative(minima.q[active[better]], active[better])
    _newton(model, problems, minima)
    return minima


def _newton(model: Model, problems: Problems, minima: Minima) -> None:
    """Undamped steps for problems that crept along a valley and are close: where two solutions nearly meet, only tiny
    steps make the cost fall at once, but larger ones lead out."""
    creeping = ~minima.stationary & ~problems.solved(minima.r) & (np.abs(minima.r).max(axis=1, initial=0.0) < CLOSE)
    active = np.flatnonzero(creeping)
    q, least = minima.q[active], np.full(len(active), LAMBDA[1])
    for _ in range(UNDAMPED if len(active) else 0):
        minima.iterations[active] += 1
        J = problems.derivative(q, active)
        step, _ = _step(model, problems, q, problems.residual(q, active), J, least)
        q = inside(model, integrate(model, q, step), problems.low, problems.high)
        r = problems.residual(q, active)
        better = np.sum(r * r, axis=1) < np.sum(minima.r[active] ** 2, axis=1)
        minima.q[active[better]], minima.r[active[better]] = q[better], r[better]


def _step(model: Model, problems: Problems, q: Array, r: Array, J: Array, damping: Array) -> tuple[Array, Array]:
    """Rates (b, nv) to go along, and whether the projected gradient vanishes (b,)."""
    at_q, at_v = model.layout.number_q, model.layout.number_v
    downhill = -np.einsum("bmv,bm->bv", J, r)
    free = np.tile(~problems.held, (len(q), 1))
    at, way = q[:, at_q], downhill[:, at_v]
    blocked = ((at <= problems.low[at_q]) & (way < 0.0)) | ((at >= problems.high[at_q]) & (way > 0.0))
    free[:, at_v] &= ~blocked
    J = J * free[:, None]
    columns = np.linalg.norm(J, axis=1) * np.linalg.norm(r, axis=1)[:, None]
    flat = np.all(np.abs(downhill * free) <= FLAT * columns, axis=1)
    U, s, Vt = np.linalg.svd(J, full_matrices=False)
    size = np.where(s[:, :1] > 0.0, s[:, :1] ** 2, 1.0)  # zero where no free coordinate moves the frame
    along = np.einsum("bmk,bm->bk", U, r) * s / (s * s + damping[:, None] * size)
    step = -np.einsum("bkv,bk->bv", Vt, along) * free
    longest = np.abs(step).max(axis=1, initial=0.0, keepdims=True)
    return step * np.minimum(1.0, LONGEST / np.maximum(longest, LONGEST)), flat


def inside(model: Model, q: Array, low: Array, high: Array) -> Array:
    """q (..., nq) with its plain coordinates put back inside the limits."""
    at = model.layout.number_q
    q[..., at] = np.clip(q[..., at], low[at], high[at])
    return q
