"""Where the method of Radau keeps what: places in its words and numbers."""

from __future__ import annotations

(
    PENDING, KNOWN, EXTRAPOLATE, AGAIN, SLOPES_KNOWN, SLOPES_NEW, FACTORED,
    ACCEPTED, REJECTED, BUDGET, WORST, REASON, FACTORISATIONS, ITERATIONS, RESTRETCHED,
    Y, Y1, F0, F1, Z, OLD, G, DZ, REAL, IMAGINARY, SCALE, ATOL, U, U0, U1,  # addresses
    S, A, PIVOTS, B, COMPLEX_PIVOTS, PACKED, SPARE, TAU, END_TAU, TABLE, TURNED,
) = range(41)  # fmt: skip
"""``KNOWN``: y' at the beginning; ``EXTRAPOLATE``: whether the polynomial of the step before foretells the next one;
``AGAIN``: a step that is tried again; ``SLOPES_NEW``: they are those of this beginning."""
(
    T, LIMIT, H, RTOL, MAX_STEP, FASTEST, T0, HS, TINY_STEP, NEWTON_TOLERANCE, ETA, THETA, FACTORED_H, ERROR_BEFORE,
    H_BEFORE, STEP_WORK, SHRINK,
) = range(17)  # fmt: skip
NODES, INVERSE, RULE, MU, LEFT, RIGHT, ESTIMATE, DENSE = 0, 3, 12, 21, 24, 33, 42, 45
"""Places in the table: c (3,); A^-1 and A (3, 3); eigenvalues of A^-1, one real, one complex (3,); rows and columns of
its eigenvectors, real, real and imaginary part (3, 3); weights of the error (3,); dense output (3, 3)."""
