"""The contact problem in rows of one unit: each row by the root of its diagonal.

With P' = S P, u' = S^-1 u, A = S^-1 G S^-1, all rows are in roots of energy and A has ones on its diagonal."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gyrostat.algorithms.contact.cone_layout import Array, Disc, ForceSet

NEGLIGIBLE = 1e-22
"""Rows with a smaller diagonal, relative to the largest, are rounding and move nothing: their force stays zero."""


@dataclass(frozen=True)
class ScaledProblem:
    """The problem with a unit diagonal: ``scale`` (m,) with P' = scale P, u' = u/scale; ``dead`` rows move nothing."""

    A: Array
    c: Array
    forces: ForceSet
    scale: Array
    dead: Array
    size: float

    def square(self, P: Array) -> float:
        """Sum of the squares of the natural map at scaled, feasible forces."""
        distances = self.forces.natural_map(P, self.A @ P + self.c)
        return float(distances @ distances)

    def residual(self, P: Array) -> float:
        """Largest entry of the natural map at scaled, feasible forces, relative to c."""
        return float(np.abs(self.forces.natural_map(P, self.A @ P + self.c)).max(initial=0.0)) / self.size


def scaled(G: Array, c: Array, forces: ForceSet, diagonal: Array | None = None) -> ScaledProblem:
    """Rows with a unit diagonal, or scaled by another one; the two of a disc have one scale."""
    diagonal = np.array(np.diag(G) if diagonal is None else diagonal)
    for disc in forces.discs:
        diagonal[disc.rows] = diagonal[disc.rows].mean()
    largest = diagonal.max(initial=0.0)
    dead = diagonal <= NEGLIGIBLE * largest
    scale = np.sqrt(np.where(dead, largest, diagonal)) if largest > 0.0 else np.ones(len(c))
    low, high = forces.low * scale, forces.high * scale
    discs = tuple(
        Disc(
            d.first,
            d.size,
            d.normal,
            min(d.ratio * scale[d.first] / scale[d.normal], 1e100),
            d.base * scale[d.first],
        )
        for d in forces.discs
    )
    c = c / scale
    size = float(np.abs(c).max(initial=0.0))
    return ScaledProblem(G / np.outer(scale, scale), c, ForceSet(low, high, discs), scale, dead, size or 1.0)
