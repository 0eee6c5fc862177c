"""Which masses and inertias of a URDF cannot be, and which are odd."""

from __future__ import annotations

import math
import re

import numpy as np

from gyrostat.io.urdf.joints import MOMENTS, Robot, UrdfLink
from gyrostat.io.urdf.tree import Tree
from gyrostat.io.xml import Reader
from gyrostat.spec.rules import LEAST, ROUNDING

NOISE = 1e-12
"""Inertia per mass [m^2], a radius of gyration of 1 um: below, an unphysical inertia is taken as zero."""

SMALL_PARTS = re.compile(
    r"finger|thumb|phalan|knuckle|fingertip|camera|imu|lidar|sensor|antenna|optical", re.IGNORECASE
)
SMALL_MASS, LARGE_MASS = 5.0, 1000.0
UNITS = (("g mm^2", 1e-9), ("kg mm^2", 1e-6), ("kg cm^2", 1e-4))


def matrix(link: UrdfLink) -> np.ndarray:
    """The inertia (3, 3) in the axes of the inertial's origin."""
    xx, xy, xz, yy, yz, zz = link.moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def check_link(reader: Reader, link: UrdfLink) -> bool:
    """Findings about mass and inertia of one link; False if they are unphysical and were left so."""
    if not link.readable or "inertial" not in link.places:
        return True
    if link.mass < 0.0:
        element = link.at("mass")
        reader.error(element, "mass", "the mass must not be negative", f"{link.mass:g} kg", "give the mass in kg")
        return False
    if not _large_enough(reader, link):
        return False
    scale = max(map(abs, link.moments))
    if link.mass == 0.0:
        return scale == 0.0 or _without_mass(reader, link)
    _check_mass(reader, link)
    if scale == 0.0:
        what = f"has a mass of {link.mass:g} kg but no inertia: a point mass"
        reader.warn(link.at("inertia"), "point-mass", what, "0", "give its moments of inertia")
        return True
    low, mid, high = (float(x) * scale for x in np.linalg.eigvalsh(matrix(link) / scale))
    fine = _check_moments(reader, link, scale, low, mid, high)
    if fine:
        _check_units(reader, link, high)
    return fine


def _large_enough(reader: Reader, link: UrdfLink) -> bool:
    """Rules ``mass-small`` and ``inertia-small``; False if such numbers are left."""
    fine, moments = True, max(map(abs, link.moments))
    for key, value, unit in (("mass", link.mass, "kg"), ("inertia", moments, "kg m^2")):
        if not 0.0 < value < LEAST:
            continue
        what, fix = f"the {key} is less than that of an atom", f"give it in {unit}, or zero"
        mended = reader.wrong(link.at(key), f"{key}-small", what, f"{value:g} {unit}", fix, "taken as zero")
        if mended and key == "mass":
            link.mass = 0.0
        elif mended:
            link.moments = (0.0,) * 6
        fine &= mended
    return fine


def _without_mass(reader: Reader, link: UrdfLink) -> bool:
    found = f"mass 0 kg, inertia up to {max(map(abs, link.moments)):g} kg m^2"
    fix = "give the mass in kg, or take the inertial out"
    mended = reader.wrong(
        link.at("mass"), "inertia-without-mass", "has inertia but no mass", found, fix, "the inertia was taken as zero"
    )
    if mended:
        link.moments = (0.0,) * 6
    return mended


def _check_moments(reader: Reader, link: UrdfLink, scale: float, low: float, mid: float, high: float) -> bool:
    element = link.at("inertia")
    found = f"principal moments {low:.6g}, {mid:.6g}, {high:.6g} kg m^2"
    negative, lacking = low < -ROUNDING * scale, high - low - mid
    if not negative and lacking <= ROUNDING * scale:
        if lacking > 4.0 * np.finfo(float).eps * scale:
            what = "the triangle inequality of the inertia is violated within rounding"
            reader.warn(element, "inertia-rounding", what, found, "give more digits")
        elif low <= ROUNDING * scale:
            what = "one principal moment of inertia is zero: an infinitely thin rod"
            reader.warn(element, "inertia-rod", what, found, "give its moment about the long axis")
        return True
    if scale <= NOISE * link.mass:
        what = f"the inertia is rounding noise for {link.mass:g} kg; it was taken as zero"
        reader.warn(element, "inertia-noise", what, found, "give its moments of inertia")
        link.moments = (0.0,) * 6
        return True
    if negative:
        rule, what = "inertia-positive", "the inertia must be positive"
        fix = "check signs and the order of the entries; moments refer to the centre of mass"
    else:
        rule = "inertia-triangle"
        what = f"the inertia violates the triangle inequality, {low + mid:.6g} < {high:.6g}"
        fix = "no distribution of mass has such moments; check units, and that they refer to the centre of mass"
    if reader.wrong(element, rule, what, found, fix, "replaced by the nearest possible one"):
        link.moments = nearest_moments(matrix(link))
        return True
    return False


def nearest_moments(I: np.ndarray) -> tuple[float, ...]:
    """Moments of the nearest distribution of mass.

    The second moments S = tr(I)/2 1 - I of a body have no negative eigenvalue; those that are negative become zero,
    and I = tr(S) 1 - S.
    """
    values, axes = np.linalg.eigh(np.trace(I) / 2.0 * np.eye(3) - I)
    S = (axes * np.maximum(values, 0.0)) @ axes.T
    J = np.trace(S) * np.eye(3) - S
    return tuple(float(J["xyz".index(k[1]), "xyz".index(k[2])]) for k in MOMENTS)


def _check_mass(reader: Reader, link: UrdfLink) -> None:
    found = f"{link.mass:g} kg"
    if link.mass > LARGE_MASS:
        reader.warn(link.at("mass"), "mass-units", "is very heavy; is its mass in grams?", found, "write kg")
    elif link.mass > SMALL_MASS and SMALL_PARTS.search(link.name):
        what = "is heavy for what its name says; is its mass in grams?"
        reader.warn(link.at("mass"), "mass-units", what, found, "write kg")


def _check_units(reader: Reader, link: UrdfLink, high: float) -> None:
    radius = math.sqrt(high / link.mass)
    if radius <= 1.0:
        if high <= NOISE * link.mass:
            what = f"has a mass of {link.mass:g} kg and hardly any inertia: a radius of gyration of {radius:.2g} m"
            reader.warn(link.at("inertia"), "point-mass", what, f"{high:g} kg m^2", "give its moments of inertia")
        return
    guess = (
        next((u for u, factor in UNITS if 1e-3 <= radius * math.sqrt(factor) <= 0.3), None) if radius > 3.0 else None
    )
    what = f"the inertia is large for {link.mass:g} kg: a radius of gyration of {radius:.4g} m"
    fix = f"write kg m^2; it looks like {guess}" if guess else "write kg m^2, about the centre of mass"
    reader.warn(link.at("inertia"), "inertia-units", what, f"{high:g} kg m^2", fix)


def check_masses(reader: Reader, robot: Robot, tree: Tree, free: bool) -> set[str]:
    """Findings about mass along the tree. The links without mass, nor any beyond, that move nevertheless."""
    group, own, beyond = tree.carried(robot)
    left: set[str] = set()
    for name in tree.order:
        link, first = robot.links[name], group[name]
        if first == tree.root or own[first] > 0.0 or not link.readable:
            continue
        joint, element = tree.above[first], link.at("mass", "inertial")
        if beyond[first] > 0.0:
            if name == first:
                what = f"moves by joint '{joint.name}' and has no mass of its own; links beyond have"
                reader.warn(element, "massless-link", what, "mass 0 kg", "")
            continue
        what = f"moves by joint '{joint.name}', but neither it nor anything beyond has mass"
        fix = "give its mass and inertia, or make the joint fixed"
        if reader.wrong(element, "moving-massless", what, "mass 0 kg", fix, f"joint '{joint.name}' made fixed"):
            joint.kind, joint.axis = "fixed", None
        else:
            left.add(name)
    if free and beyond[tree.root] == 0.0 and not left:
        element = robot.links[tree.root].element
        what, fix = "is the free base, but nothing in the file has mass", "give masses, or fix the base"
        reader.error(element, "moving-massless", what, "mass 0 kg", fix)
    _check_ratios(reader, robot, tree, group, own, beyond)
    return left


def _check_ratios(
    reader: Reader, robot: Robot, tree: Tree, group: dict[str, str], own: dict[str, float], beyond: dict[str, float]
) -> None:
    """The last of a chain is seldom far heavier than what carries it."""
    for name, mass in own.items():
        if name == tree.root or mass != beyond[name]:
            continue
        carrier = group[tree.above[name].parent]
        if carrier != tree.root and mass > SMALL_MASS and own[carrier] > 0.01 and mass > 20.0 * own[carrier]:
            link = robot.links[name]
            what = f"is at the end of a chain and {mass / own[carrier]:.3g} times as heavy as link '{carrier}'"
            reader.warn(link.at("mass", "inertial"), "mass-ratio", what, f"{mass:g} kg", "check that it is in kg")
