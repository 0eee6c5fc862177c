"""How ties change with the coordinates: what the derivatives of the dynamics need beside the ties themselves.

A rate that follows by a curve, or closes a loop, has v_f = G v, a_f = G a + G' v with G = dg/dq along the rates and
G' = H v, H_jk the derivative of G_j along rate k:

    dv_f/dq = v^T H: ``swing``,    dv_f/dv = G,    da_f/dv = G' + v^T H,    da_f/dq: ``pull``,    H: ``curvature``

H is symmetric, and the swing is G', where rates are derivatives of coordinates; along quaternions they are not. They
are found on numbers with a rate, one coordinate after the other. Rates behind gears have none of this."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.engine.tracing.dual import OUTER, Dual, rates_of
from gyrostat.graph.transmission import Shaft, Transmission
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.coordinate_rates import rates_of_coordinates

LEVEL = OUTER + 5
"""Of rates that belong to this module alone."""


@dataclass
class Slopes:
    """Of one shaft: da/dq and dv/dq by the numbers of the rates, and H by pairs of them; ``by_v``: da/dv without G."""

    pull: dict[int, Any] = field(default_factory=dict)
    swing: dict[int, Any] = field(default_factory=dict)
    by_v: dict[int, Any] = field(default_factory=dict)
    curvature: dict[tuple[int, int], Any] = field(default_factory=dict)

    def add(self, k: int, shaft: Shaft, v: Array, a: Array, own: Shaft, numbers: bool) -> None:
        """From the shaft with rates along coordinate k; ``own``: without them; ``numbers``: whether all rates that it
        depends on are derivatives of coordinates."""
        self.pull[k] = rates_of(shaft.acceleration(a), LEVEL)[()]
        self.curvature |= {(j, k): rates_of(factor, LEVEL)[()] for j, factor in shaft.ties}
        rate = dict(own.tie_rates)[k]
        self.swing[k] = rate if numbers else rates_of(shaft.rate(v), LEVEL)[()]
        self.by_v[k] = rate * 2.0 if numbers else rate + self.swing[k]


def follower_slopes(moved: Transmission, q: Array, v: Array, a: Array) -> dict[int, Slopes]:
    """By the numbers of the rates; those behind a curve alone."""
    moved = moved.at(q, v)
    slopes = {moved.n + i: Slopes() for i, shaft in enumerate(moved.followers) if not shaft.is_linear}
    for k, varied in _varied(moved, q, v).items() if slopes else ():
        for rate, own in slopes.items():
            here = moved.followers[rate - moved.n]
            if any(j == k for j, _ in here.ties):
                own.add(k, varied.followers[rate - moved.n], v, a, here, _are_numbers(moved, here))
    return slopes


def element_slopes(moved: Transmission, q: Array, v: Array, a: Array) -> Mapping[tuple[str, str], Slopes]:
    """By element and port; those of shafts behind a curve alone."""
    here_of = {(c.name, port): s for c in moved.elements for port, s in c.shafts.items() if not s.is_linear}
    slopes = {place: Slopes() for place in here_of}
    for k, varied in _varied(moved, q, v).items() if slopes else ():
        shafts = {(c.name, port): shaft for c in varied.elements for port, shaft in c.shafts.items()}
        for place, own in slopes.items():
            here = here_of[place]
            if any(j == k for j, _ in here.ties):
                own.add(k, shafts[place], v, a, here, _are_numbers(moved, here))
    return slopes


def _varied(moved: Transmission, q: Array, v: Array) -> dict[int, Transmission]:
    """The transmission displaced along each rate that curves and loops depend on."""
    shafts = [*moved.followers, *(shaft for c in moved.elements for shaft in c.shafts.values())]
    varied: dict[int, Transmission] = {}
    for k in dict.fromkeys(k for shaft in shafts if not shaft.is_linear for k, _ in shaft.ties):
        varied[k] = moved.at(_displaced(moved, q, k), v)
    return varied


def _displaced(moved: Transmission, q: Array, k: int) -> Array:
    """q with a unit rate along rate k."""
    moving = np.array(q, dtype=object)
    places, rates, quaternion_at = _block(moved, k)
    unit = np.zeros(rates.stop - rates.start)
    unit[k - rates.start] = 1.0
    for i, x in enumerate(rates_of_coordinates(q[places], unit, quaternion_at), places.start):
        if not (isinstance(x, float) and x == 0.0):
            moving[i] = Dual(moving[i], x, LEVEL)
    return moving


def _block(moved: Transmission, k: int) -> tuple[slice, slice, int | None]:
    """Places of the joint that has rate k, and where its quaternion is; curves are driven by numbers."""
    for block in moved.loops.blocks if moved.loops is not None else ():
        if block[1].start <= k < block[1].stop:
            return block
    return slice(moved.place[k], moved.place[k] + 1), slice(k, k + 1), None


def _are_numbers(moved: Transmission, shaft: Shaft) -> bool:
    return all(_block(moved, k)[2] is None for k, _ in shaft.ties)
