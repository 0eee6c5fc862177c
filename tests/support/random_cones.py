"""Random contact problems: contacts of all kinds, limits, boxes, bilateral rows; redundant, sparse, degenerate rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gyrostat.algorithms.contact.cone_layout import ConeLayout


@dataclass(frozen=True)
class RandomCones:
    """Rows J (m, nv) on rates v with the inverse W (nv, nv) of their mass matrix; the laws as keywords."""

    J: np.ndarray
    W: np.ndarray
    v: np.ndarray
    layout: ConeLayout
    mu: np.ndarray
    laws: dict[str, Any] = field(default_factory=dict)

    @property
    def G(self) -> np.ndarray:
        return self.J @ self.W @ self.J.T

    @property
    def c(self) -> np.ndarray:
        return self.J @ self.v

    @property
    def independent(self) -> bool:
        """Whether no row depends on others, nor nearly so."""
        d = np.sqrt(np.diag(self.G))
        return bool((d > 0).all() and np.linalg.eigvalsh(self.G / np.outer(d, d))[0] > 1e-3)


def random_cones(seed: int, *, free: bool = False) -> RandomCones:
    """One of them; ``free``: more rates than rows, so that nothing is redundant."""
    rng = np.random.default_rng(seed)
    contacts = int(rng.integers(1, 7))
    sizes = tuple(int(s) for s in rng.choice([1, 3, 3, 3, 4, 6], contacts))
    layout = ConeLayout(sizes, *(int(k) for k in rng.integers(0, 3, 3)))
    m = layout.rows
    nv = m + int(rng.integers(5, 20)) if free else int(rng.integers(2, 30))
    J = rng.normal(size=(m, nv))
    if not free:
        _degenerate(rng, J, layout)
    X = rng.normal(size=(nv, nv))
    W = X @ X.T / nv + 10.0 ** rng.uniform(-3, 1) * np.eye(nv)
    laws: dict[str, Any] = {"torsional": rng.choice([0.0, 0.1], contacts), "rolling": rng.choice([0.0, 0.05], contacts)}
    laws["bounds"] = np.sort(rng.normal(size=(layout.boxes, 2)), axis=1)
    return RandomCones(J, W, rng.normal(size=nv), layout, rng.choice([0.0, 0.1, 0.3, 0.7, 1.0], contacts), laws)


def _degenerate(rng: np.random.Generator, J: np.ndarray, layout: ConeLayout) -> None:
    """Rows that are sparse, repeated or zero; contacts that hardly move anything, or very much."""
    first, size = layout.normals[0], layout.sizes[0]
    kind = rng.integers(0, 6)
    if kind == 0:
        J[rng.random(J.shape) < 0.6] = 0.0
    if kind == 1 and len(J) >= 6:
        J[3:6] = J[0:3]
    if kind == 2:
        J[int(rng.integers(len(J)))] = 0.0
    if kind == 3:
        J[first : first + size] *= 1e-9
    if kind == 4:
        J[first : first + size] *= 1e4
