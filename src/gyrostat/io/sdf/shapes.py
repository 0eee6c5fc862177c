"""Visuals and collisions of an SDF to shapes. What cannot be used is a warning: the dynamics do not depend on it."""

from __future__ import annotations

import os
from typing import Any, Literal

from gyrostat.io.mesh_paths import REFERENCE, Roots
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.sdf.frames import Frames, after, inverse, read_pose
from gyrostat.io.sdf.source import SdfReader
from gyrostat.io.sdf.surfaces import read_surface
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import RotationMatrix

Role = Literal["visual", "collision"]

MEASURES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
    "ellipsoid": (("radii", 3),),
}
"""For each solid its elements, in the order of a shape's size."""

NOT_DRAWN = ("plane", "cone", "polyline", "heightmap", "image", "empty")


def read_shape(
    reader: SdfReader, element: Element, role: Role, frames: Frames, scope: str, link: str, roots: Roots
) -> Shape | None:
    """One visual or collision, or None if it says nothing that can be drawn."""
    X, relative, at = read_pose(reader, element)
    if relative:
        what = f"the {role} is placed relative to a frame that does not exist"
        name = frames.known(at, scope, relative, "unknown-frame", what)
        frame, own = (frames.place(name) if name else None), frames.place(link)
        if frame is None or own is None:
            return None
        X = after(after(inverse(own), frame), X)
    solid = _solid(reader, element, role)
    if solid is None:
        return None
    size = _scale(reader, solid) if solid.tag == "mesh" else _size(reader, solid)
    file = _mesh(reader, solid, roots) if solid.tag == "mesh" else ""
    if size is None or (solid.tag == "mesh" and not file):
        return None
    kind: Any = solid.tag
    place = {"translation": tuple(map(float, X[1])), "rotation": RotationMatrix(matrix=X[0].tolist())}
    law = read_surface(reader, element) if role == "collision" else None
    return Shape(kind=kind, size=size, file=file, color=_color(reader, element), role=role, contact=law, **place)


def _solid(reader: SdfReader, element: Element, role: Role) -> Element | None:
    geometry = reader.child(element, "geometry")
    solids = [] if geometry is None else [child for child in geometry if isinstance(child.tag, str)]
    if not solids:
        reader.warn(element, "missing", f"the {role} has no geometry", "nothing", "add a box, cylinder, sphere or mesh")
        return None
    for more in solids[1:]:
        what = f"the {role} has several solids; the first one is taken"
        reader.warn(more, "shape", what, f"<{short(more.tag)}>", f"write one <{role}> for each")
    if solids[0].tag in NOT_DRAWN:
        reader.ignore(solids[0], "unused-shape", f"a {role} of the form <{solids[0].tag}> is not in the model")
    return solids[0] if solids[0].tag in MEASURES or solids[0].tag == "mesh" else None


def _size(reader: SdfReader, solid: Element) -> tuple[float, ...] | None:
    lengths: list[float] = []
    for key, count in MEASURES[solid.tag]:
        child = reader.child(solid, key)
        if child is None:
            reader.warn(solid, "shape", f"<{solid.tag}> has no <{key}>; it was left out", "nothing", f"give its {key}")
            return None
        given = reader.values(child, count, strict=False)
        if given is None:
            return None
        lengths += given
    if min(lengths) <= 0.0:
        what, given = f"the <{solid.tag}> has no extent; it was left out", " ".join(f"{x:g}" for x in lengths)
        reader.warn(solid, "shape", what, given, "give lengths above zero")
        return None
    return tuple(lengths)


def _scale(reader: SdfReader, solid: Element) -> tuple[float, ...] | None:
    for part in ("submesh", "convex_decomposition"):
        if (child := reader.child(solid, part)) is not None:
            reader.ignore(child, "unused-mesh", "the whole mesh is drawn as it is")
    child = reader.child(solid, "scale")
    scale = (1.0, 1.0, 1.0) if child is None else reader.values(child, 3, strict=False)
    if scale is not None and 0.0 in scale:
        what = "the scale of the mesh is zero; the shape was left out"
        reader.warn(solid, "shape", what, reader.text(child), "give three factors other than zero")
        return None
    return scale


def _mesh(reader: SdfReader, solid: Element, roots: Roots) -> str:
    """The path of a mesh that is there; otherwise its name as it stands in the file, and a warning."""
    name = reader.inner(solid, "uri")
    if not name:
        reader.warn(solid, "shape", "the mesh names no file; it was left out", "nothing", "write <uri>...</uri>")
        return ""
    path, told = roots.resolve(name.replace("model://", "package://", 1))
    if path is not None:
        return path.as_posix()
    reference = f"file://{name}" if os.path.isabs(name) else name  # a bare path would be one that was found
    if told == REFERENCE:
        return reference
    rule, fix = "mesh-missing", "name the folder that holds it in roots=[...]"
    if "refused" in told:
        rule, fix = "mesh-path", "keep meshes beside the file, or name their folder in roots=[...]"
    what = f"the mesh {told}" if told.startswith("is ") else f"the mesh is not found: {told}"
    reader.warn(solid, rule, what, repr(name), fix)
    return reference


def _color(reader: SdfReader, element: Element) -> tuple[float, ...] | None:
    """Diffuse colour of a material, or the ambient one; the rest of it is passed over."""
    material = reader.child(element, "material")
    if material is None:
        return None
    at = next((c for tag in ("diffuse", "ambient") for c in material.iterchildren(tag)), None)
    rest = [short(c.tag) for c in material if isinstance(c.tag, str) and c is not at and c.tag != "ambient"]
    if rest:
        reader.ignore(
            material, "unused-material", "of a material, the colour alone is in the model", ", ".join(rest[:6])
        )
    rgba = None if at is None else reader.values(at, 3, 4, strict=False)
    if rgba is not None and not all(0.0 <= x <= 1.0 for x in rgba):
        reader.warn(at, "color", "colours are between 0 and 1; it was clipped", reader.text(at), "clip it")
        rgba = tuple(min(max(x, 0.0), 1.0) for x in rgba)
    return rgba
