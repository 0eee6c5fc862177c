"""What is decided once about the loops of a model that stay constraints: which of their equations say something new, in
which order the constrained equations of motion are eliminated, and by which way.

The rank is the generic one, that of closed configurations around the reference. Rows that never get a pivot depend on
others and are left out: a plane four-bar in space has two independent equations of five, Bricard's mechanism four of
six. Nothing is regularised: at a singular position, where more rows become dependent, there is no answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.constrained.loop_numbers import loop_numbers
from gyrostat.algorithms.constrained.sparse_ldl import DEPENDENT, NOTHING, Pivot, elimination_order
from gyrostat.configuration.model_cache import cached_on
from gyrostat.graph.loops.plan import loop_plan
from gyrostat.graph.network import Network
from gyrostat.spatial.algebra import Array
from gyrostat.spec.model import Model

RANK = 1e-7
"""Singular values below this part of the largest one are zero."""
NO_ROW = 1e-8
"""Rows below this part of the largest one are zero."""
WORTH = 0.9
"""An order that needs less than this part of the multiplications is taken instead of the safe one."""


@dataclass(frozen=True)
class LoopStructure:
    """``rows``: numbers of the equations that say something new, of ``count``; ``order``: elimination of [[M, J^T],
    [J, 0]] over the nv rates and then all rows; ``safe``: an order that has pivots wherever rows are independent, while
    those of ``order`` may vanish far from the samples; the same where it costs little more; ``samples`` (nq,): closed
    configurations, the reference last."""

    n: int
    count: int
    rows: tuple[int, ...]
    order: tuple[Pivot, ...]
    safe: tuple[Pivot, ...]
    samples: tuple[Array, ...]

    @property
    def massless(self) -> bool:
        """Whether rates without inertia are among those of the tree."""
        return any(isinstance(pivot, tuple) for pivot in self.order)

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
    scaled = np.array([_scaled(M, J) for M, J in parts if _rank(J) == full])
    n, count = model.nv, len(parts[0][1])
    couples, scaled = _couples(scaled, n)
    gone = {k for pair in couples for k in pair}
    present = [i for i in range(n, n + count) if i not in gone and (np.abs(scaled[:, i]).max(axis=1) > NOTHING).all()]
    kept = [*(k for k in range(n) if k not in gone), *present]
    inertial = len(kept) - len(present)
    scaled = scaled[np.ix_(range(len(scaled)), kept, kept)]
    there: Array = np.any(np.abs(scaled) > NOTHING, axis=0)
    after = {i: set(np.flatnonzero(there[i, :inertial]).tolist()) for i in range(inertial, len(kept))}
    safe = elimination_order(list(scaled), after)
    quick = elimination_order([K[np.ix_(used, used)] for K in scaled], {}) if (used := sorted(safe.order)) else safe
    chosen = tuple(used[k] for k in quick.order) if quick.cost < WORTH * safe.cost and not quick.left else safe.order
    rows = {kept[k] - n for k in safe.order if k >= inertial} | {r - n for _, r in couples}
    order, cautious = (tuple([*couples, *(kept[k] for k in x)]) for x in (chosen, safe.order))
    return LoopStructure(n, count, tuple(sorted(rows)), order, cautious, tuple(samples))


def _couples(scaled: Array, n: int) -> tuple[list[tuple[int, int]], Array]:
    """Rates without inertia, each with the row that it moves most, and what is left of the matrices without both."""
    A, couples = scaled.copy(), list[tuple[int, int]]()
    for z in range(n):
        if np.abs(scaled[:, z, :n]).max(initial=0.0) > NOTHING:
            continue
        size = np.abs(A[:, z, n:]).min(axis=0)
        if not len(size) or size.max() < DEPENDENT:
            continue  # nothing holds it: its pivot will be missing
        r = n + int(np.argmax(size))
        couples.append((z, r))
        one, two, over = A[:, :, z].copy(), A[:, :, r].copy(), 1.0 / A[:, z, r]
        product = one[:, :, None] * two[:, None, :] * over[:, None, None]
        A = A - product - product.transpose(0, 2, 1)
        for k in (z, r):
            A[:, k, :] = A[:, :, k] = 0.0
    return couples, A


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
