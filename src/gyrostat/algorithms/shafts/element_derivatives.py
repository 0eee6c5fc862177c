"""Derivatives of the torques of elements on shafts, and their Coriolis matrix where the ratios of shafts change."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.recursions.affine_number import Affine
from gyrostat.algorithms.shafts.elements import At, is_zero, shaft_motion, shafts
from gyrostat.algorithms.shafts.tie_slopes import Slopes, element_slopes
from gyrostat.engine.tracing.dual import Dual, rates_of
from gyrostat.graph.network import Network
from gyrostat.graph.transmission import ShaftComponent, Ties
from gyrostat.spatial.algebra import Array

LEVEL = 7
"""Of rates that belong to this module alone: the state may carry others."""
Entries = dict[tuple[int, int], Any]


def _put(entries: Entries, rows: Ties, columns: Ties, x: Any) -> None:
    for j, a in rows:
        for k, b in columns:
            entries[j, k] = entries.get((j, k), 0.0) + x * a * b


def element_derivatives(net: Network, q: Array, v: Array, a: Array) -> tuple[Entries, Entries, Entries]:
    """Derivatives {(j, k): x} of the torques of all elements by q, v and a; each row on numbers with a rate."""
    entries: tuple[Entries, Entries, Entries] = {}, {}, {}
    moved = net.transmission.at(q, v)
    slopes = element_slopes(moved, q, v, a)
    for c in moved.elements:
        motion = shaft_motion(c, moved, q, v, a)
        for which in range(3):
            for port in c.shafts:
                varied = [dict(x) for x in motion]
                varied[which][port] = Dual(varied[which][port], 1.0, LEVEL)
                for other, torque in shafts.of(c)(c, *varied).items():  # type: ignore[arg-type]
                    slope = rates_of(torque, LEVEL)[()]
                    if not is_zero(slope):
                        _chain(entries, c, (other, port), which, slope, slopes.get((c.name, port)))
        if any((c.name, port) in slopes for port in c.shafts):
            _turn(entries[0], c, motion, slopes)
    return entries


def _chain(
    entries: tuple[Entries, Entries, Entries],
    c: ShaftComponent,
    ports: tuple[str, str],
    which: int,
    slope: Any,
    bent: Slopes | None,
) -> None:
    """The derivative of a torque by angle (0), rate (1) or acceleration (2) of a shaft, by the rates of the model."""
    rows, shaft = c.shafts[ports[0]].ties, c.shafts[ports[1]]
    _put(entries[which], rows, shaft.ties, slope)
    if bent is not None and which == 1:
        _put(entries[0], rows, tuple(bent.swing.items()), slope)
    if bent is not None and which == 2:
        _put(entries[0], rows, tuple(bent.pull.items()), slope)
        _put(entries[1], rows, tuple(bent.by_v.items()), slope)


def _turn(
    by_q: Entries, c: ShaftComponent, motion: tuple[At, At, At], slopes: Mapping[tuple[str, str], Slopes]
) -> None:
    """A torque acts on the rates by ties that change."""
    for port, torque in shafts.of(c)(c, *motion).items():  # type: ignore[arg-type]
        if (c.name, port) in slopes:
            for place, x in slopes[c.name, port].curvature.items():
                by_q[place] = by_q.get(place, 0.0) + torque * x


def element_coriolis(net: Network, q: Array, v: Array) -> Entries:
    """C {(j, k): x} of the inertia of elements: sum of G^T J G'; nothing where all ratios are constant."""
    entries: Entries = {}
    moved = net.transmission.at(q, v)
    for c in moved.elements if moved.bends else ():
        angle, rate, _ = shaft_motion(c, moved, q, v, np.zeros(moved.n))
        ports = list(c.shafts)
        unknown = {port: Affine(0.0, {i: 1.0}) for i, port in enumerate(ports)}
        for port, torque in shafts.of(c)(c, angle, rate, unknown).items():  # type: ignore[arg-type]
            for i, x in torque.terms.items() if isinstance(torque, Affine) else ():
                _put(entries, c.shafts[port].ties, c.shafts[ports[i]].tie_rates, x)
    return entries
