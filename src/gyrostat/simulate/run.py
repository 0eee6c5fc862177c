"""``gs.simulate``: from torques to motion, step by step, with events, sampling instants and partial results."""

from __future__ import annotations

import logging
import time
import warnings
from functools import partial
from typing import Any

import numpy as np

from gyrostat.configuration.manifold import neutral
from gyrostat.configuration.packing import coordinates, rates
from gyrostat.errors import PerformanceWarning, ShapeError, StateError
from gyrostat.simulate.constraints.dry_friction import StickSlip
from gyrostat.simulate.constraints.stops import Stops
from gyrostat.simulate.events.events import Event, Happened, Hit, Watch, event_memory, hits, reset_state, user_watch
from gyrostat.simulate.failure import failed
from gyrostat.simulate.guard import Guard
from gyrostat.simulate.methods import METHODS, Method, StepFailure
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.user_dynamics import refuse_by_residual
from gyrostat.simulate.progress import Progress
from gyrostat.simulate.results.recorder import Recorder
from gyrostat.simulate.results.result import Counted, Result
from gyrostat.simulate.settings import given_events, given_numbers, given_times, last_of, made_method, sampled, spelt
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
AGAIN = 1e-9
"""Time [s] between two events of one kind that is no progress."""
OFTEN = 100
"""How often that may happen."""
COMING, SOON = 9, 1e-6
"""So many intervals between events, each shorter than the one before, the last one below [s], are a sequence that has
no end."""
_log = logging.getLogger("gyrostat")


def simulate(
    model: Model,
    torque: Any = None,
    q0: Any = None,
    v0: Any = None,
    t_end: float | None = None,
    method: str = "dopri5",
    rtol: float = 1e-6,
    atol: float = 1e-9,
    t_eval: Any = None,
    events: Any = (),
    max_step: float = np.inf,
    dt: float | None = None,
    progress: Any = None,
    *,
    t_start: float = 0.0,
    compiled: bool | None = None,
    wrenches: Any = None,
    forward_dynamics: Any = None,
    **options: Any,
) -> Result:
    """The motion of a model from (q0, v0) at ``t_start`` to ``t_end`` [s] under the efforts ``torque``.

    ``torque``: None, an array (nv,), a dict by joint name (others get none), a function f(t, q, v) -> (nv,) or such a
    dict, or a block; or an array (T, nv) of efforts at the instants ``t_eval``, with straight lines between them. A
    function that can be recorded is compiled together with the forward dynamics: it is then called a few times only,
    and must return the same for the same arguments; ``compiled=False`` calls it every time.
    ``wrenches``: external ones by port, each an array (6,) (torque, then force, in the port's axes), a
    :class:`Wrench` with another frame, a function f(t, q, v) -> (6,), a block that gives (6,), or rows (T, 6) at
    ``t_eval``; a :class:`Wrench` may hold a function or block as its value.
    ``q0``, ``v0``: arrays or dicts; by default at rest in the neutral configuration.

    ``method``: "dopri5" (default), "ode23": adaptive, explicit; "bdf", "radau", "cvode", "ida": adaptive, for stiff
    models; "rk4", "semi-implicit-euler", "newmark", "trapezoid", "generalised-alpha", "dina": steps of ``dt`` [s].
    Adaptive ones keep the estimated error of each step within ``rtol`` times the size of a coordinate or rate plus
    ``atol``. ``options`` are those of the method.

    ``forward_dynamics``: ``gs.BlockSolver(model, f, like=gs.ForwardDynamics)``, a function of yours in the place of the
    articulated-body algorithm, for methods that ask for accelerations (not newmark, trapezoid, generalised-alpha,
    dina, ida).

    ``t_eval`` (T,): instants [s] to keep; by default the end of every step. ``events``: :class:`Event`,
    :class:`JointLimits`, or a list of them. ``progress``: True, False, a function of (t, step, fraction), or None: a
    bar where there is a terminal. Ctrl-C returns what was computed, with the status "interrupted"; a run that cannot go
    on raises :class:`SimulationError`, whose ``result`` holds it up to there."""
    start = time.perf_counter()
    t0, t1 = given_numbers(t_start, last_of(t_end, t_eval), dt)
    times = given_times(t_eval, t0, t1)
    plant = Plant(model, sampled(torque, times), compiled, wrenches, times, forward_dynamics)
    refuse_by_residual(forward_dynamics, spelt(method))
    q = coordinates(model, neutral(model) if q0 is None else q0, WHO)
    v = rates(model, np.zeros(model.nv) if v0 is None else v0, WHO, "v")
    if q.shape != (model.nq,) or v.shape != (model.nv,):
        raise ShapeError(f"{WHO}: q0 and v0 have shapes {q.shape} and {v.shape}, expected one state. Hint: gs.rollout")
    made = made_method(METHODS, method, plant, rtol, atol, max_step, dt, options)
    recorder = Recorder(plant, times, made.name)
    settings = {"rtol": rtol, "atol": atol, "dt": dt, "max_step": max_step, "t_start": t0, "t_end": t1, **options}
    run = Run(plant, made, recorder, events, settings, t1)
    return run.go(t0, np.array(q), np.array(v), Progress(progress, t0, t1), start)


class Run:
    """One run: a plant, a method, and what is watched along the way."""

    def __init__(
        self, plant: Plant, method: Method, recorder: Recorder, events: Any, settings: dict[str, Any], t_end: float
    ):
        self.plant, self.method, self.recorder, self.t_end = plant, method, recorder, t_end
        self.settings = settings
        self.users, limits = given_events(events)
        self.event_memories = (
            [] if plant.asked_for_python else [event_memory(event, plant.model) for event in self.users]
        )
        self.steps_until_looked = 1
        self.stops = Stops(plant, limits) if limits is not None else None
        self.sticking = StickSlip.of(plant)
        self.watches: list[Watch] = [user_watch(event) for event in self.users]
        self.watches += [] if self.stops is None else self.stops.watches()
        self.watches += [] if self.sticking is None else self.sticking.watches()
        method.watched = bool(self.watches) or recorder.t_eval is None
        self.just_happened, self.often, self.last_event = False, 0, -np.inf
        self.built = 0.0
        t0 = settings["t_start"]
        self.instants = {T: int(np.floor(t0 / T + 1e-9)) + 1 for T in plant.source.sample_times}  # the next multiples
        self.guard = Guard(t0, t_end, method.adaptive)
        self.times_of: dict[str, list[float]] = {}  # the last ones of each user event that changes the state

    # ------------------------------------------------------------------ the whole of it
    def go(self, t: float, q: Array, v: Array, progress: Progress, start: float) -> Result:
        """Run to the end, or until something ends it."""
        plant, p = self.plant, self.plant.source.p0.copy()
        if plant.source.sample_times:
            plant.sample(t, q, v, p)
        if self.stops is not None:
            self.stops.expect_inside(q)
        if words := plant.source.trouble(t, q, v, p, plant.memory):
            raise StateError(f"{WHO}: at the start {words}")
        plant.observe(t, q, v, p)  # compiles; what is wrong with the torque comes out as it is
        if told := plant.falls_back:
            warnings.warn(f"{WHO}: {told}", PerformanceWarning, stacklevel=3)
        v = self._settled(t, q, v, p)
        self.recorder.start(t, q, v, p)
        for watch in self.watches:
            watch.begin(t, q, v, p)
        self.state = (t, q, v, p)
        self.guard.start(v)
        self.method.prepare(*self.state)
        self.built, self.began = time.perf_counter() - start, time.perf_counter()
        self.recorder.began = self.began
        status, message = "finished", ""
        try:
            self.method.start(*self.state)
            while self.state[0] < self.t_end and status == "finished":
                status, message = self._advance(progress)
            self._expect_no_memory()
        except KeyboardInterrupt:
            status, message = "interrupted", f"interrupted at t = {self.state[0]:g} s of {self.t_end:g} s"
            _log.warning("%s: %s; the result holds what was computed", WHO, message)
        except Exception as error:
            result = partial(self._result, "failed")
            raise failed(error, self.plant, self.state, self.t_end, self.settings["dt"], result) from error
        finally:
            progress.close()
        if not told and plant.falls_back:  # on the way
            warnings.warn(f"{WHO}: {plant.falls_back}", PerformanceWarning, stacklevel=3)
        return self._result(status, message)

    def _result(self, status: str, message: str) -> Result:
        c, m = self.plant.counters, self.method
        counted = Counted(
            c.rhs_evaluations, c.residual_evaluations, c.jacobian_evaluations, c.output_evaluations,
            self.recorder.steps, m.rejected, time.perf_counter() - self.began, self.built,
            self.state[0] - self.settings["t_start"],
            not self.plant.why_not_compiled, self._in_python(), dict(m.statistics),
        )  # fmt: skip
        return self.recorder.result(status, message, counted, self.settings)

    # ------------------------------------------------------------------ functions of users
    def _expect_no_memory(self) -> None:
        """Functions that are called may remember something at states that they had not seen before."""
        plant = self.plant
        called = plant.user_memory if plant.why_not_compiled else None
        sampled = plant.user_memory is not None and plant.user_memory.start.sampled
        events = () if sampled else self.event_memories  # samples may change what they read
        for memory in [*([] if called is None else [called]), *events]:
            memory.watched()

    def _in_python(self) -> str:
        why = self.plant.why_not_compiled
        source = self.plant.source
        told = [f"{source.told}: {why}" if source.users else why] if why else []
        return "; ".join([*told, *(f"event '{event.name}'" for event in self.users)])

    # ------------------------------------------------------------------ one step
    def _advance(self, progress: Progress) -> tuple[str, str]:
        t = self.state[0]
        limit = min([self.t_end, *(k * T for T, k in self.instants.items())])
        if limit - t <= 32.0 * np.spacing(max(abs(t), abs(limit))):  # an event was there just now
            self.state = (limit, *self.state[1:])
            self.recorder.reached(*self.state)
            self._arrived(limit)
            return "finished", ""
        slow = self.sticking is not None and self.method.adaptive
        step = self.method.step(min(limit, t + self.sticking.reach) if slow else limit)  # type: ignore[union-attr]
        self.guard(step)
        found = hits(self.watches, step, self.just_happened, step.t1 >= self.t_end)
        if self.sticking is not None:
            self.sticking.looked(step.t1 - step.t0, self.t_end - self.settings["t_start"])
        self.just_happened = False
        cut = found[-1] if found and found[-1].watch.cuts else None
        end = step.t1 if cut is None else cut.t
        self.recorder.step(step, end)
        if self.recorder.steps >= self.steps_until_looked:
            self.steps_until_looked = 2 * self.recorder.steps
            self._expect_no_memory()
        for hit in found:
            if hit is not cut:
                self._tell(hit.t, hit.watch.item.name, "event", *step.dense(hit.t)[:2])
        status = "finished", ""
        if cut is None:
            self.state = (step.t1, step.q1, step.v1, step.p1)
        else:
            q, v, p = step.dense(cut.t)
            self.state = (cut.t, np.array(q), np.array(v), np.array(p))
            status = self._happens(cut)
        if cut is not None and status[0] == "finished":
            self.method.start(*self.state)
        if self.state[0] == limit:
            self._arrived(limit)
        progress(end, step.t1 - step.t0)
        return status

    def _arrived(self, limit: float) -> None:
        """At a limit of the steps, exactly: a sampling instant, or the end."""
        due = [T for T, k in self.instants.items() if k * T <= limit]
        for T in due:
            self.instants[T] += 1
        if due and limit < self.t_end:
            self.plant.sample(*self.state, due)
            if self.sticking is not None and self.plant.stuck:
                t, q, v, p = self.state
                self.state = (t, q, self._settled(t, q, v, p), p)
                self.just_happened = True
            self.method.start(*self.state)

    # ------------------------------------------------------------------ events
    def _tell(self, t: float, name: str, kind: str, q: Array, v: Array, after: Array | None = None) -> None:
        self.recorder.events.append(Happened(t, name, kind, q, v, v if after is None else after))

    def _happens(self, hit: Hit) -> tuple[str, str]:
        """An event that stops the run, or changes its state."""
        t, q, v, p = self.state
        self.often = self.often + 1 if t - self.last_event < AGAIN else 0
        self.last_event, self.just_happened = t, True
        if self.often > OFTEN:
            raise StepFailure(f"events follow each other without end, the last one of {_name(hit)}", hint="see reset")
        if isinstance(hit.watch.item, Event):
            return self._user_event(hit, hit.watch.item)
        name, side, i, j = hit.watch.item
        if side == 0:
            self.plant.held.pop(j, None)
            self.watches.remove(hit.watch)
            self._tell(t, name, "release", q, v)
        elif side is None:
            self.sticking.happened(i, t, q, v, p)  # type: ignore[union-attr]
        else:
            q[i] = self.stops.low[i] if side < 0 else self.stops.high[i]  # type: ignore[union-attr]
        self.recorder.state(t, q, v, p)
        after = self._settled(t, q, v, p)
        self.state = (t, q, after, p)
        if side:
            self._tell(t, name, "lower" if side < 0 else "upper", q, v, after)
        self.recorder.state(t, q, after, p)
        for watch in self.watches:
            watch.begin(*self.state)
        for watch in self.watches:
            if not isinstance(watch.item, Event) and watch.sign >= 0:
                watch.sign = -1  # at a limit: inside until it goes out again
        return "finished", ""

    def _settled(self, t: float, q: Array, v: Array, p: Array) -> Array:
        """Rates after impacts; joints that come to rest are watched for their release. What sticks, what slips."""
        known, after = set(self.plant.held), v
        if self.stops is not None:
            after, _ = self.stops.settle(t, q, v, p)
        if self.sticking is not None:
            after, changes = self.sticking.settle(t, q, after, p, self.stops)
            for name, kind in changes:
                self._tell(t, name, kind, q, v, after)
            self.watches = [w for w in self.watches if not _released(w, self.plant)]
        if self.stops is None:
            return after
        names = {j: name for _, j, name in self.stops.places}
        self.watches += [self.stops.release(j, self.plant.held[j], names[j]) for j in self.plant.held if j not in known]
        return after

    def _expect_an_end(self, event: Event, t: float) -> None:
        """Refuse events that come ever faster: a ball that bounces by resets does so without end in a finite time."""
        if event.reset is None:
            return
        times = self.times_of.setdefault(event.name, [])
        times[:] = [*times[-COMING:], t]
        gaps = np.diff(times)
        if len(gaps) == COMING and np.all(np.diff(gaps) < 0.0) and gaps[-1] < SOON:
            raise StepFailure(
                f"event '{event.name}' comes ever faster, the last two within {gaps[-1]:.1e} s: there is no end of it",
                hint="let reset end the motion when it is slow, terminal=True, or gs.JointLimits(rest=...)",
            )

    def _user_event(self, hit: Hit, event: Event) -> tuple[str, str]:
        t, q, v, p = self.state
        self._expect_an_end(event, t)
        self.recorder.state(t, q, v, p)
        self._expect_no_memory()
        model, q_new, v_new = reset_state(event, self.plant.model, t, q, v)
        self.plant.renew()
        for memory in self.event_memories:
            memory.renewed()
        q_new = np.array(coordinates(model, q_new, f"{WHO}: reset of '{event.name}'"))
        v_new = np.array(rates(model, v_new, f"{WHO}: reset of '{event.name}'", "v"))
        self._tell(t, event.name, "event", q, v, v_new)
        if model is not self.plant.model:
            self.plant.change_model(model)
            self.recorder.change(model)
            self.sticking = StickSlip.of(self.plant)
            self.watches = [w for w in self.watches if isinstance(w.item, Event) or w.item[1] is not None]
            self.watches += [] if self.sticking is None else self.sticking.watches()
        self.state = (t, q_new, v_new, p)
        if event.terminal:
            return "event", f"ended by event '{event.name}' at t = {t:.9g} s"
        if self.sticking is not None:
            v_new = self._settled(t, q_new, v_new, p)
            self.state = (t, q_new, v_new, p)
        self.recorder.state(t, q_new, v_new, p)
        for watch in self.watches:
            (watch.again if watch is hit.watch else watch.begin)(*self.state)
        return "finished", ""


def _released(watch: Watch, plant: Plant) -> bool:
    """Whether a watch is that of a stop which holds no more."""
    return not isinstance(watch.item, Event) and watch.item[1] == 0 and watch.item[3] not in plant.held


def _name(hit: Hit) -> str:
    return f"'{hit.watch.item.name if isinstance(hit.watch.item, Event) else hit.watch.item[0]}'"
