"""A Python function made of machine code: from ``solver(q, v, a)`` into the kernel with next to nothing in between.

The function checks that every argument is a plain float64 array of the right shape, contiguous and aligned, and that
an ``out=`` array is writeable and apart from the inputs. Anything else, and any result that is not finite, goes to a
Python function (``slow``) that deals with it. It reads the fields of ``PyArrayObject``; their places are tried out
once at import, and if anything about this Python is unknown, ``available()`` says why and the slow path serves all
calls."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from gyrostat.engine.compile import Loaded
from gyrostat.engine.program import Program

# words (8 bytes) of PyArrayObject: type 1, data 2, nd 3 (int), dims 4, strides 5, base 6, descr 7, flags 8 (int)
DATA, ND, DIMS, DESCR, FLAGS = 2, 3, 4, 7, 8
CONTIGUOUS_ALIGNED, WRITEABLE = 0x0101, 0x0400
PYARRAY_NEW = 93  # place of PyArray_New in NumPy's table of functions
FIXED = ("array_type", "float64", "new_array", "vectorcall", "decref", "incref", "slow", "out")
"""First words of a builtin's table; then follow the addresses of hidden inputs, then the shapes."""


def _layout_problem() -> str | None:
    """Try the places of the fields on real arrays."""
    float64 = np.dtype(float)
    for array in (np.zeros(3), np.zeros((2, 5)), np.zeros((2, 4, 3))[::2, 1:3], np.zeros(0)):
        words = (ctypes.c_int64 * 9).from_address(id(array))
        half = (ctypes.c_int32 * 18).from_address(id(array))  # the ints: what lies beside them is undefined
        dims = (ctypes.c_int64 * array.ndim).from_address(words[DIMS])
        ok = words[1] == id(np.ndarray) and words[DATA] == array.ctypes.data and tuple(dims) == array.shape
        ok = ok and half[2 * ND] == array.ndim and words[DESCR] == id(float64)
        aligned = (half[2 * FLAGS] & CONTIGUOUS_ALIGNED) == CONTIGUOUS_ALIGNED
        if not ok or aligned != (array.flags.c_contiguous and array.flags.aligned):
            return "the fields of NumPy arrays are not where they are expected"
    frozen = np.zeros(2)
    frozen.flags.writeable = False
    if (ctypes.c_int32 * 18).from_address(id(frozen))[2 * FLAGS] & WRITEABLE:
        return "the flags of NumPy arrays are not where they are expected"
    return None


@cache
def available() -> str:
    """Empty if builtins can be made on this Python, else the reason why not."""
    if sys.implementation.name != "cpython":
        return f"this Python is {sys.implementation.name}, not CPython"
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python is free-threaded"
    if hasattr(sys, "gettotalrefcount"):
        return "this Python is a debug build"
    if ctypes.sizeof(ctypes.c_void_p) != 8 or sys.byteorder != "little":
        return "this Python is not a 64-bit little-endian one"
    if sys.platform == "win32":
        return "the calling convention of Windows is not generated"
    try:
        problem = _layout_problem()
        _new_array()
    except (ValueError, OSError, AttributeError) as error:
        return f"NumPy's internals are unknown ({error})"
    return problem or ""


@cache
def _new_array() -> int:
    """Address of PyArray_New, tried out."""
    api = np._core.multiarray._ARRAY_API  # type: ignore[attr-defined]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = ctypes.cast(pointer(api, None), ctypes.POINTER(ctypes.c_void_p))
    address = table[PYARRAY_NEW]
    if not address:
        raise ValueError("no PyArray_New")
    arguments = (
        ctypes.py_object,
        ctypes.c_int,
        ctypes.c_void_p,
        ctypes.c_int,
        *[ctypes.c_void_p] * 2,
        ctypes.c_int,
        ctypes.c_int,
        ctypes.c_void_p,
    )
    make = ctypes.PYFUNCTYPE(ctypes.py_object, *arguments)(address)
    dims = (ctypes.c_int64 * 2)(3, 4)
    made = make(np.ndarray, 2, ctypes.addressof(dims), 12, None, None, 0, 0, None)
    if type(made) is not np.ndarray or made.shape != (3, 4) or made.dtype != float or not made.flags.carray:
        raise ValueError("PyArray_New does something else")
    return address


def builtin_text(program: Program, visible: int, work: int) -> str:
    """``ptr @pycall(self, args, nargs, kwnames)`` for the one-lane kernel; the first ``visible`` inputs are
    arguments."""
    lines: list[str] = []
    count = 0

    def put(text: str) -> str:
        nonlocal count
        count += 1
        lines.append(f"  %t{count} = {text}")
        return f"%t{count}"

    def word(base: str, k: int, kind: str = "i64") -> str:
        return put(f"load {kind}, ptr {put(f'getelementptr i64, ptr {base}, i64 {k}')}, align 8")

    def table(name: str, kind: str = "i64") -> str:
        return word("@table", FIXED.index(name), kind)

    hidden = len(program.inputs) - visible
    (output,) = program.outputs
    checks = 0

    def require(condition: str) -> None:
        nonlocal checks
        checks += 1
        lines.append(f"  br i1 {condition}, label %ok{checks}, label %slow")
        lines.append(f"ok{checks}:")

    def array(item: str, shape: Sequence[int], flags: int) -> str:
        """Check one array argument; the address of its data."""
        require(put(f"icmp eq i64 {word(item, 1)}, {table('array_type')}"))
        require(put(f"icmp eq i64 {word(item, DESCR)}, {table('float64')}"))
        require(put(f"icmp eq i32 {put(f'trunc i64 {word(item, ND)} to i32')}, {len(shape)}"))
        have = put(f"and i64 {word(item, FLAGS)}, {flags}")
        require(put(f"icmp eq i64 {have}, {flags}"))
        if shape:
            dims = word(item, DIMS, "ptr")
            for k, n in enumerate(shape):
                require(put(f"icmp eq i64 {word(dims, k)}, {n}"))
        return word(item, DATA, "ptr")

    require(put(f"icmp eq i64 %nargs, {visible}"))
    addresses = [array(word("%args", k, "ptr"), program.inputs[k].shape, CONTIGUOUS_ALIGNED) for k in range(visible)]
    addresses += [word("@table", len(FIXED) + k, "ptr") for k in range(hidden)]
    plain = put("icmp eq ptr %kwnames, null")
    before = f"ok{checks}"
    lines.append(f"  br i1 {plain}, label %fresh, label %given")

    # ---- out=: one keyword, a writeable array that shares no memory with the inputs
    lines.append("given:")
    require(put(f"icmp eq i64 {word('%kwnames', 2)}, 1"))
    require(put(f"icmp eq i64 {word('%kwnames', 3)}, {table('out')}"))
    target = word("%args", visible, "ptr")
    given_data = array(target, output.shape, CONTIGUOUS_ALIGNED | WRITEABLE)
    given_end = put(f"getelementptr double, ptr {given_data}, i64 {output.size}")
    for slot, address in zip(program.inputs, addresses, strict=True):
        end = put(f"getelementptr double, ptr {address}, i64 {slot.size}")
        before_in = put(f"icmp ule ptr {given_end}, {address}")
        after_in = put(f"icmp uge ptr {given_data}, {end}")
        require(put(f"or i1 {before_in}, {after_in}"))
    lines.append(f"  call void {table('incref', 'ptr')}(ptr {target})")
    lines.append("  br label %run")
    given_block = f"ok{checks}"

    # ---- a fresh array
    lines.append("fresh:")
    dims = put(f"getelementptr i64, ptr @table, i64 {len(FIXED) + hidden}")
    made = put(
        f"call ptr {table('new_array', 'ptr')}(ptr {table('array_type', 'ptr')}, i32 {len(output.shape)}, ptr {dims}, "
        "i32 12, ptr null, ptr null, i32 0, i32 0, ptr null)"
    )
    lines.append(f"  br i1 {put(f'icmp eq ptr {made}, null')}, label %failed, label %have")
    lines += ["failed:", "  ret ptr null", "have:"]
    fresh_data = word(made, DATA, "ptr")
    lines.append("  br label %run")

    lines.append("run:")
    lines.append(f"  %result = phi ptr [ {made}, %have ], [ {target}, %{given_block} ]")
    lines.append(f"  %data = phi ptr [ {fresh_data}, %have ], [ {given_data}, %{given_block} ]")
    where = ", ".join(f"ptr {a}" for a in [*addresses, "%data", "@work"])
    acc = put(f"call double @kernel({where})")
    lines.append(f"  br i1 {put(f'fcmp ord double {acc}, {acc}')}, label %good, label %bad")
    lines += ["good:", "  ret ptr %result", "bad:"]
    lines.append(f"  call void {table('decref', 'ptr')}(ptr %result)")
    lines.append("  br label %slow")
    lines.append("slow:")
    answer = put(
        f"call ptr {table('vectorcall', 'ptr')}(ptr {table('slow', 'ptr')}, ptr %args, i64 %nargs, ptr %kwnames)"
    )
    lines.append(f"  ret ptr {answer}")
    _ = before
    size = len(FIXED) + hidden + max(1, len(output.shape))
    return "\n".join(
        [
            f"@table = internal global [{size} x i64] zeroinitializer, align 64",
            f"@work = internal global [{max(1, work)} x double] zeroinitializer, align 64",
            "define ptr @table_address() {\n  ret ptr @table\n}",
            "define ptr @pycall(ptr %self, ptr %args, i64 %nargs, ptr %kwnames) {\nentry:\n" + "\n".join(lines) + "\n}",
        ]
    )


def make_builtin(
    program: Program, loaded: Loaded, slow: Callable[..., Any], hidden: Sequence[np.ndarray], name: str, doc: str
) -> Callable[..., Any]:
    """The function; it keeps its code, its table and the hidden inputs alive."""
    out = sys.intern("out")
    address_of = ctypes.PYFUNCTYPE(ctypes.c_void_p)(loaded.address("table_address"))
    function = lambda f: ctypes.cast(f, ctypes.c_void_p).value  # noqa: E731
    api = ctypes.pythonapi
    (output,) = program.outputs
    words = [
        id(np.ndarray), id(np.dtype(float)), _new_array(), function(api.PyObject_Vectorcall), function(api.Py_DecRef),
        function(api.Py_IncRef), id(slow), id(out), *(h.ctypes.data for h in hidden), *output.shape,
    ]  # fmt: skip
    (ctypes.c_int64 * len(words)).from_address(address_of())[:] = words
    texts = name.encode(), doc.encode()
    title, told = (function(ctypes.c_char_p(text)) for text in texts)
    flags = 0x0080 | 0x0002  # FASTCALL | KEYWORDS
    # PyMethodDef. It must not go before the function does: the garbage collector empties ctypes structures, but no
    # arrays
    definition = np.array([title, loaded.address("pycall"), flags, told], dtype=np.uint64)
    keep = (loaded, definition, texts, slow, tuple(hidden), out, np.dtype(float))
    make = api.PyCFunction_NewEx
    make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.py_object, ctypes.c_void_p]
    return make(definition.ctypes.data, keep, None)
