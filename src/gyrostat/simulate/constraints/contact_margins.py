"""How far closed contacts are from leaving, from slipping, and from coming to rest: functions whose change of sign is
an event.

Where rows depend on each other (a table on four feet) only sums of forces are known, f + N z with any z: then forces
are some that are inside their cones, those of joint friction that sticks inside its limits, and something gives way
where there are none."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.active_set import COST, ActiveRows
from gyrostat.algorithms.constrained.constraint_set import Active
from gyrostat.simulate.constraints.inner_forces import inner_forces
from gyrostat.simulate.plant.contact_phases import SLOW, STICK, ContactPhases, ContactState
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
INSIDE = 1e-300
TINY = 1e-14
TURNED = 0.3
"""Slip across the reference, as a part of that along it, that asks for a new reference."""
LITTLE = 1e-4
"""Normal force, as a part of the largest, below which all are alike."""


class Margins(NamedTuple):
    """Of closed contacts, one behind the other: normal forces (c,) [N]; what is left of the cone (c,) [N], infinite for
    those that slide; forces (k, 3) of all contacts in contact axes; ``box`` (s, 2): of joint frictions that stick, how
    far their forces are from the least and the greatest."""

    normal: Array
    cone: Array
    forces: Array
    box: Array

    @property
    def least(self) -> float:
        """The smallest of all contacts."""
        return float(min(self.normal.min(initial=np.inf), self.cone.min(initial=np.inf)))

    @property
    def inside(self) -> bool:
        """Whether all forces are within their limits."""
        return self.least >= 0.0 and self.box.min(initial=np.inf) >= 0.0


def margins(plant: Plant, t: float, q: Array, v: Array, p: Array) -> Margins:
    """At a state of a plant with closed contacts."""
    phases: ContactPhases = plant.active.contacts  # type: ignore[assignment]
    rows = plant.active.rows(q, v)
    if rows is None:
        return Margins(np.zeros(0), np.zeros(0), np.zeros((len(phases.rules), 3)), np.zeros((0, 2)))
    f = rows.forces(plant.inverse_inertia(q), plant.free_acceleration(t, q, v, p))
    return of_forces(plant.active, rows, f, phases.rules.at(q, v), v)


def of_forces(active: Active, rows: ActiveRows, f: Array, state: ContactState, v: Array) -> Margins:
    """For forces f along all active rows, those of contacts last."""
    phases: ContactPhases = active.contacts  # type: ignore[assignment]
    boxes = active.boxes
    found = _margins(phases, boxes, f, state, v)
    if found.inside or rows.full:
        return found
    start = len(f) - sum(phases.sizes)
    shared = shared_forces(phases, rows, f, start)
    found = _margins(phases, boxes, shared, state, v)
    if found.inside:
        return found
    _, s, vt = np.linalg.svd(rows.F.T)
    N = vt[int(np.sum(s > 1e-10 * s[0])) :].T
    cones = [(start + first, phases.rules.mu_static[i] if phases.phase[i] == STICK else None)
             for i, first in zip(phases.closed, phases.starts, strict=True)]  # fmt: skip
    return _margins(phases, boxes, inner_forces(shared, N, cones, boxes), state, v)


def shared_forces(phases: ContactPhases, rows: ActiveRows, f: Array, start: int) -> Array:
    """Forces that do the same as f, friction of each contact about as large a part of its normal force as that of the
    others: the shortest, measured in roots of normal forces."""
    normal = np.array([f[start + first] for first in phases.starts])
    weight = np.ones(len(f))
    if rows.spared is not None:
        weight[rows.spared] = 1.0 / COST
    scale = max(1e-300, float(normal.max(initial=0.0)))
    for first, size, x in zip(phases.starts, phases.sizes, normal, strict=True):
        weight[start + first + 1 : start + first + size] = np.sqrt(max(x / scale, LITTLE))
    return weight * np.linalg.lstsq(rows.F.T * weight, rows.F.T @ f, rcond=1e-12)[0]


def _margins(
    phases: ContactPhases, boxes: Sequence[tuple[int, float, float]], f: Array, state: ContactState, v: Array
) -> Margins:
    forces = phases.forces(f[len(f) - sum(phases.sizes) :], state, v)
    closed = list(phases.closed)
    normal = forces[closed, 0]
    sticks = phases.phase[closed] == STICK
    left = phases.rules.mu_static[closed] * normal - np.linalg.norm(forces[closed, 1:], axis=1)
    box = np.array([(f[i] - low, high - f[i]) for i, low, high in boxes]).reshape(-1, 2)
    return Margins(normal, np.where(sticks, left, np.inf), forces, box)


def slip_left(phases: ContactPhases, state: ContactState, v: Array) -> Array:
    """(k,): slip [m/s] along the reference, infinite for contacts that do not slide with friction."""
    left = np.full(len(phases.rules), np.inf)
    for i in phases.closed:
        if phases.phase[i] != STICK and phases.rules.rough[i]:
            x = float(phases.reference[i] @ (state.J[i, 1:] @ v))
            small = TINY * (1.0 + float((np.abs(phases.reference[i]) @ np.abs(state.J[i, 1:])) @ np.abs(v)))
            left[i] = x if x < -small else max(x, INSIDE)
    return left


def turned(phases: ContactPhases, state: ContactState, v: Array) -> float:
    """Positive when the slip of a contact has turned away from its reference, as a part of its speed."""
    most = -1.0
    for i in phases.closed:
        if phases.phase[i] != STICK and phases.rules.rough[i]:
            w = state.J[i, 1:] @ v
            along = float(phases.reference[i] @ w)
            if along > SLOW:
                most = max(most, float(np.linalg.norm(w - along * phases.reference[i])) / along - TURNED)
    return most
