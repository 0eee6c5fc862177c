"""What a run keeps: its samples and events, and the work of the efforts."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from gyrostat.simulate.events.event_record import Happened
from gyrostat.simulate.methods.method import Step
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.results.result import Counted, Result
from gyrostat.solvers.machinery.wrench import Wrench
from gyrostat.spec.model import Model

Array = np.ndarray
GAUSS = np.polynomial.legendre.leggauss(4)


class Recorder:
    """Samples of a run: at ``t_eval``, or at the end of every step."""

    def __init__(self, plant: Plant, t_eval: Array | None, method: str):
        self.plant, self.t_eval, self.method = plant, t_eval, method
        self.model = plant.model
        self.rows: list[tuple[float, Array, Array, Array, Array, Array, float, float]] = []
        self.wrenches: list[Array] = []
        self.began = time.perf_counter()
        self.events: list[Happened] = []
        self.phases: list[tuple[int, Model]] = [(0, plant.model)]
        self.work, self.next, self.steps = 0.0, 0, 0

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        """The first sample; it is there unless other instants are asked for."""
        known = self.plant.observe(t, q, v, p)
        if self.t_eval is None or (len(self.t_eval) and self.t_eval[0] <= t):
            self.next = 1
            self.began = time.perf_counter()
            self._keep(t, q, v, p, known[0], known[2], 0.0)

    def _keep(self, t: float, q: Array, v: Array, p: Array, a: Any, tau: Any, work: float) -> None:
        if a is None or tau is None:
            a, _, tau = self.plant.observe(t, q, v, p)
        if self.plant.places:  # the efforts of a sample are those of the source alone
            W, tau = self.plant.applied(t, q, v, p)
            self.wrenches.append(W)
        self.rows.append((t, q, v, p, a, tau, work, time.perf_counter() - self.began))

    def step(self, step: Step, end: float) -> None:
        """Samples within a step, up to its end or an event."""
        self.steps += step.count
        if self.t_eval is not None:
            self._instants(step, end)
        self.work += self._work(step, end)
        if self.t_eval is None and end == step.t1:
            self._keep(step.t1, step.q1, step.v1, step.p1, step.a1, step.tau1, self.work)

    def _instants(self, step: Step, end: float) -> None:
        asked = self.t_eval
        last = self.next if asked is None else int(np.searchsorted(asked, end, side="right"))
        if asked is None or last <= self.next:
            return
        times = asked[self.next : last]
        works = [self._work(step, t) for t in times.tolist()] if step.work is None else step.work(times).tolist()
        for t, q, v, p, work in zip(times.tolist(), *step.dense(times), works, strict=True):
            work = self.work + work
            if t == step.t1:
                self._keep(t, step.q1, step.v1, step.p1, step.a1, step.tau1, work)
            else:
                self._keep(t, q, v, p, None, None, work)
        self.next = last

    def reached(self, t: float, q: Array, v: Array, p: Array) -> None:
        """An instant that is so close that there is no step to it."""
        if self.t_eval is not None and self.next < len(self.t_eval) and self.t_eval[self.next] <= t:
            self.next += 1
            self._keep(t, q, v, p, None, None, self.work)

    def state(self, t: float, q: Array, v: Array, p: Array) -> None:
        """The state before or after an event, where every step is kept."""
        if self.t_eval is None:
            self._keep(t, q, v, p, None, None, self.work)

    def change(self, model: Model) -> None:
        """Another model from here on."""
        self.phases.append((len(self.rows), model))

    def _work(self, step: Step, t: float) -> float:
        """Work [J] of the efforts since the beginning of a step; by Gauss' rule if the method does not know it."""
        if step.work is not None:
            return float(step.work(t))
        x, w = GAUSS
        half = 0.5 * (t - step.t0)
        total = 0.0
        for s, weight, q, v, p in zip(x, w, *step.dense(step.t0 + half * (1.0 + x)), strict=True):
            total += weight * float(self.plant.torque(step.t0 + half * (1.0 + s), q, v, p)[0] @ v)
        return half * total

    def _wrenches(self) -> dict[str, Wrench]:
        """By port."""
        W = np.array(self.wrenches).reshape(len(self.rows), len(self.plant.places), 6)
        return {x.port: Wrench(W[:, k], x.expressed_in) for k, x in enumerate(self.plant.places)}

    def result(self, status: str, message: str, counted: Counted, settings: dict[str, Any]) -> Result:
        """All that was kept."""
        n, k = self.plant.nq, self.plant.nv
        sizes = (0, n, k, self.plant.np, k, k, 0, 0)
        columns = list(zip(*self.rows, strict=True)) if self.rows else [()] * len(sizes)
        t, q, v, p, a, tau, work, wall = (
            np.array(column, dtype=float).reshape((len(self.rows), *([size] if size or at == 3 else [])))
            for at, (column, size) in enumerate(zip(columns, sizes, strict=True))
        )
        return Result(
            self.model,
            *(t, q, v, a, tau, p, work, wall),
            events=tuple(self.events),
            counters=counted,
            status=status,
            message=message,
            method=self.method,
            settings=settings,
            phases=tuple(self.phases),
            wrenches=self._wrenches(),
        )
