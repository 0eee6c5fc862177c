"""What is decided once about the loops of a model that stay constraints: which of their equations say something new, in
which order the constrained equations of motion are eliminated, and by which way.

The rank is the generic one, that of closed configurations around the reference. Rows that never get a pivot depend on
others and are left out: a plane four-bar in space has two independent equations of five, Bricard's mechanism four of
six. Nothing is regularised: at a singular position, where more rows become dependent, there is no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.sparse_ldl import elimination_order
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.graph.loops.plan import loop_plan
from gyrostat.graph.network import Network, network
from gyrostat.spatial.algebra import Array
from gyrostat.spatial.base_motion import BaseState
from gyrostat.spatial.gravity import Gravity
from gyrostat.spatial.representation import representation
from gyrostat.spec.model import Model

RANK = 1e-7
"""Singular values below this part of the largest one are zero."""
NO_ROW = 1e-10
"""Rows below this part of the largest one are zero."""
REST = BaseState(np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))


@dataclass(frozen=True)
class LoopStructure:
    """``rows``: numbers of the m equations that say something new, of ``count``; ``order``: elimination of [[M, J^T], [J,
    0]] over the nv rates and then all rows; ``samples`` (nq,): closed configurations; ``neighbours``: of each step of
    the elimination, which tell what it costs."""

    n: int
    count: int
    rows: tuple[int, ...]
    order: tuple[int, ...]
    samples: tuple[Array, ...]
    neighbours: tuple[int, ...] = ()

    @cached_property
    def mobility(self) -> int:
        """Degrees of freedom that the loops leave."""
        return self.n - len(self.rows)


class _Kept(dict[str, LoopStructure]):
    """Stays with a model object; a copy or pickle of the model begins without."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


def loop_structure(net: Network) -> LoopStructure:
    """Made once for a model object."""
    kept = net.model.__dict__.setdefault("_loop_structure", _Kept())
    if "structure" not in kept:
        kept["structure"] = _structure(net.model)
    return kept["structure"]


def closed_samples(model: Model) -> list[Array]:
    """Closed configurations (nq,) around the reference, and the reference as the last one."""
    plan = loop_plan(model)
    if plan.error is not None:
        raise plan.error
    return [of_tree(model, plan.tree, q) for q in (*plan.samples, plan.reference)]


def of_tree(model: Model, tree: Model, whole: Array) -> Array:
    """Coordinates of a model out of those of its whole tree."""
    place = {name: k for k, name in enumerate(tree.layout.coordinates)}
    return whole[[place[name] for name in model.layout.coordinates]]


def _structure(model: Model) -> LoopStructure:
    net = network(model)
    on = Setting(representation("body"), Gravity(np.zeros(3)), REST if net.driven else 0.0)
    samples = closed_samples(model)
    generic = samples[:-1] or samples
    parts = [(_floats(composite_mass_matrix(net, on, q)), _floats(loop_equations(net, q).J)) for q in generic]
    full = max(_rank(J) for _, J in parts)
    parts = [part for part in parts if _rank(part[1]) == full]
    n, count = model.nv, len(parts[0][1])
    scaled = [_scaled(M, J) for M, J in parts]
    present = [i for i in range(n, n + count) if all(np.abs(K[i]).max(initial=0.0) > 0.0 for K in scaled)]
    kept = [*range(n), *present]
    at = np.ix_(kept, kept)
    order, _ = elimination_order([K[at] for K in scaled])
    chosen = [kept[k] for k in order]
    rows = tuple(sorted(k - n for k in chosen if k >= n))
    return LoopStructure(n, count, rows, tuple(chosen), tuple(samples))


def _scaled(M: Array, J: Array) -> Array:
    """[[M, J^T], [J, 0]] with ones on the diagonal of M and rows of J of unit length; rows of zeros stay so."""
    n, m = len(M), len(J)
    d = np.sqrt(np.maximum(np.diag(M), 1e-300))
    there = np.diag(M) > 0.0
    d = np.where(there, d, np.median(d[there]) if there.any() else 1.0)
    JD = J / d
    lengths = np.linalg.norm(JD, axis=1)
    zero = np.abs(J).max(axis=1, initial=0.0) <= NO_ROW * np.abs(J).max(initial=0.0)
    JD = np.where(zero[:, None], 0.0, JD / np.where(zero, 1.0, lengths)[:, None])
    return np.block([[M / np.outer(d, d), JD.T], [JD, np.zeros((m, m))]])


def _rank(J: Array) -> int:
    if not J.size:
        return 0
    s = np.linalg.svd(J, compute_uv=False)
    return int(np.count_nonzero(s > RANK * max(float(s.max()), 1e-300)))


def _floats(X: Array) -> Array:
    return np.asarray(X, dtype=float)


def fill(order: Sequence[int], beside: Sequence[set[int]]) -> list[int]:
    """How many neighbours each pivot has when its turn comes."""
    around = [set(x) for x in beside]
    found: list[int] = []
    for k in order:
        found.append(len(around[k]))
        for i in around[k]:
            around[i] = (around[i] | around[k]) - {i, k}
    return found
