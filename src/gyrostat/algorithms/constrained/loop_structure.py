"""What is decided once about the loops of a model that stay constraints: which of their equations say something new, in
which order the constrained equations of motion are eliminated, and by which way.

The rank is the generic one, that of closed configurations around the reference. Rows that never get a pivot depend on
others and are left out: a plane four-bar in space has two independent equations of five, Bricard's mechanism four of
six. Nothing is regularised: at a singular position, where more rows become dependent, there is no answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.algorithms.algorithm import Setting
from gyrostat.algorithms.constrained.loop_equations import loop_equations
from gyrostat.algorithms.constrained.loop_rows import any_step
from gyrostat.algorithms.constrained.sparse_ldl import NOTHING, elimination_order
from gyrostat.algorithms.recursions.crba import composite_mass_matrix
from gyrostat.graph.loops.numbers import LoopNumbers, close, length_rates, moved_along
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
WORTH = 0.9
"""An order that needs this part of the multiplications is looked at."""
LARGE = 60
"""Rates, up to which that is tried."""
SMALL = 1e-3
"""Pivots of a good order, on the walk."""
WALKS, STEPS, STRIDE = 3, 30, 0.15
REST = BaseState(np.eye(3), np.zeros(3), np.zeros(6), np.zeros(6))


@dataclass(frozen=True)
class LoopStructure:
    """``rows``: numbers of the equations that say something new, of ``count``; ``order``: elimination of [[M, J^T],
    [J, 0]] over the nv rates and then all rows; ``safe``: an order that has pivots wherever rows are independent, the
    same where it costs little more; ``samples`` (nq,): closed configurations, the reference last."""

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
    samples = closed_samples(model)
    parts = [_terms(net, q) for q in samples[:-1] or samples]
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
    chosen = safe.order
    if quick.cost < WORTH * safe.cost and not quick.left and n <= LARGE:
        order = [used[k] for k in quick.order]
        if _holds(net, samples[-1], order, kept):
            chosen = tuple(order)
    rows = tuple(sorted(kept[k] - n for k in safe.order if k >= n))
    return LoopStructure(n, count, rows, *(tuple(kept[k] for k in x) for x in (chosen, safe.order)), tuple(samples))


def resting(net: Network) -> Setting:
    """Without gravity, and on a base that stands still."""
    return Setting(representation("body"), Gravity(np.zeros(3)), REST if net.driven else 0.0)


def _terms(net: Network, q: Array) -> tuple[Array, Array]:
    """M and J on numbers."""
    on = resting(net)
    return _floats(composite_mass_matrix(net, on, q)), _floats(loop_equations(net, q).J)


def _holds(net: Network, reference: Array, order: Sequence[int], kept: Sequence[int]) -> bool:
    """Whether an order has good pivots on the way of a walk through closed configurations: a pivot that vanishes
    somewhere changes its sign there, or comes near to zero."""
    n = net.model.nv
    numbers, random = LoopNumbers(net, net.closures, any_step), np.random.default_rng(15)
    size = numbers.size(reference)
    scale = np.where(length_rates(net.model), size, 1.0)
    for _ in range(WALKS):
        q, along = reference, random.standard_normal(n) * scale
        for _ in range(STEPS):
            M, J = _terms(net, q)
            K = _scaled(M, J)[np.ix_(kept, kept)]
            if not _has_pivots(K, order, n):
                return False
            along = along + 0.5 * random.standard_normal(n) * scale
            s = J * scale
            along = along - scale * (np.linalg.pinv(s, RANK) @ (J @ along))
            length = float(np.abs(along / scale).max(initial=0.0))
            if length == 0.0:
                break
            along = along / length
            q, gap = close(numbers, moved_along(net.model, q, STRIDE * along), np.ones(n), size)
            if gap > 1e-9 * size:
                break
    return True


def _has_pivots(K: Array, order: Sequence[int], n: int) -> bool:
    """Whether the pivots of rates are positive and those of rows negative, and none of them small."""
    A = K.copy()
    for k in order:
        sign = 1.0 if k < n else -1.0
        if sign * A[k, k] < SMALL * max(1.0, float(np.abs(A[k]).max())):
            return False
        column = A[:, k] / A[k, k]
        A -= np.outer(column, A[k])
    return True


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


def _floats(X: Array) -> Array:
    return np.asarray(X, dtype=float)
