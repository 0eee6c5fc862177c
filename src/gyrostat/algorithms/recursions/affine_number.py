"""Numbers that are affine in the accelerations: c + sum of c_k a_k."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


class Affine:
    """c + sum of terms[k] a_k; coefficients are floats, recording scalars, or numbers with a rate."""

    __slots__ = ("c", "terms")
    outermost = True

    def __init__(self, c: Any, terms: Mapping[int, Any]):
        self.c, self.terms = c, terms

    def __add__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        if not isinstance(other, Affine):
            return Affine(self.c + other, self.terms)
        terms = dict(self.terms)
        for k, x in other.terms.items():
            terms[k] = terms[k] + x if k in terms else x
        return Affine(self.c + other.c, terms)

    __radd__ = __add__

    def __neg__(self) -> Any:
        return Affine(-self.c, {k: -x for k, x in self.terms.items()})

    def __sub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        return self + (-other)

    def __rsub__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        return -self + other

    def __mul__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        if isinstance(other, Affine):
            raise TypeError("two accelerations are multiplied, but forces are linear in the accelerations")
        return Affine(self.c * other, {k: x * other for k, x in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        return self * (1.0 / other)
