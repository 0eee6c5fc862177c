"""Instants at which something happens: a function of the state changes its sign, a joint meets a limit, friction
sticks or slips.

After every step the functions are looked at along its dense output, at four instants; a change of sign is located by
Brent's method to 1e-12 s. What comes and goes within a quarter of a step is not seen: ``max_step`` bounds that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, ShapeError, clipped
from gyrostat.simulate.events.roots import WITHIN, root
from gyrostat.simulate.methods.method import Step
from gyrostat.simulate.plant.torque_source import expect_arguments
from gyrostat.simulate.plant.user_memory import LATE, Remembers, UserMemory, probes
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
FRACTIONS = np.array([0.25, 0.5, 0.75, 1.0])
EARLY = np.array([0.01, 0.25, 0.5, 0.75, 1.0])
"""Where a step is looked at; the second if it begins with an event."""
ODD = np.array([0.0718, 0.1697, 0.3819, 0.6180, 0.8660])
"""More of them for functions that may change fast, at no common distance: nothing periodic hides between them."""
LOOKS = 400
"""How often a function is looked at in a step at most, about."""
REMEMBERING = "reset is called once for every event and may remember; compiled=False calls it as it is"
NEAR = 1e-9
"""Values of an event's function that are zero, right after it."""


@dataclass(frozen=True)
class Event:
    """``function(t, q, v)`` changes its sign; ``direction``: 1 from below, -1 from above, 0 both.

    ``terminal`` ends the run. ``reset(t, q, v)`` returns the state (q, v) from which it goes on, or (model, q, v) with
    another model of the same coordinates, for example with a payload; or None, if nothing changes."""

    function: Callable[[float, Array, Array], Any]
    direction: int = 0
    terminal: bool = False
    reset: Callable[[float, Array, Array], Any] | None = None
    name: str = ""

    def __post_init__(self) -> None:
        if not callable(self.function) or not (self.reset is None or callable(self.reset)):
            raise GyrostatError(
                "Event: function and reset are functions of (t, q, v). Hint: Event(lambda t, q, v: q[0])"
            )
        for function in (self.function, self.reset):
            if function is not None:
                expect_arguments(function, "Event: its function", "Event(lambda t, q, v: q[0])")
        if self.direction not in (-1, 0, 1):
            raise GyrostatError(f"Event: direction must be -1, 0 or 1, got {clipped(self.direction)}. Hint: 0 for both")
        if not self.name:
            object.__setattr__(self, "name", getattr(self.function, "__name__", type(self.function).__name__))


@dataclass(frozen=True, eq=False)
class Happened:
    """An event of a run at the time ``t`` [s]: ``name`` of the event or joint; ``kind`` "event", "lower" or "upper"
    (a limit was hit), "release" (a joint left its stop), "stick" or "slip" (of a friction); state ``q``, ``v`` before
    it, ``v_after``."""

    t: float
    name: str
    kind: str
    q: Array
    v: Array
    v_after: Array


@dataclass
class Watch:
    """One function along a run: ``value(t, q, v, p)``, and the sign that it has had last (0: not known).

    ``cuts``: whether the run must go on from the event anew. ``item``: what it belongs to. ``fresh``: it has just
    happened, and the function may come back from zero to either side. ``fine``: the function may change much faster
    than the motion; it is looked at until its course is clear, ``looks`` times in the last step."""

    value: Callable[[float, Array, Array, Array], float]
    direction: int
    cuts: bool
    item: Any
    sign: int = 0
    last: float = 0.0
    fresh: bool = False
    fine: bool = False
    looks: int = 0

    def begin(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Look at the state at the start, or after a jump."""
        self.last = self.value(t, q, v, p)
        self.sign, self.fresh = _sign(self.last), False

    def again(self, t: float, q: Array, v: Array, p: Array) -> None:
        """Go on after an event of this watch: a function that is still about zero is taken to go back where it came
        from, until the next step tells."""
        came_from = -self.sign
        self.begin(t, q, v, p)
        if abs(self.last) <= NEAR:
            self.sign, self.fresh = came_from, True


@dataclass(frozen=True)
class Hit:
    """A watch whose function changes its sign at t; ``rising`` or not."""

    t: float
    watch: Watch
    rising: bool


def hits(watches: Sequence[Watch], step: Step, after_event: bool = False, last: bool = False) -> list[Hit]:
    """Events of a step in order of time, up to the first one that cuts it. The watches know where they were. ``last``:
    the run ends with this step, and what is zero but for rounding at its end happens there."""
    if not watches:
        return []
    times = step.t0 + (step.t1 - step.t0) * (EARLY if after_event else FRACTIONS)
    times[-1] = step.t1
    states = step.dense(times)
    found: list[Hit] = []
    ends: list[tuple[Watch, float]] = []
    for watch in watches:
        values = [watch.value(float(t), q, v, p) for t, q, v, p in zip(times, *states, strict=True)]
        at, values = _finer(watch, step, times, values) if watch.fine else (times, values)
        found += _crossings(watch, step, at, values)
        found += _at_the_end(watch, step, at, values) if last else []
        ends.append((watch, values[-1]))
    found.sort(key=lambda hit: hit.t)
    first = next((k for k, hit in enumerate(found) if hit.watch.cuts), None)
    kept = found if first is None else found[: first + 1]
    if first is None:
        for watch, value in ends:
            watch.last = value
    else:  # the step ends there: the others are looked at again from there on
        for watch, _ in ends:
            if watch is not found[first].watch:
                watch.begin(found[first].t, *step.dense(found[first].t))
    return kept


def _finer(watch: Watch, step: Step, times: Array, values: Sequence[float]) -> tuple[Array, list[float]]:
    """More instants between those at which the function bends: by a fifth of its range in this step, or so that it may
    reach zero between two of them."""
    t, f = np.array([step.t0, *times]), np.array([watch.last, *values])
    more = step.t0 + (step.t1 - step.t0) * ODD
    while True:
        seen = [
            watch.value(float(x), *state) for x, state in zip(more, zip(*step.dense(more), strict=True), strict=True)
        ]
        order = np.argsort(np.concatenate([t, more]), kind="stable")
        t, f = np.concatenate([t, more])[order], np.concatenate([f, seen])[order]
        lever = np.diff(t)
        bend = np.abs(np.diff(np.diff(f) / lever)) * 0.25 * (lever[1:] + lever[:-1])
        between = np.maximum(np.append(bend, 0.0), np.insert(bend, 0, 0.0))
        top = np.maximum(f[1:], f[:-1])
        unclear = (between > max(0.2 * np.ptp(f), 1e-9)) | ((top < 0.0) & (top + between > 0.0))
        unclear &= lever > 1e-6 * (step.t1 - step.t0)
        if not unclear.any() or len(t) > LOOKS:
            watch.looks = len(t)
            return t[1:], f[1:].tolist()
        more = 0.5 * (t[1:] + t[:-1])[unclear]


def _crossings(watch: Watch, step: Step, times: Array, values: Sequence[float]) -> Iterable[Hit]:
    """Changes of sign in the wanted direction. The sign of the watch becomes that at the end of the step."""

    def value(t: float) -> float:
        return watch.value(t, *step.dense(t))

    before, f_before = step.t0, watch.last
    for t, f in zip(times.tolist(), values, strict=True):
        sign = _sign(f)
        if watch.sign and sign != watch.sign:
            start, f_start = _on_the_old_side(watch.sign, value, before, f_before, t)
            if watch.fresh and not f_start:
                watch.sign, watch.fresh, before, f_before = sign, False, t, f
                continue
            at = root(value, start, t, f_start, f) if f_start else start
            rising = watch.sign < 0
            watch.sign = -watch.sign
            if watch.direction in (0, watch.sign):
                yield Hit(float(at), watch, rising)
                if watch.cuts:
                    return
        elif sign:
            watch.sign = sign
        watch.fresh, before, f_before = False, t, f


def _at_the_end(watch: Watch, step: Step, times: Array, values: Sequence[float]) -> list[Hit]:
    """A user's function that would be zero within rounding of the time after the end of a step, as it changes there."""
    f, before, h = values[-1], values[-2], float(times[-1] - times[-2])
    came = watch.sign != 0 and _sign(f) == _sign(before) == watch.sign and abs(f) < abs(before)
    if not isinstance(watch.item, Event) or not came:
        return []
    left = h * abs(f) / abs(before - f)
    if left > WITHIN + 32.0 * np.spacing(abs(step.t1)) or watch.direction not in (0, -watch.sign):
        return []
    rising, watch.sign = watch.sign < 0, -watch.sign
    return [Hit(step.t1, watch, rising)]


def _on_the_old_side(sign: int, value: Callable[[float], float], a: float, f_a: float, b: float) -> tuple[float, float]:
    """An instant shortly after a at which the function has the sign; a itself, with zero, if there is none."""
    if _sign(f_a) == sign:
        return a, f_a
    for k in range(1, 9):
        t = a + (b - a) * 10.0**-k
        f = value(t)
        if _sign(f) == sign:
            return t, f
    return a, 0.0


def _sign(x: float) -> int:
    return int(x > 0.0) - int(x < 0.0)


def user_watch(event: Event) -> Watch:
    """The watch of a user's event."""

    def value(t: float, q: Array, v: Array, p: Array) -> float:
        given = event.function(t, q.copy(), v.copy())
        if isinstance(given, bool | np.bool_):
            raise ShapeError(
                f"{WHO}: event '{event.name}' returned {given}, expected a number that changes its sign there. "
                "Hint: q[0] - 0.5 in the place of q[0] < 0.5"
            )
        found = np.asarray(given, dtype=float)
        if found.size != 1 or not np.isfinite(found).all():
            raise ShapeError(f"{WHO}: event '{event.name}' returned {clipped(found)}, expected one finite number")
        return float(found.reshape(()))

    return Watch(value, event.direction, event.terminal or event.reset is not None, event)


def event_memory(event: Event, model: Model) -> UserMemory:
    """Refuse the function of an event that keeps something between its calls. A reset may: it is called once."""
    memory = UserMemory(WHO, f"event '{event.name}'", (event.function,), REMEMBERING)

    def value(t: float, q: Array, v: Array) -> Array:
        return np.asarray(event.function(t, q.copy(), v.copy()), dtype=float).ravel()

    for late in LATE:
        try:
            with np.errstate(all="ignore"):
                memory.numbers([lambda x=x: value(*x) for x in probes(model, late)])
            break
        except Remembers:
            raise
        except Exception:  # it may fail at some states; what it does along the run is told there
            memory.start.restore()
    return memory


def reset_state(event: Event, model: Model, t: float, q: Array, v: Array) -> tuple[Model, Array, Array]:
    """What an event's ``reset`` makes of the state."""
    q_given, v_given = q.copy(), v.copy()
    given = None if event.reset is None else event.reset(t, q_given, v_given)
    if given is None:
        if not (np.array_equal(q, q_given) and np.array_equal(v, v_given)):
            raise ShapeError(f"{WHO}: reset of '{event.name}' changed its arguments and returned nothing, which has no "
                             "effect. Hint: return q, v")  # fmt: skip
        return model, q, v
    if not isinstance(given, tuple) or len(given) not in (2, 3):
        raise ShapeError(f"{WHO}: reset of '{event.name}' returned {clipped(given)}, expected (q, v) or (model, q, v)")
    new = given[0] if len(given) == 3 else model
    if not isinstance(new, Model) or new.coordinates != model.coordinates or new.dofs != model.dofs:
        raise ShapeError(f"{WHO}: reset of '{event.name}' must return a model with the same coordinates. Hint: replace")
    return new, given[-2], given[-1]
