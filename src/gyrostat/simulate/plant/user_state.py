"""What a function of a user's can remember: everything that it reaches and that can change, by name, and given back.

From a function these are its closure, default arguments and attributes, the globals that its code names, and what they
hold in turn: containers, arrays, objects of the user's own classes, these classes, generators of random numbers.
Objects of libraries are taken as they are: what is inside them is not looked at, but their attributes are given back.
A controller from an installed package is the user's own."""

from __future__ import annotations

import array
import functools
import io
import random
import types
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from gyrostat.engine.tracing.recording_scalar import Recorded
from gyrostat.errors import clipped
from gyrostat.simulate.plant.attributes import (
    attributes,
    empty_cell,
    names_in,
    reset_attributes,
    reset_class,
    state_numbers,
)
from gyrostat.simulate.plant.libraries import installed, of_library

MOST = 20_000
"""Things that are looked at; what is beyond is not."""
ENDS = 100
"""Of long lists so many elements at either end are looked at."""
RECORDED = "a recorded value"
PLAIN = (str, bytes, int, float, complex, bool, type(None), np.generic, range, type(Ellipsis), types.CodeType)
RANDOM = (np.random.Generator, np.random.RandomState, np.random.BitGenerator, random.Random)
DICE = ("random numbers of numpy", "random numbers of Python")


class UserState:
    """The state behind ``roots`` at this moment: ``leaves``, values by where they are; :meth:`restore` gives it back.

    ``recorded``: where recorded values are. ``one_way``: generators and iterators, which cannot be given back.
    ``changeable``: objects, names and cells in which something may be put. ``sampled``: functions and blocks of users
    that are called at sampling instants, and may remember."""

    def __init__(self, roots: Iterable[Any]):
        self.leaves: dict[str, Any] = {}
        self.recorded: list[str] = []
        self.one_way: list[str] = []
        self.arrays: dict[str, np.ndarray] = {}
        self.changeable: set[Any] = set()
        self.sampled: list[Any] = []
        self._undo: list[Callable[[], None]] = []
        self._seen: dict[int, str] = {}
        self._alive: list[Any] = []  # numbers of objects are theirs as long as these live
        roots = list(roots)
        self._given = {id(x) for root in roots for x in (root, getattr(root, "__self__", None))}
        self._waiting: deque[tuple[str, Any]] = deque(("", root) for root in roots)
        self._dice()
        while self._waiting and len(self._alive) < MOST:
            self._visit(*self._waiting.popleft())

    def restore(self) -> None:
        """Everything as it was."""
        for undo in self._undo:
            undo()

    def changes(self, later: UserState) -> list[str]:
        """Where ``later`` differs, in words."""
        places = [*self.leaves, *(path for path in later.leaves if path not in self.leaves)]
        return [p or "itself" for p in places if self.leaves.get(p, self) != later.leaves.get(p, self)]

    # ------------------------------------------------------------------ one thing after the other
    def _later(self, path: str, x: Any) -> None:
        self._waiting.append((path, x))

    def _visit(self, path: str, x: Any) -> None:
        if type(x) is Recorded:
            self.recorded.append(path)
            self.leaves[path] = RECORDED
            return
        if isinstance(x, PLAIN):
            self.leaves[path] = (type(x).__name__, x if x == x else "nan")
            return
        if id(x) in self._seen:
            self.leaves[path] = ("same", self._seen[id(x)])
            return
        self._seen[id(x)] = path
        self._alive.append(x)
        self.changeable.add(id(x))
        self._look_into(path, x)

    def _look_into(self, path: str, x: Any) -> None:
        self.leaves[path] = f"{type(x).__module__}.{type(x).__qualname__}"
        if isinstance(x, np.ndarray):
            self._array(path, x)
        elif isinstance(x, list | tuple | deque):
            self._sequence(path, x)
        elif isinstance(x, dict | types.MappingProxyType):
            self._mapping(path, x)
        elif isinstance(x, set | frozenset | bytearray):
            self._set(path, x)
        elif isinstance(x, array.array):
            self._numbers_array(path, x)
        elif isinstance(x, RANDOM):
            self._random(path, x)
        elif isinstance(x, types.ModuleType):
            return
        elif isinstance(x, type):
            self._class(x)
            return
        elif isinstance(x, types.FunctionType):
            self._function(path, x)
        elif isinstance(x, types.MethodType):
            self._later(path, x.__self__)
            self._later(path, x.__func__)
        elif isinstance(x, functools.partial):
            for part in (x.func, x.args, x.keywords):
                self._later(path, part)
        elif isinstance(x, staticmethod | classmethod):
            self._later(path, x.__func__)
        elif isinstance(x, property):
            for part in (x.fget, x.fset):
                self._later(path, part)
        elif isinstance(x, functools._lru_cache_wrapper):  # what it keeps belongs to its arguments
            self._later(path, x.__wrapped__)
        elif hasattr(type(x), "__next__") and not isinstance(x, io.IOBase):
            self.one_way.append(path)
        else:
            self._object(path, x)
            return
        if not of_library(type(x)):  # a user's kind of list
            self._object(path, x)

    # ------------------------------------------------------------------ by kind
    def _array(self, path: str, x: np.ndarray) -> None:
        if x.dtype == object:
            for k, value in enumerate(x.flat):
                self._later(f"{path}[{k}]", value)
        else:
            self.leaves[path] = (x.shape, x.dtype.str, x.tobytes())
            self.arrays[path] = x
        if x.flags.writeable:
            old = x.copy()
            self._undo.append(lambda: np.copyto(x, old))

    def _sequence(self, path: str, x: Any) -> None:
        n = len(x)
        self.leaves[path] = (type(x).__qualname__, n)
        for k in range(n) if n <= 2 * ENDS else (*range(ENDS), *range(n - ENDS, n)):
            self._later(f"{path}[{k}]", x[k])
        if isinstance(x, list):
            old = list(x)
            self._undo.append(lambda: list.__setitem__(x, slice(None), old))
        elif isinstance(x, deque):
            now = list(x)
            self._undo.append(lambda: (deque.clear(x), deque.extend(x, now))[0])

    def _mapping(self, path: str, x: Any) -> None:
        self.leaves[path] = (type(x).__qualname__, len(x))
        for key in list(x)[: MOST // 4]:
            self._later(f"{path}[{clipped(key)}]", x[key])
        if isinstance(x, dict):
            old = dict(x)
            self._undo.append(lambda: (dict.clear(x), dict.update(x, old))[0])

    def _set(self, path: str, x: Any) -> None:
        old = type(x)(x) if type(x) in (set, frozenset, bytearray) else frozenset(x)
        self.leaves[path] = (type(x).__qualname__, old)
        if isinstance(x, set):
            self._undo.append(lambda: (set.clear(x), set.update(x, old))[0])
        elif isinstance(x, bytearray):
            self._undo.append(lambda: bytearray.__setitem__(x, slice(None), old))

    def _numbers_array(self, path: str, x: array.array[Any]) -> None:
        old = x[:]
        self.leaves[path] = (x.typecode, old.tobytes())
        self._undo.append(lambda: array.array.__setitem__(x, slice(None), old))

    def _random(self, path: str, x: Any) -> None:
        if isinstance(x, random.Random):
            self._state(f"{path} (random numbers)", x.getstate, x.setstate)
        elif isinstance(x, np.random.RandomState):
            self._state(f"{path} (random numbers)", lambda: x.get_state(legacy=False), x.set_state)
        else:
            bits = x.bit_generator if isinstance(x, np.random.Generator) else x
            self._state(f"{path} (random numbers)", lambda: bits.state, lambda s: setattr(bits, "state", s))

    def _dice(self) -> None:
        """The generators that all share."""
        self._state(DICE[0], lambda: np.random.get_state(legacy=False), np.random.set_state)
        self._state(DICE[1], random.getstate, random.setstate)

    def _state(self, path: str, get: Callable[[], Any], put: Callable[[Any], Any]) -> None:
        old = get()
        self.leaves[path] = state_numbers(old)
        self._undo.append(lambda: put(old))

    def _function(self, path: str, x: types.FunctionType) -> None:
        self.leaves[path] = x.__qualname__
        if self._foreign(x, x):  # it may have been put around one of the user's
            inside = [cell.cell_contents for cell in x.__closure__ or () if cell != types.CellType()]
            for one in [*inside, x.__dict__.get("__wrapped__")]:
                if isinstance(one, types.FunctionType | types.MethodType) or not of_library(type(one)):
                    self._later(path, one)
            return
        for name, cell in zip(x.__code__.co_freevars, x.__closure__ or (), strict=True):
            self._cell(name, cell)
        for part in (x.__defaults__, x.__kwdefaults__):
            if part:
                self._later(f"default arguments of {x.__name__}", part)
        self._later(x.__name__, x.__dict__)
        names = names_in(x.__code__)
        for name in names:
            self._global(name, x.__globals__, names)

    def _cell(self, name: str, cell: Any) -> None:
        self.changeable.add(id(cell))
        self._alive.append(cell)
        try:
            old = cell.cell_contents
        except ValueError:  # not set yet
            self._undo.append(lambda: empty_cell(cell))
            return
        self._undo.append(lambda: setattr(cell, "cell_contents", old))
        self._later(name, old)

    def _global(self, name: str, where: dict[str, Any], names: frozenset[str]) -> None:
        if not isinstance(where.get(name), types.ModuleType):
            self.changeable.add((id(where), name))
        if name not in where:
            self._undo.append(lambda: where.pop(name, None))
            return
        old = where[name]
        if not isinstance(old, types.ModuleType):
            self._undo.append(lambda: where.__setitem__(name, old))
            self._later(name, old)
        elif not of_library(old) and id(old) not in self._seen:  # what the code may name of a module of the user's
            self._seen[id(old)] = name
            self._alive.append(old)
            for inner in names:
                if inner in vars(old):
                    self._global(inner, vars(old), names)

    def _class(self, x: type) -> None:
        if of_library(x):
            return
        for name, value in list(vars(x).items()):
            if not (name.startswith("__") and name.endswith("__")) or isinstance(value, types.FunctionType):
                self._later(f"{x.__name__}.{name}", value)
        old = {name: value for name, value in vars(x).items() if not name.startswith("__")}
        self._undo.append(lambda: reset_class(x, old))
        for base in x.__bases__:
            self._later(base.__name__, base)

    def _foreign(self, where: Any, x: Any) -> bool:
        """Whether an object, of a class or function ``where``, is a library's, and not what a run was given."""
        return of_library(where) and not (id(x) in self._given and installed(where))

    def _of_others(self, path: str, x: Any) -> None:
        """An object of a library: functions of the user's in it; its attributes are given back."""
        own = attributes(x)
        for name, value in own.items():  # np.vectorize and the like
            if isinstance(value, types.FunctionType | types.MethodType) and not of_library(value):
                self._later(path, value)
            entries = value.flat if isinstance(value, np.ndarray) and value.dtype == object else (value,)
            if any(type(x) is Recorded for x in entries):
                self.recorded.append(f"{path}.{name}")
        if own and installed(type(x)):
            self._undo.append(lambda: reset_attributes(x, own))

    def _object(self, path: str, x: Any) -> None:
        foreign = self._foreign(type(x), x)
        if foreign and not callable(getattr(type(x), "output", None)):
            self._of_others(path, x)
            return
        own = attributes(x)
        if getattr(type(x), "remembers", False):  # it may, and is called once at a time
            self.sampled += own.values()
            own = {}
        elif not foreign and getattr(x, "sample_time", None) is not None:  # a user's block has an update of its own
            self.sampled.append(x)
        if foreign:  # of ours the fields: what it has worked out for itself does not matter
            own = {name: value for name, value in own.items() if name in getattr(x, "__dataclass_fields__", ())}
        for name, value in own.items():
            self._later(f"{path}.{name}" if path else f"self.{name}", value)
        if foreign:  # a block of ours, which keeps nothing; its parts may
            return
        self._later(type(x).__name__, type(x))
        self._undo.append(lambda: reset_attributes(x, own))
