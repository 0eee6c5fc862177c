"""Differential dynamic programming, feasibility-driven: a motion of least cost and the feedback along it.

The problem is that of a :class:`Phase` of fixed duration; controls are held over equal intervals and stay within their
bounds. Points may begin anywhere (multiple shooting): gaps between the steps and the points close as steps become full
ones. An end state that is given is reached by augmented Lagrangian terms. Without ``second``, second derivatives of the
steps are left out (iLQR)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, ShapeError, clipped
from gyrostat.spatial.so3_recorded import right_jacobian_inverse, rotated
from gyrostat.studies.optimal_control.ddp_backward import IndefiniteError, Policy, backward
from gyrostat.studies.optimal_control.ddp_steps import Steps, StepSlopes
from gyrostat.studies.optimal_control.feedback_block import StateFeedback
from gyrostat.studies.optimal_control.phase import Phase
from gyrostat.studies.optimal_control.point_limits import point_bounds
from gyrostat.studies.optimal_control.state_data import given_state, local, whole
from gyrostat.studies.progress import Progress
from gyrostat.studies.study_data import StudyData

Array = np.ndarray
WHO = "ddp"
LEAST, MOST = 1e-9, 1e9
"""Regularisation of Q_uu."""


@dataclass(frozen=True, eq=False)
class DDPMotion(StudyData):
    """``t`` (N + 1,) [s], ``q`` (N + 1, nq), ``v`` (N + 1, nv), ``u`` (N, m) held over intervals; gains ``K`` (N, m, 2
    nv): u = u_k - K_k (displacement, change of the rates); ``T`` (m, nv) takes u to the efforts. ``gap``: the largest
    between steps and points; ``miss``: of the end state; ``slope``: of the cost by free controls; ``history``
    (iterations, 4): cost, gap, slope, regularisation."""

    phase: Phase
    t: Array
    q: Array
    v: Array
    u: Array
    K: Array
    T: Array
    cost: float
    converged: bool
    message: str
    gap: float
    miss: float
    slope: float
    history: Array

    def block(self, limit: bool = True, name: str = "") -> StateFeedback:
        """u_k + K_k x at samples, held: a digital controller for ``gs.simulate`` and ``gs.rollout``. ``limit``: within
        the bounds of the controls."""
        h = float(self.t[1] - self.t[0])
        steps = Steps(self.phase)
        low, high = (b[steps.nx :] for b in point_bounds(steps.space))
        bounds = np.array([np.maximum(low, -1e300), np.minimum(high, 1e300)]) if limit else None
        u, K = (np.concatenate([x, x[-1:]]) for x in (self.u, self.K))
        table = (self.t - 0.5 * h, self.q, self.v, u, K, self.T)  # samples lie inside their row, whatever rounding
        return StateFeedback(self.phase.model, *table, limit=bounds, form="hold", sample_time=h, name=name)

    def without_feedback(self, name: str = "") -> StateFeedback:
        """u_k alone, held."""
        return replace(self, K=0.0 * self.K).block(name=name)


def ddp(
    phase: Phase,
    u: Any = None,
    q: Any = None,
    v: Any = None,
    *,
    second: bool = False,
    tolerance: float = 1e-6,
    iterations: int = 300,
    end_tolerance: float = 1e-6,
    progress: Any = None,
) -> DDPMotion:
    """The motion of least cost that begins in ``phase.start`` (data: the whole q and v), and the feedback along it.

    ``u`` (N, m) or (m,): first controls, zero by default, N = nodes - 1. ``q`` (N + 1, nq), ``v`` (N + 1, nv): points
    to begin with, which need not fit together; by default the robot stays at its start. ``end``, as data, is reached
    within ``end_tolerance``; ``end_cost`` is a function of the state. ``tolerance``: of the largest derivative of the
    cost by free controls, relative to one plus the cost. ``second``: with second derivatives of the steps, quadratic
    convergence at several times the time for an iteration. Conditions ``path`` are refused: ``optimal_control`` has
    them; limits of joints and rates are looked at when all is done."""
    _expect(phase)
    steps = Steps(phase)
    run = _Run(steps, second, tolerance, end_tolerance)
    x, controls = run.guess(u, q, v)
    with Progress(progress, WHO, None) as shown:
        return run.solved(x, controls, iterations, shown)


def _expect(phase: Any) -> None:
    if not isinstance(phase, Phase):
        raise GyrostatError(f"{WHO}: expected a gs.studies.Phase, got {clipped(phase)}")
    if phase.free_duration:
        raise GyrostatError(
            f"{WHO}: the duration of the phase is free. Hint: a number; optimal_control finds durations"
        )
    if phase.path is not None:
        raise GyrostatError(f"{WHO}: path conditions are not for it. Hint: optimal_control, or a cost beyond the bound")
    if not isinstance(phase.start, Mapping):
        raise GyrostatError(f"{WHO}: the phase must start in a given state. Hint: start={{'q': [...], 'v': [...]}}")
    if phase.end is not None and not isinstance(phase.end, Mapping):
        raise GyrostatError(f"{WHO}: end must be data, got a function. Hint: end={{'q': [...]}}, or end_cost")
    if phase.reset is not None:
        raise GyrostatError(f"{WHO}: nothing follows, so there is no reset. Hint: leave it out")


class _Run:
    def __init__(self, steps: Steps, second: bool, tolerance: float, end_tolerance: float):
        self.steps, self.second, self.tolerance, self.end_tolerance = steps, second, tolerance, end_tolerance
        space = steps.space
        self.x0 = given_state(space, steps.phase.start, "start")
        if not np.isfinite(self.x0).all():
            raise GyrostatError(f"{WHO}: start leaves something free. Hint: the whole q and v; v may be 0")
        target = np.full(steps.nx, np.nan) if steps.phase.end is None else given_state(space, steps.phase.end, "end")
        self.aimed = np.flatnonzero(np.isfinite(target))
        self.target = target[self.aimed]
        self.multipliers, self.weight = np.zeros(len(self.aimed)), 10.0
        low, high = point_bounds(space)
        self.low, self.high = low[steps.nx :], high[steps.nx :]
        self.x_low, self.x_high = low[: steps.nx], high[: steps.nx]
        self.k = np.arange(steps.count)
        self.history: list[tuple[float, float, float, float]] = []

    def guess(self, u: Any, q: Any, v: Any) -> tuple[Array, Array]:
        s = self.steps
        given = np.zeros(s.m) if u is None else np.asarray(u, dtype=float)
        if given.shape not in ((s.m,), (s.count, s.m)):
            raise ShapeError(f"{WHO}: u has shape {given.shape}, expected ({s.m},) or ({s.count}, {s.m})")
        controls = np.clip(np.broadcast_to(given, (s.count, s.m)), self.low, self.high).copy()
        x = np.tile(self.x0, (s.count + 1, 1))
        for value, part, size in ((q, slice(0, s.n), s.space.model.nq), (v, slice(s.n, s.nx), s.n)):
            if value is None:
                continue
            rows = np.asarray(value, dtype=float)
            if rows.shape != (s.count + 1, size):
                raise ShapeError(f"{WHO}: points have shape {rows.shape}, expected ({s.count + 1}, {size})")
            x[:, part] = local(s.space, rows) if value is q else rows
        x[0] = self.x0
        return x, controls

    # ------------------------------------------------------------------ costs
    def end(self, x: Array) -> tuple[float, Array, Array]:
        """With the augmented Lagrangian of the end state."""
        cost, g, H = self.steps.end(x)
        if len(self.aimed):
            c = x[self.aimed] - self.target
            g, H = g.copy(), H.copy()
            cost += float(self.multipliers @ c + 0.5 * self.weight * c @ c)
            g[self.aimed] += self.multipliers + self.weight * c
            H[self.aimed, self.aimed] += self.weight
        return cost, g, H

    def miss(self, x: Array) -> float:
        return float(np.abs(x[-1, self.aimed] - self.target).max(initial=0.0))

    # ------------------------------------------------------------------ the search
    def solved(self, x: Array, u: Array, iterations: int, shown: Progress) -> DDPMotion:
        message, policy, done = "the greatest number of iterations is reached", None, 0
        regularisation = LEAST
        converged = False
        try:
            while done < iterations:
                x, u, policy, regularisation, settled, used = self._minimised(
                    x, u, regularisation, iterations - done, shown
                )
                done += used
                if not settled:
                    message = "no step makes it better" if done < iterations else message
                    break
                if self.miss(x) <= self.end_tolerance:
                    converged, message = True, "converged"
                    break
                c = x[-1, self.aimed] - self.target
                self.multipliers = self.multipliers + self.weight * c
                self.weight = min(self.weight * 5.0, 1e7)
        except KeyboardInterrupt:
            message = "interrupted: the last motion"
        return self._motion(x, u, policy, converged, message)

    def _minimised(
        self, x: Array, u: Array, regularisation: float, iterations: int, shown: Progress
    ) -> tuple[Array, Array, Policy | None, float, bool, int]:
        following, costs = self.steps.values(self.k, x[:-1], u)
        policy = None
        for count in range(1, iterations + 1):
            gaps = following - x[1:]
            s = self.steps.slopes(x[:-1], u)
            end_cost, end_x, end_xx = self.end(x[-1])
            cost = float(costs.sum()) + end_cost
            policy, regularisation = self._policy(s, gaps, (end_x, end_xx), u, regularisation)
            if policy is None:
                return x, u, policy, regularisation, False, count
            gap = float(np.abs(gaps).max(initial=0.0))
            self.history.append((cost, gap, policy.slope, regularisation))
            shown.step(1, f"cost {cost:.6g}, gap {gap:.1e}, slope {policy.slope:.1e}")
            if policy.slope <= self.tolerance * (1.0 + abs(cost)) and gap <= 1e-9:
                return x, u, policy, regularisation, True, count
            found = self._searched(x, u, s, gaps, policy, cost, end_x)
            if found is None:
                nearly = policy.slope <= 100.0 * self.tolerance * (1.0 + abs(cost)) and gap <= 1e-9
                if regularisation >= MOST or nearly:
                    return x, u, policy, regularisation, nearly, count
                regularisation = max(10.0 * regularisation, 1e-6)
                continue
            x, u, following, costs = found
            regularisation = max(LEAST, regularisation * 0.2)
        return x, u, policy, regularisation, False, iterations

    def _policy(
        self, s: StepSlopes, gaps: Array, end: tuple[Array, Array], u: Array, regularisation: float
    ) -> tuple[Policy | None, float]:
        bend = (lambda k, w: self.steps.bend(s, k, w)) if self.second else None
        while regularisation <= MOST:
            try:
                return backward(s, gaps, end, (self.low - u, self.high - u), regularisation, bend), regularisation
            except (IndefiniteError, np.linalg.LinAlgError):
                regularisation = max(10.0 * regularisation, 1e-6)
        return None, regularisation

    def _searched(
        self, x: Array, u: Array, s: StepSlopes, gaps: Array, policy: Policy, cost: float, end_x: Array
    ) -> tuple[Array, Array, Array, Array] | None:
        """Points, controls, steps and costs of the first size that makes the merit cost + mu sum |gap| better."""
        nx, dx = self.steps.nx, np.zeros(self.steps.nx)
        slope = 0.0
        for k in range(self.steps.count):
            du = policy.k[k] + policy.K[k] @ dx
            slope += float(s.gradient[k, :nx] @ dx + s.gradient[k, nx:] @ du)
            dx = s.A[k] @ dx + s.B[k] @ du + gaps[k]
        slope += float(end_x @ dx)
        open_ = float(np.abs(gaps).sum())
        mu = 2.0 * float(np.abs(policy.V_x).max()) if open_ > 1e-12 else 0.0
        slope -= mu * open_
        size = 1.0
        while size > 1e-8:
            found = self._rolled(x, u, gaps, policy, size)
            if found is not None:
                merit = float(found[3].sum()) + self.end(found[0][-1])[0] + mu * (1.0 - size) * open_
                if np.isfinite(merit) and merit <= cost + mu * open_ + 1e-4 * size * min(slope, 0.0) + 1e-13 * abs(
                    cost
                ):
                    return found
            size *= 0.5
        return None

    def _rolled(
        self, x: Array, u: Array, gaps: Array, policy: Policy, size: float
    ) -> tuple[Array, Array, Array, Array] | None:
        """Step by step with the feedback; gaps become (1 - size) of what they were."""
        there, controls = np.empty_like(x), np.empty_like(u)
        following, costs = np.empty_like(gaps), np.empty(len(u))
        there[0] = self.x0
        for k in range(self.steps.count):
            du = size * policy.k[k] + policy.K[k] @ (there[k] - x[k])
            controls[k] = np.clip(u[k] + du, self.low, self.high)
            ahead, one = self.steps.values(self.k[k : k + 1], there[k : k + 1], controls[k : k + 1])
            if not (np.isfinite(ahead).all() and np.abs(ahead).max() < 1e8):
                return None
            following[k], costs[k] = ahead[0], one[0]
            there[k + 1] = ahead[0] - (1.0 - size) * gaps[k]
        return there, controls, following, costs

    # ------------------------------------------------------------------ the result
    def _motion(self, x: Array, u: Array, policy: Policy | None, converged: bool, message: str) -> DDPMotion:
        s = self.steps
        following, costs = s.values(self.k, x[:-1], u)
        over = np.maximum(x - self.x_high, self.x_low - x)
        if converged and over.max() > 1e-6:
            point, place = np.unravel_index(int(np.argmax(over)), over.shape)
            name = s.space.model.dofs[int(place) % s.n]
            message = (
                f"'{name}' leaves its limits by {over.max():.3g} at {point * s.h:.3g} s: optimal_control keeps them"
            )
            converged = False
        T = np.zeros((s.m, s.n))
        T[range(s.m), list(s.space.controls)] = 1.0
        K = np.zeros((s.count, s.m, s.nx)) if policy is None else -policy.K @ self._displacements(x[:-1])
        return DDPMotion(
            s.phase, s.h * np.arange(s.count + 1), whole(s.space, x[:, : s.n]), x[:, s.n :], u, K, T,
            float(costs.sum()) + s.end(x[-1])[0], converged, message, float(np.abs(following - x[1:]).max(initial=0.0)),
            self.miss(x), 0.0 if policy is None else policy.slope, np.array(self.history).reshape(-1, 4),
        )  # fmt: skip

    def _displacements(self, x: Array) -> Array:
        """(N, nx, nx): changes of (xi, v) for displacements along the rates."""
        s = self.steps
        found = np.tile(np.eye(s.nx), (len(x), 1, 1))
        for block in s.space.model.layout.turning:
            for k, row in enumerate(x):
                turn = row[: s.n][block.angular]
                found[k][block.angular, block.angular] = np.stack(
                    [right_jacobian_inverse(turn, e) for e in np.eye(3)], axis=1
                )
                if block.moves:
                    from_turn = np.stack([rotated(turn, e) for e in np.eye(3)], axis=1)
                    found[k][block.linear, block.linear] = from_turn
        return found
