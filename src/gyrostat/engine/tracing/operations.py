"""Every operation of a program, in one table: how it is folded, printed as LLVM and as C, and recorded from CasADi.

Truth values are 0.0 and 1.0. ``llvm`` is an instruction (``fadd``), a comparison (``fcmp olt``), an intrinsic
(``@sqrt``: one instruction on every CPU, correctly rounded), or empty for those that ``emit`` spells out; ``libm``
names the C function that serves an operation lane by lane."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Operation:
    """One row of the table. ``c`` is a template with {0}, {1}, {2} for the operands."""

    name: str
    arity: int
    fold: Callable[..., float]
    c: str
    casadi: str | None = None  # OP_... of CasADi
    llvm: str = ""
    libm: str = ""
    commutes: bool = False
    shows: int = 0  # so many first operands cannot be NaN or infinite without the result being so too


def _div(x: float, y: float) -> float:
    if y == 0.0:
        return math.nan if x == 0.0 or math.isnan(x) else math.copysign(math.inf, x) * math.copysign(1.0, y)
    return x / y


def _guard(function: Callable[..., float], ieee: Callable[..., float]) -> Callable[..., float]:
    """Python raises where IEEE arithmetic goes on, and where it does, NumPy knows which infinity or NaN is meant."""

    def fold(*x: float) -> float:
        try:
            return float(function(*x))
        except (OverflowError, ValueError):
            with np.errstate(all="ignore"):
                return float(ieee(*x))

    return fold


def _round(ufunc: Callable[..., float]) -> Callable[..., float]:
    """floor and ceil: those of ``math`` make integers, which have neither infinity nor -0."""
    return lambda x: float(ufunc(x))


def _sign(x: float) -> float:
    return float(x > 0.0) - float(x < 0.0) if x == x else math.nan


# fmt: off
OPERATIONS: tuple[Operation, ...] = (
    # arithmetic
    Operation("add", 2, lambda x, y: x + y, "{0} + {1}", "OP_ADD", "fadd", commutes=True, shows=2),
    Operation("sub", 2, lambda x, y: x - y, "{0} - {1}", "OP_SUB", "fsub", shows=2),
    Operation("mul", 2, lambda x, y: x * y, "{0} * {1}", "OP_MUL", "fmul", commutes=True, shows=2),
    Operation("div", 2, _div, "{0} / {1}", "OP_DIV", "fdiv", shows=1),
    Operation("neg", 1, lambda x: -x, "-{0}", "OP_NEG", "fneg", shows=1),
    Operation("sqrt", 1, _guard(math.sqrt, np.sqrt), "sqrt({0})", "OP_SQRT", "@sqrt", shows=1),
    Operation("abs", 1, lambda x: abs(x), "fabs({0})", "OP_FABS", "@fabs", shows=1),
    Operation("floor", 1, _round(np.floor), "floor({0})", "OP_FLOOR", "@floor", shows=1),
    Operation("ceil", 1, _round(np.ceil), "ceil({0})", "OP_CEIL", "@ceil", shows=1),
    # elementary functions; sin and cos are vectorised, the others go lane by lane through libm
    Operation("sin", 1, _guard(math.sin, np.sin), "sin({0})", "OP_SIN", shows=1),
    Operation("cos", 1, _guard(math.cos, np.cos), "cos({0})", "OP_COS", shows=1),
    Operation("tan", 1, _guard(math.tan, np.tan), "tan({0})", "OP_TAN", libm="tan", shows=1),
    Operation("asin", 1, _guard(math.asin, np.arcsin), "asin({0})", "OP_ASIN", libm="asin", shows=1),
    Operation("acos", 1, _guard(math.acos, np.arccos), "acos({0})", "OP_ACOS", libm="acos", shows=1),
    Operation("atan", 1, _guard(math.atan, np.arctan), "atan({0})", "OP_ATAN", libm="atan"),
    Operation("atan2", 2, _guard(math.atan2, np.arctan2), "atan2({0}, {1})", "OP_ATAN2", libm="atan2"),
    Operation("sinh", 1, _guard(math.sinh, np.sinh), "sinh({0})", "OP_SINH", libm="sinh", shows=1),
    Operation("cosh", 1, _guard(math.cosh, np.cosh), "cosh({0})", "OP_COSH", libm="cosh", shows=1),
    Operation("tanh", 1, _guard(math.tanh, np.tanh), "tanh({0})", "OP_TANH", libm="tanh"),
    Operation("exp", 1, _guard(math.exp, np.exp), "exp({0})", "OP_EXP", libm="exp"),
    Operation("log", 1, _guard(math.log, np.log), "log({0})", "OP_LOG", libm="log", shows=1),
    Operation("pow", 2, _guard(math.pow, np.power), "pow({0}, {1})", "OP_POW", libm="pow"),
    Operation("fmod", 2, _guard(math.fmod, np.fmod), "fmod({0}, {1})", "OP_FMOD", libm="fmod", shows=1),
    # comparisons and choices, without branches
    Operation("lt", 2, lambda x, y: float(x < y), "(double)({0} < {1})", "OP_LT", "fcmp olt"),
    Operation("le", 2, lambda x, y: float(x <= y), "(double)({0} <= {1})", "OP_LE", "fcmp ole"),
    Operation("eq", 2, lambda x, y: float(x == y), "(double)({0} == {1})", "OP_EQ", "fcmp oeq", commutes=True),
    Operation("ne", 2, lambda x, y: float(x != y), "(double)({0} != {1})", "OP_NE", "fcmp une", commutes=True),
    Operation("not", 1, lambda x: float(x == 0.0), "(double)({0} == 0.0)", "OP_NOT"),
    Operation("and", 2, lambda x, y: float(x != 0.0 and y != 0.0), "(double)({0} != 0.0 && {1} != 0.0)", "OP_AND"),
    Operation("or", 2, lambda x, y: float(x != 0.0 or y != 0.0), "(double)({0} != 0.0 || {1} != 0.0)", "OP_OR"),
    Operation("select", 3, lambda c, x, y: x if c != 0.0 else y, "({0} != 0.0 ? {1} : {2})"),
    Operation("min", 2, min, "({1} < {0} ? {1} : {0})", "OP_FMIN"),
    Operation("max", 2, max, "({0} < {1} ? {1} : {0})", "OP_FMAX"),
    Operation("sign", 1, _sign, "({0} != {0} ? {0} : (double)(({0} > 0.0) - ({0} < 0.0)))", "OP_SIGN"),
)
# fmt: on

BY_NAME: dict[str, Operation] = {op.name: op for op in OPERATIONS}
CODE: dict[str, int] = {op.name: k for k, op in enumerate(OPERATIONS)}
"""Number of each operation; a program stores numbers."""

INPUT, CONST = -1, -2
"""Codes of the two leaves of a program."""
