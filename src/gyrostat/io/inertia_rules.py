"""Which masses and inertias of a link cannot be, and which are odd."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

import numpy as np

from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import Reader
from gyrostat.spec.rules import LEAST, ROUNDING

MOMENTS = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")

NOISE = 1e-12
"""Inertia per mass [m^2], a radius of gyration of 1 um: below, an unphysical inertia is taken as zero."""

SMALL_PARTS = re.compile(
    r"finger|thumb|phalan|knuckle|fingertip|camera|imu|lidar|sensor|antenna|optical", re.IGNORECASE
)
SMALL_MASS, LARGE_MASS = 5.0, 1000.0
UNITS = (("g mm^2", 1e-9), ("kg mm^2", 1e-6), ("kg cm^2", 1e-4))


@dataclass
class LinkInertia:
    """Mass [kg] and inertia [kg m^2] of a link as a file gives them; the inertia is about the centre of mass, in the
    axes of the inertial's origin."""

    name: str
    element: Element
    mass: float = 0.0
    moments: tuple[float, ...] = (0.0,) * 6  # as MOMENTS
    places: dict[str, Element] = field(default_factory=dict)  # property -> element
    readable: bool = True  # whether every number was

    def at(self, *keys: str) -> Element:
        """The element of the first of these properties that is there."""
        return next((self.places[key] for key in keys if key in self.places), self.element)


def matrix(link: LinkInertia) -> np.ndarray:
    """The inertia (3, 3) in the axes of the inertial's origin."""
    xx, xy, xz, yy, yz, zz = link.moments
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def check_inertia(reader: Reader, link: LinkInertia) -> bool:
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


def _large_enough(reader: Reader, link: LinkInertia) -> bool:
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


def _without_mass(reader: Reader, link: LinkInertia) -> bool:
    given = f"mass 0 kg, inertia up to {max(map(abs, link.moments)):g} kg m^2"
    fix = "give the mass in kg, or take the inertial out"
    mended = reader.wrong(
        link.at("mass"), "inertia-without-mass", "has inertia but no mass", given, fix, "the inertia was taken as zero"
    )
    if mended:
        link.moments = (0.0,) * 6
    return mended


def _check_moments(reader: Reader, link: LinkInertia, scale: float, low: float, mid: float, high: float) -> bool:
    element = link.at("inertia")
    moments = f"principal moments {low:.6g}, {mid:.6g}, {high:.6g} kg m^2"
    negative, lacking = low < -ROUNDING * scale, high - low - mid
    if not negative and lacking <= ROUNDING * scale:
        if lacking > 4.0 * np.finfo(float).eps * scale:
            what = "the triangle inequality of the inertia is violated within rounding"
            reader.warn(element, "inertia-rounding", what, moments, "give more digits")
        elif low <= ROUNDING * scale:
            what = "one principal moment of inertia is zero: an infinitely thin rod"
            reader.warn(element, "inertia-rod", what, moments, "give its moment about the long axis")
        return True
    if scale <= NOISE * link.mass:
        what = f"the inertia is rounding noise for {link.mass:g} kg; it was taken as zero"
        reader.warn(element, "inertia-noise", what, moments, "give its moments of inertia")
        link.moments = (0.0,) * 6
        return True
    if negative:
        rule, what = "inertia-positive", "the inertia must be positive"
        fix = "check signs and the order of the entries; moments refer to the centre of mass"
    else:
        rule = "inertia-triangle"
        what = f"the inertia violates the triangle inequality, {low + mid:.6g} < {high:.6g}"
        fix = "no distribution of mass has such moments; check units, and that they refer to the centre of mass"
    if reader.wrong(element, rule, what, moments, fix, "replaced by the nearest possible one"):
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


def _check_mass(reader: Reader, link: LinkInertia) -> None:
    mass = f"{link.mass:g} kg"
    if link.mass > LARGE_MASS:
        reader.warn(link.at("mass"), "mass-units", "is very heavy; is its mass in grams?", mass, "write kg")
    elif link.mass > SMALL_MASS and SMALL_PARTS.search(link.name):
        what = "is heavy for what its name says; is its mass in grams?"
        reader.warn(link.at("mass"), "mass-units", what, mass, "write kg")


def _check_units(reader: Reader, link: LinkInertia, high: float) -> None:
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
