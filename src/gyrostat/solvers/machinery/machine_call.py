"""Objects whose call is machine code: the general Python call serves the first time and everything unusual."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from gyrostat.engine.cpython.builtin import vectorcall
from gyrostat.engine.cpython.direct import enter
from gyrostat.engine.cpython.layout import available
from gyrostat.engine.kernel import Kernel

_ONE_AT_A_TIME = threading.Lock()


def install_machine_call(
    target: Any, kernel: Kernel, hidden: list[np.ndarray], general: Any, result: type[tuple[Any, ...]] | None = None
) -> bool:
    """Give ``target`` a class of its own whose ``__call__`` is a builtin for plain arrays; ``general`` takes the rest.

    Python looks ``__call__`` up on the class, and a builtin is not bound; objects derived from ``Direct`` need not even
    that: ``target(q, v, a)`` goes straight into the kernel. Once installed, it stays: another thread may be in it.
    Copies and pickles (``__reduce__``) must be of :func:`written_class`. False if this Python does not allow it."""
    if available() or (len(kernel.program.outputs) > 1 and result is None):
        return False
    with _ONE_AT_A_TIME:
        cls = written_class(target)
        if cls is type(target):
            builtin = kernel.builtin(general, hidden, cls.__name__, cls.__call__.__doc__ or "", result)
            body = {"__call__": builtin, "__module__": cls.__module__, "__doc__": cls.__doc__, "_written": cls}
            target.__class__ = type(cls.__name__, (cls,), body)
            enter(target, vectorcall(builtin))
    return True


def written_class(target: Any) -> type:
    """The class as it was written, not the one that :func:`install_machine_call` gave to this object."""
    return getattr(target, "_written", None) or type(target)


def blank(cls: type) -> Any:
    """An object without any attributes, for copies and pickles."""
    return object.__new__(cls)


def default_options(threads: Any, nonfinite: Any) -> bool:
    """Whether these options of a call are the defaults; they may be anything."""
    return type(threads) is int and threads == 1 and type(nonfinite) is str and nonfinite == "raise"
