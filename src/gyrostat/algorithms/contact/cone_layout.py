"""Which rows of a contact problem belong together, and what their forces may do.

Rows stand in this order: contacts one after the other, limits, boxes, bilateral rows. A contact has 1 row (normal), 3
(normal, t1, t2), 4 (with torsion about the normal) or 6 (with rolling about t1, t2). For each row of force P and each
row of velocity u:

* normal and limit: P >= 0; box (dry friction of a joint): low <= P <= high; bilateral: any P;
* friction, torsion, rolling: \\|P\\| <= mu P_n, each with its own mu: a *disc* whose radius hangs on a normal force."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError, ShapeError

Array = np.ndarray
DIMENSIONS = (1, 3, 4, 6)
LARGEST_FRICTION = 1e100
"""Coefficients above this one, infinity too, mean: never slides."""


@dataclass(frozen=True)
class ConeLayout:
    """Rows of a contact problem: ``contacts`` is their number, or their rows one by one (1, 3, 4 or 6).

    >>> ConeLayout(2, limits=1).rows
    7
    >>> ConeLayout((1, 6), bilateral=2).normals
    (0, 1)
    """

    contacts: int | tuple[int, ...]
    limits: int = 0
    boxes: int = 0
    bilateral: int = 0

    def __post_init__(self) -> None:
        given = self.contacts
        sizes = (3,) * given if isinstance(given, int | np.integer) else tuple(int(d) for d in given)
        wrong = [d for d in sizes if d not in DIMENSIONS]
        if wrong or (isinstance(given, int) and given < 0) or min(self.limits, self.boxes, self.bilateral) < 0:
            raise ShapeError(
                f"ConeLayout: a contact has 1, 3, 4 or 6 rows and no number is negative, got contacts = {given}, "
                f"limits = {self.limits}, boxes = {self.boxes}, bilateral = {self.bilateral}. "
                "Hint: (1, 3) is a contact without friction and one with."
            )
        object.__setattr__(self, "contacts", sizes)

    @property
    def sizes(self) -> tuple[int, ...]:
        """Rows of each contact."""
        return self.contacts  # type: ignore[return-value]

    @cached_property
    def normals(self) -> tuple[int, ...]:
        """Row of each contact's normal: its first."""
        return tuple(int(k) for k in np.cumsum([0, *self.sizes])[:-1])

    @cached_property
    def rows(self) -> int:
        return sum(self.sizes) + self.limits + self.boxes + self.bilateral

    @cached_property
    def one_sided(self) -> tuple[int, ...]:
        """Rows that have a restitution: normals of contacts, then limits."""
        first = sum(self.sizes)
        return (*self.normals, *range(first, first + self.limits))


@dataclass(frozen=True)
class Disc:
    """Rows ``first`` to ``first + size`` (1 or 2) with \\|P\\| <= ratio P[normal] + base."""

    first: int
    size: int
    normal: int
    ratio: float
    base: float = 0.0

    @property
    def rows(self) -> slice:
        return slice(self.first, self.first + self.size)

    def projected(self, z: Array, normal_force: float) -> Array:
        """The nearest to z (size,) with this normal force."""
        radius, length = self.ratio * normal_force + self.base, float(np.linalg.norm(z))
        return z if length <= radius else z * (radius / length)


@dataclass(frozen=True)
class ForceSet:
    """What forces may do: ``low`` and ``high`` (m,) for each row by itself, and discs."""

    low: Array
    high: Array
    discs: tuple[Disc, ...]

    def projected(self, z: Array, P: Array) -> Array:
        """The nearest forces to z, discs of the radius that the normal forces P give them."""
        nearest = np.clip(z, self.low, self.high)
        for disc in self.discs:
            nearest[disc.rows] = disc.projected(z[disc.rows], P[disc.normal])
        return nearest

    def feasible(self, P: Array) -> Array:
        """Normal forces first, then discs of their radius."""
        return self.projected(P, np.clip(P, self.low, self.high))

    def natural_map(self, P: Array, u: Array) -> Array:
        """P - proj(P - u) (m,): zero where P solves the problem, in units of P = units of u."""
        return P - self.projected(P - u, P)


def force_set(
    layout: ConeLayout,
    mu: Any,
    torsional: Any = 0.0,
    rolling: Any = 0.0,
    bounds: Any = None,
    where: str = "solve_cones",
) -> ForceSet:
    """Forces that the layout and its coefficients allow; ``mu``, ``torsional``, ``rolling``: one for all contacts or
    one for each, ``bounds`` (boxes, 2)."""
    k = len(layout.sizes)
    slide, spin, roll = (
        _coefficients(x, k, name, where) for x, name in ((mu, "mu"), (torsional, "torsional"), (rolling, "rolling"))
    )
    low, high, discs = np.full(layout.rows, -np.inf), np.full(layout.rows, np.inf), list[Disc]()
    low[list(layout.one_sided)] = 0.0
    for i, (n, size) in enumerate(zip(layout.normals, layout.sizes, strict=True)):
        blocks = [(n + 1, 2, slide[i]), (n + 3, 1, spin[i]), (n + 4, 2, roll[i])]
        discs += [Disc(first, wide, n, float(ratio)) for first, wide, ratio in blocks if first < n + size]
    first = sum(layout.sizes) + layout.limits
    low[first : first + layout.boxes], high[first : first + layout.boxes] = _bounds(bounds, layout.boxes, where).T
    return ForceSet(low, high, tuple(discs))


def _coefficients(given: Any, k: int, name: str, where: str) -> Array:
    values = np.asarray(given, dtype=float)
    if values.shape not in ((), (k,)):
        raise ShapeError(f"{where}: {name} has shape {values.shape}, expected () or ({k},), one for each contact")
    if not np.all(values >= 0.0):
        raise NonFiniteError(f"{where}: {name} must not be negative, got {values}. Hint: 0 is no friction.")
    return np.broadcast_to(np.minimum(values, LARGEST_FRICTION), (k,))


def _bounds(given: Any, boxes: int, where: str) -> Array:
    values = np.zeros((boxes, 2)) if given is None and boxes == 0 else np.asarray(given, dtype=float)
    if values.shape != (boxes, 2):
        raise ShapeError(f"{where}: bounds has shape {values.shape}, expected ({boxes}, 2): low and high of each box")
    if not np.all(values[:, 0] <= values[:, 1]):
        raise NonFiniteError(f"{where}: every box needs low <= high, got {values.tolist()}")
    return values
