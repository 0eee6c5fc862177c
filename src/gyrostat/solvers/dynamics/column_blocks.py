"""Columns of derivatives in blocks of W, the width of a register: for each state one kernel for what all columns share,
then one that serves W columns at a time; a loop in machine code."""

from __future__ import annotations

from gyrostat.engine.drivers.words import apart, doubles, kernel, ptr, words

(
    NV, WIDTH, BLOCKS, GROUPS,  # blocks of one matrix; matrices: by q, by v, by tau
    FIRST, COMMON, COLUMNS,  # kernels
    SIZE,  # numbers of one right-hand side
    TOP_SIZE, LOW_SIZE,  # rows of results: accelerations, wrenches
    SHARED_AT, RIGHT_AT, TOP_AT, LOW_AT, WORK_AT, FIRST_WORK_AT,  # where things are in the memory of a call
    WORDS,
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


def column_blocks(run: words, rows: words, memory: ptr, count: int) -> int:
    """All columns of ``count`` states; the number of the first whose results are not finite, or -1.

    ``rows``: (address, bytes from state to state) of q, v, tau, then of the accelerations (nv, nv) of all groups, then
    of their wrenches (LOW_SIZE, nv)."""
    n, W, B, G, size = run[NV], run[WIDTH], run[BLOCKS], run[GROUPS], run[SIZE]
    shared, right = memory + run[SHARED_AT], memory + run[RIGHT_AT]
    x, y, work = memory + run[TOP_AT], memory + run[LOW_AT], memory + run[WORK_AT]
    first = -1
    for s in range(count):
        q, v, tau = doubles(rows[0] + s * rows[1]), doubles(rows[2] + s * rows[3]), doubles(rows[4] + s * rows[5])
        bad = kernel(run[FIRST])(q, v, tau, shared, right, memory + run[FIRST_WORK_AT])
        bad = bad + kernel(run[COMMON])(shared, right, x, y, work)
        for g in range(G):
            i, j = 2 * (3 + g), 2 * (3 + G + g)
            X, Y = doubles(rows[i] + s * rows[i + 1]), doubles(rows[j] + s * rows[j + 1])
            for b in range(B):
                bad = bad + kernel(run[COLUMNS])(shared, right + (g * B + b) * size * W, x, y, work)
                in_columns(run[TOP_SIZE], n, W, b, x, X)
                in_columns(run[LOW_SIZE], n, W, b, y, Y)
        if bad != 0.0 and first < 0:
            first = s
    return first
