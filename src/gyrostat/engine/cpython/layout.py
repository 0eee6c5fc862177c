"""Where CPython and NumPy keep what machine code reads: fields of ``PyArrayObject`` and tuples, and ``PyArray_New``.

Their places are tried out once. If anything about this Python is unknown, :func:`available` says why, and the general
Python path serves all calls."""

from __future__ import annotations

import ctypes
import sys
import sysconfig
import weakref
from functools import cache

import numpy as np

# words (8 bytes) of PyArrayObject: references 0, type 1, data 2, nd 3 (int), dims 4, strides 5, base 6, descr 7,
# flags 8 (int), weak references 9
DATA, ND, DIMS, DESCR, FLAGS, WEAK = 2, 3, 4, 7, 8, 9
CONTIGUOUS_ALIGNED, WRITEABLE, OWN = 0x0101, 0x0400, 0x0004
ITEMS = 3  # first item of a tuple
PYARRAY_NEW = 93  # place of PyArray_New in NumPy's table of functions


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
    watched = np.zeros(2)
    words = (ctypes.c_int64 * 10).from_address(id(watched))
    before, watcher = words[WEAK], weakref.ref(watched)
    own = (ctypes.c_int32 * 20).from_address(id(watched))[2 * FLAGS] & OWN
    if before or words[WEAK] != id(watcher) or not own or sys.getrefcount(watched) != words[0] + 1:
        return "the references to NumPy arrays are not where they are expected"
    pair = (watched, frozen)
    if (ctypes.c_int64 * 5).from_address(id(pair))[ITEMS] != id(watched):
        return "the items of tuples are not where they are expected"
    return None


def _interpreter() -> int:
    """Number of the interpreter that runs this; 0 is the main one. Tables of machine code belong to one of them."""
    api = ctypes.pythonapi
    api.PyInterpreterState_Get.restype, api.PyInterpreterState_GetID.restype = ctypes.c_void_p, ctypes.c_int64
    api.PyInterpreterState_GetID.argtypes = [ctypes.c_void_p]
    return api.PyInterpreterState_GetID(api.PyInterpreterState_Get())


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
    if _interpreter() != 0:
        return "this is not the main interpreter of the process"
    try:
        problem = _layout_problem()
        new_array()
    except (ValueError, OSError, AttributeError) as error:
        return f"NumPy's internals are unknown ({error})"
    return problem or ""


@cache
def new_array() -> int:
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
