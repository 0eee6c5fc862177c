"""Forces of contacts at the samples of a run, from its motion: without them the acceleration would have been

    a - M^-1 (rnea(q, v, a) - tau - J^T w),

and forces of all rows that were active at a sample, contacts last, are those that the run has found for it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.constraint_set import Active
from gyrostat.simulate.constraints.contact_margins import of_forces
from gyrostat.simulate.plant.plant import Plant
from gyrostat.simulate.plant.wrench_source import applied_efforts
from gyrostat.solvers.functions import rnea

Array = np.ndarray


class LaterForces(Mapping[str, Array]):
    """Forces (T, 3) by the ``names`` of contacts, found when one is first asked for."""

    def __init__(self, names: Sequence[str], find: Callable[[], dict[str, Array]]):
        self._names, self._find, self._forces = tuple(names), find, None

    def _known(self) -> dict[str, Array]:
        if self._forces is None:
            self._forces = self._find()
        return self._forces

    def __getitem__(self, name: str) -> Array:
        return self._known()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return repr(self._known())

    def __reduce__(self) -> Any:
        return dict, (self._known(),)


def sampled_forces(
    plant: Plant, names: Sequence[str], rows: Array, spans: Sequence[tuple[int, Active]], wrenches: Sequence[Array]
) -> dict[str, Array]:
    """(T, 3) by contact, for rows (t, q, v, p, a, tau, work); ``spans``: first row of each set of active rows."""
    found = np.zeros((len(rows), len(names), 3))
    ends = [*(start for start, _ in spans[1:]), len(rows)]
    for (start, active), end in zip(spans, ends, strict=True):
        if end > start and active.touching:
            found[start:end] = _span(plant, active, rows[start:end], wrenches[start:end])
    return {name: found[:, i].copy() for i, name in enumerate(names)}


def _span(plant: Plant, active: Active, rows: Array, wrenches: Sequence[Array]) -> Array:
    n, nv = plant.nq, plant.nv
    q, v, _, a, tau = (rows[:, i:j] for i, j in pairwise(accumulate((1, n, nv, plant.np, nv, nv))))
    left = rnea(plant.moving, q, v, a, **plant.time(0.0)) - tau
    if plant.places:
        left = left - applied_efforts(plant.model, plant.places, rows[:, 0], q, np.array(wrenches))
    found = []
    for q_k, v_k, a_k, r in zip(q, v, a, left, strict=True):
        r = r - plant.constraints.sliding_efforts(v_k, active.directions)
        at = active.rows(q_k, v_k)
        contacts = active.contacts
        M_inverse = plant.inverse_inertia(q_k)
        f = at.forces(M_inverse, a_k - M_inverse @ r)  # type: ignore[union-attr]
        found.append(of_forces(active, at, f, contacts.rules.at(q_k, v_k), v_k).forces)  # type: ignore[union-attr,arg-type]
    return np.array(found)
