"""Reduction of finite-element models to few coordinates: one function, one method each in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from numbers import Integral
from typing import Any

import numpy as np

from gyrostat.errors import ReductionError, nearest
from gyrostat.finite_elements.balanced import balanced
from gyrostat.finite_elements.component_modes import craig_bampton, guyan, hurty, rubin
from gyrostat.finite_elements.keep_modes import by_modes, by_riccati
from gyrostat.finite_elements.lowest_modes import lowest_modes, telling_coordinates
from gyrostat.finite_elements.reduction import Reduction, loads
from gyrostat.finite_elements.sparse_algebra import Array
from gyrostat.finite_elements.structure_matrices import Partition, Structure

Method = Callable[[Partition, Array | None, int], Reduction]
METHODS: Mapping[str, Method] = {
    "riccati": by_riccati,
    "modes": by_modes,
    "guyan": guyan,
    "craig-bampton": craig_bampton,
    "hurty": hurty,
    "rubin": rubin,
    "balanced": balanced,
}
WITH_MODES = ("craig-bampton", "hurty", "rubin")


def reduce_fe(
    M: Any,
    K: Any,
    keep: Any,
    load: Any = None,
    *,
    method: str = "riccati",
    modes: int | None = None,
    candidates: Any = None,
) -> Reduction:
    """M u'' + K u = R over n coordinates as M_bar u1'' + K_bar u1 = R1 + Gamma R2 over m of them [AS (12)-(18)].

    The reduced model keeps the static displacements under any load, the inertia of the rigid body, and the first m
    frequencies and modes; its coordinates are displacements of the structure. Price: M_bar is unsymmetric;
    ``M_symmetric`` is not, and gives up the shapes of the last modes for it.

    ``M``, ``K`` (n, n): symmetric, sparse or dense; the structure may be free (K singular). ``keep``: indices of the
    kept coordinates, or how many, which then are chosen (among ``candidates``) so that they tell the modes apart.
    ``load`` (n,) or (n, k).

    ``method``: ``"riccati"``, L from [AS (17)] by a safeguarded iteration, or ``"modes"``, L from the lowest modes;
    ``"guyan"``, static condensation; ``"craig-bampton"``, ``"hurty"`` (fixed interfaces) and ``"rubin"`` (free
    interfaces) with ``modes`` modal coordinates beside the kept ones; ``"balanced"``, as many shapes as are kept
    coordinates, those that forces there excite most."""
    if method not in METHODS:
        raise ReductionError(f"reduce_fe: there is no method {method!r}. Hint: {nearest(str(method), METHODS)}")
    if modes is not None and method not in WITH_MODES:
        raise ReductionError(f"reduce_fe: method '{method}' has no modal coordinates. Hint: {', '.join(WITH_MODES)} do")
    whole = Structure.of(M, K)
    R = None if load is None else loads(load, whole.n, "reduce_fe")
    return METHODS[method](Partition.of(whole, _kept(whole, keep, candidates)), R, _count(modes))


def _count(modes: Any) -> int:
    if modes is None:
        return 0
    if isinstance(modes, bool) or not isinstance(modes, Integral) or modes < 0:
        raise ReductionError(f"reduce_fe: modes must be a number of modes, got {modes!r}. Hint: modes=6")
    return int(modes)


def _kept(whole: Structure, keep: Any, candidates: Any) -> Any:
    """Indices; chosen where only their number is given."""
    if isinstance(keep, bool) or not isinstance(keep, Integral):
        if candidates is not None:
            raise ReductionError("reduce_fe: candidates are for keep=number. Hint: leave them out, or keep=12")
        return keep
    among = np.arange(whole.n) if candidates is None else Partition.of(whole, candidates).keep
    count = int(keep)
    if not 0 < count <= len(among) or count >= whole.n:
        raise ReductionError(f"reduce_fe: keep={count} of {len(among)} coordinates. Hint: fewer than there are")
    return telling_coordinates(whole, lowest_modes(whole, count).V, count, among)
