"""Solving with a mass matrix along the tree: M = L^T D L keeps its zeros when leaves go first (Featherstone 2005).

L is unit triangular in the order of the tree: L_kj is there only where rate j lies inboard of rate k."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.graph.network import Network
from gyrostat.graph.transmission import Ties
from gyrostat.spatial.algebra import Array


def inboard_rates(network: Network) -> dict[int, tuple[int, ...]]:
    """For every rate of the model, in outward order, those before it that its row of L has, nearest first.

    In a tree without drives these are the rates inboard of it. Rotors and couplings tie others to them, and
    eliminating a rate ties those that it was tied to."""
    moved = network.transmission
    along = _along_the_tree(network)
    if not moved.followers and not moved.elements and len(along) == moved.n:
        return along
    beside: dict[int, set[int]] = {}
    for k, others in along.items():
        _tie(beside, [moved.ties(k), *(moved.ties(j) for j in others)], first=moved.ties(k))
    for c in moved.elements:
        if c.has_inertia:
            every = [shaft.ties for shaft in c.shafts.values()]
            for one in every:
                _tie(beside, every, first=one)
    order = [k for k in beside if k < moved.n] + [k for k in range(moved.n) if k not in beside]
    place = {k: i for i, k in enumerate(order)}
    inboard: dict[int, tuple[int, ...]] = {}
    for k in reversed(order):
        before = sorted((j for j in beside.get(k, ()) if place[j] < place[k]), key=place.__getitem__, reverse=True)
        inboard[k] = tuple(before)
        for i in before:
            beside[i] |= set(before) - {i}
    return dict(reversed(inboard.items()))


def _tie(beside: dict[int, set[int]], every: Sequence[Ties], first: Ties) -> None:
    """Each rate of ``first`` has an entry of M with each rate of ``every``."""
    for j, _ in first:
        for ties in every:
            for k, _ in ties:
                beside.setdefault(j, set()).add(k)
                beside.setdefault(k, set()).add(j)


def _along_the_tree(network: Network) -> dict[int, tuple[int, ...]]:
    """For every rate that a component has, in outward order, the rates inboard of it, nearest first."""
    inboard: dict[int, tuple[int, ...]] = {}
    chain: dict[int, tuple[int, ...]] = {}  # port -> rates up to it, nearest first
    for c in network.components:
        rates = chain[network.source[c.inport]] if c.inport is not None else ()
        for k in range(c.v_at.start, c.v_at.stop):
            inboard[k] = rates
            rates = (k, *rates)
        chain.update(dict.fromkeys(c.outports.values(), rates))
    return inboard


@dataclass(frozen=True)
class Factors:
    """L (by row and column) and 1/D of M = L^T D L."""

    inboard: Mapping[int, tuple[int, ...]]
    L: Mapping[tuple[int, int], Any]
    inverse: Mapping[int, Any]

    def solve(self, B: Array) -> Array:
        """M^-1 B for B (nv,) or (nv, columns)."""
        return self.outward(self.inward(B))

    def inward(self, B: Array) -> Array:
        """L^-T B, the first half of :meth:`solve`: sparse where B is, along the tree."""
        X: dict[int, Any] = {k: B[k] for k in self.inboard}
        for k, inboard in reversed(list(self.inboard.items())):
            for j in inboard:
                X[j] = X[j] - X[k] * self.L[k, j]
        return np.array([X[k] for k in range(len(B))]).reshape(np.shape(B))

    def outward(self, B: Array) -> Array:
        """L^-1 D^-1 B, the second half."""
        X: dict[int, Any] = {k: B[k] * self.inverse[k] for k in self.inboard}
        for k, inboard in self.inboard.items():
            for j in inboard:
                X[k] = X[k] - X[j] * self.L[k, j]
        return np.array([X[k] for k in range(len(B))]).reshape(np.shape(B))


def factorise(inboard: Mapping[int, tuple[int, ...]], M: Array) -> Factors:
    """L and D of a mass matrix (nv, nv)."""
    H = {(k, j): M[k, j] for k, js in inboard.items() for j in (k, *js)}
    L: dict[tuple[int, int], Any] = {}
    inverse: dict[int, Any] = {}
    for k, js in reversed(list(inboard.items())):
        inverse[k] = 1.0 / H[k, k]
        for n, i in enumerate(js):
            L[k, i] = H[k, i] * inverse[k]
            for j in js[n:]:
                H[i, j] = H[i, j] - L[k, i] * H[k, j]
    return Factors(inboard, L, inverse)
