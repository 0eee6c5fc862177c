"""A Python function behind the address of a kernel: what cannot be compiled is called from the compiled loop, at the
cost of the call itself."""

from __future__ import annotations

import ctypes
import math
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gyrostat.errors import NonFiniteError

Array = np.ndarray
DOUBLES = ctypes.POINTER(ctypes.c_double)
MOST = 64
"""Places of a call that are known."""


class Callback:
    """``function(*inputs)`` gives one array for each of the ``outputs`` (sizes). A result that is not finite, and
    :class:`NonFiniteError`, make the step be tried again, shorter; any other exception ends the run: ``abort`` is a
    word that tells machine code, ``error`` the exception. ``checked``: the function itself refuses what is not finite.
    ``seconds`` and ``calls`` that it took."""

    def __init__(
        self,
        function: Callable[..., Sequence[Any]],
        inputs: Sequence[int],
        outputs: Sequence[int],
        abort: Array,
        checked: bool = False,
    ):
        self.function, self.inputs, self.outputs, self.abort = function, tuple(inputs), tuple(outputs), abort
        self.error: BaseException | None = None
        self.checked = checked
        self.seconds, self.calls = 0.0, 0
        self._known: dict[tuple[Any, ...], tuple[list[Array], list[Array]]] = {}
        count = len(self.inputs) + len(self.outputs) + 1
        self._thunk = ctypes.CFUNCTYPE(ctypes.c_double, *[ctypes.c_void_p] * count)(self._called)

    @property
    def address(self) -> int:
        return ctypes.cast(self._thunk, ctypes.c_void_p).value or 0

    def _arrays(self, places: tuple[Any, ...]) -> tuple[list[Array], list[Array]]:
        """Inputs and outputs as arrays there. A run has a few places, which come again and again."""
        known = self._known.get(places)
        if known is None:
            sizes = (*self.inputs, *self.outputs)
            views = [
                np.ctypeslib.as_array(ctypes.cast(at, DOUBLES), shape=(size,)) if size and at else np.zeros(0)
                for at, size in zip(places[:-1], sizes, strict=True)
            ]
            if len(self._known) >= MOST:
                self._known.clear()
            known = self._known[places] = views[: len(self.inputs)], views[len(self.inputs) :]
        return known

    def _called(self, *places: Any) -> float:
        start = time.perf_counter()
        try:
            inputs, outputs = self._arrays(places)
            values = self.function(*inputs)
            for target, value in zip(outputs, values, strict=True):
                target[...] = value if np.shape(value) == target.shape else np.ravel(value)
            if self.checked or all(
                math.isfinite(target.dot(target)) or np.isfinite(target).all() for target in outputs
            ):
                return 0.0
        except NonFiniteError as error:
            self.error = error
        except BaseException as error:  # machine code cannot raise it: the run does when it is back
            self.error, self.abort[0] = error, 1
        finally:
            self.seconds += time.perf_counter() - start
            self.calls += 1
        return float("nan")
