"""Arrays of recorded scalars for functions that others write: NumPy's own choices on them are recorded.

NumPy asks objects for their truth where it compares them, which a recorded scalar cannot tell. On these arrays
``np.clip``, ``np.where``, ``np.sign``, ``np.minimum``, ``np.maximum`` and comparisons are choices without branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from gyrostat.engine.choose import maximum, minimum, sign, where

CHOICES: Mapping[Any, Callable[..., Any]] = {np.sign: sign, np.minimum: minimum, np.maximum: maximum}
COMPARISONS = (np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal)


class Signals(np.ndarray):
    """An array that holds recorded scalars; see the module."""

    def __array_ufunc__(self, ufunc: Any, method: Any, *inputs: Any, **kwargs: Any) -> Any:
        given = [_plain(x) for x in inputs]
        if method == "__call__" and not kwargs and ufunc in CHOICES:
            return _own(CHOICES[ufunc](*given))
        if method == "__call__" and not kwargs and ufunc in COMPARISONS:
            return _own(ufunc(*given, dtype=object))
        targets = kwargs.pop("out", None)
        if targets is not None:
            kwargs["out"] = tuple(_plain(x) for x in targets)
        found = getattr(ufunc, method)(*given, **kwargs)
        return _own(found) if targets is None else targets[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3:
            return _own(where(*(_plain(x) for x in args)))
        if func is np.clip:
            return Signals.clip(*args, **kwargs)
        return super().__array_function__(func, types, args, kwargs)

    def clip(self, a_min: Any = None, a_max: Any = None, **kwargs: Any) -> Any:  # pyright: ignore
        """At least ``a_min``, at most ``a_max``; None is no limit."""
        low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
        if kwargs:
            raise TypeError(f"clip of recorded values takes limits only, got {', '.join(kwargs)}")
        found = _plain(self)
        found = found if low is None else maximum(found, _plain(low))
        return _own(found if high is None else minimum(found, _plain(high)))


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Signals) else x


def _own(x: Any) -> Any:
    return x.view(Signals) if isinstance(x, np.ndarray) and x.dtype == object else x


def handed(x: np.ndarray) -> np.ndarray:
    """A copy for a function that may write into it; recorded scalars as :class:`Signals`."""
    return _own(x.copy())
