"""Impulses of a step: sweeps, which go on from those of the last step, a guarded Newton's method, and the solver of all
contact problems where both do not end."""

from __future__ import annotations

from gyrostat.engine.drivers.words import words
from gyrostat.simulate.methods.drivers.moreau_cones import TOLERANCE, feasible, prepare_blocks, put_u, residual, sweep
from gyrostat.simulate.methods.drivers.moreau_hard_rows import solve_hard_rows
from gyrostat.simulate.methods.drivers.moreau_memory import HARD, SPIN_COUNT
from gyrostat.simulate.methods.drivers.moreau_newton import newton_step_of_rows

FIRST_SWEEPS, NEWTON_STEPS, ROUNDS = 10, 5, 3
"""Sweeps before Newton's method, more from round to round and none in the first, its steps at most, and rounds of both;
what is left then is a hard problem."""
PROXIMAL, NEAR_BY = 1e-8, 1e-3
"""Part of the diagonal that is added for redundant rows, at first and where that does not help."""


def solve_rows(box: words, rows: int, first: int) -> float:
    """P and u from the P that is there: the residual. ``first``: 1 if blocks are new."""
    if first == 1:
        prepare_blocks(box)
    if box[SPIN_COUNT] > 0:
        return solve_whole(box, rows)
    feasible(box)
    put_u(box, rows)
    left = residual(box)
    for turn in range(ROUNDS):
        most = 0 if turn == 0 else FIRST_SWEEPS * turn
        for k in range(most):
            change = sweep(box, rows)
            if change <= 10.0 * TOLERANCE or k == most - 1:
                left = residual(box)
            if left <= TOLERANCE:
                return left
        for _ in range(NEWTON_STEPS):
            if left <= TOLERANCE:
                return left
            after = newton_step_of_rows(box, rows, left, PROXIMAL)
            if after < 0.0:
                left = after if after >= 0.0 else left
                after = newton_step_of_rows(box, rows, left, NEAR_BY)
            if after < 0.0:
                break
            left = after
    if left > 100.0 * TOLERANCE:
        box[HARD] = box[HARD] + 1
        left = solve_whole(box, rows)
    return left


def solve_whole(box: words, rows: int) -> float:
    """The problem by the solver of all contact problems, which torsional and rolling friction need: the residual."""
    solve_hard_rows(box)
    feasible(box)
    put_u(box, rows)
    return residual(box)
