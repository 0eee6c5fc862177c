"""Derivatives of programs, which are programs again and compiled like any other, by sweeps over the nodes of the
program: sparse Jacobians, products with Jacobians and with their transposes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.operations import INPUT
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.engine.tracing.record import finish
from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.engine.tracing.replay import replay, shaped
from gyrostat.engine.tracing.sparsity import apart, dependence
from gyrostat.engine.tracing.sweeps import backward, forward
from gyrostat.engine.tracing.tape import Tape
from gyrostat.errors import ShapeError, nearest


def _pick(slots: Sequence[Slot], name: str, what: str) -> int:
    names = [s.name for s in slots]
    if name not in names:
        raise ShapeError(f"there is no {what} '{name}' to differentiate. Hint: {nearest(name, names)}")
    return names.index(name)


def jacobian(program: Program, of: str, wrt: str) -> tuple[Program, np.ndarray]:
    """d output / d input as a program with one output of shape output + input, and the pattern of its nonzeros.

    Columns of the pattern that share no row travel in one forward sweep, rows that share no column in one backward
    sweep; the way that needs fewer sweeps is taken, a backward one counting twice [Curtis, Powell, Reid 1974]."""
    o, i = _pick(program.outputs, of, "output"), _pick(program.inputs, wrt, "input")
    out, inp = program.outputs[o], program.inputs[i]
    pattern = dependence(program, o, i)
    slots = list(program.inputs)
    tape = Tape()
    values = replay(program, input_leaves(tape, slots))
    columns, rows = apart(pattern.T), apart(pattern)
    if len(columns) <= 2 * len(rows):
        J = columns_along(program, values, o, pattern, [{(i, e): 1.0} for e in range(inp.size)])
    else:
        J = np.full(pattern.shape, 0.0, dtype=object)
        for group in rows:
            weights = backward(program, values, [(program.results[o][row], 1.0) for row in group], [i])
            for row in group:
                for element in np.flatnonzero(pattern[row]):
                    J[row, element] = weights.get((i, int(element)), 0.0)
    slot = Slot(f"d{of}_d{wrt}", (*out.shape, *inp.shape))
    kept = np.array([not (type(x) is float and x == 0.0) for x in J.flat], dtype=bool)
    name = f"{program.name}_{slot.name}"
    derivative = _finished(program, tape, values, slots, {slot.name: J.reshape(slot.shape)}, name, whole=True)
    return derivative, kept.reshape(slot.shape)


def columns_along(
    program: Program,
    values: Sequence[Any],
    of: int,
    pattern: np.ndarray,
    directions: Sequence[Mapping[tuple[int, int], Any]],
) -> np.ndarray:
    """Derivatives of output number ``of`` along directions, {(input, element): rate} each, as recorded values (output,
    direction); ``values`` are those of the nodes, ``pattern`` says which entries can be other than zero."""
    J = np.full(pattern.shape, 0.0, dtype=object)
    for group in apart(pattern.T):
        seeds: dict[tuple[int, int], Any] = {}
        for column in group:
            for element, rate in directions[column].items():
                seeds[element] = seeds[element] + rate if element in seeds else rate
        rates = forward(program, values, seeds)
        for column in group:
            for row in np.flatnonzero(pattern[:, column]):
                J[row, column] = _or_zero(rates[program.results[of][row]])
    return J


def directional(program: Program, of: str, wrt: Sequence[str]) -> Program:
    """Derivative of an output along directions: inputs ``d_<name>`` follow the program's own."""
    o, chosen = _pick(program.outputs, of, "output"), _all_of(program.inputs, wrt, "input")
    slots = _followed_by(program, [Slot(f"d_{program.inputs[i].name}", program.inputs[i].shape) for i in chosen])
    tape = Tape()
    leaves = input_leaves(tape, slots)
    values = replay(program, leaves)
    dots = zip(chosen, leaves[len(program.inputs) :], strict=True)
    rates = forward(program, values, {(i, e): dot for i, direction in dots for e, dot in enumerate(direction)})
    slot = program.outputs[o]
    results = {f"d{of}": shaped(slot, [_or_zero(rates[k]) for k in program.results[o]])}
    return _finished(program, tape, values, slots, results, "directional")


def pullback(program: Program, of: Sequence[str], wrt: Sequence[str]) -> Program:
    """Reverse mode: how a weighted sum of outputs changes with every input, bar_x = sum over y of (dy/dx)^T bar_y.

    Its inputs are those of the program, followed by the weights ``bar_<output>`` (shape of the output) of the outputs
    ``of``; its outputs are ``bar_<input>`` (shape of the input) of the inputs ``wrt``. The values of the program are
    computed first, then the weights from the last node to the first: less than three times the program's operations for
    the dynamics of robots, however many inputs there are. Guards of the program stay guards."""
    outputs, inputs = _all_of(program.outputs, of, "output"), _all_of(program.inputs, wrt, "input")
    slots = _followed_by(program, [Slot(f"bar_{program.outputs[o].name}", program.outputs[o].shape) for o in outputs])
    tape = Tape()
    leaves = input_leaves(tape, slots)
    values = replay(program, leaves)
    seeds = [
        (node, bar)
        for o, bars in zip(outputs, leaves[len(program.inputs) :], strict=True)
        for node, bar in zip(program.results[o], bars, strict=True)
    ]
    weights = backward(program, values, seeds, inputs)
    results = {
        f"bar_{slot.name}": shaped(slot, [weights.get((i, e), 0.0) for e in range(slot.size)])
        for i, slot in ((i, program.inputs[i]) for i in inputs)
    }
    return _finished(program, tape, values, slots, results, "pullback")


def pushforward(program: Program, of: Sequence[str], wrt: Sequence[str], primal: bool = False) -> Program:
    """Forward mode: how outputs change along a direction of the inputs, dot_y = sum over x of dy/dx dot_x.

    Its inputs are those of the program, followed by the directions ``dot_<input>`` (shape of the input) of the inputs
    ``wrt``; its outputs are ``dot_<output>`` (shape of the output) of the outputs ``of``, after these outputs
    themselves if ``primal``. Guards of the program stay guards."""
    outputs, inputs = _all_of(program.outputs, of, "output"), _all_of(program.inputs, wrt, "input")
    slots = _followed_by(program, [Slot(f"dot_{program.inputs[i].name}", program.inputs[i].shape) for i in inputs])
    tape = Tape()
    leaves = input_leaves(tape, slots)
    values = replay(program, leaves)
    dots = zip(inputs, leaves[len(program.inputs) :], strict=True)
    seeds = {(i, element): dot for i, direction in dots for element, dot in enumerate(direction)}
    rates = forward(program, values, seeds)
    chosen = [(program.outputs[o], program.results[o]) for o in outputs]
    results = {slot.name: shaped(slot, [values[k] for k in nodes]) for slot, nodes in chosen} if primal else {}
    for slot, nodes in chosen:
        results[f"dot_{slot.name}"] = shaped(slot, [_or_zero(rates[k]) for k in nodes])
    return _finished(program, tape, values, slots, results, "pushforward")


def _all_of(slots: Sequence[Slot], names: Sequence[str], what: str) -> list[int]:
    """Numbers of the inputs or outputs of these names, each of which may be named once."""
    numbers = [_pick(slots, name, what) for name in names]
    if len(set(numbers)) < len(numbers):
        twice = next(name for name in names if list(names).count(name) > 1)
        raise ShapeError(f"the {what} '{twice}' to differentiate is named twice. Hint: name it once")
    return numbers


def _followed_by(program: Program, more: Sequence[Slot]) -> list[Slot]:
    """The program's inputs and further ones, all of which have names of their own."""
    names = {slot.name for slot in program.inputs}
    for slot in more:
        if slot.name in names:
            raise ShapeError(f"'{program.name}' has an input '{slot.name}' already. Hint: give it another name")
    return [*program.inputs, *more]


def input_leaves(tape: Tape, slots: Sequence[Slot]) -> list[list[Recorded]]:
    """The elements of inputs, on a tape."""
    return [[Recorded(tape, tape.node(INPUT, k, e)) for e in range(slot.size)] for k, slot in enumerate(slots)]


def _finished(
    program: Program,
    tape: Tape,
    values: Sequence[Any],
    slots: Sequence[Slot],
    results: dict[str, np.ndarray],
    what: str,
    whole: bool = False,
) -> Program:
    """The program of a sweep, with the guards of the program it was made from; ``what`` follows its name, or is the
    ``whole`` name."""
    guards = np.array([values[k] for k in program.guards], dtype=object)
    return finish(
        tape, what if whole else f"{program.name}_{what}", {slot.name: slot.shape for slot in slots}, results, guards
    )


def _or_zero(rate: Any) -> Any:
    """A rate of a sweep, where None stands for zero."""
    return 0.0 if rate is None else rate
