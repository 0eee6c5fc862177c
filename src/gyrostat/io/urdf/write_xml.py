"""Elements of URDF: origins, inertias, shapes. Numbers are written so that they are read back exactly."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from lxml import etree  # pyright: ignore[reportAttributeAccessIssue]  # it has no types

from gyrostat.geometry.rotation import about_coordinate
from gyrostat.graph.lower import Values, rotation
from gyrostat.spatial.algebra import Array
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

Element = Any


def new(tag: str, **attributes: str) -> Element:
    """An element without parent."""
    return etree.Element(tag, attributes)


def put(parent: Element, tag: str, **attributes: str) -> Element:
    """A new element inside another."""
    return etree.SubElement(parent, tag, attributes)


def text_of(root: Element) -> str:
    """The document, one element in each line."""
    etree.indent(root, "  ")
    return '<?xml version="1.0" encoding="utf-8"?>\n' + etree.tostring(root, encoding="unicode") + "\n"


def numbers(values: Iterable[Any]) -> str:
    """Numbers as text, each the shortest that is read back as the same number; no negative zeros."""
    return " ".join(repr(float(x) + 0.0) for x in values)


def roll_pitch_yaw(R: Array) -> tuple[float, float, float]:
    """Angles with R = Rz(yaw) Ry(pitch) Rx(roll), exact to rounding also where roll and yaw are not unique.

    The roll is taken out of R before the others are read off, so that they make up for what it lacks."""
    roll = math.atan2(R[2, 1], R[2, 2])
    M = R @ about_coordinate(0, roll).T  # Rz(yaw) Ry(pitch)
    return roll, math.atan2(-M[2, 0], M[2, 2]), math.atan2(-M[0, 1], M[1, 1])


def add_origin(parent: Element, R: Array, p: Array) -> None:
    """<origin>, unless there is nothing to say."""
    turned = not np.array_equal(R, np.eye(3))
    if turned or np.any(p):
        angles = [float(f"{angle:.15g}") for angle in roll_pitch_yaw(R)] if turned else []  # exact to rounding as well
        values = {"xyz": numbers(p)} | ({"rpy": numbers(angles)} if turned else {})
        put(parent, "origin", **values)


def inertial(link: Element, body: RigidBody) -> None:
    """<inertial> in the axes of the link."""
    element = put(link, "inertial")
    if any(body.com):
        put(element, "origin", xyz=numbers(body.com))
    put(element, "mass", value=repr(body.mass))
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = body.inertia
    moments = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
    put(element, "inertia", **{key: repr(float(value) + 0.0) for key, value in moments.items()})


def add_shapes(link: Element, name: str, shapes: Iterable[Shape], mesh: Callable[[str], str]) -> list[Shape]:
    """<visual> and <collision>; returns the shapes that URDF does not have. A capsule is a cylinder and two balls."""
    left: list[Shape] = []
    for k, shape in enumerate(shapes):
        if shape.kind in ("ellipsoid", "height-field"):
            left.append(shape)
            continue
        R, p = rotation(Values("", shape.rotation, {}), []), np.array(shape.translation)
        for place, tag, values in _solids(shape, mesh):
            element = put(link, shape.role)
            add_origin(element, R, p + R @ place)
            put(put(element, "geometry"), tag, **values)
            if shape.color is not None and shape.role == "visual":
                put(put(element, "material", name=f"{name}_{k}"), "color", rgba=numbers(shape.color))
    return left


def _solids(shape: Shape, mesh: Callable[[str], str]) -> list[tuple[Array, str, dict[str, str]]]:
    """(place of the middle in the shape, tag, attributes) of the solids that make up a shape."""
    here, size = np.zeros(3), shape.size
    if shape.kind == "box":
        return [(here, "box", {"size": numbers(size)})]
    if shape.kind == "sphere":
        return [(here, "sphere", {"radius": repr(size[0])})]
    if shape.kind == "mesh":
        scale = {} if size == (1.0, 1.0, 1.0) else {"scale": numbers(size)}
        return [(here, "mesh", {"filename": mesh(shape.file)} | scale)]
    radius, length = size
    middle = [(here, "cylinder", {"radius": repr(radius), "length": repr(length)})]
    if shape.kind == "cylinder":
        return middle
    ends = [np.array([0.0, 0.0, z]) for z in (-length / 2.0, length / 2.0)]
    return middle + [(end, "sphere", {"radius": repr(radius)}) for end in ends]
