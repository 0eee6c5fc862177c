"""Mesh files to triangles: bounded in size, without entities, nothing read outside their own folder."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import MeshError

Array = np.ndarray
MeshPart = tuple[Array, Array, tuple[float, ...] | None]
"""Vertices (n, 3) [m], triangles (m, 3), colour r g b a or None."""

FORMATS = ("stl", "obj", "dae", "ply", "off", "glb", "gltf", "3mf")
LARGEST = 128 * 2**20
"""Bytes of a mesh file at most."""


@lru_cache(maxsize=256)
def _read(path: Path, changed: int) -> tuple[MeshPart, ...]:
    try:
        import trimesh
    except ImportError:
        raise MeshError("meshes need the package trimesh. Hint: pip install 'gyrostat[view]'") from None
    sort = path.suffix.lower().removeprefix(".")
    if sort not in FORMATS:
        raise MeshError(f"the format '.{sort}' is not read. Hint: convert it to one of {', '.join(FORMATS)}")
    data = path.read_bytes()
    if len(data) > LARGEST:
        raise MeshError(f"is {len(data) / 2**20:.0f} MiB, at most {LARGEST // 2**20} are read. Hint: simplify the mesh")
    scale = _collada_unit(data) if sort == "dae" else 1.0
    try:
        scene = trimesh.load_scene(trimesh.util.wrap_as_stream(data), file_type=sort, resolver=_beside(path))
        parts = tuple(_part(mesh, scale) for mesh in scene.dump() if len(getattr(mesh, "faces", ())))
    except Exception as error:  # whatever a broken file does to the reader: it is told, and the robot is shown without
        raise MeshError(f"cannot be read: {type(error).__name__}: {error}") from None
    if not parts or not all(np.all(np.isfinite(vertices)) for vertices, _, _ in parts):
        raise MeshError("holds no triangles with finite corners")
    return parts


def read_mesh(path: Path, scale: Sequence[float]) -> list[MeshPart]:
    """The parts of a mesh file, each coordinate times its factor; :class:`MeshError` says why it cannot be read."""
    try:
        parts = _read(path, path.stat().st_mtime_ns)
    except OSError as error:
        raise MeshError(f"cannot be read: {error.strerror or error}") from None
    mirrored = np.prod(scale) < 0.0
    return [(v * np.asarray(scale), f[:, ::-1] if mirrored else f, color) for v, f, color in parts]


def _collada_unit(data: bytes) -> float:
    """Metres in the unit of a COLLADA text; entities are refused, since its reader would follow them."""
    if b"\x00" in data[:4096] or b"<!DOCTYPE" in data or b"<!ENTITY" in data:
        raise MeshError("has a document type or entities, or is no UTF-8 text, which is refused")
    metres = re.search(rb"<unit\b[^>]*?\bmeter\s*=\s*[\"']([0-9.eE+-]{1,32})[\"']", data)
    try:
        value = float(metres[1]) if metres else 1.0
    except ValueError:
        return 1.0
    return value if 0.0 < value < 1e6 else 1.0


def _part(mesh: Any, scale: float) -> MeshPart:
    color: tuple[float, ...] | None = None
    if mesh.visual is not None and mesh.visual.defined:
        material = getattr(mesh.visual, "material", None)
        rgba = np.asarray(material.main_color if material is not None else mesh.visual.main_color, dtype=float) / 255.0
        color = tuple(float(x) for x in rgba) if rgba.shape == (4,) else None
    return np.asarray(mesh.vertices, dtype=float) * scale, np.asarray(mesh.faces, dtype=int), color


def _beside(path: Path) -> Any:
    """Materials and pictures that a mesh names are looked for in its own folder only."""
    from trimesh.resolvers import FilePathResolver

    class Beside(FilePathResolver):
        def get(self, name: str) -> bytes:
            home = Path(os.path.realpath(path.parent))
            file = Path(os.path.realpath(home / str(name)))
            if not file.is_relative_to(home) or not file.is_file() or file.stat().st_size > LARGEST:
                raise FileNotFoundError(f"{name} is not beside the mesh")
            return file.read_bytes()

    return Beside(str(path))
