"""What the steps of a method that treats contacts itself tell of them: impulses, phases and forces."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gyrostat.simulate.constraints.contact_transitions import ContactHistory, Impulse
from gyrostat.simulate.methods.drivers.moreau_memory import FORCE, IMPULSE_OF, MOMENT, OPEN, PHASE, RECORD

Array = np.ndarray
ROUNDING = 1e-9
"""Of instants, as a part of a step."""


class StepContacts:
    """Records (k, 6): time, contact, kind, three numbers; of contacts with ``names``, from the time ``t0`` on."""

    def __init__(self, names: Sequence[str], records: Sequence[Array], t0: float):
        rows = np.concatenate([np.zeros((0, RECORD)), *records])
        self.history = ContactHistory(tuple(names))
        for i in range(len(names)):
            self.history.enters(i, t0, OPEN)
        for t, i, kind, *x in rows[rows[:, 2] < FORCE].tolist():
            if kind == IMPULSE_OF:
                self.history.impulses.append(Impulse(t, names[int(i)], np.array(x)))
            elif kind == PHASE:
                self.history.enters(int(i), t, int(x[0]))
        self._means = rows[rows[:, 2] >= FORCE]

    def forces(self, times: Array) -> dict[str, Array]:
        """(T, 3) [N] by contact: the means of the steps that end at, or hold, the ``times`` (T,); none at the start."""
        return self._of(FORCE, times)

    def moments(self, times: Array) -> dict[str, Array]:
        """(T, 3) [N m] likewise, of the contacts that have torsional or rolling friction and touched."""
        found = self._of(MOMENT, times)
        rows = self._means[self._means[:, 2] == MOMENT]
        return {self.history.names[i]: found[self.history.names[i]] for i in np.unique(rows[:, 1].astype(int))}

    def _of(self, kind: int, times: Array) -> dict[str, Array]:
        rows = self._means
        names, rows = self.history.names, rows[(rows[:, 2] == kind) | (rows[:, 1] < 0)]
        found = np.zeros((len(names), len(times), 3))
        heads = np.flatnonzero(rows[:, 1] < 0)  # each step begins with one: its end and length
        bounds = np.append(heads, len(rows))
        at = np.searchsorted(rows[heads, 0], times)
        for k, (t, i) in enumerate(zip(times.tolist(), at.tolist(), strict=True)):
            if i < len(heads) and t > rows[heads[i], 0] - (1.0 - ROUNDING) * rows[heads[i], 3]:
                own = rows[bounds[i] + 1 : bounds[i + 1]]
                found[own[:, 1].astype(int), k] = own[:, 3:]
        return {name: found[i] for i, name in enumerate(names)}
