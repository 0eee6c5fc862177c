"""Laws that were looked at before: the same code, which reaches nothing that could remember, with other numbers.

Whether a function remembers is found out by calling it (:mod:`~gyrostat.simulate.plant.user_memory`), which takes
longer than a short run. Code that reaches numbers, arrays, functions of NumPy and of :mod:`math` that depend on their
arguments alone, and functions of the same kind, does the same whatever these numbers are; it is looked at once for
every program that it records to. All else (files, clocks, dice, the environment, other libraries) is looked at every
time."""

from __future__ import annotations

import builtins
import dataclasses
import types
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.program import Program
from gyrostat.simulate.blocks.block import Block
from gyrostat.simulate.plant.attributes import names_in
from gyrostat.simulate.plant.libraries import of_library
from gyrostat.simulate.trajectories.trajectory import Trajectory
from gyrostat.spec.model import Model

PLAIN = (int, float, complex, bool, str, bytes, type(None), np.generic, Model)
PURE = frozenset({"numpy", "math", "cmath", "operator"})
"""Libraries whose functions depend on their arguments alone, but for those below."""
IMPURE = frozenset({
    "random", "load", "loadtxt", "genfromtxt", "fromfile", "fromregex", "memmap", "save", "savez", "savetxt", "empty",
    "empty_like", "lib", "ctypeslib", "testing", "seterr", "errstate", "setbufsize", "info", "show_config", "core",
})  # fmt: skip
BUILTIN = frozenset({
    "abs", "all", "any", "bool", "complex", "dict", "divmod", "enumerate", "filter", "float", "int", "isinstance",
    "len", "list", "map", "max", "min", "pow", "range", "reversed", "round", "set", "slice", "sorted", "str", "sum",
    "tuple", "zip", "ValueError", "TypeError", "RuntimeError", "Exception", "ArithmeticError",
})  # fmt: skip
DEEP = 8
"""Levels of functions and blocks inside each other that are looked at."""
MOST = 4096
_known: dict[Hashable, None] = {}
_trusted: dict[Hashable, None] = {}


def made_of(x: Any, depth: int = 0) -> Hashable | None:
    """The code that a function or block is made of; None if something that it reaches may remember, or may give
    something else next time: a file, a clock, dice, the environment."""
    if isinstance(x, PLAIN) or (isinstance(x, np.ndarray) and x.dtype.kind in "fiub"):
        return ()
    if depth > DEEP:
        return None
    if isinstance(x, types.FunctionType) and not of_library(x):
        return _of_function(x, depth)
    if isinstance(x, tuple):
        return _all([made_of(y, depth + 1) for y in x])
    if isinstance(x, types.ModuleType):
        return () if x.__name__.split(".")[0] in PURE and x.__name__.split(".")[-1] not in IMPURE else None
    if isinstance(x, types.BuiltinFunctionType | types.FunctionType | type | np.ufunc) or callable(x):
        return () if pure(x) else _of_data(x, depth)
    return _of_data(x, depth)


def pure(x: Any) -> bool:
    """Whether a function or class of a library depends on its arguments alone."""
    if isinstance(x, np.ufunc):
        return True
    if not isinstance(x, types.BuiltinFunctionType | types.FunctionType | type | _DISPATCHED):
        return False
    name, root = getattr(x, "__name__", ""), str(getattr(x, "__module__", None) or "").split(".")[0]
    if getattr(builtins, name, None) is x:
        return name in BUILTIN
    bound = getattr(x, "__self__", None)
    return root in PURE and name not in IMPURE and (bound is None or isinstance(bound, types.ModuleType))


_DISPATCHED = type(np.concatenate)
"""Functions of NumPy that look at the kinds of their arguments first."""


def _of_data(x: Any, depth: int) -> Hashable | None:
    """Blocks and trajectories of the library: frozen, and known by what is in them."""
    if isinstance(x, Trajectory) and of_library(type(x)):
        return _all([type(x), *(made_of(y, depth + 1) for y in _inside(x))])
    frozen = dataclasses.is_dataclass(x) and of_library(type(x)) and type(x).__dataclass_params__.frozen  # type: ignore
    if not frozen or (isinstance(x, Block) and getattr(type(x), "remembers", False)):
        return None
    fields = dataclasses.fields(x)  # type: ignore[arg-type]
    return _all([type(x), *(made_of(getattr(x, f.name), depth + 1) for f in fields)])


def _of_function(x: types.FunctionType, depth: int) -> Hashable | None:
    try:
        others = _reached(x)
    except ValueError:  # a name that is not set yet
        return None
    if x.__dict__:
        return None
    return _all([x.__code__, *(made_of(y, depth + 1) for y in others)])


def _reached(x: types.FunctionType) -> list[Any]:
    """What a function reads: its closure, defaults, the globals and builtins that its code names, and what it names of
    modules."""
    names = sorted(names_in(x.__code__))
    reached = [cell.cell_contents for cell in x.__closure__ or ()]
    reached += [*(x.__defaults__ or ()), *(x.__kwdefaults__ or {}).values()]
    for name in names:
        if name in x.__globals__:
            reached.append(x.__globals__[name])
        elif hasattr(builtins, name):
            reached.append(getattr(builtins, name))
    return _with_modules(reached, names, [])


def _with_modules(reached: list[Any], names: list[str], seen: list[Any]) -> list[Any]:
    """The same with what the names stand for in each module; a module of the user's own is that alone."""
    others: list[Any] = []
    for y in reached:
        if not isinstance(y, types.ModuleType):
            others.append(y)
            continue
        if any(y is module for module in seen):
            continue
        seen.append(y)
        if of_library(y):
            others.append(y)
        inside = [vars(y)[name] for name in names if name in vars(y)]
        others += _with_modules(inside, names, seen)
    return others


def numbers_of(x: Any, depth: int = 0) -> Hashable:
    """All that a function or block is made of and reads, of one that :func:`made_of` knows: two with the same numbers
    are the same law."""
    if isinstance(x, np.ndarray):
        return x.dtype.char, x.shape, x.tobytes()
    if isinstance(x, Model | types.ModuleType | type) or depth > DEEP or pure(x):
        return _Same(x)
    if isinstance(x, types.FunctionType):
        if of_library(x):
            return _Same(x)
        return x.__code__, len(x.__dict__), *(numbers_of(y, depth + 1) for y in _reached(x))
    if isinstance(x, tuple):
        return type(x), *(numbers_of(y, depth + 1) for y in x)
    if isinstance(x, Trajectory):
        return type(x), *(numbers_of(y, depth + 1) for y in _inside(x))
    if dataclasses.is_dataclass(x):
        return type(x), *(numbers_of(getattr(x, f.name), depth + 1) for f in dataclasses.fields(x))
    return (type(x), repr(x)) if isinstance(x, PLAIN) else _Same(x)  # -0.0 is not 0.0


def _inside(x: Trajectory) -> list[Any]:
    """What a trajectory is made of; its lists do not change."""
    return [tuple(y) if isinstance(y, list) else y for _, y in sorted(vars(x).items())]


class _Same:
    """The very same object, which lives as long as this."""

    __slots__ = ("x",)

    def __init__(self, x: Any):
        self.x = x

    def __hash__(self) -> int:
        return id(self.x)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and other.x is self.x


def _all(parts: list[Any]) -> Hashable | None:
    return None if any(part is None for part in parts) else tuple(parts)


def known(code: Hashable | None) -> bool:
    """Whether code was looked at before, in whatever program it resulted."""
    return code is not None and code in _known


def known_law(function: Any, before: Sequence[Hashable] = ()) -> Hashable | None:
    """What a function computes: its code and all numbers that it reads. None if it was never looked at, or reaches
    something that must be looked at every time. ``before``: what this has returned for other laws, or for this one."""
    try:
        numbers = numbers_of(function)
    except ValueError:  # a name that is not set yet
        return None
    return numbers if numbers in before or known(made_of((function,))) else None


def trusted(code: Hashable, lifted: Program) -> bool:
    """Whether code was looked at with this program."""
    return (code, lifted.digest) in _trusted


def trust(code: Hashable | None, lifted: Program) -> None:
    """A law was looked at, and found to be a function of its arguments."""
    if code is None:
        return
    for table, key in ((_known, code), (_trusted, (code, lifted.digest))):
        while len(table) >= MOST:
            table.pop(next(iter(table)))
        table[key] = None
