"""Arrays of recorded scalars for functions that others write: NumPy's own choices on them are recorded.

NumPy asks objects for their truth where it compares them, which a recorded scalar cannot tell. On these arrays, and
where a recorded scalar itself is among the arguments, ``np.clip``, ``np.where``, ``np.select``, ``np.sign``,
``np.minimum``, ``np.maximum``, ``np.heaviside``, ``np.logical_and`` and the like, and comparisons are choices without
branches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from gyrostat.engine.tracing.choose import both, either, maximum, minimum, negated, sign, where
from gyrostat.engine.tracing.recording_scalar import Recorded, alone


def _heaviside(x: Any, at_zero: Any) -> Any:
    below, above = np.less(x, 0.0, dtype=object), np.greater(x, 0.0, dtype=object)
    return where(below, 0.0, where(above, 1.0, at_zero))


CHOICES: Mapping[Any, Callable[..., Any]] = {
    np.sign: sign, np.minimum: minimum, np.maximum: maximum, np.fmin: minimum, np.fmax: maximum,
    np.logical_and: both, np.logical_or: either, np.logical_not: negated, np.heaviside: _heaviside,
}  # fmt: skip
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
        values = getattr(ufunc, method)(*given, **kwargs)
        return _own(values) if targets is None else targets[0]

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if func is np.where and len(args) == 3:
            return _own(where(*(_plain(x) for x in args)))
        if func is np.select and len(args) in (2, 3):
            return _selected(*args, **kwargs)
        if func is np.clip:
            return Signals.clip(*args, **kwargs)
        return super().__array_function__(func, types, args, kwargs)

    def clip(self, a_min: Any = None, a_max: Any = None, **kwargs: Any) -> Any:  # pyright: ignore
        """At least ``a_min``, at most ``a_max``; None is no limit."""
        low, high = kwargs.pop("min", a_min), kwargs.pop("max", a_max)
        if kwargs:
            raise TypeError(f"clip of recorded values takes limits only, got {', '.join(kwargs)}")
        values = _plain(self)
        values = values if low is None else maximum(values, _plain(low))
        return _own(values if high is None else minimum(values, _plain(high)))


def _selected(conditions: Sequence[Any], values: Sequence[Any], default: Any = 0.0) -> Any:
    """np.select: the value of the first condition that holds."""
    chosen = _plain(default)
    for condition, value in reversed(list(zip(conditions, values, strict=True))):
        chosen = where(_plain(condition), _plain(value), chosen)
    return _own(chosen)


def _plain(x: Any) -> Any:
    return x.view(np.ndarray) if isinstance(x, Signals) else x


def _own(x: Any) -> Any:
    return x.view(Signals) if isinstance(x, np.ndarray) and x.dtype == object else x


def _lifted(x: Any) -> Any:
    """A recorded scalar as an array (); anything else as it is."""
    return alone(x) if type(x) is Recorded else x


def scalar_ufunc(ufunc: Any, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """A function of NumPy with recorded scalars among its inputs."""
    if method == "__call__" and (ufunc in CHOICES or ufunc in COMPARISONS):
        return _lowered(ufunc(*(_own(_lifted(x)) for x in inputs), **kwargs), inputs)
    return getattr(ufunc, method)(*map(_lifted, inputs), **kwargs)


def scalar_function(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """``np.where(c, a, b)``, ``np.clip(x, low, high)`` and all others with recorded scalars among their arguments."""
    nothing = np.empty((), dtype=object).view(Signals)
    named = {key: _lifted(x) for key, x in kwargs.items()}
    return _lowered(nothing.__array_function__(func, (Signals,), tuple(map(_lifted, args)), named), args)


def _lowered(values: Any, given: Sequence[Any]) -> Any:
    """The scalar of an array (); a plain array where no signals were given."""
    if isinstance(values, np.ndarray) and not values.ndim:
        return values[()]
    return values if any(isinstance(x, Signals) for x in given) else _plain(values)


def handed(x: Any) -> Any:
    """A copy for a function that may write into it; recorded scalars in arrays as :class:`Signals`."""
    if type(x) is np.ndarray and x.dtype != object:
        return x.copy()
    return _own(x.copy()) if isinstance(x, np.ndarray) else x
