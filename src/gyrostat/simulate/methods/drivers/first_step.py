"""A step size for the beginning [Hairer, Norsett, Wanner II.4], as a driver: one more evaluation."""

from __future__ import annotations

from gyrostat.engine.drivers.words import count_at, fma, ptr, sqrt, words
from gyrostat.simulate.kernels.environment import NP, NV, SIZE_OF
from gyrostat.simulate.kernels.stage import stage


def first_step(
    env: words, t: float, rtol: float, most: float, power: float, atol: ptr, q: ptr, y: ptr, k1: ptr, k2: ptr, x: ptr,
    q1: ptr, tau: ptr, allowed: ptr,
) -> float:  # fmt: skip
    """h [s] with an error of about a hundredth of the tolerance; NaN where an evaluation is not finite. k1 is known;
    k2, x, q1, tau and allowed are scratch. ``power``: one over the order of the estimate and one."""
    n, at = env[NV], count_at(env[SIZE_OF])
    size = 2 * n + env[NP]
    d0, d1, d2 = 0.0, 0.0, 0.0
    for k in range(size):
        whole = y[k]
        if k < n:
            whole = q[at[k]] if at[k] >= 0 else 1.0
        allowed[k] = fma(rtol, abs(whole), atol[k])
        d0 = d0 + (whole / allowed[k]) * (whole / allowed[k])
        d1 = d1 + (k1[k] / allowed[k]) * (k1[k] / allowed[k])
    d0, d1 = sqrt(d0 / size), sqrt(d1 / size)
    h = 1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1
    h = min(h, most)
    for k in range(size + 1):
        x[k] = fma(h, k1[k], y[k])
    bad = stage(env, t + h, q, x, k2, q1, tau)
    for k in range(size):
        e = (k2[k] - k1[k]) / allowed[k]
        d2 = d2 + e * e
    d2 = sqrt(d2 / size) / h
    largest = max(d1, d2)
    other = max(1e-6, 1e-3 * h) if largest <= 1e-15 else pow(0.01 / largest, power)
    return min(100.0 * h, other) + bad
