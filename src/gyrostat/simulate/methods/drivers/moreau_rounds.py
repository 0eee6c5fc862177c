"""Impulses of a step: a guarded Newton's method from those of the last step, sweeps where it fails, and the solver of
all contact problems where both do not end."""

from __future__ import annotations

from gyrostat.engine.drivers.words import copy, doubles, words
from gyrostat.simulate.methods.drivers.moreau_cones import ENOUGH, feasible, prepare_blocks, put_u, residual, sweep
from gyrostat.simulate.methods.drivers.moreau_hard_rows import solve_hard_rows
from gyrostat.simulate.methods.drivers.moreau_memory import HARD, IMPULSE, SPARE, SPIN_COUNT
from gyrostat.simulate.methods.drivers.moreau_newton import LATER_STEPS, NEAR_BY, NEWTON_STEPS, damped_newton

TRIES, SWEEPS_BETWEEN = 3, 15
"""How often Newton's method begins, and sweeps before its last try; what is left then is a hard problem."""
FAR, NEAR_ROUNDS, FAR_ROUNDS = 1e-6, 4, 8
"""Residual [m/s, rad/s] above which a hard problem is worth everything; rounds of its solver below that, and above."""


def solve_rows(box: words, rows: int, first: int) -> float:
    """P and u from the P that is there: the residual. ``first``: 1 if blocks are new."""
    if first == 1:
        prepare_blocks(box)
    if box[SPIN_COUNT] > 0:
        return solved_with_spins(box, rows)
    feasible(box)
    put_u(box, rows)
    left = damped_newton(box, rows, residual(box), NEAR_BY, NEWTON_STEPS)
    for turn in range(1, TRIES):
        if left <= ENOUGH:
            return left
        if turn == 2:
            for _ in range(SWEEPS_BETWEEN):
                sweep(box, rows)
            put_u(box, rows)
            left = residual(box)
        left = damped_newton(box, rows, left, 10.0 * NEAR_BY, LATER_STEPS)
    if left <= 2.0 * ENOUGH:
        return left
    return finished_hard_rows(box, rows, left)


def finished_hard_rows(box: words, rows: int, before: float) -> float:
    """What another solver makes of a hard problem, if that is better: the residual. Far from a solution it tries all
    it knows, near to one some rounds."""
    P, best = doubles(box[IMPULSE]), doubles(box[SPARE]) + 4 + 3 * rows
    copy(rows, P, best)
    box[HARD] = box[HARD] + 1
    solve_hard_rows(box, FAR_ROUNDS if before > FAR else NEAR_ROUNDS, 2 if before > FAR else 0)
    feasible(box)
    put_u(box, rows)
    left = residual(box)
    if left <= before:
        return left
    copy(rows, best, P)
    put_u(box, rows)
    return before


def solved_with_spins(box: words, rows: int) -> float:
    """A problem with torsional or rolling friction, which the solver of all contact problems knows: the residual."""
    solve_hard_rows(box, FAR_ROUNDS, 2)
    feasible(box)
    put_u(box, rows)
    return residual(box)
