"""Objects whose call is machine code: the general Python call serves the first time and everything unusual."""

from __future__ import annotations

import copyreg
from typing import Any

import numpy as np

from gyrostat.engine.builtin import available
from gyrostat.engine.kernel import Kernel

NEW_OBJECT = vars(copyreg)["__newobj__"]  # what pickle calls to make an object without __init__


def install(target: Any, kernel: Kernel, hidden: list[np.ndarray], general: Any) -> bool:
    """Give ``target`` a class of its own whose ``__call__`` is a builtin for one state; ``general`` takes the rest.

    Python looks ``__call__`` up on the class, and a builtin is not bound: ``target(q, v, a)`` goes straight into the
    kernel. False if this Python does not allow it."""
    if available() or len(kernel.program.outputs) != 1:
        return False
    cls = plain_class(target)
    builtin = kernel.builtin(general, hidden, cls.__name__, cls.__call__.__doc__ or "")
    body = {
        "__call__": builtin,
        "__module__": cls.__module__,
        "__doc__": cls.__doc__,
        "__reduce_ex__": _reduce,
        "_plain": cls,
    }
    target.__class__ = type(cls.__name__, (cls,), body)
    return True


def plain_class(target: Any) -> type:
    """The class as it was written."""
    return getattr(target, "_plain", None) or type(target)


def _reduce(target: Any, protocol: Any) -> Any:
    """Copies and pickles are of the class as it was written, and get code of their own."""
    twin = object.__new__(plain_class(target))
    twin.__dict__.update(target.__dict__)
    function, *rest = twin.__reduce_ex__(protocol)
    return _new if function is NEW_OBJECT else function, *rest  # pickle would find that the classes differ


def _new(cls: type, *arguments: Any) -> Any:
    return cls.__new__(cls, *arguments)


def usual(threads: Any, nonfinite: Any) -> bool:
    """Whether these options of a call are the defaults; they may be anything."""
    return type(threads) is int and threads == 1 and type(nonfinite) is str and nonfinite == "raise"
