"""Friction of collisions in a URDF: ``<contact_coefficients mu="...">`` of a collision, and ``<mu1>``, ``<mu2>`` of a
link in ``<gazebo reference="link">``, where they are the same: friction that differs by direction is not in the
model."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.links import UrdfLink
from gyrostat.io.xml_elements import Reader, shown

BOTH = ("mu1", "mu2")


def gazebo_frictions(reader: Reader, root: Element) -> dict[str, float]:
    """Friction of links by name; what else is said there is ignored, and told."""
    found: dict[str, float] = {}
    for part in root.iterchildren("gazebo"):
        mu, link = _of(part), part.get("reference")
        if mu is None or link is None:
            reader.ignore(part, "unused-gazebo", "settings for Gazebo are not in the model", shown(part))
            continue
        found[link] = mu
        if any(isinstance(x.tag, str) and x.tag not in BOTH for x in part):
            reader.ignore(part, "unused-gazebo", "of settings for Gazebo only mu1 and mu2 are in the model", repr(link))
    return found


def _of(part: Element) -> float | None:
    """mu1 and mu2, if both are there and the same."""
    texts = [[x.text or "" for x in part.iterchildren(tag)] for tag in BOTH]
    if [len(x) for x in texts] != [1, 1]:
        return None
    try:
        one, two = (float(x[0]) for x in texts)
    except ValueError:
        return None
    return one if one == two and math.isfinite(one) and 0.0 <= one <= 1e12 else None


def with_frictions(links: Iterable[UrdfLink], frictions: dict[str, float]) -> None:
    """Collisions without a friction of their own take that of their link."""
    for link in links:
        mu = frictions.get(link.name)
        if mu is not None:
            link.shapes = [
                replace(x, friction=mu) if x.role == "collision" and x.friction is None else x for x in link.shapes
            ]
