"""Solid bodies by finite elements, for tests: bars of few elements, meshed here."""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest

import gyrostat as gs

meshio = pytest.importorskip("meshio", reason="meshio comes with the extra 'flexible'")
pytest.importorskip("skfem", reason="scikit-fem comes with the extra 'flexible'")

STEEL = {"E": 2.1e11, "nu": 0.3, "density": 7850.0}
SOFT = {"E": 2e8, "nu": 0.3, "density": 1200.0}
SIZE = (1.0, 0.06, 0.04)


def bar_mesh(kind: str = "hexahedron", cells=(8, 1, 1), size=SIZE) -> Any:
    """A bar from the origin along x; sets of nodes ``left`` and ``right``; ``tetra10`` has straight edges."""
    axes = [np.linspace(0.0, length, n + 1) for length, n in zip(size, cells, strict=True)]
    points = np.array(list(product(*axes)))
    stride = ((cells[1] + 1) * (cells[2] + 1), cells[2] + 1, 1)
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (0, 0, 1), (1, 0, 1), (1, 1, 1), (0, 1, 1)])
    first = np.array([np.dot(cell, stride) for cell in product(*map(range, cells))])
    hexahedra = first[:, None] + corners @ np.array(stride)
    six = [(0, 1, 2, 6), (0, 2, 3, 6), (0, 3, 7, 6), (0, 7, 4, 6), (0, 4, 5, 6), (0, 5, 1, 6)]
    found = hexahedra if kind == "hexahedron" else np.concatenate([hexahedra[:, list(t)] for t in six])
    if kind == "tetra10":
        points, found = _with_middles(points, found)
    sets = {"left": np.flatnonzero(points[:, 0] < 1e-9), "right": np.flatnonzero(points[:, 0] > size[0] - 1e-9)}
    return meshio.Mesh(points, [(kind, found)], point_sets=sets)


def _with_middles(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    edges = [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)]
    pairs = np.sort(cells[:, edges].reshape(-1, 2), axis=1)
    unique, at = np.unique(pairs, axis=0, return_inverse=True)
    middle = len(points) + at.reshape(len(cells), 6)
    return np.concatenate([points, points[unique].mean(axis=1)]), np.hstack([cells, middle])


def face(x: float) -> list[tuple[float, float, float]]:
    """A box around the nodes at x."""
    return [(x - 1e-6, -1.0, -1.0), (x + 1e-6, 1.0, 1.0)]


@cache
def bar(name: str = "arm", soft: bool = True, modes: int = 3, **options: Any) -> gs.FlexibleBody:
    """A bar with interfaces at its left, middle and right, of quadratic hexahedra."""
    interfaces = {"left": face(0.0), "middle": face(0.5), "right": face(1.0)}
    return gs.FlexibleBody.from_mesh(
        bar_mesh(cells=(4, 1, 1)), SOFT if soft else STEEL, interfaces, modes, name=name, **options
    )
