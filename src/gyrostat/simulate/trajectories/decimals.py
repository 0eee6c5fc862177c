"""Arrays of decimal numbers with many digits, for polynomials whose control points would lose too many in doubles.

High differences of control points cancel: degree 25 needs about thirty digits. A trajectory is prepared once, with
:data:`DIGITS` digits, and evaluated in doubles.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from decimal import Decimal, localcontext
from typing import Any

import numpy as np

Array = np.ndarray

DIGITS = 120
DOUBLES = 7
"""Up to this degree doubles are enough, if the times are even: continuity to 3e-13 of the largest derivative."""


@contextmanager
def many_digits() -> Iterator[None]:
    """Decimal arithmetic with :data:`DIGITS` digits inside."""
    with localcontext() as context:
        context.prec = DIGITS
        yield


def need_digits(degree: int, times: Array) -> bool:
    """Whether doubles are not enough for polynomials of this degree between these times."""
    h = np.diff(times)
    return degree > DOUBLES or (degree - 1) * math.log10(h.max() / h.min()) > 6.0


def numbers(values: Any, exact: bool) -> Array:
    """The same numbers as doubles or, for exact ones, as decimals."""
    array = np.asarray(values, dtype=float)
    if not exact:
        return array
    return np.array([Decimal(float(x)) for x in array.ravel()], dtype=object).reshape(array.shape)


def doubles(array: Array) -> Array:
    """Rounded to doubles."""
    return array.astype(float)


def ratio(above: int, below: int, like: Array) -> Any:
    """above / below, in the numbers of ``like``."""
    return Decimal(above) / Decimal(below) if like.dtype == object else above / below


def powers(base: Array, highest: int) -> Array:
    """(len(base), highest + 1): base^0, base^1, ... for base (m,)."""
    power = np.empty((len(base), highest + 1), dtype=base.dtype)
    power[:, 0] = ratio(1, 1, base)
    for k in range(highest):
        power[:, k + 1] = power[:, k] * base
    return power


def solved(A: Array, B: Array) -> Array:
    """A^-1 B for a positive definite A (k, k), B (k, c), by elimination without pivoting."""
    A, B = A.copy(), B.copy()
    for i in range(len(A)):
        factors = A[i + 1 :, i] / A[i, i]
        A[i + 1 :] -= factors[:, None] * A[i]
        B[i + 1 :] -= factors[:, None] * B[i]
    for i in reversed(range(len(A))):
        B[i] = (B[i] - A[i, i + 1 :] @ B[i + 1 :]) / A[i, i]
    return B
