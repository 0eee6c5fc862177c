"""<limit> of a URDF joint: range, rate and effort."""

from __future__ import annotations

from collections.abc import Mapping

from gyrostat.io.safe_xml import Element
from gyrostat.io.urdf.origin import TURN
from gyrostat.io.xml_elements import Reader, accepted, shown

SINGLE = ("revolute", "continuous", "prismatic")
"""Kinds of joints with one rate: these have limits, drives and followers."""

BOUNDED = ("revolute", "prismatic")
"""Kinds whose range URDF asks for."""

KEYS = ("lower", "upper", "effort", "velocity", "acceleration", "deceleration", "jerk")


def read_limits(reader: Reader, joint: Element, kind: str) -> dict[str, float]:
    """Limits of a joint as properties of :class:`Joint`; what is odd about them is told."""
    element = reader.child(joint, "limit")
    if element is None:
        if kind in BOUNDED:
            what = f"a {kind} joint has no limits, which URDF asks for"
            reader.warn(joint, "limit-missing", what, "nothing", "add <limit>")
        return {}
    values = {k: reader.scalar(element, k, strict=False) for k in KEYS if k in element.attrib}
    _tell_odd(reader, element, kind, values)
    limits: dict[str, float] = {}
    lower, upper = (values.get(k, 0.0) for k in ("lower", "upper"))
    if kind in BOUNDED and lower is not None and upper is not None:
        limits |= _range(reader, element, kind, lower, upper)
    for key, name in (("velocity", "velocity_limit"), ("effort", "effort_limit")):
        value = values.get(key)
        if kind in SINGLE and value is not None and value >= 0.0:
            limits[name] = value
    return limits


def _tell_odd(reader: Reader, element: Element, kind: str, values: Mapping[str, float | None]) -> None:
    unused = [key for key in KEYS[4:] if key in values]
    if kind not in SINGLE or unused:
        what = f"a {kind} joint has no limits" if kind not in SINGLE else f"{', '.join(unused)}: not in the model"
        reader.ignore(element, "unused-limit", what, shown(element))
    for key in KEYS[2:]:
        value = values.get(key)
        if value is not None and value < 0.0:
            reader.warn(element, "limit-negative", f"'{key}' is negative", f"{value:g}", "give its magnitude")


def _range(reader: Reader, element: Element, kind: str, lower: float, upper: float) -> dict[str, float]:
    """Limits of the coordinate; the other way round they are taken as they are meant, or not at all."""
    if lower > upper:
        what = accepted(reader, "the lower limit is above the upper one", "they are left out")
        order, mended = f"{lower:g} > {upper:g}", "read the other way round"
        if not reader.wrong(element, "limit-order", what, order, "exchange them", mended, left_out=True):
            return {}
        lower, upper = upper, lower
    elif lower == upper:
        what = "the limits leave no room to move"
        reader.warn(element, "limit-zero", what, shown(element), "give lower and upper, or make the joint fixed")
    if kind == "revolute" and max(abs(lower), abs(upper)) > TURN:
        what = "the limits are more than a turn; are they in degrees?"
        reader.warn(element, "limit-degrees", what, f"{lower:g} .. {upper:g}", "write radians")
    return {"lower": lower, "upper": upper}
