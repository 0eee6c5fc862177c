"""Instants at which an event's function changes its sign within a step.

After every step the functions are looked at along its dense output, at four instants; a change of sign is located by
Brent's method to 1e-12 s. What comes and goes within a quarter of a step is not seen: ``max_step`` bounds that."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.simulate.events.roots import WITHIN, root
from gyrostat.simulate.events.run_event import RunEvent
from gyrostat.simulate.methods.method import Step

Array = np.ndarray
FRACTIONS = np.array([0.25, 0.5, 0.75, 1.0])
EARLY = np.array([0.01, 0.25, 0.5, 0.75, 1.0])
"""Where a step is looked at; the second if it begins with an event."""
ODD = np.array([0.0718, 0.1697, 0.3819, 0.6180, 0.8660])
"""More of them for functions that may change fast, at no common distance: nothing periodic hides between them."""
LOOKS = 400
"""How often a function is looked at in a step at most, about."""
CLOSE = 1e-6
"""Time [s] by which Newton's method may change the instant of an event."""
NEAR = 1e-9
"""Values of an event's function that are zero, right after it."""
TOGETHER = 3.0 * WITHIN
"""Time [s], besides its rounding, between events of one instant."""


@dataclass
class Watch:
    """The function of one event along a run, and the sign that it has had last (0: not known).

    ``fresh``: it has just happened, and the function may come back from zero to either side. ``looks``: how often it
    was looked at in the last step."""

    event: RunEvent
    sign: int = 0
    last: float = 0.0
    fresh: bool = False
    looks: int = 0

    def value(self, t: float, q: Array, v: Array, p: Array) -> float:
        """Of the function."""
        return self.event.value(t, q, v, p)

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
    """Events of a step in order of time, up to the first one that cuts it, and users' events of the same instant behind
    it, in the order in which they were given. The watches know where they were. ``last``: the run ends with this step,
    and what is zero but for rounding at its end happens there."""
    if not watches:
        return []
    times = step.t0 + (step.t1 - step.t0) * (EARLY if after_event else FRACTIONS)
    times[-1] = step.t1
    states = step.dense(times)
    seen: list[Hit] = []
    ends: list[tuple[Watch, float]] = []
    for watch in watches:
        values = watch.event.values(times, *states)
        at, values = _finer(watch, step, times, values) if watch.event.fine else (times, values)
        seen += _crossings(watch, step, at, values)
        seen += _at_the_end(watch, step, at, values) if last else []
        ends.append((watch, values[-1]))
    seen.sort(key=lambda hit: hit.t)
    first = next((k for k, hit in enumerate(seen) if hit.watch.event.cuts), None)
    if first is not None and (passed := _passed(watches, step, seen[first])) is not None:
        seen = [*(hit for hit in seen[:first] if hit.t < passed.t), passed]
        first = len(seen) - 1
    if first is None:
        for watch, value in ends:
            watch.last = value
        return seen
    cut = seen[first]  # the step ends there: the others are looked at again from there on
    together = _together(watches, seen[first:])
    state, happened = step.dense(cut.t), [hit.watch for hit in (cut, *together)]
    for watch, _ in ends:
        if all(watch is not other for other in happened):
            watch.begin(cut.t, *state)
    if cut.watch.event.by_user:  # rounding alone made it the first one
        given = [id(watch) for watch in watches]
        return [*seen[:first], *sorted((cut, *together), key=lambda hit: given.index(id(hit.watch)))]
    return [*seen[: first + 1], *together]


def _together(watches: Sequence[Watch], seen: Sequence[Hit]) -> list[Hit]:
    """Users' events at the instant of the first one, which cuts the step, beside it."""
    cut, found = seen[0], list[Hit]()
    within = TOGETHER + 32.0 * np.spacing(abs(cut.t))
    for watch in watches:
        hit = next((hit for hit in seen if hit.watch is watch and hit.t - cut.t <= within), None)
        if hit is not None and watch is not cut.watch and watch.event.by_user:
            watch.sign = 1 if hit.rising else -1
            found.append(Hit(cut.t, watch, hit.rising))
    return found


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
            f_near = 0.0 if watch.fresh else f_before  # the rounding of a zero has no side
            start, f_start = _on_the_old_side(watch.sign, value, before, f_near, t)
            if watch.fresh and not f_start:
                watch.sign, watch.fresh, before, f_before = sign, False, t, f
                continue
            at = _sharpened(watch, step, root(value, start, t, f_start, f, watch.event.within)) if f_start else start
            rising = watch.sign < 0
            watch.sign = -watch.sign
            if watch.event.direction in (0, watch.sign):
                yield Hit(float(at), watch, rising)
                if watch.event.cuts:
                    return
        elif sign:
            watch.sign = sign
        watch.fresh, before, f_before = False, t, f


def _passed(watches: Sequence[Watch], step: Step, cut: Hit) -> Hit | None:
    """Surfaces that are within each other where a step is cut, and that came there between two looks."""
    state, found = step.dense(cut.t), None
    for watch in watches:
        if watch.event.sharp is None or watch is cut.watch or not watch.last < 0.0:
            continue
        f = watch.value(cut.t, *state)
        if f > 0.0:

            def value(t: float, watch: Watch = watch) -> float:
                return watch.value(t, *step.dense(t))

            watch.sign = 1
            t = _sharpened(watch, step, root(value, step.t0, cut.t, watch.last, f, watch.event.within))
            cut, state = Hit(float(t), watch, True), step.dense(t)
            found = cut
    return found


def _sharpened(watch: Watch, step: Step, t: float) -> float:
    """The instant by Newton's method, if the event tells a smooth function and its rate."""
    if watch.event.sharp is None:
        return t
    for _ in range(3):
        f, rate = watch.event.sharp(t, *step.dense(t))
        if not rate > 0.0 or abs(f) > CLOSE * rate:
            return t
        t = min(max(t - f / rate, step.t0), step.t1)
    return t


def _at_the_end(watch: Watch, step: Step, times: Array, values: Sequence[float]) -> list[Hit]:
    """A user's function that would be zero within rounding of the time after the end of a step, as it changes there."""
    f, before, h = values[-1], values[-2], float(times[-1] - times[-2])
    came = watch.sign != 0 and _sign(f) == _sign(before) == watch.sign and abs(f) < abs(before)
    if not watch.event.by_user or not came:
        return []
    left = h * abs(f) / abs(before - f)
    if left > WITHIN + 32.0 * np.spacing(abs(step.t1)) or watch.event.direction not in (0, -watch.sign):
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
