"""Rounds of the search for impulses, and how much of an expansion gains no energy, on recorded values."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.algorithms.contact.whitened_cones import SOFT, TINY, WhitenedCones
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.simulate.methods.drivers.moreau_depth import DEPTH
from gyrostat.simulate.rollout.moreau_steps import TOLERANCE

Array = np.ndarray
MANY = 5
"""Sweeps at a time where Newton steps have failed."""
AFTER = 1
"""Sweeps after a Newton step: with more, rounds are longer and hardly fewer (half-cheetah, 1.27 times the time with two
after it and one before the first)."""


def one_round(
    cones: WhitenedCones,
    G: list[Any],
    inverse: list[Any],
    P: Any,
    w: Any,
    r: Any,
    unit: Any = 1.0,
    way: Any = (SOFT, 1.0),
) -> tuple[Array, Array, Array]:
    """P, w, r after a round; ``unit``: of the residual; ``way``: how far the Newton step gives way, and by which factor
    the residual may grow in it."""
    trial, _ = cones.newton(list(P), list(w), inverse, way[0])
    sums = cones.total(trial)
    better = cones.residual(trial, sums, G, inverse) * unit < r * way[1]
    new, total = ([where(better, x, y) for x, y in zip(*pair, strict=True)] for pair in ((trial, P), (sums, w)))
    for _ in range(AFTER):
        cones.sweep(new, total, inverse)
    left, busy = cones.residual(new, total, G, inverse) * unit, r > TOLERANCE
    one, two = ([where(busy, x, y) for x, y in zip(*pair, strict=True)] for pair in ((new, P), (total, w)))
    return np.array(one), np.array(two), np.array([where(busy, left, r)])


def many_sweeps(
    cones: WhitenedCones, G: list[Any], inverse: list[Any], P: Any, w: Any, r: Any
) -> tuple[Array, Array, Array]:
    """P, w, r after MANY sweeps; lanes that have converged keep what they have."""
    new, total = list(P), list(w)
    for _ in range(MANY):
        cones.sweep(new, total, inverse)
    left, busy = cones.residual(new, total, G, inverse), r > TOLERANCE
    one, two = ([where(busy, x, y) for x, y in zip(*pair, strict=True)] for pair in ((new, P), (total, w)))
    return np.array(one), np.array(two), np.array([where(busy, left, r)])


def share_without_gain(cones: WhitenedCones, free: Any, before: Any, P: Any, w: Any, more_P: Any, more_w: Any) -> Any:
    """The largest s up to 1 for which P + s more_P gains no more energy than P, or none: P . (u + before)/2 is a
    parabola in s."""
    rows = range(len(free))
    u = [cones.speed(i, w) for i in rows]
    start = sum((0.5 * P[i] * (u[i] + before[i]) for i in rows), 0.0)
    slope = sum((more_P[i] * (u[i] + 0.5 * (before[i] - free[i])) for i in rows), 0.0)
    bend = 0.5 * sum((x * x for x in more_w), 0.0) + TINY
    left = minimum(start, 0.0)  # what start exceeds zero by is allowed
    root = (np.sqrt(maximum(slope * slope - 4.0 * bend * left, 0.0)) - slope) / (2.0 * bend)
    return where(start + slope + bend > maximum(start, 0.0), minimum(maximum(root, 0.0), 1.0), 1.0)


DEPTH_UNIT = TOLERANCE / (0.1 * DEPTH)
"""In which TOLERANCE is a tenth of DEPTH."""


def arrays(**values: Any) -> dict[str, Array]:
    return {name: np.array(value) for name, value in values.items()}
