"""What is active along a run: decided anew at the start, and whenever something has changed.

1. rows that approach their limit have an impact                                    (impacts)
2. who touches: one-sided rows at their limit without speed, bilateral rows, friction at rest
3. their forces within their limits, all at once                                    (algorithms/constrained/active_set)
4. a one-sided row that pushes is active, one that would have to pull leaves; friction within its limits sticks,
   otherwise it slides                                                              (stick_slip)"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.active_set import ActiveRows, constraint_forces
from gyrostat.algorithms.constrained.constraint import BILATERAL, constraints
from gyrostat.algorithms.constrained.constraint_examination import examine
from gyrostat.algorithms.constrained.constraint_set import Active, ConstraintSet
from gyrostat.errors import StateError
from gyrostat.simulate.constraints.contact_transitions import ContactChange, ContactTransitions
from gyrostat.simulate.constraints.dry_friction import DryFriction
from gyrostat.simulate.constraints.impacts import settled_rates, still
from gyrostat.simulate.constraints.penetration import AT, Penetration
from gyrostat.simulate.constraints.stick_slip import Change, StickSlip
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.plant_loops import as_constraint
from gyrostat.simulate.plant.rigid_contacts import contact_rules
from gyrostat.spec.model import Model

Array = np.ndarray
WHO = "simulate"
DRIFT = 1e-6
"""How far [rad, m] an active row may have drifted from its limit, by the errors of a method, and is still there."""


class Settled(NamedTuple):
    """Rates v (nv,) after impacts and without rounding, frictions that began to stick or slip, and what contacts do."""

    v: Array
    changes: Sequence[Change]
    contacts: Sequence[ContactChange] = ()


class Transitions:
    """The constraints of a plant along a run: those that are ``given``, the dry friction of its model, and its rigid
    contacts, whose impacts follow a ``law``; None if the steps of the method treat all of these themselves."""

    def __init__(self, plant: Plant, given: Sequence[Any], law: str | None = "poisson"):
        self.plant, self.given, self.law = plant, () if law is None else tuple(given), law
        self.contacts: ContactTransitions | None = None
        self.penetration = Penetration(plant)
        self.stick_slip: StickSlip | None = None
        self.build()

    def build(self) -> None:
        """The rows for the model of the plant, nothing of which is active yet."""
        model = self.plant.model
        closed = frozenset() if self.contacts is None else self.contacts.closed_names
        dry, rules = DryFriction.of(model), None if self.law is None else contact_rules(model)
        rows, of_loops = self._stacked(model, [] if dry is None or self.law is None else [dry], rules is not None)
        self.plant.constrain(rows, model if dry is None else dry.smooth, of_loops, rules)
        self.stick_slip = StickSlip(self.plant) if rows.on_speed else None
        before = self.contacts
        self.contacts = None
        if rules is not None and self.law is not None:
            self.contacts = ContactTransitions(self.plant, rules, self.law, self.stick_slip)
            if before is not None:
                self.contacts.go_on(before)
                self.contacts.carry(closed)

    def _stacked(self, model: Model, dry: list[Any], contacts: bool) -> tuple[ConstraintSet, Array]:
        """All rows, and which of them close loops: bilateral ones beside others, none where loops are alone."""
        loops = self.plant.loops
        beside = [as_constraint(loops)] if loops is not None and (self.given or dry or contacts) else []
        parts = [constraints.of(x, model) for x in self.given], beside, [constraints.of(x, model) for x in dry]
        kinds = [np.full(len(part.names), part in beside) for group in parts for part in group]
        rows = ConstraintSet(tuple(part for group in parts for part in group), model.nv)
        return rows, np.concatenate([np.zeros(0, dtype=bool), *kinds]).astype(bool)

    def take_over(self, before: Transitions) -> None:
        """From a run with another structure: contacts that were closed may have drifted."""
        if self.contacts is not None and before.contacts is not None:
            self.contacts.carry(before.contacts.closed_names)

    def expect_inside(self, q: Array) -> None:
        """Refuse a start beyond a limit, or off a bilateral constraint."""
        rows = self.plant.constraints
        for constraint, part in zip(self.given, rows.parts, strict=False):  # dry friction comes last
            if who := constraints.from_elsewhere(constraint):
                examine(who, part, self.plant.model, q)
        inside = (*rows.one_sided, *rows.bilateral)
        depth = self._depths(q) if inside else ()
        for row in inside:
            if not depth[row] <= AT:
                raise StateError(f"{WHO}: {rows.refusal(q, row)}")
        if self.contacts is not None:
            self.contacts.expect_apart(q, "q0")

    def expect_still_inside(self, q: Array, q_new: Array, who: str) -> None:
        """Refuse a reset from q to q_new that violates a constraint more than q did, or lets surfaces be within each
        other."""
        rows = self.plant.constraints
        before, after = self._depths(q), self._depths(q_new)
        for row in (*rows.one_sided, *rows.bilateral):
            if not after[row] <= max(AT, before[row] + AT):
                raise StateError(
                    f"{WHO}: {who} leads {after[row]:g} beyond '{rows.names[row]}'. Hint: reset to where it allows it"
                )
        if self.contacts is not None:
            self.contacts.expect_apart(q_new, who, q)

    def _depths(self, q: Array) -> Array:
        """How far (rows,) each row is violated."""
        side, g = self.plant.constraints.side, self.plant.constraints.residuals(q)
        return np.where(side == BILATERAL, np.abs(g), side * g)

    def settle(self, t: float, q: Array, v: Array, p: Array) -> Settled:
        """Impacts, and what is active from now on: ``plant.active``."""
        plant = self.plant
        if not len(plant.constraints) and self.contacts is None:
            return Settled(v, ())
        g, before = plant.constraints.residuals(q), plant.active
        J = plant.constraints.jacobian(q, np.abs(g) <= DRIFT)
        if self.contacts is not None and self.contacts.any_near(q):
            return self._with_contacts(self.contacts, t, q, v, p, J, g)
        v = settled_rates(plant, q, v, J, g)
        touching = self._touching(v, J, g)
        resting, directions = ([], before.directions) if self.stick_slip is None else self.stick_slip.resting(t, v)
        candidates = [*touching, *(plant.constraints.on_speed[i] for i in resting)]
        v = _at_rest(J[candidates], v)
        plant.active = plant.none_active.with_directions(directions)
        plant.active = self._balanced(t, q, v, p, J, touching, resting)
        friction = self.stick_slip
        changes = () if friction is None else friction.changes(t, before.sticking, before.directions, resting)
        return Settled(v, changes, () if self.contacts is None else self.contacts.all_apart(t, before))

    def _with_contacts(
        self, contacts: ContactTransitions, t: float, q: Array, v: Array, p: Array, J: Array, g: Array
    ) -> Settled:
        """The same where contacts touch: all that touches at once."""
        rows, before, friction = self.plant.constraints, self.plant.active, self.stick_slip
        stops = [i for i in rows.one_sided if abs(g[i]) <= AT or (before.on[i] and abs(g[i]) <= DRIFT)]
        v, told, resting = contacts.settle(t, q, v, p, J, stops, list(rows.bilateral))
        changes = () if friction is None else friction.changes(t, before.sticking, before.directions, resting)
        return Settled(v, changes, told)

    def _touching(self, v: Array, J: Array, g: Array) -> list[int]:
        """Rows at their limits that do not move."""
        rows, on = self.plant.constraints, self.plant.active.on
        speed = J @ v
        rates = np.count_nonzero(J, axis=1)
        at_rest = np.where(rows.constant & (rates == 1), speed == 0.0, still(J, v))  # exactly, of a single rate
        there = ((np.abs(g) <= AT) & at_rest | on & (np.abs(g) <= DRIFT)) & (rates > 0)
        return sorted([*rows.bilateral, *(row for row in rows.one_sided if there[row])])

    def _balanced(
        self, t: float, q: Array, v: Array, p: Array, J: Array, touching: list[int], resting: list[int]
    ) -> Active:
        """Who of those that touch or rest is active, by their forces on the motion without any of them."""
        plant, rows = self.plant, self.plant.constraints
        candidates, free = [*touching, *(rows.on_speed[i] for i in resting)], plant.active
        if not candidates:
            return free
        forces = constraint_forces(
            *self._problem(t, q, v, p, J[candidates], candidates), *self._limits(touching, resting)
        )
        pushing = rows.side[touching] * forces[: len(touching)] < 0.0
        closed = [row for row, pushes in zip(touching, pushing, strict=True) if pushes or not rows.side[row]]
        on = np.zeros(len(rows), dtype=bool)
        on[closed] = True
        if self.stick_slip is None:
            return free.with_rows(on)
        sticking, directions = self.stick_slip.decide(resting, forces[len(touching) :], J[closed], free.directions)
        on[[rows.on_speed[i] for i in sticking]] = True
        return free.with_rows(on, directions)

    def _problem(self, t: float, q: Array, v: Array, p: Array, J: Array, candidates: list[int]) -> tuple[Array, Array]:
        """Delassus' matrix of the rows, and their accelerations without forces."""
        needed = np.zeros(len(self.plant.constraints), dtype=bool)
        needed[candidates] = True
        c, bias = J @ self.plant.free_acceleration(t, q, v, p), self.plant.constraints.bias(q, v, needed)
        return J @ self.plant.inverse_inertia(q) @ J.T, c if bias is None else c + bias[candidates]

    def _limits(self, touching: list[int], resting: list[int]) -> tuple[Array, Array]:
        low, high = self.plant.constraints.low[touching], self.plant.constraints.high[touching]
        if self.stick_slip is None:
            return low, high
        least, greatest = self.stick_slip.limits(resting)
        return np.concatenate([low, least]), np.concatenate([high, greatest])


def _at_rest(J: Array, v: Array) -> Array:
    """v (nv,) with what rests exactly at rest."""
    return ActiveRows(J).projector @ v if len(J) and np.any(J @ v) else v
