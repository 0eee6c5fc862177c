"""How ties change with the coordinates: what the derivatives of the dynamics need beside the ties themselves.

A rate that follows by a curve has v_f = G v, a_f = G a + G' v with G = dg/dq and G' = H v, H the second derivative of
g:

    dv_f/dq = v^T H = G',    dv_f/dv = G,    da_f/dv = 2 G',    da_f/dq: ``pull``,    dG/dq = H: ``curvature``

They are found on numbers with a rate, one coordinate after the other. Rates behind gears have none of this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.engine.tracing.dual import OUTER, Dual, rates_of
from gyrostat.graph.transmission import Shaft, Ties, Transmission
from gyrostat.spatial.algebra import Array

LEVEL = OUTER + 5
"""Of rates that belong to this module alone."""


@dataclass
class Slopes:
    """Of one shaft: da/dq by the numbers of the rates, and H by pairs of them."""

    pull: dict[int, Any] = field(default_factory=dict)
    curvature: dict[tuple[int, int], Any] = field(default_factory=dict)

    def add(self, k: int, shaft: Shaft, a: Array) -> None:
        """From the shaft with rates along coordinate k."""
        self.pull[k] = rates_of(shaft.acceleration(a), LEVEL)[()]
        self.curvature |= {(j, k): rates_of(factor, LEVEL)[()] for j, factor in shaft.ties}


def follower_slopes(moved: Transmission, q: Array, v: Array, a: Array) -> dict[int, Slopes]:
    """By the numbers of the rates; those behind a curve alone."""
    slopes = {moved.n + i: Slopes() for i, shaft in enumerate(moved.followers) if not shaft.is_linear}
    for k, varied in _varied(moved, q, v).items() if slopes else ():
        for rate, own in slopes.items():
            own.add(k, varied.followers[rate - moved.n], a)
    return slopes


def element_slopes(moved: Transmission, q: Array, v: Array, a: Array) -> Mapping[tuple[str, str], Slopes]:
    """By element and port; those of shafts behind a curve alone."""
    slopes = {(c.name, port): Slopes() for c in moved.elements for port, s in c.shafts.items() if not s.is_linear}
    for k, varied in _varied(moved, q, v).items() if slopes else ():
        shafts = {(c.name, port): shaft for c in varied.elements for port, shaft in c.shafts.items()}
        for place, own in slopes.items():
            own.add(k, shafts[place], a)
    return slopes


def _varied(moved: Transmission, q: Array, v: Array) -> dict[int, Transmission]:
    """The transmission with a unit rate in each coordinate that curves depend on."""
    varied: dict[int, Transmission] = {}
    for k in dict.fromkeys(k for curve in moved.curves for k, _ in curve.ties):
        moving = np.array(q, dtype=object)
        moving[moved.place[k]] = Dual(moving[moved.place[k]], 1.0, LEVEL)
        varied[k] = moved.at(moving, v)
    return varied


def doubled(ties: Ties) -> Ties:
    return tuple((k, x * 2.0) for k, x in ties)
