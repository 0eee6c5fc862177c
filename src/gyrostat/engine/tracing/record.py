"""Recording: run a NumPy function once on scalars that write down what is done to them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.guards import watched
from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, Slot, prune, verify
from gyrostat.engine.tracing.recording_scalar import Recorded, lift
from gyrostat.engine.tracing.refusals import unknown_operation
from gyrostat.engine.tracing.tape import Tape
from gyrostat.errors import RecordError


def record(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    name: str = "program",
) -> Program:
    """Run ``function(**arrays)`` on recording arrays of the given shapes; it returns arrays by name.

    An output called ``guard`` is not returned by kernels: its entries must be finite, otherwise the call is refused.
    So must inputs whose NaN or infinity no result would show."""
    tape = Tape()
    arrays = {key: _input(tape, number, shape) for number, (key, shape) in enumerate(inputs.items())}
    try:
        outputs = dict(function(**arrays))
    except (TypeError, AttributeError) as error:
        raise unknown_operation(error) or error from error
    guards = outputs.pop("guard", ())
    arrays = {key: np.asarray(value) for key, value in outputs.items()}
    return finish(tape, name, inputs, arrays, np.asarray(guards))


def _input(tape: Tape, number: int, shape: tuple[int, ...]) -> np.ndarray:
    """An array of recording scalars, for an input by its number."""
    array = np.empty(shape, dtype=object)
    for element, index in enumerate(np.ndindex(*shape)):
        array[index] = Recorded(tape, tape.node(INPUT, number, element))
    return array


def finish(
    tape: Tape, name: str, inputs: Mapping[str, tuple[int, ...]], outputs: Mapping[str, np.ndarray], guards: np.ndarray
) -> Program:
    """The program of a tape, without what no output or guard needs, verified."""

    def number(value: Any, key: str) -> int:
        k = lift(tape, value)
        if k is None:
            raise RecordError(f"output '{key}' of '{name}' holds {value!r}, which is no number")
        return k

    results = tuple(tuple(number(x, key) for x in value.ravel()) for key, value in outputs.items())
    for key, nodes in zip(outputs, results, strict=True):
        _refuse_infinite_constants(tape, nodes, f"output '{key}' of '{name}'")
    guarding = tuple(number(x, "guard") for x in guards.ravel())  # constants among them become nodes
    program = Program(
        name,
        tuple(Slot(key, tuple(shape)) for key, shape in inputs.items()),
        tuple(Slot(key, value.shape) for key, value in outputs.items()),
        tuple(tape.nodes),
        tuple(tape.constants),
        results,
        guarding,
        {op.name: n for op, n in zip(OPERATIONS, tape.asked, strict=True) if n},
    )
    return verify(watched(prune(program)))


def _refuse_infinite_constants(tape: Tape, nodes: Sequence[int], where: str) -> None:
    values = [tape.constants[tape.nodes[k][1]] for k in nodes if tape.nodes[k][0] == CONST]
    bad = [v for v in values if not math.isfinite(v)]
    if bad:
        raise RecordError(f"{where} is the constant {bad[0]}, whatever the inputs are")


def is_recorded(values: Sequence[Any] | np.ndarray) -> bool:
    """Whether an array holds recording scalars."""
    return np.asarray(values).dtype == object
