"""The modified recursive Newton-Euler algorithm [KV (4)-(36)]: mass matrix and bias in one pass.

KV writes every acceleration and force as a bias and a sum over the joint accelerations, (5), (9), (12), (16), and
carries the coefficients inward, (20)-(30). Here the numbers themselves do that: :class:`Affine` is c + sum of c_k a_k,
and the rows of Newton-Euler are run once on accelerations of this kind. So it works on any tree, for any joint, and
for any component that has a row; an external wrench is part of the bias."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.rne import Loads, no_loads, sweep_forces
from gyrostat.errors import RowError
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array


class Affine:
    """c + sum of terms[k] a_k; coefficients are floats or recording scalars."""

    __slots__ = ("c", "terms")

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
            raise RowError(
                "mrnea: a row multiplies two accelerations. Hint: forces must be linear in the accelerations; use 'aba'"
            )
        return Affine(self.c * other, {k: x * other for k, x in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            return NotImplemented  # element by element
        return self * (1.0 / other)


def mass_matrix_and_bias(
    network: Network, on: Setting, q: Array, v: Array, loads: Loads = no_loads
) -> tuple[Array, Array]:
    """H (nv, nv) and u' (nv,) with u = H a + u' [KV (2)]."""
    n = len(v)
    a = np.array([Affine(0.0, {k: 1.0}) for k in range(n)] or [], dtype=object)
    forces = sweep_forces(network, on, q, v, a, loads)[0]
    kind = np.result_type(np.asarray(q), np.asarray(v), np.float64)
    H, bias = np.full((n, n), 0.0, dtype=kind), np.full(n, 0.0, dtype=kind)
    for j, f in enumerate(forces):
        if isinstance(f, Affine):
            bias[j] = f.c
            for k, x in f.terms.items():
                H[j, k] = x
        else:
            bias[j] = f
    return H, bias
