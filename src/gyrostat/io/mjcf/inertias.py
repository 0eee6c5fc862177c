"""What of an MJCF file makes the motion another one than that of its tree of bodies, and which inertias cannot be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from gyrostat.io.inertia_rules import check_link
from gyrostat.io.mjcf.compile import elements_of
from gyrostat.io.mjcf.source import MjcfReader, attributes
from gyrostat.io.urdf.joints import UrdfLink
from gyrostat.io.xml import Element

TAKEN = ("gravity", "density", "viscosity", "wind", "magnetic")


@dataclass(frozen=True)
class Inertial:
    """Mass and inertia of a body as they replace those of the file, in the axes of its inertial frame."""

    mass: float
    moments: tuple[float, ...]  # xx, xy, xz, yy, yz, zz
    full: bool  # written as fullinertia
    unphysical: bool  # kept as it is, though no body has it


def check_options(reader: MjcfReader, spec: Any) -> None:
    """Fluids are forces that are missing; the rest concerns MuJoCo's own simulation."""
    option, root = spec.option, reader.source.root
    elements = list(root.iterchildren("option"))
    at = elements[-1] if elements else root
    moves = any(root.find(f"worldbody//{tag}") is not None for tag in ("joint", "freejoint"))
    if moves and (option.density > 0.0 or option.viscosity > 0.0):
        what = "forces of the fluid around the bodies are not in the model"
        found = f"density {option.density:g} kg/m^3, viscosity {option.viscosity:g} Pa s"
        reader.wrong(at, "fluid", what, found, "set both to zero, or add the forces yourself", left_out=True)
    for element in elements:
        if any(key not in TAKEN for key in element.attrib) or len(element):
            what = "settings of MuJoCo's simulation are not in the model, but for gravity and switched-off forces"
            reader.ignore(element, "unused-option", what, attributes(element))


def check_contact(reader: MjcfReader, mujoco: Any, spec: Any) -> None:
    """One finding for all geoms that can touch another one."""
    off = mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    world = reader.source.root.find("worldbody")
    if world is None or int(spec.option.disableflags) & int(off):
        return
    count = sum(1 for geom in spec.geoms if geom.contype or geom.conaffinity)
    if count > 1:
        reader.ignore(world, "unused-contact", "contact is not in the model", f"{count} geoms that can touch")


def check_bodies(reader: MjcfReader, mujoco: Any, spec: Any) -> dict[int, Inertial]:
    """Findings about every body; the inertias that are not as in the file, by place in the list of bodies."""
    changed: dict[int, Inertial] = {}
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    for k, (body, element) in enumerate(zip(spec.bodies, elements_of(reader, spec.bodies), strict=True)):
        if k == 0:
            continue
        if body.gravcomp:
            what = "compensation of gravity is not in the model"
            reader.wrong(
                element,
                "gravcomp",
                what,
                f"gravcomp {body.gravcomp:g}",
                "take it out, and add the forces",
                left_out=True,
            )
        if body.mocap:
            what = "is moved by the user (mocap); it stands still in the model"
            reader.warn(element, "mocap", what, 'mocap="true"')
        inertial = element.find("inertial")
        if not body.explicitinertial or inertial is None:
            continue
        if from_geoms:
            what = "<inertial> is passed over, since inertiafromgeom is true"
            reader.ignore(inertial, "unused-inertial", what, attributes(inertial))
            continue
        found = _inertial(reader, body, element, inertial, spec.compiler)
        if found is not None:
            changed[k] = found
    return changed


def _inertial(reader: MjcfReader, body: Any, element: Element, inertial: Element, compiler: Any) -> Inertial | None:
    """The rules of masses and inertias; None if the numbers of the file stay."""
    full = not math.isnan(body.fullinertia[0])
    if full:
        xx, yy, zz, xy, xz, yz = (float(x) for x in body.fullinertia)
        moments = (xx, xy, xz, yy, yz, zz)
    else:
        xx, yy, zz = (float(x) for x in body.inertia)
        moments = (xx, 0.0, 0.0, yy, 0.0, zz)
    bounded = max(float(body.mass), compiler.boundmass) if compiler.boundmass > 0.0 else float(body.mass)
    moments = _bounded(moments, compiler)
    places: dict[str, Element] = {"inertial": inertial, "mass": inertial, "inertia": inertial}
    link = UrdfLink(element.get("name") or "", inertial, bounded, (0.0, 0.0, 0.0), moments=moments, places=places)
    fine = check_link(reader, link)
    if fine and (link.mass, link.moments) == (bounded, moments):
        return None
    return Inertial(link.mass, link.moments, full, not fine)


def _bounded(moments: tuple[float, ...], compiler: Any) -> tuple[float, ...]:
    """What boundinertia and balanceinertia make of principal moments; others are MuJoCo's to judge."""
    xx, xy, xz, yy, yz, zz = moments
    if xy or xz or yz:
        return moments
    d = [max(x, compiler.boundinertia) if compiler.boundinertia > 0.0 else x for x in (xx, yy, zz)]
    if compiler.balanceinertia and 2.0 * max(d) > sum(d):
        d = [sum(d) / 3.0] * 3
    return d[0], 0.0, 0.0, d[1], 0.0, d[2]


def give_inertias(spec: Any, changed: dict[int, Inertial]) -> None:
    """Put changed inertias into MuJoCo's specification; in place of those that it would refuse, ones."""
    bodies = list(spec.bodies)
    for k, inertial in changed.items():
        body = bodies[k]
        if inertial.unphysical:
            body.mass, body.inertia, body.fullinertia = 1.0, [1.0, 1.0, 1.0], [math.nan] * 6
            continue
        body.mass = inertial.mass
        if inertial.full or any(inertial.moments[i] for i in (1, 2, 4)):
            xx, xy, xz, yy, yz, zz = inertial.moments
            body.fullinertia = [xx, yy, zz, xy, xz, yz]
        else:
            body.inertia = [inertial.moments[i] for i in (0, 3, 5)]


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
            reader.ignore(element, "unused-tendon", what, attributes(element, "limited", "range"))
