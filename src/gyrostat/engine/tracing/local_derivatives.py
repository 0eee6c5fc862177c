"""Derivatives of single operations, in one table: what the sweeps over a program need to know of them.

An operation z = op(x1, x2) is *smooth*, dz = f (w1 dx1 + w2 dx2) with a common factor f and weights w; a *choice* of
one of its operands, whose derivative it has; or *flat*, constant on either side of its steps. Which derivative is
taken at a step or a corner is that of the branch which the operation takes there itself; |x| has the slope 0 at 0."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import sign, where
from gyrostat.engine.tracing.operations import CODE
from gyrostat.engine.tracing.recording_scalar import general

Smooth = Callable[..., tuple[Any, tuple[Any, ...]]]
"""(z, x1, ...) -> common factor, weights of the operands."""
Choice = tuple[Callable[..., Any], int, int]
"""(z, x1, ...) -> condition; the operand that is taken where it holds, and the other one."""


def _power_weights(z: Any, x: Any, y: Any) -> tuple[Any, tuple[Any, Any]]:
    """x^y: y x^(y-1) and x^y log x. x^0 is constant, and so is 0^y for y > 0: there no infinite factor stays."""
    by_base = y * general("pow", x, where(y == 0.0, 1.0, y - 1.0))
    return 1.0, (by_base, where(x == 0.0, 0.0, z * general("log", x)))


SMOOTH: dict[str, Smooth] = {
    "add": lambda z, x, y: (1.0, (1.0, 1.0)),
    "sub": lambda z, x, y: (1.0, (1.0, -1.0)),
    "mul": lambda z, x, y: (1.0, (y, x)),
    "div": lambda z, x, y: (general("div", 1.0, y), (1.0, -z)),
    "neg": lambda z, x: (1.0, (-1.0,)),
    "sqrt": lambda z, x: (0.5 / z, (1.0,)),
    "abs": lambda z, x: (sign(x), (1.0,)),
    "sin": lambda z, x: (np.cos(x), (1.0,)),
    "cos": lambda z, x: (np.sin(x), (-1.0,)),
    "tan": lambda z, x: (1.0 + z * z, (1.0,)),
    "asin": lambda z, x: (1.0 / np.sqrt(1.0 - x * x), (1.0,)),
    "acos": lambda z, x: (1.0 / np.sqrt(1.0 - x * x), (-1.0,)),
    "atan": lambda z, x: (1.0 / (1.0 + x * x), (1.0,)),
    "atan2": lambda z, y, x: (1.0 / (x * x + y * y), (x, -y)),
    "sinh": lambda z, x: (np.cosh(x), (1.0,)),
    "cosh": lambda z, x: (np.sinh(x), (1.0,)),
    "tanh": lambda z, x: (1.0 - z * z, (1.0,)),
    "exp": lambda z, x: (z, (1.0,)),
    "log": lambda z, x: (1.0 / x, (1.0,)),
    "pow": _power_weights,
    "fmod": lambda z, x, y: (1.0, (1.0, (z - x) / y)),  # z = x - n y with a whole n
}

CHOICES: dict[str, Choice] = {
    "select": (lambda z, c, x, y: c, 1, 2),
    "min": (lambda z, x, y: y < x, 1, 0),
    "max": (lambda z, x, y: x < y, 1, 0),
}

FLAT = ("floor", "ceil", "lt", "le", "eq", "ne", "not", "and", "or", "sign")

UNBOUNDED = ("div", "sqrt", "tan", "asin", "acos", "atan2", "sinh", "cosh", "exp", "log", "pow", "fmod")
"""Operations that can have results or weights that are not finite although their operands are of moderate size."""

SMOOTH_BY_CODE: dict[int, Smooth] = {CODE[name]: rule for name, rule in SMOOTH.items()}
CHOICE_BY_CODE: dict[int, Choice] = {CODE[name]: rule for name, rule in CHOICES.items()}
FLAT_CODES, UNBOUNDED_CODES = (frozenset(CODE[name] for name in names) for names in (FLAT, UNBOUNDED))
