"""All that touches at a state as one problem of contact: contacts, stops, dry friction at rest, closed loops.

With u = G P + c, G = J M^-1 F^T (Delassus' matrix, F the directions of forces), rows in the order of
:class:`~gyrostat.algorithms.contact.cone_layout.ConeLayout`: contacts, limits, boxes, bilateral rows. At the level of
accelerations c = J a + b of the motion without forces; at the level of rates c = J v."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.constrained.constraint import UPPER
from gyrostat.algorithms.contact.cone_layout import ConeLayout
from gyrostat.simulate.plant.contact_phases import ContactState
from gyrostat.simulate.plant.plant import Plant

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Touching:
    """Who touches: ``contacts`` by number, each with the ``directions`` (2,) of its slip, None at rest; ``stops`` and
    ``loops``: rows of the constraints; ``frictions``: rows on speeds that rest."""

    contacts: tuple[int, ...]
    directions: tuple[Array | None, ...]
    stops: tuple[int, ...]
    frictions: tuple[int, ...]
    loops: tuple[int, ...]

    def resting(self, rough: Array) -> list[bool]:
        """Which contacts have a cone of friction: rough ones that do not slide."""
        return [bool(rough[i]) and d is None for i, d in zip(self.contacts, self.directions, strict=True)]


@dataclass(frozen=True, eq=False)
class ContactProblem:
    """Rows J (m, nv), directions F (m, nv) of forces, ``layout``; ``first``: row of each contact, of ``sizes`` rows."""

    layout: ConeLayout
    J: Array
    F: Array
    bias: Array
    first: tuple[int, ...]
    sizes: tuple[int, ...]

    def delassus(self, M_inverse: Array) -> Array:
        """G (m, m)."""
        return self.J @ M_inverse @ self.F.T

    @property
    def symmetric(self) -> bool:
        """Whether G is: not where a contact slides with friction, whose force is not along its row."""
        return np.array_equal(self.J, self.F)


def contact_problem(
    plant: Plant, touching: Touching, state: ContactState, J: Array, bias: Array | None, slides: bool = True
) -> ContactProblem:
    """For rows J and ``bias`` of all constraints, None if it is zero. ``slides``: forces of contacts that slide are
    along their slip; otherwise all contacts with friction have cones, as in an impact."""
    contacts = plant.contacts
    if contacts is None:
        raise TypeError("a plant without contacts has no problem of contact")
    cones = touching.resting(contacts.rough) if slides else [bool(contacts.rough[i]) for i in touching.contacts]
    sizes = tuple(3 if cone else 1 for cone in cones)
    rows: list[Array] = []
    pushes: list[Array] = []
    biases: list[Array] = []
    for i, d, size in zip(touching.contacts, touching.directions, sizes, strict=True):
        rows.append(state.J[i, :size])
        biases.append(state.bias[i, :size])
        mu = contacts.mu_dynamic[i] if slides and d is not None else 0.0
        pushes.append(state.J[i, :size] if size == 3 or not mu else state.J[i, :1] - mu * (d @ state.J[i, 1:]))
    sign = np.where(plant.constraints.side == UPPER, -1.0, 1.0)
    others = [*touching.stops, *touching.frictions, *touching.loops]
    more = sign[others, None] * J[others]
    rows.append(more)
    pushes.append(more)
    biases.append(np.zeros(len(others)) if bias is None else sign[others] * bias[others])
    layout = ConeLayout(sizes, len(touching.stops), len(touching.frictions), len(touching.loops))
    first = tuple(int(x) for x in np.cumsum([0, *sizes])[:-1])
    return ContactProblem(layout, np.concatenate(rows), np.concatenate(pushes), np.concatenate(biases), first, sizes)


def friction_of(contacts: Sequence[int], mu: Array) -> Array:
    """(k,) coefficients of some contacts."""
    return np.array([mu[i] for i in contacts], dtype=float)
