"""Geoms of an MJCF to shapes: what a body looks like."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.geometry.rotation import from_quaternion
from gyrostat.io.mjcf.compile import Compiled
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import Quaternion, RotationMatrix
from gyrostat.spec.wiring import is_name

COLLISION_GROUP = 3
"""Geoms of this group and above are not drawn by MuJoCo unless asked for: by custom those for contact alone."""

Pose = tuple[np.ndarray, np.ndarray]


def xyzw(wxyz: Any) -> tuple[float, float, float, float]:
    """MuJoCo's quaternion w x y z in the order of gyrostat."""
    w, x, y, z = (float(c) for c in wxyz)
    return x, y, z, w


def pose(position: Any, wxyz: Any) -> Pose:
    """(R, p) of a position and MuJoCo's quaternion."""
    return from_quaternion(np.array(xyzw(wxyz))), np.array(position, float)


def after(X: Pose, Y: Pose) -> Pose:
    """X then Y."""
    return X[0] @ Y[0], X[1] + X[0] @ Y[1]


def inverse(X: Pose) -> Pose:
    return X[0].T, -X[0].T @ X[1]


def shapes_of(reader: MjcfReader, done: Compiled, body: int) -> tuple[Shape, ...]:
    """The shapes of all geoms of a body; those that cannot be drawn are told."""
    m = done.model
    first, count = int(m.body_geomadr[body]), int(m.body_geomnum[body])
    shapes = [_shape(reader, done, k) for k in range(first, first + count)]
    return tuple(shape for shape in shapes if shape is not None)


def _shape(reader: MjcfReader, done: Compiled, k: int) -> Shape | None:
    m, kinds = done.model, done.mujoco.mjtGeom
    kind, size = int(m.geom_type[k]), [float(x) for x in m.geom_size[k]]
    look: dict[str, Any] = {
        "color": _color(m, k),
        "role": "collision" if m.geom_group[k] >= COLLISION_GROUP else "visual",
        "contact": done.contact.get(k),
        "name": usable_name(m.geom(k).name) if k in done.contact else "",
    }
    if k in done.on_field:
        return _field(reader, done, k, look)
    if k in done.left_out or kind == kinds.mjGEOM_MESH:
        return _mesh(reader, done, k, look)
    sizes = {
        int(kinds.mjGEOM_SPHERE): ("sphere", size[:1]),
        int(kinds.mjGEOM_CAPSULE): ("capsule", [size[0], 2.0 * size[1]]),
        int(kinds.mjGEOM_CYLINDER): ("cylinder", [size[0], 2.0 * size[1]]),
        int(kinds.mjGEOM_ELLIPSOID): ("ellipsoid", size),
        int(kinds.mjGEOM_BOX): ("box", [2.0 * x for x in size]),
    }
    if kind == kinds.mjGEOM_PLANE:
        return None  # a ground
    if kind not in sizes:
        reader.ignore(done.elements["geom"][k], "unused-geom", "geoms of this type are not in the model")
        return None
    name, lengths = sizes[kind]
    place = Quaternion(quaternion=xyzw(m.geom_quat[k]))
    return Shape(kind=name, size=lengths, translation=m.geom_pos[k], rotation=place, **look)


def usable_name(name: str) -> str:
    """The name of a geom if a shape can have it, else none."""
    return name if name and is_name(name) and not name.isdecimal() else ""


def _color(m: Any, k: int) -> tuple[float, ...]:
    rgba, material = m.geom_rgba[k], int(m.geom_matid[k])
    if material >= 0 and np.allclose(rgba, (0.5, 0.5, 0.5, 1.0)):  # its default: the colour of the material counts
        rgba = m.mat_rgba[material]
    return tuple(float(x) for x in np.clip(rgba, 0.0, 1.0))


def _field(reader: MjcfReader, done: Compiled, k: int, look: dict[str, Any]) -> Shape | None:
    """A height field; one that says nothing about touching is only drawn."""
    m, name = done.model, done.on_field[k]
    asset = done.fields.get(name)
    if asset is None:
        reader.ignore(done.elements["geom"][k], "unused-geom", "its height field is not in the model", repr(name))
        return None
    look = look if look["contact"] is not None else look | {"role": "visual"}
    place = {"translation": m.geom_pos[k], "rotation": Quaternion(quaternion=xyzw(m.geom_quat[k]))}
    return Shape(kind="height-field", size=asset.size, heights=asset.heights, **place, **look)


def _mesh(reader: MjcfReader, done: Compiled, k: int, look: dict[str, Any]) -> Shape | None:
    """A mesh in the frame of its own file."""
    m, element = done.model, done.elements["geom"][k]
    name = done.left_out.get(k) or (m.mesh(int(m.geom_dataid[k])).name if k not in done.left_out else "")
    mesh = done.meshes.get(name)
    if mesh is None or mesh.path is None:
        why = f"whose file {mesh.why}" if mesh is not None and mesh.why else "without a file"
        reader.ignore(element, "unused-geom", f"a mesh {why} is not in the model", repr(name) if name else "")
        return None
    at = pose(m.geom_pos[k], m.geom_quat[k])
    if k not in done.left_out:  # MuJoCo moves its origin to the centre of mass
        number = int(m.geom_dataid[k])
        at = after(at, inverse(pose(m.mesh_pos[number], m.mesh_quat[number])))
    R, p = pose(mesh.refpos, mesh.refquat)  # a point x of the file goes to scale R^T (x - p)
    if not np.array_equal(R, np.eye(3)) and len(set(mesh.scale)) > 1:
        reader.ignore(element, "unused-geom", "a mesh that is turned, then scaled, is not in the model", repr(name))
        return None
    at = after(at, (R.T, -R.T @ (np.array(mesh.scale) * p)))
    rotation = RotationMatrix(matrix=at[0].tolist())
    file = mesh.path.as_posix()
    return Shape(kind="mesh", size=mesh.scale, file=file, translation=at[1], rotation=rotation, **look)
