"""Where a method of backward differentiation keeps what: places in its words and numbers."""

from __future__ import annotations

(
    ORDER, EQUAL, FRESH, PENDING, ONE_STEP, KNOWN_END,  # order; steps of one size; begin anew; a step that waits; ...
    ACCEPTED, REJECTED, BUDGET, WORST, REASON, FACTORISATIONS,  # counts, and why the last step was given up
    SLOPES_KNOWN, SLOPES_AGE, FIRST_KNOWN, RESTRETCHED, ITERATIONS,
    D, Y, BASE, PREDICTED, SCALE, ATOL, U, U0, U1,  # addresses
    S, A, PIVOTS, SPARE, R, RATES, TAU, ACCELERATIONS, END_ACCELERATIONS, END_TAU,
    TABLE, K, COEFFICIENTS, DIFFERENCE, INVERSE, CHANGE,
) = range(42)  # fmt: skip
"""``ONE_STEP``: the step that waits was one of the starting method; ``KNOWN_END``: accelerations and efforts at its end
are known; ``FIRST_KNOWN``: so is the first stage of the next one."""
(
    T, LIMIT, H, RTOL, MAX_STEP, FASTEST, T0, HS, TINY_STEP, NEWTON_TOLERANCE, CONVERGENCE, FACTORED_C, H_START, ERROR,
    SAFETY, POWER, STEP_WORK,
) = range(17)  # fmt: skip
GAMMA, ALPHA, ERROR_CONSTANT, MOULTON, BASIS = 0, 8, 16, 24, 32
"""Places of the coefficients (8,) each, and of the basis (6, 6)."""
