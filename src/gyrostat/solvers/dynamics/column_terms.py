"""What the columns of derivatives with contacts share, and how one of them is solved; numbers that one program hands to
another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.constrained.sparse_ldl import product
from gyrostat.algorithms.contact.redundant_forces import ContactFactors
from gyrostat.algorithms.matrices.ltdl import Factors

Array = np.ndarray


class Packed:
    """Numbers that a program hands to another: those that are constants stay so."""

    def __init__(self) -> None:
        self.values: list[Any] = []

    def put(self, x: Any) -> Any:
        """An array or mapping of numbers, as places to read them from."""
        if isinstance(x, Mapping):
            return {key: self._one(value) for key, value in x.items()}
        places: Any = np.empty(np.shape(x), dtype=object)
        for k in np.ndindex(places.shape):
            places[k] = self._one(x[k])
        return places

    def _one(self, value: Any) -> Any:
        if isinstance(value, float | int):
            return float(value)
        self.values.append(value)
        return Place(len(self.values) - 1)


@dataclass(frozen=True)
class Place:
    k: int


def read(places: Any, shared: Array) -> Any:
    if isinstance(places, Mapping):
        return {key: shared[p.k] if isinstance(p, Place) else p for key, p in places.items()}
    found: Any = np.empty(places.shape, dtype=object)
    for k in np.ndindex(places.shape):
        found[k] = shared[places[k].k] if isinstance(places[k], Place) else places[k]
    return found


@dataclass(frozen=True)
class ColumnTerms:
    """What columns share: M = L^T D L, U = L^-T J^T (nv, m), factors of Lambda^-1 = U^T D^-1 U, selectors Q of the
    contacts with their rows; and the right-hand sides by q and by v: (nv, nv), (m, nv), with (m, nv) and (6 contacts,
    nv) more for those by q, if contacts are redundant, or slide."""

    mass: Factors
    U: Array
    contact: ContactFactors
    Lambda: Array | None
    Q: Sequence[Array]
    rows: Sequence[slice]
    forces: tuple[Array, Array]
    accelerations: tuple[Array, Array]
    swept: Array | None
    turned: Array | None

    def solve(self, right: Array) -> tuple[Array, Array, int]:
        """da (nv,) and df (m,) of one column, and how many of its numbers were read."""
        n, m = self.U.shape
        z = _inward(self.mass, right[:n])
        D = np.array([self.mass.inverse[k] for k in range(n)])
        asked = product(self.U.T, z * D) + right[n : n + m]
        df = -self.contact.solve(asked) if self.Lambda is None else -product(self.Lambda, asked)
        a, behind = _outward(self.mass, z + product(self.U, df)), n + m
        if self.swept is not None:
            df, behind = df + self.contact.unheld(right[behind : behind + m]), behind + m
        return a, df, behind


def _inward(mass: Factors, b: Array) -> Array:
    """L^-T b (nv,), level by level: neighbours in the order of operations do not wait for each other."""
    outboard: dict[int, list[int]] = {k: [] for k in mass.inboard}
    order = _levels(mass)
    for k in reversed(order):
        for j in mass.inboard[k]:
            outboard[j].append(k)
    z: dict[int, Any] = {}
    for j in reversed(order):
        total = b[j]
        for k in outboard[j]:
            total = total - z[k] * mass.L[k, j]
        z[j] = total
    return np.array([z[k] for k in range(len(b))])


def _outward(mass: Factors, b: Array) -> Array:
    """L^-1 D^-1 b (nv,), level by level; what is known last is subtracted last."""
    x: dict[int, Any] = {}
    for k in _levels(mass):
        total = b[k] * mass.inverse[k]
        for j in reversed(mass.inboard[k]):
            total = total - x[j] * mass.L[k, j]
        x[k] = total
    return np.array([x[k] for k in range(len(b))])


def _levels(mass: Factors) -> list[int]:
    return sorted(mass.inboard, key=lambda k: len(mass.inboard[k]))
