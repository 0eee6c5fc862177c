"""Which pairs touch, without asking how far they are apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.nearest_points import coal_package
from gyrostat.solvers.collision.collision_program import CollisionProgram, collision_program
from gyrostat.solvers.collision.pair_choice import CollisionPair
from gyrostat.spec.model import Model

Array = np.ndarray


def touching(model: Model, q: Array, pairs: Sequence[CollisionPair], margin: float) -> Array:
    """(b, pairs) whether each pair is at most ``margin`` [m] apart, for q (b, nq)."""
    program = collision_program(model, pairs)
    if not pairs:
        return np.zeros((len(q), 0), dtype=bool)
    out = program.kernel.call(q)
    met = np.zeros((len(q), len(pairs)), dtype=bool)
    k = 0
    for number, pair in enumerate(pairs):
        for c in pair.candidates:
            if c.closed_form:
                met[:, number] |= out["gap"][:, k] <= margin
                k += 1
    _by_coal(program, out, met, margin)
    return met


def _by_coal(program: CollisionProgram, out: dict[str, Array], met: Array, margin: float) -> None:
    if not program.by_coal:
        return
    coal, places = coal_package(), {name: k for k, name in enumerate(program.surfaces)}
    numbers = [n for n, pair in enumerate(program.pairs) for c in pair.candidates if not c.closed_form]
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    request.security_margin = margin
    for c, solids, number in zip(program.by_coal, program.solids, numbers, strict=True):
        (one, reach_a), (two, reach_b) = solids
        a, b = places[c.a.name], places[c.b.name]
        reach = reach_a + reach_b + margin
        apart = np.linalg.norm(out["p"][:, a] - out["p"][:, b], axis=1) > reach if np.isfinite(reach) else None
        for row in range(len(met)):
            if met[row, number] or (apart is not None and apart[row]):
                continue
            result.clear()
            poses: list[Any] = [coal.Transform3s(out["R"][row, s], out["p"][row, s]) for s in (a, b)]
            met[row, number] = coal.collide(one, poses[0], two, poses[1], request, result) > 0
