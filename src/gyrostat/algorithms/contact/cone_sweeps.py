"""Projected sweeps of Gauss and Seidel over contacts, each by itself solved exactly if it sticks.

The matrix A (m, m) has ones on its diagonal, or about, and may be unsymmetric."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, Disc, ForceSet

RIDGE = 1e-12
"""Added to the diagonal of a contact's own matrix: a row that no motion moves is left alone."""


@dataclass(frozen=True)
class Contact:
    """Rows that are solved at once if the contact sticks, by the ``inverse`` of their matrix. Its ``discs`` come with
    the largest eigenvalue of theirs."""

    rows: slice
    discs: tuple[tuple[Disc, float], ...]
    inverse: Array


@dataclass(frozen=True)
class Sweeps:
    """Contacts with friction, and rows by themselves, which are swept one after the other."""

    A: Array
    forces: ForceSet
    contacts: tuple[Contact, ...]
    scalars: tuple[int, ...]

    @classmethod
    def of(cls, A: Array, forces: ForceSet) -> Sweeps:
        """Rows without a positive diagonal are left alone."""
        contacts, used = list[Contact](), set[int]()
        for n in dict.fromkeys(d.normal for d in forces.discs):
            discs = [d for d in forces.discs if d.normal == n]
            rows = slice(n, n + 1 + sum(d.size for d in discs))
            used |= set(range(rows.start, rows.stop))
            if A[n, n] > 0.0 and forces.high[n] > 0.0:
                inverse = np.linalg.inv(A[rows, rows] + RIDGE * np.eye(rows.stop - n))
                contacts.append(Contact(rows, tuple((d, _largest(A[d.rows, d.rows])) for d in discs), inverse))
        alone = tuple(k for k in range(len(A)) if k not in used and A[k, k] > 0.0)
        return cls(A, forces, tuple(contacts), alone)

    def swept(self, P: Array, c: Array, relaxation: float = 1.0) -> Array:
        """Forces after one sweep."""
        P = P.copy()
        for contact in self.contacts:
            self._contact(contact, P, c, relaxation)
        for k in self.scalars:
            self._scalar(k, P, c, relaxation)
        return P

    def _scalar(self, k: int, P: Array, c: Array, relaxation: float) -> None:
        u = self.A[k] @ P + c[k]
        P[k] = min(max(P[k] - relaxation * u / self.A[k, k], self.forces.low[k]), self.forces.high[k])

    def _contact(self, contact: Contact, P: Array, c: Array, relaxation: float) -> None:
        rows, n = contact.rows, contact.rows.start
        stuck = P[rows] - contact.inverse @ (self.A[rows] @ P + c[rows])
        lengths = [np.linalg.norm(stuck[d.first - n :][: d.size]) for d, _ in contact.discs]
        radii = [d.ratio * stuck[0] + d.base for d, _ in contact.discs]
        if stuck[0] >= 0.0 and all(x <= r for x, r in zip(lengths, radii, strict=True)):
            P[rows] = stuck
            return
        self._scalar(n, P, c, relaxation)
        for disc, curvature in contact.discs:
            z = P[disc.rows] - relaxation / curvature * (self.A[disc.rows] @ P + c[disc.rows])
            P[disc.rows] = disc.projected(z, float(P[n]))


def _largest(own: Array) -> float:
    """Largest eigenvalue of a matrix (1, 1) or (2, 2)."""
    return max(float(np.linalg.eigvalsh((own + own.T) / 2)[-1]), RIDGE)
