"""Mesh files to solid meshes: read with meshio, bounded in size, handed to scikit-fem.

Files of gmsh (.msh), Abaqus (.inp), Nastran (.bdf, .nas), VTK's old text form (.vtk) and Medit (.mesh). Tetrahedra with
4 or 10 nodes, hexahedra with 8; everything else in a file names groups only."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import GyrostatError, MeshError

Array = np.ndarray
FORMATS = ("msh", "inp", "bdf", "nas", "vtk", "mesh")
LARGEST = 256 * 2**20
"""Bytes of a file at most."""
MOST = 1_000_000
"""Nodes or elements at most."""
SOLIDS = ("tetra", "tetra10", "hexahedron")
CORNERS = {"triangle": 3, "triangle6": 3, "quad": 4, "tetra": 4, "tetra10": 4, "hexahedron": 8}


def fem() -> Any:
    """scikit-fem."""
    try:
        import skfem
    except ImportError as error:
        raise GyrostatError(
            "finite elements: need scikit-fem and meshio. Hint: pip install 'gyrostat[flexible]'"
        ) from error
    return skfem


@dataclass(frozen=True)
class SolidMesh:
    """``mesh``: of scikit-fem; ``points`` (p, 3) [m], as the file numbers them; ``corners`` (elements, 4 or 8);
    ``groups``: positions (k, 3) of the nodes, and of midpoints between them, of each named group of the file."""

    mesh: Any
    points: Array
    corners: Array
    groups: Mapping[str, Array]

    def around(self, chosen: Array) -> Array:
        """Positions of points, and those midway between two of them that are corners of one element."""
        inside = np.zeros(len(self.points), dtype=bool)
        inside[chosen] = True
        cells = self.corners[inside[self.corners].sum(axis=1) > 1]
        middle = [np.zeros((0, 3))]
        for i, j in combinations(range(cells.shape[1]), 2):
            both = inside[cells[:, i]] & inside[cells[:, j]]
            middle.append((self.points[cells[both, i]] + self.points[cells[both, j]]) / 2)
        return np.concatenate([self.points[chosen], *middle])


def solid_mesh(source: Any, scale: float = 1.0) -> SolidMesh:
    """From a file, or from a mesh of meshio; ``scale``: metres in its unit of length."""
    found = source if hasattr(source, "cells_dict") else _read(Path(source))
    who = f"mesh '{source}'" if isinstance(source, str | Path) else "mesh"
    points = np.asarray(found.points, dtype=float)
    solids = [kind for kind in SOLIDS if kind in found.cells_dict]
    if len(solids) != 1:
        kinds = ", ".join(sorted(found.cells_dict)) or "no cells"
        raise MeshError(f"{who} has {kinds}, expected solid cells of one kind. Hint: one of {', '.join(SOLIDS)}")
    cells = found.cells_dict[solids[0]]
    if points.ndim != 2 or points.shape[1] != 3 or not np.all(np.isfinite(points)) or not scale > 0.0:
        raise MeshError(f"{who} has points of shape {points.shape}, expected finite (n, 3). Hint: a mesh in space")
    if max(len(points), len(cells)) > MOST:
        raise MeshError(f"{who} has {len(points)} points, at most {MOST} are read. Hint: a coarser mesh")
    if cells.min(initial=0) < 0 or cells.max(initial=0) >= len(points):
        raise MeshError(f"{who} has cells with nodes that do not exist")
    points = points * scale
    used, again = np.unique(cells, return_inverse=True)
    mesh = _mesh(solids[0], points[used], again.reshape(cells.shape), who)
    plain = SolidMesh(mesh, points, cells[:, : CORNERS[solids[0]]], {})
    return replace(plain, groups=_groups(found, plain))


def _read(path: Path) -> Any:
    fem()
    import meshio

    sort = path.suffix.lower().removeprefix(".")
    if sort not in FORMATS:
        raise MeshError(f"mesh '{path}': the format '.{sort}' is not read. Hint: one of {', '.join(FORMATS)}")
    try:
        size = path.stat().st_size
    except OSError as error:
        raise MeshError(f"mesh '{path}': cannot be read, {error.strerror or error}. Hint: check the path") from None
    if size > LARGEST:
        raise MeshError(f"mesh '{path}' has {size / 2**20:.0f} MiB, at most {LARGEST // 2**20} are read. Hint: coarser")
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return meshio.read(path)
    except (Exception, SystemExit) as error:  # whatever a broken file does to the reader, which may even exit
        told = "it is none" if isinstance(error, SystemExit) else f"{type(error).__name__}: {error}"
        message = f"mesh '{path}': cannot be read as '.{sort}', {told}. Hint: write it anew, or convert it"
        raise MeshError(message) from None


def _mesh(kind: str, points: Array, cells: Array, who: str) -> Any:
    import meshio

    fem()
    from skfem.io.meshio import from_meshio

    try:
        with np.errstate(all="ignore"):
            mesh = from_meshio(meshio.Mesh(points, [(kind, cells)]))
            determinant = mesh.mapping().detDF(np.ascontiguousarray(mesh.init_refdom().p))  # (elements, corners)
    except Exception as error:  # a mesh that its reader cannot use
        raise MeshError(f"{who}: is no solid mesh: {type(error).__name__}: {error}") from None
    sound = np.abs(determinant) > 1e-12 * np.abs(determinant).max()
    turned = determinant.min(axis=1) * determinant.max(axis=1) < 0.0
    if np.any(turned) or not np.all(sound):
        bad = int(np.argmax(turned | ~sound.all(axis=1)))
        raise MeshError(f"{who}: element {bad} is flat or turned inside out. Hint: repair the mesh")
    return mesh


def _groups(found: Any, mesh: SolidMesh) -> dict[str, Array]:
    """Named groups: physical groups of gmsh, sets of nodes and of elements."""
    points = mesh.points
    groups: dict[str, list[Array]] = {}
    names = {(int(tag), int(dim)): name for name, (tag, dim) in dict(found.field_data or {}).items()}
    tags = (found.cell_data or {}).get("gmsh:physical")
    for block, tag in zip(found.cells, tags or [], strict=False):
        for value in np.unique(tag):
            name = names.get((int(value), block.dim), str(int(value)))
            groups.setdefault(name, []).append(_positions(block.type, block.data[tag == value], points))
    for name, sets in (found.cell_sets or {}).items():
        for block, chosen in zip(found.cells, sets, strict=False):
            if chosen is not None and len(chosen) and not name.startswith("gmsh:"):
                groups.setdefault(name, []).append(_positions(block.type, block.data[chosen], points))
    for name, chosen in (found.point_sets or {}).items():
        groups.setdefault(name, []).append(mesh.around(np.asarray(chosen, dtype=int)))
    return {name: np.unique(np.concatenate(parts), axis=0) for name, parts in groups.items()}


def _positions(kind: str, cells: Array, points: Array) -> Array:
    """Nodes of cells, and the points midway between any two corners of one: elements of order 2 have nodes there."""
    corners = cells[:, : CORNERS.get(kind, cells.shape[1])]
    middle = [(points[corners[:, i]] + points[corners[:, j]]) / 2 for i, j in combinations(range(corners.shape[1]), 2)]
    return np.concatenate([points[np.unique(cells)], *middle])
