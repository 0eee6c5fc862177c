"""A Python function made of machine code: from ``solver(q, v, a)`` into the kernel with next to nothing in between.

The function checks that every argument is a plain float64 array of the right shape (or a batch of them: one more axis
in front, of the same length in all), contiguous and aligned, and that an ``out=`` array is writeable and apart from
the inputs. Anything else, and any result that is not finite, goes to a Python function (``slow``) that deals with it.
Several outputs come as a named tuple. Its text is in ``builtin_text``; here it gets its table, and a Python object."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.cpython.fresh_text import SPARES
from gyrostat.engine.cpython.layout import available, new_array
from gyrostat.engine.cpython.object_text import FIXED
from gyrostat.engine.llvm.compile import Loaded
from gyrostat.engine.tracing.program import Program
from gyrostat.errors import CompileError


class Entry:
    """The code and the table of a builtin; the loop over batches is told to it when there is one."""

    def __init__(
        self,
        program: Program,
        loaded: Loaded,
        slow: Callable[..., Any],
        hidden: Sequence[np.ndarray],
        result: type[tuple[Any, ...]] | None,
    ):
        _check(program, hidden, result)
        self.loaded, self.slow, self.hidden, self.result = loaded, slow, tuple(hidden), result or tuple
        self.out, self.float64 = sys.intern("out"), np.dtype(float)
        self.spares = np.full((len(program.outputs), SPARES + 1), None, dtype=object)
        address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p)(loaded.address("table_address"))
        names = (
            "PyObject_Vectorcall", "Py_DecRef", "Py_IncRef", "PyType_GenericAlloc", "PyMem_RawMalloc", "PyMem_RawFree",
            "PyEval_SaveThread", "PyEval_RestoreThread",
        )  # fmt: skip
        call, decref, incref, alloc, malloc, free, save, restore = (
            _address(getattr(ctypes.pythonapi, n)) for n in names
        )
        words = [
            id(np.ndarray), id(self.float64), new_array(), call, decref, incref, id(slow), id(self.out),
            id(self.result), alloc, malloc, free, save, restore, 0, 0,
            *(h.ctypes.data for h in hidden), *(row.ctypes.data for row in self.spares),
        ]  # fmt: skip
        self.table = (ctypes.c_int64 * len(words)).from_address(address_of())
        self.table[:] = words

    def serve_batches(self, code: Loaded, scratch: int) -> None:
        """From now on batches go through ``code``, with this many bytes of scratch memory."""
        self.batch_code = code
        self.table[FIXED.index("scratch")] = scratch
        self.table[FIXED.index("batch")] = code.address("batch")


def _check(program: Program, hidden: Sequence[np.ndarray], result: type[tuple[Any, ...]] | None) -> None:
    """Machine code reads and writes all of these without looking: so they are looked at before."""
    if available():
        raise CompileError(f"a builtin cannot be made: {available()}. Hint: call the Python function itself")
    if not issubclass(result or tuple, tuple):
        raise CompileError(f"results of a builtin are a tuple, got the class {result!r}. Hint: a NamedTuple")
    visible = len(program.inputs) - len(hidden)
    if visible < 0:
        raise CompileError(f"'{program.name}' has {len(program.inputs)} inputs, got {len(hidden)} hidden arrays")
    for slot, array in zip(program.inputs[visible:], hidden, strict=True):
        plain = type(array) is np.ndarray and array.dtype == np.float64 and array.flags.carray
        if not plain or array.shape != slot.shape:
            raise CompileError(f"hidden input '{slot.name}' must be a contiguous float64 array of shape {slot.shape}")


def vectorcall(builtin: Any) -> int:
    """Address of a builtin's function for objects."""
    return builtin.__self__[0].loaded.address("vectorcall")


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


def make_builtin(entry: Entry, name: str, doc: str) -> Callable[..., Any]:
    """The function; it keeps its entry alive (``__self__[0]``)."""
    texts = name.encode(), doc.encode()
    title, told = (_address(ctypes.c_char_p(text)) for text in texts)
    flags = 0x0080 | 0x0002  # FASTCALL | KEYWORDS
    # PyMethodDef. It must not go before the function does: the garbage collector empties ctypes structures, but no
    # arrays
    definition = np.array([title, entry.loaded.address("pycall"), flags, told], dtype=np.uint64)
    make = ctypes.pythonapi.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    kept = (entry, entry.loaded, entry.slow, entry.hidden, entry.result, entry.spares, definition, texts)
    return make(definition.ctypes.data, kept, None)
