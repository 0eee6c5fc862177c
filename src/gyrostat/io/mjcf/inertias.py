"""<inertial> of an MJCF: which masses and inertias cannot be, and what replaces them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from gyrostat.io.inertia_rules import LinkInertia, check_inertia
from gyrostat.io.mjcf.defaults import elements_of
from gyrostat.io.mjcf.source import MjcfReader
from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import shown


@dataclass(frozen=True)
class Inertial:
    """Mass and inertia of a body as they replace those of the file, in the axes of its inertial frame."""

    mass: float
    moments: tuple[float, ...]  # xx, xy, xz, yy, yz, zz
    full: bool  # written as fullinertia
    unphysical: bool  # kept as it is, though no body has it


def check_inertias(reader: MjcfReader, mujoco: Any, spec: Any) -> dict[int, Inertial]:
    """Findings about every body; the inertias that are not as in the file, by place in the list of bodies."""
    changed: dict[int, Inertial] = {}
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    bodies = list(enumerate(zip(spec.bodies, elements_of(reader, spec.bodies), strict=True)))
    for k, (body, element) in bodies[1:]:  # the first is the world
        given = element.find("inertial")
        if not body.explicitinertial or given is None:
            continue
        if from_geoms:
            what = "<inertial> is passed over, since inertiafromgeom is true"
            reader.ignore(given, "unused-inertial", what, shown(given))
            continue
        inertial = _inertial(reader, body, element, given, spec.compiler)
        if inertial is not None:
            changed[k] = inertial
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
    link = LinkInertia(element.get("name") or "", inertial, bounded, moments, places)
    fine = check_inertia(reader, link)
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
