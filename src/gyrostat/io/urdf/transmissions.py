"""<transmission> of a URDF: reduction and rotor of one joint's drive."""

from __future__ import annotations

from collections.abc import Mapping

from gyrostat.io.numbers import number
from gyrostat.io.safe_xml import Element, short
from gyrostat.io.urdf.drives import UrdfDrive
from gyrostat.io.xml_elements import Reader, accepted

READ = {"joint", "actuator", "mechanicalReduction", "rotorInertia", "torqueLimit", "speedLimit"}
"""Tags of a transmission that are read."""


def read_transmissions(reader: Reader, root: Element, drives: Mapping[str, UrdfDrive]) -> None:
    """Reduction and rotor of simple transmissions: ``<mechanicalReduction>``, and as gyrostat writes them
    ``<rotorInertia>`` (``reflected="true"``: felt by no body), ``<torqueLimit>`` and ``<speedLimit>`` of the motor."""
    for element in root.iterchildren("transmission"):
        named = [j.get("name") or "" for j in element.iterchildren("joint")]
        if len(named) != 1 or named[0] not in drives:
            what = "a transmission of one joint that turns or slides is read; others are not in the model"
            joints = f"joints {', '.join(n[:40] for n in named[:4]) or 'none'}"
            reader.ignore(element, "unused-transmission", what, joints)
        else:
            _read(reader, element, drives[named[0]])


def _read(reader: Reader, element: Element, drive: UrdfDrive) -> None:
    reduction, rotor = (_inner(reader, element, tag) for tag in ("mechanicalReduction", "rotorInertia"))
    rest = sorted({short(e.tag) for e in element.iterdescendants() if isinstance(e.tag, str)} - READ)
    if rest:
        reader.ignore(element, "unused-transmission", f"{', '.join(rest[:6])}: not in the model")
    if drive.transmission is not None:
        _second(reader, element, drive.transmission, f"reduction {reduction}, rotor inertia {rotor}")
        return
    drive.transmission = element
    drive.reduction, drive.rotor = _meaningful(reader, element, reduction, rotor)
    drive.reflected = any(e.get("reflected") == "true" for e in element.iterdescendants("rotorInertia"))
    for tag, key in (("torqueLimit", "torque_limit"), ("speedLimit", "speed_limit")):
        value = _inner(reader, element, tag)
        if value is not None and value > 0.0:
            drive.motor[key] = value


def _second(reader: Reader, element: Element, first: Element, numbers: str) -> None:
    done, fix = "this one is left out", "keep one of them, with the sum of the inertias"
    what = accepted(reader, f"another transmission drives this joint, in line {reader.line(first)}", done)
    reader.wrong(element, "doubled-rotor", what, numbers, fix, done, left_out=True)


def _meaningful(
    reader: Reader, element: Element, reduction: float | None, rotor: float | None
) -> tuple[float | None, float | None]:
    """Reduction and inertia [kg m^2] of the rotor, None where they mean nothing."""
    if reduction == 0.0:
        what = "a reduction of zero means nothing"
        reader.warn(element, "transmission", what, "0", "give the turns of the motor for one of the joint")
        reduction = None
    if rotor is not None and rotor <= 0.0:
        what = "the rotor's inertia must be positive"
        reader.warn(element, "transmission", what, f"{rotor:g}", "give it in kg m^2")
        rotor = None
    return reduction, rotor


def _inner(reader: Reader, element: Element, tag: str) -> float | None:
    """The number inside a tag, at any depth of a transmission."""
    for inner in element.iterdescendants(tag):
        value = number((inner.text or "").strip())
        if isinstance(value, float):
            return value
        tell = reader.error if tag == "rotorInertia" else reader.warn  # the dynamics depend on it
        tell(inner, "transmission", f"<{tag}> must be a number", repr((inner.text or "")[:40]), str(value))
    return None
