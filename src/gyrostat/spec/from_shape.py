"""``RigidBody.from_shape``: mass, centre of mass and inertia of a homogeneous solid."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gyrostat.errors import MeshError, SpecError, clipped
from gyrostat.geometry.height_field import HeightField
from gyrostat.geometry.mesh_file import read_mesh
from gyrostat.geometry.polyhedron import polyhedron
from gyrostat.geometry.solids import SOLIDS, VolumeMoments
from gyrostat.spec.describe import RefusedError
from gyrostat.spec.entity import Entity
from gyrostat.spec.orientation import matrix_of
from gyrostat.spec.rules import rotation_problems
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import to_number


def mass_properties(name: str, shape: Any, density: Any, mass: Any, given: dict[str, Any]) -> dict[str, Any]:
    """Properties of the body; what belongs to the shape is taken out of ``given``."""
    shape = to_shape(name, shape, given)
    moments = _moments(name, shape)
    if (density is None) == (mass is None):
        got = "got none" if mass is None else f"got density {clipped(density)} and mass {clipped(mass)}"
        raise _refused(name, f"needs density [kg/m^3] or mass [kg], {got}", "give one of them")
    if mass is None:
        density = _positive(name, "density", density, "give kg/m^3, such as 2700 for aluminium")
        mass = density * moments.volume
    else:
        mass = _positive(name, "mass", mass, "give kg")
    inertia = moments.inertia * (mass / moments.volume)
    return {"mass": mass, "com": moments.centre, "inertia": inertia, "shapes": (shape,)}


def to_shape(name: str, shape: Any, given: dict[str, Any]) -> Shape:
    """A :class:`Shape` from itself, from a mapping, or from its kind and the properties in ``given``."""
    own = {key: given.pop(key) for key in tuple(given) if key in Shape.model_fields}
    if isinstance(shape, str):
        shape = Shape(kind=shape, **own)  # type: ignore[arg-type]
    elif own:
        raise _refused(name, f"'{next(iter(own))}' is a property of the shape, which is given", "put it into the shape")
    elif isinstance(shape, Mapping):
        shape = Shape(**shape)
    if not isinstance(shape, Shape):
        message = f"the shape must be a Shape or the name of its kind, got {clipped(shape)}"
        raise _refused(name, message, "write Shape(kind='box', size=(0.1, 0.2, 0.3)), or 'box', size=(0.1, 0.2, 0.3)")
    if shape.kind == "mesh":  # as it is meant here, whichever folder the model is used in
        shape = shape.model_copy(update={"file": os.path.abspath(shape.file)})
    return shape


def _moments(name: str, shape: Shape) -> VolumeMoments:
    wrong = rotation_problems(Entity(name), "rotation", shape.rotation)
    if wrong:
        raise SpecError(wrong)
    return _own_moments(name, shape).placed(matrix_of(shape.rotation), np.array(shape.translation))


def _own_moments(name: str, shape: Shape) -> VolumeMoments:
    if shape.kind == "height-field":
        if not shape.heights:
            raise _refused(name, f"the heights are in the file '{shape.file}'", "give heights=[[...], ...]")
        return polyhedron(*HeightField(shape.size, np.array(shape.heights)).closed_surface())
    if shape.kind != "mesh":
        return SOLIDS[shape.kind](shape.size)
    try:
        parts = read_mesh(Path(shape.file), shape.size)
        shift = np.cumsum([0, *(len(vertices) for vertices, _, _ in parts)])
        faces = [faces + first for (_, faces, _), first in zip(parts, shift[:-1], strict=True)]
        return polyhedron(np.concatenate([vertices for vertices, _, _ in parts]), np.concatenate(faces))
    except MeshError as error:
        message, _, remedy = str(error).partition(" Hint: ")
        remedy = remedy or "give a closed mesh, or mass, com and inertia themselves"
        raise _refused(name, f"the mesh '{shape.file}' {message}", remedy) from None


def _positive(name: str, what: str, value: Any, remedy: str) -> float:
    try:
        number = to_number(value)
    except RefusedError as refused:
        raise _refused(name, f"{what} {refused}", remedy) from None
    if not 0.0 < number < float("inf"):
        raise _refused(name, f"{what} must be positive, got {clipped(value)}", remedy)
    return number


def _refused(name: str, message: str, remedy: str) -> SpecError:
    return SpecError.one(f"rigid body '{name}'", "from-shape", message, remedy, name)
