"""A Python function behind the address of a kernel: what cannot be compiled is called from the compiled loop, at the
cost of the call itself."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError

Array = np.ndarray
DOUBLES = ctypes.POINTER(ctypes.c_double)


class Callback:
    """``function(*inputs)`` gives one array for each of the ``outputs`` (sizes). A result that is not finite, and
    :class:`NonFiniteError`, make the step be tried again, shorter; any other exception ends the run: ``abort`` is a
    word that tells machine code, ``error`` the exception. ``seconds`` and ``calls`` that it took."""

    def __init__(
        self, function: Callable[..., Sequence[Any]], inputs: Sequence[int], outputs: Sequence[int], abort: Array
    ):
        self.function, self.inputs, self.outputs, self.abort = function, tuple(inputs), tuple(outputs), abort
        self.error: BaseException | None = None
        self.seconds, self.calls = 0.0, 0
        self._views: dict[tuple[int, int], Array] = {}
        count = len(self.inputs) + len(self.outputs) + 1
        self._thunk = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * count)(self._called)

    @property
    def address(self) -> int:
        return ctypes.cast(self._thunk, ctypes.c_void_p).value or 0

    def _view(self, address: Any, size: int) -> Array:
        """The doubles there. A run has a few places, which come again and again."""
        key = address, size
        view = self._views.get(key)
        if view is None:
            if not size or not address:
                view = np.zeros(0)
            else:
                view = np.ctypeslib.as_array(ctypes.cast(address, DOUBLES), shape=(size,))
            if len(self._views) > 256:
                self._views.clear()
            self._views[key] = view
        return view

    def _called(self, *places: Any) -> float:
        start = time.perf_counter()
        try:
            n = len(self.inputs)
            given = [self._view(a, size) for a, size in zip(places[:n], self.inputs, strict=True)]
            targets = [self._view(a, size) for a, size in zip(places[n:-1], self.outputs, strict=True)]
            total = 0.0
            for target, value in zip(targets, self.function(*given), strict=True):
                target[:] = np.asarray(value).ravel()
                total += 0.0 * float(target.sum())
            return total
        except NonFiniteError as error:
            self.error = error
        except BaseException as error:  # machine code cannot raise it: the run does when it is back
            self.error, self.abort[0] = error, 1
        finally:
            self.seconds += time.perf_counter() - start
            self.calls += 1
        return float("nan")
