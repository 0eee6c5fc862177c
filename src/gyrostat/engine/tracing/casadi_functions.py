"""Programs as functions of CasADi, and functions of CasADi as programs; the engine loads CasADi here only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gyrostat.engine.tracing.operations import CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Program, Slot
from gyrostat.engine.tracing.record import finish
from gyrostat.engine.tracing.recording_scalar import Recorded, general
from gyrostat.engine.tracing.tape import Tape
from gyrostat.errors import GyrostatError, RecordError

if TYPE_CHECKING:
    import casadi as ca


def casadi_module() -> Any:
    """The module ``casadi``, which is no requirement of gyrostat."""
    try:
        import casadi
    except ImportError as error:
        hint = "pip install 'gyrostat[casadi]'"
        raise GyrostatError(f"CasADi is not installed ({error}). Hint: {hint}.") from None
    return casadi


def to_casadi(program: Program) -> ca.Function:
    """The program as a CasADi function with the names and shapes of its inputs and outputs.

    A number is (1, 1), an array (n,) a column (n, 1), a matrix (n, m) the matrix (n, m): entry [i, j] here is entry
    [i, j] there. Arrays with more axes, which CasADi does not have, are stacked slices: (l, n, m) is (l n, m), and row
    i n + j holds [i, j, :]. Names that CasADi refuses are spelt with underscores; what would be called the same gets a
    number, and an output that is called like an input the ending ``_out``."""
    ca = casadi_module()
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
    ca = casadi_module()
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
    ca = casadi_module()
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
