"""Contacts of a plant in their phases: which are closed, and along which rows and directions they push.

A contact i is open, sticks or slides. With its velocity w = J v = (w_n, w_t) in contact axes and its force f = (f_n,
f_t) on a, in these axes too,

    stick   J a + b = 0,                 f_n >= 0,  |f_t| <= mu_static f_n       three rows, forces along them
    slide   J_n a + b_n = 0,             f_n >= 0,  f_t = -mu_dynamic f_n d      one row, force along J_n - mu d . J_t

with d = w_t / |w_t| at every state, so that slip may turn. Around w_t = 0 that direction is continued from the one that
the slip had, ``reference``: a step that passes the end of a slip sees no jump before the event at that end cuts it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.constraint_set import FurtherRows

Array = np.ndarray
OPEN, STICK, SLIDE = 0, 1, 2
"""Phases."""
NAMES = ("open", "stick", "slide")
SLOW = 1e-5
"""Slip [m/s] along the reference below which that along it counts as so much: the direction of slip that begins, or
ends, while it turns would turn without limit. Straight slip is not changed by it."""


class ContactState(NamedTuple):
    """g (k,) [m], J (k, 3, nv) and b (k, 3) = dJ/dt v of contacts at a state, rows (normal, t1, t2)."""

    g: Array
    J: Array
    bias: Array


@dataclass(frozen=True, eq=False)
class ContactRules:
    """What is constant about k contacts: names, friction, restitution, ``thickness`` (k,) [m] of the thinner surface,
    infinite for what ends nowhere; ``at(q, v)``, ``gaps_at(q)`` (..., k), and the
    same on recorded values."""

    names: tuple[str, ...]
    mu_static: Array
    mu_dynamic: Array
    restitution: Array
    thickness: Array
    at: Callable[[Array, Array], ContactState]
    gaps_at: Callable[[Array], Array]
    recorded_gaps: Callable[[Array], Array]

    def __len__(self) -> int:
        return len(self.names)

    @cached_property
    def rough(self) -> Array:
        """(k,) bool: contacts with friction."""
        return self.mu_static > 0.0


@dataclass(frozen=True, eq=False)
class ContactPhases:
    """The contacts of ``rules`` in their phases (k,): a value, which does not change. ``reference`` (k, 2): unit
    vectors in the tangents, near the slip of those that slide."""

    rules: ContactRules
    phase: Array
    reference: Array

    @classmethod
    def all_open(cls, rules: ContactRules) -> ContactPhases:
        """Nothing touches."""
        return cls(rules, np.zeros(len(rules), dtype=int), np.tile([1.0, 0.0], (len(rules), 1)))

    @cached_property
    def closed(self) -> tuple[int, ...]:
        """Numbers of the contacts that are closed."""
        return tuple(np.flatnonzero(self.phase != OPEN).tolist())

    @property
    def empty(self) -> bool:
        return not self.closed

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each that is closed."""
        return tuple(3 if self.phase[i] == STICK else 1 for i in self.closed)

    @cached_property
    def starts(self) -> tuple[int, ...]:
        """First row of each that is closed."""
        return tuple(int(x) for x in np.cumsum([0, *self.sizes])[:-1])

    def changed(self, phase: Array, reference: Array) -> ContactPhases:
        """The same contacts in other phases."""
        return replace(self, phase=phase, reference=reference)

    def slip(self, state: ContactState, v: Array) -> Array:
        """Slip (k,) [m/s]."""
        return np.linalg.norm(state.J[:, 1:] @ v, axis=1)

    # ------------------------------------------------------------------ at a state
    def rows(self, q: Array, v: Array) -> FurtherRows:
        """Of the contacts that are closed."""
        return self.rows_of(self.rules.at(q, v), v)

    def rows_of(self, state: ContactState, v: Array) -> FurtherRows:
        """The same where the state of all contacts is known."""
        n, m = state.J.shape[-1], sum(self.sizes)
        J, F, b = np.zeros((m, n)), np.zeros((m, n)), np.zeros(m)
        for i, first, size in zip(self.closed, self.starts, self.sizes, strict=True):
            at = slice(first, first + size)
            J[at], b[at] = state.J[i, :size], state.bias[i, :size]
            F[at] = J[at] if size == 3 else self.push(i, state, v)
        return FurtherRows(J, F, b)

    def push(self, i: int, state: ContactState, v: Array) -> Array:
        """Generalised force (nv,) of a contact that slides, for f_n = 1."""
        mu = self.rules.mu_dynamic[i]
        return state.J[i, 0] - mu * (self.direction(i, state, v) @ state.J[i, 1:]) if mu else state.J[i, 0]

    def direction(self, i: int, state: ContactState, v: Array) -> Array:
        """d (2,): of the slip, or of what continues it."""
        w, reference = state.J[i, 1:] @ v, self.reference[i]
        along = float(w @ reference)
        d = w + (max(along, SLOW) - along) * reference
        return d / np.linalg.norm(d)

    def gaps(self, q: Array) -> tuple[Array, Array]:
        """g (k,) of those that are closed, and its rows (k, nv)."""
        state, closed = self.rules.at(q, np.zeros(0)), list(self.closed)
        return state.g[closed], state.J[closed, 0]

    def forces(self, f: Array, state: ContactState, v: Array) -> Array:
        """Contact forces (k, 3) in contact axes, of all contacts, for forces f along the rows."""
        found = np.zeros((len(self.rules), 3))
        for i, first, size in zip(self.closed, self.starts, self.sizes, strict=True):
            if size == 3:
                found[i] = f[first : first + 3]
            else:
                found[i, 0] = f[first]
                found[i, 1:] = -self.rules.mu_dynamic[i] * f[first] * self.direction(i, state, v)
        return found
