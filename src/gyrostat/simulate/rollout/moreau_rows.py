"""What a step with contacts knows before its impulses: free motion, and the whitened rows of all contacts and stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_kinematics
from gyrostat.algorithms.contact.whitened_cones import Cone, WhitenedCones
from gyrostat.algorithms.matrices.ltdl import Factors, factorise, inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.algorithms.shafts.element_derivatives import element_derivatives
from gyrostat.configuration.chart import along, moved
from gyrostat.configuration.limits import limits_of
from gyrostat.engine.tracing.choose import maximum, minimum, where
from gyrostat.graph.contacts import Candidate, contact_candidates
from gyrostat.graph.network import Network
from gyrostat.spec.model import Model

Array = np.ndarray
APART = 1e3
"""Speed [m/s, rad/s] with which a pair that does not touch is said to separate: it gets no impulse."""


@dataclass(frozen=True)
class Pattern:
    """Where whitened rows have entries: ``columns`` of each row, ``cones`` over the rows, ``n`` rates; ``inboard``: of
    the factors; ``places``: (contact, axis) of each row, (-1, stop) of stops."""

    columns: tuple[tuple[int, ...], ...]
    cones: tuple[Cone, ...]
    n: int
    inboard: Mapping[int, tuple[int, ...]]
    places: tuple[tuple[int, int], ...]

    @property
    def rows(self) -> int:
        return len(self.columns)

    @property
    def entries(self) -> int:
        return sum(map(len, self.columns))

    def unpacked(self, X: Array, b: Sequence[Any]) -> WhitenedCones:
        """Rows from their entries, one behind the other."""
        rows: list[dict[int, Any]] = []
        at = 0
        for columns in self.columns:
            rows.append(dict(zip(columns, X[at : at + len(columns)], strict=True)))
            at += len(columns)
        return WhitenedCones(self.cones, rows, b, self.n)


@dataclass(frozen=True)
class KnownBefore:
    """``middle`` (nq,) where contacts are looked for, ``free`` (nv,) rates without impulses, ``L`` and ``roots`` of
    the matrix of the step."""

    pattern: Pattern
    cones: WhitenedCones
    middle: Array
    free: Array
    L: Array
    roots: Array


@dataclass(frozen=True)
class ContactStep:
    """Of a model with ``candidates``; stops are those of its joints."""

    model: Model
    candidates: tuple[Candidate, ...]

    def rows(self, net: Network, on: Setting, q: Array, v: Array, tau: Array, h: Any) -> KnownBefore:
        """At q, v, with the efforts tau and the step h, on recorded values."""
        model, n = self.model, self.model.nv
        middle = moved(model, q, along(model, v * (0.5 * h)))
        H = np.array(composite_mass_matrix(net, on, middle), dtype=object)
        for (j, k), d in element_derivatives(net, middle, v, np.zeros(n))[1].items():
            H[j, k] = H[j, k] + h * d
        factors = factorise(inboard_rates(net), H)
        free = v + factors.solve(h * (tau - sweep_forces(net, on, middle, v, np.zeros(n))[0]))
        table = _Rows(factors)
        self._contacts(table, net, on, middle, v, free, h)
        self._stops(table, middle, v, free, h)
        pattern = table.pattern(n)
        L = np.array([factors.L[k, j] for k, js in factors.inboard.items() for j in js] or [0.0])
        roots = np.array([np.sqrt(factors.inverse[k]) for k in range(n)])
        return KnownBefore(pattern, WhitenedCones(pattern.cones, table.X, table.b, n), middle, free, L, roots)

    def _contacts(
        self, table: _Rows, net: Network, on: Setting, middle: Array, v: Array, free: Array, h: Any
    ) -> None:
        known = contact_kinematics(net, on, self.candidates, middle, v)
        for k, c in enumerate(self.candidates):
            J, w, drift = known.J[k], known.w[k], known.drift[k]
            speeds = [_product(J[axis], free) + drift[axis] for axis in range(3)]
            speeds[0] = speeds[0] + where(known.gaps[k] > 0.0, APART, c.law.restitution * minimum(w[0], 0.0))
            table.contact(k, J, speeds, c.law.mu_dynamic)

    def _stops(self, table: _Rows, middle: Array, v: Array, free: Array, h: Any) -> None:
        low, high = limits_of(self.model, "model", "rollout")
        for block in self.model.layout:
            if block.nq != 1:
                continue
            i, j = block.q.start, block.v.start
            lower, upper = float(low[i]), float(high[i])
            if np.isinf(lower) and np.isinf(upper):
                continue
            below, above = middle[i] - lower, upper - middle[i]
            side: Any = 1.0 if np.isinf(upper) else -1.0 if np.isinf(lower) else where(below < above, 1.0, -1.0)
            gap = below if np.isinf(upper) else above if np.isinf(lower) else minimum(below, above)
            table.stop(i, j, side, side * free[j] + where(gap > 0.0, APART, 0.0))


class _Rows:
    """Rows that are collected."""

    def __init__(self, factors: Factors):
        self.factors = factors
        self.X: list[dict[int, Any]] = []
        self.b: list[Any] = []
        self.cones: list[Cone] = []
        self.places: list[tuple[int, int]] = []

    def contact(self, number: int, J: Array, speeds: Sequence[Any], mu: Any) -> None:
        """Rows J (3, nv) of a contact; tangents along which nothing can move are left out."""
        rows = [whitened(self.factors, row) for row in J]
        if not rows[0]:
            return  # neither body can move along the normal
        first = len(self.X)
        kept = [axis for axis in range(3) if axis == 0 or (rows[axis] and mu > 0.0)]
        for axis in kept:
            self.X.append(rows[axis])
            self.b.append(speeds[axis])
            self.places.append((number, axis))
        self.cones.append(Cone(first, tuple(range(first + 1, first + len(kept))), mu))

    def stop(self, coordinate: int, rate: int, side: Any, speed: Any) -> None:
        row = np.zeros(len(self.factors.inverse), dtype=object)
        row[:] = 0.0
        row[rate] = side
        self.cones.append(Cone(len(self.X), (), 0.0))
        self.X.append(whitened(self.factors, row))
        self.b.append(speed)
        self.places.append((-1, coordinate))

    def pattern(self, n: int) -> Pattern:
        return Pattern(tuple(map(tuple, self.X)), tuple(self.cones), n, self.factors.inboard, tuple(self.places))


def _product(row: Array, v: Array) -> Any:
    return sum((x * y for x, y in zip(row, v, strict=True) if not is_zero(x)), 0.0)


def is_zero(x: Any) -> bool:
    """Whether an entry is zero by structure."""
    return isinstance(x, int | float) and x == 0.0


def whitened(factors: Factors, row: Array) -> dict[int, Any]:
    """x = D^-1/2 L^-T J^T of a row J (nv,), by rate; it keeps the zeros of the tree."""
    x: dict[int, Any] = {k: y for k, y in enumerate(row) if not is_zero(y)}
    for k, inboard in reversed(list(factors.inboard.items())):
        if k in x:
            for j in inboard:
                x[j] = x.get(j, 0.0) - x[k] * factors.L[k, j]
    return {k: x[k] * np.sqrt(factors.inverse[k]) for k in sorted(x)}


def coloured(inboard: Mapping[int, tuple[int, ...]], L: Array, roots: Array, w: Sequence[Any]) -> list[Any]:
    """L^-1 D^-1/2 w: the change of the rates by w = X^T P."""
    y = [w[k] * roots[k] for k in range(len(w))]
    at = 0
    for k, js in inboard.items():
        for j in js:
            y[k] = y[k] - y[j] * L[at]
            at += 1
    return y


def contact_step(model: Model) -> ContactStep:
    """The contacts of a model, all of which must be what lanes can do."""
    return ContactStep(model, contact_candidates(model))
