"""All constraints of a model, stacked: one numbering of rows, with arrays for what is constant about them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from gyrostat.algorithms.constrained.active_set import ActiveRows
from gyrostat.algorithms.constrained.constraint import BILATERAL, ConstraintRows, SlidingLaw, constraints
from gyrostat.spec.model import Model

Array = np.ndarray
FIXED = 1e-12
"""Entries of a row along the motions that remain, which are rounding."""


@dataclass(frozen=True, eq=False)
class ConstraintSet:
    """Rows of some constraints for nv rates, one behind the other: ``parts``."""

    parts: tuple[ConstraintRows, ...]
    nv: int

    @classmethod
    def of(cls, model: Model, given: Iterable[Any]) -> ConstraintSet:
        """Of constraints whose kinds have a row in the table."""
        return cls(tuple(constraints.of(constraint, model) for constraint in given), model.nv)

    def __len__(self) -> int:
        return len(self.names)

    # ------------------------------------------------------------------ what is constant
    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.names)

    @cached_property
    def side(self) -> Array:
        return self._stacked([part.side for part in self.parts], int)

    @cached_property
    def low(self) -> Array:
        return self._stacked([part.force_limits()[0] for part in self.parts])

    @cached_property
    def high(self) -> Array:
        return self._stacked([part.force_limits()[1] for part in self.parts])

    @cached_property
    def restitution(self) -> Array:
        return self._stacked([part.restitution for part in self.parts])

    @cached_property
    def rest(self) -> Array:
        return self._stacked([part.rest for part in self.parts])

    @cached_property
    def size(self) -> Array:
        return self._stacked([part.size for part in self.parts])

    @cached_property
    def constant(self) -> Array:
        """(rows,) bool: whether J of a row does not depend on the configuration."""
        return self._stacked([part.constant for part in self.parts], bool)

    @cached_property
    def on_position(self) -> Array:
        """(rows,) bool: whether a row has a residual g(q); the others act on speeds alone."""
        return self._stacked([part.residual is not None for part in self.parts], bool)

    @cached_property
    def one_sided(self) -> tuple[int, ...]:
        """Numbers of the rows that meet and separate."""
        return tuple(np.flatnonzero(self.on_position & (self.side != BILATERAL)).tolist())

    @cached_property
    def bilateral(self) -> tuple[int, ...]:
        """Numbers of the rows that are always active."""
        return tuple(np.flatnonzero(self.on_position & (self.side == BILATERAL)).tolist())

    @cached_property
    def on_speed(self) -> tuple[int, ...]:
        """Numbers of the rows with a limited force on a speed: dry friction."""
        return tuple(np.flatnonzero(~self.on_position).tolist())

    @cached_property
    def members(self) -> tuple[tuple[str, ...], ...]:
        """Whom events of each row are told of."""
        return tuple(who for x in self.parts for who in (x.members or tuple((name,) for name in x.names)))

    def refusal(self, q: Array, row: int) -> str:
        """What is said of a start at q beyond a row."""
        part, k = self._own[row]
        if part.refusal is not None:
            return part.refusal(q, k)
        return f"q0 violates '{part.names[k]}'. Hint: start where its residual allows it"

    def _stacked(self, values: Sequence[Any], dtype: type = float) -> Array:
        """(rows,) from an array, or one number, for each part."""
        parts = zip(values, self.parts, strict=True)
        columns = [np.broadcast_to(np.asarray(x, dtype=dtype), (len(part.names),)) for x, part in parts]
        return np.concatenate([np.zeros(0, dtype=dtype), *columns]).astype(dtype)

    # ------------------------------------------------------------------ at a state
    def residuals(self, q: Array) -> Array:
        """g (..., rows) at q (..., nq); zero for rows on speeds."""
        zero = np.zeros((*q.shape[:-1], 0))
        values = [
            np.zeros((*q.shape[:-1], len(x.names))) if x.residual is None else np.asarray(x.residual(q), dtype=float)
            for x in self.parts
        ]
        return np.concatenate([zero, *values], axis=-1)

    def recorded_residuals(self, q: Array) -> Array:
        """g (rows,) on recorded values; zero for rows on speeds."""
        values = [np.zeros(len(x.names)) if x.residual is None else np.asarray(x.residual(q)) for x in self.parts]
        return np.concatenate([np.zeros(0), *values])

    def residual(self, row: int, q: Array) -> float:
        """g of one row at q (nq,)."""
        part, k = self._own[row]
        return 0.0 if part.residual is None else float(part.residual(q)[k])

    @cached_property
    def _own(self) -> tuple[tuple[ConstraintRows, int], ...]:
        """Of each row: its constraint, and its number there."""
        return tuple((part, k) for part in self.parts for k in range(len(part.names)))

    def jacobian(self, q: Array, needed: Array | None = None) -> Array:
        """J (rows, nv) at q (nq,); zero in rows that depend on q and are not ``needed`` (rows,) bool, None for all:
        a rope that is slack may have no direction."""
        J = self.constant_jacobian
        if self.constant.all():
            return J
        J = J.copy()
        for part, at in self._varying(needed):
            J[at] = part.jacobian(q)  # type: ignore[operator]
        return J

    @cached_property
    def constant_jacobian(self) -> Array:
        """J (rows, nv) of rows that do not depend on the configuration; zero for others."""
        J = [part.jacobian if part.constant else np.zeros((len(part.names), self.nv)) for part in self.parts]
        return np.concatenate([np.zeros((0, self.nv)), *(np.asarray(x, dtype=float) for x in J)])

    def bias(self, q: Array, v: Array, needed: Array | None = None) -> Array | None:
        """b (rows,) = dJ/dt v; None where every J that is needed is constant."""
        varying = self._varying(needed)
        if not varying:
            return None
        b = np.zeros(len(self))
        for part, at in varying:
            b[at] = part.bias(q, v)
        return b

    def _varying(self, needed: Array | None) -> list[tuple[ConstraintRows, slice]]:
        """Parts whose Jacobian depends on the configuration, and where their rows are; those with a row that is
        needed."""
        return [(x, at) for x, at in self._places if not x.constant and (needed is None or needed[at].any())]

    @cached_property
    def _places(self) -> tuple[tuple[ConstraintRows, slice], ...]:
        ends = np.cumsum([len(part.names) for part in self.parts]).tolist()
        return tuple((x, slice(end - len(x.names), end)) for x, end in zip(self.parts, ends, strict=True))

    # ------------------------------------------------------------------ what slides
    def sliding_efforts(self, v: Array, directions: Array) -> Any:
        """Generalised forces (nv,) of rows on speeds that slide; numbers, or recorded ones."""
        return sum((law.efforts(v, directions[at]) for law, at in self._laws), 0.0)

    def sliding_slopes(self, v: Array, directions: Array) -> Any:
        """Their derivative (nv, nv) by v."""
        return sum((law.slopes(v, directions[at]) for law, at in self._laws), 0.0)

    @cached_property
    def _laws(self) -> tuple[tuple[SlidingLaw, slice], ...]:
        laws, start = [], 0
        for part in self.parts:
            end = start + (len(part.names) if part.residual is None else 0)
            laws += [(part.sliding, slice(start, end))] if part.sliding is not None else []
            start = end
        return tuple(laws)


class FurtherRows(NamedTuple):
    """Rows J (k, nv) beside those of a set, directions F (k, nv) of their forces, and bias b (k,)."""

    J: Array
    F: Array
    bias: Array


class ClosedContacts(Protocol):
    """Contacts in their phases, as active rows see them: a value."""

    @property
    def empty(self) -> bool:
        """Whether none is closed."""
        ...

    def rows(self, q: Array, v: Array) -> FurtherRows:
        """Of those that are closed."""
        ...

    def gaps(self, q: Array) -> tuple[Array, Array]:
        """g (k,) of those that are closed, and its rows (k, nv)."""
        ...


@dataclass(frozen=True, eq=False)
class Active:
    """What is active among the rows of a set: a value, which does not change. ``on`` (rows,) bool; ``directions``
    (friction rows,): 1 or -1 of what slides, 0 at rest. ``contacts``: closed ones, whose rows come last; None where
    there are none at all."""

    constraints: ConstraintSet
    on: Array
    directions: Array
    contacts: ClosedContacts | None = None

    @classmethod
    def none(cls, given: ConstraintSet) -> Active:
        """Nothing is active, nothing slides."""
        return cls(given, np.zeros(len(given), dtype=bool), np.zeros(len(given.on_speed)))

    @cached_property
    def numbers(self) -> Array:
        """Of the active rows, ascending."""
        return np.flatnonzero(self.on)

    @cached_property
    def touching(self) -> bool:
        """Whether contacts are closed."""
        return self.contacts is not None and not self.contacts.empty

    @cached_property
    def empty(self) -> bool:
        return not self.on.any() and not self.touching

    @cached_property
    def sticking(self) -> tuple[int, ...]:
        """Which of the friction rows stick, counted among these."""
        return tuple(k for k, row in enumerate(self.constraints.on_speed) if self.on[row])

    @cached_property
    def boxes(self) -> tuple[tuple[int, float, float], ...]:
        """Of the frictions that stick: place among the active rows, least and greatest force."""
        rows = self.constraints
        return tuple(
            (k, float(rows.low[row]), float(rows.high[row]))
            for k, row in enumerate(self.numbers)
            if not rows.on_position[row]
        )

    def rows(self, q: Array, v: Array) -> ActiveRows | None:
        """The active rows at a state; None if there are none."""
        if self.empty:
            return None
        return self._constant_rows if self.constant else self._rows_at(q, v)

    @cached_property
    def constant(self) -> bool:
        """Whether J of the active rows does not depend on the configuration."""
        return not self.touching and bool(self.constraints.constant[self.on].all())

    @cached_property
    def _constant_rows(self) -> ActiveRows:
        return ActiveRows(self.constraints.constant_jacobian[self.on])

    @property
    def constant_projector(self) -> Array | None:
        """(nv, nv): on the motions that remain; None where that depends on the configuration."""
        return self._constant_rows.projector if self.constant else None

    def _rows_at(self, q: Array, v: Array) -> ActiveRows:
        bias = self.constraints.bias(q, v, self.on)
        J = self.constraints.jacobian(q, self.on)[self.on]
        if self.contacts is None or self.contacts.empty:
            return ActiveRows(J, None if bias is None else bias[self.on])
        more = self.contacts.rows(q, v)
        b = np.zeros(len(J)) if bias is None else bias[self.on]
        spared = np.concatenate([~self.constraints.on_position[self.on], np.zeros(len(more.J), dtype=bool)])
        F = np.concatenate([J, more.F])
        return ActiveRows(np.concatenate([J, more.J]), np.concatenate([b, more.bias]), F, spared)

    def position_rows(self, q: Array) -> tuple[Array, ActiveRows]:
        """g (k,) of all that has a residual, and its rows: what a projection of the configuration closes."""
        on = self.on & self.constraints.on_position
        g, J = self.constraints.residuals(q)[on], self.constraints.jacobian(q, on)[on]
        if self.contacts is not None and not self.contacts.empty:
            gaps, rows = self.contacts.gaps(q)
            g, J = np.concatenate([g, gaps]), np.concatenate([J, rows])
        return g, ActiveRows(J)

    @cached_property
    def blocked(self) -> Array:
        """(rows,) bool: rows that cannot move, since they are active or fixed by those that are."""
        blocked, constant = self.on.copy(), self.constraints.constant
        if self.empty or not self.constant:
            return blocked
        remaining = np.abs(self.constraints.constant_jacobian @ self._constant_rows.projector).max(axis=1, initial=0.0)
        return blocked | (constant & (remaining <= FIXED))

    def with_rows(self, on: Array, directions: Array | None = None) -> Active:
        """The same set with other rows active."""
        return replace(self, on=on, directions=self.directions if directions is None else directions)

    def with_directions(self, directions: Array) -> Active:
        """The same rows with other directions of sliding."""
        return replace(self, directions=directions)

    def with_contacts(self, contacts: ClosedContacts | None) -> Active:
        """The same rows with contacts in other phases."""
        return replace(self, contacts=contacts)

    def without(self, row: int) -> Active:
        """One row less."""
        on = self.on.copy()
        on[row] = False
        return self.with_rows(on)
