"""The loop of a run: step after step, cut by events and sampling instants, until its end."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError, PerformanceWarning, StateError
from gyrostat.simulate.constraints.contact_reach import contact_reach
from gyrostat.simulate.constraints.transitions import Transitions
from gyrostat.simulate.events.crossings import Hit, hits
from gyrostat.simulate.events.event import event_memory
from gyrostat.simulate.events.event_record import Happened
from gyrostat.simulate.events.guards import Guards
from gyrostat.simulate.events.watches import Watches
from gyrostat.simulate.methods import Method, StepFailure
from gyrostat.simulate.methods.drivers.fixed_clock import DT
from gyrostat.simulate.methods.method import Step
from gyrostat.simulate.methods.moreau import Moreau
from gyrostat.simulate.methods.runge_kutta import FixedRungeKutta
from gyrostat.simulate.methods.semi_implicit_euler import SemiImplicitEuler
from gyrostat.simulate.plant.parameters import Parameters
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.plant_loops import WORKSPACE, left_workspace
from gyrostat.simulate.results.recorder import Recorder
from gyrostat.simulate.results.result import Counted, Result
from gyrostat.simulate.results.step_contacts import StepContacts
from gyrostat.simulate.run.failure import failed
from gyrostat.simulate.run.runaway import Runaway
from gyrostat.simulate.run.settings import given_events
from gyrostat.simulate.run.stable_steps import expect_stable_moreau_steps, expect_stable_steps
from gyrostat.simulate.sensitivity.refusals import cut_by
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
AGAIN = 1e-9
"""Time [s] between two events of one kind that is no progress."""
OFTEN = 100
"""How often that may happen."""
LOOKS = 250
"""Steps at least, of the whole run, while contacts are closed: nothing else makes a method look at a body at rest."""
FINISHED = "finished", ""
State = tuple[float, Array, Array, Array]
_log = logging.getLogger("gyrostat")


def no_progress(t: float, h: float) -> None:
    """Nobody is told."""


def interrupted(t: float, t_end: float) -> tuple[str, str]:
    """Status and message of a run that Ctrl-C has ended at t [s]."""
    message = f"interrupted at t = {t:g} s of {t_end:g} s"
    _log.warning("%s: %s; the result holds what was computed", WHO, message)
    return "interrupted", message


class Run:
    """One run: a plant, a method, and what is watched along the way. It is the :class:`RunState` of events."""

    def __init__(
        self, plant: Plant, method: Method, recorder: Recorder, events: Any, settings: dict[str, Any], t_end: float
    ):
        self.plant, self.method, self.recorder = plant, method, recorder
        users, constraints = given_events(events)
        law = settings.get("impact", "poisson")
        self.event_memories = [] if plant.asked_for_python else [event_memory(event, plant.model) for event in users]
        self.transitions = Transitions(plant, constraints, None if method.treats_contacts else law)
        method.take_constraints(constraints)
        self.watches = Watches(self.transitions, users)
        self.guards = Guards(plant, recorder.harvest)
        self.before: Run | None = None
        self.asked(settings, t_end)
        self._at_the_start()

    def asked(self, settings: dict[str, Any], t_end: float) -> None:
        """What its result says of the settings, which hold its start, and its end [s]."""
        self.settings, self.t_end = settings, t_end
        self.recorder.harvest.t_end[0] = t_end

    def _at_the_start(self) -> None:
        t0 = self.settings["t_start"]
        self.state: State = (t0, np.zeros(0), np.zeros(0), np.zeros(0))
        self.just_happened, self.often, self.last_event = False, 0, -np.inf
        self.successor: tuple[Model, Array, Array] | None = None
        self.built, self.steps_until_looked = 0.0, 1
        self.due: list[float] = []
        times = self.plant.source.sample_times
        self.instants = {T: int(np.floor(t0 / T + 1e-9)) + 1 for T in times}  # the next multiples
        self.runaway = Runaway(t0, self.t_end, self.method.adaptive)

    def again(self, parameters: Parameters, model: Model) -> None:
        """Once more from the start, in the same memory, with other parameters, which make ``model`` of the plant's. For
        runs without events and constraints; the method has been rewound."""
        self.plant.again(parameters)
        self.recorder.again(model)
        self._at_the_start()

    # ------------------------------------------------------------------ the whole of it
    def go(self, t: float, q: Array, v: Array, progress: Any, start: float, warn: bool = True) -> Result:
        """Run to the end, or until something ends it. ``warn``: of a source that is not compiled."""
        plant = self.plant
        told = self._begin(t, q, v, warn)
        self.built, self.began = time.perf_counter() - start, time.perf_counter()
        self.recorder.began = self.began
        status, message = FINISHED
        self.method.keeps_records = True
        try:
            self.method.start(*self.state)
            while self.t < self.t_end and status == "finished":
                status, message = self._advance(progress)
            self.expect_no_memory()
        except KeyboardInterrupt:
            status, message = interrupted(self.t, self.t_end)
        except Exception as error:
            result = partial(self._result, "failed")
            raise failed(error, plant, self.state, self.t_end, self.settings["dt"], result) from error
        finally:
            progress.close()
        if warn and not told and plant.falls_back:  # on the way
            warnings.warn(f"{WHO}: {plant.falls_back}", PerformanceWarning, stacklevel=3)
        return self._result(status, message)

    def _begin(self, t: float, q: Array, v: Array, warn: bool = True) -> str:
        """The first state; what is said of a source that is not compiled."""
        plant, p = self.plant, self.plant.source.p0.copy() if self.before is None else self._taken_over(self.before)
        if plant.loops is not None:
            q, v = plant.loops.begun(q, v)
        if plant.source.sample_times and self.before is None:
            plant.sample(t, q, v, p)
        if self.before is not None:
            self.transitions.take_over(self.before.transitions)
        self.transitions.expect_inside(q)
        if words := plant.source.trouble(t, q, v, p, plant.memory):
            raise StateError(f"{WHO}: at the start {words}")
        try:
            known = plant.observe(t, q, v, p)  # compiles; what is wrong with the torque comes out as it is
        except NonFiniteError:
            plant.torque(t, q, v, p)  # knows who is to blame, if it is the torque
            raise
        told = plant.falls_back
        if warn and told:
            warnings.warn(f"{WHO}: {told}", PerformanceWarning, stacklevel=4)
        if isinstance(self.method, FixedRungeKutta | SemiImplicitEuler):
            table = self.method.table if isinstance(self.method, FixedRungeKutta) else None
            expect_stable_steps(plant.model, q, abs(self.method.ctl[DT]), table, WHO)
        if isinstance(self.method, Moreau):
            expect_stable_moreau_steps(plant.model, q, self.method.ctl[DT], WHO)
        self.state = (t, q, v, p)
        self.state = (t, q, self.settle(q, v), p)
        settled = len(plant.constraints) > 0 or plant.contacts is not None
        self.recorder.start(*self.state, None if settled else known)
        self.watches.begin(*self.state)
        if self.before is not None:
            self.watches.take_over(self.before.watches, *self.state)
            self.just_happened, self.often, self.last_event = True, self.before.often, self.before.last_event
        self.runaway.start(self.v)
        if self.method.compiled:
            self.method.attach(self.recorder.harvest, self.runaway.fastest)
            self.recorder.leave_for_later(self.method.outputs_apart and not self.watches.all)
        self.method.prepare(*self.state)
        return told

    def _result(self, status: str, message: str) -> Result:
        c, m, python = self.plant.counters, self.method, self._python()
        counted = Counted(
            c.rhs_evaluations, c.residual_evaluations, c.jacobian_evaluations, c.output_evaluations,
            self.recorder.steps, m.rejected, time.perf_counter() - self.began, self.built,
            self.t - self.settings["t_start"],
            not self.plant.why_not_compiled, self._in_python(python), dict(m.statistics), python,
        )  # fmt: skip
        if m.treats_contacts:
            self.recorder.step_contacts = StepContacts(*m.contact_records(), self.settings["t_start"])
        return self.recorder.result(status, message, counted, self.settings)

    # ------------------------------------------------------------------ the state, and what events do with it
    @property
    def t(self) -> float:
        return self.state[0]

    @property
    def q(self) -> Array:
        return self.state[1]

    @property
    def v(self) -> Array:
        return self.state[2]

    @property
    def p(self) -> Array:
        return self.state[3]

    def keep(self, q: Array, v: Array) -> None:
        """Keep a sample of the state, where every step is kept."""
        self.recorder.state(self.t, q, v, self.p)

    def tell(self, name: str, kind: str, q: Array, v: Array, v_after: Array, t: float | None = None) -> None:
        """The result will tell of an event, now or at t."""
        self.recorder.events.append(Happened(self.t if t is None else t, name, kind, q, v, v_after))

    def settle(self, q: Array, v: Array) -> Array:
        """Rates after impacts; what is active from now on, and what is watched of it."""
        after, changes, contacts = self.transitions.settle(self.t, q, v, self.p)
        for name, kind in changes:
            self.tell(name, kind, q, v, after)
        for t, name, kind in contacts:
            self.tell(name, kind, q, v, after, t)
        self.recorder.active_rows(self.plant.active)
        if self.transitions.contacts is not None:
            self.recorder.contacts = self.transitions.contacts.history
        self.watches.follow_active()
        return after

    def expect_still_inside(self, q: Array, who: str) -> None:
        """Refuse a reset to q that leads beyond a constraint, or opens a loop."""
        if self.plant.loops is not None:
            self.plant.loops.expect_closed(q, f"q of the {who}", self.q)
        self.transitions.expect_still_inside(self.q, q, who)

    def change_model(self, model: Model) -> None:
        """Another model from here on, with constraints of its own."""
        self.plant.change_model(model)
        self.recorder.change(model)
        self.transitions.build()
        self.watches.build()

    def go_on_with(self, model: Model, q: Array, v: Array) -> None:
        """Another run goes on from here with a model of another structure."""
        self.successor = model, q, v

    def _taken_over(self, before: Run) -> Array:
        """Own states of the torque source, and the memory of digital parts, as the run before has left them."""
        plant, p, memory = self.plant, before.p, before.plant.memory
        if len(p) != plant.np or len(memory) != len(plant.memory):
            raise StateError(
                f"{WHO}: the structure changes from '{before.plant.model.name}' to '{plant.model.name}', and "
                f"{plant.source.told} has {len(p)} states and {len(memory)} held values before, {plant.np} and "
                f"{len(plant.memory)} after it. Hint: blocks whose states do not depend on the number of joints"
            )
        plant.memory = memory.copy()
        return p.copy()

    # ------------------------------------------------------------------ functions of users
    def renew(self) -> None:
        """What functions read may have been changed by the reset of an event."""
        self.plant.renew()
        for memory in self.event_memories:
            memory.renewed()

    def expect_no_memory(self) -> None:
        """Functions that are called may remember something at states that they had not seen before."""
        plant = self.plant
        called = plant.user_memory if plant.why_not_compiled else None
        sampled = plant.user_memory is not None and plant.user_memory.start.sampled
        events = () if sampled else self.event_memories  # samples may change what they read
        for memory in [*([] if called is None else [called]), *events]:
            memory.watched()

    def _in_python(self, python: dict[str, tuple[int, float]]) -> str:
        why, source = self.plant.why_not_compiled, self.plant.source
        told = [f"{source.told}: {why}" if source.users else why] if why else []
        users = [f"event '{watch.event.name}'" for watch in self.watches.users]
        parts = {part: cost for part, cost in python.items() if part not in users}
        costs = [f"'{part}' {calls} times, {seconds:.2g} s" for part, (calls, seconds) in parts.items()]
        told += [f"machine code called {', '.join(costs)}"] if costs else []
        return "; ".join([*told, *users])

    def _python(self) -> dict[str, tuple[int, float]]:
        """Calls and seconds of what was called in Python during the run, by part."""
        costs: dict[str, tuple[int, float]] = {}
        for part, callback in self.plant.callbacks:
            calls, seconds = costs.get(part, (0, 0.0))
            costs[part] = calls + callback.calls, seconds + callback.seconds
        costs["samples"] = self.plant.samples
        costs |= self.method.called_in_python
        costs |= {f"event '{w.event.name}'": (w.event.calls, w.event.seconds) for w in self.watches.users}
        return {part: cost for part, cost in costs.items() if cost[0]}

    # ------------------------------------------------------------------ one step
    def _advance(self, progress: Any) -> tuple[str, str]:
        t = self.t
        limit = min([self.t_end, *(k * T for T, k in self.instants.items())])
        sampling = self._sampling()
        if limit - t <= 32.0 * np.spacing(max(abs(t), abs(limit))):  # an event was there just now
            self.state = (limit, *self.state[1:])
            self.recorder.reached(*self.state)
            self._arrived(limit)
            return FINISHED
        limit = self.t_end if sampling[0] else limit
        self.guards.follow(self.watches, self.just_happened)
        try:
            span = self.method.advance(self._reach(limit), sampling)
        except BaseException:
            self._take(self.method.reached())
            raise
        self._take((span.t, span.q, span.v, span.p) if span.step is None else None)
        for T in self.instants if sampling[0] else ():
            self.instants[T] = span.instant
        if span.step is not None:
            return self._look(span.step, limit, progress)
        progress(span.t, span.t - t)
        if span.reached and span.t == limit:
            self._arrived(limit)
        return FINISHED

    def _take(self, state: State | None) -> None:
        """What compiled steps have handed over, and where they have come to."""
        taken = self.recorder.take()
        if state is not None:
            self.state = state
        if taken:
            self.just_happened = False
            self.runaway.counted(taken, self.t)
            self._look_for_memory()

    def _sampling(self) -> tuple[float, int]:
        """Period and number of the next instant of digital parts that are sampled in machine code; (0, 0) if there are
        none, or Python must be asked."""
        plant = self.plant
        if len(self.instants) != 1 or not self.method.compiled or not plant.active.empty or plant.places:
            return 0.0, 0
        if plant.user_memory is not None and plant.user_memory.start.sampled:
            return 0.0, 0
        ((T, k),) = self.instants.items()
        return (T, k) if plant.machine.need_update() else (0.0, 0)

    def _look(self, step: Step, limit: float, progress: Any) -> tuple[str, str]:
        """A step that may hold an event, or that nobody has looked at yet."""
        self.runaway(step)
        if not self.method.compiled and left_workspace(self.plant, step.t1 - step.t0, step.q1, step.v1):
            raise StepFailure("the step leaves the workspace of a loop in closed form", hint=WORKSPACE)
        self.guards.looked(step)
        seen = hits(self.watches.all, step, self.just_happened, step.t1 >= self.t_end)
        self.watches.looked(step.t1 - step.t0, self.t_end - self.settings["t_start"])
        self.just_happened = False
        cut = next((hit for hit in seen if hit.watch.event.cuts), None)
        status = self._reached(step, seen, cut)
        if self.t == limit:
            self._arrived(limit)
        progress(step.t1 if cut is None else cut.t, step.t1 - step.t0)
        return status

    def _reach(self, limit: float) -> float:
        """Where the next step must end at the latest: not far while efforts on what rests are to be seen."""
        if not self.method.adaptive:
            return limit
        friction = self.transitions.stick_slip
        if friction is not None:
            limit = min(limit, self.t + friction.reach)
        span = self.t_end - self.settings["t_start"]
        if self.plant.active.touching:
            limit = min(limit, self.t + span / LOOKS)
        if self.transitions.contacts is not None:
            limit = min(limit, self.t + contact_reach(self.plant, *self.state, span))
        return limit

    def _reached(self, step: Step, seen: list[Hit], cut: Hit | None) -> tuple[str, str]:
        """The end of a step, or the event that cuts it."""
        self.recorder.step(step, step.t1 if cut is None else cut.t)
        self._look_for_memory()
        for hit in seen:
            if not hit.watch.event.cuts:
                q, v, _ = step.dense(hit.t)
                self.recorder.events.append(Happened(hit.t, hit.watch.event.name, "event", q, v, v))
        if cut is None:
            self.state = (step.t1, step.q1, step.v1, step.p1)
            return FINISHED
        q, v, p = (np.array(x) for x in step.dense(cut.t))
        self.state = (cut.t, q, v, p)
        if self.recorder.follower is not None and not cut.watch.event.ends:
            raise cut_by(cut.watch.event.name, self.t)
        status = self._happens(cut, seen[seen.index(cut) + 1 :])
        if status[0] == "finished":
            self.method.start(*self.state)
        return status

    def _look_for_memory(self) -> None:
        if self.recorder.steps >= self.steps_until_looked:
            self.steps_until_looked = 2 * self.recorder.steps
            self.expect_no_memory()

    def _happens(self, first: Hit, together: Sequence[Hit]) -> tuple[str, str]:
        """An event that ends the run, or changes its state, and users' events of the same instant, one after the other,
        until one of them ends the run."""
        self.often = self.often + 1 if self.t - self.last_event < AGAIN else 0
        self.last_event, self.just_happened = self.t, True
        if self.often > OFTEN:
            name = first.watch.event.name
            raise StepFailure(f"events follow each other without end, the last one of '{name}'", hint="see reset")
        self.watches.happened = [hit.watch for hit in (first, *together)]
        cutting = [hit.watch.event for hit in (first, *together) if hit.watch.event.cuts]
        for event, others in zip(cutting, [cutting[k + 1 :] for k in range(len(cutting))], strict=True):
            q, v, end = event.happens(self)
            if self.plant.loops is not None and self.plant.loops.settings.projects:
                names = f"q after '{event.name}'", f"v after '{event.name}'"
                q, v = self.plant.loops.begun(q, v, names)
            self.state = (self.t, q, v, self.p)
            if end and others and self.successor is not None:
                raise StepFailure(
                    f"event '{event.name}' changes the structure at the instant of event '{others[0].name}'",
                    hint="one event whose reset does both",
                )
            if end:
                return "event", end
        self.keep(self.q, self.v)
        self.watches.go_on(*self.state)
        return FINISHED

    def _arrived(self, limit: float) -> None:
        """At a limit of the steps, exactly: a sampling instant, or the end."""
        due = [T for T, k in self.instants.items() if k * T <= limit]
        for T in due:
            self.instants[T] += 1
        if limit < self.t_end:
            self._sample(due)
        else:
            self.due = due

    def _sample(self, due: list[float]) -> None:
        """Digital parts of these sample times read the state."""
        if not due:
            return
        self.plant.sample(*self.state, due)
        if self.plant.active.sticking or self.plant.active.touching:
            self.state = (self.t, self.q, self.settle(self.q, self.v), self.p)
            self.just_happened = True
        self.method.start(*self.state)

    # ------------------------------------------------------------------ piece by piece
    def begin(self, q: Array, v: Array) -> None:
        """Stand at the start, ready for :meth:`go_on`."""
        self._begin(self.t, q, v)
        self.began = time.perf_counter()
        self.method.start(*self.state)

    def go_on(self, t_end: float) -> None:
        """Go on to t_end [s]: a run that has no end yet. What is due to be sampled at its last instant is sampled
        now."""
        self.t_end = self.recorder.harvest.t_end[0] = t_end
        self.runaway.go_on(self.t, t_end)
        due, self.due = self.due, []
        self._sample(due)
        while self.t < self.t_end:
            self._advance(no_progress)
