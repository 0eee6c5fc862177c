"""What the steps of all methods in machine code share: numbers and words of a run, limits, the clock of fixed steps.

Instants of fixed steps are origin + k dt, without accumulating rounding; a limit cuts the step that comes close to it,
and the clock begins anew at samples and events."""

from __future__ import annotations

from gyrostat.engine.drivers.words import floor, ptr, words
from gyrostat.simulate.kernels.environment import ABORT, NV
from gyrostat.simulate.kernels.sampling import NEXT_LIMIT, sampled_at

T, LIMIT, FASTEST, T0, HS, ORIGIN, STEPS, DT = range(8)
"""Numbers of a run: time, limit of the steps, largest rate that makes sense, beginning and length of the last step, the
clock of fixed steps."""
PENDING, KNOWN, ACCEPTED, BUDGET, WORST, REASON = range(6)
"""Words: a step that waits to be gone on from; whether what is needed at its beginning is known; accepted steps; steps
in this call at most; which entry is to blame; why the last step was given up."""
NUMBERS, WORDS = 8, 6
FULL, REACHED, LOOK, TOO_SMALL, NOT_FINITE, STOPPED, RUNAWAY, BAD_SAMPLE, NO_SOLUTION = 0, 1, 2, -2, -3, -4, -5, -6, -7
"""How a call ends: budget or rows used up, limit reached, a step to be looked at; steps too small, a stage that is not
finite, a Python function that has failed, rates too fast, a sample that is not finite, equations without a solution."""
GO_ON = 3
"""What a call does not end with."""


def next_end(ctl: ptr) -> float:
    """End of the next fixed step: at the limit if that is reached, or missed by rounding only."""
    t1 = ctl[ORIGIN] + (ctl[STEPS] + 1.0) * ctl[DT]
    return ctl[LIMIT] if t1 >= ctl[LIMIT] - 1e-9 * ctl[DT] else t1


def length_to(ctl: ptr, t1: float) -> float:
    """Of the step to t1: dt itself, but for a step that a limit cuts; instants are rounded."""
    h = t1 - ctl[T]
    return ctl[DT] if abs(h - ctl[DT]) <= 1e-6 * ctl[DT] + 8.9e-16 * abs(t1) else h


def counted_to(ctl: ptr, t1: float) -> int:
    """A fixed step ends at t1: the clock moves on."""
    done = floor((t1 - ctl[ORIGIN]) / ctl[DT] + 0.5)
    ctl[STEPS] = done if ctl[ORIGIN] + done * ctl[DT] <= t1 + 1e-9 * ctl[DT] else done - 1.0
    return 0


def restarted(ctl: ptr) -> int:
    """The clock of fixed steps begins anew."""
    ctl[ORIGIN] = ctl[T]
    ctl[STEPS] = 0.0
    return 0


def accepted(run: words, ctl: ptr, t1: float, h: float) -> int:
    """A step of length h ends at t1, and waits to be gone on from."""
    run[ACCEPTED] = run[ACCEPTED] + 1
    run[PENDING] = 1
    ctl[T0] = ctl[T]
    ctl[HS] = h
    ctl[T] = t1
    return 0


def taken_back(run: words, ctl: ptr) -> int:
    """The last step has not been."""
    ctl[T] = ctl[T0]
    run[PENDING] = 0
    run[ACCEPTED] = run[ACCEPTED] - 1
    return 0


def broken_off(env: words, run: words, ctl: ptr) -> int:
    """How a call ends whose last step cannot be taken: the step has not been."""
    taken_back(run, ctl)
    return STOPPED if env[ABORT] != 0 else BAD_SAMPLE


def largest_of(n: int, x: ptr) -> int:
    """Which of some numbers x (n,) is the largest."""
    at = 0
    for k in range(1, n):
        if not (abs(x[k]) <= abs(x[at])):
            at = k
    return at


def too_fast(env: words, run: words, ctl: ptr, v: ptr) -> int:
    """Whether the largest of the rates v (nv,) makes no sense: then the last step has not been."""
    at = largest_of(env[NV], v)
    if abs(v[at]) <= ctl[FASTEST]:
        return 0
    run[WORST] = at
    taken_back(run, ctl)
    return 1


def gone_on(env: words, run: words, ctl: ptr, clock: ptr, q: ptr, v: ptr, p: ptr) -> int:
    """Behind a step, which may have reached the limit: GO_ON, behind a sampling instant too, or how the call ends."""
    if ctl[T] < ctl[LIMIT]:
        return GO_ON
    arrived = sampled_at(env, clock, ctl[T], q, v, p)
    if arrived != 0:
        return REACHED if arrived == 1 else BAD_SAMPLE
    ctl[LIMIT] = clock[NEXT_LIMIT]
    run[KNOWN] = 0
    restarted(ctl)
    return GO_ON
