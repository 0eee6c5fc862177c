"""What a step with contacts knows before its impulses: free motion, and the whitened rows of all contacts and stops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.contact.contact_kinematics import contact_kinematics
from gyrostat.algorithms.contact.whitened_cones import Cone, WhitenedCones
from gyrostat.algorithms.matrices.ltdl import Factors, factorise, inboard_rates
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.algorithms.recursions.rne import sweep_forces
from gyrostat.configuration.chart import along, moved
from gyrostat.configuration.limits import limits_of
from gyrostat.engine.tracing.choose import minimum, where
from gyrostat.graph.contact_laws import ContactLaw, contact_law
from gyrostat.graph.contacts import Candidate
from gyrostat.graph.network import Network
from gyrostat.simulate.kernels.contact_scene import implicit_damping, with_fill
from gyrostat.simulate.methods.drivers.moreau_impacts import CLOSED, RESTING, STEADY
from gyrostat.simulate.rollout.control_law import WHO
from gyrostat.spec.model import Model

Array = np.ndarray


@dataclass(frozen=True)
class Pattern:
    """Where whitened rows have entries: ``columns`` of each row, ``cones`` over the rows, ``n`` rates; ``inboard``: of
    the factors; ``places``: (contact, axis) of each row, (-1, coordinate) of stops; ``bounces``: cones whose
    restitution is not zero."""

    columns: tuple[tuple[int, ...], ...]
    cones: tuple[Cone, ...]
    n: int
    inboard: Mapping[int, tuple[int, ...]]
    places: tuple[tuple[int, int], ...]
    bounces: tuple[int, ...]

    @property
    def rows(self) -> int:
        return len(self.columns)

    @property
    def entries(self) -> int:
        return sum(map(len, self.columns))

    def unpacked(self, X: Array, b: Sequence[Any], mu: Sequence[Any], low: Sequence[Any]) -> WhitenedCones:
        """Rows from their entries, one behind the other."""
        rows: list[dict[int, Any]] = []
        at = 0
        for columns in self.columns:
            rows.append(dict(zip(columns, X[at : at + len(columns)], strict=True)))
            at += len(columns)
        return WhitenedCones(self.cones, rows, b, self.n, mu, low)


@dataclass(frozen=True)
class KnownBefore:
    """``free`` (nv,): rates without impulses; ``L`` and ``roots`` of the matrix of the step; of each cone its ``gap``,
    the speed ``allowed`` at which it may still close, and the part ``back`` of an impulse that an impact gives back;
    ``before`` (rows,): speeds before the step."""

    pattern: Pattern
    cones: WhitenedCones
    free: Array
    L: Array
    roots: Array
    gaps: Sequence[Any]
    allowed: Sequence[Any]
    back: Sequence[Any]
    before: Sequence[Any]


@dataclass(frozen=True)
class ContactStep:
    """Of a model with ``candidates``; stops are those of its joints. ``live``: paths of properties that are inputs."""

    model: Model
    candidates: tuple[Candidate, ...]
    live: tuple[str, ...] = ()

    @property
    def bouncing(self) -> str | None:
        """A contact with a restitution, which may be live."""
        live = any(path.endswith(".restitution") for path in self.live)
        return next((c.name for c in self.candidates if live or c.law.restitution), None)

    def rows(
        self, net: Network, on: Setting, q: Array, v: Array, tau: Array, h: Any, live: Mapping[str, Any] | None = None
    ) -> KnownBefore:
        """At q in the middle of the step, rates v before it, efforts tau and the step h, on recorded values; ``live``:
        recorded values of live properties by path."""
        n = self.model.nv
        H = np.array(composite_mass_matrix(net, on, q), dtype=object)
        damping = implicit_damping(net, q, v)
        for (j, k), d in damping.items():
            H[j, k] = H[j, k] + h * d
        factors = factorise(with_fill(inboard_rates(net), damping), H)
        rest = np.zeros(n)
        change = factors.solve(0.5 * h * (tau - sweep_forces(net, on, q, v, rest)[0]))  # of the rates up to the middle
        given = np.array([sum((d * change[k] for (i, k), d in damping.items() if i == j), 0.0) for j in range(n)])
        f = sweep_forces(net, on, q, v + change, rest)[0] - given
        free = v + factors.solve(h * (tau - f))
        D = np.array([sum((d * v[k] for (i, k), d in damping.items() if i == j), 0.0) for j in range(n)])
        turned = v - factors.solve(h * (f - D - sweep_forces(net, on, q, rest, rest)[0]))  # by forces that do no work
        table = _Rows(factors, h)
        end = moved(self.model, q, along(self.model, v * (0.5 * h)))
        laws = [contact_law(self.model, *c.surfaces, c.pair, live) if live else c.law for c in self.candidates]
        self._contacts(table, laws, net, on, end, v, turned, free)
        self._stops(table, q, turned, free)
        pattern = table.pattern(n)
        L = np.array([factors.L[k, j] for k, js in factors.inboard.items() for j in js] or [0.0])
        roots = np.array([np.sqrt(factors.inverse[k]) for k in range(n)])
        low = [0.0] * len(pattern.cones)
        cones = WhitenedCones(pattern.cones, table.X, table.b, n, table.mu, low)
        return KnownBefore(pattern, cones, free, L, roots, table.gaps, table.allowed, table.back, table.before)

    def _contacts(
        self, table: _Rows, laws: Sequence[ContactLaw], net: Network, on: Setting, end: Array, v: Array,
        turned: Array, free: Array,
    ) -> None:  # fmt: skip
        """Rows of the end of the step, as far as that is known; gaps of its middle."""
        known = contact_kinematics(net, on, self.candidates, end)
        for k, law in enumerate(laws):
            J = known.J[k]
            before, speeds = ([_product(row, x) for row in J] for x in (turned, free))
            gap = known.gaps[k] - 0.5 * table.h * _product(J[0], v)
            table.contact(k, law, J, before, speeds, gap)

    def _stops(self, table: _Rows, q: Array, v: Array, free: Array) -> None:
        low, high = limits_of(self.model, "model", WHO)
        for block in self.model.layout:
            if block.nq == 1 and np.isfinite([low[block.q.start], high[block.q.start]]).any():
                i, j = block.q.start, block.v.start
                lower, upper = float(low[i]), float(high[i])
                below, above = q[i] - lower, upper - q[i]
                if np.isinf(upper):
                    side, gap = 1.0, below
                elif np.isinf(lower):
                    side, gap = -1.0, above
                else:
                    side, gap = where(below < above, 1.0, -1.0), minimum(below, above)
                table.stop(i, j, side, side * v[j], side * free[j], gap)


@dataclass
class _Rows:
    """Rows that are collected; ``h``: the step."""

    factors: Factors
    h: Any
    X: list[dict[int, Any]] = field(default_factory=list)
    b: list[Any] = field(default_factory=list)
    cones: list[Cone] = field(default_factory=list)
    places: list[tuple[int, int]] = field(default_factory=list)
    bounces: list[int] = field(default_factory=list)
    mu: list[Any] = field(default_factory=list)
    gaps: list[Any] = field(default_factory=list)
    allowed: list[Any] = field(default_factory=list)
    back: list[Any] = field(default_factory=list)
    before: list[Any] = field(default_factory=list)

    def contact(
        self, number: int, law: ContactLaw, J: Array, before: Sequence[Any], free: Sequence[Any], gap: Any
    ) -> None:
        """Rows J (3, nv) of a contact; tangents along which nothing can move are left out. Numbers of the law that are
        live may be any: their rows are there."""
        rows = [whitened(self.factors, row) for row in J]
        if not rows[0]:
            return  # neither body can move along the normal
        mu: Any = law.mu_dynamic
        known = all(isinstance(x, int | float) for x in (law.mu_static, law.mu_dynamic))
        if law.mu_static is not law.mu_dynamic and not (known and law.mu_static == law.mu_dynamic):
            slip = before[1] * before[1] + before[2] * before[2]
            mu = where(slip > STEADY * STEADY, law.mu_dynamic, law.mu_static)
        rubs = not known or max(law.mu_static, law.mu_dynamic) > 0.0
        kept = [axis for axis in (1, 2) if rows[axis] and rubs]
        self._cone([(number, axis) for axis in (0, *kept)], rows, free, mu)
        self.before += [before[axis] for axis in (0, *kept)]
        self._law(gap, before[0], free[0], law.restitution)

    def stop(self, coordinate: int, rate: int, side: Any, before: Any, free: Any, gap: Any) -> None:
        """The nearer end of the range of a joint."""
        row = np.full(len(self.factors.inverse), 0.0, dtype=object)
        row[rate] = side
        self._cone([(-1, coordinate)], [whitened(self.factors, row)], [free], 0.0)
        self.before.append(before)
        self._law(gap, before, free, 0.0)

    def _cone(self, places: Sequence[tuple[int, int]], rows: Sequence[Any], speeds: Sequence[Any], mu: Any) -> None:
        first = len(self.X)
        self.cones.append(Cone(first, tuple(range(first + 1, first + len(places)))))
        self.mu.append(mu)
        for at in places:
            axis = max(0, at[1]) if at[0] >= 0 else 0
            self.X.append(rows[axis])
            self.b.append(speeds[axis])
            self.places.append(at)

    def _law(self, gap: Any, before: Any, free: Any, e: Any) -> None:
        """A row may close as far as its gap; one that hits stops at once, and bounces by the part of its closing speed
        that was there before the step."""
        allowed, back = where(gap > CLOSED, gap, 0.0) / self.h, 0.0
        if not is_zero(e):
            self.bounces.append(len(self.cones) - 1)
            own = where(before < -RESTING, 1.0, 0.0) * where(gap + self.h * free < 0.0, 1.0, 0.0)
            hits = own * where(-before > abs(free - before), 1.0, 0.0)
            if not isinstance(e, int | float):  # it may be zero in this lane
                hits = hits * where(e > 0.0, 1.0, 0.0)
            allowed = allowed * (1.0 - hits)
            back = hits * e * where(free < before, minimum(before / minimum(free, -RESTING), 1.0), 1.0)
        i = self.cones[-1].normal
        self.b[i] = self.b[i] + allowed
        self.gaps.append(gap)
        self.allowed.append(allowed)
        self.back.append(back)

    def pattern(self, n: int) -> Pattern:
        columns, inboard = tuple(map(tuple, self.X)), self.factors.inboard
        return Pattern(columns, tuple(self.cones), n, inboard, tuple(self.places), tuple(self.bounces))


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
