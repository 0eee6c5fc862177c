"""Rates and accelerations of sampled motions by differences, second order on even grids.

Around the sample q_k the configuration is written in exponential coordinates c(s), c(0) = 0, s = t - t_k, which are
``difference(q_k, q)``. A parabola through two neighbours c(s1) = d1, c(s2) = d2 has

    c'(0) = (d1 s2^2 - d2 s1^2) / (s1 s2 (s2 - s1)),    c''(0) = 2 (d2 s1 - d1 s2) / (s1 s2 (s2 - s1)),

and v = c'(0), a = c''(0) also for quaternions and free joints: the tangent map of the exponential is 1 - ad(c)/2 + ...,
whose rate takes c' to zero. At the ends of the motion both neighbours lie on the same side.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from gyrostat.spec.model import Model

Array = np.ndarray


def neighbours(n: int) -> tuple[Array, Array]:
    """Numbers of the two neighbours of each of n >= 3 samples."""
    k = np.arange(n)
    one, two = k - 1, k + 1
    one[0], two[0] = 1, 2
    one[-1], two[-1] = n - 3, n - 2
    return one, two


def rates_of(t: Array, x: Array) -> Array:
    """Derivatives of plain numbers x (n, m) at the times t (n,)."""
    one, two = neighbours(len(t))
    s1, s2 = (t[one] - t)[:, None], (t[two] - t)[:, None]
    return ((x[one] - x) * s2**2 - (x[two] - x) * s1**2) / (s1 * s2 * (s2 - s1))


def motion_of(model: Model, t: Array, q: Array) -> tuple[Array, Array]:
    """v, a (n, nv) [per s, per s^2] of a motion q (n, nq) at the times t (n,) [s]."""
    import gyrostat as gs

    one, two = neighbours(len(t))
    s1, s2 = (t[one] - t)[:, None], (t[two] - t)[:, None]
    d1, d2 = gs.difference(model, q, q[one]), gs.difference(model, q, q[two])
    below = s1 * s2 * (s2 - s1)
    return (d1 * s2**2 - d2 * s1**2) / below, 2.0 * (d2 * s1 - d1 * s2) / below
