"""What a run keeps: its samples and events, and the work of the efforts."""

from __future__ import annotations

import time
from collections.abc import Mapping
from itertools import accumulate, pairwise
from typing import Any, Protocol

import numpy as np

from gyrostat.algorithms.constrained.constraint_set import Active
from gyrostat.simulate.constraints.contact_transitions import ContactHistory
from gyrostat.simulate.events.event_record import Happened
from gyrostat.simulate.methods.method import Step
from gyrostat.simulate.plant.harvest import Harvest
from gyrostat.simulate.plant.later_outputs import LaterOutputs
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.results.contact_samples import LaterForces, sampled_forces
from gyrostat.simulate.results.result import Counted, Result
from gyrostat.simulate.results.sensitivity import Sensitivity
from gyrostat.simulate.results.step_contacts import StepContacts
from gyrostat.solvers.machinery.wrench import Wrench
from gyrostat.spec.model import Model

Array = np.ndarray
GAUSS = np.polynomial.legendre.leggauss(4)


class Follower(Protocol):
    """Somebody who goes along with the accepted steps of a run."""

    def start(self, t: float, q: Array, v: Array, p: Array) -> None:
        """The run begins at a state."""
        ...

    def follow(self, rows: Array) -> None:
        """Steps, whose ends are rows (t, q, v, p, ...)."""
        ...

    def cut(self, row: Array, t: float) -> None:
        """A step to a row that an event at t has ended."""
        ...

    def reached(self) -> None:
        """A sample at the end of the last step."""
        ...

    def result(self, count: int) -> dict[str, Sensitivity]:
        """What was found, for the first ``count`` samples."""
        ...


class Recorder:
    """Samples of a run: at ``t_eval``, or at the end of every step. ``harvest``: what compiled steps hand over;
    ``follower``: who goes along with the steps, and sees them before they are kept."""

    def __init__(
        self,
        plant: Plant,
        t_eval: Array | None,
        method: str,
        model: Model | None = None,
        follower: Follower | None = None,
    ):
        self.plant, self.t_eval, self.method = plant, t_eval, method
        self.model = plant.model if model is None else model
        self.harvest, self.follower = Harvest(plant, t_eval, follower is not None), follower
        self._begin()

    def again(self, model: Model) -> None:
        """Another run begins; what this one has kept is in its result."""
        self.model = model
        self.harvest.again()
        self._begin()

    def _begin(self) -> None:
        self.blocks: list[Array] = []
        self.spans: list[tuple[int, float, float]] = []
        self.wrenches: list[Array] = []
        self.count = 0
        self.began = self.looked = time.perf_counter()
        self.events: list[Happened] = []
        self.phases: list[tuple[int, Model]] = [(0, self.model)]
        self.rows: list[tuple[int, Active]] = []
        self.contacts: ContactHistory | None = None
        self.step_contacts: StepContacts | None = None
        self.steps = 0

    @property
    def next(self) -> int:
        """Number of the next sample, where instants are asked for."""
        return self.harvest.next

    def start(self, t: float, q: Array, v: Array, p: Array, known: Any = None) -> None:
        """The first sample; it is there unless other instants are asked for. ``known``: what was observed there."""
        known = self.plant.observe(t, q, v, p) if known is None else known
        if self.follower is not None:
            self.follower.start(t, q, v, p)
        if self.t_eval is None or (len(self.t_eval) and self.t_eval[0] <= t):
            self.began = self.looked = time.perf_counter()
            self._keep(t, q, v, p, known[0], known[2], 0.0)

    def leave_for_later(self, wanted: bool) -> None:
        """Accelerations and efforts at the ends of steps are found when the result is asked for them, if that is
        ``wanted`` and possible: nothing that they depend on changes during the run, or is Python."""
        plant = self.plant
        python = plant.why_not_compiled or plant.model_in_python or plant.callbacks
        changes = plant.source.sample_times or plant.places or not plant.active.empty
        self.harvest.later = bool(wanted and self.t_eval is None and self.follower is None) and not (python or changes)

    def _keep(self, t: float, q: Array, v: Array, p: Array, a: Any, tau: Any, work: float) -> None:
        if a is None or tau is None:
            a, _, tau = self.plant.observe(t, q, v, p)
        row = np.concatenate([[t], q, v, p, a, tau, [work]])
        if self.t_eval is None:
            self._add(row[None])
        else:
            at = self.harvest.next
            self.harvest.samples[at] = row
            self.harvest.next = at + 1
            self._seen(at, at + 1)

    def _add(self, rows: Array) -> None:
        """Rows of the ends of steps."""
        self._clocked(len(rows))
        self._apart(rows)
        self.blocks.append(rows)
        self.count += len(rows)

    def _seen(self, first: int, last: int) -> None:
        """Samples first to last have been written."""
        if last > first:
            self._clocked(last - first)
            self._apart(self.harvest.samples[first:last])
            self.count = last

    def _clocked(self, count: int) -> None:
        """The clock when each of ``count`` rows was reached: even steps since it was looked at last."""
        now = time.perf_counter()
        self.spans.append((count, self.looked - self.began, now - self.began))
        self.looked = now

    def _apart(self, rows: Array) -> None:
        """The efforts of a sample are those of the source alone, without external wrenches."""
        if not self.plant.places:
            return
        if self.plant.law is not None:
            self.wrenches += list(self.plant.machine.applied(rows))
            return
        n, k = self.plant.nq, self.plant.nv
        for row in rows:
            q, v, p = row[1 : 1 + n], row[1 + n : 1 + n + k], row[1 + n + k : 1 + n + k + self.plant.np]
            W, row[-1 - k : -1] = self.plant.applied(float(row[0]), q, v, p)
            self.wrenches.append(np.ravel(W))

    def take(self) -> int:
        """What compiled steps have handed over: how many steps these are."""
        harvest = self.harvest
        steps, rows = harvest.take()
        if rows is not None and self.follower is not None:
            self.follower.follow(rows)
        self.steps += steps
        if rows is not None and self.t_eval is None:
            self._add(rows)
        elif self.t_eval is not None:
            self._seen(self.count, harvest.next)
        return steps

    def step(self, step: Step, end: float) -> None:
        """Samples within a step, up to its end or an event."""
        if self.follower is not None:
            row = np.concatenate([[step.t1], step.q1, step.v1, step.p1])
            self.follower.follow(row[None]) if end == step.t1 else self.follower.cut(row, end)
        self.steps += step.count
        if self.t_eval is not None:
            self._instants(step, end)
        self.harvest.work += self._work(step, end)
        if self.t_eval is None and end == step.t1 and step.kept:
            self._keep(step.t1, step.q1, step.v1, step.p1, step.a1, step.tau1, self.harvest.work)

    def _instants(self, step: Step, end: float) -> None:
        asked, first = self.t_eval, self.next
        last = first if asked is None else int(np.searchsorted(asked, end, side="right"))
        if asked is None or last <= first:
            return
        times = asked[first:last]
        works = [self._work(step, t) for t in times.tolist()] if step.work is None else step.work(times).tolist()
        for t, q, v, p, work in zip(times.tolist(), *step.dense(times), works, strict=True):
            work = self.harvest.work + work
            if t == step.t1:
                self._keep(t, step.q1, step.v1, step.p1, step.a1, step.tau1, work)
            else:
                self._keep(t, q, v, p, None, None, work)

    def reached(self, t: float, q: Array, v: Array, p: Array) -> None:
        """An instant that is so close that there is no step to it."""
        if self.t_eval is not None and self.next < len(self.t_eval) and self.t_eval[self.next] <= t:
            self._keep(t, q, v, p, None, None, self.harvest.work)
            if self.follower is not None:
                self.follower.reached()

    def state(self, t: float, q: Array, v: Array, p: Array) -> None:
        """The state before or after an event, where every step is kept."""
        if self.t_eval is None:
            self._keep(t, q, v, p, None, None, self.harvest.work)

    def change(self, model: Model) -> None:
        """Another model from here on."""
        self.phases.append((self.count, model))

    def active_rows(self, active: Active) -> None:
        """Rows that are active from here on."""
        if active.contacts is not None and (not self.rows or self.rows[-1][1] is not active):
            self.rows.append((self.count, active))

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
        W = np.array(self.wrenches).reshape(self.count, len(self.plant.places), 6)
        return {x.port: Wrench(W[:, k], x.expressed_in) for k, x in enumerate(self.plant.places)}

    def _contact_forces(self, rows: Array) -> Mapping[str, Array]:
        """(T, 3) by contact; found when they are asked for, unless the model was changed on the way."""
        if self.step_contacts is not None:
            self.contacts = self.step_contacts.history
            return self.step_contacts.forces(rows[:, 0])
        if self.contacts is None:
            return {}
        names, spans, wrenches = self.contacts.names, tuple(self.rows), tuple(self.wrenches)
        rows = rows.copy()
        later = LaterForces(names, lambda: sampled_forces(self.plant, names, rows, spans, wrenches))
        return later if len(self.phases) == 1 else {name: later[name] for name in names}

    def _contact_moments(self, rows: Array) -> dict[str, Array]:
        return {} if self.step_contacts is None else self.step_contacts.moments(rows[:, 0])

    def result(self, status: str, message: str, counted: Counted, settings: dict[str, Any]) -> Result:
        """All that was kept."""
        n, k = self.plant.nq, self.plant.nv
        if self.t_eval is None:
            rows = np.concatenate(self.blocks) if self.blocks else np.zeros((0, self.harvest.width))
        else:
            rows = self.harvest.samples[: self.count]
        wall = np.concatenate([np.zeros(0), *(np.linspace(a, b, count + 1)[1:] for count, a, b in self.spans)])
        ends = accumulate((1, n, k, self.plant.np, k, k))
        q, v, p, a, tau = (slice(i, j) for i, j in pairwise(ends))
        motion = (rows[:, part].copy() for part in (q, v))
        later = LaterOutputs(self.plant.machine, rows) if self.harvest.later else None
        outputs: list[Any] = [rows[:, part].copy() if later is None else later for part in (a, tau)]
        return Result(
            self.model,
            *(rows[:, 0].copy(), *motion, *outputs, rows[:, p].copy(), rows[:, -1].copy(), wall),
            events=tuple(sorted(self.events, key=lambda x: x.t)),
            counters=counted,
            status=status,
            message=message,
            method=self.method,
            settings=settings,
            phases=tuple(self.phases),
            wrenches=self._wrenches(),
            contact_forces=self._contact_forces(rows),
            contact_moments=self._contact_moments(rows),
            impulses=() if self.contacts is None else tuple(self.contacts.impulses),
            contact_phases=()
            if self.contacts is None
            else self.contacts.phases(float(rows[-1, 0]) if len(rows) else 0.0),
            sensitivities={} if self.follower is None else self.follower.result(self.count),
        )
