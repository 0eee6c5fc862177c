"""Weighted sums of the stages of a step, as drivers, eight numbers at a time: what is summed stays in a register.

The last eight numbers of a row may be among those before: they are computed again, to the same bits, where a loop over
what is left would take them one by one."""

from __future__ import annotations

from gyrostat.engine.drivers.words import LANES, apart, fma, ptr, some

BLOCK = 8
"""Numbers of a block: those of the widest register."""


@apart
def combined(size: int, count: int, weights: ptr, K: ptr, h: float, y: ptr, x: ptr) -> int:
    """x = y + h sum_j w_j K_j (size,), over ``count`` stages."""
    if LANES > 1 or size < BLOCK:
        w = h * weights[0]
        for k in range(size):
            x[k] = fma(w, K[k], y[k])
        for j in range(1, count):
            w = h * weights[j]
            if some(w != 0.0):
                for k in range(size):
                    x[k] = fma(w, K[j * size + k], x[k])
        return 0
    for b in range(0, size - BLOCK, BLOCK):
        block_sum(size, count, weights, K + b, h, y + b, x + b)
    b = size - BLOCK
    return block_sum(size, count, weights, K + b, h, y + b, x + b)


@apart
def block_sum(size: int, count: int, weights: ptr, K: ptr, h: float, y: ptr, x: ptr) -> int:
    """Of one block."""
    x0, x1, x2, x3, x4, x5, x6, x7 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]
    for j in range(count):
        w = h * weights[j]
        if w != 0.0:
            k = K + j * size
            x0, x1 = fma(w, k[0], x0), fma(w, k[1], x1)
            x2, x3 = fma(w, k[2], x2), fma(w, k[3], x3)
            x4, x5 = fma(w, k[4], x4), fma(w, k[5], x5)
            x6, x7 = fma(w, k[6], x6), fma(w, k[7], x7)
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = x0, x1, x2, x3, x4, x5, x6, x7
    return 0
