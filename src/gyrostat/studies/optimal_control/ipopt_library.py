"""Ipopt through the C interface of the library that comes inside CasADi's wheel: no compiler, no further package.

The interface is that of IpStdCInterface.h, version 3.14 [Waechter, Biegler 2006]: numbers are double, indices are int,
truth values are returned in the lowest byte. Another version is not called."""

from __future__ import annotations

import ctypes
from ctypes import CFUNCTYPE, POINTER, c_bool, c_char_p, c_double, c_int, c_void_p
from functools import cache
from pathlib import Path
from typing import Any

PATTERNS = ("libipopt.so.3*", "libipopt.so*", "libipopt*.dylib", "libipopt*.dll", "ipopt*.dll")
SYMBOLS = (
    "CreateIpoptProblem", "FreeIpoptProblem", "IpoptSolve", "AddIpoptStrOption", "AddIpoptNumOption",
    "AddIpoptIntOption", "SetIntermediateCallback", "GetIpoptVersion",
)  # fmt: skip

EvalF = CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_void_p, c_void_p)
EvalGradF = CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_void_p, c_void_p)
EvalG = CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_int, c_void_p, c_void_p)
EvalJacG = CFUNCTYPE(c_int, c_int, c_void_p, c_int, c_int, c_int, c_void_p, c_void_p, c_void_p, c_void_p)
EvalH = CFUNCTYPE(
    c_int, c_int, c_void_p, c_int, c_double, c_int, c_void_p, c_int, c_int, c_void_p, c_void_p, c_void_p, c_void_p
)
Intermediate = CFUNCTYPE(c_int, c_int, c_int, *[c_double] * 8, c_int, c_void_p)


@cache
def library() -> tuple[Any, str]:
    """The library with its signatures, or None and why not."""
    try:
        import casadi
    except ImportError:
        return None, "casadi is not installed"
    folder = Path(casadi.__file__).parent
    files = [f for pattern in PATTERNS for f in sorted(folder.glob(pattern))]
    if not files:
        return None, f"no library of Ipopt in {folder.name}"
    try:
        lib = ctypes.CDLL(str(files[0]))
    except OSError as error:
        return None, f"{files[0].name} cannot be loaded: {error}"
    missing = [name for name in SYMBOLS if not hasattr(lib, name)]
    if missing:
        return None, f"{files[0].name} has no function {missing[0]}"
    numbers = (c_int * 3)()
    lib.GetIpoptVersion.argtypes, lib.GetIpoptVersion.restype = [c_void_p] * 3, None
    lib.GetIpoptVersion(*(ctypes.addressof(numbers) + 4 * k for k in range(3)))
    if tuple(numbers)[:2] != (3, 14):
        return None, f"{files[0].name} is version {'.'.join(map(str, numbers))}, not 3.14"
    _declare(lib)
    return lib, ""


def _declare(lib: Any) -> None:
    lib.CreateIpoptProblem.restype = c_void_p
    lib.CreateIpoptProblem.argtypes = [
        c_int, c_void_p, c_void_p, c_int, c_void_p, c_void_p, c_int, c_int, c_int, EvalF, EvalG, EvalGradF, EvalJacG,
        EvalH,
    ]  # fmt: skip
    lib.FreeIpoptProblem.argtypes, lib.FreeIpoptProblem.restype = [c_void_p], None
    lib.AddIpoptStrOption.argtypes, lib.AddIpoptStrOption.restype = [c_void_p, c_char_p, c_char_p], c_bool
    lib.AddIpoptNumOption.argtypes, lib.AddIpoptNumOption.restype = [c_void_p, c_char_p, c_double], c_bool
    lib.AddIpoptIntOption.argtypes, lib.AddIpoptIntOption.restype = [c_void_p, c_char_p, c_int], c_bool
    lib.SetIntermediateCallback.argtypes, lib.SetIntermediateCallback.restype = [c_void_p, Intermediate], c_bool
    lib.IpoptSolve.restype = c_int
    lib.IpoptSolve.argtypes = [c_void_p, c_void_p, c_void_p, POINTER(c_double), *[c_void_p] * 4]
