"""Impacts of one-sided constraints: who approaches its limit there bounces, or comes to rest.

One impact after the other [Newton]: the impulse s of a row that is hit turns its speed w = J v round, and rows that
rest take impulses of their own, so that they stay:

    v+ = v- + M^-1 J^T s,      w+ = -e w-  of the row that is hit,      w+ = 0  of those that rest.

A bounce that would leave less than the speed ``rest`` is over: the row comes to rest. Friction does not resist an
impact: its force is limited, that of an impact is not. Bilateral rows are always there: speeds along them at the start,
or after a reset, are taken away by an impact without a bounce [H04 (3.70)]."""

from __future__ import annotations

import numpy as np

from gyrostat.algorithms.constrained.active_set import ActiveRows, rates_after_impact
from gyrostat.algorithms.constrained.constraint_set import ConstraintSet
from gyrostat.simulate.constraints.penetration import AT
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
STILL = 1e-12
"""Speed, relative to one plus that of the rates in it, that is rest."""


def still(J: Array, v: Array) -> Array:
    """(k,) bool: rows J (k, nv) whose speed is zero but for rounding."""
    return np.abs(J @ v) <= STILL * (1.0 + np.abs(J) @ np.abs(v))


def settled_rates(plant: Plant, q: Array, v: Array, J: Array, g: Array) -> Array:
    """v (nv,) after the impacts of all rows at their limits, with the Jacobian J and the residuals g of all rows."""
    rows = plant.constraints
    on = plant.active.on & rows.on_position
    on[list(rows.bilateral)] = True  # also before anything was decided, at the start
    resting = np.flatnonzero(on).tolist()
    v = _without_closing_speed(plant, q, v, J)
    for _ in range(len(rows.one_sided) + 1):
        before = v
        for row in rows.one_sided:
            approaches = abs(g[row]) <= AT and rows.side[row] * float(J[row] @ v) > 0.0
            if approaches and not plant.active.on[row]:
                v = _after_impact(rows, plant.inverse_inertia(q), J, v, row, [k for k in resting if k != row])
        if v is before:
            break
    return v


def _without_closing_speed(plant: Plant, q: Array, v: Array, J: Array) -> Array:
    closed = list(plant.constraints.bilateral)
    if still(J[closed], v).all():
        return v
    return rates_after_impact(plant.inverse_inertia(q), J[closed], v, np.zeros(len(closed)))


def _after_impact(rows: ConstraintSet, M_inverse: Array, J: Array, v: Array, row: int, resting: list[int]) -> Array:
    """v after an impact of one row, while others rest."""
    e = rows.restitution[row]
    soft = e * abs(float(J[row] @ v)) <= rows.rest[row]
    together = [row, *resting]
    restitution = np.zeros(len(together))
    restitution[0] = 0.0 if soft else e
    v = rates_after_impact(M_inverse, J[together], v, restitution)
    still_rows = together if soft else resting
    return ActiveRows(J[still_rows]).projector @ v if still_rows else v  # without rounding
