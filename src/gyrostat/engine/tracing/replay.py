"""Programs on recorded values: what was recorded once becomes part of another recording.

So a derivative of one program can be used inside a function that is recorded in its turn."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.engine.tracing.recording_scalar import general
from gyrostat.errors import ShapeError


def _quotient(x: Any, y: Any) -> Any:
    return general("div", x, y) if type(x) is type(y) is float else x / y


ARITHMETIC: dict[int, Callable[..., Any]] = {
    CODE["add"]: operator.add,
    CODE["sub"]: operator.sub,
    CODE["mul"]: operator.mul,
    CODE["neg"]: operator.neg,
    CODE["div"]: _quotient,
}
"""Operations that simplify as they are recorded."""


def replay(program: Program, inputs: Sequence[Sequence[Any]]) -> list[Any]:
    """Values of all nodes, from the elements of the inputs: recorded values or floats."""
    values: list[Any] = []
    for code, x, y, z in program.nodes:
        if code == INPUT:
            values.append(inputs[x][y])
        elif code == CONST:
            values.append(program.constants[x])
        else:
            operands = [values[i] for i in (x, y, z)[: OPERATIONS[code].arity]]
            plain = ARITHMETIC.get(code)
            values.append(plain(*operands) if plain else general(OPERATIONS[code].name, *operands))
    return values


def inlined(program: Program, *inputs: Any) -> dict[str, np.ndarray]:
    """Outputs of a program by name, of arrays of recorded values or numbers; its guards are called ``guard``, as
    :func:`~gyrostat.engine.tracing.record.record` expects them."""
    arrays = [x if x.dtype == object else x.astype(float) for x in map(np.asarray, inputs)]
    shapes, expected = [x.shape for x in arrays], [slot.shape for slot in program.inputs]
    if shapes != expected:
        raise ShapeError(f"'{program.name}' inside another recording: inputs have shapes {shapes}, expected {expected}")
    values = replay(program, [x.ravel().tolist() for x in arrays])
    outputs = {s.name: shaped(s, [values[k] for k in r]) for s, r in zip(program.outputs, program.results, strict=True)}
    guards = [values[k] for k in program.guards]
    return outputs | ({"guard": shaped(Slot("guard", (len(guards),)), guards)} if guards else {})


def shaped(slot: Slot, values: Sequence[Any]) -> np.ndarray:
    """Recorded values or floats in the shape of an input or output."""
    flat = np.empty(slot.size, dtype=object)
    flat[:] = values
    return flat.reshape(slot.shape)
