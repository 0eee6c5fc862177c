"""Constraints as rows: what a kind of constraint must say about itself, and the table of all kinds.

A constraint has k rows. With the residual g(q) (k,) and its rate w = J(q) v, J = dg/dq along the rates (k, nv),

    J a + b = 0,    b = dJ/dt v  (bias),      M a + h = tau + J^T f,      low <= f <= high,

while it is active. ``side`` of a row says when that is: BILATERAL always; LOWER keeps g >= 0 and pushes, f >= 0; UPPER
keeps g <= 0, f <= 0. A row without a residual acts on the speed w alone, and has limits on both sides: dry friction.

A new kind of constraint is a class, and one function that is registered for it:

    @constraints.row(Rope)
    def rope_rows(rope: Rope, model: Model) -> ConstraintRows: ...

Nothing else knows kinds: which rows are active, their forces and impacts are found from these arrays
(:mod:`~gyrostat.algorithms.constrained.active_set`)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gyrostat.algorithms.algorithm import watched
from gyrostat.errors import RowError
from gyrostat.spec.model import Model

Array = np.ndarray
LOWER, BILATERAL, UPPER = -1, 0, 1
"""Sides on which a row acts."""


def zero_bias(q: Array, v: Array) -> float:
    """b of rows whose Jacobian is constant."""
    return 0.0


class SlidingLaw(Protocol):
    """Forces of rows on speeds while they slide, for directions s (k,): 1, -1, or 0 at rest."""

    def efforts(self, v: Array, s: Array) -> Array:
        """Generalised forces (nv,); numbers, or recorded ones."""
        ...

    def slopes(self, v: Array, s: Array) -> Array:
        """Their derivative (nv, nv) by v."""
        ...


@dataclass(frozen=True, eq=False)
class ConstraintRows:
    """k rows of one constraint, in units of g.

    ``names`` (k,): whom an event is told of. ``residual(q)``: g (..., k) for q (..., nq); None for rows that act on
    speeds alone. ``jacobian``: a constant array (k, nv), or a function J(q) of one configuration; then ``bias(q, v)``
    (k,) is dJ/dt v. ``side`` (k,): LOWER, BILATERAL, UPPER. ``limits``: least and greatest force (k,) each, where the
    side does not say it. ``restitution`` (k,) e in w+ = -e w-; ``rest`` (k,): speeds below which there is no bounce;
    ``size`` (k,): of g, whose rounding counts. ``members``: all whom events of a row are told of, if they are several.
    ``sliding``: the forces of rows on speeds that are not active. ``refusal(q, i)``: what is said of a start at q
    beyond row i."""

    names: tuple[str, ...]
    residual: Callable[[Array], Array] | None
    jacobian: Array | Callable[[Array], Array]
    side: Sequence[int] | Array
    bias: Callable[[Array, Array], Any] = zero_bias
    limits: tuple[Array, Array] | None = None
    restitution: Sequence[float] | Array | float = 0.0
    rest: Sequence[float] | Array | float = 1e-3
    size: Sequence[float] | Array | float = 1.0
    members: tuple[tuple[str, ...], ...] | None = None
    sliding: SlidingLaw | None = None
    refusal: Callable[[Array, int], str] | None = None

    @property
    def constant(self) -> bool:
        """Whether J does not depend on the configuration."""
        return not callable(self.jacobian)

    def force_limits(self) -> tuple[Array, Array]:
        """low, high (k,)."""
        if self.limits is not None:
            return self.limits
        side = np.asarray(self.side)
        return np.where(side == LOWER, 0.0, -np.inf), np.where(side == UPPER, 0.0, np.inf)


Row = Callable[[Any, Model], ConstraintRows]


class ConstraintTable:
    """One function for each kind of constraint, that gives its rows for a model."""

    def __init__(self) -> None:
        self.rows: dict[type, Row] = {}

    def row(self, *kinds: type) -> Callable[[Row], Row]:
        """Register the function for these kinds (and for kinds derived from them)."""

        def register(function: Row) -> Row:
            self.rows.update(dict.fromkeys(kinds, function))
            return function

        return register

    def serves(self, constraint: Any) -> bool:
        """Whether something is a constraint of a known kind."""
        return any(kind in self.rows for kind in type(constraint).__mro__)

    def from_elsewhere(self, constraint: Any) -> str:
        """How messages call the row of a kind that is not gyrostat's; "" if it is."""
        kind = next(kind for kind in type(constraint).__mro__ if kind in self.rows)
        row = self.rows[kind]
        ours = str(getattr(row, "__module__", "")).startswith("gyrostat.")
        return "" if ours else f"constraints: the row '{getattr(row, '__name__', row)}' for {type(constraint).__name__}"

    def of(self, constraint: Any, model: Model) -> ConstraintRows:
        """The rows of a constraint of a model."""
        for kind in type(constraint).__mro__:
            if kind in self.rows:
                return self._examined(self.rows[kind], constraint, model)
        name = type(constraint).__name__
        raise RowError(f"constraints have no row for {name}. Hint: @constraints.row({name})")

    def _examined(self, row: Row, constraint: Any, model: Model) -> ConstraintRows:
        who = f"constraints: the row '{getattr(row, '__name__', row)}' for {type(constraint).__name__}"
        rows = watched(row, who)(constraint, model)
        if not isinstance(rows, ConstraintRows):
            raise RowError(f"{who} returned {type(rows).__name__}, expected ConstraintRows")
        k, J = len(rows.names), None if callable(rows.jacobian) else np.shape(rows.jacobian)
        if J not in (None, (k, model.nv)):
            raise RowError(f"{who}: jacobian has shape {J}, expected {(k, model.nv)} = names, nv")
        if np.shape(rows.side) != (k,):
            raise RowError(f"{who}: side has shape {np.shape(rows.side)}, expected {(k,)}, one for each name")
        _expect_sense(who, rows, k)
        return rows


def _expect_sense(who: str, rows: ConstraintRows, k: int) -> None:
    """What rows say about their sides, forces and impacts."""
    for name, side in zip(rows.names, rows.side, strict=True):
        if side not in (LOWER, BILATERAL, UPPER):
            raise RowError(f"{who}: side of '{name}' is {side}, expected -1 (g >= 0), 0 (g = 0) or 1 (g <= 0)")
    for what, value, most in (("restitution", rows.restitution, 1.0), ("rest", rows.rest, np.inf)):
        values = np.asarray(value, dtype=float)
        if values.shape not in ((), (k,)) or not np.all((values >= 0.0) & (values <= most)):
            raise RowError(f"{who}: {what} must be one number, or {k}, from 0 to {most:g}, got {value}")
    if rows.residual is None and (rows.limits is None or rows.sliding is None):
        raise RowError(
            f"{who}: rows without a residual act on speeds. Hint: give limits of their forces, and a sliding law"
        )
    if rows.residual is not None and rows.limits is not None:
        raise RowError(
            f"{who}: limits of the force of a row with a residual are not looked at. Hint: its side says whether it "
            "pushes or pulls; leave limits out"
        )
    if callable(rows.jacobian) and rows.bias is zero_bias:
        raise RowError(f"{who}: the jacobian is a function of q. Hint: give bias(q, v) = dJ/dt v (k,) with it")


constraints = ConstraintTable()
