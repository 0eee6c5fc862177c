"""Whether the very same function still reads what it read: faster than to find out all that it reads.

For functions that reach numbers, arrays, tuples, modules, functions of libraries that depend on their arguments alone,
and functions of the same kind. What cannot change is the same object still; arrays are compared by their bytes; names
that were not set must not be set now, lest they hide others."""

from __future__ import annotations

import builtins
import types
from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.simulate.plant.attributes import names_in
from gyrostat.simulate.plant.libraries import of_library
from gyrostat.simulate.plant.trusted_laws import DEEP, numbers_of, pure
from gyrostat.spec.model import Model

FIXED = frozenset({int, float, complex, bool, str, bytes, type(None), np.float64, np.int64, np.float32, np.bool_})
"""Kinds whose objects do not change."""
NOTHING = object()


class _Unwatchable(Exception):  # noqa: N818  # not an error for users
    """Something whose changes would not be seen."""


class UnchangedLaw:
    """What a function reads, as it is now. ``numbers``: what :func:`numbers_of` says of it. ``watchable`` tells whether
    :meth:`holds` is to be believed."""

    def __init__(self, function: types.FunctionType, numbers: Any):
        self._functions: list[tuple[Any, ...]] = []
        self._cells: list[tuple[Any, Any]] = []
        self._names: list[tuple[Mapping[str, Any], str, Any]] = []
        self._arrays: list[tuple[Any, ...]] = []
        self.watchable = False
        try:
            self._function(function, 0)
            self.watchable = numbers_of(function) == numbers and self.holds()  # nothing has changed meanwhile
        except (_Unwatchable, ValueError):  # the latter: a name that is not set yet
            return

    def holds(self) -> bool:
        """Whether nothing has changed."""
        for x, code, defaults in self._functions:
            if x.__code__ is not code or x.__defaults__ is not defaults or x.__kwdefaults__ or x.__dict__:
                return False
        try:
            for cell, x in self._cells:
                if cell.cell_contents is not x:
                    return False
        except ValueError:  # it was deleted
            return False
        for names, name, x in self._names:
            if names.get(name, NOTHING) is not x:
                return False
        for x, shape, kind, numbers in self._arrays:
            if x.tobytes() != numbers or x.shape != shape or x.dtype is not kind:
                return False
        return True

    # ------------------------------------------------------------------ what is read
    def _function(self, x: types.FunctionType, depth: int) -> None:
        if depth > DEEP or x.__dict__ or x.__kwdefaults__:
            raise _Unwatchable
        self._functions.append((x, x.__code__, x.__defaults__))
        for cell in x.__closure__ or ():
            self._cells.append((cell, cell.cell_contents))
            self._value(cell.cell_contents, depth)
        for value in x.__defaults__ or ():
            self._value(value, depth)
        names, modules = sorted(names_in(x.__code__)), [c.cell_contents for c in x.__closure__ or ()]
        for name in names:
            modules.append(self._name(x.__globals__, name, depth))
            if modules[-1] is NOTHING:
                self._name(vars(builtins), name, depth)
        self._modules([*modules, *(x.__defaults__ or ())], names, [], depth)

    def _modules(self, reached: list[Any], names: list[str], seen: list[Any], depth: int) -> None:
        """What the names stand for in each module among what is reached."""
        for y in reached:
            if isinstance(y, types.ModuleType) and not any(y is module for module in seen):
                seen.append(y)
                self._modules([self._name(vars(y), name, depth) for name in names], names, seen, depth)

    def _name(self, names: Mapping[str, Any], name: str, depth: int) -> Any:
        """What a name stands for, or nothing; watched from now on."""
        x = names.get(name, NOTHING)
        self._names.append((names, name, x))
        if x is not NOTHING:
            self._value(x, depth)
        return x

    def _value(self, x: Any, depth: int) -> None:
        if type(x) is np.ndarray and x.dtype.kind in "fiub":
            self._arrays.append((x, x.shape, x.dtype, x.tobytes()))
        elif type(x) is tuple:
            for y in x:
                if isinstance(y, types.ModuleType):
                    raise _Unwatchable
                self._value(y, depth)
        elif isinstance(x, types.FunctionType):
            if not of_library(x):
                self._function(x, depth + 1)
        elif not (type(x) in FIXED or isinstance(x, Model | types.ModuleType) or pure(x)):
            raise _Unwatchable
