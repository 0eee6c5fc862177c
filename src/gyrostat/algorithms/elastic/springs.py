"""Springs the other way round: the deflection that a given torque needs, and its time derivatives (H04 Table 3.14)."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from gyrostat.algorithms.shafts.elements import curve
from gyrostat.engine.tracing.choose import sign
from gyrostat.engine.tracing.taylor import Taylor
from gyrostat.graph.transmission import ShaftComponent

NEWTON = 2
"""Corrections of the closed form, which loses digits where the deflection is small."""


def deflection(c: ShaftComponent, torque: Taylor) -> Taylor:
    """d with the spring's torque T(d) = ``torque``, as a series of the same length: d = T / k; for a progressive spring
    k d + cubic d^3 = T; for a curve, its mirror image (derivatives are those between its corners)."""
    if c["stiffness"] is None:
        return curve([(y, x) for x, y in c["curve"]], torque)
    if isinstance(c["cubic"], float) and c["cubic"] == 0.0:
        return torque * (1.0 / c["stiffness"])
    return _progressive(c["stiffness"], c["cubic"], torque)


def _progressive(k: Any, cubic: Any, torque: Taylor) -> Taylor:
    """The coefficient of order n of d^3 is 3 d_0^2 d_n and what lower orders give: one division for each order."""
    d = [_root(k, cubic, torque.c[0])]
    slope = 1.0 / (k + d[0] * d[0] * cubic * 3.0)
    for n in range(1, len(torque.c)):
        so_far = Taylor([*d, 0.0])
        d.append((torque.c[n] - (so_far * so_far * so_far).c[n] * cubic) * slope)
    return Taylor(d)


def _root(k: Any, cubic: Any, torque: Any) -> Any:
    """The one real root d of k d + cubic d^3 = torque: d = 2 r sinh(arsinh(x) / 3), r = sqrt(k / (3 cubic))."""
    r = np.sqrt(k / (cubic * 3.0))
    x = abs(torque) / (r * r * r * cubic * 2.0)
    root = np.exp(np.log(x + np.sqrt(x * x + 1.0)) * (1.0 / 3.0))
    d = r * (root - 1.0 / root)
    for _ in range(NEWTON):
        d = d - (k * d + cubic * d * d * d - abs(torque)) / (k + 3.0 * cubic * d * d)
    return d * sign(torque)


def increasing(c: ShaftComponent) -> bool:
    """Whether every torque belongs to one deflection."""
    points: Any = c["curve"] if c["stiffness"] is None else ()
    return all(y1 > y0 for (_, y0), (_, y1) in pairwise(points))
