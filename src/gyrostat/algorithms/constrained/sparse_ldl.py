"""K = L D L^T of a symmetric matrix with many zeros, written out: the order of elimination is found once on numbers, so
that the recorded program has neither loops nor choices of pivots.

Pivots are single entries of the diagonal. The matrices of constrained dynamics, [[M, J^T], [J, 0]] with M positive
definite, have pivots as long as the rows of J are independent, whatever the state is, if each row comes after all rates
that it has an entry for. Rows that depend on others have no pivot left. Rates without inertia, of a joint behind which
a loop was cut, are eliminated together with a row that they move, before all others."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.spatial.algebra import Array

GOOD = 1e-2
"""Pivots, of a matrix with a diagonal of about 1, that are taken for few neighbours' sake."""
DEPENDENT = 1e-7
"""Pivots below this are no pivots: their rows depend on those before."""
NOTHING = 1e-13
"""Entries below this are zeros that rounding left."""


def is_zero(x: Any) -> bool:
    """Whether an entry is known to be zero."""
    return isinstance(x, float | int) and x == 0.0


def product(rows: Array, x: Array) -> Array:
    """A matrix with many zeros times a vector."""
    found: list[Any] = []
    for row in rows:
        terms = [c * y for c, y in zip(row, x, strict=True) if not (is_zero(c) or is_zero(y))]
        found.append(sum(terms[1:], terms[0]) if terms else 0.0)
    return np.array(found) if found else np.zeros(0)


@dataclass(frozen=True)
class Elimination:
    """``order`` of the pivots; ``left``: rows without one; ``cost``: multiplications of the factors and one
    solution."""

    order: tuple[int, ...]
    left: tuple[int, ...]
    cost: int


def elimination_order(samples: Sequence[Array], after: Mapping[int, Collection[int]]) -> Elimination:
    """Order of the pivots for symmetric matrices (n, n) of one kind: fewest neighbours first [Markowitz 1957], among
    those that are :data:`GOOD` in every sample; if there is none, the largest.

    Samples have a diagonal, or rows, of about 1. ``after``: what must come before a row."""
    A = np.array(samples, dtype=float)
    n = A.shape[1]
    waits = {k: set(others) for k, others in after.items()}
    cost = 0
    there: Array = np.any(np.abs(A) > NOTHING, axis=0)
    beside = [set(np.flatnonzero(there[k]).tolist()) - {k} for k in range(n)]
    left, order = set(range(n)), list[int]()
    diagonal = np.arange(n)

    def sizes() -> Array:
        """How large the pivots are against the entries beside them, in the worst sample."""
        own = np.abs(A[:, diagonal, diagonal])
        beside_them = np.maximum(np.abs(A).max(axis=2), 1.0)
        return (own / beside_them).min(axis=0)

    size = sizes() if n else np.zeros(0)
    while left:
        ready = [k for k in left if not waits.get(k)]
        good = [k for k in ready if size[k] > GOOD]
        if good:
            k = min(good, key=lambda k: (len(beside[k]), k))
        else:
            k = max(ready, key=lambda k: (size[k], -k), default=-1)
            if k < 0 or size[k] < DEPENDENT:
                break
        js = sorted(beside[k])
        cost += len(js) * (len(js) + 7) // 2
        for others in waits.values():
            others.discard(k)
        order.append(k)
        left.discard(k)
        if js:
            at = np.ix_(range(len(A)), js, js)
            A[at] -= A[:, js, k][:, :, None] * A[:, js, k][:, None, :] / A[:, k, k][:, None, None]
        A[:, k, :] = 0.0
        A[:, :, k] = 0.0
        for i in js:
            beside[i] = (beside[i] | set(js)) - {i, k}
        if js:
            own = np.abs(A[:, js, js])
            size[js] = (own / np.maximum(np.abs(A[:, js, :]).max(axis=2), 1.0)).min(axis=0)
    return Elimination(tuple(order), tuple(sorted(left)), cost)


@dataclass(frozen=True)
class Single:
    """A pivot: its number, 1/D, and the entries of its column of L."""

    k: int
    inverse: Any
    L: Mapping[int, Any]

    def forward(self, x: dict[int, Any]) -> None:
        if self.k in x:
            for i, entry in self.L.items():
                _subtract(x, i, entry * x[self.k])

    def backward(self, x: dict[int, Any]) -> None:
        total = {0: x[self.k] * self.inverse} if self.k in x else dict[int, Any]()
        for i, entry in self.L.items():
            if i in x:
                _subtract(total, 0, entry * x[i])
        if total:
            x[self.k] = total[0]


@dataclass(frozen=True)
class Couple:
    """A rate z without inertia and a row r: the block [[0, j], [j, 0]]; ``inverse`` = 1/j, and the entries beside
    each."""

    z: int
    r: int
    inverse: Any
    beside_z: Mapping[int, Any]
    beside_r: Mapping[int, Any]

    def forward(self, x: dict[int, Any]) -> None:
        for other, entries in ((self.r, self.beside_z), (self.z, self.beside_r)):
            if other in x:
                y = x[other] * self.inverse
                for i, entry in entries.items():
                    _subtract(x, i, entry * y)

    def backward(self, x: dict[int, Any]) -> None:
        new: dict[int, Any] = {}
        for mine, other, entries in ((self.r, self.z, self.beside_z), (self.z, self.r, self.beside_r)):
            total = {0: x[other]} if other in x else dict[int, Any]()
            for i, entry in entries.items():
                if i in x:
                    _subtract(total, 0, entry * x[i])
            if total:
                new[mine] = total[0] * self.inverse
        for k in (self.z, self.r):
            x.pop(k, None)
        x |= new


Pivot = int | tuple[int, int]
"""A number, or those of a rate without inertia and a row."""


@dataclass(frozen=True)
class SparseFactors:
    """Pivots in order. ``margins``: of those of rows, by their number, what part they are of J M^-1 J^T for a diagonal
    M; zero where rows are dependent."""

    steps: tuple[Single | Couple, ...]
    margins: Mapping[int, Any]

    def solve(self, b: Array) -> Array:
        """K^-1 b (n,), zero for rows that are not among the pivots; zeros of b cost nothing."""
        x: dict[int, Any] = {k: b[k] for k in self.numbers if not is_zero(b[k])}
        for step in self.steps:
            step.forward(x)
        for step in reversed(self.steps):
            step.backward(x)
        found = np.empty(len(b), dtype=object)
        found[:] = [x.get(k, 0.0) for k in range(len(b))]
        return found if any(not isinstance(y, float) for y in found) else found.astype(float)

    @property
    def numbers(self) -> list[int]:
        """What has a pivot, in order."""
        return [k for step in self.steps for k in ([step.k] if isinstance(step, Single) else [step.z, step.r])]


def _subtract(x: dict[int, Any], k: int, y: Any) -> None:
    x[k] = x[k] - y if k in x else -y


def sparse_factors(K: Array, order: Sequence[Pivot], rates: int) -> SparseFactors:
    """L and D of the rows and columns of K (n, n) that are in ``order``, in that order; the first ``rates`` ones have
    positive pivots, the others negative ones."""
    chosen = [k for pivot in order for k in (pivot if isinstance(pivot, tuple) else (pivot,))]
    H: dict[tuple[int, int], Any] = {}
    beside: dict[int, set[int]] = {}
    for i in chosen:
        entries = {int(j): K[i, j] for j in chosen if not is_zero(K[i, j])}
        H |= {(i, j): x for j, x in entries.items()}
        beside[i] = set(entries) - {i}
    steps: list[Single | Couple] = []
    whole: dict[int, Any] = {}
    margins: dict[int, Any] = {}

    def change(i: int, j: int, x: Any) -> None:
        H[i, j] = H[j, i] = H[i, j] - x if (i, j) in H else -x

    for pivot in order:
        if isinstance(pivot, tuple):
            z, r = pivot
            j = H.get((z, r), 0.0)
            over = np.inf if is_zero(j) else 1.0 / j
            mine, other = ({i: H[i, k] for i in sorted(beside[k] - {z, r})} for k in (z, r))
            for i, x in mine.items():
                for k, y in other.items():
                    change(i, k, x * y * over if i != k else x * y * over * 2.0)
                    beside[i] |= {k} - {i}
                    beside[k] |= {i} - {k}
            for i in (*mine, *other):
                beside[i] -= {z, r}
            steps.append(Couple(z, r, over, mine, other))
            continue
        k = pivot
        js, D = sorted(beside[k]), H.get((k, k), 0.0)
        inverse = np.inf if is_zero(D) else 1.0 / D  # numbers of a singular position
        if k >= rates:
            later = [K[k, j] * K[k, j] / K[j, j] for j in js if j < rates and not is_zero(K[k, j])]
            full = sum(later, whole.get(k, 0.0))
            margins[k] = 0.0 if is_zero(full) else -D / full
        L = {i: H[i, k] * inverse for i in js}
        for n, i in enumerate(js):
            for j in js[n:]:
                x = L[i] * H[j, k]
                change(i, j, x)
                if i == j and i >= rates and k < rates:
                    whole[i] = whole[i] + x if i in whole else x
            beside[i] = (beside[i] | set(js)) - {i, k}
        steps.append(Single(k, inverse, L))
    return SparseFactors(tuple(steps), margins)
