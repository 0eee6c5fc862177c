"""<link> of an SDF: mass, inertia and shapes; every number is read."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gyrostat.io.inertia_rules import MOMENTS, LinkInertia, matrix
from gyrostat.io.mesh_paths import Roots
from gyrostat.io.safe_xml import Element
from gyrostat.io.sdf.document import Document, Part
from gyrostat.io.sdf.frames import read_pose
from gyrostat.io.sdf.shapes import Role, read_shape
from gyrostat.io.sdf.source import SdfReader
from gyrostat.io.xml_elements import shown
from gyrostat.spec.rigid_body import RigidBody
from gyrostat.spec.shape import Shape

SMALLEST, LARGEST_SIZE = 1e-9, 1e9
"""Lengths [m] and densities [kg/m^3] between which inertias of solids are computed."""

WATER = 1000.0
"""The density [kg/m^3] that SDF takes where none is said."""


@dataclass
class SdfLink(LinkInertia):
    """A link: centre of mass ``com`` [m] and orientation ``R`` of its inertial, and its shapes."""

    com: np.ndarray = field(default_factory=lambda: np.zeros(3))
    R: np.ndarray = field(default_factory=lambda: np.eye(3))
    shapes: list[Shape] = field(default_factory=list)

    @property
    def inertia(self) -> np.ndarray:
        """(3, 3) about the centre of mass, in the axes of the link: R I R^T."""
        I = matrix(self)
        if np.array_equal(self.R, np.eye(3)):
            return I
        I = self.R @ I @ self.R.T
        return (I + I.T) / 2.0


def read_link(document: Document, part: Part, roots: Roots) -> SdfLink:
    """One link with its mass and shapes."""
    reader, element = document.reader, part.element
    link = SdfLink(part.name, element)
    roles: tuple[Role, Role] = ("visual", "collision")
    densities: list[tuple[Element, Shape | None]] = []
    for role in roles:
        for child in element.iterchildren(role):
            shape = read_shape(reader, child, role, document.frames, part.scope, part.name, roots)
            link.shapes += [shape] if shape is not None else []
            densities += [(child, shape)] if role == "collision" else []
    inertial = reader.child(element, "inertial")
    if inertial is None:
        link.mass, link.moments = 1.0, (1.0, 0.0, 0.0, 1.0, 0.0, 1.0)
        if not part.static:
            what = "has no <inertial>; 1 kg and 1 kg m^2 about every axis are taken, as SDF says"
            reader.warn(element, "inertial-missing", what, "nothing", "add <inertial>")
    else:
        _inertial(reader, inertial, link, densities)
    _forces(reader, element)
    return link


def _inertial(
    reader: SdfReader, inertial: Element, link: SdfLink, collisions: list[tuple[Element, Shape | None]]
) -> None:
    link.places["inertial"] = inertial
    (link.R, link.com), relative, pose = read_pose(reader, inertial)
    if relative:
        what = "the pose of an inertial is seen from its link, and nothing else"
        reader.error(pose, "unknown-frame", what, repr(relative[:60]), "take relative_to out")
    if pose is not None:
        link.places["com"] = pose
    if reader.truth_of(inertial, inertial.get("auto", "false"), False):
        _of_collisions(reader, inertial, link, collisions)
        return
    mass, inertia = reader.child(inertial, "mass"), reader.child(inertial, "inertia")
    for tag, element in (("mass", mass), ("inertia", inertia)):
        if element is not None:
            link.places[tag] = element
        else:
            unit = "1 kg" if tag == "mass" else "1 kg m^2 about every axis"
            what = f"<inertial> has no <{tag}>; {unit} is taken, as SDF says"
            reader.warn(inertial, "inertial-missing", what, "nothing", f"add <{tag}>")
    value = reader.value(inertial, "mass", 1.0)
    moments = [
        float(k[1] == k[2]) if inertia is None else reader.value(inertia, k, float(k[1] == k[2])) for k in MOMENTS
    ]
    link.readable = value is not None and None not in moments
    link.mass, link.moments = value or 0.0, tuple(x or 0.0 for x in moments)


def _of_collisions(
    reader: SdfReader, inertial: Element, link: SdfLink, collisions: list[tuple[Element, Shape | None]]
) -> None:
    """``auto``: mass, centre and inertia of the solids that a link collides with, each of its density."""
    for tag in ("pose", "mass", "inertia"):
        if (given := reader.child(inertial, tag)) is not None:
            what = f"<{tag}> beside auto is passed over: it follows from the collisions"
            reader.ignore(given, "unused-inertial", what, reader.text(given))
    usual = reader.value(inertial, "density", WATER)
    mass, moment, second = 0.0, np.zeros(3), np.zeros((3, 3))
    link.readable = usual is not None
    for element, shape in collisions:
        density = reader.value(element, "density", usual or WATER)
        if shape is None or shape.kind == "mesh" or density is None or density <= 0.0:
            what = "inertias are computed from boxes, cylinders, spheres, capsules and ellipsoids with density alone"
            reader.error(element, "auto-inertia", what, shown(element), "give <mass> and <inertia>, without auto")
            link.readable = False
            continue
        if not all(SMALLEST < x < LARGEST_SIZE for x in (*shape.size, density)):
            what = f"its inertia needs lengths and a density between {SMALLEST:g} and {LARGEST_SIZE:g}"
            reader.error(element, "auto-inertia", what, f"{shape.size}, {density:g}", "write metres and kg/m^3")
            link.readable = False
            continue
        solid = RigidBody.from_shape("solid", shape, density=density)
        I, c = np.array(solid.inertia), np.array(solid.com)
        mass, moment = mass + solid.mass, moment + solid.mass * c
        second += I + solid.mass * (c @ c * np.eye(3) - np.outer(c, c))
    if not collisions:
        what, fix = (
            "its inertia is that of its collisions, and it has none",
            "add a <collision>, or give <mass> and <inertia>",
        )
        reader.error(inertial, "auto-inertia", what, 'auto="true"', fix)
        link.readable = False
    if link.readable:
        c = moment / mass
        I = second - mass * (c @ c * np.eye(3) - np.outer(c, c))
        link.mass, link.com, link.R = mass, c, np.eye(3)
        link.moments = tuple(float(I["xyz".index(k[1]), "xyz".index(k[2])]) for k in MOMENTS)


def _forces(reader: SdfReader, element: Element) -> None:
    """What would move a link otherwise than this model says."""
    gravity = reader.child(element, "gravity")
    if not reader.truth(gravity, default=True):
        what = "a link without gravity is not in the model: it falls like the others"
        reader.wrong(
            gravity, "link-gravity", what, reader.text(gravity), "take it out, or compensate its weight", left_out=True
        )
    decay = reader.child(element, "velocity_decay")
    values = [] if decay is None else [reader.value(decay, key, 0.0) for key in ("linear", "angular")]
    if any(values):
        what = "the decay of its velocity is not in the model"
        reader.wrong(
            decay,
            "unused-velocity-decay",
            what,
            ", ".join(f"{x:g}" for x in values if x is not None),
            "take it out",
            left_out=True,
        )
