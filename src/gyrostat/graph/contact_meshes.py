"""Mesh files of surfaces."""

from __future__ import annotations

import warnings
from pathlib import Path

from gyrostat.errors import MeshError, ModelWarning
from gyrostat.geometry.mesh_file import MeshPart, read_mesh
from gyrostat.geometry.support_points import MOST, Array, support_points
from gyrostat.spec.model import Model
from gyrostat.spec.shape import Shape


def mesh_of(model: Model, shape: Shape) -> list[MeshPart] | None:
    """The parts of a shape's mesh, None if its file cannot be read; a relative name is looked for in the folder of the
    model's file, then here."""
    source = next(iter(model.sources.values()), "").rpartition(":")[0]
    file = Path(shape.file)
    places = [file] if file.is_absolute() or not source else [Path(source).parent / file, file]
    for place in places:
        try:
            return read_mesh(place, shape.size)
        except MeshError:
            continue
    return None


def points_of(model: Model, name: str, shape: Shape) -> Array | None:
    """Points (n, 3) [m] of a mesh that may touch a plane; what is left out by their number is told."""
    parts = mesh_of(model, shape)
    if parts is None:
        return None
    points, beyond = support_points(parts)
    if beyond > 0.0:
        text = (
            f"contact of '{name}': its mesh is {len(points)} points on a plane, at most {MOST} are taken; other "
            f"vertices are up to {beyond:.2g} m farther out. Hint: a mesh of fewer vertices, or a simple shape"
        )
        warnings.warn(ModelWarning(text, {"contact-mesh": 1}), stacklevel=2)
    return points
