"""Newmark's method with Newton's iteration on the residual of inverse dynamics [Newmark 1959; AS (1), (5)].

    H(t1, q1, v1, a1, p1) = rnea(q1, v1, a1) - tau(t1, q1, v1, p1) = 0,    p1 = p0 + h/2 (f0 + f1),
    q1 = q0 (+) (h v0 + h^2 ((1/2 - beta) a0 + beta a1)),    v1 = v0 + h ((1 - gamma) a0 + gamma a1).

The mass matrix is never inverted; the matrix of Newton's method is M + gamma h dH/dv + beta h^2 dH/dq, from the exact
derivatives of inverse dynamics. With quaternions the step is that of the Lie group method of Bruls and Cardona
[J. Comp. Nonlin. Dyn. 5 (2010) 031002], of the same order; their Jacobian is exact up to terms of order h.

beta = 1/4, gamma = 1/2 is the trapezoidal rule: order 2, stable for any step, without damping.

A step is accepted when its residual says so, see :mod:`gyrostat.simulate.methods.acceptance`; otherwise Newton goes on,
with a matrix made anew where it converges slowly; otherwise the step is halved, and the rest of it follows; otherwise
the run
stops."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError, clipped
from gyrostat.simulate.methods.acceptance import Forces
from gyrostat.simulate.methods.method import Method, Step, StepFailure
from gyrostat.simulate.methods.runge_kutta import FixedStep
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
CLOSE, CONVERGED = 1e-8, 1e-11
"""Changes of q, v and p, relative to one plus their size: from the first on the residual is looked at, from the second
on Newton's iteration ends if the residual is within ``rtol`` of the forces."""
TIGHT = 1e-12
"""Residual, relative to the forces, at which it ends whatever the changes are."""
LOOSEST = 1e-2
"""Largest ``rtol``: a check that accepts everything is none."""
SLOW = 0.3
"""Ratio of two changes above which the matrix is computed anew."""
ITERATIONS = 20
HALVINGS = 30
"""How often a step is halved: 1e-9 of it is left. Efforts that jump exactly at its end need about 20."""


class NewtonMatrix(NamedTuple):
    """Derivative A (nv + np, nv + np) of the residual by (a1, p1); its part by a1 alone is M (nv, nv)."""

    A: Array
    M: Array


class Formulas(NamedTuple):
    """Coefficients of generalised-alpha, see there; those of the trapezoidal rule by default."""

    alpha_m: float = 0.0
    alpha_f: float = 0.0
    beta: float = 0.25
    gamma: float = 0.5

    def advanced(self, x: Mapping[str, Any], a1: Array) -> tuple[Array, Array, Array]:
        """Displacement, v and w at the end of a step."""
        h, w0 = x["h"], x["w"]
        w1 = ((1.0 - self.alpha_f) * a1 + self.alpha_f * x["a"] - self.alpha_m * w0) * (1.0 / (1.0 - self.alpha_m))
        move = h * x["v"] + (h * h) * ((0.5 - self.beta) * w0 + self.beta * w1)
        return move, x["v"] + h * ((1.0 - self.gamma) * w0 + self.gamma * w1), w1

    @property
    def share(self) -> float:
        """dw1/da1."""
        return (1.0 - self.alpha_f) / (1.0 - self.alpha_m)


@dataclass
class State:
    """Of the method at an instant: ``a`` solves the equations of motion, ``w`` is the acceleration that moves v on (the
    same for Newmark); ``f`` = dp/dt, ``tau`` the efforts."""

    t: float
    q: Array
    v: Array
    p: Array
    a: Array
    w: Array
    f: Array
    tau: Array


class ImplicitMethod(Method):
    """What Newmark's method and generalised-alpha share: (1 - alpha_m) w1 + alpha_m w0 = (1 - alpha_f) a1 + alpha_f a0,
    and w in the place of a in Newmark's formulas."""

    order, adaptive = 2, False
    options = ("dt",)
    formulas = Formulas()

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step)
        if rtol > LOOSEST:
            raise GyrostatError(
                f"simulate: {self.name}: rtol is the residual of a step that is accepted, relative to its forces, got "
                f"{rtol:g}, expected {LOOSEST:g} at most. Hint: leave it out"
            )
        self.share = max(rtol, TIGHT)
        self.clock = FixedStep(options["dt"], self.name)
        self.statistics |= {"newton_iterations": 0, "factorisations": 0, "halved": 0}
        self._longest = np.inf

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        before = vars(self.plant.counters).copy()
        now = self._first(t, q, v, p)
        self._residual(now, now)
        self.matrix(now, self.clock.dt)
        vars(self.plant.counters).update(before)

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        self._begin: tuple[float, Array, Array, Array] | None = (t, q, v, p)
        self._longest = np.inf
        self.clock.restart(t)

    def _first(self, t: float, q: Array, v: Array, p: Array) -> State:
        a, f, tau = self.plant.acceleration(t, q, v, p)
        return State(t, q, v, p, a, a, f, tau)

    def step(self, t_limit: float) -> Step:
        try:
            if self._begin is not None:
                self.state, self._begin = self._first(*self._begin), None
            before = self.state
        except NonFiniteError as error:
            raise StepFailure(str(error), hint="a smaller dt, or look at the efforts there") from error
        now = self.state = self._reached(before, t_limit)
        dense = between(self.plant, before, now)
        return Step(before.t, now.t, now.q, now.v, now.p, now.a, now.tau, dense, work(before, now))

    # ------------------------------------------------------------------ one step
    def _advanced(self, x: State, t1: float, a: Array, p: Array) -> State:
        """Newmark's formulas for the acceleration a at the end."""
        given = {"h": t1 - x.t, "v": x.v, "a": x.a, "w": x.w}
        move, v, w = self.formulas.advanced(given, a)
        return State(t1, self.plant.retract(x.q, move), v, p, a, w, x.f, x.tau)

    def _reached(self, x: State, t_limit: float) -> State:
        """The end of the next step, or of a part of it where the whole has no solution: 1/2, 1/4, ..."""
        end, dt = self.clock.next(t_limit), self.clock.dt
        h = min(end - x.t, self._longest)
        while True:
            t1 = end if end - x.t <= h * (1.0 + 1e-9) else x.t + h
            try:
                y = self._solved(x, t1)
                break
            except (StepFailure, NonFiniteError) as error:
                h = 0.5 * (t1 - x.t)
                if h < dt * 0.5**HALVINGS or x.t + h == x.t:
                    raise self._given_up(error, t1 - x.t) from error
            self.statistics["halved"] += 1
            self.rejected += 1
        self._longest = 2.0 * (y.t - x.t) if y.t < end else np.inf
        self.clock.reached(y.t)
        return y

    def _given_up(self, error: StepFailure | NonFiniteError, h: float) -> StepFailure:
        if isinstance(error, NonFiniteError):
            return StepFailure(str(error), error.dof, "a smaller dt, or look at the efforts there")
        return StepFailure(
            f"{error.cause}, nor with steps of {h:.1e} s", error.dof,
            "efforts that jump with the state have no solution there: gs.Friction sticks and slips by events, "
            "gs.JointLimits and gs.Event cut the run; or a smaller dt",
        )  # fmt: skip

    def _solved(self, x: State, t1: float) -> State:
        """Newton's iteration for (a1, p1)."""
        h, n = t1 - x.t, self.plant.nv
        now, r = self._predicted(x, t1)
        solve, size, before = None, np.inf, np.inf
        for _ in range(ITERATIONS):
            if solve is None:
                solve = self._factorised(now, h)
            change = solve(r)
            now = self._advanced(x, t1, now.a - change[:n], now.p - change[n:])
            self.statistics["newton_iterations"] += 1
            size, before = self._size(now, change, h), size
            r = self._residual(x, now)
            if size <= CLOSE and self._accepted(x, now, r, size):
                return now
            if size > SLOW * before or size <= CONVERGED:
                solve = None
        worst = int(np.argmax(np.abs(change[:n])))  # type: ignore[possibly-undefined]
        raise StepFailure(
            f"Newton's method does not fulfil the equations of motion in {ITERATIONS} iterations", worst, "a smaller dt"
        )

    def _predicted(self, x: State, t1: float) -> tuple[State, Array]:
        """Where Newton's iteration begins, and the residual there: with the acceleration of the start, or, where that
        would change the rates by much, with the one that leaves them, whichever is nearer to a solution. Strong damping
        takes back within the step what a large acceleration at its start would do."""
        f, h = self.formulas, t1 - x.t
        now = self._advanced(x, t1, x.a, x.p + h * x.f)
        r = self._residual(x, now)
        if np.all(h * np.abs(x.a) <= 1.0 + np.abs(x.v)):
            return now, r
        w = -(1.0 - f.gamma) / f.gamma * x.w
        still = ((1.0 - f.alpha_m) * w + f.alpha_m * x.w - f.alpha_f * x.a) / (1.0 - f.alpha_f)
        other = self._advanced(x, t1, still, now.p)
        s = self._residual(x, other)
        total = np.abs(r) + np.abs(s)
        gain = np.divide(np.abs(r) - np.abs(s), total, out=np.zeros(len(r)), where=total > 0.0)
        return (now, r) if np.sum(gain) <= 0.0 else (other, s)

    def _accepted(self, x: State, now: State, r: Array, size: float) -> bool:
        """Whether the residual r (nv + np,) ends Newton's iteration; then tau and f are those of ``now``."""
        n, active = self.plant.nv, self.plant.active.rows(now.q, now.v)
        now.tau, now.f = self.plant.torque(now.t, now.q, now.v, now.p)
        if active is not None:  # what active constraints ask of the accelerations is no force
            r = np.concatenate([active.projector @ r[:n], r[n:]])
        share = self.share if size <= CONVERGED else TIGHT
        return bool(np.all(np.abs(r) <= self._forces.allowed(r, now.q, now.a, now.tau, now.p, (x.f, now.f), share)))

    def _size(self, now: State, change: Array, h: float) -> float:
        """Greatest change of q, v, p by an iteration, relative to one plus their size (of p: to what counts as one)."""
        n, f = self.plant.nv, self.formulas
        a = np.abs(change[:n]) * f.share
        moved = 1.0 + h * np.abs(now.v) + h * h * np.abs(now.a)
        moving = np.max(
            np.maximum(f.beta * h * h * a / moved, f.gamma * h * a / (1.0 + np.abs(now.v) + h * np.abs(now.a)))
        )
        return float(max(moving, np.max(np.abs(change[n:]) / (self.plant.source.sizes + np.abs(now.p)), initial=0.0)))

    def _residual(self, x: State, now: State) -> Array:
        """H (nv,), then p1 - p0 - h/2 (f0 + f1) (np,)."""
        r = self.plant.residual(now.t, now.q, now.v, now.a, now.p)
        if not self.plant.np:
            return r
        f = self.plant.torque(now.t, now.q, now.v, now.p)[1]
        return np.concatenate([r, now.p - x.p - 0.5 * (now.t - x.t) * (x.f + f)])

    def _factorised(self, now: State, h: float) -> Callable[[Array], Array]:
        """The inverse of the matrix of Newton's method, applied."""
        A, M = self.matrix(now, h)
        self._forces, S = Forces.of(A, M, h), np.linalg.inv(A)
        self.statistics["factorisations"] += 1
        return lambda r: S @ r

    def matrix(self, now: State, h: float) -> NewtonMatrix:
        """Derivative of the residual by (a1, p1)."""
        plant, f = self.plant, self.formulas
        by_v, by_q = f.share * f.gamma * h, f.share * f.beta * h * h
        state = now.t, now.q, now.v
        dq, dv, da = plant.derivatives.residual_jacobians(*state, now.a, now.p)
        A = da + by_v * dv + by_q * dq
        if not plant.np:
            return NewtonMatrix(A, da)
        d = plant.derivatives.of_source(*state, now.p)
        below = np.concatenate([-0.5 * h * (by_v * d.p_v + by_q * d.p_q), np.eye(plant.np) - 0.5 * h * d.p_p], axis=1)
        return NewtonMatrix(np.concatenate([np.concatenate([A, -d.tau_p], axis=1), below]), da)


def cubic(s: Array, h: Any, x0: Array, x1: Array, d0: Array, d1: Array) -> Array:
    """From x0 to x1 with the rates d0 and d1, at the fractions s of a step h."""
    rise = x1 - x0
    return x0 + s * (rise + (1.0 - s) * ((1.0 - s) * (h * d0 - rise) - s * (h * d1 - rise)))


def between(plant: Plant, x: State, y: State) -> Callable[[Any], tuple[Array, Array, Array]]:
    """q, v, p inside a step: cubics through both ends with their rates."""
    h = y.t - x.t

    def dense(t: Any) -> tuple[Array, Array, Array]:
        s, way = ((np.asarray(t, dtype=float) - x.t) / h)[..., None], plant.difference(x.q, y.q)
        q = plant.retract(x.q, cubic(s, h, np.zeros_like(way), way, x.v, y.v))
        return q, cubic(s, h, x.v, y.v, x.a, y.a), cubic(s, h, x.p, y.p, x.f, y.f)

    return dense


def work(x: State, y: State) -> Callable[[Any], Array]:
    """Work [J] of the efforts inside a step, for a power that changes linearly: of the order of the method."""

    def done(t: Any) -> Array:
        s, power = np.asarray(t, dtype=float) - x.t, float(x.tau @ x.v)
        return s * (power + 0.5 * s / (y.t - x.t) * (float(y.tau @ y.v) - power))

    return done


class Newmark(ImplicitMethod):
    """``"newmark"``: fixed steps ``dt``; ``beta`` from 1/4 and ``gamma`` from 1/2 on are stable for any step. Order 2
    for gamma = 1/2, else 1."""

    name = "newmark"
    options = ("dt", "beta", "gamma")

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        self.formulas = Formulas(beta=options.get("beta", 0.25), gamma=options.get("gamma", 0.5))
        for name, value in (("beta", self.formulas.beta), ("gamma", self.formulas.gamma)):
            if isinstance(value, bool) or not isinstance(value, float | int) or not 0.0 < value <= 1.0:
                raise GyrostatError(
                    f"simulate: newmark: {name} must be in (0, 1], got {clipped(value)}. Hint: leave it out"
                )


class Trapezoid(ImplicitMethod):
    """``"trapezoid"``: the trapezoidal rule for q' = v, v' = a, p' = f; Newmark's method with 1/4 and 1/2."""

    name = "trapezoid"
