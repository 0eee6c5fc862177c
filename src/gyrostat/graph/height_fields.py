"""The grids of height fields that a model has."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from gyrostat.errors import MeshError, SpecError
from gyrostat.geometry.height_field import HeightField
from gyrostat.geometry.height_file import read_heights
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.model import Model
from gyrostat.spec.shape import Shape, check_heights


def height_field_of(model: Model, body: str, shape: Shape) -> HeightField:
    """The grid of a shape of a body; a file is looked for in the folder of the model's file, or here."""
    kept = model.__dict__.setdefault("_height_fields", {})
    key = id(shape)
    if key not in kept:
        kept[key] = shape, HeightField(shape.size, _heights(model, body, shape))
    return kept[key][1]


def _heights(model: Model, body: str, shape: Shape) -> np.ndarray:
    if shape.heights:
        return np.array(shape.heights)
    source = (model.source(body) or "").rpartition(":")[0]
    try:
        heights = read_heights(Path(source).parent if source else Path(), shape.file)
        check_heights(heights.tolist(), shape.size[2])
    except (MeshError, RefusedError) as error:
        message, _, remedy = str(error).partition(". Hint: ")
        remedy = remedy or "put the file beside that of the model, or write its heights into the shape"
        raise SpecError.one(
            f"rigid body '{body}'", "height-field", f"the file '{shape.file}' {message}", remedy, body
        ) from None
    return heights
