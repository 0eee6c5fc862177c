"""Periodic motion: a finite Fourier series, as it is used to excite a robot for identification."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gyrostat.simulate.trajectories.given import point, positive, rows, whole
from gyrostat.simulate.trajectories.trajectory import Trajectory

Array = np.ndarray


def fourier(offset: Any, sine: Any, cosine: Any, frequency: Any, periods: int = 1, names: Any = None) -> Trajectory:
    """q = offset + sum_l a_l sin(l w t) + b_l cos(l w t), l = 1 ... L, w = 2 pi ``frequency`` [Hz].

    ``offset`` (n,), ``sine`` a and ``cosine`` b (L, n) [rad or m]. ``periods`` of them make the duration; the formula
    holds for all times, with all derivatives continuous (``smoothness`` is infinite). Derivative k is exact to about
    u (2 + l w |t|) sum_l (l w)^k (|a_l| + |b_l|), u the rounding unit.
    """
    return Fourier(offset, sine, cosine, frequency, periods, names)


class Fourier(Trajectory):
    """See :func:`fourier`."""

    kind = "fourier"

    def __init__(self, offset: Any, sine: Any, cosine: Any, frequency: Any, periods: int, names: Any):
        self.offset = point(offset, self.kind, "offset")
        self.sine = rows(sine, self.kind, "sine", len(self.offset))
        self.cosine = rows(cosine, self.kind, "cosine", len(self.offset))
        terms = max(len(self.sine), len(self.cosine))
        self.sine, self.cosine = (np.pad(x, ((0, terms - len(x)), (0, 0))) for x in (self.sine, self.cosine))
        self.rates = 2.0 * math.pi * positive(frequency, self.kind, "frequency", "Hz") * np.arange(1, terms + 1)
        count = whole(periods, self.kind, "periods", 1, 10**9)
        super().__init__(len(self.offset), count / float(frequency), math.inf, "continue", names)

    def evaluate(self, t: Array, order: int) -> Array:
        angle = t[:, None] * self.rates
        s, c = np.sin(angle), np.cos(angle)
        turned = ((s, c), (c, -s), (-s, -c), (-c, s))  # sine and cosine, differentiated 0 to 3 times
        derivatives = np.empty((len(t), order + 1, self.n))
        for k in range(order + 1):
            of_sine, of_cosine = turned[k % 4]
            scale = self.rates[:, None] ** k
            derivatives[:, k] = of_sine @ (scale * self.sine) + of_cosine @ (scale * self.cosine)
        derivatives[:, 0] += self.offset
        return derivatives
