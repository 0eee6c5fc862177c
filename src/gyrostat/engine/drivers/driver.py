"""A driver as something to call: compiled once for all robots, kept on disk with the kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cached_property
from typing import Any

from gyrostat.engine.drivers.translate import FLOAT, INT, Signature, translated
from gyrostat.engine.llvm.compile import LOADING, Loaded, key_of, load
from gyrostat.errors import CompileError

KINDS: dict[str, Any] = {FLOAT: ctypes.c_double, INT: ctypes.c_int64}


class Driver:
    """Machine code of a function in the language of :mod:`~gyrostat.engine.drivers.words`, for some lanes. Calls
    release Python's lock. Addresses are whole numbers; whoever calls has checked what they point to."""

    def __init__(self, function: Callable[..., Any], lanes: int = 1):
        self.function, self.lanes = function, lanes
        self.signature = Signature(function)
        self._code: Loaded | None = None
        if self.signature.result != INT:
            raise CompileError(f"driver '{self.signature.name}' must return an int")

    @cached_property
    def text(self) -> str:
        """LLVM text."""
        return translated(self.function, self.lanes)

    @property
    def code(self) -> Loaded:
        """The machine code: made once, whoever asks first."""
        with LOADING:
            if self._code is None:
                self._code = load(key_of("driver", self.text), lambda: self.text, optimised=True)
            return self._code

    @cached_property
    def call(self) -> Any:
        """The function, of ints (addresses too) and floats; it keeps its code alive."""
        kinds = [KINDS.get(kind, ctypes.c_void_p) for _, kind in self.signature.arguments]
        code = self.code
        function = ctypes.CFUNCTYPE(ctypes.c_int64, *kinds)(code.address(self.signature.name))
        function.code = code  # type: ignore[attr-defined]
        return function


_drivers: dict[tuple[Any, int], Driver] = {}


def driver(function: Callable[..., Any], lanes: int = 1) -> Driver:
    """The driver of a function: one for the whole process."""
    key = function, lanes
    known = _drivers.get(key)
    return _drivers.setdefault(key, Driver(function, lanes)) if known is None else known
