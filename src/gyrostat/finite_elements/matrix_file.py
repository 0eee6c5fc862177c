"""Matrices of other finite-element programs, as arrays or as an .npz file.

An export of Nastran or Abaqus becomes such a file by NumPy alone: sparse matrices as their entries,

    np.savez("link.npz", nodes=xyz, node=..., component=...,
             M_rows=i, M_columns=j, M_values=m, K_rows=i, K_columns=j, K_values=k)

``nodes`` (k, 3) [m]; ``node`` and ``component`` (n,): what each coordinate is, counted from 0 (components 0, 1, 2:
displacements, 3, 4, 5: rotations); without them three displacements for each node. Entries of one triangle or of both;
M and K may instead be full matrices ``M``, ``K``. Files are read without pickles, and bounded in size."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import LoadError, MeshError, Problem
from gyrostat.finite_elements.elasticity import FeModel
from gyrostat.finite_elements.sparse_algebra import Array, Sparse, scipy_parts
from gyrostat.finite_elements.structure_matrices import MOST, expect_signs, symmetric

LARGEST = 512 * 2**20
"""Bytes of a file at most, also when it is unpacked."""
KNOWN = {"nodes", "node", "component", "M", "K", *(f"{A}_{k}" for A in "MK" for k in ("rows", "columns", "values"))}


def model_from_matrices(M: Any, K: Any, nodes: Any, node: Any = None, component: Any = None) -> FeModel:
    """M, K (n, n) over coordinates that ``node`` and ``component`` (n,) say; by default three at each of the nodes."""
    M, K = symmetric(M, "from_matrices: M"), symmetric(K, "from_matrices: K")
    nodes, n = np.asarray(nodes, dtype=float), M.shape[0]
    if nodes.ndim != 2 or nodes.shape[1] != 3 or not np.all(np.isfinite(nodes)):
        raise MeshError(f"from_matrices: nodes has shape {nodes.shape}, expected finite (k, 3). Hint: positions in m")
    if (node is None) != (component is None):
        raise MeshError("from_matrices: node and component go together. Hint: give both, or neither")
    if node is None:
        node, component = np.repeat(np.arange(len(nodes)), 3), np.tile(np.arange(3), len(nodes))
    node, component = _indices(node, n, len(nodes), "node"), _indices(component, n, 6, "component")
    if K.shape != M.shape:
        raise MeshError(f"from_matrices: M has shape {M.shape}, K {K.shape}. Hint: both over the same coordinates")
    expect_signs("from_matrices", M, K)
    if len(np.unique(6 * node + component)) < n:
        raise MeshError("from_matrices: a component of a node is there twice. Hint: check node and component")
    return FeModel(nodes, node, component, M, K)


def _indices(values: Any, n: int, most: int, name: str) -> Array:
    values = np.asarray(values)
    if values.shape != (n,) or values.dtype.kind not in "iu" or (n and not 0 <= values.min() <= values.max() < most):
        raise MeshError(
            f"from_matrices: {name} has shape {values.shape}, expected {n} whole numbers from 0 to {most - 1}. "
            "Hint: M and K have that many rows"
        )
    return values.astype(int)


def read_matrices(path: Any) -> FeModel:
    """From an .npz file."""
    path = Path(path)
    data = _arrays(path)
    try:
        M, K = (_matrix(data, name, path) for name in "MK")
        return model_from_matrices(M, K, data["nodes"], data.get("node"), data.get("component"))
    except KeyError as error:
        raise _refused(path, f"has no array {error}", "see the names that from_npz lists") from None


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = max(path.stat().st_size, sum(item.file_size for item in archive.infolist()))
        if size > LARGEST:
            raise _refused(path, f"has {size / 2**20:.0f} MiB, at most {LARGEST // 2**20} are read", "a smaller model")
        with np.load(path, allow_pickle=False) as file:
            unknown = sorted(set(file.files) - KNOWN)
            if unknown:
                raise _refused(
                    path, f"has arrays {unknown[:5]} that are not known", f"known: {', '.join(sorted(KNOWN))}"
                )
            return {name: file[name] for name in file.files}
    except (OSError, ValueError, zipfile.BadZipFile, EOFError) as error:
        raise _refused(path, f"cannot be read: {type(error).__name__}: {error}", "write it with np.savez") from None


def _matrix(data: Mapping[str, Array], name: str, path: Path) -> Sparse:
    if name in data:
        return symmetric(data[name], f"from_npz: {name}")
    rows, columns, values = (data[f"{name}_{k}"] for k in ("rows", "columns", "values"))
    same = rows.ndim == 1 and rows.shape == columns.shape == values.shape and len(rows)
    if not same or rows.dtype.kind not in "iu" or columns.dtype.kind not in "iu" or values.dtype.kind not in "iuf":
        raise _refused(path, f"{name}_rows, {name}_columns and {name}_values do not fit", "one entry each, in order")
    n = int(max(rows.max(), columns.max())) + 1
    if min(rows.min(), columns.min()) < 0 or n > MOST:
        raise _refused(path, f"{name} has indices outside of 0 ... {MOST - 1}", "count from 0")
    sparse = scipy_parts()[0]
    A = sparse.csc_matrix((values.astype(float), (rows, columns)), shape=(n, n))
    if np.all(rows <= columns) or np.all(rows >= columns):  # one triangle
        A = A + A.T - sparse.diags(A.diagonal())
    return A.tocsc()


def _refused(path: Path, message: str, remedy: str) -> LoadError:
    return LoadError([Problem(f"file '{path.name}'", "matrices", message, remedy)])
