"""Recording: run a NumPy function once on scalars that write down what is done to them.

Measured, one operation: 0.8 us here, 18 us with a CasADi SX scalar; so the recorder is our own, it shares equal nodes
as it goes (hash-consing, which is CSE), folds constants and drops structural zeros. CasADi serves derivatives
(``derivative``)."""

from __future__ import annotations

import math
import os
import sys
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from numbers import Real
from typing import Any

import numpy as np

from gyrostat.engine.tracing.operations import CODE, CONST, INPUT, OPERATIONS
from gyrostat.engine.tracing.program import Node, Program, Slot, prune, verify
from gyrostat.errors import RecordError

TINY = sys.float_info.min
ADD, SUB, MUL, DIV, NEG = (CODE[name] for name in ("add", "sub", "mul", "div", "neg"))


ARITHMETIC = frozenset({np.add, np.subtract, np.multiply, np.divide, np.negative, np.matmul, np.sin, np.cos, np.sqrt})


class _Tapes(threading.local):
    """Recordings of this thread of which something is still in use."""

    def __init__(self) -> None:
        self.live: weakref.WeakSet[Tape] = weakref.WeakSet()


TAPES = _Tapes()


class Tape:
    """Nodes that were recorded, each once."""

    def __init__(self) -> None:
        TAPES.live.add(self)
        self.nodes: list[Node] = []
        self.constants: list[float] = []
        self.known: dict[Any, int] = {}
        self.asked = [0] * len(OPERATIONS)

    def node(self, code: int, x: int, y: int = 0, z: int = 0) -> int:
        key = (code, x, y, z)
        k = self.known.get(key)
        if k is None:
            k = self.known[key] = len(self.nodes)
            self.nodes.append(key)
        return k

    def constant(self, value: float) -> int:
        key = (value, math.copysign(1.0, value))
        k = self.known.get(key)
        if k is None:
            k = self.known[key] = len(self.nodes)
            self.nodes.append((CONST, len(self.constants), 0, 0))
            self.constants.append(value)
        return k


class Recorded:
    """A scalar that records. Arithmetic and NumPy functions work; Python ``if``, ``float()`` and ``int()`` do not.

    A recorded value is never a constant: what folds comes back as a Python float.
    """

    __slots__ = ("k", "tape")

    def __init__(self, tape: Tape, k: int):
        self.tape, self.k = tape, k

    # ---- arithmetic: constants fold, zeros and ones drop out, signs move outward, commuting operands are in order
    def __add__(self, other: Any) -> Any:
        tape, x = self.tape, self.k
        tape.asked[ADD] += 1
        if type(other) is Recorded:
            if other.tape is not tape:
                raise _mixed()
            return Recorded(tape, _sum(tape, x, other.k))
        if type(other) is not float:
            other = _number(other)
            if other is NotImplemented:
                return other
        return self if other == 0.0 else Recorded(tape, _sum(tape, tape.constant(other), x))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        tape, x = self.tape, self.k
        tape.asked[SUB] += 1
        if type(other) is Recorded:
            if other.tape is not tape:
                raise _mixed()
            return 0.0 if x == other.k else Recorded(tape, _difference(tape, x, other.k))
        if type(other) is not float:
            other = _number(other)
            if other is NotImplemented:
                return other
        return self if other == 0.0 else Recorded(tape, _sum(tape, tape.constant(-other), x))

    def __rsub__(self, other: Any) -> Any:
        tape = self.tape
        tape.asked[SUB] += 1
        other = _number(other)
        if other is NotImplemented:
            return other
        if other == 0.0:
            return Recorded(tape, _negative(tape, self.k))
        return Recorded(tape, _difference(tape, tape.constant(other), self.k))

    def __mul__(self, other: Any) -> Any:
        tape, x = self.tape, self.k
        tape.asked[MUL] += 1
        if type(other) is Recorded:
            if other.tape is not tape:
                raise _mixed()
            return Recorded(tape, _product(tape, x, other.k))
        if type(other) is not float:
            other = _number(other)
            if other is NotImplemented:
                return other
        return 0.0 if other == 0.0 else Recorded(tape, _scaled(tape, other, x))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if type(other) is Recorded:
            return general("div", self, other)
        other = _number(other)
        if other is NotImplemented or other == 1.0:
            return self if other == 1.0 else other
        return general("div", self, other)

    def __rtruediv__(self, other: Any) -> Any:
        other = _number(other)
        if other is NotImplemented:
            return other
        return 0.0 if other == 0.0 else general("div", other, self)

    def __neg__(self) -> Any:
        self.tape.asked[NEG] += 1
        return Recorded(self.tape, _negative(self.tape, self.k))

    def __pos__(self) -> Any:
        return self

    def __pow__(self, other: Any) -> Any:
        return power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return general("pow", other, self)

    def __mod__(self, other: Any) -> Any:
        return modulo(self, other)

    def __rmod__(self, other: Any) -> Any:
        return modulo(other, self)

    def __abs__(self) -> Any:
        return general("abs", self)

    def __floor__(self) -> Any:
        return general("floor", self)

    def __ceil__(self) -> Any:
        return general("ceil", self)

    # ---- comparisons
    def __lt__(self, other: Any) -> Any:
        return general("lt", self, other)

    def __le__(self, other: Any) -> Any:
        return general("le", self, other)

    def __gt__(self, other: Any) -> Any:
        return general("lt", other, self)

    def __ge__(self, other: Any) -> Any:
        return general("le", other, self)

    def __eq__(self, other: object) -> Any:
        return general("eq", self, other)

    def __ne__(self, other: object) -> Any:
        return general("ne", self, other)

    def __and__(self, other: Any) -> Any:
        return general("and", self, other)

    def __or__(self, other: Any) -> Any:
        return general("or", self, other)

    def __invert__(self) -> Any:
        return general("not", self)

    __rand__, __ror__ = __and__, __or__
    __hash__ = None  # type: ignore[assignment]

    # ---- NumPy with a recorded scalar among its arguments: choices are recorded too, see :mod:`signals`
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if ufunc in ARITHMETIC:  # by the elements themselves
            return getattr(ufunc, method)(*[alone(x) if type(x) is Recorded else x for x in inputs], **kwargs)
        from gyrostat.engine.tracing.signals import scalar_ufunc

        return scalar_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from gyrostat.engine.tracing.signals import scalar_function

        return scalar_function(func, args, kwargs)

    # ---- what NumPy calls on objects: np.sin(x) is x.sin()
    def arctan2(self, other: Any) -> Any:
        return general("atan2", self, other)

    def fmod(self, other: Any) -> Any:
        return general("fmod", self, other)

    def square(self) -> Any:
        return self * self

    def conjugate(self) -> Any:
        return self

    # ---- what cannot be recorded
    def __bool__(self) -> bool:
        raise _not_recordable("a Python condition (if, while, and, or, not, min, max)", "np.where(c, a, b)")

    def __float__(self) -> float:
        raise _not_recordable(
            "a conversion to float (float(), math.sin(), writing into a float array)",
            "NumPy functions, np.array([...])",
        )

    def __int__(self) -> int:
        raise _not_recordable("a conversion to int", "arithmetic on the value itself")

    __index__ = __int__

    def __repr__(self) -> str:
        return f"<recorded node {self.k}>"


def alone(x: Recorded) -> np.ndarray:
    """A recorded scalar as an array ()."""
    array = np.empty((), dtype=object)
    array[()] = x
    return array


def _unary(name: str) -> Callable[[Recorded], Any]:
    return lambda self: general(name, self)


for _method, _name in {
    "sin": "sin", "cos": "cos", "tan": "tan", "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh",
    "cosh": "cosh",
    "tanh": "tanh", "exp": "exp", "log": "log", "sqrt": "sqrt", "fabs": "abs", "floor": "floor", "ceil": "ceil",
}.items():  # fmt: skip
    setattr(Recorded, _method, _unary(_name))


_NOT_THE_USER = (os.path.dirname(np.__file__) + os.sep, os.path.dirname(__file__) + os.sep)


def _place(frame: Any, line: int) -> str:
    return f" at {frame.f_code.co_filename}:{line} in {frame.f_code.co_name}()"


def _not_recordable(what: str, instead: str) -> RecordError:
    frame = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_NOT_THE_USER):
        frame = frame.f_back
    where = _place(frame, frame.f_lineno) if frame else ""
    return RecordError(
        f"{what} on a recorded value{where} cannot be recorded: its number is not known yet. Hint: use {instead}"
    )


def _unknown_operation(error: Exception) -> RecordError | None:
    """What NumPy and Python say of operations that recorded values do not have, in our words."""
    said = str(error)
    if not any(sign in said for sign in ("Recorded", "ufunc", "'float' object has no attribute")):
        return None
    where, step = "", error.__traceback__
    while step is not None:
        if not step.tb_frame.f_code.co_filename.startswith(_NOT_THE_USER):
            where = _place(step.tb_frame, step.tb_lineno)
        step = step.tb_next
    return RecordError(
        f"an operation{where} cannot be recorded: {said}. "
        "Hint: use functions of the table in gyrostat.engine.tracing.operations, "
        "of recorded values one by one where numbers are among them"
    )


def _mixed() -> RecordError:
    return RecordError("two recordings were mixed in one expression. Hint: record the whole function at once")


def _number(value: Any) -> Any:
    """A constant operand as a float."""
    return float(value) if isinstance(value, Real | np.bool_) else NotImplemented


def _lift(tape: Tape, value: Any) -> int | None:
    """Node of an operand; None if it is not a number."""
    if type(value) is Recorded:
        if value.tape is not tape:
            raise _mixed()
        return value.k
    return tape.constant(float(value)) if isinstance(value, Real | np.bool_) else None


def _negative(tape: Tape, x: int) -> int:
    code, a, b, _ = tape.nodes[x]
    if code == NEG:
        return a
    return tape.node(SUB, b, a) if code == SUB else tape.node(NEG, x)


def _sum(tape: Tape, x: int, y: int) -> int:
    nodes = tape.nodes
    if nodes[y][0] == NEG:
        return _difference(tape, x, nodes[y][1])
    if nodes[x][0] == NEG:
        return _difference(tape, y, nodes[x][1])
    return tape.node(ADD, x, y) if x <= y else tape.node(ADD, y, x)


def _difference(tape: Tape, x: int, y: int) -> int:
    nodes = tape.nodes
    if nodes[y][0] == NEG:
        return _sum(tape, x, nodes[y][1])
    if nodes[x][0] == NEG:  # -a - b
        return _negative(tape, _sum(tape, nodes[x][1], y))
    return tape.node(SUB, x, y)


def _product(tape: Tape, x: int, y: int) -> int:
    nodes = tape.nodes
    nx, ny = nodes[x][0] == NEG, nodes[y][0] == NEG
    if nx or ny:
        product = _product(tape, nodes[x][1] if nx else x, nodes[y][1] if ny else y)
        return product if nx and ny else _negative(tape, product)
    return tape.node(MUL, x, y) if x <= y else tape.node(MUL, y, x)


def _scaled(tape: Tape, factor: float, x: int) -> int:
    """factor times a node."""
    if factor == 1.0:
        return x
    if factor == -1.0:
        return _negative(tape, x)
    code, a, b, _ = tape.nodes[x]
    if code == NEG:
        return _scaled(tape, -factor, a)
    if code == MUL and tape.nodes[a][0] == CONST:  # a constant stands first in a product
        combined = factor * tape.constants[tape.nodes[a][1]]
        if TINY <= abs(combined) < math.inf:
            return _scaled(tape, combined, b)
    return tape.node(MUL, tape.constant(factor), x)


def power(base: Recorded, exponent: Any) -> Any:
    """Whole and half exponents become products and roots."""
    if isinstance(exponent, Real):
        e = float(exponent)
        if e < 0.0 and (2.0 * e).is_integer() and e >= -16.0:
            return 1.0 / power(base, -e)
        if e.is_integer() and 0.0 <= e <= 16.0:
            result: Any = 1.0
            square, n = base, int(e)
            while n:
                result = square * result if n & 1 else result
                square, n = (square * square if n > 1 else square), n >> 1
            return result
        if (2.0 * e).is_integer() and 0.0 < e <= 16.0:
            return power(base, math.floor(e)) * general("sqrt", base)
    return general("pow", base, exponent)


def modulo(x: Any, y: Any) -> Any:
    """x % y with the sign of y, exactly as NumPy has it."""
    rest = general("fmod", x, y)
    if rest is NotImplemented:
        return rest
    other_sign = general("ne", general("lt", rest, 0.0), y < 0.0)
    return general("select", general("and", general("ne", rest, 0.0), other_sign), rest + y, rest)


def general(name: str, *operands: Any) -> Any:
    """An operation of the table on recorded values and numbers; a plain float if none is recorded."""
    code = CODE[name]
    tape = next((x.tape for x in operands if type(x) is Recorded), None)
    if tape is None:
        return OPERATIONS[code].fold(*(float(x) for x in operands))
    nodes = [k for x in operands if (k := _lift(tape, x)) is not None]
    if len(nodes) < len(operands):
        return NotImplemented
    tape.asked[code] += 1
    if OPERATIONS[code].commutes:
        nodes.sort()
    return Recorded(tape, tape.node(code, *nodes))


def record(
    function: Callable[..., Any],
    inputs: Mapping[str, tuple[int, ...]],
    name: str = "program",
) -> Program:
    """Run ``function(**arrays)`` on recording arrays of the given shapes; it returns arrays by name.

    An output called ``guard`` is not returned by kernels: its entries must be finite, otherwise the call is refused.
    So must inputs whose NaN or infinity no result would show."""
    tape = Tape()
    arrays: dict[str, np.ndarray] = {}
    for number, (key, shape) in enumerate(inputs.items()):
        array = np.empty(shape, dtype=object)
        for element, index in enumerate(np.ndindex(*shape)):
            array[index] = Recorded(tape, tape.node(INPUT, number, element))
        arrays[key] = array
    try:
        found = dict(function(**arrays))
    except (TypeError, AttributeError) as error:
        raise _unknown_operation(error) or error from error
    guards = found.pop("guard", ())
    outputs = {key: np.asarray(value) for key, value in found.items()}
    return finish(tape, name, inputs, outputs, np.asarray(guards))


def finish(
    tape: Tape, name: str, inputs: Mapping[str, tuple[int, ...]], outputs: Mapping[str, np.ndarray], guards: np.ndarray
) -> Program:
    def number(value: Any, key: str) -> int:
        k = _lift(tape, value)
        if k is None:
            raise RecordError(f"output '{key}' of '{name}' holds {value!r}, which is no number")
        return k

    results = tuple(tuple(number(x, key) for x in value.ravel()) for key, value in outputs.items())
    for key, nodes in zip(outputs, results, strict=True):
        values = [tape.constants[tape.nodes[k][1]] for k in nodes if tape.nodes[k][0] == CONST]
        bad = [v for v in values if not math.isfinite(v)]
        if bad:
            raise RecordError(f"output '{key}' of '{name}' is the constant {bad[0]}, whatever the inputs are")
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


def watched(program: Program) -> Program:
    """Guards for inputs that may be NaN or infinite without any result showing it: those that nothing reads, and those
    that are read by choices, comparisons or denominators only."""
    shown = _shown(program)
    here = {(x, y): k for k, (code, x, y, _) in enumerate(program.nodes) if code == INPUT}
    places = [(i, e) for i, slot in enumerate(program.inputs) for e in range(slot.size)]
    nodes, guards = list(program.nodes), list(program.guards)
    for place in places:
        k = here.get(place)
        if k is None:
            nodes.append((INPUT, *place, 0))
            guards.append(len(nodes) - 1)
        elif not shown[k]:
            guards.append(k)
    return replace(program, nodes=tuple(nodes), guards=tuple(guards))


def _shown(program: Program) -> bytearray:
    """For every node, whether a result or guard is certain not to be finite when the node is not."""
    shown = bytearray(len(program.nodes))
    for k in [*program.guards, *(x for r in program.results for x in r)]:
        shown[k] = 1
    for k in range(len(program.nodes) - 1, -1, -1):
        code, *operands = program.nodes[k]
        if shown[k] and code >= 0:
            for x in operands[: OPERATIONS[code].shows]:
                shown[x] = 1
    return shown


def is_recorded(values: Sequence[Any] | np.ndarray) -> bool:
    """Whether an array holds recording scalars."""
    return np.asarray(values).dtype == object
