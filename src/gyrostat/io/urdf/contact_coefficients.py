"""Friction of one collision in a URDF."""

from __future__ import annotations

from gyrostat.io.safe_xml import Element
from gyrostat.io.xml_elements import Reader


def coefficient_of(reader: Reader, collision: Element) -> float | None:
    """mu of <contact_coefficients>, if a collision has it."""
    element = reader.child(collision, "contact_coefficients")
    if element is None:
        return None
    for key in ("kp", "kd"):
        if key in element.attrib:
            what = f"softness of contact ('{key}') is not in the model; contacts are rigid, with the friction given"
            reader.ignore(element, "unused-contact-coefficients", what, repr(element.get(key)))
    mu = reader.scalar(element, "mu", strict=False) if "mu" in element.attrib else None
    if mu is not None and mu < 0.0:
        reader.warn(element, "friction", "friction is not negative; it was left out", f"{mu:g}", "give mu >= 0")
        return None
    return mu
