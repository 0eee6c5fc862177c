"""The implicit method of AS 2.1: Newmark (5), one Newton-Euler pass and one Newton step (6) a step, with a matrix S that
is kept until convergence slows.

    S = (0.9 dH/da + h/2 dH/dv + h^2/4 dH/dq)^-1 at an earlier instant t*                              (7)

Steps are done in machine code, some tens at a time. After such a series one more pass tells how much a second Newton
step would still change, and the mass matrix how much S is off in any direction; beyond some limits S is computed anew,
and far beyond them the series is repeated with a new S.

Two numbers differ from AS. The factor of dH/dv is h/2, as it follows from (5); AS prints h. And a tenth of the mass
matrix is left out: see BIAS."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError, clipped, nearest
from gyrostat.simulate.dina_step import PARTS, Parts, compiled_steps, one_step
from gyrostat.simulate.methods.generalised_alpha import formulas
from gyrostat.simulate.methods.method import Step, StepFailure
from gyrostat.simulate.methods.newmark import ImplicitMethod, State, between, work
from gyrostat.simulate.plant import Plant
from gyrostat.solvers.functions import crba

Array = np.ndarray
BIAS = 0.1
"""Share of the mass matrix that is left out of S^-1. One Newton step with a matrix that is too large makes undamped
vibrations grow, by up to 5 % a step where it is off by 5 %; with one that is too small by up to a quarter it does not."""
LEAST, MOST = -0.005, 0.3
"""Relative error of S^-1, by the present mass matrix, in any direction, within which S serves."""
SLOW = 0.5
"""Ratio of a second Newton step to the first up to which S serves."""
AGAIN = 3.0
"""Excess over these limits that makes a series be repeated."""
FIRST, LONGEST = 8, 256
"""Steps in one series: with a new S, and at most."""
ROUNDING = 1e-13
"""Change of q, relative to one plus its size, that is rounding."""
STORED = ("q", "v", "p", "a", "w", "f")
MATRICES = ("exact", "springs", "diagonal")


class Dina(ImplicitMethod):
    """``"dina"``: fixed steps ``dt``. ``matrix``: ``"exact"`` (7); ``"springs"`` (8), (9): of dH/dq and dH/dv only what
    a robot at rest has, stiffness, damping and weight; ``"diagonal"``: the diagonal of that, for weakly coupled
    coordinates. ``iterations`` of Newton in each step, 1 by default.

    ``statistics``: ``factorisations``; ``steps_per_factorisation`` on average and ``longest_service`` of one;
    ``repeated`` series; ``newton_fallbacks``: steps that needed Newton's method to its end."""

    name = "dina"
    options = ("dt", "matrix", "iterations", "rho_inf")

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        self.formulas = formulas(options.get("rho_inf", 1.0), self.name)
        self.kind, self.iterations = options.get("matrix", "exact"), options.get("iterations", 1)
        if self.kind not in MATRICES:
            raise GyrostatError(f"simulate: dina: there is no matrix {self.kind!r}. Hint: {nearest(str(self.kind), MATRICES)}")
        if isinstance(self.iterations, bool) or self.iterations not in (1, 3, 5):
            raise GyrostatError(
                f"simulate: dina: iterations must be 1, 3 or 5, got {clipped(self.iterations)}. "
                "Hint: with an even number undamped vibrations grow"
            )
        self.statistics |= {"steps_per_factorisation": 0.0, "longest_service": 0, "repeated": 0, "newton_fallbacks": 0}
        self._S: Array | None = None
        self._compiled: Any = None
        self._served = self._steps = 0
        self._length = FIRST
        self._series: list[State] = []

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().prepare(t, q, v, p)
        if not self.plant.why_not_compiled:
            self._loop().code  # noqa: B018

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().start(t, q, v, p)
        self._series, self._length = [], FIRST
        self._before: Array | None = None
        if self.__dict__.get("_model") is not self.plant.model:
            self._model, self._compiled, self._S = self.plant.model, None, None

    def step(self, t_limit: float) -> Step:
        try:
            if self._begin is not None:
                self.state, self._begin = self._first(*self._begin), None
            if not self._series or self._series[0].t > t_limit:
                self._series = self._ahead(t_limit)
        except NonFiniteError as error:
            raise StepFailure(str(error), hint="a smaller dt, or look at the efforts there") from error
        before, now = self.state, self._series.pop(0)
        self._before, self.state = before.a, now
        self._steps += 1
        self.statistics["steps_per_factorisation"] = self._steps / max(1, self.statistics["factorisations"])
        return Step(before.t, now.t, now.q, now.v, now.p, now.a, now.tau, between(self.plant, before, now), work(before, now))

    # ------------------------------------------------------------------ series of steps
    def _ahead(self, t_limit: float) -> list[State]:
        """The next states, at least one, none beyond the limit."""
        count = self.clock.count
        while True:
            self.clock.count = count
            times = self._instants(t_limit)
            h, dt = times[0] - self.state.t, self.clock.dt
            h = dt if abs(h - dt) <= 1e-6 * dt else h  # instants are rounded
            fresh = self._S is None or self._h != h
            if fresh:
                self._renew(h)
            try:
                series = self._run(times)
                slowness = self._slowness(series)
            except NonFiniteError:
                if fresh and len(times) == 1:
                    raise
                series, slowness = [], np.inf
            if slowness <= AGAIN:
                self._serve(slowness, len(times))
                return series
            self._S = None
            if fresh and len(times) == 1:
                self.statistics["newton_fallbacks"] += 1
                return [self._solved(self.state, times[0])]
            self.statistics["repeated"] += 1
            self._length = max(1, len(times) // 4) if fresh else min(FIRST, len(times))

    def _serve(self, slowness: float, steps: int) -> None:
        """Whether S serves on; series become longer by half, as errors grow with the way from where S was made."""
        self._served += steps
        self.statistics["longest_service"] = max(self.statistics["longest_service"], self._served)
        if slowness > 1.0:
            self._S, self._length = None, FIRST
        else:
            self._length = max(FIRST // 2, min(LONGEST, self._served // 2))

    def _instants(self, t_limit: float) -> list[float]:
        """Ends of the next steps, all of one length; a last one that the limit cuts comes alone."""
        clock, found = self.clock, [self.clock.next(t_limit)]
        while len(found) < self._length and clock.origin + (clock.count + 1) * clock.dt < t_limit - 1e-9 * clock.dt:
            found.append(clock.next(t_limit))
        return found

    def _renew(self, h: float) -> None:
        """S at the present state (7)."""
        n, A = self.plant.nv, self.matrix(self.state, h)
        M = BIAS * self._mass(self.state)
        A[:n, :n] -= M
        self._S, self._h, self._served = np.linalg.inv(A), h, 0
        self._used = (1.0 / BIAS - 1.0) * M
        self.statistics["factorisations"] += 1

    def _mass(self, now: State) -> Array:
        M = crba(self.plant.model, now.q)
        return np.diag(np.diag(M)) if self.kind == "diagonal" else M

    def matrix(self, now: State, h: float) -> Array:
        if self.kind == "exact":
            return super().matrix(now, h)
        rest = State(now.t, now.q, 0.0 * now.v, now.p, 0.0 * now.a, 0.0 * now.a, now.f, now.tau)
        A = super().matrix(rest, h)  # (8), (9)
        return np.diag(np.diag(A)) if self.kind == "diagonal" else A

    def _loop(self) -> Any:
        if self._compiled is None:
            self._compiled = compiled_steps(self.plant, self.formulas, self.iterations)
        return self._compiled

    def _run(self, times: list[float]) -> list[State]:
        """Steps to these instants with the present S."""
        x, plant = self.state, self.plant
        start = {name: getattr(x, name) for name in PARTS if name != "before"}
        start["before"] = x.a if self._before is None else self._before
        self.statistics["newton_iterations"] += len(times) * self.iterations
        if plant.why_not_compiled or plant.held:
            rows = list(self._in_python(times, start))
        else:
            plant.counters.residual_evaluations += len(times) * self.iterations
            fixed = {"S": self._S, "h": np.array(self._h), "m": plant.memory}
            bad, found = self._loop().run({"t1": np.array(times)}, start, fixed)
            if bad >= 0:
                raise NonFiniteError(f"a step to t = {times[bad]:.9g} s is not finite")
            rows = zip(*(found[f"{name}_next"][1:] for name in STORED), found["tau"], strict=True)
        return [State(t, *row) for t, row in zip(times, rows, strict=True)]

    def _in_python(self, times: list[float], start: dict[str, Array]) -> Any:
        plant, state = self.plant, dict(start)

        def residual(t: float, q: Array, v: Array, a: Array, p: Array) -> tuple[Array, Array]:
            r = plant.residual(t, q, v, a, p)
            for k in plant.held:
                r[k] = a[k]
            return r, plant.torque(t, q, v, p)[1] if plant.np else p

        parts = Parts(residual, plant.torque, plant.retract)
        for t in times:
            state = one_step(parts, self.formulas, state | {"S": self._S, "h": self._h, "t1": t}, self.iterations)
            if not np.isfinite(state["a"]).all():
                raise NonFiniteError(f"a step to t = {t:.9g} s is not finite")
            yield *(state[name] for name in STORED), state["tau"]

    def _slowness(self, series: list[State]) -> float:
        """How far S is off at the end of a series: 1 at the limits for its use."""
        now, before = series[-1], series[-2] if len(series) > 1 else self.state
        earlier = series[-3].a if len(series) > 2 else self.state.a if len(series) > 1 else self._before
        guess = before.a if earlier is None else 2.0 * before.a - earlier
        n, h = self.plant.nv, self._h
        rest, first = np.abs((self._S @ self._residual(before, now))[:n]), np.max(np.abs(now.a - guess))
        found = 0.0
        if first and np.any(h * h / 4.0 * rest > ROUNDING * (1.0 + np.abs(now.v) * h)):
            found = float(np.max(rest) / first) / SLOW
        if self.kind == "diagonal":
            return found
        error = np.linalg.eigvals(self._S[:n, :n] @ (self._mass(now) - self._used)).real
        return max(found, float(error.min()) / LEAST, float(error.max()) / MOST)
