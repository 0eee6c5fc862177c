"""What is decided once about the loops of a model that stay constraints: which of their equations say something new, in
which order the constrained equations of motion are eliminated, and by which way.

The rank is the generic one, that of closed configurations around the reference. Rows that never get a pivot depend on
others and are left out: a plane four-bar in space has two independent equations of five, Bricard's mechanism four of
six. Nothing is regularised: at a singular position, where more rows become dependent, there is no answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import loop_numbers
from gyrostat.algorithms.constrained.sparse_ldl import NOTHING, elimination_order
from gyrostat.configuration.model_cache import cached_on
from gyrostat.graph.loops.plan import loop_plan
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model

RANK = 1e-7
"""Singular values below this part of the largest one are zero."""
NO_ROW = 1e-10
"""Rows below this part of the largest one are zero."""
WORTH = 0.9
"""An order that needs less than this part of the multiplications is taken instead of the safe one."""


@dataclass(frozen=True)
class LoopStructure:
    """``rows``: numbers of the equations that say something new, of ``count``; ``order``: elimination of [[M, J^T],
    [J, 0]] over the nv rates and then all rows; ``safe``: an order that has pivots wherever rows are independent, while
    those of ``order`` may vanish far from the samples; the same where it costs little more; ``samples`` (nq,): closed configurations, the reference last."""

    n: int
    count: int
    rows: tuple[int, ...]
    order: tuple[int, ...]
    safe: tuple[int, ...]
    samples: tuple[Array, ...]

    @property
    def mobility(self) -> int:
        """Degrees of freedom that the loops leave."""
        return self.n - len(self.rows)


def loop_structure(net: Network) -> LoopStructure:
    """Made once for a model object."""
    kept = cached_on(net.model)
    if "loop structure" not in kept:
        kept["loop structure"] = _structure(net.model)
    return kept["loop structure"]


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
    samples = closed_samples(model)
    parts = [(M, J) for _, J, M in map(loop_numbers(model), samples[:-1] or samples)]
    full = max(_rank(J) for _, J in parts)
    scaled = [_scaled(M, J) for M, J in parts if _rank(J) == full]
    n, count = model.nv, len(parts[0][1])
    present = [i for i in range(n, n + count) if all(np.abs(K[i]).max(initial=0.0) > 0.0 for K in scaled)]
    kept = [*range(n), *present]
    at = np.ix_(kept, kept)
    scaled = [K[at] for K in scaled]
    there = (np.abs(scaled) > NOTHING).any(axis=0)
    after = {i: set(np.flatnonzero(there[i, :n]).tolist()) for i in range(n, len(kept))}
    safe = elimination_order(scaled, after)
    quick = elimination_order([K[np.ix_(used, used)] for K in scaled], {}) if (used := sorted(safe.order)) else safe
    chosen = tuple(used[k] for k in quick.order) if quick.cost < WORTH * safe.cost and not quick.left else safe.order
    rows = tuple(sorted(kept[k] - n for k in safe.order if k >= n))
    return LoopStructure(n, count, rows, *(tuple(kept[k] for k in x) for x in (chosen, safe.order)), tuple(samples))


def _scaled(M: Array, J: Array) -> Array:
    """[[M, J^T], [J, 0]] with ones on the diagonal of M and rows of J of unit length; rows of zeros stay so."""
    m = len(J)
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
