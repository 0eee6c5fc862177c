"""Weighted sums of the stages of a step, as drivers, eight numbers at a time: what is summed stays in a register.

The last eight numbers of a row may be among those before: they are computed again, to the same bits, where a loop over
what is left would take them one by one."""

from __future__ import annotations

from gyrostat.engine.drivers.words import LANES, apart, fma, ptr, some
from gyrostat.simulate.kernels.stage import product

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
def block_sum(stride: int, count: int, weights: ptr, K: ptr, h: float, y: ptr, x: ptr) -> int:
    """One block of it, of rows K_j that are ``stride`` apart."""
    x0, x1, x2, x3, x4, x5, x6, x7 = y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7]
    for j in range(count):
        w = h * weights[j]
        if some(w != 0.0):
            k = K + j * stride
            x0, x1 = fma(w, k[0], x0), fma(w, k[1], x1)
            x2, x3 = fma(w, k[2], x2), fma(w, k[3], x3)
            x4, x5 = fma(w, k[4], x4), fma(w, k[5], x5)
            x6, x7 = fma(w, k[6], x6), fma(w, k[7], x7)
    x[0], x[1], x[2], x[3], x[4], x[5], x[6], x[7] = x0, x1, x2, x3, x4, x5, x6, x7
    return 0


@apart
def relative_errors(size: int, stride: int, count: int, weights: ptr, K: ptr, allowed: ptr, e: ptr) -> float:
    """Sum of the squares of e = sum_j w_j K_j / allowed (size,), over ``count`` stages, rows ``stride`` apart."""
    if size < BLOCK:
        for k in range(size):
            total = 0.0
            for j in range(count):
                total = fma(weights[j], K[j * stride + k], total)
            e[k] = total / allowed[k]
        return product(size, e, e)
    for b in range(0, size - BLOCK, BLOCK):
        block_errors(stride, count, weights, K + b, allowed + b, e + b)
    b = size - BLOCK
    block_errors(stride, count, weights, K + b, allowed + b, e + b)
    return product(size, e, e)


@apart
def block_errors(stride: int, count: int, weights: ptr, K: ptr, allowed: ptr, e: ptr) -> int:
    """One block of them."""
    x0, x1, x2, x3, x4, x5, x6, x7 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(count):
        w = weights[j]
        k = K + j * stride
        x0, x1 = fma(w, k[0], x0), fma(w, k[1], x1)
        x2, x3 = fma(w, k[2], x2), fma(w, k[3], x3)
        x4, x5 = fma(w, k[4], x4), fma(w, k[5], x5)
        x6, x7 = fma(w, k[6], x6), fma(w, k[7], x7)
    a = allowed
    x0, x1, x2, x3 = x0 / a[0], x1 / a[1], x2 / a[2], x3 / a[3]
    x4, x5, x6, x7 = x4 / a[4], x5 / a[5], x6 / a[6], x7 / a[7]
    e[0], e[1], e[2], e[3], e[4], e[5], e[6], e[7] = x0, x1, x2, x3, x4, x5, x6, x7
    return 0
