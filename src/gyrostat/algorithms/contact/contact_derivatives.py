"""Derivatives of accelerations and contact forces, by implicit differentiation of

    M a + h = tau + J^T f,    J a + dJ/dt v = -C f.

Small changes of the state change both by da = x - Y df', (Lambda^-1 + C) df' = J x + d(dw/dt), df = -df', where x is
what the changed forces do without contacts, Y = M^-1 J^T. Redundant contacts share with least norm, f = J u, wherever
the robot is: then df has the part of dJ u that no acceleration sees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from gyrostat.algorithms.constrained.sparse_ldl import product
from gyrostat.algorithms.contact.contact_slopes import ContactSlopes
from gyrostat.algorithms.contact.redundant_forces import ContactFactors
from gyrostat.spatial.algebra import Array

Lift = Callable[[Array], Array]
"""Q^T: forces of rows (m,) as wrenches (contacts, 6)."""


class Columns(NamedTuple):
    """Accelerations (nv, columns) and wrenches (contacts, 6, columns)."""

    a: Array
    forces: Array


def changes(
    factors: ContactFactors, J: Array, Y: Array, lift: Lift, free: Sequence[Array], rows: Sequence[Array]
) -> Columns:
    """For changes ``free`` (nv,) of the acceleration without contacts, ``rows`` (m,) of dw/dt, one pair a column."""
    a: list[Array] = []
    forces: list[Array] = []
    for x, r in zip(free, rows, strict=True):
        df = -factors.solve(product(J, x) + r)
        a.append(x + product(Y, df))
        forces.append(lift(df))
    return Columns(np.stack(a, axis=-1), np.stack(forces, axis=-1))


def changes_with_q(
    factors: ContactFactors,
    J: Array,
    Y: Array,
    lift: Lift,
    free: Sequence[Array],
    slopes: ContactSlopes,
    redundant: bool,
) -> Columns:
    """The same with wrenches that turn, and with what redundant contacts share."""
    found = changes(factors, J, Y, lift, free, list(slopes.rows_dq.T))
    forces = found.forces + slopes.turned
    if redundant:
        forces = forces + np.stack([lift(factors.unheld(x)) for x in slopes.swept.T], axis=-1)
    return Columns(found.a, forces)
