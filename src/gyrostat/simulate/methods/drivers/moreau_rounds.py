"""Impulses of a step: a damped Newton's method, which goes on from those of the last step, sweeps where it fails, and
the solver of all contact problems where both do not end."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, words
from gyrostat.simulate.methods.drivers.moreau_cones import feasible, prepare_blocks, put_u, residual, sweep
from gyrostat.simulate.methods.drivers.moreau_hard_rows import CLOSE_TO, CLOSER, solve_hard_rows
from gyrostat.simulate.methods.drivers.moreau_memory import HARD, IMPULSE, SPARE, SPIN_COUNT
from gyrostat.simulate.methods.drivers.moreau_newton import ENOUGH, damped_newton

NEWTON_STEPS, LATER_STEPS = 40, 30
"""Steps of Newton's method at most, in the first and in later tries."""
NEAR_BY, NEARER_BY = 1e-4, 1e-3
"""Part of the diagonal that is added after a step that failed."""
SWEEPS_BETWEEN = 15
"""Sweeps before the last try; what is left then is a hard problem."""
FAR, NEAR_ROUNDS, FAR_ROUNDS, WAYS = 1e-6, 4, 8, 2
"""Residual [m/s, rad/s] above which a hard problem is worth everything; rounds of its solver below that, and above;
ways out above."""


def solve_rows(box: words, rows: int, first: int) -> float:
    """P and u from the P that is there: the residual. ``first``: 1 if blocks are new."""
    if first == 1:
        prepare_blocks(box)
    if box[SPIN_COUNT] > 0:
        return solve_whole(box, rows, CLOSER, FAR_ROUNDS, WAYS)
    feasible(box)
    put_u(box, rows)
    left = damped_newton(box, rows, residual(box), NEAR_BY, NEWTON_STEPS)
    if left > ENOUGH:
        left = damped_newton(box, rows, left, NEARER_BY, LATER_STEPS)
    if left > ENOUGH:
        for _ in range(SWEEPS_BETWEEN):
            sweep(box, rows)
        put_u(box, rows)
        left = damped_newton(box, rows, residual(box), NEARER_BY, LATER_STEPS)
    if left <= 2.0 * ENOUGH:
        return left
    box[HARD] = box[HARD] + 1
    return finished_hard_rows(box, rows, left)


def finished_hard_rows(box: words, rows: int, before: float) -> float:
    """What another solver makes of a hard problem, if that is better: the residual. Far from a solution it tries all
    it knows, near to one some rounds."""
    P, best = doubles(box[IMPULSE]), doubles(box[SPARE]) + 4 + 3 * rows
    copy(rows, P, best)
    left = solve_whole(box, rows, CLOSE_TO, FAR_ROUNDS if before > FAR else NEAR_ROUNDS, WAYS if before > FAR else 0)
    if left <= before:
        return left
    copy(rows, best, P)
    put_u(box, rows)
    return before


def solve_whole(box: words, rows: int, close: float, rounds: int, ways: int) -> float:
    """The problem by the solver of all contact problems, which torsional and rolling friction need: the residual."""
    solve_hard_rows(box, close, rounds, ways)
    feasible(box)
    put_u(box, rows)
    return residual(box)
