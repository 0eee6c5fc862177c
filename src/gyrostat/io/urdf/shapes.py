"""Visuals and collisions of a URDF to shapes. What cannot be used is a warning: the dynamics do not depend on it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

from gyrostat.io.mesh_paths import REFERENCE, Roots
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.xml_elements import Reader
from gyrostat.spec.contact_law import ContactSurface
from gyrostat.spec.shape import Shape
from gyrostat.spec.values import Euler

Vector = tuple[float, float, float]
Role = Literal["visual", "collision"]
Color = tuple[float, ...]
ZERO = (0.0, 0.0, 0.0)

MEASURES: dict[str, tuple[tuple[str, int], ...]] = {
    "box": (("size", 3),),
    "cylinder": (("radius", 1), ("length", 1)),
    "capsule": (("radius", 1), ("length", 1)),
    "sphere": (("radius", 1),),
}
"""For each solid its attributes, in the order of a shape's size."""


@dataclass(frozen=True)
class UrdfShape:
    """A visual or collision; ``material`` names a colour that may be elsewhere in the file."""

    element: Element
    role: Role
    kind: Literal["box", "cylinder", "capsule", "sphere", "mesh"]
    size: tuple[float, ...]
    file: str
    xyz: Vector
    rpy: Vector
    color: Color | None
    material: str
    friction: float | None = None


def read_shape(reader: Reader, element: Element, role: Role, roots: Roots) -> UrdfShape | None:
    """One visual or collision, or None if it says nothing that can be drawn."""
    places = [_three(reader, reader.child(element, "origin"), key) for key in ("xyz", "rpy")]
    color, material = _material(reader, reader.child(element, "material"))
    geometry = reader.child(element, "geometry")
    solids = [] if geometry is None else [child for child in geometry if isinstance(child.tag, str)]
    if not solids:
        reader.warn(element, "missing", f"the {role} has no geometry", "nothing", "add a box, cylinder, sphere or mesh")
        return None
    for more in solids[1:]:
        what = f"the {role} has several solids; the first one is taken"
        reader.warn(more, "shape", what, f"<{short(more.tag)}>", f"write one <{role}> for each")
    solid = solids[0]
    size = _size(reader, solid)
    file = _mesh(reader, solid, roots) if solid.tag == "mesh" else ""
    if size is None or (solid.tag == "mesh" and not file):
        return None
    return UrdfShape(element, role, solid.tag, size, file, places[0], places[1], color, material)


def _three(reader: Reader, origin: Element | None, key: str) -> Vector:
    if origin is None or key not in origin.attrib:
        return ZERO
    given = reader.numbers(origin, key, 3, strict=False)
    return ZERO if given is None else (given[0], given[1], given[2])


def _size(reader: Reader, solid: Element) -> tuple[float, ...] | None:
    """The numbers of a solid, the scale of a mesh; None, and a warning, if they make none."""
    if solid.tag == "mesh":
        scale = reader.numbers(solid, "scale", 3, strict=False) if "scale" in solid.attrib else (1.0, 1.0, 1.0)
        if scale is not None and 0.0 in scale:
            what = "the scale of the mesh is zero; the shape was left out"
            reader.warn(solid, "shape", what, repr(solid.get("scale")), "give three factors other than zero")
            return None
        return scale
    if solid.tag not in MEASURES:
        return None  # an unknown tag, told elsewhere
    lengths: list[float] = []
    for key, count in MEASURES[solid.tag]:
        if key not in solid.attrib:
            reader.warn(solid, "shape", f"<{solid.tag}> has no '{key}'; it was left out", "nothing", f"give its {key}")
            return None
        given = reader.numbers(solid, key, count, strict=False)
        if given is None:
            return None
        lengths += given
    if min(lengths) <= 0.0:
        what, given = f"the <{solid.tag}> has no extent; it was left out", " ".join(f"{x:g}" for x in lengths)
        reader.warn(solid, "shape", what, given, "give lengths above zero")
        return None
    return tuple(lengths)


def _mesh(reader: Reader, solid: Element, roots: Roots) -> str:
    """The path of a mesh that is there; otherwise its name as it stands in the file, and a warning."""
    name = solid.get("filename") or ""
    if not name:
        reader.warn(solid, "shape", "the mesh names no file; it was left out", "nothing", 'write filename="..."')
        return ""
    path, told = roots.resolve(name)
    if path is not None:
        return path.as_posix()
    reference = f"file://{name}" if os.path.isabs(name) else name  # a bare path would be one that was found
    if told == REFERENCE:
        return reference
    rule, fix = "mesh-missing", "name the folder that holds it in roots=[...]"
    if "refused" in told:
        rule, fix = "mesh-path", "keep meshes beside the URDF, or name their folder in roots=[...]"
    reader.warn(
        solid, rule, f"the mesh {told}" if told.startswith("is ") else f"the mesh is not found: {told}", repr(name), fix
    )
    return reference


def _material(reader: Reader, element: Element | None) -> tuple[Color | None, str]:
    """Colour and name of a material."""
    if element is None:
        return None, ""
    for texture in element.iterchildren("texture"):
        reader.ignore(texture, "unused-texture", "textures are not in the model", repr(texture.get("filename") or ""))
    color = reader.child(element, "color")
    rgba = None
    if color is not None and "rgba" in color.attrib:
        rgba = reader.numbers(color, "rgba", 4, strict=False)
        if rgba is not None and not all(0.0 <= x <= 1.0 for x in rgba):
            what = "colours are between 0 and 1; it was clipped"
            reader.warn(color, "color", what, repr(color.get("rgba")), "clip it")
            rgba = tuple(min(max(x, 0.0), 1.0) for x in rgba)
    return rgba, element.get("name") or ""


def named_colors(reader: Reader, root: Element, shapes: list[UrdfShape]) -> dict[str, Color]:
    """Colours by the name of their material: those of the robot first, then the first one that a visual gives."""
    colors: dict[str, Color] = {}
    used = {shape.material for shape in shapes}
    for element in root.iterchildren("material"):
        color, name = _material(reader, element)
        if name not in used:
            reader.ignore(element, "unused-material", "no visual uses this material")
        if color is not None and name:
            colors.setdefault(name, color)
    for shape in shapes:
        if shape.color is not None and shape.material:
            colors.setdefault(shape.material, shape.color)
    return colors


def to_shape(shape: UrdfShape, colors: dict[str, Color]) -> Shape:
    """The shape of a body."""
    color = shape.color or colors.get(shape.material)
    place: dict[str, Any] = {"translation": shape.xyz, "rotation": Euler(euler=shape.rpy)}
    if shape.friction is not None:
        place["contact"] = ContactSurface(friction=shape.friction)
    return Shape(kind=shape.kind, size=shape.size, file=shape.file, color=color, role=shape.role, **place)
