"""The messages of the articulated-body algorithm [H04 Tables 3.9, 3.10], and the types of its rows.

Inward goes an :class:`ArticulatedMessage`, f = P e + z at a port; outward goes e (6, columns). Columns are right-hand
sides (:mod:`~gyrostat.algorithms.recursions.right_hand_sides`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.recursions.kinematics import Own
from gyrostat.algorithms.recursions.right_hand_sides import together
from gyrostat.algorithms.shafts.aba_tied_rates import NO_TIED_RATES, TiedRates
from gyrostat.graph.network import Component
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.articulated import ArticulatedInertia
from gyrostat.spatial.representation import Motion, Shift


@dataclass(frozen=True)
class ArticulatedMessage:
    """f = P e + z: articulated inertia P and articulated bias force z (6, columns), or (6,) for column 0 alone;
    ``tied``: what tied rates add to f, nothing without them."""

    P: ArticulatedInertia
    z: Array
    tied: TiedRates = NO_TIED_RATES

    def __add__(self, other: ArticulatedMessage) -> ArticulatedMessage:
        return ArticulatedMessage(self.P + other.P, together(self.z, other.z), self.tied + other.tied)

    def __sub__(self, load: Array) -> ArticulatedMessage:
        """With an external force (6,)."""
        return ArticulatedMessage(self.P, together(self.z, -load), self.tied)

    def moved(self, shift: Shift) -> ArticulatedMessage:
        """phi^T P phi and phi^T z."""
        return ArticulatedMessage(shift.inertia(self.P), shift.force(self.z), self.tied.moved(shift))


NOTHING = ArticulatedMessage(ArticulatedInertia.zero(), np.zeros(6))


Messages = Mapping[str, ArticulatedMessage]
"""By the names of the outports."""
Eliminate = Callable[[ArticulatedMessage, Array, int], tuple[ArticulatedMessage, Any]]
"""``eliminate(message, s, number of the rate) -> (message without the rate, rate)``; later ``rate.acceleration(e)``."""
Step = Callable[[Array], tuple[Mapping[str, Array], Array]]
"""``step(e at the inport) -> (e by outport, accelerations (own rates, columns))``."""


@dataclass(frozen=True)
class Outward:
    """Sweep 3 of a component, once sweep 2 has passed it; phi to its outports, and the rates that it eliminated."""

    step: Step
    shifts: Mapping[str, Shift]
    rates: Sequence[Any] = ()


Inward = Callable[[Messages, Eliminate], tuple[ArticulatedMessage, Outward]]
AbaRow = Callable[[Component, Setting, Motion, Any], Inward]
RowOf = Callable[[Component, Setting, Motion, Any, Own], Inward]
