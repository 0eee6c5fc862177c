"""How far steps may go before contacts must be looked at: bodies in free flight leave a method no error that would keep
its steps short, and two that meet and part within one step would pass through each other.

With the gap g, the relative speed s = |w| of the two points and their acceleration A, an open contact stays open while

    s t + A t^2 / 2 < g.

Nearer by, steps are short enough for looks within them to see the surfaces overlap: the way through the thinner of two
bodies, or a part of the time in which a point on a curved path turns."""

from __future__ import annotations

import numpy as np

from gyrostat.simulate.plant.contact_phases import OPEN, ContactPhases
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
TURN = 0.2
"""Angle [rad] that the velocity of a point may turn by within a step near a surface."""
SHORTEST = 1e-3
"""Part of a run that steps need not be shorter than, for the sake of surfaces that end nowhere."""
TINY = 1e-300


def contact_reach(plant: Plant, t: float, q: Array, v: Array, p: Array, span: float) -> float:
    """Time [s] that the next step may take; infinite where contacts do not bound it. ``span`` [s] of the run."""
    phases: ContactPhases = plant.active.contacts  # type: ignore[assignment]
    still_open = phases.phase == OPEN
    if not still_open.any():
        return np.inf
    rules = phases.rules
    g, J, bias = (x[still_open] for x in rules.at(q, v))
    s = np.linalg.norm(J @ v, axis=1)
    turning = np.linalg.norm(bias, axis=1)
    if not (s > 0.0).any():
        return np.inf
    A = np.linalg.norm(J @ plant.observe(t, q, v, p)[0] + bias, axis=1)
    g = np.maximum(g, 0.0)
    apart = 2.0 * g / (s + np.sqrt(s * s + 2.0 * A * g) + TINY)
    turned = np.maximum(TURN * s / (turning + TINY), SHORTEST * span)
    near = np.minimum(rules.thickness[still_open] / (s + TINY), turned)
    return float(np.maximum(apart, near).min())
