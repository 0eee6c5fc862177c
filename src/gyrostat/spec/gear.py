"""Gears and couplings: rigid, linear relations between the angles of shafts."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema

from gyrostat.errors import Problem
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity, Port
from gyrostat.spec.relations import LinearRelation, Value
from gyrostat.spec.rules import finite, not_finite, shown
from gyrostat.spec.values import numbers_of, to_number

Row = tuple[float, ...]
REMEDY = "write a number, or rows of numbers such as [[1, 1], [1, -1]]"


def to_ratio(value: Any) -> float | tuple[Row, ...]:
    """A number, or the rows of a matrix."""
    rows: Any = value.tolist() if isinstance(value, np.ndarray) else value
    if not isinstance(rows, list | tuple):
        return to_number(rows)
    rows = list(rows)
    if not rows or not all(isinstance(row, list | tuple) and row for row in rows):
        raise RefusedError("must be a number or rows of numbers", value, REMEDY)
    ratio = tuple(numbers_of(row, "rows of numbers", REMEDY) for row in rows)
    if len({len(row) for row in ratio}) > 1:
        raise RefusedError("must have rows of equal length", value, REMEDY)
    return ratio


def to_offset(value: Any) -> float | Row:
    if isinstance(value, list | tuple) or (hasattr(value, "ndim") and value.ndim):
        return numbers_of(value, "a number or a list of numbers", "one number for each motor shaft")
    return to_number(value)


_ROW = {"type": "array", "items": {"type": "number"}, "minItems": 1}
Ratio = Annotated[
    float | tuple[Row, ...],
    BeforeValidator(to_ratio),
    WithJsonSchema({"anyOf": [{"type": "number"}, {"type": "array", "items": _ROW, "minItems": 1}]}),
]
Offset = Annotated[float | Row, BeforeValidator(to_offset), WithJsonSchema({"anyOf": [{"type": "number"}, _ROW]})]


class Gear(Entity):
    """Angle at ``motor`` = ``ratio`` x angle at ``joint`` + ``offset``; torques the other way round, without loss.

    A number N for ``ratio`` means N turns of the motor for one of the joint (R = 1/N in H04), with the sign of the
    direction; ports ``motor`` and ``joint``, both scalar. Rows (n, m) couple n motor shafts with m joint shafts, as
    in differentials, belts and coupled wrists: ports ``motor1`` ... ``motorn``, ``joint1`` ... ``jointm``, without a
    number where there is one. ``offset``: one number, or one for each motor shaft [rad].

    Between the shafts of two joints it is a coupling: the joint at ``motor`` has no coordinate of its own.
    """

    ratio: Ratio
    offset: Offset = 0.0

    def __init__(self, name: str, ratio: Any = None, **properties: Any):
        super().__init__(name, **({} if ratio is None else {"ratio": ratio}), **properties)

    @property
    def rows(self) -> tuple[Row, ...]:
        """The ratio as rows of a matrix (n, m)."""
        return self.ratio if isinstance(self.ratio, tuple) else ((self.ratio,),)

    @property
    def motors(self) -> tuple[str, ...]:
        return _numbered("motor", len(self.rows))

    @property
    def joints(self) -> tuple[str, ...]:
        return _numbered("joint", len(self.rows[0]))

    @property
    def ports(self) -> tuple[Port, ...]:
        return tuple(Port(name, "scalar") for name in (*self.motors, *self.joints))

    @property
    def default_port(self) -> str | None:
        return None

    def relations(self, value: Value) -> tuple[LinearRelation, ...]:
        """One for each motor shaft: motor - ratio x joint = offset."""
        ratio, offset = value("ratio"), value("offset")
        several, apart = isinstance(self.ratio, tuple), isinstance(self.offset, tuple)
        return tuple(
            LinearRelation(
                motor,
                {motor: 1.0} | {joint: -(ratio[i][j] if several else ratio) for j, joint in enumerate(self.joints)},
                offset[i] if apart else offset,
            )
            for i, motor in enumerate(self.motors)
        )

    def problems(self) -> list[Problem]:
        problems = not_finite(self)
        if not finite(self.ratio):
            return problems
        rows = self.rows
        columns = tuple(zip(*rows, strict=True))
        if any(not any(line) for line in (*rows, *columns)):
            what = "must not be zero" if not isinstance(self.ratio, tuple) else "has a row or a column of zeros"
            message = f"ratio {what}, got {shown(self.ratio)}"
            remedy = "give the turns of the motor for one turn of the joint"
            problems.append(self.problem("gear-ratio", message, remedy, ("ratio",)))
        if isinstance(self.offset, tuple) and len(self.offset) != len(rows):
            message = f"offset has {len(self.offset)} numbers for {len(rows)} motor shaft(s)"
            problems.append(self.problem("gear-offset", message, "give one for each motor shaft", ("offset",)))
        return problems


def _numbered(name: str, count: int) -> tuple[str, ...]:
    return (name,) if count == 1 else tuple(f"{name}{k + 1}" for k in range(count))
