"""The implicit method of AS 2.1: Newmark (5) and Newton's method (6) on one Newton-Euler pass, with a matrix S that is
kept until convergence slows.

    S = (0.87 dH/da + h/2 dH/dv + h^2/4 dH/dq)^-1 at the middle of the way that it serves               (7)

Steps are done in machine code, some tens at a time. A step is accepted by its residual, most after one Newton step;
otherwise Newton goes on with S, without the 0.87; otherwise S is computed anew; otherwise the step is done by Newton's
method to its end, and halved if there is none. S is computed anew as well when Newton's method slows down, and when the
mass matrix has changed too much in any direction.

Two numbers differ from AS. The factor of dH/dv is h/2, as it follows from (5); AS prints h. And a part of the mass
matrix is left out: see :mod:`gyrostat.simulate.methods.dina.matrix`. What AS prints is in
:mod:`gyrostat.simulate.methods.dina.printed`."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, NonFiniteError, clipped, nearest
from gyrostat.simulate.methods.dina.matrix import BIAS, KeptMatrix, change_of_mass
from gyrostat.simulate.methods.dina.printed import PrintedScheme, printed_scheme
from gyrostat.simulate.methods.dina.series import Series, between_rows, work_of_rows
from gyrostat.simulate.methods.dina.step import PARTS, TRIES, Parts, Passes, passes_in_python, predicted
from gyrostat.simulate.methods.generalised_alpha import formulas
from gyrostat.simulate.methods.method import Step, StepFailure
from gyrostat.simulate.methods.newmark import ImplicitMethod, State
from gyrostat.simulate.plant.plant import Plant
from gyrostat.solvers.functions import crba

Array = np.ndarray
SLOW = 0.3
"""Ratio of a Newton step to the one before it up to which S serves."""
STRETCH = 0.7
"""Part of what S can bear that is used up by the middle of the way which it is made for."""
LEAST_STEPS, FIRST, LONGEST = 4, 16, 256
"""Steps in one series: at least, in the first one, and at most."""
OFTEN = 10
"""Steps after which events are looked for, or a state is kept."""
ROUNDING = 1e-13
"""Change of q, relative to one plus its size, that is rounding."""
PASSES = 4 * LONGEST
"""Newton-Euler passes at a time, at most."""
MATRICES = ("exact", "springs", "diagonal")


class Dina(ImplicitMethod):
    """``"dina"``: fixed steps ``dt``, of which ``every`` are one step of the run: events are looked for and, without
    ``t_eval``, states are kept that often; 10 by default, and as many as possible where neither matters. ``matrix``:
    ``"exact"`` (7); ``"springs"`` (8), (9): of dH/dq and dH/dv only what a robot at rest has, stiffness, damping and
    weight; ``"diagonal"``: the diagonal of that, for weakly coupled coordinates. ``iterations`` of Newton in each step,
    at least: 1 (default), 3 or 5. ``rtol``: residual of a step, relative to its forces, that is accepted. ``rho_inf``
    below 1 damps fast vibrations, by the formulas of generalised-alpha in the place of (5). ``scheme``: ``"checked"``
    (default), or AS (6) without any check: ``"predicted"``, ``"printed"``.

    ``statistics``: ``steps`` of dt, ``factorisations``, ``steps_per_factorisation`` on average, ``longest_service`` of
    one; series ``repeated`` with a new S; ``newton_fallbacks``: steps that needed Newton's method to its end; steps
    that were ``halved``."""

    name = "dina"
    options = ("dt", "matrix", "iterations", "rho_inf", "every", "scheme")

    def __init__(self, plant: Plant, rtol: float = 1e-6, atol: float = 1e-9, max_step: float = np.inf, **options: Any):
        super().__init__(plant, rtol, atol, max_step, **options)
        self.formulas = formulas(options.get("rho_inf", 1.0), self.name)
        self.kind, self.iterations = options.get("matrix", "exact"), options.get("iterations", 1)
        self.every = options.get("every")
        if self.kind not in MATRICES:
            raise GyrostatError(
                f"simulate: dina: there is no matrix {self.kind!r}. Hint: {nearest(str(self.kind), MATRICES)}"
            )
        if isinstance(self.iterations, bool) or self.iterations not in (1, 3, 5):
            raise GyrostatError(
                f"simulate: dina: iterations must be 1, 3 or 5, got {clipped(self.iterations)}. "
                "Hint: with an even number undamped vibrations grow"
            )
        if self.every is not None and (
            isinstance(self.every, bool) or not isinstance(self.every, int) or self.every < 1
        ):
            raise GyrostatError(f"simulate: dina: every must be a whole number from 1 on, got {clipped(self.every)}")
        given = (self.iterations, options.get("rho_inf", 1.0), self.kind)
        self._printed = printed_scheme(plant, options.get("scheme", "checked"), *given)
        told = ("steps", "steps_per_factorisation", "longest_service", "repeated", "newton_fallbacks")
        self.statistics |= dict.fromkeys(told, 0)
        self._kept: KeptMatrix | None = None
        self._passes: Passes | None = None
        self._each = self.iterations + 1.0
        self._model, self._recording = plant.model, None
        self._length, self._span = FIRST, 0.0
        self._series: Series | None = None

    def prepare(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().prepare(t, q, v, p)
        crba(self.plant.model, q)
        if not self.plant.why_not_compiled and self._printed is None:
            machine = self._machine()
            machine.loop.advance(machine.arrays, 0, 0)

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        super().start(t, q, v, p)
        self._series, self._length = None, FIRST
        self._before: Array | None = None
        if self._model is not self.plant.model or self._recording not in (None, self.plant.recording):
            self._model, self._passes, self._kept = self.plant.model, None, None
        self._recording = self.plant.recording
        if self._printed is not None:
            self._printed.restart()

    def step(self, t_limit: float) -> Step:
        try:
            if self._begin is not None:
                self.state, self._begin = self._first(*self._begin), None
            if self._series is not None and self._series.times[1] > t_limit:  # a nearer limit than before
                self.clock.restart(self.state.t)
                self._series = None
            series = self._series or self._gathered(t_limit)
        except NonFiniteError as error:
            raise StepFailure(str(error), error.dof, "a smaller dt, or look at the efforts there") from error
        now, rest = series.cut(self.every or (OFTEN if self.watched else LONGEST), t_limit)
        self._series, self.state, self._before = rest, now.state(-1), now["before"][-1]
        self.statistics["steps"] += len(now) - 1
        self.statistics["steps_per_factorisation"] = self.statistics["steps"] / max(
            1, self.statistics["factorisations"]
        )
        x = self.state
        ends = float(now.times[0]), x.t
        return Step(*ends, x.q, x.v, x.p, x.a, x.tau, between_rows(self.plant, now), work_of_rows(now), len(now) - 1)

    # ------------------------------------------------------------------ series of steps
    def _gathered(self, t_limit: float) -> Series:
        """The next states: one series, or some of them where nobody looks at what is between."""
        series = [self._ahead(t_limit)]
        alone = self.watched or self.every is not None or bool(self.plant.why_not_compiled)
        while not alone and series[-1].times[-1] < t_limit and sum(len(x) for x in series) < LONGEST:
            self.state, self._before = series[-1].state(-1), series[-1]["before"][-1]
            try:
                series.append(self._ahead(t_limit))
            except (NonFiniteError, StepFailure):  # comes again from this state, after what was found is kept
                break
        return series[0] if len(series) == 1 else Series.joined(series)

    def _ahead(self, t_limit: float) -> Series:
        """The next states, at least one, none beyond the limit: with the present S, else with a new one, else one step
        by Newton's method to its end."""
        if self._printed is not None:
            return self._as_printed(self._printed, t_limit)
        if not self.plant.active.empty or self._longest < np.inf:
            return self._alone(t_limit)  # constraints are fulfilled exactly; or the rest of a step that was halved
        h = self.clock.length(self.state.t, t_limit)
        fresh = self._kept is None or self._kept.h != h
        kept = self._kept = self._made(h) if self._kept is None or fresh else self._kept
        series = self._converged(self._instants(t_limit), kept)
        if series is not None:
            self._serve(max(self._used(series, kept), self._slowness(series, kept)), len(series) - 1, kept)
            self.clock.reached(float(series.times[-1]))
            return series
        self._kept = None
        if not fresh:
            self.statistics["repeated"] += 1
            return self._ahead(t_limit)
        self.statistics["newton_fallbacks"] += 1
        return self._alone(t_limit)

    def _alone(self, t_limit: float) -> Series:
        """One step by Newton's method to its end, or a part of it."""
        x = self.state
        y = self._reached(x, t_limit)
        series = Series.of(x, y)
        if self._longest < np.inf or abs(y.t - x.t - self.clock.dt) > 1e-6 * self.clock.dt:
            series.rows["before"][-1] = y.a  # steps of different lengths: nothing to go by
        return series

    def _as_printed(self, scheme: PrintedScheme, t_limit: float) -> Series:
        """One step of AS (6)."""
        y = scheme.step(self.state, self.clock.next(t_limit))
        self.clock.reached(y.t)
        self.statistics |= {"factorisations": scheme.made, "largest_residual": scheme.largest}
        return Series.of(self.state, y)

    def _serve(self, slowness: float, steps: int, kept: KeptMatrix) -> None:
        """Whether S serves on, and for how long: its error grows with the way."""
        kept.served += steps
        self.statistics["longest_service"] = max(self.statistics["longest_service"], kept.served)
        rate = 1.7 * max(kept.start + slowness, 0.1) / kept.served
        self._length = min(LONGEST, max(1, int((0.95 - min(slowness, 1.0)) / rate)))
        if slowness > 0.9:
            self._kept = None

    def _instants(self, t_limit: float) -> list[float]:
        """Ends of the next steps, all of one length; a last one that the limit cuts comes alone."""
        clock, first = self.clock, self.clock.next(t_limit)
        more = clock.origin + (clock.count + np.arange(2, self._length + 1)) * clock.dt
        return [first, *more[more < t_limit - 1e-9 * clock.dt].tolist()]

    def _made(self, h: float) -> KeptMatrix:
        """S (7) for the next stretch of the way: made at its middle, so that it serves twice as long."""
        x, M = self.state, self._mass(self.state.q)
        span = self._span = self._stretch(M, h)
        while True:
            q = self.plant.retract(x.q, 0.5 * span * x.v)
            middle = State(x.t, q, x.v, x.p, x.a, x.w, x.f, x.tau)
            kept = KeptMatrix(self._kept_matrix(middle, h), self._mass(q), h)
            self.statistics["factorisations"] += 1
            kept.start, kept.q = kept.used(M), q
            if not span or kept.start < 1.0:
                break
            span = self._span = 0.0
        self._length = max(1, int(0.9 * span / h)) if span else LEAST_STEPS
        return kept

    def _stretch(self, M: Array, h: float) -> float:
        """Time [s] in which the mass matrix changes by what S can bear, at the present rates."""
        if self.kind == "diagonal":
            return 0.0
        span = min(max(2.0 * self._span, 2 * FIRST * h), LONGEST * h)
        for _ in range(3):
            change = change_of_mass(M, self._mass(self.plant.retract(self.state.q, 0.5 * span * self.state.v)))
            if change <= 1.2 * STRETCH * BIAS:
                break
            span *= STRETCH * BIAS / change
        return span

    def _mass(self, q: Array) -> Array:
        M = crba(self.plant.model, q)
        return np.diag(np.diag(M)) if self.kind == "diagonal" else M

    def _kept_matrix(self, now: State, h: float) -> Array:
        """What S is the inverse of; Newton's method to its end has the whole matrix always."""
        if self.kind == "exact":
            return self.matrix(now, h).A
        rest = State(now.t, now.q, 0.0 * now.v, now.p, 0.0 * now.a, 0.0 * now.a, now.f, now.tau)
        A = self.matrix(rest, h).A  # (8), (9)
        return np.diag(np.diag(A)) if self.kind == "diagonal" else A

    def _machine(self) -> Passes:
        if self._passes is None:
            self._passes = Passes(self.plant, self.formulas, self.iterations, PASSES)
        return self._passes

    def _run(self, times: list[float], kept: KeptMatrix) -> Series | None:
        """Steps to these instants with the present S, up to the first one that is not accepted; None if that is the
        first one."""
        x, plant = self.state, self.plant
        start = {name: getattr(x, name) for name in PARTS if name != "before"}
        start["before"] = x.a if self._before is None else self._before
        given = start | predicted(start, kept.h) | {"step": 0.0}
        forces = kept.forces
        fixed: dict[str, Any] = {"S": kept.S, "whole": kept.whole, "mass": forces.mass, "slopes": forces.slopes}
        fixed |= {"h": kept.h, "t0": x.t, "last": float(len(times)), "share": self.share, "m": plant.memory}
        fixed["directions"] = plant.active.directions
        count = int(len(times) * self._each) + TRIES + 2
        before = plant.counters.residual_evaluations
        if plant.why_not_compiled:
            rows, passes = passes_in_python(self._parts(), self.formulas, self.iterations, given, fixed, count)
        else:
            rows, passes = self._machine().run(given, fixed, count)
        plant.counters.residual_evaluations = before + passes
        steps = len(rows["done"])
        self.statistics["newton_iterations"] += passes - steps
        if not steps:
            return None
        self._each = passes / steps + 1.0
        first = start | {"tau": x.tau, "residual": np.zeros(plant.nv + plant.np), "tried": 0.0}
        return Series(
            np.array([x.t, *times[:steps]]), {name: np.concatenate([[first[name]], rows[name]]) for name in first}
        )

    def _parts(self) -> Parts:
        """A pass in Python."""
        plant = self.plant

        def residual(t: float, q: Array, v: Array, a: Array, p: Array) -> tuple[Array, Array, Array]:
            return plant.residual(t, q, v, a, p), *plant.torque(t, q, v, p)

        return Parts(residual, plant.retract)

    def _converged(self, times: list[float], kept: KeptMatrix) -> Series | None:
        """Steps to these instants that are accepted, if the first one is."""
        try:
            return self._run(times, kept)
        except NonFiniteError:
            return None

    def _slowness(self, series: Series, kept: KeptMatrix) -> float:
        """How slowly Newton's method converges, a Newton step relative to the one before it: 1 at the limit of S. What
        is rounding does not count."""
        h, a, v = kept.h, series["a"], series["v"]
        rest = np.abs(series["residual"][1:] @ kept.S[: a.shape[1]].T)
        first = np.max(np.abs(a[1:] - (2.0 * a[:-1] - series["before"][:-1])), axis=1)
        matters = np.any(h * h / 4.0 * rest > ROUNDING * (1.0 + np.abs(v[1:]) * h), axis=1)
        ratio = np.max(rest, axis=1) / np.maximum(first, 1e-300)
        return float(np.max(np.where(matters, ratio ** (1.0 / np.maximum(series["tried"][1:], 1.0)), 0.0))) / SLOW

    def _used(self, series: Series, kept: KeptMatrix) -> float:
        """How far the mass matrix goes in a series: 1 at the limits of S."""
        return 0.0 if self.kind == "diagonal" else kept.used(self._mass(self._extremes(series, kept)))

    def _extremes(self, series: Series, kept: KeptMatrix) -> Array:
        """Configurations (k, nq) of a series, the last one among them, that are farthest from where S was made: the
        mass matrix may leave its limits and come back."""
        q = series["q"][1:]
        rows = {len(q) - 1, *np.argmax(np.abs(q - kept.q), axis=0).tolist(), *range(len(q) - 1, 0, -len(q) // 4)}
        return q[sorted(rows)]
