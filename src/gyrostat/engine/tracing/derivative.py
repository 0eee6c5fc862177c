"""Derivatives of programs, which are programs again and compiled like any other: sparse Jacobians and directional
derivatives by CasADi; products with Jacobians and their transposes by sweeps over the nodes of the program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.engine.tracing.record import finish
from gyrostat.engine.tracing.recording_scalar import Recorded, general
from gyrostat.engine.tracing.replay import replay, shaped
from gyrostat.engine.tracing.sweeps import backward, forward
from gyrostat.engine.tracing.tape import Tape
from gyrostat.errors import RecordError, ShapeError, nearest

if TYPE_CHECKING:
    import casadi as ca


def to_casadi(program: Program) -> ca.Function:
    """The program as a CasADi function with the names and shapes of its inputs and outputs.

    A number is (1, 1), an array (n,) a column (n, 1), a matrix (n, m) the matrix (n, m): entry [i, j] here is entry
    [i, j] there. Arrays with more axes, which CasADi does not have, are stacked slices: (l, n, m) is (l n, m), and row
    i n + j holds [i, j, :]. Names that CasADi refuses are spelt with underscores; what would be called the same gets a
    number, and an output that is called like an input the ending ``_out``."""
    import casadi as ca

    symbols = [ca.SX.sym(_name(s.name), *_shape(s)) for s in program.inputs]
    columns = [ca.vec(symbol.T) for symbol in symbols]
    _, outputs, _ = expressions(program, columns)
    matrices = [ca.reshape(x, *_shape(s)[::-1]).T for x, s in zip(outputs, program.outputs, strict=True)]
    names = _different([_name(s.name) for s in program.inputs], ())
    told = [_name(s.name) for s in program.outputs]
    results = _different([f"{name}_out" if name in names else name for name in told], names)
    return ca.Function(_name(program.name), symbols, matrices, names, results)


def _shape(slot: Slot) -> tuple[int, int]:
    """Rows and columns of an array in CasADi."""
    if len(slot.shape) < 2:
        return slot.size, 1
    return int(np.prod(slot.shape[:-1])), slot.shape[-1]


def _different(names: Sequence[str], others: Sequence[str]) -> list[str]:
    """The names, numbered where one comes again: CasADi wants all names of a function to differ."""
    different: list[str] = []
    for name in names:
        new, k = name, 2
        while new in different or new in others:
            new, k = f"{name}_{k}", k + 1
        different.append(new)
    return different


def _name(text: str) -> str:
    """A name that CasADi and C accept."""
    plain = "".join(c if c.isalnum() and c.isascii() else "_" for c in text).strip("_") or "x"
    while "__" in plain:
        plain = plain.replace("__", "_")
    return plain if plain[0].isalpha() else f"x{plain}"


def expressions(program: Program, columns: Sequence[Any] | None = None) -> tuple[list[Any], list[Any], Any]:
    """Symbols of the inputs (or the columns that are given for them), expressions of the outputs, and of the guards, as
    SX columns in the order of NumPy: the last index runs fastest."""
    import casadi as ca

    symbols = list(columns or [ca.SX.sym(_name(s.name), s.size) for s in program.inputs])
    elements = [ca.vertsplit(s) if s.numel() else [] for s in symbols]
    values: list[Any] = []
    for code, x, y, z in program.nodes:
        if code == INPUT:
            values.append(elements[x][y])
        elif code == CONST:
            values.append(ca.SX(program.constants[x]))
        else:
            operands = [values[k] for k in (x, y, z)[: OPERATIONS[code].arity]]
            values.append(_casadi_operation(ca, code)(*operands))
    expressions = [ca.vertcat(*(values[k] for k in nodes)) for nodes in program.results]
    return symbols, expressions, ca.vertcat(*(values[k] for k in program.guards))


def _casadi_operation(ca: Any, code: int) -> Any:
    name = OPERATIONS[code].name
    direct = {
        "add": lambda x, y: x + y, "sub": lambda x, y: x - y, "mul": lambda x, y: x * y, "div": lambda x, y: x / y,
        "neg": lambda x: -x, "lt": lambda x, y: x < y, "le": lambda x, y: x <= y, "eq": lambda x, y: x == y,
        "ne": lambda x, y: x != y, "pow": lambda x, y: x**y, "and": ca.logic_and, "or": ca.logic_or,
        "not": ca.logic_not,
        "select": ca.if_else, "min": ca.fmin, "max": ca.fmax, "abs": ca.fabs,
    }  # fmt: skip
    return direct[name] if name in direct else getattr(ca, name)


def from_casadi(
    function: ca.Function, inputs: Sequence[Slot], outputs: Sequence[Slot], places: Sequence[Any], name: str
) -> Program:
    """A CasADi function of the inputs as a program.

    ``places[k]`` are the flat elements of output k that the function's k-th (dense) output fills, in order; the
    others are zero. The function's last output holds guards."""
    import casadi as ca

    codes = {getattr(ca, op.casadi): op.name for op in OPERATIONS if op.casadi}
    special = {
        ca.OP_SQ: lambda x: x * x, ca.OP_TWICE: lambda x: 2.0 * x, ca.OP_INV: lambda x: 1.0 / x,
        ca.OP_ASSIGN: lambda x: x, ca.OP_CONSTPOW: lambda x, y: general("pow", x, y),
        ca.OP_IF_ELSE_ZERO: lambda c, x: general("select", c, x, 0.0),
        ca.OP_ADD: lambda x, y: x + y, ca.OP_SUB: lambda x, y: x - y, ca.OP_MUL: lambda x, y: x * y,
        ca.OP_DIV: lambda x, y: x / y, ca.OP_NEG: lambda x: -x,
    }  # fmt: skip
    tape = Tape()
    leaves = [[Recorded(tape, tape.node(INPUT, k, e)) for e in range(slot.size)] for k, slot in enumerate(inputs)]
    registers: dict[int, Any] = {}
    entries: list[dict[int, Any]] = [{} for _ in range(len(outputs) + 1)]
    places = [*places, range(function.numel_out(len(outputs)))]
    for k in range(function.n_instructions()):
        op, o, i = function.instruction_id(k), function.instruction_output(k), function.instruction_input(k)
        if op == ca.OP_CONST:
            registers[o[0]] = function.instruction_constant(k)
        elif op == ca.OP_INPUT:
            registers[o[0]] = leaves[i[0]][i[1]]
        elif op == ca.OP_OUTPUT:
            entries[o[0]][int(places[o[0]][o[1]])] = registers[i[0]]
        elif op in special:
            registers[o[0]] = special[op](*(registers[x] for x in i))
        elif op in codes:
            registers[o[0]] = general(codes[op], *(registers[x] for x in i))
        else:
            raise RecordError(f"CasADi's operation {op} has no counterpart in the table of operations")
    arrays: dict[str, np.ndarray] = {}
    for slot, filled in zip(outputs, entries, strict=False):
        flat = np.full(slot.size, 0.0, dtype=object)
        for element, value in filled.items():
            flat[element] = value
        arrays[slot.name] = flat.reshape(slot.shape)
    guards = np.array(list(entries[-1].values()), dtype=object)
    return finish(tape, name, {s.name: s.shape for s in inputs}, arrays, guards)


def _pick(slots: Sequence[Slot], name: str, what: str) -> int:
    names = [s.name for s in slots]
    if name not in names:
        raise ShapeError(f"there is no {what} '{name}' to differentiate. Hint: {nearest(name, names)}")
    return names.index(name)


def jacobian(program: Program, of: str, wrt: str) -> tuple[Program, np.ndarray]:
    """d output / d input as a program with one output of shape output + input, and the pattern of its nonzeros."""
    import casadi as ca

    o, i = _pick(program.outputs, of, "output"), _pick(program.inputs, wrt, "input")
    symbols, results, guards = expressions(program)
    J = ca.jacobian(results[o], symbols[i])
    out, inp = program.outputs[o], program.inputs[i]
    rows, cols = (np.array(x, dtype=int) for x in J.sparsity().get_triplet())
    nonzeros = ca.vertcat(*J.nonzeros()) if J.nnz() else ca.SX(0, 1)
    function = ca.Function("jacobian", symbols, [ca.cse(nonzeros), guards])
    pattern = np.zeros((out.size, inp.size), dtype=bool)
    pattern[rows, cols] = True
    slot = Slot(f"d{of}_d{wrt}", (*out.shape, *inp.shape))
    derivative = from_casadi(function, program.inputs, [slot], [rows * inp.size + cols], f"{program.name}_{slot.name}")
    return derivative, pattern.reshape(slot.shape)


def directional(program: Program, of: str, wrt: Sequence[str]) -> Program:
    """Derivative of an output along directions: inputs ``d_<name>`` follow the program's own."""
    import casadi as ca

    o = _pick(program.outputs, of, "output")
    chosen = [_pick(program.inputs, name, "input") for name in wrt]
    symbols, results, guards = expressions(program)
    seeds = [ca.SX.sym(f"d_{k}", program.inputs[k].size) for k in chosen]
    along = ca.jtimes(results[o], ca.vertcat(*(symbols[k] for k in chosen)), ca.vertcat(*seeds))
    slots = [*program.inputs, *(Slot(f"d_{program.inputs[k].name}", program.inputs[k].shape) for k in chosen)]
    dense = ca.densify(along)
    function = ca.Function("directional", [*symbols, *seeds], [ca.cse(dense), guards])
    slot = Slot(f"d{of}", program.outputs[o].shape)
    return from_casadi(function, slots, [slot], [np.arange(slot.size)], f"{program.name}_directional")


def pullback(program: Program, of: Sequence[str], wrt: Sequence[str]) -> Program:
    """Reverse mode: how a weighted sum of outputs changes with every input, bar_x = sum over y of (dy/dx)^T bar_y.

    Its inputs are those of the program, followed by the weights ``bar_<output>`` (shape of the output) of the outputs
    ``of``; its outputs are ``bar_<input>`` (shape of the input) of the inputs ``wrt``. The values of the program are
    computed first, then the weights from the last node to the first: less than three times the program's operations for
    the dynamics of robots, however many inputs there are. Guards of the program stay guards."""
    outputs, inputs = _all_of(program.outputs, of, "output"), _all_of(program.inputs, wrt, "input")
    slots = _followed_by(program, [Slot(f"bar_{program.outputs[o].name}", program.outputs[o].shape) for o in outputs])
    tape = Tape()
    leaves = [_leaves(tape, k, slot) for k, slot in enumerate(slots)]
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
    leaves = [_leaves(tape, k, slot) for k, slot in enumerate(slots)]
    values = replay(program, leaves)
    dots = zip(inputs, leaves[len(program.inputs) :], strict=True)
    seeds = {(i, element): dot for i, direction in dots for element, dot in enumerate(direction)}
    rates = forward(program, values, seeds)
    chosen = [(program.outputs[o], program.results[o]) for o in outputs]
    results = {slot.name: shaped(slot, [values[k] for k in nodes]) for slot, nodes in chosen} if primal else {}
    for slot, nodes in chosen:
        results[f"dot_{slot.name}"] = shaped(slot, [0.0 if rates[k] is None else rates[k] for k in nodes])
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


def _leaves(tape: Tape, number: int, slot: Slot) -> list[Recorded]:
    """The elements of an input."""
    return [Recorded(tape, tape.node(INPUT, number, element)) for element in range(slot.size)]


def _finished(
    program: Program,
    tape: Tape,
    values: Sequence[Any],
    slots: Sequence[Slot],
    results: dict[str, np.ndarray],
    what: str,
) -> Program:
    """The program of a sweep, with the guards of the program it was made from."""
    guards = np.array([values[k] for k in program.guards], dtype=object)
    return finish(tape, f"{program.name}_{what}", {slot.name: slot.shape for slot in slots}, results, guards)
