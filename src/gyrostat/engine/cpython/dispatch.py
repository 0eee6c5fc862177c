"""Functions of a model that find the solver of the last model at once, without any Python in between.

``@quick`` turns ``f(model, q, ...)`` into an object that is called like f. When f has said with :func:`remember` which
callable serves a model, then ``f(model, ...)`` without keywords goes from machine code to that callable. Everything
else, and every first call, goes to f itself."""

from __future__ import annotations

import ctypes
import functools
import threading
import weakref
from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

from gyrostat.engine.cpython.direct import ROOM, Direct, enter
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.llvm.compile import Loaded, key_of, load

F = TypeVar("F", bound=Callable[..., Any])
MODEL, SERVER, FUNCTION, CALL = range(4)  # words of a table

TEXT = f"""define ptr @dispatch(ptr %callable, ptr %args, i64 %flagged, ptr %kwnames) {{
entry:
  %nargs = and i64 %flagged, 9223372036854775807
  %place = getelementptr i8, ptr %callable, i64 {ROOM + 8}
  %table = load ptr, ptr %place, align 8
  %function_at = getelementptr i64, ptr %table, i64 {FUNCTION}
  %function = load ptr, ptr %function_at, align 8
  %call_at = getelementptr i64, ptr %table, i64 {CALL}
  %call = load ptr, ptr %call_at, align 8
  %plain = icmp eq ptr %kwnames, null
  %some = icmp sgt i64 %nargs, 0
  %both = and i1 %plain, %some
  br i1 %both, label %look, label %slow
look:
  %first = load ptr, ptr %args, align 8
  %model_at = getelementptr i64, ptr %table, i64 {MODEL}
  %model = load ptr, ptr %model_at, align 8
  %known = icmp eq ptr %first, %model
  br i1 %known, label %fast, label %slow
fast:
  %server_at = getelementptr i64, ptr %table, i64 {SERVER}
  %server = load ptr, ptr %server_at, align 8
  %rest = getelementptr ptr, ptr %args, i64 1
  %fewer = sub i64 %nargs, 1
  %value = call ptr %call(ptr %server, ptr %rest, i64 %fewer, ptr null)
  ret ptr %value
slow:
  %answer = call ptr %call(ptr %function, ptr %args, i64 %nargs, ptr %kwnames)
  ret ptr %answer
}}"""


@functools.cache
def _code() -> Loaded:
    return load(key_of("dispatch"), lambda: TEXT)


class Quick(Direct):
    """A function of a model and other things; see the module."""

    def __init__(self, function: Callable[..., Any]):
        functools.update_wrapper(self, function)
        self._function = function
        call = ctypes.cast(ctypes.pythonapi.PyObject_Vectorcall, ctypes.c_void_p).value or 0
        self._table = np.array([0, 0, id(function), call], dtype=np.int64)
        self._alive: Any = None
        self._entered = False
        self._one_at_a_time = threading.Lock()

    def __call__(self, *arguments: Any, **options: Any) -> Any:
        return self._function(*arguments, **options)

    def __reduce__(self) -> str:
        return self._function.__qualname__

    def __repr__(self) -> str:
        return f"<function {self._function.__qualname__}>"

    def remember(self, model: Any, server: Callable[..., Any]) -> None:
        """``server(...)`` answers for ``f(model, ...)``. The model must keep it alive, as long as it lives itself."""
        if available():
            return
        table = self._table
        if self._alive is not None and self._alive() is model and table[SERVER] == id(server):
            return  # it is known: calls with keywords come here every time
        with self._one_at_a_time:  # otherwise another thread's server could stand beside this model
            table[MODEL] = 0
            table[SERVER] = id(server)
            self._alive = weakref.ref(model, self._forget)
            table[MODEL] = id(model)
            if not self._entered:
                self._entered = True
                enter(self, _code().address("dispatch"), table.ctypes.data)

    def _forget(self, dead: Any) -> None:
        if dead is self._alive:
            self._table[MODEL] = 0


def quick(function: F) -> F:
    """The function, quick for the last model."""
    return cast(F, Quick(function))


def remember(function: Any, model: Any, server: Callable[..., Any]) -> None:
    """Tell a quick function which callable serves a model."""
    function.remember(model, server)
