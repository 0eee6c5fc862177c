"""Columns of derivatives in blocks of W, the width of a register: for each state one kernel for what all columns share,
then one that serves W columns at a time; a loop in machine code."""

from __future__ import annotations

from gyrostat.engine.drivers.words import apart, doubles, kernel, ptr, words

(
    NQ, NV, WIDTH, BLOCKS, GROUPS,  # blocks of one matrix; matrices: by q, by v, by tau
    FIRST, COMMON, COLUMNS,  # kernels
    SHARED, RIGHT, SIZE, WORK, FIRST_WORK,  # what columns share; right-hand sides, numbers of one column; work space
    TOP, TOP_SIZE, LOW, LOW_SIZE,  # results of a block: accelerations, wrenches
) = range(17)  # fmt: skip
WIDE = 8
"""The width of most registers: blocks of this many columns are copied at once."""


@apart
def in_columns(rows: int, n: int, W: int, b: int, x: ptr, X: ptr) -> int:
    """Block b (rows, W) into its columns of a matrix (rows, n)."""
    k = b * W
    if k + W <= n and W == WIDE:
        for i in range(rows):
            for c in range(WIDE):
                X[i * n + k + c] = x[i * WIDE + c]
        return 0
    there = min(W, n - k)
    for i in range(rows):
        for c in range(there):
            X[i * n + k + c] = x[i * W + c]
    return 0


@apart
def column_blocks(run: words, count: int, q: ptr, v: ptr, tau: ptr, found: ptr) -> int:
    """All columns of ``count`` states; 1 + the number of the first whose results are not finite, or 0.

    Results of a state lie matrix by matrix: (groups, TOP_SIZE + LOW_SIZE, nv)."""
    n, W, B, G, size = run[NV], run[WIDTH], run[BLOCKS], run[GROUPS], run[SIZE]
    nt, nl = run[TOP_SIZE], run[LOW_SIZE]
    shared, right = doubles(run[SHARED]), doubles(run[RIGHT])
    x, y, work = doubles(run[TOP]), doubles(run[LOW]), doubles(run[WORK])
    first = 0
    for s in range(count):
        bad = kernel(run[FIRST])(q + s * run[NQ], v + s * n, tau + s * n, shared, right, doubles(run[FIRST_WORK]))
        bad = bad + kernel(run[COMMON])(shared, right, x, y, work)
        for g in range(G):
            X = found + (s * G + g) * (nt + nl) * n
            Y = X + nt * n
            for b in range(B):
                bad = bad + kernel(run[COLUMNS])(shared, right + (g * B + b) * size * W, x, y, work)
                in_columns(nt, n, W, b, x, X)
                in_columns(nl, n, W, b, y, Y)
        if bad != 0.0 and first == 0:
            first = s + 1
    return first
