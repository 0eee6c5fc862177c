"""Coordinates that follow from closed loops, as ties that depend on the state: q_f = g(q), v_f = G v, a_f = G a + b.

Positions come from the closed form of each loop, one after the other. Rates and accelerations come from its equations,
whatever the form is: with the columns J_u of the unknowns and J_k of what is known,

    J_u v_u + J_k v_k = 0,    J_u a_u + J_k a_k + dJ/dt v = 0."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.engine.tracing.dual import OUTER, rates_of, with_rates
from gyrostat.graph.loops.closed_forms import Form
from gyrostat.graph.loops.closure import ClosureRows
from gyrostat.graph.loops.solutions import Branches, Known
from gyrostat.graph.loops.ways import Closure
from gyrostat.graph.tied_shafts import Moved, Shaft, Ties
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.coordinate_rates import rates_of_coordinates

LEVEL = OUTER + 6
"""Of the rates that differentiate ties in time."""


@dataclass(frozen=True)
class LoopStep:
    """A loop, its closed form, and the equations that give the rates: ``slots`` of the unknowns among the coordinates,
    ``numbers`` among the rates that components see."""

    closure: Closure
    form: Form
    signs: tuple[float, ...]
    rows: tuple[int, ...]
    slots: tuple[int, ...]
    numbers: tuple[int, ...]


@dataclass(frozen=True)
class LoopTies:
    """Solutions of loops in order. ``nq``, ``n``: sizes of the model's state; ``followers`` as in the transmission;
    ``near``: all coordinates at the reference; ``blocks``: places in q and v, and of a quaternion, of each joint."""

    steps: tuple[LoopStep, ...]
    nq: int
    n: int
    followers: tuple[Shaft, ...]
    place: tuple[int, ...]
    near: dict[int, float]
    blocks: tuple[tuple[slice, slice, int | None], ...]

    def at(self, q: Array, v: Array, curves: Callable[[Array], list[Moved]], moving: bool) -> list[Moved]:
        """How the followers of cams move, as ``curves(q)`` says, then the unknowns in their order. Their ties change
        with time if the robot is ``moving``."""
        known = curves(q)
        first = len(known)
        solved = _State(self, q, v, known).solve()
        if not moving:
            return solved
        pace = np.concatenate([rates_of_coordinates(q[a], v[b], at) for a, b, at in self.blocks])
        varied = _State(self, with_rates(q, pace, LEVEL), np.zeros(self.n), curves(with_rates(q, pace, LEVEL))).solve()
        return solved[:first] + [
            m._replace(tie_rates=tuple((k, rates_of(x, LEVEL)[()]) for k, x in later.ties))
            for m, later in zip(solved[first:], varied[first:], strict=True)
        ]

    def margins(
        self, q: Array, curves: Callable[[Array], list[Moved]]
    ) -> list[tuple[Closure, tuple[int, ...], list[Any]]]:
        """On numbers: for each loop its unknowns, and for each of their roots how far the equation is from having no
        solution, see :class:`Branches`."""
        state = _State(self, q, np.zeros(self.n), curves(q))
        with np.errstate(all="ignore"):
            state.solve()
        return state.margins


class _State:
    """The ties at one state, in the making."""

    def __init__(self, ties: LoopTies, q: Array, v: Array, moved: list[Moved]):
        self.ties, self.q, self.v, self.moved = ties, q, v, moved
        self._shafts: dict[int, Shaft] = {}
        self.margins: list[tuple[Closure, tuple[int, ...], list[Any]]] = []

    def shaft(self, i: int) -> Shaft:
        """Follower i, which depends on what was solved before."""
        if i not in self._shafts:
            self._shafts[i] = self.ties.followers[i].at(self.q, self.ties.place, self.moved)
        return self._shafts[i]

    def coordinate(self, slot: int) -> Any:
        if slot < self.ties.nq:
            return self.q[slot]
        return self.shaft(slot - self.ties.nq).angle(self.q, self.ties.place)

    def tie(self, rate: int) -> Ties:
        return ((rate, 1.0),) if rate < self.ties.n else self.shaft(rate - self.ties.n).ties

    def rate(self, rate: int) -> Any:
        return self.v[rate] if rate < self.ties.n else self.shaft(rate - self.ties.n).rate(self.v)

    def bias(self, rate: int) -> Any:
        if rate < self.ties.n:
            return 0.0
        return self.shaft(rate - self.ties.n).acceleration(np.zeros(self.ties.n))

    def solve(self) -> list[Moved]:
        for step in self.ties.steps:
            self._solve(step)
        return self.moved

    def _solve(self, step: LoopStep) -> None:
        branches = Branches(step.signs)
        found = step.form.solve(Known(self.coordinate, self.ties.near), branches)
        self.margins.append((step.closure, step.slots, branches.margins))
        rows = self._rows(step, found, None, branches)
        unknown = list(step.numbers)
        inverse = _inverse(np.stack([rows.J[k] for k in unknown], axis=1))
        G: list[dict[int, Any]] = [{} for _ in unknown]
        known = [k for k in rows.J if k not in unknown]
        for k in known:
            column = inverse @ rows.J[k]
            for number, factor in self.tie(k):
                for row, entry in zip(G, column, strict=True):
                    y = entry * (-factor)
                    row[number] = row[number] + y if number in row else y
        v_u = [sum((x * self.v[j] for j, x in row.items()), start=0.0) for row in G]
        own = dict(zip(unknown, v_u, strict=True))
        bias = self._rows(step, found, lambda k: own[k] if k in own else self.rate(k), branches).bias
        for k in known:
            bias = bias + rows.J[k] * self.bias(k)
        b_u = -(inverse @ bias)
        for slot, row, b in zip(step.slots, G, b_u, strict=True):
            ties = tuple(row.items())
            self.moved.append(Moved(found[slot], ties, tuple((k, 0.0) for k, _ in ties), b))

    def _rows(
        self, step: LoopStep, found: dict[int, Any], rate: Callable[[int], Any] | None, branches: Branches
    ) -> ClosureRows:
        """The equations of a loop at rest, or with rates by their number."""

        def x(k: int) -> Any:
            return found[k] if k in found else self.coordinate(k)

        rows = step.form.rows(x, rate, branches)
        if rows is None:
            every = step.closure.rows(_Slots(x), None if rate is None else _Slots(rate))  # type: ignore[arg-type]
            chosen = list(step.rows)
            rows = ClosureRows(
                every.g[chosen], {k: column[chosen] for k, column in every.J.items()}, every.bias[chosen]
            )
        return rows


class _Slots:
    """Numbers by their places, read as slices of an array are."""

    def __init__(self, read: Callable[[int], Any]):
        self.read = read

    def __getitem__(self, at: slice) -> Array:
        values = [self.read(k) for k in range(at.start, at.stop)]
        part = np.empty(len(values), dtype=float if all(isinstance(x, float) for x in values) else object)
        part[:] = values
        return part


def _inverse(A: Array) -> Array:
    """Of a matrix of one to three rows, by cofactors: no pivot is chosen that vanishes elsewhere."""
    if len(A) == 1:
        return np.array([[1.0 / A[0, 0]]])
    if len(A) == 2:
        over = 1.0 / (A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0])
        return np.array([[A[1, 1], -A[0, 1]], [-A[1, 0], A[0, 0]]]) * over
    C = np.array([[_minor(A, j, i) for j in range(3)] for i in range(3)])
    over = 1.0 / (A[0, 0] * C[0, 0] + A[0, 1] * C[1, 0] + A[0, 2] * C[2, 0])
    return C * over


def _minor(A: Array, i: int, j: int) -> Any:
    """Cofactor of entry (i, j)."""
    r, c = [k for k in range(3) if k != i], [k for k in range(3) if k != j]
    value = A[r[0], c[0]] * A[r[1], c[1]] - A[r[0], c[1]] * A[r[1], c[0]]
    return value if (i + j) % 2 == 0 else -value
