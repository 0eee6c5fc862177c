"""Accelerations and efforts of states that were kept, as a driver: for methods that need neither at the ends of their
steps."""

from __future__ import annotations

from gyrostat.engine.drivers.words import ptr, words
from gyrostat.simulate.kernels.environment import NP, NQ, NV
from gyrostat.simulate.kernels.stage import accelerations


def observed_rows(env: words, count: int, width: int, rows: ptr, rate: ptr) -> int:
    """a and tau of rows (t, q, v, p, a, tau, work), of ``width`` numbers each; ``rate`` (np,) is spare. How many of
    them are finite, from the first one on."""
    nq, n = env[NQ], env[NV]
    for k in range(count):
        row = rows + k * width
        q = row + 1
        v = q + nq
        p = v + n
        a = p + env[NP]
        if accelerations(env, row[0], q, v, p, a, rate, a + n) != 0.0:
            return k
    return count
