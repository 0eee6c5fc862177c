"""Forces and motions of an MJCF that are not in the model: fluids, tendons, compensation of gravity."""

from __future__ import annotations

from typing import Any

import numpy as np

from gyrostat.io.mjcf.defaults import elements_of
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.xml_elements import shown

USED_OPTIONS = ("gravity", "density", "viscosity", "wind", "magnetic")
"""Attributes of <option> about which something is said elsewhere, or that change nothing."""


def check_options(reader: MjcfReader, spec: Any) -> None:
    """Fluids are forces that are missing; the rest concerns MuJoCo's own simulation."""
    option, root = spec.option, reader.source.root
    elements = list(root.iterchildren("option"))
    at = elements[-1] if elements else root
    moves = any(root.find(f"worldbody//{tag}") is not None for tag in ("joint", "freejoint"))
    if moves and (option.density > 0.0 or option.viscosity > 0.0):
        what = "forces of the fluid around the bodies are not in the model"
        fluid = f"density {option.density:g} kg/m^3, viscosity {option.viscosity:g} Pa s"
        reader.wrong(at, "fluid", what, fluid, "set both to zero, or add the forces yourself", left_out=True)
    for element in elements:
        if any(key not in USED_OPTIONS for key in element.attrib) or len(element):
            what = "settings of MuJoCo's simulation are not in the model, but for gravity and switched-off forces"
            reader.ignore(element, "unused-option", what, shown(element))


def check_tendons(reader: MjcfReader, spec: Any) -> None:
    """Tendons with forces of their own; the others only guide actuators and sensors."""
    for tendon, element in zip(spec.tendons, elements_of(reader, spec.tendons), strict=True):
        forces = {
            "stiffness": float(np.abs(tendon.stiffness).max()),
            "damping": float(np.abs(tendon.damping).max()),
            "frictionloss": float(tendon.frictionloss),
            "armature": float(tendon.armature),
        }
        there = ", ".join(f"{key} {value:g}" for key, value in forces.items() if value)
        if there:
            what = "forces of tendons are not in the model"
            reader.wrong(element, "tendon", what, there, "set them to zero, or add the forces yourself", left_out=True)
        else:
            what = "tendons are not in the model (this one has no passive forces)"
            reader.ignore(element, "unused-tendon", what, shown(element, "limited", "range"))


def check_compensation(reader: MjcfReader, spec: Any) -> None:
    """Bodies whose weight is compensated, or that the user moves."""
    bodies = list(zip(spec.bodies, elements_of(reader, spec.bodies), strict=True))
    for body, element in bodies[1:]:  # the first is the world
        if body.gravcomp:
            what, fix = "compensation of gravity is not in the model", "take it out, and add the forces"
            reader.wrong(element, "gravcomp", what, f"gravcomp {body.gravcomp:g}", fix, left_out=True)
        if body.mocap:
            what = "is moved by the user (mocap); it stands still in the model"
            reader.warn(element, "mocap", what, 'mocap="true"')
