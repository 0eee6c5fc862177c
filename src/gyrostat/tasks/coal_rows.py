"""Collision avoidance of shapes whose distances coal finds: rows over the rates, at every step anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from gyrostat.solvers.collision.collision_program import CollisionProgram, collision_program
from gyrostat.solvers.collision.pair_choice import CollisionPair
from gyrostat.spec.model import Model
from gyrostat.tasks.layout import AVOID

Array = np.ndarray


@dataclass(frozen=True)
class CoalRows:
    """Pairs without a closed form."""

    program: CollisionProgram
    held: Array

    @classmethod
    def of(cls, model: Model, pairs: Sequence[CollisionPair], held: Array) -> CoalRows | None:
        """None if all pairs have closed forms."""
        chosen = [pair for pair in pairs if not pair.candidates[0].closed_form]
        return cls(collision_program(model, chosen), held) if chosen else None

    def at(self, q: Array, x: Array) -> tuple[Array, Array, list[str]]:
        """Gradients (k, nv) of all distances, their least change (k,), and their names."""
        distance, share, within = x[AVOID]
        gaps = self.program.gaps(q, float(within))
        rows = np.array([gap.gradient for gap in gaps])
        rows[:, self.held] = 0.0
        least = (distance - np.array([gap.gap for gap in gaps])) * share
        return rows, least, [f"{pair.a} | {pair.b}" for pair in self.program.pairs]
