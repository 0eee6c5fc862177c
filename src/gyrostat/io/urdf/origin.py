"""<origin> of a URDF: where something is, and how it is turned."""

from __future__ import annotations

import math

from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import Reader

TURN = 2.0 * math.pi * 1.001
"""A little more than a whole turn [rad]: angles beyond may be degrees."""

FAR = 10.0
"""Distances [m] between joints that may be in other units."""

Vector = tuple[float, float, float]
ZERO: Vector = (0.0, 0.0, 0.0)


def read_origin(reader: Reader, owner: Element, far: float = FAR) -> tuple[Vector, Vector, Element | None]:
    """xyz [m] and rpy [rad] of the origin within an element."""
    element = reader.child(owner, "origin")
    if element is None:
        return ZERO, ZERO, None
    xyz, rpy = (_three(reader, element, key) for key in ("xyz", "rpy"))
    if max(map(abs, rpy)) > TURN:
        fix = f"write radians: {' '.join(f'{math.radians(x):.6g}' for x in rpy)}"
        reader.warn(element, "rpy-degrees", "rpy is more than a turn; is it in degrees?", repr(element.get("rpy")), fix)
    if math.hypot(*xyz) > far:
        what = f"the origin is {math.hypot(*xyz):.4g} m away; is it in millimetres?"
        reader.warn(element, "far-origin", what, repr(element.get("xyz")), "write metres")
    return xyz, rpy, element


def _three(reader: Reader, element: Element, key: str) -> Vector:
    given = reader.numbers(element, key, 3) if key in element.attrib else ZERO
    return ZERO if given is None else (given[0], given[1], given[2])
