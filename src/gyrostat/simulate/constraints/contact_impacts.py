"""Impacts of contacts: all that touches takes part, stops and closed loops too; and bounces that have no end.

The impulses are those of :mod:`~gyrostat.algorithms.contact.impact_laws` over all contacts that touch, with stops as
one-sided rows and loops as bilateral ones; dry friction of joints does not resist, its force is limited. Inertias of
rotors and gears are in M, and so in the jump.

A contact that bounces with the speed w+ against an acceleration a < 0 meets again after 2 w+/|a|, and with restitution
e comes to rest after infinitely many bounces within T = 2 w+ / (|a| (1 - e)). Where T is short, this is the end of it:
the contact closes, and rests from t + T on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from gyrostat.algorithms.contact.impact_laws import impact
from gyrostat.errors import ContactError
from gyrostat.simulate.constraints.contact_problem import Touching, contact_problem, friction_of
from gyrostat.simulate.plant.contact_phases import ContactState
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray
AT_REST = 1e-9
"""Speed, relative to one plus that of the rates in it, that is rest after an impact."""
SOON = 1e-5
"""Time [s] within which infinitely many bounces are over, and are taken at once."""
MOST = 40
"""Impacts at one instant, each after the one before."""


@dataclass(eq=False)
class Impacts:
    """Impacts of a run: ``law`` of restitution and friction. ``flights``: time [s] until each contact that has
    bounced meets again, by number."""

    plant: Plant
    law: str
    flights: dict[int, float] = field(default_factory=dict)

    def settled(
        self, v: Array, touching: Touching, state: ContactState, J: Array, M_inverse: Array
    ) -> tuple[Array, dict[int, Array]]:
        """v (nv,) after the impacts of all that touches, and the impulses (3,) of contacts that were hit."""
        impulses: dict[int, Array] = {}
        touching = replace(touching, frictions=())
        problem = contact_problem(self.plant, touching, state, J, None, slides=False)
        one_sided = list(problem.layout.one_sided)
        contacts = self.plant.contacts
        if contacts is None or not one_sided:
            return v, impulses
        mu = friction_of(touching.contacts, contacts.mu_dynamic)
        e = np.array(
            [*(contacts.restitution[i] for i in touching.contacts),
             *(self.plant.constraints.restitution[row] for row in touching.stops)]
        )  # fmt: skip
        G, bounds = problem.delassus(M_inverse), np.zeros((0, 2))
        for _ in range(MOST):
            w = problem.J @ v
            small = AT_REST * (1.0 + np.abs(problem.J) @ np.abs(v))
            opens = len(touching.loops) and (np.abs(w) > small)[-len(touching.loops) :].any()
            if not opens and np.all(w[one_sided] >= -small[one_sided]):
                return v, impulses
            found = impact(G, w, problem.layout, mu, e, self.law, bounds=bounds)
            v = v + M_inverse @ (problem.F.T @ found.P)
            for k, i in enumerate(touching.contacts):
                first, size = problem.first[k], problem.sizes[k]
                if np.any(found.P[first : first + size]):
                    impulses[i] = impulses.get(i, np.zeros(3))
                    impulses[i][:size] += found.P[first : first + size]
        names = ", ".join(repr(contacts.names[i]) for i in touching.contacts)
        raise ContactError(f"impacts of {names} follow each other without end. Hint: restitution below 1")

    def ends(self, i: int, w: float, a: float) -> float | None:
        """After which time [s] a contact that leaves with w > 0 [m/s] and is drawn back by a < 0 [m/s^2] rests; None
        if that is not soon."""
        contacts = self.plant.contacts
        if contacts is None or a >= 0.0:
            self.flights.pop(i, None)
            return None
        flight, before = -2.0 * w / a, self.flights.get(i)
        self.flights[i] = flight
        e = float(contacts.restitution[i])
        shrinks = e if e > 0.0 else (1.0 if before is None else flight / before)
        rest = flight / (1.0 - shrinks) if shrinks < 1.0 else np.inf
        return rest if rest < SOON else None
